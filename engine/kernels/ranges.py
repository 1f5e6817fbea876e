"""Showdowns of hold'em whose players see each other's cards, and of all holdings at once, compiled. Validates nothing.

`find_shares` is for players who see each other's cards, many hands at once. With at most two cards of the board to
come every board is counted, and before the flop two players are looked up in the table of all duels. In other cases
boards are drawn, and the shares are then right on average: the draws depend on the cards that are known and on a
number, and on no card still to come.

The others are for all holdings at once. A holding is two cards; they are numbered as in `engine.ranges`. Ranks are
made dense, so that all holdings on a board are sorted by counting; what a holding beats is then how many come before
it, less those that share a card with it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import cast

import numpy as np
from numpy.typing import NDArray

from engine.duels import BOARDS, duel_row
from engine.kernels.cards import BITS, FLUSHES, KEYS, VALUES
from engine.kernels.draw import draw_cards, mixed
from engine.kernels.evaluation import key_and_set, seven_rank
from engine.kernels.jit import njit
from engine.splitmix import STEP

MOST_COUNTED = 2
"""With so many cards to come every board is counted."""
_BOARD_CARDS = 5
_STEP = np.uint64(STEP)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
compiled_duel_row = cast("Callable[[np.int64, np.int64, np.int64, np.int64], np.int64]", njit(duel_row))


@njit
def find_shares(
    cards: NDArray[np.uint8],
    hands: NDArray[np.int64],
    members: NDArray[np.uint64],
    known: NDArray[np.int64],
    streams: NDArray[np.uint64],
    draws: int,
    duels: NDArray[np.uint32],
    shares: NDArray[np.float64],
) -> None:
    """Write the expected share of each player in each of some pots.

    Args:
        cards: shape (hands, 2 * players + 5): the hole cards by position, then the board; what is not known of a board
            may be any cards.
        hands: of each pot, shape (pots,): whose cards it is about.
        members: the positions that play for it, as a set of bits.
        known: how many cards of the board are known, 0 to 5. Hole cards of every player are known and cannot come.
        streams: where the random numbers of each hand begin, shape (hands,).
        draws: boards drawn where more than `MOST_COUNTED` cards are to come, and not all players are two.
        duels: `engine.duels.duel_counts`.
        shares: shape (pots, players), 0 to 1; 0 for those who do not play for the pot.
    """
    players = (cards.shape[1] - _BOARD_CARDS) // 2
    deck = np.empty(52, np.uint8)
    chosen = np.zeros(2, np.int64)
    ranks = np.zeros(players, np.int64)
    keys = np.zeros(players, np.uint64)
    bits = np.zeros(players, np.uint64)
    who = np.zeros(players, np.int64)
    for pot in range(len(hands)):
        hand = hands[pot]
        number = 0
        taken = _ZERO
        for position in range(players):
            shares[pot, position] = 0.0
            one, two = cards[hand, 2 * position], cards[hand, 2 * position + 1]
            both = BITS[one] | BITS[two]
            taken |= both
            if members[pot] >> np.uint64(position) & _ONE:
                who[number] = position
                keys[number] = KEYS[one] + KEYS[two]
                bits[number] = both
                number += 1
        if number == 1:
            shares[pot, who[0]] = 1.0
            continue
        on_table = known[pot]
        if players == 2 and not on_table:
            row = compiled_duel_row(
                np.int64(cards[hand, 0]), np.int64(cards[hand, 1]), np.int64(cards[hand, 2]), np.int64(cards[hand, 3])
            )
            winner = 0 if row >= 0 else 1
            of_row = duels[max(row, -1 - row)]
            shares[pot, winner] = (of_row[0] + 0.5 * of_row[1]) / BOARDS
            shares[pot, 1 - winner] = 1.0 - shares[pot, winner]
            continue
        board_key, board_bits = key_and_set(cards[hand, 2 * players : 2 * players + on_table])
        missing = _BOARD_CARDS - on_table
        boards = 1
        if missing:
            taken |= board_bits
            left = 0
            for card in range(52):
                if not taken & BITS[card]:
                    deck[left] = card
                    left += 1
            boards = draws
            if missing <= MOST_COUNTED:
                boards = left if missing == 1 else left * (left - 1) // 2
        counter = mixed(streams[hand] + np.uint64(on_table) * _STEP)
        chosen[0], chosen[1] = 0, 1
        for _ in range(boards):
            key, table = board_key, board_bits
            if missing > MOST_COUNTED:
                counter = draw_cards(deck[:left], missing, counter)
                for place in range(missing):
                    key += KEYS[deck[place]]
                    table |= BITS[deck[place]]
            elif missing:
                key += KEYS[deck[chosen[0]]]
                table |= BITS[deck[chosen[0]]]
                if missing == 1:
                    chosen[0] += 1
                else:
                    key += KEYS[deck[chosen[1]]]
                    table |= BITS[deck[chosen[1]]]
                    chosen[1] += 1
                    if chosen[1] == left:
                        chosen[0] += 1
                        chosen[1] = chosen[0] + 1
            best, winners = np.int64(-1), 0
            for at in range(number):
                rank = np.int64(seven_rank(key + keys[at], table | bits[at]))
                ranks[at] = rank
                if rank > best:
                    best, winners = rank, 1
                elif rank == best:
                    winners += 1
            for at in range(number):
                if ranks[at] == best:
                    shares[pot, who[at]] += 1.0 / winners
        for at in range(number):
            shares[pot, who[at]] /= boards


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


@njit
def _next(chosen: NDArray[np.int64], missing: int, cards: int) -> bool:
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
    key, table = key_and_set(board)
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
        board: three to five cards.
        shares: by holding, shape (1326,); nothing is added for a holding that shares a card with the others.
    """
    deck = np.empty(52, np.uint8)
    key, table = key_and_set(board)
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
        duels: `engine.duels.duel_counts`.
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
