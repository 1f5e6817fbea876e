"""Sets of deals for training, each with everything that hands played with it will ask for, computed once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine import rank_hand
from engine.splitmix import MASK_64, mixed

__all__ = ["DealSet", "make_deals"]


@dataclass(frozen=True, slots=True, eq=False)
class DealSet:
    """Deals for ten players, each played a hundred times (see `bots.evolved.kernel`).

    Attributes:
        cards: shape (deals, 25), pair by pair, then the board.
        flops: the hands that see a flop, shape (hands, 4): deal, rotation of the pairs, bit set of the positions that
            are in, raises before the flop.
        spent: what each position has put in before the flop of these hands, shape (hands, 10).
        categories: of each deal, pair and round after the first, 0 to 8.
        ranks: of each deal and pair, of all seven cards.
        weights: the chance not to lose, shape (deals, 10 pairs, 3 rounds, 9 counts of opponents less one).
    """

    cards: NDArray[np.uint8]
    flops: NDArray[np.int64]
    spent: NDArray[np.int64]
    categories: NDArray[np.uint8]
    ranks: NDArray[np.uint16]
    weights: NDArray[np.float64]

    @property
    def hands(self) -> int:
        """How many hands are played with them."""
        return 100 * len(self.cards)


def make_deals(count: int, seed: int, trials: int = 1000) -> DealSet:
    """Deal until `count` deals have been found of which at least one rotation sees a flop.

    Args:
        count: 1 or more.
        seed: of the cards and of the simulation; counts modulo 2**64.
        trials: of the simulation behind each weight; the standard error of a weight is at most 0.5 / sqrt(trials).
    """
    from bots.evolved import kernel

    cards = np.empty((count, 25), np.uint8)
    state = kernel.deal(np.uint64(mixed(seed & MASK_64)), cards)
    weights = np.empty((count, 10, 3, 9))
    kernel.weigh(cards, trials, np.uint64(state), weights)
    seen, before = [], []
    spent = np.empty(10, np.int64)
    for number, of_deal in enumerate(cards):
        for rotation in range(10):
            in_pot, raises, _ = kernel.preflop(of_deal, rotation, spent)
            if in_pot & (in_pot - 1):
                seen.append((number, rotation, in_pot, raises))
                before.append(spent.copy())
    ranks = np.array([[_rank(of_deal, pair, 5) for pair in range(10)] for of_deal in cards.tolist()], np.uint16)
    categories = np.array(
        [
            [[_rank(of_deal, pair, board) >> 12 for board in (3, 4, 5)] for pair in range(10)]
            for of_deal in cards.tolist()
        ],
        np.uint8,
    )
    return DealSet(cards, np.array(seen, np.int64), np.array(before, np.int64), categories, ranks, weights)


def _rank(cards: list[int], pair: int, board: int) -> int:
    return rank_hand([*cards[2 * pair : 2 * pair + 2], *cards[20 : 20 + board]])
