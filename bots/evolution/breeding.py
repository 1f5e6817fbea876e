"""From one population to the next: selection, crossover, mutation, replacement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bots.errors import EvolutionError
from bots.evolution.crossover import Crossover, Uniform
from bots.evolution.genome import Bools, Chromosomes, Floats, Genome
from bots.evolution.mutation import Mutation, NewValues
from bots.evolution.selection import Selection, Tournament

__all__ = ["Breeding", "Brood", "best_first"]


class Brood(NamedTuple):
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
        """Check."""
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
    ) -> Brood:
        """The children of a population; with those of the elite that live on, as many as the population has."""
        wanted = len(chromosomes) - self.elite
        if not self.is_unique:
            return self._children(wanted, genome, chromosomes, used, fitness, random)
        known = {chromosomes[index].tobytes() for index in best_first(fitness)[: self.elite]}
        kept: list[int] = []
        broods: list[Brood] = []
        found = 0
        while found < wanted:
            brood = self._children(wanted, genome, chromosomes, used, fitness, random)
            kept = []
            for index, child in enumerate(brood.chromosomes):
                if (text := child.tobytes()) not in known:
                    known.add(text)
                    kept.append(index)
            if not kept:
                kept = list(range(wanted))
            kept = kept[: wanted - found]
            found += len(kept)
            broods.append(Brood(brood.chromosomes[kept], brood.used[kept]))
        return Brood(*map(np.concatenate, zip(*broods, strict=True)))

    def _children(
        self,
        wanted: int,
        genome: Genome,
        chromosomes: Chromosomes,
        used: Bools,
        fitness: Floats,
        random: np.random.Generator,
    ) -> Brood:
        pairs = (wanted + 1) // 2
        first, second = self.selection.draw(fitness, 2 * pairs, random).reshape(2, pairs)
        exchanged = self.crossover.exchanged(used[first], random)
        exchanged = exchanged & (random.random((pairs, 1)) < self.crossover_rate)
        children = np.empty((2 * pairs, *chromosomes.shape[1:]), chromosomes.dtype)
        of_parent = np.empty((2 * pairs, used.shape[1]), bool)
        for at, (own, other) in enumerate(((first, second), (second, first))):
            children[at::2] = np.where(exchanged[:, :, None], chromosomes[other], chromosomes[own])
            of_parent[at::2] = np.where(exchanged, used[other], used[own])
        children, of_parent = children[:wanted], of_parent[:wanted]
        changed = random.random(wanted) < self.mutation_rate
        children[changed] = self.mutation.mutated(children[changed], of_parent[changed], genome, random)
        return Brood(children, of_parent)


def best_first(fitness: Floats) -> list[int]:
    """The indices of the individuals, the fittest first; equals in the order in which they stand."""
    order: list[int] = np.argsort(-fitness, kind="stable").tolist()
    return order
