"""Boards and hands of hold'em up to the names of suits.

Two boards are alike if renaming suits makes one of the other. Of each such set one represents all, the *canonical*
one: its four sets of ranks, suit by suit, descend as numbers. There are 1,755 canonical flops, 16,432 of four cards and
134,459 of five. A holding, two cards, has a number below 1,326; a hand is looked up by the number of its canonical
board and by the holding, its suits renamed alike. Where a renaming leaves the board as it is, several holdings are the
same hand: `distinct_holdings` numbers each of them once. So there are 1,286,792 hands on the flop, 13,960,050 on the
turn and 123,156,254 on the river.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import permutations
from math import factorial, prod
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

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


def _ranks_by_suit(board: Sequence[int]) -> list[int]:
    suits = [0, 0, 0, 0]
    for card in board:
        suits[card & 3] |= 1 << (card >> 2)
    return suits


def suit_order(board: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """The key of the canonical board, and which new suit each suit gets: equal ones keep their order."""
    suits = _ranks_by_suit(board)
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


def renamed_holdings(suits: Sequence[int]) -> NDArray[np.int64]:
    """The number of each holding whose suits have new names."""
    one, other = (HOLDING_CARDS & 0xFC | np.array(suits, np.uint8)[HOLDING_CARDS & 3]).T
    numbers: NDArray[np.int64] = HOLDING_NUMBERS[one, other]
    return numbers


def distinct_holdings(board: Sequence[int]) -> NDArray[np.int64]:
    """By holding, the number of its hand on a canonical board, from 0; -1 where the board has one of its cards.

    Hands are numbered by the first of their holdings.
    """
    suits = _ranks_by_suit(board)
    first = np.arange(HOLDING_COUNT)
    for renamed in permutations(range(4)):
        if all(suits[suit] == suits[renamed[suit]] for suit in range(4)):
            first = np.minimum(first, renamed_holdings(renamed))
    is_live = ~np.isin(HOLDING_CARDS, board).any(axis=1)
    numbers = np.full(HOLDING_COUNT, -1)
    numbers[is_live] = np.unique(first[is_live], return_inverse=True)[1]
    return numbers
