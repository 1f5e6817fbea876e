"""Cards as the kernels count them: the keys, sets and tables that lead from cards to the rank of a hand.

Same method and same tables as `engine.evaluator`, without its concessions to the interpreter. The key of a card is a
uint64: the rank key in the low 32 bits, above it four 4-bit suit counters. A hand's key is `START` plus the keys of its
cards. The counters start at 3, so that the fifth card of a suit sets bit 3 of its counter, and one `and` with `FLUSH`
finds any flush. A set of cards has one bit per card, suit by suit, 13 bits each.

Nothing here is compiled: numpy alone is imported, and `engine.kernels.showdowns` uses the same numbers.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.tables import load_tables

_TABLES: Final = load_tables()
_SUITS_FROM: Final = 32

RANK_KEYS: Final = np.array(_TABLES.rank_keys, dtype=np.uint64)
"""By rank."""

KEYS: Final = np.array(
    [_TABLES.rank_keys[card >> 2] + (1 << (_SUITS_FROM + 4 * (card & 3))) for card in range(52)], dtype=np.uint64
)
"""By card."""

BITS: Final = np.array([1 << (13 * (card & 3) + (card >> 2)) for card in range(52)], dtype=np.uint64)
"""By card, the set of this card alone."""

OFFSETS: Final = tuple(np.array(table, dtype=np.uint16) for table in _TABLES.offsets)
VALUES: Final = tuple(np.array(table, dtype=np.uint16) for table in _TABLES.values)
ROW_BITS: Final = tuple(np.uint64(bits) for bits in _TABLES.row_bits)
"""The perfect hash of `engine.tables`; index n - 1 is for hands of n cards."""

FLUSHES: Final = np.array(_TABLES.flushes, dtype=np.uint16)
"""The rank of a flush, by the set of its ranks; 0 for fewer than five."""

START: Final = np.uint64(0x3333 << _SUITS_FROM)
FLUSH: Final = np.uint64(0x8888 << _SUITS_FROM)
RANKS_ONLY: Final = np.uint64((1 << _SUITS_FROM) - 1)
THIRTEEN: Final = np.uint64(13)
SUIT_MASK: Final = np.uint64((1 << 13) - 1)


def rank_sevens(hands: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """The ranks of hands of seven cards, shape (n, 7), as `engine.batch.rank_hands` gives them, without numba."""
    keys = START + KEYS[hands].sum(axis=1, dtype=np.uint64)
    ranks_keys = keys & RANKS_ONLY
    rows = ranks_keys & np.uint64(len(OFFSETS[6]) - 1)
    ranks: NDArray[np.uint16] = VALUES[6][(ranks_keys >> ROW_BITS[6]) + OFFSETS[6][rows]]
    flushes = np.flatnonzero(keys & FLUSH)
    sets = np.bitwise_or.reduce(BITS[hands[flushes]], axis=1)
    suits = [FLUSHES[(sets >> np.uint64(13 * suit)) & SUIT_MASK] for suit in range(4)]
    ranks[flushes] = np.maximum.reduce(suits)
    return ranks
