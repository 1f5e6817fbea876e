"""Showdowns of all holdings of hold'em at once, compiled. Validates nothing.

A holding is two cards; they are numbered as in `engine.ranges`. Ranks are made dense, so that all holdings on a board
are sorted by counting; what a holding beats is then how many come before it, less those that share a card with it.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import BITS, FLUSHES, KEYS, START, VALUES
from engine.kernels.jit import njit
from engine.kernels.rank import seven_rank
from engine.kernels.shares import compiled_duel_row

__all__ = ["HOLDINGS", "count_against_all", "count_duels", "count_shares"]

HOLDINGS = np.array(list(combinations(range(52), 2)), dtype=np.uint8)
"""The two cards of each of the 1,326 holdings, the lower first."""

_HOLDING_KEYS = KEYS[HOLDINGS[:, 0]] + KEYS[HOLDINGS[:, 1]]
_HOLDING_BITS = BITS[HOLDINGS[:, 0]] | BITS[HOLDINGS[:, 1]]
_FIRST, _SECOND = HOLDINGS[:, 0].astype(np.uint64), HOLDINGS[:, 1].astype(np.uint64)
_RANKS = np.unique(np.concatenate([VALUES[6], FLUSHES]))
_DENSE = np.zeros(int(_RANKS.max()) + 1, dtype=np.uint16)
_DENSE[_RANKS] = np.arange(len(_RANKS))
_NUMBER_RANKS = len(_RANKS)
_NUMBER = len(HOLDINGS)
_BOARD_CARDS = 5
_ZERO = np.uint64(0)


@njit
def _next(chosen: NDArray[np.int64], missing: int, cards: int) -> bool:
    """Go on to the next combination of places; False after the last."""
    at = missing - 1
    while at >= 0 and chosen[at] == cards - missing + at:
        at -= 1
    if at < 0:
        return False
    chosen[at] += 1
    for later in range(at + 1, missing):
        chosen[later] = chosen[later - 1] + 1
    return True


@njit
def count_against_all(board: NDArray[np.uint8], wins: NDArray[np.int64], ties: NDArray[np.int64]) -> None:
    """Add to wins and ties those of every holding against every other, on every board made of the known cards.

    Args:
        board: three to five cards.
        wins: by holding, shape (1326,); nothing is added for a holding that shares a card with the board.
        ties: likewise.
    """
    deck = np.empty(52, np.uint8)
    key, table = START, _ZERO
    for card in board:
        key += KEYS[card]
        table |= BITS[card]
    left = 0
    for card in range(52):
        if not table & BITS[card]:
            deck[left] = card
            left += 1
    missing = _BOARD_CARDS - len(board)
    chosen = np.arange(2)
    starts = np.zeros(_NUMBER_RANKS + 1, np.int64)
    ranks = np.zeros(_NUMBER, np.int64)
    free = np.zeros(_NUMBER, np.int64)
    order = np.zeros(_NUMBER, np.int64)
    below = np.zeros(52, np.int64)
    equal = np.zeros(52, np.int64)
    is_left = True
    while is_left:
        whole_key, whole = key, table
        for place in range(missing):
            whole_key += KEYS[deck[chosen[place]]]
            whole |= BITS[deck[chosen[place]]]
        number = 0
        starts[:] = 0
        for holding in range(_NUMBER):
            if not _HOLDING_BITS[holding] & whole:
                rank = seven_rank(whole_key + _HOLDING_KEYS[holding], whole | _HOLDING_BITS[holding])
                dense = np.int64(_DENSE[rank])
                free[number] = holding
                ranks[number] = dense
                number += 1
                starts[dense + 1] += 1
        for place in range(_NUMBER_RANKS):
            starts[place + 1] += starts[place]
        for at in range(number):
            order[starts[ranks[at]]] = at
            starts[ranks[at]] += 1
        below[:] = 0
        begin = 0
        while begin < number:
            rank = ranks[order[begin]]
            end = begin
            while end < number and ranks[order[end]] == rank:
                holding = free[order[end]]
                equal[_FIRST[holding]] += 1
                equal[_SECOND[holding]] += 1
                end += 1
            for at in range(begin, end):
                holding = free[order[at]]
                one, other = _FIRST[holding], _SECOND[holding]
                wins[holding] += begin - below[one] - below[other]
                # A holding is among those that share its cards, twice.
                ties[holding] += end - begin - equal[one] - equal[other] + 1
            for at in range(begin, end):
                holding = free[order[at]]
                one, other = _FIRST[holding], _SECOND[holding]
                below[one] += 1
                below[other] += 1
                equal[one] = 0
                equal[other] = 0
            begin = end
        is_left = missing > 0 and _next(chosen, missing, left)


@njit
def count_shares(hole: NDArray[np.uint8], board: NDArray[np.uint8], shares: NDArray[np.int64]) -> None:
    """Add to shares twice the wins and once the ties of two cards against every holding, on every board.

    Args:
        hole: two cards.
        board: three to five cards.
        shares: by holding, shape (1326,); nothing is added for a holding that shares a card with the others.
    """
    deck = np.empty(52, np.uint8)
    key, table = START, _ZERO
    for card in board:
        key += KEYS[card]
        table |= BITS[card]
    own_key, own = KEYS[hole[0]] + KEYS[hole[1]], BITS[hole[0]] | BITS[hole[1]]
    left = 0
    for card in range(52):
        if not (table | own) & BITS[card]:
            deck[left] = card
            left += 1
    missing = _BOARD_CARDS - len(board)
    chosen = np.arange(2)
    is_left = True
    while is_left:
        whole_key, whole = key, table
        for place in range(missing):
            whole_key += KEYS[deck[chosen[place]]]
            whole |= BITS[deck[chosen[place]]]
        rank = seven_rank(whole_key + own_key, whole | own)
        taken = whole | own
        for holding in range(_NUMBER):
            if not _HOLDING_BITS[holding] & taken:
                against = seven_rank(whole_key + _HOLDING_KEYS[holding], whole | _HOLDING_BITS[holding])
                if rank > against:
                    shares[holding] += 2
                elif rank == against:
                    shares[holding] += 1
        is_left = missing > 0 and _next(chosen, missing, left)


@njit
def count_duels(hole: NDArray[np.uint8], duels: NDArray[np.uint32], boards: int, shares: NDArray[np.int64]) -> None:
    """Write to shares twice the wins and once the ties of two cards against every holding before the flop.

    Args:
        hole: two cards.
        duels: `engine.duels.duel_counts`.
        boards: how many there are beside two holdings.
        shares: by holding, shape (1326,); nothing is written for a holding that shares a card with the hole cards.
    """
    own = BITS[hole[0]] | BITS[hole[1]]
    one, other = np.int64(hole[0]), np.int64(hole[1])
    for holding in range(_NUMBER):
        if not _HOLDING_BITS[holding] & own:
            row = compiled_duel_row(one, other, np.int64(HOLDINGS[holding, 0]), np.int64(HOLDINGS[holding, 1]))
            if row >= 0:
                shares[holding] = 2 * np.int64(duels[row, 0]) + np.int64(duels[row, 1])
            else:
                lost, tied = np.int64(duels[-1 - row, 0]), np.int64(duels[-1 - row, 1])
                shares[holding] = 2 * (boards - lost - tied) + tied
