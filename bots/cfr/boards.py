"""Boards and hands of hold'em up to a renaming of suits.

Boards that differ only by the names of their suits are equivalent. One of each class represents it, the *canonical*
board, whose sets of ranks descend as numbers from suit to suit. There are 1,755 canonical boards of three cards, 16,432
of four and 134,459 of five. A hand is identified by its canonical board and by its holding, that is, two cards with
suits renamed as on the board. `distinct_holdings` merges the holdings that a renaming exchanges while it leaves the
board unchanged: 1,286,792 hands on the flop, 13,960,050 on the turn and 123,156,254 on the river.
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
"""Cards of each holding of `engine.ranges`, the lower one first, shape (1326, 2)."""
HOLDING_NUMBERS: Final = np.zeros((52, 52), np.int64)
"""Number of a holding by its two cards in either order."""
HOLDING_NUMBERS[HOLDING_CARDS[:, 0], HOLDING_CARDS[:, 1]] = np.arange(HOLDING_COUNT)
HOLDING_NUMBERS[HOLDING_CARDS[:, 1], HOLDING_CARDS[:, 0]] = np.arange(HOLDING_COUNT)


class CanonicalBoards(NamedTuple):
    """All canonical boards of a number of cards.

    Attributes:
        keys: one per board, ascending: the sets of ranks of its four suits, 13 bits each, the largest first.
        cards: cards of each board in ascending order, shape (boards, cards).
        times: number of boards that each represents.
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
    """Return the key of the canonical board and the new suit of each suit."""
    suits = _ranks_by_suit(board)
    # The sort is stable: suits with equal sets of ranks keep their order.
    order = sorted(range(4), key=lambda suit: -suits[suit])
    key = 0
    for suit in order:
        key = key << 13 | suits[suit]
    return key, tuple(order.index(suit) for suit in range(4))


@cache
def canonical_boards(cards: int) -> CanonicalBoards:
    """Enumerate the canonical boards of 3, 4 or 5 cards."""
    sets_by_size: list[list[int]] = [[] for _ in range(cards + 1)]
    for ranks in range(1 << 13):
        if ranks.bit_count() <= cards:
            sets_by_size[ranks.bit_count()].append(ranks)
    rows: list[tuple[int, ...]] = []

    def extend(suits: tuple[int, ...], missing: int) -> None:
        if len(suits) == 4:
            if not missing:
                rows.append(suits)
            return
        for size in range(missing + 1):
            for ranks in sets_by_size[size]:
                if suits and ranks > suits[-1]:
                    break
                extend((*suits, ranks), missing - size)

    extend((), cards)
    rows.sort()
    suits = np.array(rows, np.int64)
    keys = suits[:, 0] << 39 | suits[:, 1] << 26 | suits[:, 2] << 13 | suits[:, 3]
    # Shape (boards, ranks, suits): nonzero lists rank before suit, so the cards of a board ascend.
    is_on_board = suits[:, None, :] >> np.arange(13)[:, None] & 1
    _, card_ranks, card_suits = np.nonzero(is_on_board)
    board_cards = (4 * card_ranks + card_suits).astype(np.uint8).reshape(-1, cards)
    times = [24 // _count_symmetries(row) for row in rows]
    return CanonicalBoards(keys, board_cards, np.array(times, np.int64))


def _count_symmetries(suits: Sequence[int]) -> int:
    """Return the number of renamings of suits that leave a board unchanged."""
    return prod(factorial(suits.count(ranks)) for ranks in {*suits})


def rename_holdings(suits: Sequence[int]) -> NDArray[np.int64]:
    """Return the number of each holding after each suit has become `suits[suit]`, shape (1326,)."""
    new_suits = np.array(suits, np.uint8)
    first, second = (HOLDING_CARDS & 0xFC | new_suits[HOLDING_CARDS & 3]).T
    numbers: NDArray[np.int64] = HOLDING_NUMBERS[first, second]
    return numbers


def distinct_holdings(board: Sequence[int]) -> NDArray[np.int64]:
    """Return the number of the hand of each holding on a canonical board, shape (1326,).

    Hands are numbered from 0 by the first of their holdings. A holding that shares a card with the board gets -1.
    """
    suits = _ranks_by_suit(board)
    first = np.arange(HOLDING_COUNT)
    for renaming in permutations(range(4)):
        is_symmetry = all(suits[suit] == suits[renaming[suit]] for suit in range(4))
        if is_symmetry:
            first = np.minimum(first, rename_holdings(renaming))
    is_live = ~np.isin(HOLDING_CARDS, board).any(axis=1)
    numbers = np.full(HOLDING_COUNT, -1)
    numbers[is_live] = np.unique(first[is_live], return_inverse=True)[1]
    return numbers
