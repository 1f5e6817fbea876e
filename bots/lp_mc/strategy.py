"""How to play before the flop in equilibrium, shipped as a table that a playing bot reads without any solver.

`preflop.bin` is written by `tests/bots/lp_mc/generate.py` and read here. Everything in it is little-endian:

    8 bytes                   magic
    2 * 8 * 169 * 3 doubles   of the equilibrium, then as published: by betting so far, in the order of `BETTINGS`, and
                              by starting hand, the probabilities of fold, call (or check) and raise

It holds for blinds in the ratio 1:2, bets of the size of the big blind and at most four of them.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from os.path import dirname, join
from typing import Final, NamedTuple

from engine.tables import TableFile

BETTINGS: Final = ("", "cr", "crrr", "rr", "c", "crr", "r", "rrr")
"""The betting before each decision, as in a match state: first those of the small blind, then the big blind's."""
STRATEGIES: Final = TableFile(
    join(dirname(__file__), "preflop.bin"),
    b"ACPCPS01",
    "462f9deddc0e53d3337b996c4fff91c506c8cbdbb4547d52db335be18f3744dd",
    "strategies before the flop",
)
_HANDS: Final = 169
_ONE: Final = struct.Struct(f"<{len(BETTINGS) * _HANDS * 3}d")


class ActionChances(NamedTuple):
    """The probabilities of the three actions; those of an action that the rules refuse are 0.

    As published, some hands fold where they owe nothing: that `fold` is not 0.
    """

    fold: float
    call: float
    raise_: float


@dataclass(frozen=True, slots=True)
class PreflopStrategy:
    numbers: tuple[float, ...]

    def chances(self, betting: str, starting_hand: int) -> ActionChances:
        """The chances after one of `BETTINGS`, such as ``cr``, with a starting hand's number in `engine.cards`."""
        at = 3 * (BETTINGS.index(betting) * _HANDS + starting_hand)
        return ActionChances(*self.numbers[at : at + 3])


@cache
def preflop_strategy(*, as_published: bool = False) -> PreflopStrategy:
    """The shipped strategy: the equilibrium, or what the thesis played in its place.

    Raises:
        OSError: the file is missing from the installation.
        TableError: the file is damaged.
    """
    return PreflopStrategy(_ONE.unpack_from(STRATEGIES.numbers(), _ONE.size * as_published))
