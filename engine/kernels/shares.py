"""What players who know each other's cards may expect of a pot, for many hands at once. Validates nothing.

With at most two cards of the board to come every board is counted, and before the flop two players are looked up in the
table of all duels. In other cases boards are drawn, and the shares are then right on average: the draws depend on the
cards that are known and on a number, and on no card still to come.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import cast

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import BITS, KEYS, START
from engine.kernels.draw import draw_cards, mixed
from engine.kernels.jit import njit
from engine.kernels.rank import seven_rank
from engine.splitmix import STEP
from engine.tables.duels import duel_row

__all__ = ["MOST_COUNTED", "compiled_duel_row", "find_shares"]

MOST_COUNTED = 2
"""With so many cards to come every board is counted."""

_BOARD_CARDS = 5
_DUEL_BOARDS = comb(48, 5)
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
        known: how many cards of the board are known, 0 to 5. Hole cards of everybody are known and cannot come.
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
            shares[pot, winner] = (of_row[0] + 0.5 * of_row[1]) / _DUEL_BOARDS
            shares[pot, 1 - winner] = 1.0 - shares[pot, winner]
            continue
        board_key, board_bits = START, _ZERO
        for place in range(on_table):
            card = cards[hand, 2 * players + place]
            board_key += KEYS[card]
            board_bits |= BITS[card]
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
