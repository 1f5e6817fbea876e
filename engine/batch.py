"""Ranks of many poker hands at once, computed by compiled kernels.

The ranks are those of `engine.evaluator.rank_hand`. Importing this module takes a third of a second, and the first call
for each number of cards and memory layout as long again. A few thousand hands take less time with `rank_hand`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.kernels import evaluation
from engine.kernels.cards import OFFSETS, ROW_BITS, VALUES

MAX_CARDS = 10


def rank_hands(hands: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the rank of the best five cards of each hand, shape (n,). A higher rank is a better hand.

    The cards of a hand are not checked to be different. The rank of a hand with a repeated card means nothing.

    Args:
        hands: n hands of k cards, shape (n, k) with k of 1 to 10, each card 0..51 = rank * 4 + suit. C order is the
            fastest layout. Arrays of cards stacked to shape (k, n) can be passed as their transpose, which costs less
            than a copy.

    Raises:
        TypeError: `hands` is not an array of uint8.
        ValueError: the shape is wrong, or a card is above 51.
    """
    if not isinstance(hands, np.ndarray):
        raise TypeError(f"hands must be a numpy array of uint8, not {type(hands).__name__}")
    if hands.dtype != np.uint8:
        raise TypeError(f"hands must be a numpy array of uint8, not {hands.dtype}")
    if hands.ndim != 2:
        raise ValueError(f"hands must have the shape (hands, cards), not {hands.shape}")
    count, cards = hands.shape
    if not 1 <= cards <= MAX_CARDS:
        raise ValueError(f"a hand has 1 to {MAX_CARDS} cards, not {cards}")
    ranks = np.empty(count, np.uint16)
    if count == 0:
        return ranks
    # Kernels check no bounds: without this pass, they would read memory outside the tables.
    highest = int(hands.max())
    if highest > 51:
        raise ValueError(f"{highest} is not a card: cards are 0..51")
    if cards == 7:
        evaluation.rank_seven(hands, ranks)
    elif cards == 5:
        evaluation.rank_five(hands, ranks)
    elif cards < 7:
        index = cards - 1
        evaluation.rank_few(hands, OFFSETS[index], VALUES[index], ROW_BITS[index], ranks)
    else:
        evaluation.rank_many(hands, ranks)
    return ranks
