"""Equities of all 1,326 holdings of hold'em at once.

Arrays are indexed by the number of a holding among all pairs of cards: 2c2d is 0, 2c2h is 1, and AhAs is 1,325. Before
the flop the equities come from shipped tables. From the flop on, compiled code counts every showdown.

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
# Results are remembered for the boards of a few hands.
_MAX_REMEMBERED: Final = 64

HOLDINGS: Final[tuple[tuple[Card, Card], ...]] = tuple(combinations(range(_CARDS), 2))
"""Cards of each holding, the lower one first."""


class RangeChances(NamedTuple):
    """Equities of all holdings against random cards, as in `engine.equity.Equity`.

    Arrays of shape (1326,), nan for holdings that share a card with the board.
    """

    win: NDArray[np.float64]
    tie: NDArray[np.float64]
    equity: NDArray[np.float64]


def holding_number(first: int, second: int) -> int:
    """Return the number of the holding with two cards, in any order."""
    low = min(first, second)
    high = max(first, second)
    return low * (2 * _CARDS - low - 1) // 2 + high - low - 1


@cache
def classes() -> NDArray[np.int64]:
    """Return the starting hand of each holding, shape (1326,), read-only."""
    return read_only(np.array([starting_hand(cards) for cards in HOLDINGS]))


def are_free(cards: Iterable[int]) -> NDArray[np.bool_]:
    """Return which holdings contain none of the cards, shape (1326,)."""
    is_free = np.ones(len(HOLDINGS), bool)
    for card in cards:
        is_free &= _holdings_without()[card]
    return is_free


@cache
def _holdings_without() -> NDArray[np.bool_]:
    """Return which holdings do not contain a card, shape (52, 1326)."""
    pairs = np.array(HOLDINGS)
    return np.array([(pairs != card).all(axis=1) for card in range(_CARDS)])


def chances_of_all(board: Sequence[int]) -> RangeChances:
    """Return the equities of all holdings against one random holding, to the last bit those of `engine.equity.equity`.

    Args:
        board: none, or three to five different cards.

    Raises:
        ValueError: the board has another number of cards, or one twice.
    """
    _require(board)
    if not board:
        return _preflop_chances()
    return _chances(tuple(sorted(board)))


@cache
def _preflop_chances() -> RangeChances:
    by_class = np.array([preflop_equity(cards_of(number)) for number in range(len(STARTING_HANDS))])
    return RangeChances(*read_only(by_class[classes()]).T)


@lru_cache(_MAX_REMEMBERED)
def _chances(board: tuple[int, ...]) -> RangeChances:
    from engine.kernels.ranges import count_against_all

    wins, ties = np.zeros((2, len(HOLDINGS)), np.int64)
    count_against_all(np.array(board, np.uint8), wins, ties)
    missing = _BOARD_CARDS - len(board)
    showdowns = boards_to_come(_CARDS, len(board) + 2, missing) * boards_to_come(_CARDS, _BOARD_CARDS + 2, 2)
    chances = np.stack([wins / showdowns, ties / showdowns, (wins + ties / 2) / showdowns], axis=1)
    chances[~are_free(board)] = np.nan
    return RangeChances(*read_only(chances).T)


def shares_against(hole: Sequence[int], board: Sequence[int]) -> NDArray[np.float64]:
    """Return the expected share of the pot of two cards against each holding, 0 to 1, shape (1326,).

    It is 0 against holdings that share a card with `hole` or the board.

    Args:
        hole: two cards.
        board: none, or three to five cards.

    Raises:
        ValueError: there is another number of cards, or a card twice.
    """
    _require(board)
    if len(hole) != 2 or len({*hole, *board}) != 2 + len(board):
        raise ValueError(f"these are not two hole cards and a board, all different: {list(hole)}, {list(board)}")
    return _shares((min(hole), max(hole)), tuple(sorted(board)))


@lru_cache(_MAX_REMEMBERED)
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
