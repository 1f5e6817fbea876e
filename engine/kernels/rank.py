"""The rank of one hand, compiled: from keys and sets of cards (see `engine.kernels.cards`), all of them numbers.

The ranks are those of `engine.evaluator.rank_hand`.
"""

from __future__ import annotations

import numpy as np

from engine.kernels.cards import FLUSH, FLUSHES, OFFSETS, RANKS_ONLY, ROW_BITS, SUIT_MASK, THIRTEEN, VALUES
from engine.kernels.jit import njit

__all__ = ["FIVE_SLOTS", "five_rank", "five_slot", "flush_rank", "plain_seven_rank", "seven_rank"]

_OFFSETS_5, _VALUES_5, _BITS_5 = OFFSETS[4], VALUES[4], ROW_BITS[4]
_OFFSETS_7, _VALUES_7, _BITS_7 = OFFSETS[6], VALUES[6], ROW_BITS[6]
_ROW_5 = np.uint64(len(_OFFSETS_5) - 1)
_ROW_7 = np.uint64(len(_OFFSETS_7) - 1)

FIVE_SLOTS = len(_VALUES_5)
"""How many slots five cards may have."""


@njit
def flush_rank(cards: np.uint64) -> np.uint16:
    """Return the rank of the best flush in a set of cards; 0 if there is none."""
    rank = FLUSHES[cards & SUIT_MASK]
    for _ in range(3):
        cards >>= THIRTEEN
        rank = max(rank, FLUSHES[cards & SUIT_MASK])
    return np.uint16(rank)


@njit
def five_slot(ranks_key: np.uint64) -> np.uint64:
    """Return a number below `FIVE_SLOTS` that differs for any other five ranks."""
    return np.uint64((ranks_key >> _BITS_5) + np.uint64(_OFFSETS_5[ranks_key & _ROW_5]))


@njit
def five_rank(ranks_key: np.uint64) -> np.uint16:
    """Return the rank of five cards by the sum of their rank keys, flushes aside."""
    return np.uint16(_VALUES_5[five_slot(ranks_key)])


@njit
def plain_seven_rank(ranks_key: np.uint64) -> np.uint16:
    """Return the rank of seven cards by the sum of their rank keys, flushes aside."""
    return np.uint16(_VALUES_7[(ranks_key >> _BITS_7) + np.uint64(_OFFSETS_7[ranks_key & _ROW_7])])


@njit
def seven_rank(key: np.uint64, cards: np.uint64) -> np.uint16:
    """Return the rank of seven cards.

    Args:
        key: `START` and the sum of their keys.
        cards: the same cards as a set.
    """
    if key & FLUSH:
        return flush_rank(cards)
    return plain_seven_rank(key & RANKS_ONLY)
