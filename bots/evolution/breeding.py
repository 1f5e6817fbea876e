"""Chromosomes, their evaluation, and the operators that breed the next population.

A crossover draws a mask of shape (pairs, genes) of the genes that two parents exchange. It can depend on the genes that
the evaluation used: if most of a chromosome is never used, an exchange of other genes changes nothing. Operators do not
check their parameters, which the settings of an evolution do.
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
"""Minimum and maximum of a gene's values, and whether they are whole numbers."""


@dataclass(frozen=True, slots=True)
class Genome:
    """Genes of the chromosomes of a population.

    Attributes:
        ranges: range of each gene's values. The bounds are whole numbers if the values are.
        values: number of values of each gene.
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
        """Type of the arrays: int16 if all values are whole numbers that fit, otherwise float64."""
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
        """Draw chromosomes uniformly from the ranges."""
        whole = np.array([[is_whole] for _, _, is_whole in self.ranges])
        # A whole number has the interval up to the next one, so that the last is as likely as the others.
        drawn = self.low + random.random((count, self.genes, self.values)) * (self.width + whole)
        return self.fitted(np.where(whole, np.floor(drawn), drawn))

    def spread(self, count: int, levels: int, random: np.random.Generator) -> Chromosomes:
        """Return chromosomes in which each gene has equally spaced values equally often, in random order.

        Args:
            count: number of chromosomes, a multiple of `levels`.
            levels: number of equally spaced values, 2 or more, including both ends of the range.

        Raises:
            EvolutionError: the numbers do not fit.
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
        """Return the chromosomes with all values clipped to their ranges, and rounded if they are whole."""
        fitted = np.clip(chromosomes, self.low, self.low + self.width)
        whole = [number for number, (_, _, is_whole) in enumerate(self.ranges) if is_whole]
        if whole and fitted.dtype.kind == "f":
            fitted[:, whole] = np.rint(fitted[:, whole])
        converted: Chromosomes = fitted.astype(self.dtype, copy=False)
        return converted


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Result of an evaluation.

    Attributes:
        fitness: fitness of each individual; higher is better.
        used: mask of the genes that were used, shape (individuals, genes); None means all.
        against: winnings of each opponent from each individual, shape (individuals, opponents); None without opponents.
        totals: winnings of each opponent from all individuals, for rivals, where `against` would be large.
    """

    fitness: Floats
    used: Bools | None = None
    against: Floats | None = None
    totals: Floats | None = None

    def used_genes(self, genes: int) -> Bools:
        """Return the mask of the used genes, shape (individuals, genes).

        Args:
            genes: number of genes.
        """
        if self.used is None:
            return np.ones((len(self.fitness), genes), bool)
        return self.used

    def of(self, individuals: Sequence[int]) -> Evaluation:
        """Return the evaluation of some of the individuals, without totals."""
        chosen = np.array(individuals, np.intp)
        used = None
        if self.used is not None:
            used = self.used[chosen]
        against = None
        if self.against is not None:
            against = self.against[chosen]
        return Evaluation(self.fitness[chosen], used, against)


def joined(*parts: Evaluation) -> Evaluation:
    """Return the evaluation of the individuals of all parts, in order. Empty parts are ignored."""
    evaluations = [part for part in parts if len(part.fitness)]
    if len(evaluations) == 1:
        return evaluations[0]
    totals = [part.totals for part in evaluations if part.totals is not None]
    total = None
    if len(totals) == len(evaluations):
        total = np.sum(totals, axis=0)
    return Evaluation(
        np.concatenate([part.fitness for part in evaluations]),
        _concatenated([part.used for part in evaluations if part.used is not None]),
        _concatenated([part.against for part in evaluations if part.against is not None]),
        total,
    )


def _concatenated(arrays: list[NDArray[Any]]) -> NDArray[Any] | None:
    if not arrays:
        return None
    return np.concatenate(arrays)


Evaluator: TypeAlias = Callable[[Chromosomes, Seeds, Chromosomes | None], Evaluation]
"""Evaluates chromosomes, with a seed for each, against the chromosomes of opponents (None without opponents).

The result of an individual depends only on that individual, its seed and the opponents, so that an evaluation can be
divided into parts. An evaluator must be picklable if other processes call it.
"""
Map: TypeAlias = Callable[..., Sequence[Evaluation]]
"""Function like the built-in ``map``, which can compute the results elsewhere."""


def evaluate_in_parts(
    evaluator: Evaluator, chromosomes: Chromosomes, seeds: Seeds, opponents: Chromosomes | None, parts: int, over: Map
) -> Evaluation:
    """Evaluate in tasks of nearly equal size. The result does not depend on `parts` and `over`.

    Args:
        parts: number of tasks.
        over: function that spreads the tasks.
    """
    bounds = np.linspace(0, len(chromosomes), min(parts, len(chromosomes)) + 1).astype(int)
    chromosomes_by_part = []
    seeds_by_part = []
    for start, end in pairwise(bounds.tolist()):
        chromosomes_by_part.append(chromosomes[start:end])
        seeds_by_part.append(seeds[start:end])
    evaluations = over(evaluator, chromosomes_by_part, seeds_by_part, [opponents] * len(seeds_by_part))
    return joined(*evaluations)


Selection: TypeAlias = Callable[[Floats, int, np.random.Generator], NDArray[np.intp]]
"""Draws the indices of parents, with replacement, from the fitness of all individuals and a number of parents."""


def tournament_selection(size: int = 3, floor: float | None = None) -> Selection:
    """Select the fittest of `size` individuals drawn with replacement, and among equals the one drawn first.

    Args:
        floor: fitness that a winner has to exceed. If none does, the first individual of the population wins.
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

    An individual whose sum is not above 0 is not drawn. If there is no other, all are equally likely.
    """

    def draw(fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        return _spin(np.maximum(fitness + offset, 0.0), count, random)

    return draw


def signed_roulette_selection(fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
    """Select the individual at which the signed running sum of the fitness reaches a random part of the total.

    Raises:
        EvolutionError: the total is not above 0.
    """
    ends = np.cumsum(fitness)
    if not ends[-1] > 0:
        raise EvolutionError(
            f"a roulette wheel without an offset cannot turn: the fitness of all sums to {ends[-1]:g}, "
            "and it has to be above 0"
        )
    # An individual whose fitness lowers the sum is never drawn.
    drawn: NDArray[np.intp] = np.searchsorted(np.maximum.accumulate(ends), random.random(count) * ends[-1])
    return drawn


def rank_selection(*, skips_best: bool = False) -> Selection:
    """Select in proportion to rank, from 1 for the least fit to n for the fittest of n.

    Args:
        skips_best: never draw the fittest. The others keep their ranks.
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
    """Draw indices in proportion to weights; if all are 0, with equal probability."""
    if not weights.any():
        weights = np.ones(len(weights))
    ends = np.cumsum(weights)
    # The end of the last interval belongs to no individual, and a rounded product could reach it.
    points = np.minimum(random.random(count) * ends[-1], np.nextafter(ends[-1], 0))
    drawn: NDArray[np.intp] = np.searchsorted(ends, points, side="right")
    return drawn


Crossover: TypeAlias = Callable[[Bools, np.random.Generator], Bools]
"""Draws the mask of the genes that pairs exchange, from the mask of the genes that each first parent used.

Both masks have the shape (pairs, genes).
"""


def one_point_crossover(used: Bools, random: np.random.Generator) -> Bools:
    """Exchange all genes from a random point on. At least one gene stays, and at least one is exchanged."""
    pairs, genes = used.shape
    cuts = random.integers(min(1, genes - 1), max(genes, 1), size=(pairs, 1))
    return np.arange(genes) >= cuts


def uniform_crossover(share: float = 0.5) -> Crossover:
    """Exchange each gene independently with probability `share`."""

    def exchange(used: Bools, random: np.random.Generator) -> Bools:
        mask: Bools = random.random(used.shape) < share
        return mask

    return exchange


def half_of_used_genes(used: Bools, random: np.random.Generator) -> Bools:
    """Exchange all genes behind the first half of the genes that the first parent used; none if it used none."""
    counts = np.cumsum(used, axis=1)
    return 2 * counts > counts[:, -1:]


def some_genes(count: int, *, of_used: bool = False) -> Crossover:
    """Exchange `count` random genes, or all if there are fewer.

    Args:
        of_used: draw only from the genes that the first parent used.
    """

    def exchange(used: Bools, random: np.random.Generator) -> Bools:
        if of_used:
            return _pick(used, count, random)
        return _pick(np.ones_like(used), count, random)

    return exchange


def one_of(*crossovers: Crossover) -> Crossover:
    """Use a random one of the crossovers in each generation."""

    def exchange(used: Bools, random: np.random.Generator) -> Bools:
        crossover = crossovers[int(random.integers(len(crossovers)))]
        return crossover(used, random)

    return exchange


def _pick(allowed: Bools, count: int, random: np.random.Generator) -> Bools:
    """Draw `count` of the allowed columns of each row, without replacement, or all if there are fewer."""
    # Random numbers below 1 for allowed columns, and above 1 for the others, which sort last.
    order = np.argsort(random.random(allowed.shape) + ~allowed, axis=1)
    picked = np.zeros_like(allowed)
    np.put_along_axis(picked, order[:, :count], True, axis=1)
    return picked & allowed


_Mutation: TypeAlias = Callable[[Chromosomes, Bools, Genome, np.random.Generator], Chromosomes]
"""Returns changed chromosomes. The mask, shape (individuals, genes), marks the genes that a parent used."""


def shift_mutation(genes: int, variance: float = 0.1) -> _Mutation:
    """Move each value of `genes` used genes up or down by a part of its range.

    Args:
        variance: part of the range.
    """

    def mutate(chromosomes: Chromosomes, used: Bools, genome: Genome, random: np.random.Generator) -> Chromosomes:
        picked = _pick(used, genes, random)
        steps = random.choice([-1.0, 1.0], size=chromosomes.shape) * variance * genome.width
        return genome.fitted(chromosomes + picked[:, :, None] * steps)

    return mutate


def reset_mutation(genes: int = 1) -> _Mutation:
    """Draw new values for `genes` genes, uniformly from their ranges."""

    def mutate(chromosomes: Chromosomes, used: Bools, genome: Genome, random: np.random.Generator) -> Chromosomes:
        picked = _pick(np.ones_like(used), genes, random)
        return np.where(picked[:, :, None], genome.random(len(chromosomes), random), chromosomes)

    return mutate


_HALF = np.uint64(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breeding:
    """Operators and rules that renew a population.

    Attributes:
        crossover_rate: probability that a pair exchanges anything, 0 to 1.
        mutation_rate: probability that a child is mutated, 0 to 1.
        keeps_best: the next population has the best of parents and children, otherwise the children and the elite.
        elite: number of the best parents that survive.
        is_unique: drop a child that equals another one or one of the elite, and breed another. Equal children are
            accepted when breeding finds no new ones.
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
        """Require that a population of this size can be bred.

        Raises:
            EvolutionError: the size is below 2, or the elite leaves no room for children.
        """
        if size < 2:
            raise EvolutionError(f"a population needs at least 2 individuals, not {size}")
        if self.elite >= size:
            raise EvolutionError(f"an elite of {self.elite} leaves no room for children in a population of {size}")

    def survivors(self, size: int) -> int:
        """Return the number of parents that may survive in a population of this size."""
        if self.keeps_best:
            return size
        return self.elite

    def offspring(
        self, genome: Genome, chromosomes: Chromosomes, used: Bools, fitness: Floats, random: np.random.Generator
    ) -> Chromosomes:
        """Breed as many children as the population has individuals besides the elite."""
        size = len(chromosomes) - self.elite
        if not self.is_unique:
            return self._children(size, genome, chromosomes, used, fitness, random)
        known = chromosomes[best_first(fitness)[: self.elite]]
        parts: list[Chromosomes] = []
        missing = size
        # Breed more than are missing, because some will be equal to others.
        max_count = size + size // 4
        count = max_count
        while missing:
            children = self._children(count, genome, chromosomes, used, fitness, random)
            new = np.flatnonzero(_is_new(children, known))
            if not len(new) and count == max_count:
                # A whole population has brought nothing new. Accept equal children.
                new = np.arange(count)
            new = new[:missing]
            missing -= len(new)
            parts.append(children[new])
            known = np.concatenate([known, children[new]])
            count = max_count
            if len(new):
                count = min(max_count, 2 * missing + 2)
        return np.concatenate(parts)

    def _children(
        self,
        count: int,
        genome: Genome,
        chromosomes: Chromosomes,
        used: Bools,
        fitness: Floats,
        random: np.random.Generator,
    ) -> Chromosomes:
        pairs = (count + 1) // 2
        first, second = self.selection(fitness, 2 * pairs, random).reshape(2, pairs)
        exchanged = self.crossover(used[first], random)
        exchanged = exchanged & (random.random((pairs, 1)) < self.crossover_rate)
        children = _crossed(chromosomes[first], chromosomes[second], exchanged[:, :, None])[:count]
        used_by_parent = np.ones((count, used.shape[1]), bool)
        if not used.all():
            used_by_parent = _crossed(used[first], used[second], exchanged)[:count]
        changed = random.random(count) < self.mutation_rate
        children[changed] = self.mutation(children[changed], used_by_parent[changed], genome, random)
        return children


def _crossed(first: NDArray[Any], second: NDArray[Any], exchanged: Bools) -> NDArray[Any]:
    """Return both children of each pair, one after the other."""
    children = np.empty((2 * len(first), *first.shape[1:]), first.dtype)
    children[::2] = np.where(exchanged, second, first)
    children[1::2] = np.where(exchanged, first, second)
    return children


def _is_new(chromosomes: Chromosomes, known: Chromosomes) -> Bools:
    """Return the mask of the chromosomes that equal neither a known one nor an earlier one."""
    rows = np.concatenate([known, chromosomes]).reshape(len(known) + len(chromosomes), -1).astype(np.float64)
    # Compare sums of hashed values, which is faster than np.unique of rows. Equal rows have equal sums. If different
    # rows have equal sums, too, compare the rows themselves.
    words = rows.view(np.uint64)
    sums = ((words ^ words >> _HALF) * _factors(rows.shape[1])).sum(axis=1, dtype=np.uint64)
    _, first, inverse = np.unique(sums, return_index=True, return_inverse=True)
    if (rows != rows[first[inverse]]).any():
        _, first = np.unique(rows, axis=0, return_index=True)
    is_new = np.zeros(len(rows), bool)
    is_new[first] = True
    return is_new[len(known) :]


@cache
def _factors(count: int) -> NDArray[np.uint64]:
    return np.random.default_rng(count).integers(1 << 63, size=count, dtype=np.uint64) * 2 + 1


def best_first(fitness: Floats) -> list[int]:
    """Return the indices of the individuals, the fittest first, and equals in the order of the population."""
    order: list[int] = np.argsort(-fitness, kind="stable").tolist()
    return order
