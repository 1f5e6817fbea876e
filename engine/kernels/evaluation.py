"""Compiled ranks of hands, of single hands for use in other kernels and of many for `engine.batch`.

The ranks are those of `engine.evaluator.rank_hand`. `engine.kernels.cards` defines keys and sets of cards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import (
    BITS,
    FLUSH,
    FLUSHES,
    KEYS,
    OFFSETS,
    RANK_KEYS,
    RANKS_ONLY,
    ROW_BITS,
    START,
    SUIT_MASK,
    THIRTEEN,
    VALUES,
)
from engine.kernels.jit import njit

_OFFSETS_5, _VALUES_5, _BITS_5 = OFFSETS[4], VALUES[4], ROW_BITS[4]
_OFFSETS_7, _VALUES_7, _BITS_7 = OFFSETS[6], VALUES[6], ROW_BITS[6]
_ROW_5 = np.uint64(len(_OFFSETS_5) - 1)
_ROW_7 = np.uint64(len(_OFFSETS_7) - 1)


@njit
def key_and_set(cards: NDArray[np.uint8]) -> tuple[np.uint64, np.uint64]:
    """Return `START` plus the sum of the keys of some cards, and the set of these cards."""
    key = START
    card_set = np.uint64(0)
    for card in cards:
        key += KEYS[card]
        card_set |= BITS[card]
    return key, card_set


@njit
def flush_rank(cards: np.uint64) -> np.uint16:
    """Return the rank of the best flush in a set of cards, 0 for no flush."""
    # At most two suits can have five of ten cards. Looking up all four is faster than a search.
    rank = FLUSHES[cards & SUIT_MASK]
    for _ in range(3):
        cards >>= THIRTEEN
        rank = max(rank, FLUSHES[cards & SUIT_MASK])
    return np.uint16(rank)


@njit
def five_rank(ranks_key: np.uint64) -> np.uint16:
    """Return the rank of five cards from the sum of their rank keys, flushes aside."""
    return np.uint16(_VALUES_5[(ranks_key >> _BITS_5) + np.uint64(_OFFSETS_5[ranks_key & _ROW_5])])


@njit
def plain_seven_rank(ranks_key: np.uint64) -> np.uint16:
    """Return the rank of seven cards from the sum of their rank keys, flushes aside."""
    return np.uint16(_VALUES_7[(ranks_key >> _BITS_7) + np.uint64(_OFFSETS_7[ranks_key & _ROW_7])])


@njit
def seven_rank(key: np.uint64, cards: np.uint64) -> np.uint16:
    """Return the rank of seven cards.

    Args:
        key: `START` plus the sum of their keys.
        cards: set of the cards.
    """
    if key & FLUSH:
        return flush_rank(cards)
    return plain_seven_rank(key & RANKS_ONLY)


# A Python integer would turn a uint64 into a float64.
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_FOUR = np.uint64(4)
_LOWEST_RUN = np.uint64(0b11111)
_WHEEL = np.uint64(0b1_0000_0000_1111)


@njit
def rank_seven(hands: NDArray[np.uint8], ranks: NDArray[np.uint16]) -> None:
    """Write the ranks of hands, shape (n, 7), to ranks, shape (n,)."""
    for i in range(hands.shape[0]):
        a, b, c, d = hands[i, 0], hands[i, 1], hands[i, 2], hands[i, 3]
        e, f, g = hands[i, 4], hands[i, 5], hands[i, 6]
        key = START + KEYS[a] + KEYS[b] + KEYS[c] + KEYS[d] + KEYS[e] + KEYS[f] + KEYS[g]
        if key & FLUSH:
            ranks[i] = flush_rank(BITS[a] | BITS[b] | BITS[c] | BITS[d] | BITS[e] | BITS[f] | BITS[g])
        else:
            ranks[i] = plain_seven_rank(key & RANKS_ONLY)


@njit
def rank_five(hands: NDArray[np.uint8], ranks: NDArray[np.uint16]) -> None:
    """Write the ranks of hands, shape (n, 5), to ranks, shape (n,)."""
    for i in range(hands.shape[0]):
        a, b, c, d, e = hands[i, 0], hands[i, 1], hands[i, 2], hands[i, 3], hands[i, 4]
        key = START + KEYS[a] + KEYS[b] + KEYS[c] + KEYS[d] + KEYS[e]
        if key & FLUSH:
            ranks[i] = flush_rank(BITS[a] | BITS[b] | BITS[c] | BITS[d] | BITS[e])
        else:
            ranks[i] = five_rank(key & RANKS_ONLY)


@njit
def rank_few(
    hands: NDArray[np.uint8],
    offsets: NDArray[np.uint16],
    values: NDArray[np.uint16],
    row_bits: np.uint64,
    ranks: NDArray[np.uint16],
) -> None:
    """Write the ranks of hands, shape (n, k) with k of 1 to 7, to ranks, shape (n,).

    Args:
        offsets: `OFFSETS[k - 1]`.
        values: `VALUES[k - 1]`.
        row_bits: `ROW_BITS[k - 1]`.
    """
    row = (_ONE << row_bits) - _ONE
    for i in range(hands.shape[0]):
        key = START
        for j in range(hands.shape[1]):
            key += KEYS[hands[i, j]]
        if key & FLUSH:
            cards = _ZERO
            for j in range(hands.shape[1]):
                cards |= BITS[hands[i, j]]
            ranks[i] = flush_rank(cards)
        else:
            key &= RANKS_ONLY
            ranks[i] = values[(key >> row_bits) + np.uint64(offsets[key & row])]


@njit
def rank_many(hands: NDArray[np.uint8], ranks: NDArray[np.uint16]) -> None:
    """Write the ranks of hands, shape (n, k) with k of 8 to 10, to ranks, shape (n,)."""
    for i in range(hands.shape[0]):
        # Collect the ranks of which there are at least one, two, three and four cards.
        seen, twice, thrice, four, cards = _ZERO, _ZERO, _ZERO, _ZERO, _ZERO
        for j in range(hands.shape[1]):
            card = hands[i, j]
            cards |= BITS[card]
            bit = _ONE << np.uint64(card >> 2)
            four |= thrice & bit
            thrice |= twice & bit
            twice |= seen & bit
            seen |= bit
        key = _best_five_key(seen, twice, thrice, four)
        # So many cards can contain both a flush and a full house or four of a kind, or two flushes.
        ranks[i] = max(five_rank(key), flush_rank(cards))


@njit
def _best_five_key(seen: np.uint64, twice: np.uint64, thrice: np.uint64, four: np.uint64) -> np.uint64:
    """Return the sum of the rank keys of the best five of at least eight cards, flushes aside.

    Args:
        seen: set of the ranks of which there is at least one card.
        twice: those of which there are at least two.
        thrice: those of which there are at least three.
        four: those of which there are four.
    """
    key = _ZERO
    if four:
        quads = _highest(four)
        key += _FOUR * RANK_KEYS[quads] + RANK_KEYS[_highest(seen & ~(_ONE << quads))]
        return np.uint64(key)
    trips = _highest(thrice)
    pairs = twice
    if thrice:
        pairs &= ~(_ONE << trips)
        if pairs:
            key += _THREE * RANK_KEYS[trips] + _TWO * RANK_KEYS[_highest(pairs)]
            return np.uint64(key)
    # The highest straight, then the one from ace to five.
    for lowest in range(8, -1, -1):
        run = _LOWEST_RUN << np.uint64(lowest)
        if seen & run == run:
            for rank in range(lowest, lowest + 5):
                key += RANK_KEYS[rank]
            return np.uint64(key)
    if seen & _WHEEL == _WHEEL:
        key += RANK_KEYS[0] + RANK_KEYS[1] + RANK_KEYS[2] + RANK_KEYS[3] + RANK_KEYS[12]
        return np.uint64(key)
    # Three of a kind, one or two pairs, or nothing; then the highest kickers.
    missing = 5
    if thrice:
        key += _THREE * RANK_KEYS[trips]
        seen &= ~(_ONE << trips)
        missing = 2
    else:
        for _ in range(2):
            if pairs:
                pair = _highest(pairs)
                key += _TWO * RANK_KEYS[pair]
                pairs &= ~(_ONE << pair)
                seen &= ~(_ONE << pair)
                missing -= 2
    for _ in range(missing):
        high = _highest(seen)
        key += RANK_KEYS[high]
        seen &= ~(_ONE << high)
    return np.uint64(key)


@njit
def _highest(mask: np.uint64) -> np.uint64:
    bit = _ZERO
    while mask >> _ONE:
        mask >>= _ONE
        bit += _ONE
    return bit
