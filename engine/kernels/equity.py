"""Kernels that count showdowns. They validate nothing: `engine.equity` does, and is what to call.

The same showdowns as in `engine.equity_arrays`, whose docstrings say what is counted and in which order random numbers
are used; a test holds the two against each other count by count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import BITS, KEYS, START
from engine.kernels.draw import draw_cards
from engine.kernels.jit import njit
from engine.kernels.rank import seven_rank

_ZERO = np.uint64(0)


@njit
def count_exact(
    hole: NDArray[np.uint8], board: NDArray[np.uint8], unseen: NDArray[np.uint8], counts: NDArray[np.int64]
) -> None:
    """Add to counts every showdown against one opponent, as `engine.equity_arrays.count_exact` does."""
    key, cards = START, _ZERO
    for card in board:
        key += KEYS[card]
        cards |= BITS[card]
    our_key, our_cards = key + KEYS[hole[0]] + KEYS[hole[1]], cards | BITS[hole[0]] | BITS[hole[1]]
    size = len(unseen)
    to_come = 5 - len(board)
    # Our rank on each board, found by the places of its cards to come: two, or twice the one, or anything if none.
    ours = np.zeros((size, size), np.uint16)
    for i in range(size):
        if to_come == 0:
            ours[i, i] = seven_rank(our_key, our_cards)
        elif to_come == 1:
            ours[i, i] = seven_rank(our_key + KEYS[unseen[i]], our_cards | BITS[unseen[i]])
        else:
            for j in range(i + 1, size):
                ours[i, j] = seven_rank(
                    our_key + KEYS[unseen[i]] + KEYS[unseen[j]], our_cards | BITS[unseen[i]] | BITS[unseen[j]]
                )
    for a in range(size):
        for b in range(a + 1, size):
            two = key + KEYS[unseen[a]] + KEYS[unseen[b]]
            two_cards = cards | BITS[unseen[a]] | BITS[unseen[b]]
            if to_come == 0:
                compare(ours[a, a], seven_rank(two, two_cards), counts)
                continue
            for c in range(b + 1, size):
                three = two + KEYS[unseen[c]]
                three_cards = two_cards | BITS[unseen[c]]
                if to_come == 1:
                    theirs = seven_rank(three, three_cards)
                    compare(ours[a, a], theirs, counts)
                    compare(ours[b, b], theirs, counts)
                    compare(ours[c, c], theirs, counts)
                    continue
                for d in range(c + 1, size):
                    theirs = seven_rank(three + KEYS[unseen[d]], three_cards | BITS[unseen[d]])
                    compare(ours[a, b], theirs, counts)
                    compare(ours[a, c], theirs, counts)
                    compare(ours[a, d], theirs, counts)
                    compare(ours[b, c], theirs, counts)
                    compare(ours[b, d], theirs, counts)
                    compare(ours[c, d], theirs, counts)


@njit
def compare(ours: np.uint16, theirs: np.uint16, counts: NDArray[np.int64]) -> None:
    """Add one showdown to counts: lost, won or tied."""
    counts[0] += ours < theirs
    counts[1] += ours > theirs
    counts[2] += ours == theirs


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
    """Add `trials` showdowns with drawn cards to counts, as `engine.equity_arrays.count_sampled` does."""
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
