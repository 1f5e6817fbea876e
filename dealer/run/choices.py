"""Settings of a run with a fixed set of values."""

from __future__ import annotations

import enum
import itertools
import math
from typing import Literal, TypeAlias

Interval: TypeAlias = Literal["fixed", "guaranteed", "any time", "none"]
"""Kind of a contest's intervals.

Valid for a number of deals set in advance, the same for any distribution of winnings, or valid at any time; none in
training.
"""


class ShownInterval(enum.StrEnum):
    """Interval that ± stands for in the output of a command."""

    USUAL = "95"
    """The 95 % interval."""
    GUARANTEED = "guaranteed"
    """The 95 % interval that holds for any distribution of winnings."""


class Seating(enum.StrEnum):
    """Seatings in which each deal is played."""

    SINGLE = "single"
    """The seats as given, once."""
    ROTATIONS = "rotations"
    """Duplicate match: the players move by one seat until all have had every seat."""
    PERMUTATIONS = "permutations"
    """Every order of the players."""

    def orders(self, players: int) -> list[tuple[int, ...]]:
        """Return the seatings, each as player indices by seat. The given order comes first."""
        order = tuple(range(players))
        if self is Seating.SINGLE:
            return [order]
        if self is Seating.ROTATIONS:
            return [order[players - shift :] + order[: players - shift] for shift in range(players)]
        return list(itertools.permutations(order))

    def order_count(self, players: int) -> int:
        """Return the number of seatings, without creating them."""
        if self is Seating.SINGLE:
            return 1
        if self is Seating.ROTATIONS:
            return players
        return math.factorial(players)


class Format(enum.StrEnum):
    """Contests of a tournament."""

    ROUND_ROBIN = "round-robin"
    """Every bot meets every other one."""
    GAUNTLET = "gauntlet"
    """The first bot meets all others, which meet only together with it."""


class Score(enum.StrEnum):
    """Scores used by stop rules and the live line, and those in the result."""

    BOTH = "both"
    """Raw winnings. The result also has corrected scores if they take only seconds to compute."""
    RAW = "raw"
    """Raw winnings only."""
    CORRECTED = "corrected"
    """Winnings without the luck of the cards, see `logs.variance.correction`."""
    AIVAT = "aivat"
    """Winnings without the luck of the cards and of the choices of known players, see `bots.hand_values`."""


class Affinity(enum.StrEnum):
    """Sharing of cores by the programs of a match."""

    AUTO = "auto"
    """A dealer shares a core with its quick bots."""
    OFF = "off"
    """The system decides."""


class Command(enum.StrEnum):
    """Kind of a run."""

    PLAY = "play"
    """One contest, with a player for every seat."""
    TOURNAMENT = "tournament"
    """Contests between all bots, or between the first one and all others."""
    TABLE = "table"
    """One contest, whose first player is a person at this terminal."""
