"""The strength of many poker hands at once: checked, typed access to the compiled kernels.

The numbers are those of `engine.evaluator.rank_hand`. Importing this module imports numba (about a third of a second),
and the first call for each number of cards and memory layout compiles a kernel (about as long again); a process that
has only a few thousand hands to rank finishes sooner with `rank_hand`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.kernels import evaluation
from engine.kernels.cards import OFFSETS, ROW_BITS, VALUES

MAX_CARDS = 10


def rank_hands(hands: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the rank of the best five cards of each hand, shape (n,): a higher number is a better hand.

    `hands` has the shape (n, k): n hands of k cards, 1 to 10, each card an int 0..51 = rank * 4 + suit. Any memory
    layout works. One hand after the other (C order) is the fastest; for one array per card, stacked as
    `columns` of shape (k, n), pass `columns.T`, which costs less than a copy. Seven and five cards have kernels of
    their own, and eight to ten are several times as slow.

    The cards of a hand are not checked to be different: the rank of a hand that repeats a card is meaningless.

    Raises:
        TypeError: not an array of uint8.
        ValueError: not two dimensions, not 1 to 10 cards, or a card above 51.
    """
    if not isinstance(hands, np.ndarray) or hands.dtype != np.uint8:
        found = hands.dtype if isinstance(hands, np.ndarray) else type(hands).__name__
        raise TypeError(f"hands must be a numpy array of uint8, not {found}")
    if hands.ndim != 2:
        raise ValueError(f"hands must have the shape (hands, cards), not {hands.shape}")
    count, cards = hands.shape
    if not 1 <= cards <= MAX_CARDS:
        raise ValueError(f"a hand has 1 to {MAX_CARDS} cards, not {cards}")
    ranks = np.empty(count, np.uint16)
    if count == 0:
        return ranks
    # The kernels' tables have no bounds check, so this one pass is what keeps them inside their memory.
    highest = int(hands.max())
    if highest > 51:
        raise ValueError(f"{highest} is not a card: cards are 0..51")
    if cards == 7:
        evaluation.rank_seven(hands, ranks)
    elif cards == 5:
        evaluation.rank_five(hands, ranks)
    elif cards < 7:
        n = cards - 1
        evaluation.rank_few(hands, OFFSETS[n], VALUES[n], ROW_BITS[n], ranks)
    else:
        evaluation.rank_many(hands, ranks)
    return ranks
