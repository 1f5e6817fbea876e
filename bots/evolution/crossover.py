"""Which genes two children exchange.

A child has its own parent's genes except where a mask, shape (pairs, genes), says that the pair exchanges them. What an
evaluation used of the first parent can guide the choice (`used`, of the same shape): where most of a chromosome is
never asked, what is exchanged elsewhere changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bots.errors import EvolutionError
from bots.evolution.genome import Bools

__all__ = ["Crossover", "HalfOfUsedGenes", "OneOf", "OnePoint", "RandomGenes", "Uniform", "UsedGenes", "pick"]


class Crossover(Protocol):
    """Chooses the genes that pairs of children exchange."""

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        """The mask of the genes exchanged; `used` tells which genes of each pair's first parent were used."""


@dataclass(frozen=True, slots=True)
class OnePoint:
    """All genes from a drawn point on; at least one gene stays, and at least one goes."""

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        """See `Crossover`."""
        pairs, genes = used.shape
        cuts = random.integers(min(1, genes - 1), max(genes, 1), size=(pairs, 1))
        mask: Bools = np.arange(genes) >= cuts
        return mask


@dataclass(frozen=True, slots=True)
class Uniform:
    """Each gene by itself.

    Attributes:
        share: the chance that it is exchanged.
    """

    share: float = 0.5

    def __post_init__(self) -> None:
        """Check."""
        if not 0 <= self.share <= 1:
            raise EvolutionError(f"the share of genes exchanged must be 0 to 1, not {self.share}")

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        """See `Crossover`."""
        mask: Bools = random.random(used.shape) < self.share
        return mask


@dataclass(frozen=True, slots=True)
class HalfOfUsedGenes:
    """All genes behind the first half of those that the first parent used; none, if it used none."""

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        """See `Crossover`."""
        counts = np.cumsum(used, axis=1)
        mask: Bools = 2 * counts > counts[:, -1:]
        return mask


@dataclass(frozen=True, slots=True)
class RandomGenes:
    """Some genes, drawn.

    Attributes:
        count: how many; all, if there are fewer.
    """

    count: int

    def __post_init__(self) -> None:
        """Check."""
        _require_count(self.count)

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        """See `Crossover`."""
        return pick(np.ones_like(used), self.count, random)


@dataclass(frozen=True, slots=True)
class UsedGenes:
    """Some of the genes that the first parent used, drawn.

    Attributes:
        count: how many; all that it used, if those are fewer.
    """

    count: int

    def __post_init__(self) -> None:
        """Check."""
        _require_count(self.count)

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        """See `Crossover`."""
        return pick(used, self.count, random)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several, drawn anew for each generation.

    Attributes:
        operators: one or more.
    """

    operators: tuple[Crossover, ...]

    def __post_init__(self) -> None:
        """Check."""
        if not self.operators:
            raise EvolutionError("there is no crossover to choose from")

    def exchanged(self, used: Bools, random: np.random.Generator) -> Bools:
        """See `Crossover`."""
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
