"""The chromosome, and the decision that a gene makes.

There are 5,040 genes: 9 categories of hands x 8 positions x 70 states of the betting, which are raises in the round
before (4 values before the flop, where the blind counts as a raise, 5 later) x raises in this round (5 values), for
each of the rounds after the first: 4 x 5 + 5 x 5 + 5 x 5. A gene has two thresholds, whole numbers from -100 to 100.
With d the weight of the hand times the odds, the agent raises if d is above the first, calls if it is above the second,
and folds otherwise (chapter 3.3.1 of the work).
"""

from __future__ import annotations

import enum
from typing import Final

__all__ = [
    "BETTING_STATES",
    "GENES",
    "HAND_CATEGORIES",
    "MOST_RAISES",
    "THRESHOLD",
    "Odds",
    "decision",
    "gene",
    "odds_factor",
]

HAND_CATEGORIES: Final = 9
POSITIONS: Final = 8
MOST_RAISES: Final = 4
_RAISES: Final = MOST_RAISES + 1
_FIRST_STATES: Final = (0, MOST_RAISES * _RAISES, MOST_RAISES * _RAISES + _RAISES * _RAISES)
BETTING_STATES: Final = _FIRST_STATES[2] + _RAISES * _RAISES
GENES: Final = HAND_CATEGORIES * POSITIONS * BETTING_STATES
THRESHOLD: Final = 100
"""Thresholds go from minus this to this."""


class Odds(enum.Enum):
    """What "odds of the pot" means; the work's words and its formula allow both."""

    REWARD = "reward"
    """The pot's share of pot and price: 1 where nothing is to be paid; the better the price, the higher."""
    PRICE = "price"
    """The price as a part of the pot, by the letter: 0 where nothing is to be paid; the worse the price, the higher."""


def gene(category: int, position: int, round_: int, raises_before: int, raises: int) -> int:
    """The number of the gene for a situation.

    Args:
        category: of the hand made of hole cards and board, 0 (high card) to 8 (straight flush).
        position: a position class, 0 to 7 (`bots.evolved.charts.POSITION_CLASSES`).
        round_: 1 flop, 2 turn, 3 river.
        raises_before: raises in the round before; on the flop 0 to 3 without the blind, later 0 to 4.
        raises: in this round, 0 to 4.
    """
    state = _FIRST_STATES[round_ - 1] + raises_before * _RAISES + raises
    return (category * POSITIONS + position) * BETTING_STATES + state


def decision(raise_above: int, call_above: int, weight: float, to_call: float, pot: float, odds: Odds) -> int:
    """What a gene decides: 0 fold, 1 call, 2 raise.

    Args:
        raise_above: the first threshold.
        call_above: the second.
        weight: the chance not to lose against those who have not folded, 0 to 1.
        to_call: the price, in any unit.
        pot: everything that has been put in, in the same unit.
        odds: what the weight is multiplied with.
    """
    d = THRESHOLD * weight * odds_factor(to_call, pot, odds)
    return 2 if d > raise_above else 1 if d > call_above else 0


def odds_factor(to_call: float, pot: float, odds: Odds) -> float:
    """What the weight of a hand is multiplied with, beside `THRESHOLD`; arguments as for `decision`."""
    return pot / (pot + to_call) if odds is Odds.REWARD else to_call / pot
