"""Who becomes a parent: the fitter, the likelier."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError
from bots.evolution.genome import Floats

__all__ = ["Rank", "Roulette", "Selection", "SignedRoulette", "Tournament"]


class Selection(Protocol):
    """Draws parents by fitness."""

    def draw(self, fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        """The indices of `count` parents, drawn with replacement; `fitness` has one number for each individual."""


@dataclass(frozen=True, slots=True)
class Tournament:
    """The fittest of some individuals drawn; among equals, the one drawn first.

    Attributes:
        size: how many are drawn, with replacement; 1 is no selection.
        floor: who is not fitter than this cannot win; where nobody drawn is, the first of the population does. None
            lets everybody win.
    """

    size: int = 3
    floor: float | None = None

    def __post_init__(self) -> None:
        """Check."""
        if self.size < 1:
            raise EvolutionError(f"a tournament needs at least 1 participant, not {self.size}")

    def draw(self, fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        """See `Selection`."""
        drawn = random.integers(len(fitness), size=(count, self.size))
        winners: NDArray[np.intp] = drawn[np.arange(count), np.argmax(fitness[drawn], axis=1)]
        if self.floor is not None:
            winners[fitness[winners] <= self.floor] = 0
        return winners


@dataclass(frozen=True, slots=True)
class Roulette:
    """In proportion to fitness plus an offset.

    Whoever's sum is not above 0 is not drawn; if nobody's is, all are equally likely.

    Attributes:
        offset: added to every fitness.
    """

    offset: float = 0.0

    def __post_init__(self) -> None:
        """Check."""
        if not isfinite(self.offset):
            raise EvolutionError(f"the offset of a roulette wheel must be a number, not {self.offset}")

    def draw(self, fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        """See `Selection`."""
        return _spin(np.maximum(fitness + self.offset, 0.0), count, random)


@dataclass(frozen=True, slots=True)
class SignedRoulette:
    """Walks along the fitness of all, negative numbers too, until their sum reaches a drawn part of the whole sum.

    Raises:
        EvolutionError: when it draws and the whole sum is not above 0: there is nothing to walk along.
    """

    def draw(self, fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        """See `Selection`."""
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
    """In proportion to rank: 1 for the least fit, n for the fittest of n; equals in the order in which they stand.

    Attributes:
        skips_best: the fittest is never drawn; the others keep their ranks.
    """

    skips_best: bool = False

    def draw(self, fitness: Floats, count: int, random: np.random.Generator) -> NDArray[np.intp]:
        """See `Selection`."""
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
