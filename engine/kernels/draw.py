"""Cards drawn at random, compiled: SplitMix64 (see `engine.splitmix`), the first steps of a shuffle, and showdowns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import BITS, KEYS, START
from engine.kernels.jit import njit
from engine.kernels.rank import seven_rank
from engine.splitmix import FACTORS, SHIFTS, STEP

__all__ = ["count_sampled", "draw_cards", "mixed"]

_ZERO = np.uint64(0)
_STEP = np.uint64(STEP)
_FACTOR_1, _FACTOR_2 = [np.uint64(factor) for factor in FACTORS]
_SHIFT_1, _SHIFT_2, _SHIFT_3 = [np.uint64(shift) for shift in SHIFTS]
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

    Each word of the generator makes two draws, its upper half first (see `engine.kernels.showdowns.count_sampled`).

    Args:
        deck: any cards.
        draws: how many of them are drawn.
        counter: the generator's state.

    Returns:
        the generator's state afterwards.
    """
    size = len(deck)
    word = _ZERO
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


@njit
def count_sampled(
    hole: NDArray[np.uint8],
    board: NDArray[np.uint8],
    unseen: NDArray[np.uint8],
    opponents: int,
    trials: int,
    start: np.uint64,
    counts: NDArray[np.int64],
) -> None:
    """Add `trials` showdowns with drawn cards to counts, as `engine.kernels.showdowns.count_sampled` does."""
    to_come = 5 - len(board)
    draws = to_come + 2 * opponents
    key, cards = START, _ZERO
    for card in board:
        key += KEYS[card]
        cards |= BITS[card]
    own_key, own_cards = KEYS[hole[0]] + KEYS[hole[1]], BITS[hole[0]] | BITS[hole[1]]
    deck = np.empty(len(unseen), np.uint8)
    counter = start
    for _ in range(trials):
        deck[:] = unseen
        counter = np.uint64(draw_cards(deck, draws, counter))
        board_key, board_cards = key, cards
        for i in range(to_come):
            board_key += KEYS[deck[i]]
            board_cards |= BITS[deck[i]]
        ours = seven_rank(board_key + own_key, board_cards | own_cards)
        winners = 1
        for i in range(to_come, draws, 2):
            theirs = seven_rank(
                board_key + KEYS[deck[i]] + KEYS[deck[i + 1]], board_cards | BITS[deck[i]] | BITS[deck[i + 1]]
            )
            if theirs > ours:
                winners = 0
                break
            winners += theirs == ours
        counts[winners] += 1
