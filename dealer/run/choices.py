"""Settings of a run that are one of a few words."""

from __future__ import annotations

import enum
import itertools
import math
from typing import Literal, TypeAlias

Interval: TypeAlias = Literal["fixed", "any time", "none"]
"""Kind of the intervals of a contest: for a number of deals set in advance, or for every moment; none in training."""


class Seating(enum.StrEnum):
    """Which seatings are played, as a rule with the same cards."""

    SINGLE = "single"
    """The seats as given, once."""
    ROTATIONS = "rotations"
    """The players move on by one seat until all have had every seat: a duplicate match."""
    PERMUTATIONS = "permutations"
    """Every order of the players."""

    def orders(self, players: int) -> list[tuple[int, ...]]:
        """The seatings, each with the player of every seat, in the order given first."""
        order = tuple(range(players))
        if self is Seating.SINGLE:
            return [order]
        if self is Seating.ROTATIONS:
            return [order[-shift:] + order[:-shift] if shift else order for shift in range(players)]
        return list(itertools.permutations(order))

    def order_count(self, players: int) -> int:
        """How many seatings there are, without making them."""
        return {Seating.SINGLE: 1, Seating.ROTATIONS: players, Seating.PERMUTATIONS: math.factorial(players)}[self]


class Format(enum.StrEnum):
    """Which bots of a tournament meet."""

    ROUND_ROBIN = "round-robin"
    """Every bot meets every other."""
    GAUNTLET = "gauntlet"
    """The first bot meets all others; they do not meet without it."""


class Score(enum.StrEnum):
    """What stop rules and the live line look at, and whether the luck of the cards is taken off."""

    BOTH = "both"
    """They look at what was won; the result also has it less the luck of the cards where that takes some seconds."""
    RAW = "raw"
    """What was won."""
    CORRECTED = "corrected"
    """What was won, less the luck of the cards: see `logs.variance.correction`."""


class Affinity(enum.StrEnum):
    """Which programs of a match share a core."""

    AUTO = "auto"
    """A dealer and its bots, as long as these are quick."""
    OFF = "off"
    """The system decides."""


class Command(enum.StrEnum):
    """What is run."""

    PLAY = "play"
    """One contest: a player for every seat."""
    TOURNAMENT = "tournament"
    """Contests between all bots, or between the first and all others."""
    TABLE = "table"
    """One contest, in which the first player is a person at this terminal."""
