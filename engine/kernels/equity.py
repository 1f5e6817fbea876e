"""Kernels that count showdowns. They validate nothing: `engine.equity` does, and is what to call.

The same showdowns as in `engine.equity_arrays`, whose docstrings say what is counted and in which order random numbers
are used; a test holds the two against each other count by count. What is said in `engine.kernels.evaluation` on speed
and on not caching compiled code holds here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.splitmix import STEP
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

_SUITS_FROM = 32
_KEYS = np.array(
    [_TABLES.rank_keys[card >> 2] + (1 << (_SUITS_FROM + 4 * (card & 3))) for card in range(52)], dtype=np.uint64
)
# The card's bit in a set of cards ordered suit by suit, 13 bits each.
_BITS = np.array([1 << (13 * (card & 3) + (card >> 2)) for card in range(52)], dtype=np.uint64)
_OFFSETS = np.array(_TABLES.offsets[6], dtype=np.uint16)
_VALUES = np.array(_TABLES.values[6], dtype=np.uint16)
_FLUSHES = np.array(_TABLES.flushes, dtype=np.uint16)
_ROW_BITS = np.uint64(_TABLES.row_bits[6])
_ROW = np.uint64((1 << _TABLES.row_bits[6]) - 1)

_START = np.uint64(0x3333 << _SUITS_FROM)
_FLUSH = np.uint64(0x8888 << _SUITS_FROM)
_RANKS_ONLY = np.uint64((1 << _SUITS_FROM) - 1)
_THIRTEEN = np.uint64(13)
_SUIT_MASK = np.uint64((1 << 13) - 1)
_ZERO = np.uint64(0)

_STEP = np.uint64(STEP)
_FACTOR_1 = np.uint64(0xBF58476D1CE4E5B9)
_FACTOR_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


@njit
def rank_of(key: np.uint64, cards: np.uint64) -> np.uint16:
    """Return the rank of seven cards.

    Args:
        key: the sum of their keys and `_START`.
        cards: the same cards as a set of bits.
    """
    if key & _FLUSH:
        rank = _FLUSHES[_ZERO]
        for _ in range(4):
            rank = max(rank, _FLUSHES[cards & _SUIT_MASK])
            cards >>= _THIRTEEN
        return np.uint16(rank)
    plain = key & _RANKS_ONLY
    return np.uint16(_VALUES[(plain >> _ROW_BITS) + np.uint64(_OFFSETS[plain & _ROW])])


@njit
def count_exact(
    hole: NDArray[np.uint8], board: NDArray[np.uint8], unseen: NDArray[np.uint8], counts: NDArray[np.int64]
) -> None:
    """Add to counts every showdown against one opponent, as `engine.equity_arrays.count_exact` does."""
    key, cards = _START, _ZERO
    for card in board:
        key += _KEYS[card]
        cards |= _BITS[card]
    our_key, our_cards = key + _KEYS[hole[0]] + _KEYS[hole[1]], cards | _BITS[hole[0]] | _BITS[hole[1]]
    size = len(unseen)
    to_come = 5 - len(board)
    # Our rank on each board, found by the places of its cards to come: two, or twice the one, or anything if none.
    ours = np.zeros((size, size), np.uint16)
    for i in range(size):
        if to_come == 0:
            ours[i, i] = rank_of(our_key, our_cards)
        elif to_come == 1:
            ours[i, i] = rank_of(our_key + _KEYS[unseen[i]], our_cards | _BITS[unseen[i]])
        else:
            for j in range(i + 1, size):
                ours[i, j] = rank_of(
                    our_key + _KEYS[unseen[i]] + _KEYS[unseen[j]], our_cards | _BITS[unseen[i]] | _BITS[unseen[j]]
                )
    for a in range(size):
        for b in range(a + 1, size):
            two = key + _KEYS[unseen[a]] + _KEYS[unseen[b]]
            two_cards = cards | _BITS[unseen[a]] | _BITS[unseen[b]]
            if to_come == 0:
                compare(ours[a, a], rank_of(two, two_cards), counts)
                continue
            for c in range(b + 1, size):
                three = two + _KEYS[unseen[c]]
                three_cards = two_cards | _BITS[unseen[c]]
                if to_come == 1:
                    theirs = rank_of(three, three_cards)
                    compare(ours[a, a], theirs, counts)
                    compare(ours[b, b], theirs, counts)
                    compare(ours[c, c], theirs, counts)
                    continue
                for d in range(c + 1, size):
                    theirs = rank_of(three + _KEYS[unseen[d]], three_cards | _BITS[unseen[d]])
                    compare(ours[a, b], theirs, counts)
                    compare(ours[a, c], theirs, counts)
                    compare(ours[a, d], theirs, counts)
                    compare(ours[b, c], theirs, counts)
                    compare(ours[b, d], theirs, counts)
                    compare(ours[c, d], theirs, counts)


@njit
def compare(ours: np.uint16, theirs: np.uint16, counts: NDArray[np.int64]) -> None:
    """Add one showdown to counts: lost, won or tied."""
    counts[0] += ours < theirs
    counts[1] += ours > theirs
    counts[2] += ours == theirs


@njit
def count_sampled(
    hole: NDArray[np.uint8],
    board: NDArray[np.uint8],
    unseen: NDArray[np.uint8],
    opponents: int,
    trials: int,
    start: np.uint64,
    counts: NDArray[np.int64],
) -> None:
    """Add to counts so many showdowns with cards drawn, as `engine.equity_arrays.count_sampled` does."""
    to_come = 5 - len(board)
    draws = to_come + 2 * opponents
    key, cards = _START, _ZERO
    for card in board:
        key += _KEYS[card]
        cards |= _BITS[card]
    own_key, own_cards = _KEYS[hole[0]] + _KEYS[hole[1]], _BITS[hole[0]] | _BITS[hole[1]]
    size = len(unseen)
    deck = np.empty(size, np.uint8)
    counter = start
    word = _ZERO
    for _ in range(trials):
        deck[:] = unseen
        for draw in range(draws):
            if draw % 2 == 0:
                counter += _STEP
                word = counter
                word = (word ^ (word >> _SHIFT_1)) * _FACTOR_1
                word = (word ^ (word >> _SHIFT_2)) * _FACTOR_2
                word ^= word >> _SHIFT_3
                half = word >> _HALF
            else:
                half = word & _LOW_HALF
            place = draw + np.int64((half * np.uint64(size - draw)) >> _HALF)
            card = deck[place]
            deck[place] = deck[draw]
            deck[draw] = card
        board_key, board_cards = key, cards
        for i in range(to_come):
            board_key += _KEYS[deck[i]]
            board_cards |= _BITS[deck[i]]
        ours = rank_of(board_key + own_key, board_cards | own_cards)
        winners = 1
        for i in range(to_come, draws, 2):
            theirs = rank_of(
                board_key + _KEYS[deck[i]] + _KEYS[deck[i + 1]], board_cards | _BITS[deck[i]] | _BITS[deck[i + 1]]
            )
            if theirs > ours:
                winners = 0
                break
            winners += theirs == ours
        counts[winners] += 1
