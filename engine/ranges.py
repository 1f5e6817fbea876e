"""All 1,326 holdings of hold'em at once: what each is worth, and what two cards are worth against each.

Arrays are indexed by the number of a holding, that of its two cards among all pairs of cards: 2c2d is 0, 2c2h 1, and
AhAs 1,325. Before the flop the numbers come from shipped tables; from the flop on compiled code counts every showdown.

    >>> from engine.cards import parse_cards
    >>> aces, board = parse_cards("AhAs"), parse_cards("AdAc2c")
    >>> round(float(chances_of_all(board).equity[holding_number(*aces)]), 4)
    1.0
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.cards import STARTING_HANDS, Card, cards_of, starting_hand
from engine.duels import BOARDS, duel_counts
from engine.equity import boards_to_come, preflop_equity
from engine.tables import read_only

_CARDS: Final = 52
_BOARD_CARDS: Final = 5
_REMEMBERED: Final = 64
"""Boards, and pairs of hole cards and boards, whose numbers are kept: those of a few hands."""


HOLDINGS: Final[tuple[tuple[Card, Card], ...]] = tuple(combinations(range(_CARDS), 2))
"""The two cards of each holding, the lower first."""


class RangeChances(NamedTuple):
    """The chances of every holding against random cards, arrays of shape (1326,); nan where the board has a card of it.

    Attributes:
        win: the chance of the best hand alone, as `engine.equity.Equity` has it.
    """

    win: NDArray[np.float64]
    tie: NDArray[np.float64]
    equity: NDArray[np.float64]


def holding_number(one: int, other: int) -> int:
    """The number of two cards, in any order."""
    low = min(one, other)
    high = max(one, other)
    return low * (2 * _CARDS - low - 1) // 2 + high - low - 1


@cache
def classes() -> NDArray[np.int64]:
    """The starting hand (`engine.cards`) of each holding, shape (1326,); not to be written to."""
    return read_only(np.array([starting_hand(cards) for cards in HOLDINGS]))


def are_free(cards: Iterable[int]) -> NDArray[np.bool_]:
    """Which holdings have none of some cards, shape (1326,)."""
    found = np.ones(len(HOLDINGS), bool)
    for card in cards:
        found &= _without()[card]
    return found


@cache
def _without() -> NDArray[np.bool_]:
    pairs = np.array(HOLDINGS)
    return np.array([(pairs != card).all(axis=1) for card in range(_CARDS)])


def chances_of_all(board: Sequence[int]) -> RangeChances:
    """The chances of every holding against one opponent with random cards: to the bit those of `engine.equity.equity`.

    Args:
        board: none, or three to five different cards.

    Raises:
        ValueError: another number of cards.
    """
    _require(board)
    if not board:
        return _preflop_chances()
    return _chances(tuple(sorted(board)))


@cache
def _preflop_chances() -> RangeChances:
    by_class = np.array([preflop_equity(cards_of(number)) for number in range(len(STARTING_HANDS))])
    return RangeChances(*read_only(by_class[classes()]).T)


@lru_cache(_REMEMBERED)
def _chances(board: tuple[int, ...]) -> RangeChances:
    from engine.kernels.ranges import count_against_all

    wins, ties = np.zeros((2, len(HOLDINGS)), np.int64)
    count_against_all(np.array(board, np.uint8), wins, ties)
    missing = _BOARD_CARDS - len(board)
    showdowns = boards_to_come(_CARDS, len(board) + 2, missing) * boards_to_come(_CARDS, _BOARD_CARDS + 2, 2)
    found = np.stack([wins / showdowns, ties / showdowns, (wins + ties / 2) / showdowns], axis=1)
    found[~are_free(board)] = np.nan
    return RangeChances(*read_only(found).T)


def shares_against(hole: Sequence[int], board: Sequence[int]) -> NDArray[np.float64]:
    """The expected share of the pot of two cards against each holding, 0 to 1, shape (1326,).

    0 where a holding has a card of the others.

    Args:
        board: none, or three to five cards, all different.

    Raises:
        ValueError: another number of cards, or one twice.
    """
    _require(board)
    if len(hole) != 2 or len({*hole, *board}) != 2 + len(board):
        raise ValueError(f"these are not two hole cards and a board, all different: {list(hole)}, {list(board)}")
    return _shares((min(hole), max(hole)), tuple(sorted(board)))


@lru_cache(_REMEMBERED)
def _shares(hole: tuple[int, int], board: tuple[int, ...]) -> NDArray[np.float64]:
    from engine.kernels.ranges import count_duels, count_shares

    counts = np.zeros(len(HOLDINGS), np.int64)
    if board:
        count_shares(np.array(hole, np.uint8), np.array(board, np.uint8), counts)
    else:
        count_duels(np.array(hole, np.uint8), duel_counts(), BOARDS, counts)
    boards = boards_to_come(_CARDS, len(board) + 4, _BOARD_CARDS - len(board))
    return read_only(counts / (2 * boards))


def _require(board: Sequence[int]) -> None:
    if len(board) not in (0, 3, 4, 5) or len({*board}) != len(board):
        raise ValueError(f"a board has no card, or three, four or five different ones, not {list(board)}")
