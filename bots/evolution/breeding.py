"""Chromosomes and their evaluation; from one population to the next: selection, crossover, mutation, replacement.

Who becomes a parent: the fitter, the likelier. A child has its own parent's genes except where a mask, shape (pairs,
genes), says that the pair exchanges them. What an evaluation used of the first parent can guide the choice (`used`, of
the same shape): where most of a chromosome is never asked, what is exchanged elsewhere changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from math import isfinite
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError

Chromosomes: TypeAlias = NDArray[Any]
"""Shape (individuals, genes, values of a gene)."""
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Seeds: TypeAlias = NDArray[np.uint64]


class GeneRange(NamedTuple):
    """The values a gene may take, from `low` to a higher `high`."""

    low: float
    high: float
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Genome:
    """The genes of every chromosome of a population, each with so many values of its range.

    Raises:
        EvolutionError: no genes, no values, or an empty range.
    """

    ranges: tuple[GeneRange, ...]
    values: int = 1

    def __post_init__(self) -> None:
        if not self.ranges or self.values < 1:
            raise EvolutionError("a chromosome needs at least one gene, and a gene at least one value")
        for number, gene in enumerate(self.ranges):
            if not (isfinite(gene.low) and isfinite(gene.high) and gene.low < gene.high):
                raise EvolutionError(f"the range of gene {number} is empty: {gene.low} to {gene.high}")
            if gene.is_whole and not (gene.low == int(gene.low) and gene.high == int(gene.high)):
                raise EvolutionError(
                    f"the range of gene {number} does not end at whole numbers: {gene.low} to {gene.high}"
                )

    @classmethod
    def alike(cls, genes: int, low: float, high: float, *, is_whole: bool = False, values: int = 1) -> Genome:
        return cls((GeneRange(low, high, is_whole),) * genes, values)

    @property
    def genes(self) -> int:
        return len(self.ranges)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the arrays: int16 where every value is a whole number that fits, else float64."""
        fits = all(gene.is_whole and gene.low >= -32768 and gene.high <= 32767 for gene in self.ranges)
        return np.dtype(np.int16 if fits else np.float64)

    @property
    def low(self) -> Floats:
        return np.array([[gene.low] for gene in self.ranges])

    @property
    def width(self) -> Floats:
        return np.array([[gene.high - gene.low] for gene in self.ranges])

    def random(self, count: int, random: np.random.Generator) -> Chromosomes:
        """Chromosomes whose values are all drawn, each value of a gene's range equally likely."""
        whole = np.array([[gene.is_whole] for gene in self.ranges])
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
        whole = [number for number, gene in enumerate(self.ranges) if gene.is_whole]
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
        return np.ones((len(self.fitness), genes), bool) if self.used is None else self.used

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
    used = [part.used for part in found if part.used is not None]
    against = [part.against for part in found if part.against is not None]
    totals = [part.totals for part in found if part.totals is not None]
    return Evaluation(
        np.concatenate([part.fitness for part in found]),
        np.concatenate(used) if used else None,
        np.concatenate(against) if against else None,
        np.sum(totals, axis=0) if len(totals) == len(found) else None,
    )


Evaluator: TypeAlias = Callable[[Chromosomes, Seeds, Chromosomes | None], Evaluation]
"""Evaluates chromosomes.

It is given the chromosomes, a seed for each and the opponents' chromosomes (None where there are none). What it finds
of one individual may depend on that individual, its seed and the opponents only, so that the work can be divided
anyhow. It must be picklable where other processes do it.
"""
Map: TypeAlias = Callable[..., Sequence[Evaluation]]
"""Like the built-in ``map``: a function and its arguments, results in order, wherever they are computed."""


def evaluate_in_parts(
    evaluator: Evaluator, chromosomes: Chromosomes, seeds: Seeds, opponents: Chromosomes | None, parts: int, over: Map
) -> Evaluation:
    """Evaluate in `parts` tasks of nearly equal size, which `over` spreads; the result does not depend on either."""
    bounds = np.linspace(0, len(chromosomes), min(parts, len(chromosomes)) + 1).astype(int)
    pairs = list(pairwise(bounds.tolist()))
    done = over(
        evaluator,
        [chromosomes[start:end] for start, end in pairs],
        [seeds[start:end] for start, end in pairs],
        [opponents] * len(pairs),
    )
    return joined(*done)


class Selection(Protocol):
    """Draws parents by fitness."""

    def draw(self, fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        """The indices of `count` parents, drawn with replacement; `fitness` has one number for each individual."""


@dataclass(frozen=True, slots=True)
class Tournament:
    """The fittest of `size` individuals drawn with replacement; among equals, the one drawn first.

    An individual that is not fitter than `floor` cannot win; where nobody drawn is, the first of the population does.
    """

    size: int = 3
    floor: float | None = None

    def __post_init__(self) -> None:
        if self.size < 1:
            raise EvolutionError(f"a tournament needs at least 1 participant, not {self.size}")

    def draw(self, fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        drawn = random.integers(len(fitness), size=(count, self.size))
        winners: NDArray[np.intp] = drawn[np.arange(count), np.argmax(fitness[drawn], axis=1)]
        if self.floor is not None:
            winners[fitness[winners] <= self.floor] = 0
        return winners


@dataclass(frozen=True, slots=True)
class Roulette:
    """In proportion to fitness plus an offset.

    An individual whose sum is not above 0 is not drawn; if there is no other, all are equally likely.
    """

    offset: float = 0.0

    def __post_init__(self) -> None:
        if not isfinite(self.offset):
            raise EvolutionError(f"the offset of a roulette wheel must be a number, not {self.offset}")

    def draw(self, fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        return _spin(np.maximum(fitness + self.offset, 0.0), count, random)


@dataclass(frozen=True, slots=True)
class SignedRoulette:
    """Walks along the fitness of all, also where it is negative, until the sum reaches a drawn part of the whole sum.

    Raises:
        EvolutionError: when it draws and the whole sum is not above 0: there is nothing to walk along.
    """

    def draw(self, fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        ends = np.cumsum(fitness)
        if not ends[-1] > 0:
            raise EvolutionError(
                f"a roulette wheel without an offset cannot turn: the fitness of all sums to {ends[-1]:g}, "
                "and it has to be above 0"
            )
        # Where the sum goes down, nobody is found who was not before.
        drawn: NDArray[np.intp] = np.searchsorted(np.maximum.accumulate(ends), random.random(count) * ends[-1])
        return drawn


@dataclass(frozen=True, slots=True)
class Rank:
    """In proportion to rank: 1 for the least fit, n for the fittest of n; equals in their order in the population.

    With `skips_best` the fittest is never drawn; the others keep their ranks.
    """

    skips_best: bool = False

    def draw(self, fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        ranks = np.empty(len(fitness))
        order = np.argsort(fitness, kind="stable")
        ranks[order] = np.arange(1, len(fitness) + 1)
        if self.skips_best:
            ranks[order[-1]] = 0
        return _spin(ranks, count, random)


def _spin(weights: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
    ends = np.cumsum(weights if weights.any() else np.ones(len(weights)))
    # The end of the last interval belongs to nobody, and a rounded product could reach it.
    points = np.minimum(random.random(count) * ends[-1], np.nextafter(ends[-1], 0))
    drawn: NDArray[np.intp] = np.searchsorted(ends, points, side="right")
    return drawn


class Crossover(Protocol):
    """Chooses the genes that pairs of children exchange."""

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        """The mask of the genes exchanged; `used` marks which genes of each pair's first parent were used."""


@dataclass(frozen=True, slots=True)
class OnePoint:
    """All genes from a drawn point on; at least one gene stays, and at least one goes."""

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        pairs, genes = used.shape
        cuts = random.integers(min(1, genes - 1), max(genes, 1), size=(pairs, 1))
        mask: Bools = np.arange(genes) >= cuts
        return mask


@dataclass(frozen=True, slots=True)
class Uniform:
    """Each gene by itself, with the chance `share`."""

    share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise EvolutionError(f"the share of genes exchanged must be 0 to 1, not {self.share}")

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        mask: Bools = random.random(used.shape) < self.share
        return mask


@dataclass(frozen=True, slots=True)
class HalfOfUsedGenes:
    """All genes behind the first half of those that the first parent used; none, if it used none."""

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        counts = np.cumsum(used, axis=1)
        mask: Bools = 2 * counts > counts[:, -1:]
        return mask


@dataclass(frozen=True, slots=True)
class RandomGenes:
    """`count` genes, drawn; all, if there are fewer."""

    count: int

    def __post_init__(self) -> None:
        _require_count(self.count)

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        return pick(np.ones_like(used), self.count, random)


@dataclass(frozen=True, slots=True)
class UsedGenes:
    """`count` of the genes that the first parent used, drawn; all that it used, if those are fewer."""

    count: int

    def __post_init__(self) -> None:
        _require_count(self.count)

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        return pick(used, self.count, random)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several, drawn again for each generation."""

    operators: tuple[Crossover, ...]

    def __post_init__(self) -> None:
        if not self.operators:
            raise EvolutionError("there is no crossover to choose from")

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        return self.operators[int(random.integers(len(self.operators)))].exchanged(used, random)


def pick(allowed: Bools, count: int, random: np.random.Generator) -> Bools:
    """Of each row, `count` of the allowed places, drawn without replacement; all, if those are fewer."""
    order = np.argsort(random.random(allowed.shape) + ~allowed, axis=1)
    picked = np.zeros_like(allowed)
    np.put_along_axis(picked, order[:, :count], True, axis=1)
    return picked & allowed


def _require_count(count: int) -> None:
    if count < 1:
        raise EvolutionError(f"at least 1 gene must be exchanged, not {count}")


class Mutation(Protocol):
    """Changes chromosomes."""

    def mutated(
        self, chromosomes: Chromosomes, used: Bools, genome: Genome, random: np.random.Generator
    ) -> Chromosomes:
        """The chromosomes, changed; `used`, shape (individuals, genes), marks which genes were used by a parent."""


@dataclass(frozen=True, slots=True)
class Shift:
    """Some genes go up or down, each of their values by itself, by a part of their range.

    Attributes:
        genes: how many genes of a chromosome; all that are allowed, if those are fewer.
        variance: the part of the range, above 0 and at most 1.
        is_drawn: the step is drawn between nothing and that part, instead of always the whole of it.
        only_used: only genes that were used in the evaluation.
    """

    genes: int
    variance: float = 0.1
    is_drawn: bool = False
    only_used: bool = True

    def __post_init__(self) -> None:
        _require_genes(self.genes)
        if not 0 < self.variance <= 1:
            raise EvolutionError(
                f"the variance of a mutation is a part of the range, above 0 and at most 1, not {self.variance:g}"
            )

    def mutated(
        self, chromosomes: Chromosomes, used: Bools, genome: Genome, random: np.random.Generator
    ) -> Chromosomes:
        picked = pick(used if self.only_used else np.ones_like(used), self.genes, random)
        steps = random.choice([-1.0, 1.0], size=chromosomes.shape) * self.variance * genome.width
        if self.is_drawn:
            steps *= random.random(chromosomes.shape)
        return genome.fitted(chromosomes + picked[:, :, None] * steps)


@dataclass(frozen=True, slots=True)
class NewValues:
    """Some genes get new values, each value of their range equally likely.

    With `only_used` only genes that were used in the evaluation.
    """

    genes: int = 1
    only_used: bool = False

    def __post_init__(self) -> None:
        _require_genes(self.genes)

    def mutated(
        self, chromosomes: Chromosomes, used: Bools, genome: Genome, random: np.random.Generator
    ) -> Chromosomes:
        picked = pick(used if self.only_used else np.ones_like(used), self.genes, random)
        return np.where(picked[:, :, None], genome.random(len(chromosomes), random), chromosomes)


def _require_genes(genes: int) -> None:
    if genes < 1:
        raise EvolutionError(f"a mutation must change at least 1 gene, not {genes}")


_HALF = np.uint64(32)


class Offspring(NamedTuple):
    """Children that have not been evaluated.

    `used` marks the genes that the parent they come from used, shape (children, genes).
    """

    chromosomes: Chromosomes
    used: Bools


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

    selection: Selection = field(default_factory=Tournament)
    crossover: Crossover = field(default_factory=Uniform)
    crossover_rate: float = 1.0
    mutation: Mutation = field(default_factory=NewValues)
    mutation_rate: float = 1.0
    keeps_best: bool = False
    elite: int = 0
    is_unique: bool = False

    def __post_init__(self) -> None:
        for name, rate in (("crossover", self.crossover_rate), ("mutation", self.mutation_rate)):
            if not 0 <= rate <= 1:
                raise EvolutionError(f"the {name} rate must be 0 to 1, not {rate:g}")
        if self.elite < 0:
            raise EvolutionError(f"the elite cannot be {self.elite} individuals")
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
        """How many parents of a population of this size may live on."""
        return size if self.keeps_best else self.elite

    def offspring(
        self, genome: Genome, chromosomes: Chromosomes, used: Bools, fitness: Floats, random: np.random.Generator
    ) -> Offspring:
        """The children of a population; with those of the elite that live on, as many as the population has."""
        wanted = len(chromosomes) - self.elite
        if not self.is_unique:
            return self._children(wanted, genome, chromosomes, used, fitness, random)
        known = chromosomes[best_first(fitness)[: self.elite]] if self.elite else chromosomes[:0]
        parts: list[Offspring] = []
        missing, everything = wanted, wanted + wanted // 4
        count = everything
        while missing:
            offspring = self._children(count, genome, chromosomes, used, fitness, random)
            kept = np.flatnonzero(_is_new(offspring.chromosomes, known))
            if not len(kept) and count == everything:
                kept = np.arange(count)
            kept = kept[:missing]
            missing -= len(kept)
            parts.append(Offspring(offspring.chromosomes[kept], offspring.used[kept]))
            known = np.concatenate([known, offspring.chromosomes[kept]])
            # Some of those to come will be equal, too.
            count = min(everything, 2 * missing + 2) if len(kept) else everything
        return Offspring(*map(np.concatenate, zip(*parts, strict=True)))

    def _children(
        self,
        wanted: int,
        genome: Genome,
        chromosomes: Chromosomes,
        used: Bools,
        fitness: Floats,
        random: np.random.Generator,
    ) -> Offspring:
        pairs = (wanted + 1) // 2
        first, second = self.selection.draw(fitness, 2 * pairs, random).reshape(2, pairs)
        exchanged = self.crossover.exchanged(used[first], random)
        exchanged = exchanged & (random.random((pairs, 1)) < self.crossover_rate)
        children = _crossed(chromosomes[first], chromosomes[second], exchanged[:, :, None])[:wanted]
        of_parent = np.ones((wanted, used.shape[1]), bool)
        if not used.all():
            of_parent = _crossed(used[first], used[second], exchanged)[:wanted]
        changed = random.random(wanted) < self.mutation_rate
        children[changed] = self.mutation.mutated(children[changed], of_parent[changed], genome, random)
        return Offspring(children, of_parent)


def _crossed(one: NDArray[Any], other: NDArray[Any], exchanged: Bools) -> NDArray[Any]:
    """Both children of each pair, one after the other."""
    children = np.empty((2 * len(one), *one.shape[1:]), one.dtype)
    children[::2], children[1::2] = np.where(exchanged, other, one), np.where(exchanged, one, other)
    return children


def _is_new(chromosomes: Chromosomes, known: Chromosomes) -> Bools:
    """Which chromosomes equal neither a known one nor one before them."""
    rows = np.concatenate([known, chromosomes]).reshape(len(known) + len(chromosomes), -1).astype(np.float64)
    # Equal rows have equal sums, and others hardly ever.
    words = rows.view(np.uint64)
    sums = ((words ^ words >> _HALF) * _factors(rows.shape[1])).sum(axis=1, dtype=np.uint64)
    _, first, at = np.unique(sums, return_index=True, return_inverse=True)
    if (rows != rows[first[at]]).any():
        _, first = np.unique(rows, axis=0, return_index=True)
    is_new = np.zeros(len(rows), bool)
    is_new[first] = True
    found: Bools = is_new[len(known) :]
    return found


@cache
def _factors(count: int) -> NDArray[np.uint64]:
    return np.random.default_rng(count).integers(1 << 63, size=count, dtype=np.uint64) * 2 + 1


def best_first(fitness: Floats) -> list[int]:
    """The indices of the individuals, the fittest first; equals in the order in which they stand."""
    order: list[int] = np.argsort(-fitness, kind="stable").tolist()
    return order
