"""From one population to the next: selection, crossover, mutation, replacement."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError
from bots.evolution.genome import Bools, Chromosomes, Floats, Genome
from bots.evolution.operators import Crossover, Mutation, NewValues, Selection, Tournament, Uniform

__all__ = ["Breeding", "Offspring", "best_first"]

_HALF = np.uint64(32)


class Offspring(NamedTuple):
    """Children that have not been evaluated.

    Attributes:
        chromosomes: shape (children, genes, values).
        used: for each gene, whether the parent that it comes from used it; shape (children, genes).
    """

    chromosomes: Chromosomes
    used: Bools


@dataclass(frozen=True, slots=True, kw_only=True)
class Breeding:
    """How a population renews itself.

    Attributes:
        selection: who becomes a parent.
        crossover: what a pair of children exchanges.
        crossover_rate: the chance that a pair exchanges anything, 0 to 1.
        mutation: how a child changes.
        mutation_rate: the chance that a child does, 0 to 1.
        keeps_best: the next population is the best of parents and children; otherwise the children, and the `elite`.
        elite: how many of the best parents live on beside the children.
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
        """Check that a population of this size can be bred.

        Raises:
            EvolutionError: it cannot.
        """
        if size < 2:
            raise EvolutionError(f"a population needs at least 2 individuals, not {size}")
        if self.elite >= size:
            raise EvolutionError(f"an elite of {self.elite} leaves no room for children in a population of {size}")

    def survivors(self, size: int) -> int:
        """How many parents of a population of this size live on, or may."""
        return size if self.keeps_best else self.elite

    def brood(
        self, genome: Genome, chromosomes: Chromosomes, used: Bools, fitness: Floats, random: np.random.Generator
    ) -> Offspring:
        """The children of a population; with those of the elite that live on, as many as the population has."""
        wanted = len(chromosomes) - self.elite
        if not self.is_unique:
            return self._children(wanted, genome, chromosomes, used, fitness, random)
        known = chromosomes[best_first(fitness)[: self.elite]] if self.elite else chromosomes[:0]
        broods: list[Offspring] = []
        missing, everything = wanted, wanted + wanted // 4
        count = everything
        while missing:
            brood = self._children(count, genome, chromosomes, used, fitness, random)
            kept = np.flatnonzero(_is_new(brood.chromosomes, known))
            if not len(kept) and count == everything:
                kept = np.arange(count)
            kept = kept[:missing]
            missing -= len(kept)
            broods.append(Offspring(brood.chromosomes[kept], brood.used[kept]))
            known = np.concatenate([known, brood.chromosomes[kept]])
            # Some of those to come will be equal, too.
            count = min(everything, 2 * missing + 2) if len(kept) else everything
        return Offspring(*map(np.concatenate, zip(*broods, strict=True)))

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
    children = np.empty((2 * len(one), *one.shape[1:]), one.dtype)
    children[::2], children[1::2] = np.where(exchanged, other, one), np.where(exchanged, one, other)
    return children


def _is_new(chromosomes: Chromosomes, known: Chromosomes) -> Bools:
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
