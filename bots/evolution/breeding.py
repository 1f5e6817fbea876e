"""Chromosomes and their evaluation; from one population to the next: selection, crossover, mutation, replacement.

Who becomes a parent: the fitter, the likelier. A child has its own parent's genes except where a mask, shape (pairs,
genes), says that the pair exchanges them. What an evaluation used of the first parent can guide the choice (`used`, of
the same shape): where most of a chromosome is never asked, what is exchanged elsewhere changes nothing.

Parameters of operators are not checked here: the settings of an evolution declare the valid ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError

Chromosomes: TypeAlias = NDArray[Any]
"""Shape (individuals, genes, values of a gene)."""
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Seeds: TypeAlias = NDArray[np.uint64]


_GeneRange: TypeAlias = tuple[float, float, bool]
"""The lowest and the highest value of a gene; whether its values are whole numbers."""


@dataclass(frozen=True, slots=True)
class Genome:
    """The genes of every chromosome of a population, each with so many values of its range.

    The lowest value of a range is below the highest, and both are whole numbers where all values are.
    """

    ranges: tuple[_GeneRange, ...]
    values: int = 1

    @classmethod
    def alike(cls, genes: int, low: float, high: float, *, is_whole: bool = False, values: int = 1) -> Genome:
        return cls(((low, high, is_whole),) * genes, values)

    @property
    def genes(self) -> int:
        return len(self.ranges)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the arrays: int16 where every value is a whole number that fits, else float64."""
        for low, high, is_whole in self.ranges:
            if not is_whole or low < -32768 or high > 32767:
                return np.dtype(np.float64)
        return np.dtype(np.int16)

    @property
    def low(self) -> Floats:
        return np.array([[low] for low, _, _ in self.ranges])

    @property
    def width(self) -> Floats:
        return np.array([[high - low] for low, high, _ in self.ranges])

    def random(self, count: int, random: np.random.Generator) -> Chromosomes:
        """Chromosomes whose values are all drawn, each value of a gene's range equally likely."""
        whole = np.array([[is_whole] for _, _, is_whole in self.ranges])
        # A whole number owns the interval up to the next one, so that the last is as likely as the others.
        drawn = self.low + random.random((count, self.genes, self.values)) * (self.width + whole)
        return self.fitted(np.where(whole, np.floor(drawn), drawn))

    def spread(self, count: int, levels: int, random: np.random.Generator) -> Chromosomes:
        """Chromosomes in which every gene takes each of `levels` equally spaced values equally often, in drawn order.

        `count` is a multiple of `levels`, which is 2 or more and includes both ends of the range.
        """
        if levels < 2 or count % levels:
            raise EvolutionError(
                f"{count} chromosomes cannot have each of {levels} values equally often: take a multiple of {levels}, "
                "or values that are drawn"
            )
        level = np.tile(np.arange(levels) / (levels - 1), count // levels)
        level = np.broadcast_to(level[:, None, None], (count, self.genes, self.values))
        return self.fitted(self.low + random.permuted(level, axis=0) * self.width)

    def fitted(self, chromosomes: NDArray[Any]) -> Chromosomes:
        """The chromosomes with every value in its range, and whole where it has to be."""
        fitted = np.clip(chromosomes, self.low, self.low + self.width)
        whole = [number for number, (_, _, is_whole) in enumerate(self.ranges) if is_whole]
        if whole and fitted.dtype.kind == "f":
            fitted[:, whole] = np.rint(fitted[:, whole])
        of_type: Chromosomes = fitted.astype(self.dtype, copy=False)
        return of_type


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What an evaluation found.

    Attributes:
        fitness: of each individual; the higher, the better.
        used: which genes were asked, shape (individuals, genes); None means all.
        against: what each opponent got against each individual, shape (individuals, opponents); None without opponents.
        totals: what each opponent got against all individuals together; it is enough for rivals, where `against` would
            be large.
    """

    fitness: Floats
    used: Bools | None = None
    against: Floats | None = None
    totals: Floats | None = None

    def used_genes(self, genes: int) -> Bools:
        """Which of that many genes each individual used, shape (individuals, genes)."""
        if self.used is None:
            return np.ones((len(self.fitness), genes), bool)
        return self.used

    def of(self, individuals: Sequence[int]) -> Evaluation:
        """What was found of some of the individuals, without totals."""
        chosen = np.array(individuals, np.intp)
        used = None if self.used is None else self.used[chosen]
        against = None if self.against is None else self.against[chosen]
        return Evaluation(self.fitness[chosen], used, against)


def joined(*parts: Evaluation) -> Evaluation:
    """What was found of the individuals of all parts, in order; parts without individuals do not count."""
    found = [part for part in parts if len(part.fitness)]
    if len(found) == 1:
        return found[0]
    totals = [part.totals for part in found if part.totals is not None]
    total = None
    if len(totals) == len(found):
        total = np.sum(totals, axis=0)
    return Evaluation(
        np.concatenate([part.fitness for part in found]),
        _concatenated([part.used for part in found if part.used is not None]),
        _concatenated([part.against for part in found if part.against is not None]),
        total,
    )


def _concatenated(arrays: list[NDArray[Any]]) -> NDArray[Any] | None:
    if not arrays:
        return None
    return np.concatenate(arrays)


Evaluator: TypeAlias = Callable[[Chromosomes, Seeds, Chromosomes | None], Evaluation]
"""Evaluates chromosomes.

It is given the chromosomes, a seed for each and the opponents' chromosomes (None where there are none). What it finds
of one individual may depend on that individual, its seed and the opponents only, so that the evaluation can be divided
anyhow. It must be picklable where other processes do it.
"""
Map: TypeAlias = Callable[..., Sequence[Evaluation]]
"""Like the built-in ``map``: a function and its arguments, results in order, wherever they are computed."""


def evaluate_in_parts(
    evaluator: Evaluator, chromosomes: Chromosomes, seeds: Seeds, opponents: Chromosomes | None, parts: int, over: Map
) -> Evaluation:
    """Evaluate in `parts` tasks of nearly equal size, which `over` spreads; the result does not depend on either."""
    bounds = np.linspace(0, len(chromosomes), min(parts, len(chromosomes)) + 1).astype(int)
    chromosomes_by_part = []
    seeds_by_part = []
    for start, end in pairwise(bounds.tolist()):
        chromosomes_by_part.append(chromosomes[start:end])
        seeds_by_part.append(seeds[start:end])
    evaluations = over(evaluator, chromosomes_by_part, seeds_by_part, [opponents] * len(seeds_by_part))
    return joined(*evaluations)


Selection: TypeAlias = Callable[[Floats, int, np.random.Generator], NDArray[np.intp]]
"""Draws the indices of parents, with replacement, from the fitness of all individuals and the number of parents."""


def tournament_selection(size: int = 3, floor: float | None = None) -> Selection:
    """Select the fittest of `size` individuals drawn with replacement; among equals, the one drawn first.

    An individual that is not fitter than `floor` cannot win; where none of the drawn is, the first of the population
    does.
    """

    def draw(fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        drawn = random.integers(len(fitness), size=(count, size))
        winners: NDArray[np.intp] = drawn[np.arange(count), np.argmax(fitness[drawn], axis=1)]
        if floor is not None:
            winners[fitness[winners] <= floor] = 0
        return winners

    return draw


def roulette_selection(offset: float = 0.0) -> Selection:
    """Select in proportion to fitness plus an offset.

    An individual whose sum is not above 0 is not drawn; if there is no other, all are equally likely.
    """
    return lambda fitness, count, random: _spin(np.maximum(fitness + offset, 0.0), count, random)


def signed_roulette_selection(fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
    """Walk along the fitness of all, also where it is negative, until the sum, above 0, reaches a drawn part of it."""
    ends = np.cumsum(fitness)
    if not ends[-1] > 0:
        raise EvolutionError(
            f"a roulette wheel without an offset cannot turn: the fitness of all sums to {ends[-1]:g}, "
            "and it has to be above 0"
        )
    # Where the sum goes down, no new individual is found.
    drawn: NDArray[np.intp] = np.searchsorted(np.maximum.accumulate(ends), random.random(count) * ends[-1])
    return drawn


def rank_selection(*, skips_best: bool = False) -> Selection:
    """Select in proportion to rank: 1 for the least fit, n for the fittest of n; equals in order of the population.

    With `skips_best` the fittest is never drawn; the others keep their ranks.
    """

    def draw(fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        ranks = np.empty(len(fitness))
        order = np.argsort(fitness, kind="stable")
        ranks[order] = np.arange(1, len(fitness) + 1)
        if skips_best:
            ranks[order[-1]] = 0
        return _spin(ranks, count, random)

    return draw


def _spin(weights: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
    if not weights.any():
        weights = np.ones(len(weights))
    ends = np.cumsum(weights)
    # The end of the last interval belongs to no individual, and a rounded product could reach it.
    points = np.minimum(random.random(count) * ends[-1], np.nextafter(ends[-1], 0))
    drawn: NDArray[np.intp] = np.searchsorted(ends, points, side="right")
    return drawn


Crossover: TypeAlias = Callable[[Bools, np.random.Generator], Bools]
"""Draws the mask of the genes that pairs of children exchange.

It is given the genes that each pair's first parent used. Both have the shape (pairs, genes).
"""


def one_point_crossover(used: Bools, random: np.random.Generator) -> Bools:
    """Exchange all genes from a drawn point on; at least one gene stays, and at least one goes."""
    pairs, genes = used.shape
    cuts = random.integers(min(1, genes - 1), max(genes, 1), size=(pairs, 1))
    return np.arange(genes) >= cuts


def uniform_crossover(share: float = 0.5) -> Crossover:
    """Exchange each gene by itself, with the chance `share`."""
    return lambda used, random: random.random(used.shape) < share


def half_of_used_genes(used: Bools, random: np.random.Generator) -> Bools:
    """Exchange all genes behind the first half of those that the first parent used; none, if it used none."""
    counts = np.cumsum(used, axis=1)
    return 2 * counts > counts[:, -1:]


def some_genes(count: int, *, of_used: bool = False) -> Crossover:
    """Exchange `count` genes, drawn, of all or of those that the first parent used; all of them, if they are fewer."""

    def exchange(used: Bools, random: np.random.Generator) -> Bools:
        if of_used:
            return _pick(used, count, random)
        return _pick(np.ones_like(used), count, random)

    return exchange


def one_of(*crossovers: Crossover) -> Crossover:
    """Draw one of the crossovers for each generation."""

    def exchange(used: Bools, random: np.random.Generator) -> Bools:
        crossover = crossovers[int(random.integers(len(crossovers)))]
        return crossover(used, random)

    return exchange


def _pick(allowed: Bools, count: int, random: np.random.Generator) -> Bools:
    """Of each row, `count` of the allowed places, drawn without replacement; all, if those are fewer."""
    order = np.argsort(random.random(allowed.shape) + ~allowed, axis=1)
    picked = np.zeros_like(allowed)
    np.put_along_axis(picked, order[:, :count], True, axis=1)
    return picked & allowed


_Mutation: TypeAlias = Callable[[Chromosomes, Bools, Genome, np.random.Generator], Chromosomes]
"""Changes chromosomes; the mask, shape (individuals, genes), marks the genes that a parent used."""


def shift_mutation(genes: int, variance: float = 0.1) -> _Mutation:
    """Move so many used genes, or all of them, up or down, each value by itself, by a part of its range."""

    def mutate(chromosomes: Chromosomes, used: Bools, genome: Genome, random: np.random.Generator) -> Chromosomes:
        picked = _pick(used, genes, random)
        steps = random.choice([-1.0, 1.0], size=chromosomes.shape) * variance * genome.width
        return genome.fitted(chromosomes + picked[:, :, None] * steps)

    return mutate


def reset_mutation(genes: int = 1) -> _Mutation:
    """Draw new values for so many genes, each value of their range equally likely."""

    def mutate(chromosomes: Chromosomes, used: Bools, genome: Genome, random: np.random.Generator) -> Chromosomes:
        picked = _pick(np.ones_like(used), genes, random)
        return np.where(picked[:, :, None], genome.random(len(chromosomes), random), chromosomes)

    return mutate


_HALF = np.uint64(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breeding:
    """How a population renews itself.

    Attributes:
        crossover_rate: the chance that a pair exchanges anything, 0 to 1.
        mutation_rate: the chance that a child does, 0 to 1.
        keeps_best: the next population is the best of parents and children; otherwise the children, and the `elite`.
        elite: how many of the best parents live on.
        is_unique: a child equal to another one, or to one of the elite, is dropped and another bred. Where breeding
            brings nothing new any more, equal ones are let in.
    """

    selection: Selection = field(default_factory=tournament_selection)
    crossover: Crossover = field(default_factory=uniform_crossover)
    crossover_rate: float = 1.0
    mutation: _Mutation = field(default_factory=reset_mutation)
    mutation_rate: float = 1.0
    keeps_best: bool = False
    elite: int = 0
    is_unique: bool = False

    def __post_init__(self) -> None:
        if self.elite and self.keeps_best:
            raise EvolutionError(
                "an elite is for populations of children: the best of parents and children live anyhow"
            )

    def require_population(self, size: int) -> None:
        """Raise an `EvolutionError` for a population of a size that cannot be bred."""
        if size < 2:
            raise EvolutionError(f"a population needs at least 2 individuals, not {size}")
        if self.elite >= size:
            raise EvolutionError(f"an elite of {self.elite} leaves no room for children in a population of {size}")

    def survivors(self, size: int) -> int:
        """Number of parents of a population of this size that may live on."""
        if self.keeps_best:
            return size
        return self.elite

    def offspring(
        self, genome: Genome, chromosomes: Chromosomes, used: Bools, fitness: Floats, random: np.random.Generator
    ) -> Chromosomes:
        """The children of a population; with those of the elite that live on, as many as the population has."""
        wanted = len(chromosomes) - self.elite
        if not self.is_unique:
            return self._children(wanted, genome, chromosomes, used, fitness, random)
        known = chromosomes[best_first(fitness)[: self.elite]]
        parts: list[Chromosomes] = []
        missing = wanted
        everything = wanted + wanted // 4
        count = everything
        while missing:
            children = self._children(count, genome, chromosomes, used, fitness, random)
            kept = np.flatnonzero(_is_new(children, known))
            if not len(kept) and count == everything:
                kept = np.arange(count)
            kept = kept[:missing]
            missing -= len(kept)
            parts.append(children[kept])
            known = np.concatenate([known, children[kept]])
            # Some of those to come will be equal, too.
            count = everything
            if len(kept):
                count = min(everything, 2 * missing + 2)
        return np.concatenate(parts)

    def _children(
        self,
        wanted: int,
        genome: Genome,
        chromosomes: Chromosomes,
        used: Bools,
        fitness: Floats,
        random: np.random.Generator,
    ) -> Chromosomes:
        pairs = (wanted + 1) // 2
        first, second = self.selection(fitness, 2 * pairs, random).reshape(2, pairs)
        exchanged = self.crossover(used[first], random)
        exchanged = exchanged & (random.random((pairs, 1)) < self.crossover_rate)
        children = _crossed(chromosomes[first], chromosomes[second], exchanged[:, :, None])[:wanted]
        of_parent = np.ones((wanted, used.shape[1]), bool)
        if not used.all():
            of_parent = _crossed(used[first], used[second], exchanged)[:wanted]
        changed = random.random(wanted) < self.mutation_rate
        children[changed] = self.mutation(children[changed], of_parent[changed], genome, random)
        return children


def _crossed(one: NDArray[Any], other: NDArray[Any], exchanged: Bools) -> NDArray[Any]:
    """Both children of each pair, one after the other."""
    children = np.empty((2 * len(one), *one.shape[1:]), one.dtype)
    children[::2] = np.where(exchanged, other, one)
    children[1::2] = np.where(exchanged, one, other)
    return children


def _is_new(chromosomes: Chromosomes, known: Chromosomes) -> Bools:
    """Mask of the chromosomes that equal neither a known one nor one before them."""
    rows = np.concatenate([known, chromosomes]).reshape(len(known) + len(chromosomes), -1).astype(np.float64)
    # Equal rows have equal sums, and others hardly ever.
    words = rows.view(np.uint64)
    sums = ((words ^ words >> _HALF) * _factors(rows.shape[1])).sum(axis=1, dtype=np.uint64)
    _, first, at = np.unique(sums, return_index=True, return_inverse=True)
    if (rows != rows[first[at]]).any():
        _, first = np.unique(rows, axis=0, return_index=True)
    is_new = np.zeros(len(rows), bool)
    is_new[first] = True
    return is_new[len(known) :]


@cache
def _factors(count: int) -> NDArray[np.uint64]:
    return np.random.default_rng(count).integers(1 << 63, size=count, dtype=np.uint64) * 2 + 1


def best_first(fitness: Floats) -> list[int]:
    """The indices of the individuals, the fittest first; equals in their order in the population."""
    order: list[int] = np.argsort(-fitness, kind="stable").tolist()
    return order
