"""Kernels that rank many hands. They validate nothing: `engine.batch` does, and is what to call.

Same method and same tables as `engine.evaluator`, without its concessions to the interpreter: the key of a card is a
uint64, the rank key in the low 32 bits, above it four 4-bit suit counters. The counters start at 3 (each hand's sum
starts from `_START`), so that the fifth card of a suit sets bit 3 of its counter and one `and` finds any flush.

What matters for speed:

- The tables are globals, which numba freezes into the compiled code. The same loop with the tables as arguments of an
  inlined helper counts references for every hand and is 20 to 30 times as slow. A kernel that must choose between
  tables at run time (`rank_few`) takes them as arguments itself and calls nothing.
- Everything is unsigned: for a signed index numba adds a test for a negative one to every access.
- Only constants of type uint64 meet the keys: with a Python int, a uint64 becomes a float64.

The kernels are compiled at their first call, once per process (a third of a second each), and not cached on disk. A
cached kernel would hold the frozen tables of the day it was compiled, even after another file of tables is installed;
it fails where neither the package nor the home directory can be written; and processes that fill one cache at the same
time can read each other's half-written entries (numba issue 4807). Nobody who plays pays: playing uses no kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.tables import load_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    _Function = TypeVar("_Function", bound=Callable[..., Any])

    def njit(function: _Function) -> _Function:
        """Stand in for numba's untyped decorator, which keeps the signature."""
        return function
else:
    from numba import njit

_TABLES = load_tables()

OFFSETS = tuple(np.array(of_n, dtype=np.uint16) for of_n in _TABLES.offsets)
VALUES = tuple(np.array(of_n, dtype=np.uint16) for of_n in _TABLES.values)
ROW_BITS = tuple(np.uint64(bits) for bits in _TABLES.row_bits)

_SUITS_FROM = 32
_KEYS = np.array(
    [_TABLES.rank_keys[card >> 2] + (1 << (_SUITS_FROM + 4 * (card & 3))) for card in range(52)], dtype=np.uint64
)
# The card's bit in a set of cards ordered suit by suit, 13 bits each.
_BITS = np.array([1 << (13 * (card & 3) + (card >> 2)) for card in range(52)], dtype=np.uint64)
_RANK_KEYS = np.array(_TABLES.rank_keys, dtype=np.uint64)
_FLUSHES = np.array(_TABLES.flushes, dtype=np.uint16)
_OFFSETS_5, _VALUES_5, _BITS_5 = OFFSETS[4], VALUES[4], ROW_BITS[4]
_OFFSETS_7, _VALUES_7, _BITS_7 = OFFSETS[6], VALUES[6], ROW_BITS[6]
_ROW_5 = np.uint64((1 << _TABLES.row_bits[4]) - 1)
_ROW_7 = np.uint64((1 << _TABLES.row_bits[6]) - 1)

_START = np.uint64(0x3333 << _SUITS_FROM)
_ONE_OF_EACH = np.uint64(0x1111 << _SUITS_FROM)
_FLUSH = np.uint64(0x8888 << _SUITS_FROM)
_RANKS_ONLY = np.uint64((1 << _SUITS_FROM) - 1)
_THIRTEEN = np.uint64(13)
_SUIT_MASK = np.uint64((1 << 13) - 1)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_FOUR = np.uint64(4)
_LOWEST_RUN = np.uint64(0b11111)
_WHEEL = np.uint64(0b1_0000_0000_1111)


@njit
def rank_seven(hands: NDArray[np.uint8], ranks: NDArray[np.uint16]) -> None:
    """Write the rank of each row of hands, shape (n, 7), to ranks, shape (n,)."""
    for i in range(hands.shape[0]):
        a, b, c, d = hands[i, 0], hands[i, 1], hands[i, 2], hands[i, 3]
        e, f, g = hands[i, 4], hands[i, 5], hands[i, 6]
        key = _START + _KEYS[a] + _KEYS[b] + _KEYS[c] + _KEYS[d] + _KEYS[e] + _KEYS[f] + _KEYS[g]
        if key & _FLUSH:
            cards = _BITS[a] | _BITS[b] | _BITS[c] | _BITS[d] | _BITS[e] | _BITS[f] | _BITS[g]
            rank = _FLUSHES[_ZERO]
            for _ in range(4):
                rank = max(rank, _FLUSHES[cards & _SUIT_MASK])
                cards >>= _THIRTEEN
            ranks[i] = rank
        else:
            key &= _RANKS_ONLY
            ranks[i] = _VALUES_7[(key >> _BITS_7) + np.uint64(_OFFSETS_7[key & _ROW_7])]


@njit
def rank_five(hands: NDArray[np.uint8], ranks: NDArray[np.uint16]) -> None:
    """Write the rank of each row of hands, shape (n, 5), to ranks, shape (n,)."""
    for i in range(hands.shape[0]):
        a, b, c, d, e = hands[i, 0], hands[i, 1], hands[i, 2], hands[i, 3], hands[i, 4]
        key = _START + _KEYS[a] + _KEYS[b] + _KEYS[c] + _KEYS[d] + _KEYS[e]
        if key & _FLUSH:
            cards = _BITS[a] | _BITS[b] | _BITS[c] | _BITS[d] | _BITS[e]
            cards |= cards >> _THIRTEEN
            cards |= cards >> (_THIRTEEN + _THIRTEEN)
            ranks[i] = _FLUSHES[cards & _SUIT_MASK]
        else:
            key &= _RANKS_ONLY
            ranks[i] = _VALUES_5[(key >> _BITS_5) + np.uint64(_OFFSETS_5[key & _ROW_5])]


@njit
def rank_few(
    hands: NDArray[np.uint8],
    offsets: NDArray[np.uint16],
    values: NDArray[np.uint16],
    row_bits: np.uint64,
    ranks: NDArray[np.uint16],
) -> None:
    """Write the rank of each row of hands, shape (n, k) with k of 1..7, to ranks, shape (n,).

    The tables are those of k cards: `OFFSETS[k - 1]`, `VALUES[k - 1]`, `ROW_BITS[k - 1]`.
    """
    row = (_ONE << row_bits) - _ONE
    for i in range(hands.shape[0]):
        key = _START
        for j in range(hands.shape[1]):
            key += _KEYS[hands[i, j]]
        if key & _FLUSH:
            cards = _ZERO
            for j in range(hands.shape[1]):
                cards |= _BITS[hands[i, j]]
            rank = _FLUSHES[_ZERO]
            for _ in range(4):
                rank = max(rank, _FLUSHES[cards & _SUIT_MASK])
                cards >>= _THIRTEEN
            ranks[i] = rank
        else:
            key &= _RANKS_ONLY
            ranks[i] = values[(key >> row_bits) + np.uint64(offsets[key & row])]


@njit
def rank_many(hands: NDArray[np.uint8], ranks: NDArray[np.uint16]) -> None:
    """Write the rank of each row of hands, shape (n, k) with k of 8..10, to ranks, shape (n,).

    Such a hand may hold a flush and, say, four of a kind, or two flushes: the best of all is taken.
    """
    for i in range(hands.shape[0]):
        seen, twice, thrice, four, cards = _ZERO, _ZERO, _ZERO, _ZERO, _ZERO
        for j in range(hands.shape[1]):
            card = hands[i, j]
            cards |= _BITS[card]
            bit = _ONE << np.uint64(card >> 2)
            four |= thrice & bit
            thrice |= twice & bit
            twice |= seen & bit
            seen |= bit
        key = best_five_key(seen, twice, thrice, four)
        rank = _VALUES_5[(key >> _BITS_5) + np.uint64(_OFFSETS_5[key & _ROW_5])]
        for _ in range(4):
            rank = max(rank, _FLUSHES[cards & _SUIT_MASK])
            cards >>= _THIRTEEN
        ranks[i] = rank


@njit
def best_five_key(seen: np.uint64, twice: np.uint64, thrice: np.uint64, four: np.uint64) -> np.uint64:
    """Return the sum of the rank keys of the best five ranks of at least eight cards, flushes aside.

    The masks hold the ranks of which there are at least one, two, three, four cards.
    """
    key = _ZERO
    if four:
        quads = highest(four)
        key += _FOUR * _RANK_KEYS[quads] + _RANK_KEYS[highest(seen & ~(_ONE << quads))]
        return np.uint64(key)
    trips = highest(thrice)
    pairs = twice
    if thrice:
        pairs &= ~(_ONE << trips)
        if pairs:
            key += _THREE * _RANK_KEYS[trips] + _TWO * _RANK_KEYS[highest(pairs)]
            return np.uint64(key)
    for lowest in range(8, -1, -1):
        run = _LOWEST_RUN << np.uint64(lowest)
        if seen & run == run:
            for rank in range(lowest, lowest + 5):
                key += _RANK_KEYS[rank]
            return np.uint64(key)
    if seen & _WHEEL == _WHEEL:
        key += _RANK_KEYS[0] + _RANK_KEYS[1] + _RANK_KEYS[2] + _RANK_KEYS[3] + _RANK_KEYS[12]
        return np.uint64(key)
    wanted = 5
    if thrice:
        key += _THREE * _RANK_KEYS[trips]
        seen &= ~(_ONE << trips)
        wanted = 2
    else:
        for _ in range(2):
            if pairs:
                pair = highest(pairs)
                key += _TWO * _RANK_KEYS[pair]
                pairs &= ~(_ONE << pair)
                seen &= ~(_ONE << pair)
                wanted -= 2
    for _ in range(wanted):
        high = highest(seen)
        key += _RANK_KEYS[high]
        seen &= ~(_ONE << high)
    return np.uint64(key)


@njit
def highest(mask: np.uint64) -> np.uint64:
    """Return the number of the highest bit set in a mask of at most 13 bits (0 if none is)."""
    bit = _ZERO
    while mask >> _ONE:
        mask >>= _ONE
        bit += _ONE
    return bit


@njit
def count_five(start: int, end: int) -> NDArray[np.int64]:
    """Return how many five-card hands with start <= lowest card < end have each category, shape (9,)."""
    counts = np.zeros(9, np.int64)
    for a in range(start, end):
        for b in range(a + 1, 52):
            for c in range(b + 1, 52):
                three = _START + _KEYS[a] + _KEYS[b] + _KEYS[c]
                three_cards = _BITS[a] | _BITS[b] | _BITS[c]
                for d in range(c + 1, 52):
                    for e in range(d + 1, 52):
                        key = three + _KEYS[d] + _KEYS[e]
                        if key & _FLUSH:
                            cards = three_cards | _BITS[d] | _BITS[e]
                            cards |= cards >> _THIRTEEN
                            cards |= cards >> (_THIRTEEN + _THIRTEEN)
                            rank = _FLUSHES[cards & _SUIT_MASK]
                        else:
                            key &= _RANKS_ONLY
                            rank = _VALUES_5[(key >> _BITS_5) + np.uint64(_OFFSETS_5[key & _ROW_5])]
                        counts[rank >> 12] += 1
    return counts


@njit
def count_seven(start: int, end: int) -> NDArray[np.int64]:
    """Return how many seven-card hands with start <= lowest card < end have each category, shape (9,).

    Whether the six outer cards can still become a flush is asked once for all the seventh cards.
    """
    counts = np.zeros(9, np.int64)
    for a in range(start, end):
        for b in range(a + 1, 52):
            for c in range(b + 1, 52):
                three = _START + _KEYS[a] + _KEYS[b] + _KEYS[c]
                three_cards = _BITS[a] | _BITS[b] | _BITS[c]
                for d in range(c + 1, 52):
                    for e in range(d + 1, 52):
                        five = three + _KEYS[d] + _KEYS[e]
                        five_cards = three_cards | _BITS[d] | _BITS[e]
                        for f in range(e + 1, 52):
                            six = five + _KEYS[f]
                            if not (six + _ONE_OF_EACH) & _FLUSH:
                                six &= _RANKS_ONLY
                                for g in range(f + 1, 52):
                                    key = six + (_KEYS[g] & _RANKS_ONLY)
                                    rank = _VALUES_7[(key >> _BITS_7) + np.uint64(_OFFSETS_7[key & _ROW_7])]
                                    counts[rank >> 12] += 1
                                continue
                            for g in range(f + 1, 52):
                                key = six + _KEYS[g]
                                if key & _FLUSH:
                                    cards = five_cards | _BITS[f] | _BITS[g]
                                    rank = _FLUSHES[_ZERO]
                                    for _ in range(4):
                                        rank = max(rank, _FLUSHES[cards & _SUIT_MASK])
                                        cards >>= _THIRTEEN
                                else:
                                    key &= _RANKS_ONLY
                                    rank = _VALUES_7[(key >> _BITS_7) + np.uint64(_OFFSETS_7[key & _ROW_7])]
                                counts[rank >> 12] += 1
    return counts
