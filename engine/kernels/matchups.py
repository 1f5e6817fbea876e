"""Every showdown between every two holdings before the flop, counted; for `engine.generators.matchups`.

The kernels validate nothing. They deal each board once and count from below:

- Boards that differ only by renaming suits end alike for classes of holdings. Of each such set one is dealt and counted
  as often as the set is large: 134,459 boards stand for 2,598,960.
- Without a flush a holding's rank depends on its two ranks alone, of which there are 91 pairs, and on the ranks of the
  board, of which there are 6,175: boards of the same ranks follow one another and share the order of the pairs. Only
  flushes are ranked one by one and put in order board by board; no flush ranks as high as something else.
- From the weakest upwards, a holding beats all those before it that are weaker, less those that share a card with it:
  both are known by class at any time, the latter for each card in lanes, one for every rank of the other card, suited
  and offsuit. No two holdings share two cards unless they are the same, and then neither is the weaker one.

Only wins are counted: losses are the wins of the other side, and all other showdowns are tied. No count is above
144 * 2,118,760 (the pairs of two classes, the boards beside two cards), which 32 bits hold.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import FLUSHES, RANK_KEYS
from engine.kernels.jit import njit
from engine.kernels.rank import plain_seven_rank
from engine.starting_hands import starting_hand_table

__all__ = ["CLASSES", "COLUMNS", "LANES", "canonical_boards", "count_weaker", "ways_to_name"]

CLASSES: Final = 169
COLUMNS: Final = 176
"""Classes, and what makes their number a multiple of what a processor adds at once."""
LANES: Final = 32
"""Lane 2 * rank + 1 is for a suited holding whose other card has this rank, 2 * rank for any other; six are empty."""

_DECK: Final = 52
_LIVE: Final = 47
_STARTING_HAND_OF = np.array(starting_hand_table(), np.uint8)
_LOW, _HIGH = np.array(list(combinations_with_replacement(range(13), 2))).T
_RANK_PAIRS = len(_LOW)
_MAKES_FLUSHES = np.array([ranks.bit_count() >= 3 for ranks in range(1 << 13)])
"""By the ranks of a suit on the board, as a set."""
_ZERO = np.uint64(0)
_COLUMNS = np.uint64(COLUMNS)
_LANES = np.uint64(LANES)
_TWO_CARDS = np.uint64(2 * LANES)
_THREE_CARDS = np.uint64(3 * LANES)
_FOUR_CARDS = np.uint64(4 * LANES)


@njit
def canonical_boards(start: int, boards: NDArray[np.uint8], times: NDArray[np.int32], keys: NDArray[np.uint64]) -> int:
    """Write one board of each set of boards that are alike but for the names of suits.

    Args:
        start: only cards from this one on are dealt; the first of a rank.
        boards: shape (n, 5), n large enough.
        times: shape (n,), how large each set is.
        keys: shape (n,), the same for boards of the same ranks.

    Returns:
        how many there are.
    """
    size = 0
    suits = np.empty(4, np.int64)
    for a in range(start, _DECK):
        for b in range(a + 1, _DECK):
            for c in range(b + 1, _DECK):
                for d in range(c + 1, _DECK):
                    for e in range(d + 1, _DECK):
                        board = (a, b, c, d, e)
                        suits[:] = 0
                        for card in board:
                            suits[card & 3] |= 1 << (card >> 2)
                        ways = ways_to_name(suits)
                        if ways:
                            times[size] = ways
                            keys[size] = 0
                            for place in range(5):
                                boards[size, place] = board[place]
                                keys[size] += RANK_KEYS[board[place] >> 2]
                            size += 1
    return size


@njit
def ways_to_name(suits: NDArray[np.int64]) -> int:
    """Return how many boards are this one with its suits renamed, itself included; 0 if its suits ascend anywhere."""
    ways, alike = 24, 1
    for suit in range(1, 4):
        if suits[suit] > suits[suit - 1]:
            return 0
        alike = alike + 1 if suits[suit] == suits[suit - 1] else 1
        ways //= alike
    return ways


@njit
def count_weaker(
    boards: NDArray[np.uint8],
    times: NDArray[np.int32],
    keys: NDArray[np.uint64],
    beaten: NDArray[np.int32],
    sharing: NDArray[np.int32],
) -> None:
    """Add the pairs of holdings of which one is weaker, on some boards, those of the same ranks side by side.

    Args:
        boards: shape (n, 5), their cards ascending.
        times: shape (n,), how often each is counted.
        keys: shape (n,), the same for boards of the same ranks.
        beaten: shape (169 * COLUMNS,), by class of the stronger and of the weaker, shared cards or not.
        sharing: shape (169 * 2 * LANES,), those of them that share a card, by class of the stronger, by which of
            its cards they share (the lower or the higher one), and by lane.
    """
    plain = np.empty(_RANK_PAIRS, np.uint16)
    order = np.empty(_RANK_PAIRS, np.int64)
    flushes = np.empty((_LIVE * (_LIVE - 1) // 2, 2), np.uint8)
    flush_ranks = np.empty(len(flushes), np.uint16)
    suits = np.empty(4, np.uint32)
    live = np.empty(_LIVE, np.uint8)
    bits = np.empty(_DECK, np.uint32)
    held = np.empty((CLASSES, 2, 4), np.int32)  # holdings without a flush, by class and by suit of each card
    weaker = np.empty(COLUMNS, np.int32)
    weaker_with = np.empty(_DECK * LANES, np.int32)
    last_key = _ZERO
    for number in range(boards.shape[0]):
        board, ways, key = boards[number], times[number], keys[number]
        if key != last_key or number == 0:
            last_key = key
            for pair in range(_RANK_PAIRS):
                plain[pair] = plain_seven_rank(key + RANK_KEYS[_LOW[pair]] + RANK_KEYS[_HIGH[pair]])
            order = np.argsort(plain)
        suits[:] = 0
        for place in range(5):
            suits[board[place] & 3] |= 1 << np.int64(board[place] >> 2)
        flush_suit, on_board = 4, np.uint32(0)
        for suit in range(4):
            if _MAKES_FLUSHES[suits[suit]]:
                flush_suit, on_board = suit, suits[suit]
        size = 0
        for card in range(_DECK):
            bits[card] = on_board | (1 << (card >> 2) if card & 3 == flush_suit else 0)
            if not suits[card & 3] >> (card >> 2) & 1:
                live[size] = card
                size += 1
        held[:] = 0
        made = 0
        for i in range(_LIVE):
            low = live[i]
            for j in range(i + 1, _LIVE):
                high = live[j]
                if on_board:
                    rank = FLUSHES[bits[low] | bits[high]]
                    if rank:
                        flushes[made, 0], flushes[made, 1], flush_ranks[made] = low, high, rank
                        made += 1
                        continue
                of_class = _STARTING_HAND_OF[low, high]
                held[of_class, 0, low & 3] += 1
                held[of_class, 1, high & 3] += 1
        flush_order = np.argsort(flush_ranks[:made])
        weaker[:] = 0
        weaker_with[:] = 0
        pair, flush = 0, 0
        while pair < _RANK_PAIRS or flush < made:
            is_plain = flush == made or (pair < _RANK_PAIRS and plain[order[pair]] < flush_ranks[flush_order[flush]])
            if is_plain:
                first, rank = pair, plain[order[pair]]
                while pair < _RANK_PAIRS and plain[order[pair]] == rank:
                    low, high = _LOW[order[pair]], _HIGH[order[pair]]
                    for suited in range(2 if low < high else 1):
                        winner = np.uint64(13 * high + low if suited else 13 * low + high)
                        one, two, three, four = held[winner, 0]
                        many = one + two + three + four
                        row = winner * _COLUMNS
                        for other in range(_COLUMNS):
                            beaten[row + other] += many * weaker[other]
                        row = winner * _TWO_CARDS
                        lanes = np.uint64(low) * _FOUR_CARDS
                        for lane in range(_LANES):
                            sharing[row + lane] += (
                                one * weaker_with[lanes + lane]
                                + two * weaker_with[lanes + _LANES + lane]
                                + three * weaker_with[lanes + _TWO_CARDS + lane]
                                + four * weaker_with[lanes + _THREE_CARDS + lane]
                            )
                        row += _LANES
                        lanes = np.uint64(high) * _FOUR_CARDS
                        one, two, three, four = held[winner, 1]
                        for lane in range(_LANES):
                            sharing[row + lane] += (
                                one * weaker_with[lanes + lane]
                                + two * weaker_with[lanes + _LANES + lane]
                                + three * weaker_with[lanes + _TWO_CARDS + lane]
                                + four * weaker_with[lanes + _THREE_CARDS + lane]
                            )
                    pair += 1
                for at in range(first, pair):
                    low, high = _LOW[order[at]], _HIGH[order[at]]
                    for suited in range(2 if low < high else 1):
                        of_class = 13 * high + low if suited else 13 * low + high
                        for suit in range(4):
                            lanes = np.uint64(4 * low + suit) * _LANES
                            weaker[of_class] += ways * held[of_class, 0, suit]
                            weaker_with[lanes + np.uint64(2 * high + suited)] += ways * held[of_class, 0, suit]
                            lanes = np.uint64(4 * high + suit) * _LANES
                            weaker_with[lanes + np.uint64(2 * low + suited)] += ways * held[of_class, 1, suit]
            else:
                first, rank = flush, flush_ranks[flush_order[flush]]
                while flush < made and flush_ranks[flush_order[flush]] == rank:
                    low, high = flushes[flush_order[flush]]
                    winner = np.uint64(_STARTING_HAND_OF[low, high])
                    row = winner * _COLUMNS
                    for other in range(_COLUMNS):
                        beaten[row + other] += weaker[other]
                    row = winner * _TWO_CARDS
                    lanes = low * _LANES
                    for lane in range(_LANES):
                        sharing[row + lane] += weaker_with[lanes + lane]
                    row += _LANES
                    lanes = high * _LANES
                    for lane in range(_LANES):
                        sharing[row + lane] += weaker_with[lanes + lane]
                    flush += 1
                for at in range(first, flush):
                    low, high = flushes[flush_order[at]]
                    lane_of_suit = np.uint64(low & 3 == high & 3)
                    weaker[_STARTING_HAND_OF[low, high]] += ways
                    weaker_with[low * _LANES + np.uint64(2 * (high >> 2)) + lane_of_suit] += ways
                    weaker_with[high * _LANES + np.uint64(2 * (low >> 2)) + lane_of_suit] += ways
