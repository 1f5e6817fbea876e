"""Count every showdown between every two starting hands before the flop.

`count_wins` does it for boards of `boards_from`, of which one represents all that differ by the names of suits. On each
board, `count_weaker` goes through the holdings from the weakest upwards. A holding beats all weaker ones except those
that share a card with it, and both numbers are kept by starting hand. Wins suffice: losses are the wins of the other
side, and all other showdowns are tied.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import combinations_with_replacement
from math import comb
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.cards import starting_hand_table
from engine.kernels.cards import FLUSHES, RANK_KEYS
from engine.kernels.evaluation import plain_seven_rank
from engine.kernels.jit import njit

CLASSES: Final = 169
"""Number of starting hands."""
COLUMNS: Final = 176
"""Length of rows by starting hand, a multiple of the numbers that a processor adds at once."""
# By lane, numbers of holdings with one given card. Lane 2 * rank + 1 is for suited holdings whose other card has this
# rank, lane 2 * rank for all others. Six lanes are empty.
_LANES_PER_CARD: Final = 32

_DECK: Final = 52
_LIVE: Final = 47
_STARTING_HAND_OF = np.array(starting_hand_table(), np.uint8)
_LOW, _HIGH = [np.array(ranks) for ranks in zip(*combinations_with_replacement(range(13), 2), strict=True)]
_RANK_PAIRS = len(_LOW)
_LOW_OF = np.array([min(divmod(number, 13)) for number in range(CLASSES)])
_HIGH_OF = np.array([max(divmod(number, 13)) for number in range(CLASSES)])
_IS_SUITED = np.array([number // 13 > number % 13 for number in range(CLASSES)], np.int64)
_CARDS_IN = np.array([ranks.bit_count() for ranks in range(1 << 13)], np.uint8)
_ZERO = np.uint64(0)
_ONE = np.uint32(1)
_COLUMNS = np.uint64(COLUMNS)
_LANES = np.uint64(_LANES_PER_CARD)
_TWO_CARDS = np.uint64(2 * _LANES_PER_CARD)
_THREE_CARDS = np.uint64(3 * _LANES_PER_CARD)
_FOUR_CARDS = np.uint64(4 * _LANES_PER_CARD)


@njit
def canonical_boards(start: int, boards: NDArray[np.uint8], times: NDArray[np.int32], keys: NDArray[np.uint64]) -> int:
    """Write one board of each set of boards that differ by the names of suits only.

    Args:
        start: first card to deal, the lowest of a rank.
        boards: cards of the boards, shape (n, 5) with n large enough.
        times: size of each set, shape (n,).
        keys: sums of the rank keys, equal for boards of the same ranks, shape (n,).

    Returns:
        The number of boards.
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
                        size_of_set = ways_to_name(suits)
                        if size_of_set:
                            times[size] = size_of_set
                            keys[size] = 0
                            for place in range(5):
                                boards[size, place] = board[place]
                                keys[size] += RANK_KEYS[board[place] >> 2]
                            size += 1
    return size


@njit
def ways_to_name(suits: NDArray[np.int64]) -> int:
    """Return the number of boards that differ from one by the names of suits, or 0 if it does not represent them.

    Args:
        suits: ranks of the board in each suit, as sets of bits.
    """
    # The board with descending sets of ranks represents the others. Suits with equal sets can be exchanged.
    ways, alike = 24, 1
    for suit in range(1, 4):
        if suits[suit] > suits[suit - 1]:
            return 0
        alike = alike + 1 if suits[suit] == suits[suit - 1] else 1
        ways //= alike
    return ways


@njit
def _hold_plain(is_left: NDArray[np.int32], held: NDArray[np.int32]) -> None:
    """Write the number of holdings of each starting hand by the suit of the lower card and by that of the higher one.

    Args:
        is_left: 1 for cards that are not on the board, by rank and suit.
        held: numbers of holdings, by starting hand, card (lower or higher) and its suit.
    """
    for low in range(13):
        for high in range(low + 1, 13):
            suited, offsuit = 13 * high + low, 13 * low + high
            left_low, left_high = is_left[low].sum(), is_left[high].sum()
            for suit in range(4):
                both = is_left[low, suit] * is_left[high, suit]
                held[suited, 0, suit] = held[suited, 1, suit] = both
                held[offsuit, 0, suit] = is_left[low, suit] * left_high - both
                held[offsuit, 1, suit] = is_left[high, suit] * left_low - both
        # Pairs: the lower card is the one of the lower suit.
        below = 0
        for suit in range(4):
            above = is_left[low].sum() - below - is_left[low, suit]
            held[14 * low, 0, suit] = is_left[low, suit] * above
            held[14 * low, 1, suit] = is_left[low, suit] * below
            below += is_left[low, suit]


@njit
def _hold_flushes(
    is_left: NDArray[np.int32],
    flush_suit: int,
    on_board: np.uint32,
    missing: int,
    live: NDArray[np.uint8],
    held: NDArray[np.int32],
    flushes: NDArray[np.uint8],
    flush_ranks: NDArray[np.uint16],
) -> int:
    """Remove the holdings that make a flush from `held`, and write them one by one with their ranks.

    Args:
        on_board: ranks of the board in the suit.
        missing: number of cards of the suit that complete a flush.
        live: room for the cards that are not on the board.

    Returns:
        The number of flushes.
    """
    num_flushes = 0
    size = 0
    # List the cards that are left, those of the suit first.
    for is_other in range(2):
        for card in range(_DECK):
            if is_left[card >> 2, card & 3] and (card & 3 != flush_suit) == is_other:
                live[size] = card
                size += 1
        if not is_other:
            in_suit = size
    # With two cards missing both must be of the suit, with one missing the first one must.
    for i in range(in_suit if missing else size):
        for j in range(i + 1, in_suit if missing == 2 else size):
            low, high = min(live[i], live[j]), max(live[i], live[j])
            ranks = on_board
            if low & 3 == flush_suit:
                ranks |= _ONE << (low >> 2)
            if high & 3 == flush_suit:
                ranks |= _ONE << (high >> 2)
            flushes[num_flushes, 0], flushes[num_flushes, 1] = low, high
            flush_ranks[num_flushes] = FLUSHES[ranks]
            num_flushes += 1
            starting_hand = _STARTING_HAND_OF[low, high]
            held[starting_hand, 0, low & 3] -= 1
            held[starting_hand, 1, high & 3] -= 1
    return num_flushes


@njit
def count_weaker(
    boards: NDArray[np.uint8],
    times: NDArray[np.int32],
    keys: NDArray[np.uint64],
    beaten: NDArray[np.int32],
    sharing: NDArray[np.int32],
) -> None:
    """Add the pairs of holdings of which the second is weaker, on some boards.

    No number exceeds 144 * 2,118,760, the pairs of holdings of two starting hands times the boards without two cards,
    so that 32 bits are enough.

    Args:
        boards: cards of the boards, shape (n, 5), ascending. Boards of the same ranks follow one another.
        times: number of boards that each represents, shape (n,).
        keys: sums of the rank keys, shape (n,).
        beaten: pairs by starting hand of the stronger and of the weaker holding, shape (169 * COLUMNS,).
        sharing: those of them that share a card, shape (169 * 2 * 32,): by starting hand of the stronger holding, by
            which of its cards they share (lower or higher), and by lane.
    """
    # Without a flush the rank of a holding depends on its two ranks and on the ranks of the board.
    plain = np.empty(_RANK_PAIRS, np.uint16)
    order = np.empty(_RANK_PAIRS, np.int64)
    flushes = np.empty((_LIVE * (_LIVE - 1) // 2, 2), np.uint8)
    flush_ranks = np.empty(len(flushes), np.uint16)
    suits = np.empty(4, np.uint32)
    live = np.empty(_LIVE, np.uint8)
    is_left = np.empty((13, 4), np.int32)
    # Holdings by starting hand, card and suit; then flushes of one rank in the same way.
    held = np.zeros((2 * CLASSES, 2, 4), np.int32)
    # Rows of `held` with the same rank.
    cells = np.empty(2 * CLASSES, np.int64)
    # Weaker holdings by starting hand, and by card and lane.
    weaker = np.empty(COLUMNS, np.int32)
    weaker_with = np.empty(_DECK * _LANES_PER_CARD, np.int32)
    last_key = _ZERO
    for number in range(boards.shape[0]):
        board, ways, key = boards[number], times[number], keys[number]
        # Boards of the same ranks share the order of the pairs of ranks.
        if key != last_key or number == 0:
            last_key = key
            for pair in range(_RANK_PAIRS):
                plain[pair] = plain_seven_rank(key + RANK_KEYS[_LOW[pair]] + RANK_KEYS[_HIGH[pair]])
            order = np.argsort(plain)
        flush_suit = _read_board(board, suits, is_left)
        _hold_plain(is_left, held)
        num_flushes = 0
        if flush_suit < 4:
            on_board = suits[flush_suit]
            missing = 5 - _CARDS_IN[on_board]
            num_flushes = _hold_flushes(is_left, flush_suit, on_board, missing, live, held, flushes, flush_ranks)
        flush_order = np.argsort(flush_ranks[:num_flushes])
        weaker[:] = 0
        weaker_with[:] = 0
        # Merge the pairs of ranks and the flushes by rank. No other hand has the rank of a flush.
        pair, flush = 0, 0
        while pair < _RANK_PAIRS or flush < num_flushes:
            size = 0
            if flush == num_flushes or (pair < _RANK_PAIRS and plain[order[pair]] < flush_ranks[flush_order[flush]]):
                # Collect the starting hands of one rank.
                rank = plain[order[pair]]
                while pair < _RANK_PAIRS and plain[order[pair]] == rank:
                    low, high = _LOW[order[pair]], _HIGH[order[pair]]
                    cells[size] = 13 * low + high
                    size += 1
                    if low < high:
                        cells[size] = 13 * high + low
                        size += 1
                    pair += 1
            else:
                # Collect the flushes of one rank by their starting hands.
                rank = flush_ranks[flush_order[flush]]
                while flush < num_flushes and flush_ranks[flush_order[flush]] == rank:
                    low, high = flushes[flush_order[flush]]
                    cell = CLASSES + np.int64(_STARTING_HAND_OF[low, high])
                    if not held[cell, 0].any():
                        cells[size] = cell
                        size += 1
                    held[cell, 0, low & 3] += 1
                    held[cell, 1, high & 3] += 1
                    flush += 1
            # Holdings of one rank do not beat each other: add what all of them beat before any of them becomes weaker.
            # Helper functions for the two loops would make the kernel a fifth slower.
            for i in range(size):
                starting_hand = cells[i] % CLASSES
                # All pairs, whether they share a card or not: the number of holdings times that of weaker ones.
                row = np.uint64(starting_hand) * _COLUMNS
                clubs, diamonds, hearts, spades = held[cells[i], 0]
                count = clubs + diamonds + hearts + spades
                for other in range(_COLUMNS):
                    beaten[row + other] += count * weaker[other]
                # Pairs that share the lower or the higher card: the sum over its suits.
                for side in range(2):
                    row = np.uint64(starting_hand) * _TWO_CARDS + np.uint64(side) * _LANES
                    lanes = np.uint64(_HIGH_OF[starting_hand] if side else _LOW_OF[starting_hand]) * _FOUR_CARDS
                    clubs, diamonds, hearts, spades = held[cells[i], side]
                    for lane in range(_LANES):
                        sharing[row + lane] += (
                            clubs * weaker_with[lanes + lane]
                            + diamonds * weaker_with[lanes + _LANES + lane]
                            + hearts * weaker_with[lanes + _TWO_CARDS + lane]
                            + spades * weaker_with[lanes + _THREE_CARDS + lane]
                        )
            for i in range(size):
                cell = cells[i]
                starting_hand = cell % CLASSES
                low_lane = np.uint64(2 * _LOW_OF[starting_hand] + _IS_SUITED[starting_hand])
                high_lane = np.uint64(2 * _HIGH_OF[starting_hand] + _IS_SUITED[starting_hand])
                low_cards = np.uint64(_LOW_OF[starting_hand]) * _FOUR_CARDS
                high_cards = np.uint64(_HIGH_OF[starting_hand]) * _FOUR_CARDS
                # Each holding counts in the lanes of both its cards, by the rank of the other one.
                for suit in range(4):
                    lanes = np.uint64(suit) * _LANES
                    weaker[starting_hand] += ways * held[cell, 0, suit]
                    weaker_with[low_cards + lanes + high_lane] += ways * held[cell, 0, suit]
                    weaker_with[high_cards + lanes + low_lane] += ways * held[cell, 1, suit]
                # Rows of flushes are used again for the next rank.
                if cell >= CLASSES:
                    held[cell] = 0


@njit
def _read_board(board: NDArray[np.uint8], suits: NDArray[np.uint32], is_left: NDArray[np.int32]) -> int:
    """Write the ranks of a board by suit and the cards that are left. Returns the suit of a possible flush, or 4."""
    suits[:] = 0
    for place in range(5):
        suits[board[place] & 3] |= 1 << np.int64(board[place] >> 2)
    flush_suit = 4
    for suit in range(4):
        if _CARDS_IN[suits[suit]] >= 3:
            flush_suit = suit
        for rank in range(13):
            is_left[rank, suit] = 1 - (suits[suit] >> rank & 1)
    return flush_suit


_CANONICAL_BOARDS: Final = 134_459
# Parts for the threads. Progress is reported after each.
_PARTS: Final = 64


class Boards(NamedTuple):
    """Boards that represent all boards which differ by the names of suits only.

    Attributes:
        cards: cards of each board, ascending, shape (n, 5). Boards of the same ranks follow one another.
        times: number of boards that each represents, shape (n,).
        keys: sums of the rank keys, shape (n,).
    """

    cards: NDArray[np.uint8]
    times: NDArray[np.int32]
    keys: NDArray[np.uint64]

    def chosen(self, indexes: slice | NDArray[np.intp]) -> Boards:
        """Return some of the boards, in the order of the indexes."""
        return Boards(self.cards[indexes], self.times[indexes], self.keys[indexes])


def boards_from(start: int = 0) -> Boards:
    """Return the boards of the cards from `start` on, the first card of a rank."""
    max_boards = min(_CANONICAL_BOARDS, comb(52 - start, 5))
    room = Boards(np.empty((max_boards, 5), np.uint8), np.empty(max_boards, np.int32), np.empty(max_boards, np.uint64))
    boards = room.chosen(slice(canonical_boards(start, *room)))
    return boards.chosen(boards.keys.argsort(kind="stable"))


def compile_matchups() -> None:
    """Compile the kernels of `count_wins`, which takes some seconds."""
    count_wins(boards_from(44).chosen(slice(0, 1)))


def count_wins(
    boards: Boards, *, threads: int | None = None, progress: Callable[[float], None] | None = None
) -> NDArray[np.int64]:
    """Return the showdowns that the row wins against the column on some boards, shape (169, 169).

    Args:
        threads: number of threads; None for the number of processors.
        progress: called from time to time with the completed part of the work, 0 to 1.
    """
    size = len(boards.times)
    edges = [size * part // _PARTS for part in range(_PARTS + 1)]
    beaten, sharing = np.zeros((CLASSES, COLUMNS), np.int64), np.zeros((CLASSES, 2, _LANES_PER_CARD), np.int64)

    def count(part: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        part_beaten = np.zeros(CLASSES * COLUMNS, np.int32)
        part_sharing = np.zeros(CLASSES * 2 * _LANES_PER_CARD, np.int32)
        count_weaker(*boards.chosen(slice(edges[part], edges[part + 1])), part_beaten, part_sharing)
        return part_beaten, part_sharing

    pool = ThreadPoolExecutor(threads or os.cpu_count())
    try:
        for done, future in enumerate(as_completed([pool.submit(count, part) for part in range(_PARTS)]), 1):
            part_beaten, part_sharing = future.result()
            beaten += part_beaten.reshape(beaten.shape)
            sharing += part_sharing.reshape(sharing.shape)
            if progress is not None:
                progress(done / _PARTS)
    finally:
        pool.shutdown(cancel_futures=True)
    return _without_shared(beaten[:, :CLASSES], sharing)


def _without_shared(beaten: NDArray[np.int64], sharing: NDArray[np.int64]) -> NDArray[np.int64]:
    """Subtract the pairs of holdings that share a card."""
    # Two different holdings share at most one card, so none is subtracted twice.
    wins = beaten.copy()
    for winner in range(CLASSES):
        row, column = divmod(winner, 13)
        for side, shared in enumerate((min(row, column), max(row, column))):
            for other in range(13):
                low, high = min(shared, other), max(shared, other)
                wins[winner, 13 * low + high] -= sharing[winner, side, 2 * other]
                wins[winner, 13 * high + low] -= sharing[winner, side, 2 * other + 1]
    return wins
