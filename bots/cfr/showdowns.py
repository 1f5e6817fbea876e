"""Holdings of a board in the order of their strength, and the kernels of the ends of a betting.

The values of all holdings at an end take time linear in their number, because sums by card stand for the pairs that
share one (Johanson et al. 2012, "Efficient Nash equilibrium approximation through Monte Carlo counterfactual regret
minimization", section 4). The kernels validate nothing.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_CARDS
from bots.cfr.lookup import ranks_on
from engine import Card
from engine.kernels.jit import njit
from engine.ranges import are_free

CARD_LANES: Final = 64
"""Length of sums by card: 52, rounded up to a multiple of a SIMD register."""
FULL_BOARD: Final = 5
Vector: TypeAlias = NDArray[Any]
"""float32, the last axis over holdings."""


class Holdings(NamedTuple):
    """Holdings without a card of the board, weakest first, shape (boards, holdings).

    Board 0 is that of the start. If that is a turn, the boards with each river card follow. Holdings with the river
    card come first there, with reach 0.

    Attributes:
        first_cards: first card of each holding.
        second_cards: second card of each holding.
        ties: index after the last holding of the same rank.
        places: index of the holding on board 0.
    """

    first_cards: NDArray[np.uint8]
    second_cards: NDArray[np.uint8]
    ties: NDArray[np.uint16]
    places: NDArray[np.int64]


@njit
def fold(holdings: Holdings, board: int, reach: Vector, by_card: Vector, chips: np.float32, values: Vector) -> None:
    """Write the values at a fold: chips × the opponent's reach over holdings without a common card.

    Sums by card make it linear in the number of holdings, instead of quadratic (Johanson et al. 2012, "Efficient Nash
    equilibrium approximation through Monte Carlo counterfactual regret minimization", section 4).

    Args:
        reach: of the opponent, shape (holdings,).
        by_card: scratch space, shape (64,).
        chips: won by the player, below 0 if it has folded.
        values: output, shape (holdings,).
    """
    first_cards = holdings.first_cards[board]
    second_cards = holdings.second_cards[board]
    by_card[:] = np.float32(0)
    total = np.float32(0)
    # Sum the reach over all holdings, and over those with each card.
    for index in range(len(reach)):
        total += reach[index]
        by_card[first_cards[index]] += reach[index]
        by_card[second_cards[index]] += reach[index]
    # The same holding is in both sums by card, so it is added again once.
    for index in range(len(reach)):
        values[index] = chips * (total - by_card[first_cards[index]] - by_card[second_cards[index]] + reach[index])


@njit
def show_down(
    holdings: Holdings, board: int, reach: Vector, by_card: Vector, chips: np.float32, values: Vector
) -> None:
    """Write the values at a showdown: chips × (W - L) = chips × (W + W' - T), arguments as of `_fold`.

    W is the opponent's reach over weaker holdings, W' over weaker or equal ones, L over stronger ones and T over all,
    each without those that share a card with the player's holding. Additions by card take most of the time.
    """
    first_cards = holdings.first_cards[board]
    second_cards = holdings.second_cards[board]
    ties = holdings.ties[board]
    by_card[:] = np.float32(0)
    total = np.float32(0)
    start = np.int64(0)
    # Group by group of equal ranks: read W, add the group to the sums, read W'.
    while start < len(reach):
        end = np.int64(ties[start])
        for index in range(start, end):
            values[index] = total - by_card[first_cards[index]] - by_card[second_cards[index]]
        for index in range(start, end):
            total += reach[index]
            by_card[first_cards[index]] += reach[index]
            by_card[second_cards[index]] += reach[index]
        for index in range(start, end):
            values[index] += total - by_card[first_cards[index]] - by_card[second_cards[index]]
        start = end
    # Now the sums are over all holdings: subtract T.
    for index in range(len(reach)):
        values[index] = chips * (values[index] - (total - by_card[first_cards[index]] - by_card[second_cards[index]]))


def holdings_on(board: tuple[Card, ...]) -> tuple[NDArray[np.intp], Holdings]:
    """Return the numbers of the free holdings in the order of board 0, and the arrays of the kernels."""
    free = np.flatnonzero(are_free(board))
    if len(board) == FULL_BOARD:
        ranks = ranks_on(board)[None, free]
    else:
        # On the turn no ranks are needed. On a river, holdings with the river card have rank 0.
        later = [ranks_on((*board, card))[free] for card in range(52) if card not in board]
        ranks = np.array([np.zeros(len(free), np.int64), *later])
    orders = np.argsort(ranks, kind="stable", axis=1)
    in_order = np.take_along_axis(ranks, orders, axis=1)
    ties = np.array([np.searchsorted(row, row, "right") for row in in_order], np.uint16)
    first_cards, second_cards = np.moveaxis(HOLDING_CARDS[free[orders]], -1, 0).copy()
    return free[orders[0]], Holdings(first_cards, second_cards, ties, orders)


def pair_weight(holdings: Holdings, weights: Vector) -> float:
    """Return the sum of the weights of all pairs of holdings without a common card."""
    first, second = weights.astype(np.float64)
    by_card = np.zeros((2, CARD_LANES))
    for cards in (holdings.first_cards[0], holdings.second_cards[0]):
        np.add.at(by_card[0], cards, first)
        np.add.at(by_card[1], cards, second)
    # Pairs of equal holdings have both cards in common and have been subtracted twice.
    return float(first.sum() * second.sum() - (by_card[0] * by_card[1]).sum() + (first * second).sum())
