"""Cards drawn at random, compiled: SplitMix64 (see `engine.splitmix`) and the first steps of a shuffle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.kernels.jit import njit
from engine.splitmix import STEP

__all__ = ["draw_cards", "mixed"]

_STEP = np.uint64(STEP)
_FACTOR_1 = np.uint64(0xBF58476D1CE4E5B9)
_FACTOR_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


@njit
def mixed(word: np.uint64) -> np.uint64:
    """Return SplitMix64's mixing of a word, as `engine.splitmix.mixed` does."""
    word = (word ^ (word >> _SHIFT_1)) * _FACTOR_1
    word = (word ^ (word >> _SHIFT_2)) * _FACTOR_2
    return np.uint64(word ^ (word >> _SHIFT_3))


@njit
def draw_cards(deck: NDArray[np.uint8], draws: int, counter: np.uint64) -> np.uint64:
    """Bring cards drawn at random to the front of a deck, which stays a permutation of itself.

    Each word of the generator makes two draws, its upper half first (see `engine.equity_arrays.count_sampled`).

    Args:
        deck: any cards.
        draws: how many of them are drawn.
        counter: the generator's state.

    Returns:
        the generator's state afterwards.
    """
    size = len(deck)
    word = np.uint64(0)
    for draw in range(draws):
        if draw % 2 == 0:
            counter += _STEP
            word = mixed(counter)
            half = word >> _HALF
        else:
            half = word & _LOW_HALF
        place = draw + np.int64((half * np.uint64(size - draw)) >> _HALF)
        card = deck[place]
        deck[place] = deck[draw]
        deck[draw] = card
    return counter
