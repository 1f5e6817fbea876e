"""What chromosomes are made of, and how good they are, measured here or on other processes and machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError

Chromosomes: TypeAlias = NDArray[Any]
"""Shape (individuals, genes, values of a gene)."""
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Seeds: TypeAlias = NDArray[np.uint64]


class GeneRange(NamedTuple):
    """The values a gene may take.

    Attributes:
        low: the lowest.
        high: the highest, above `low`.
        is_whole: whether they are whole numbers.
    """

    low: float
    high: float
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Genome:
    """The genes of every chromosome of a population.

    Attributes:
        ranges: of each gene.
        values: how many values a gene has, all of its range.

    Raises:
        EvolutionError: no genes, no values, or a range that is none.
    """

    ranges: tuple[GeneRange, ...]
    values: int = 1

    def __post_init__(self) -> None:
        if not self.ranges or self.values < 1:
            raise EvolutionError("a chromosome needs at least one gene, and a gene at least one value")
        for number, gene in enumerate(self.ranges):
            if not (isfinite(gene.low) and isfinite(gene.high) and gene.low < gene.high):
                raise EvolutionError(f"the range of gene {number} is no range: {gene.low} to {gene.high}")
            if gene.is_whole and not (gene.low == int(gene.low) and gene.high == int(gene.high)):
                raise EvolutionError(
                    f"the range of gene {number} does not end at whole numbers: {gene.low} to {gene.high}"
                )

    @classmethod
    def alike(cls, genes: int, low: float, high: float, *, is_whole: bool = False, values: int = 1) -> Genome:
        """Genes that all have the same range."""
        return cls((GeneRange(low, high, is_whole),) * genes, values)

    @property
    def genes(self) -> int:
        """How many genes there are."""
        return len(self.ranges)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the arrays: int16 where every value is a whole number that fits, else float64."""
        fits = all(gene.is_whole and gene.low >= -32768 and gene.high <= 32767 for gene in self.ranges)
        return np.dtype(np.int16 if fits else np.float64)

    @property
    def low(self) -> Floats:
        """The lowest value of each gene, shape (genes, 1)."""
        return np.array([[gene.low] for gene in self.ranges])

    @property
    def width(self) -> Floats:
        """From the lowest value of each gene to the highest, shape (genes, 1)."""
        return np.array([[gene.high - gene.low] for gene in self.ranges])

    def random(self, count: int, random: np.random.Generator) -> Chromosomes:
        """Chromosomes whose values are all drawn, each value of a gene's range equally likely."""
        whole = np.array([[gene.is_whole] for gene in self.ranges])
        # A whole number owns the interval up to the next one, so that the last is as likely as the others.
        drawn = self.low + random.random((count, self.genes, self.values)) * (self.width + whole)
        return self.fitted(np.where(whole, np.floor(drawn), drawn))

    def spread(self, count: int, levels: int, random: np.random.Generator) -> Chromosomes:
        """Chromosomes in which every gene takes each of some equally spaced values equally often, in drawn order.

        Args:
            count: how many, a multiple of `levels`.
            levels: how many different values, from the lowest to the highest of the range; 2 or more.
            random: generator.

        Raises:
            EvolutionError: `count` is not a multiple of `levels`.
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
