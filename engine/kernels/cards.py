"""Keys, sets and tables from which kernels find the rank of a hand.

The key of a card is a uint64 with the rank key in the low 32 bits and four suit counters of 4 bits above. The key of a
hand is `START` plus the keys of its cards. Counters start at 3, so the fifth card of a suit sets bit 3 of its counter,
and one ``and`` with `FLUSH` finds any flush. A set of cards has one bit per card, 13 bits per suit.

This module imports numpy but not numba.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.tables import load_tables

_TABLES: Final = load_tables()
_SUIT_SHIFT: Final = 32

RANK_KEYS: Final = np.array(_TABLES.rank_keys, dtype=np.uint64)
"""Key of a rank, by rank."""

KEYS: Final = np.array(
    [_TABLES.rank_keys[card >> 2] + (1 << (_SUIT_SHIFT + 4 * (card & 3))) for card in range(52)], dtype=np.uint64
)
"""Key of a card, by card."""

BITS: Final = np.array([1 << (13 * (card & 3) + (card >> 2)) for card in range(52)], dtype=np.uint64)
"""Set with this card alone, by card."""

OFFSETS: Final = tuple(np.array(table, dtype=np.uint16) for table in _TABLES.offsets)
VALUES: Final = tuple(np.array(table, dtype=np.uint16) for table in _TABLES.values)
ROW_BITS: Final = tuple(np.uint64(bits) for bits in _TABLES.row_bits)
"""Tables of `engine.tables.RankTables`. Index n - 1 is for hands of n cards."""

FLUSHES: Final = np.array(_TABLES.flushes, dtype=np.uint16)
"""Rank of a flush by the set of its ranks, 0 for fewer than five."""

START: Final = np.uint64(0x3333 << _SUIT_SHIFT)
FLUSH: Final = np.uint64(0x8888 << _SUIT_SHIFT)
RANKS_ONLY: Final = np.uint64((1 << _SUIT_SHIFT) - 1)
THIRTEEN: Final = np.uint64(13)
SUIT_MASK: Final = np.uint64((1 << 13) - 1)


def rank_sevens(hands: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the ranks of hands of seven cards, shape (n, 7), without numba."""
    keys = START + KEYS[hands].sum(axis=1, dtype=np.uint64)
    rank_keys = keys & RANKS_ONLY
    rows = rank_keys & np.uint64(len(OFFSETS[6]) - 1)
    ranks: NDArray[np.uint16] = VALUES[6][(rank_keys >> ROW_BITS[6]) + OFFSETS[6][rows]]
    flushes = np.flatnonzero(keys & FLUSH)
    sets = np.bitwise_or.reduce(BITS[hands[flushes]], axis=1)
    suits = [FLUSHES[(sets >> np.uint64(13 * suit)) & SUIT_MASK] for suit in range(4)]
    ranks[flushes] = np.maximum.reduce(suits)
    return ranks
