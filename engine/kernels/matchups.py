"""Every showdown between every two holdings before the flop, counted.

The kernels validate nothing. They deal each board once and count from below:

- Boards that differ only by renaming suits end alike for classes of holdings. Of each such set one is dealt and counted
  as often as the set is large: 134,459 boards stand for 2,598,960.
- Without a flush a holding's rank depends on its two ranks alone, of which there are 91 pairs, and on the ranks of the
  board, of which there are 6,175: boards of the same ranks follow one another and share the order of the pairs. Only
  flushes are ranked one by one and put in order board by board; nothing else ranks as high as a flush does.
- From the weakest upwards, a holding beats all those before it that are weaker, less those that share a card with it:
  both are known by class at any time, the latter for each card in lanes, one for every rank of the other card, suited
  and offsuit. No two holdings share two cards unless they are the same, and then neither is the weaker one.

Only wins are counted: losses are the wins of the other side, and all other showdowns are tied. No count is above
144 * 2,118,760 (the pairs of two classes, the boards that exclude two cards), which 32 bits hold.
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
COLUMNS: Final = 176
"""Classes, and what makes their number a multiple of what a processor adds at once."""
LANES: Final = 32
"""Lane 2 * rank + 1 is for a suited holding whose other card has this rank, 2 * rank for any other; six are empty."""

_DECK: Final = 52
_LIVE: Final = 47
_STARTING_HAND_OF = np.array(starting_hand_table(), np.uint8)
_LOW, _HIGH = [np.array(ranks) for ranks in zip(*combinations_with_replacement(range(13), 2), strict=True)]
_RANK_PAIRS = len(_LOW)
_LOW_OF = np.array([min(divmod(number, 13)) for number in range(CLASSES)])
_HIGH_OF = np.array([max(divmod(number, 13)) for number in range(CLASSES)])
_IS_SUITED = np.array([number // 13 > number % 13 for number in range(CLASSES)], np.int64)
_CARDS_IN = np.array([ranks.bit_count() for ranks in range(1 << 13)], np.uint8)
"""By a set of ranks."""
_ZERO = np.uint64(0)
_ONE = np.uint32(1)
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
def _hold_plain(is_left: NDArray[np.int32], held: NDArray[np.int32]) -> None:
    for low in range(13):
        for high in range(low + 1, 13):
            suited, offsuit = 13 * high + low, 13 * low + high
            left_low, left_high = is_left[low].sum(), is_left[high].sum()
            for suit in range(4):
                both = is_left[low, suit] * is_left[high, suit]
                held[suited, 0, suit] = held[suited, 1, suit] = both
                held[offsuit, 0, suit] = is_left[low, suit] * left_high - both
                held[offsuit, 1, suit] = is_left[high, suit] * left_low - both
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
    wanted: int,
    live: NDArray[np.uint8],
    held: NDArray[np.int32],
    flushes: NDArray[np.uint8],
    flush_ranks: NDArray[np.uint16],
) -> int:
    # Take the holdings that make a flush out of those counted, and write them one by one with their ranks. `on_board`
    # are the ranks on the board in the suit, of which `wanted` more cards make a flush.
    made = 0
    size = 0
    for is_other in range(2):
        for card in range(_DECK):
            if is_left[card >> 2, card & 3] and (card & 3 != flush_suit) == is_other:
                live[size] = card
                size += 1
        if not is_other:
            in_suit = size
    for i in range(in_suit if wanted else size):
        for j in range(i + 1, in_suit if wanted == 2 else size):
            low, high = min(live[i], live[j]), max(live[i], live[j])
            ranks = on_board
            if low & 3 == flush_suit:
                ranks |= _ONE << (low >> 2)
            if high & 3 == flush_suit:
                ranks |= _ONE << (high >> 2)
            flushes[made, 0], flushes[made, 1], flush_ranks[made] = low, high, FLUSHES[ranks]
            made += 1
            of_class = _STARTING_HAND_OF[low, high]
            held[of_class, 0, low & 3] -= 1
            held[of_class, 1, high & 3] -= 1
    return made


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
    is_left = np.empty((13, 4), np.int32)
    held = np.zeros((2 * CLASSES, 2, 4), np.int32)  # by class and by suit of each card; then flushes of one rank
    cells = np.empty(2 * CLASSES, np.int64)  # rows of `held` that are alike
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
        flush_suit, on_board, wanted = 4, np.uint32(0), 3
        for suit in range(4):
            if _CARDS_IN[suits[suit]] >= 3:
                flush_suit, on_board, wanted = suit, suits[suit], 5 - _CARDS_IN[suits[suit]]
            for rank in range(13):
                is_left[rank, suit] = 1 - (suits[suit] >> rank & 1)
        _hold_plain(is_left, held)
        made = 0
        if on_board:
            made = _hold_flushes(is_left, flush_suit, on_board, wanted, live, held, flushes, flush_ranks)
        flush_order = np.argsort(flush_ranks[:made])
        weaker[:] = 0
        weaker_with[:] = 0
        pair, flush = 0, 0
        while pair < _RANK_PAIRS or flush < made:
            size = 0
            if flush == made or (pair < _RANK_PAIRS and plain[order[pair]] < flush_ranks[flush_order[flush]]):
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
                rank = flush_ranks[flush_order[flush]]
                while flush < made and flush_ranks[flush_order[flush]] == rank:
                    low, high = flushes[flush_order[flush]]
                    cell = CLASSES + np.int64(_STARTING_HAND_OF[low, high])
                    if not held[cell, 0].any():
                        cells[size] = cell
                        size += 1
                    held[cell, 0, low & 3] += 1
                    held[cell, 1, high & 3] += 1
                    flush += 1
            for at in range(size):
                of_class = cells[at] % CLASSES
                row = np.uint64(of_class) * _COLUMNS
                one, two, three, four = held[cells[at], 0]
                many = one + two + three + four
                for other in range(_COLUMNS):
                    beaten[row + other] += many * weaker[other]
                for side in range(2):
                    row = np.uint64(of_class) * _TWO_CARDS + np.uint64(side) * _LANES
                    lanes = np.uint64(_HIGH_OF[of_class] if side else _LOW_OF[of_class]) * _FOUR_CARDS
                    one, two, three, four = held[cells[at], side]
                    for lane in range(_LANES):
                        sharing[row + lane] += (
                            one * weaker_with[lanes + lane]
                            + two * weaker_with[lanes + _LANES + lane]
                            + three * weaker_with[lanes + _TWO_CARDS + lane]
                            + four * weaker_with[lanes + _THREE_CARDS + lane]
                        )
            for at in range(size):
                cell, of_class = cells[at], cells[at] % CLASSES
                low_lane = np.uint64(2 * _LOW_OF[of_class] + _IS_SUITED[of_class])
                high_lane = np.uint64(2 * _HIGH_OF[of_class] + _IS_SUITED[of_class])
                low_cards = np.uint64(_LOW_OF[of_class]) * _FOUR_CARDS
                high_cards = np.uint64(_HIGH_OF[of_class]) * _FOUR_CARDS
                for suit in range(4):
                    lanes = np.uint64(suit) * _LANES
                    weaker[of_class] += ways * held[cell, 0, suit]
                    weaker_with[low_cards + lanes + high_lane] += ways * held[cell, 0, suit]
                    weaker_with[high_cards + lanes + low_lane] += ways * held[cell, 1, suit]
                if cell >= CLASSES:
                    held[cell] = 0


# ---- all boards, in threads

_CANONICAL_BOARDS: Final = 134_459
_PARTS: Final = 64
"""The boards are counted in so many parts, after each of which the progress is reported."""


class Boards(NamedTuple):
    """Boards, one of each set that differs by the names of suits, those of the same ranks side by side.

    Attributes:
        cards: ascending, shape (n, 5).
        keys: the same for boards of the same ranks.
    """

    cards: NDArray[np.uint8]
    times: NDArray[np.int32]
    keys: NDArray[np.uint64]

    def chosen(self, which: slice | NDArray[np.intp]) -> Boards:
        """Some of them, in the order given."""
        return Boards(self.cards[which], self.times[which], self.keys[which])


def boards_from(start: int = 0) -> Boards:
    """All boards of the cards from `start` on, the first card of a rank."""
    most = min(_CANONICAL_BOARDS, comb(52 - start, 5))
    boards = Boards(np.empty((most, 5), np.uint8), np.empty(most, np.int32), np.empty(most, np.uint64))
    found = boards.chosen(slice(canonical_boards(start, *boards)))
    return found.chosen(found.keys.argsort(kind="stable"))


def compile_matchups() -> None:
    """Compile what `count_wins` runs; some seconds."""
    count_wins(boards_from(44).chosen(slice(0, 1)))


def count_wins(
    boards: Boards, *, threads: int | None = None, progress: Callable[[float], None] | None = None
) -> NDArray[np.int64]:
    """The showdowns that each class wins against each, on some boards, shape (169, 169).

    Args:
        threads: by default as many as there are processors.
        progress: called now and then with the part of the computation that is done, 0 to 1.
    """
    size = len(boards.times)
    edges = [size * part // _PARTS for part in range(_PARTS + 1)]
    beaten, sharing = np.zeros((CLASSES, COLUMNS), np.int64), np.zeros((CLASSES, 2, LANES), np.int64)

    def count(part: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        of_part = np.zeros(CLASSES * COLUMNS, np.int32), np.zeros(CLASSES * 2 * LANES, np.int32)
        count_weaker(*boards.chosen(slice(edges[part], edges[part + 1])), *of_part)
        return of_part

    pool = ThreadPoolExecutor(threads or os.cpu_count())
    try:
        for done, future in enumerate(as_completed([pool.submit(count, part) for part in range(_PARTS)]), 1):
            of_part = future.result()
            beaten += of_part[0].reshape(beaten.shape)
            sharing += of_part[1].reshape(sharing.shape)
            if progress is not None:
                progress(done / _PARTS)
    finally:
        pool.shutdown(cancel_futures=True)
    return _without_shared(beaten[:, :CLASSES], sharing)


def _without_shared(beaten: NDArray[np.int64], sharing: NDArray[np.int64]) -> NDArray[np.int64]:
    wins = beaten.copy()
    for winner in range(CLASSES):
        row, column = divmod(winner, 13)
        for side, shared in enumerate((min(row, column), max(row, column))):
            for other in range(13):
                low, high = min(shared, other), max(shared, other)
                wins[winner, 13 * low + high] -= sharing[winner, side, 2 * other]
                wins[winner, 13 * high + low] -= sharing[winner, side, 2 * other + 1]
    return wins
