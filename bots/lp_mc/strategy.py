"""Reader of the shipped strategies before the flop, which needs no solver.

`preflop.bin` is written by `tests/bots/lp_mc/generate.py`. All numbers are little-endian:

    8 bytes                   magic
    2 * 8 * 169 * 3 doubles   probabilities of fold, call (or check) and raise, by solution (the equilibrium, then the
                              published one), by betting in the order of `BETTINGS`, and by starting hand

The strategies hold for blinds in the ratio 1:2, bets of the size of the big blind, and at most four bets.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from os.path import dirname, join
from typing import Final, NamedTuple

from engine.tables import TableFile

BETTINGS: Final = ("", "cr", "crrr", "rr", "c", "crr", "r", "rrr")
"""Betting before each decision, as in a match state. The small blind's decisions come first."""
STRATEGIES: Final = TableFile(
    join(dirname(__file__), "preflop.bin"),
    b"ACPCPS01",
    "462f9deddc0e53d3337b996c4fff91c506c8cbdbb4547d52db335be18f3744dd",
    "strategies before the flop",
)
_HANDS: Final = 169
_STRATEGY: Final = struct.Struct(f"<{len(BETTINGS) * _HANDS * 3}d")


class ActionChances(NamedTuple):
    """Probabilities of the three actions. An illegal action has 0, except for some free folds as published."""

    fold: float
    call: float
    raise_: float


@dataclass(frozen=True, slots=True)
class PreflopStrategy:
    numbers: tuple[float, ...]

    def chances(self, betting: str, starting_hand: int) -> ActionChances:
        """Return the probabilities after one of `BETTINGS`.

        Args:
            starting_hand: number of the hand, 0 to 168, as in `engine.cards`.
        """
        first = 3 * (BETTINGS.index(betting) * _HANDS + starting_hand)
        return ActionChances(*self.numbers[first : first + 3])


@cache
def preflop_strategy(*, as_published: bool = False) -> PreflopStrategy:
    """Read the equilibrium, or the strategy that the thesis played in its place.

    Raises:
        OSError: the file is missing from the installation.
        TableError: the file is damaged.
    """
    offset = 0
    if as_published:
        offset = _STRATEGY.size
    return PreflopStrategy(_STRATEGY.unpack_from(STRATEGIES.numbers(), offset))
