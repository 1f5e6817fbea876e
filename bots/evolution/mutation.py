"""How children change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bots.errors import EvolutionError
from bots.evolution.crossover import pick
from bots.evolution.genome import Bools, Chromosomes, Genome

__all__ = ["Mutation", "NewValues", "Shift"]


class Mutation(Protocol):
    """Changes chromosomes."""

    def mutated(
        self, chromosomes: Chromosomes, used: Bools, genome: Genome, random: np.random.Generator
    ) -> Chromosomes:
        """The chromosomes, changed; `used`, shape (individuals, genes), tells which genes were used by a parent."""


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
        """Check."""
        _require_genes(self.genes)
        if not 0 < self.variance <= 1:
            raise EvolutionError(
                f"the variance of a mutation is a part of the range, above 0 and at most 1, not {self.variance:g}"
            )

    def mutated(
        self, chromosomes: Chromosomes, used: Bools, genome: Genome, random: np.random.Generator
    ) -> Chromosomes:
        """See `Mutation`."""
        picked = pick(used if self.only_used else np.ones_like(used), self.genes, random)
        steps = random.choice([-1.0, 1.0], size=chromosomes.shape) * self.variance * genome.width
        if self.is_drawn:
            steps *= random.random(chromosomes.shape)
        return genome.fitted(chromosomes + picked[:, :, None] * steps)


@dataclass(frozen=True, slots=True)
class NewValues:
    """Some genes get new values, each value of their range equally likely.

    Attributes:
        genes: how many genes of a chromosome.
        only_used: only genes that were used in the evaluation.
    """

    genes: int = 1
    only_used: bool = False

    def __post_init__(self) -> None:
        """Check."""
        _require_genes(self.genes)

    def mutated(
        self, chromosomes: Chromosomes, used: Bools, genome: Genome, random: np.random.Generator
    ) -> Chromosomes:
        """See `Mutation`."""
        picked = pick(used if self.only_used else np.ones_like(used), self.genes, random)
        return np.where(picked[:, :, None], genome.random(len(chromosomes), random), chromosomes)


def _require_genes(genes: int) -> None:
    if genes < 1:
        raise EvolutionError(f"a mutation must change at least 1 gene, not {genes}")
