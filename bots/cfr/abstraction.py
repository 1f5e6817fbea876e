"""Hands of hold'em that the solver does not distinguish: boards up to the names of suits, and buckets round by round.

Two boards are alike if renaming suits makes one of the other. Of each such set one represents all, the *canonical*
one: its four sets of ranks, suit by suit, descend as numbers. There are 1,755 canonical flops, 16,432 of four cards and
134,459 of five. A holding, two cards, has a number below 1,326; a hand is looked up by the number of its canonical
board and by the holding, its suits renamed alike. Where a renaming leaves the board as it is, several holdings are the
same hand: `distinct_holdings` numbers each of them once. So there are 1,286,792 hands on the flop, 13,960,050 on the
turn and 123,156,254 on the river.

Before the flop there are the 169 starting hands, which lose nothing. On flop and turn a hand counts by the mean, over
all boards to come, of the square of what it wins and ties against the 990 holdings of an opponent: E[HS^2], which ranks
a draw above a made hand of the same chance to win (Johanson 2007, section 2.5.5). On the river it counts by its
standing among all holdings (`bots.cfr.strengths`). The hands of a round are cut into buckets of equally many hands. All
numbers are whole, so the buckets are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import factorial, prod
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.cards import STARTING_HANDS
from engine.ranges import HOLDINGS

HOLDING_COUNT: Final = len(HOLDINGS)
HOLDING_CARDS: Final = np.array(HOLDINGS, np.uint8)
"""The cards of each holding of `engine.ranges`, the lower one first, shape (1326, 2)."""
HOLDING_NUMBERS: Final = np.zeros((52, 52), np.int64)
"""The number of a holding by its cards, in any order."""
HOLDING_NUMBERS[HOLDING_CARDS[:, 0], HOLDING_CARDS[:, 1]] = np.arange(HOLDING_COUNT)
HOLDING_NUMBERS[HOLDING_CARDS[:, 1], HOLDING_CARDS[:, 0]] = np.arange(HOLDING_COUNT)


class CanonicalBoards(NamedTuple):
    """All canonical boards of some cards.

    Attributes:
        keys: ascending, one for each board: its four sets of ranks, 13 bits each, the largest first.
        cards: ascending, shape (boards, cards).
        times: how many boards each represents.
    """

    keys: NDArray[np.int64]
    cards: NDArray[np.uint8]
    times: NDArray[np.int64]


def suit_order(board: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """The key of the canonical board, and which new suit each suit gets: equal ones keep their order."""
    suits = [0, 0, 0, 0]
    for card in board:
        suits[card & 3] |= 1 << (card >> 2)
    order = sorted(range(4), key=lambda suit: -suits[suit])
    key = 0
    for suit in order:
        key = key << 13 | suits[suit]
    return key, tuple(order.index(suit) for suit in range(4))


@cache
def canonical_boards(cards: int) -> CanonicalBoards:
    of_size: list[list[int]] = [[] for _ in range(cards + 1)]
    for ranks in range(1 << 13):
        if ranks.bit_count() <= cards:
            of_size[ranks.bit_count()].append(ranks)
    found: list[tuple[int, ...]] = []

    def extend(suits: tuple[int, ...], left: int) -> None:
        if len(suits) == 4:
            if not left:
                found.append(suits)
            return
        for size in range(left + 1):
            for ranks in of_size[size]:
                if suits and ranks > suits[-1]:
                    break
                extend((*suits, ranks), left - size)

    extend((), cards)
    found.sort()
    suits = np.array(found, np.int64)
    keys = suits[:, 0] << 39 | suits[:, 1] << 26 | suits[:, 2] << 13 | suits[:, 3]
    boards = np.nonzero(suits[:, None, :] >> np.arange(13)[:, None] & 1)
    alike = [24 // _renamings(row) for row in found]
    return CanonicalBoards(
        keys, (4 * boards[1] + boards[2]).astype(np.uint8).reshape(-1, cards), np.array(alike, np.int64)
    )


def _renamings(suits: Sequence[int]) -> int:
    """How many ways to rename the suits leave a board as it is."""
    return prod(factorial(suits.count(ranks)) for ranks in {*suits})


def distinct_holdings(board: Sequence[int]) -> NDArray[np.int64]:
    """By holding, the number of its hand on a canonical board, from 0; -1 where the board has one of its cards.

    Hands are numbered by the first of their holdings.
    """
    suits = [0, 0, 0, 0]
    for card in board:
        suits[card & 3] |= 1 << (card >> 2)
    first = np.arange(HOLDING_COUNT)
    for renamed in permutations(range(4)):
        if all(suits[suit] == suits[renamed[suit]] for suit in range(4)):
            moved = HOLDING_CARDS & 0xFC | np.array(renamed, np.uint8)[HOLDING_CARDS & 3]
            first = np.minimum(first, HOLDING_NUMBERS[moved[:, 0], moved[:, 1]])
    is_live = ~np.isin(HOLDING_CARDS, board).any(axis=1)
    numbers = np.full(HOLDING_COUNT, -1)
    numbers[is_live] = np.unique(first[is_live], return_inverse=True)[1]
    return numbers


NO_BUCKET: Final = 255
"""Of a holding that shares a card with the board."""
_BIN_BITS: Final = 12
"""The distribution of sums on the turn is counted in steps of 4,096, of a range of 180 million."""
_FLOP_BIN_BITS: Final = 18


class Strengths(NamedTuple):
    """The strengths of all hands of hold'em.

    Attributes:
        flops: the sum of squared strengths over all turns and rivers in order, shape (1755, 1326).
        turns: the sum of squared strengths over all rivers, shape (16432, 1326).
        rivers: how many hands have each standing on the river, shape (2163,).
    """

    flops: NDArray[np.int64]
    turns: NDArray[np.uint32]
    rivers: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CardAbstraction:
    """Buckets by round.

    Attributes:
        buckets: how many each round has: 169, flop, turn, river.
        flops: the bucket of each holding on each canonical flop, shape (1755, 1326).
        turns: the same on boards of four cards, shape (16432, 1326).
        turn_cuts: the least sum of each bucket on the turn but the first, ascending.
        river_cuts: the least standing of each bucket on the river but the first, ascending.
    """

    buckets: tuple[int, ...]
    flops: NDArray[np.uint8]
    turns: NDArray[np.uint8]
    turn_cuts: NDArray[np.int64]
    river_cuts: NDArray[np.int64]


def memory_bytes() -> int:
    """What `all_strengths` and `card_abstraction` need at most, in bytes."""
    flops, turns = 1755 * HOLDING_COUNT, 16_432 * HOLDING_COUNT
    return 8 * flops + 4 * turns + 2 * (flops + turns) + 8 * turns


def card_abstraction(strengths: Strengths, flop: int, turn: int, river: int) -> CardAbstraction:
    """Cut the hands of each round into so many buckets, at most `bots.cfr.settings.MOST_BUCKETS` each."""
    flops, _ = _cut(strengths.flops, canonical_boards(3).cards, canonical_boards(3).times, flop, _FLOP_BIN_BITS)
    turns, turn_cuts = _cut(strengths.turns, canonical_boards(4).cards, canonical_boards(4).times, turn, _BIN_BITS)
    river_cuts = _quantiles(strengths.rivers, river)
    return CardAbstraction((len(STARTING_HANDS), flop, turn, river), flops, turns, turn_cuts, river_cuts)


def _quantiles(counts: NDArray[np.int64], buckets: int) -> NDArray[np.int64]:
    """The least value of each bucket but the first, such that all hold as equally many as whole values allow."""
    up_to = counts.cumsum()
    wanted = up_to[-1] * np.arange(1, buckets) // buckets
    found: NDArray[np.int64] = np.searchsorted(up_to, wanted, "right").astype(np.int64)
    return found


def _cut(
    sums: NDArray[np.int64] | NDArray[np.uint32],
    boards: NDArray[np.uint8],
    times: NDArray[np.int64],
    buckets: int,
    bin_bits: int,
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    counts = np.zeros(1, np.int64)
    for row, board, ways in zip(sums, boards, times, strict=True):
        of_board = np.bincount(row[_live(board)] >> bin_bits).astype(np.int64) * ways
        if len(of_board) > len(counts):
            counts = np.pad(counts, (0, len(of_board) - len(counts)))
        counts[: len(of_board)] += of_board
    cuts = _quantiles(counts, buckets) << bin_bits
    found = np.empty(sums.shape, np.uint8)
    for row, board, out in zip(sums, boards, found, strict=True):
        out[:] = np.searchsorted(cuts, row, "right")
        out[~_live(board)] = NO_BUCKET
    return found, cuts


def _live(board: NDArray[np.uint8]) -> NDArray[np.bool_]:
    dealt = np.zeros(52, bool)
    dealt[board] = True
    is_live: NDArray[np.bool_] = ~(dealt[HOLDING_CARDS[:, 0]] | dealt[HOLDING_CARDS[:, 1]])
    return is_live
