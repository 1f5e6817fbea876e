"""The kernel that counts every showdown before the flop, for `engine.generators.preflop`. It validates nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.kernels.evaluation import rank_seven
from engine.kernels.jit import njit
from engine.starting_hands import starting_hand_table

_STARTING_HAND_OF = np.array(starting_hand_table(), np.uint8)
_DECK = 52
_HOLDINGS = 1081
"""Hands of two cards beside a board of five."""


@njit
def count_preflop(start: int, end: int, counts: NDArray[np.int64]) -> None:
    """Add to counts, shape (169, 3), the showdowns lost, won and tied by each class of hole cards against one opponent.

    All its hands are counted, on all boards with start <= lowest card < end, both whole ranks (multiples of 4). Boards
    that differ only by renaming suits end alike for a class as a whole, so of each such set one is dealt and counted as
    often as the set is large: the one whose suits, as sets of ranks, do not ascend from clubs to spades.

    Of one board all hands of two cards are ranked and put in order. A hand beats the weaker ones, of which those that
    share a card with it do not count: how many weaker hands hold each card is kept while the order is gone through.
    """
    hands = np.empty((_HOLDINGS, 7), np.uint8)
    ranks = np.empty(_HOLDINGS, np.uint16)
    weaker_with = np.empty(_DECK, np.int64)
    equal_with = np.zeros(_DECK, np.int64)
    suits = np.empty(4, np.int64)
    for a in range(start, end):
        for b in range(a + 1, _DECK):
            for c in range(b + 1, _DECK):
                for d in range(c + 1, _DECK):
                    for e in range(d + 1, _DECK):
                        board = (a, b, c, d, e)
                        suits[:] = 0
                        for card in board:
                            suits[card & 3] |= 1 << (card >> 2)
                        times = ways_to_name(suits)
                        if times == 0:
                            continue
                        size = 0
                        for i in range(_DECK):
                            for j in range(i + 1, _DECK):
                                if i in board or j in board:
                                    continue
                                for place in range(5):
                                    hands[size, place] = board[place]
                                hands[size, 5], hands[size, 6] = i, j
                                size += 1
                        rank_seven(hands, ranks)
                        order = np.argsort(ranks)
                        weaker_with[:] = 0
                        first = 0
                        while first < size:
                            last = first
                            while last < size and ranks[order[last]] == ranks[order[first]]:
                                equal_with[hands[order[last], 5]] += 1
                                equal_with[hands[order[last], 6]] += 1
                                last += 1
                            for at in range(first, last):
                                i, j = hands[order[at], 5], hands[order[at], 6]
                                won = first - weaker_with[i] - weaker_with[j]
                                # The hand itself was taken away with each of its cards.
                                tied = last - first - equal_with[i] - equal_with[j] + 1
                                number = _STARTING_HAND_OF[i, j]
                                counts[number, 0] += times * (990 - won - tied)
                                counts[number, 1] += times * won
                                counts[number, 2] += times * tied
                            for at in range(first, last):
                                for place in (5, 6):
                                    card = hands[order[at], place]
                                    weaker_with[card] += equal_with[card]
                                    equal_with[card] = 0
                            first = last


@njit
def ways_to_name(suits: NDArray[np.int64]) -> int:
    """Return how many boards are this one with its suits renamed, itself included; 0 if its suits ascend anywhere."""
    ways, alike = 24, 1
    for suit in range(1, 4):
        if suits[suit] > suits[suit - 1]:
            return 0
        alike = alike + 1 if suits[suit] == suits[suit - 1] else 1
        ways //= alike
    return ways
