"""The chances of `bots.sdk.chance.Chance`, compiled: the same seeds, the same draws, the same numbers."""

from __future__ import annotations

import sys
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.equity import MOST_OPPONENTS, preflop_equity
from engine.kernels.draw import count_against_many, mixed
from engine.kernels.jit import njit
from engine.kernels.unseen import count_against_one
from engine.splitmix import STEP
from engine.starting_hands import starting_hand_table

__all__ = ["chance_percent", "chance_seed", "preflop_percent"]

_STARTING_HAND = np.array(starting_hand_table(), np.uint8)
_PREFLOP = np.zeros((169, MOST_OPPONENTS), np.float64)
for _one in range(52):
    for _other in range(52):
        if _one != _other:
            _PREFLOP[_STARTING_HAND[_one, _other]] = [
                100 * preflop_equity((_one, _other), opponents).equity for opponents in range(1, MOST_OPPONENTS + 1)
            ]
_STEP = np.uint64(STEP)
_CARD_BITS, _OPPONENT_BITS = np.uint64(6), np.uint64(4)
_SUM_CORRECTS: Final = sys.version_info >= (3, 12)


@njit
def chance_percent(
    seed: np.uint64, hand: int, hole: NDArray[np.uint8], board: NDArray[np.uint8], opponents: int, trials: int
) -> float:
    """The chance to win after the first round, in per cent.

    Args:
        seed: of the player, mixed.
        hand: the hand's number.
        hole: our two cards.
        board: three to five cards.
        opponents: how many have not folded, 1 to 9.
        trials: showdowns drawn against two or more.
    """
    counts = np.zeros(opponents + 2, np.int64)
    if opponents == 1:
        count_against_one(hole, board, counts)
    else:
        start = chance_seed(seed, hand, hole, board, opponents)
        count_against_many(hole, board, opponents, trials, mixed(start), counts)
    # As `engine.equity.equity_of_counts` adds, so that the last bit is the same: with a correction since Python 3.12.
    total, shares, lost = counts[0], 0.0, 0.0
    for winners in range(1, opponents + 2):
        total += counts[winners]
        part = counts[winners] / winners
        added = shares + part
        lost += (shares - added) + part if shares >= part else (part - added) + shares
        shares = added
    if _SUM_CORRECTS:
        shares += lost
    return float(100 * (shares / total))


@njit
def preflop_percent(one: int, other: int, opponents: int) -> float:
    """The chance to win before the flop with two cards, in per cent."""
    return float(_PREFLOP[_STARTING_HAND[one, other], opponents - 1])


@njit
def chance_seed(
    seed: np.uint64, hand: int, hole: NDArray[np.uint8], board: NDArray[np.uint8], opponents: int
) -> np.uint64:
    """The seed of the draws: that of `bots.sdk.chance.chance_seed`, whose seed comes mixed."""
    state = np.uint64(0)
    for i in range(2):
        state = state << _CARD_BITS | np.uint64(hole[i] + 1)
    for i in range(len(board)):
        state = state << _CARD_BITS | np.uint64(board[i] + 1)
    state = state << _OPPONENT_BITS | np.uint64(opponents)
    return mixed(mixed(seed + np.uint64(hand) * _STEP) + state * _STEP)
