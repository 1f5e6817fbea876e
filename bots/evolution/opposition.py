"""Whom the individuals are measured against, and how those change from generation to generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bots.errors import EvolutionError
from bots.evolution.evaluation import Evaluation
from bots.evolution.genome import Chromosomes, Floats

__all__ = ["Challengers", "Fixed", "HallOfFame", "Opposition", "Rivals"]


class Opposition(Protocol):
    """Renews the opponents after a generation."""

    def renewed(self, opponents: Chromosomes, population: Chromosomes, evaluation: Evaluation) -> Chromosomes:
        """The opponents of the next generation: the same object if nothing changes.

        Args:
            opponents: those of this generation, shape (opponents, genes, values).
            population: the individuals.
            evaluation: of the individuals against these opponents.
        """


@dataclass(frozen=True, slots=True)
class Fixed:
    """The opponents never change."""

    def renewed(self, opponents: Chromosomes, population: Chromosomes, evaluation: Evaluation) -> Chromosomes:
        """See `Opposition`."""
        return opponents


@dataclass(frozen=True, slots=True)
class Challengers:
    """The best individual replaces the worst opponent when it wins, and wins more than the best opponent beside it.

    Opponents are judged by what they got against that individual.

    Attributes:
        least: what it must exceed.
    """

    least: float = 0.0

    def renewed(self, opponents: Chromosomes, population: Chromosomes, evaluation: Evaluation) -> Chromosomes:
        """See `Opposition`."""
        best = int(np.argmax(evaluation.fitness))
        against = _required(evaluation)[best]
        if not evaluation.fitness[best] > max(self.least, against.max()):
            return opponents
        renewed = opponents.copy()
        renewed[int(np.argmin(against))] = population[best]
        return renewed


@dataclass(frozen=True, slots=True)
class HallOfFame:
    """The best individual of each generation joins the opponents; when they are too many, the earliest leaves.

    Attributes:
        size: the most opponents, 1 or more.
    """

    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise EvolutionError(f"a hall of fame needs room for at least 1, not {self.size}")

    def renewed(self, opponents: Chromosomes, population: Chromosomes, evaluation: Evaluation) -> Chromosomes:
        """See `Opposition`."""
        best = population[int(np.argmax(evaluation.fitness))]
        return np.concatenate([opponents, best[None]])[-self.size :]


@dataclass(frozen=True, slots=True)
class Rivals:
    """The opponents are a population of their own, bred as the first one, each as fit as it did on average.

    Attributes:
        hall: so many of the latest generations, on either side, leave their fittest in a hall of fame, which the other
            side plays against as well.
    """

    hall: int = 0

    def __post_init__(self) -> None:
        if self.hall < 0:
            raise EvolutionError(f"a hall of fame cannot have room for {self.hall}")

    def renewed(self, opponents: Chromosomes, population: Chromosomes, evaluation: Evaluation) -> Chromosomes:
        """See `Opposition`; the breeding itself is the evolution's."""
        return opponents

    @staticmethod
    def fitness(evaluation: Evaluation) -> Floats:
        """Of each opponent."""
        if evaluation.totals is not None:
            return evaluation.totals / len(evaluation.fitness)
        fitness: Floats = _required(evaluation).mean(axis=0)
        return fitness


def _required(evaluation: Evaluation) -> Floats:
    if evaluation.against is None:
        raise EvolutionError("the evaluation does not tell what the opponents got, so they cannot be renewed")
    return evaluation.against
