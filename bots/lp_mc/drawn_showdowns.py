"""The showdowns that a simulated hand may end in, drawn by compiled code.

The opponent holds one of the hands that have been left to it, all equally likely, and the cards to come are any of the
rest. So much of a trial is cards; what the players put in meanwhile is left to `bots.lp_mc.simulation`.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.batch import rank_hands
from engine.cards import starting_hand_table
from engine.kernels.cards import BITS, KEYS
from engine.kernels.draw import mixed
from engine.kernels.evaluation import key_and_set, seven_rank
from engine.kernels.jit import njit
from engine.splitmix import STEP
from engine.tables import MAX_OPPONENTS, read_preflop

_Places: TypeAlias = NDArray[np.uint8]

_STEP: Final = np.uint64(STEP)
_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64(0xFFFFFFFF)
_BOARD_CARDS: Final = 5
_DECK: Final = np.arange(52, dtype=np.uint8)


class Holdings(NamedTuple):
    """The hands of two cards that the opponent may hold, the weakest first.

    Attributes:
        unseen: the cards that are neither ours nor on the board, ascending.
        low: of each hand, the place of its lower card among the unseen.
        high: of each hand, the place of its higher card.
    """

    unseen: NDArray[np.uint8]
    low: _Places
    high: _Places

    def without_weakest(self, share: float) -> Holdings:
        """Without this share of them from the weak end, rounded down; one stays always."""
        first = min(int(share * len(self.low)), len(self.low) - 1)
        return Holdings(self.unseen, self.low[first:], self.high[first:])


def holdings_by_strength(hole: tuple[int, ...], board: tuple[int, ...]) -> Holdings:
    """The hands an opponent may hold, by their strength together with the board.

    Before the flop by their chance to win against random cards. Equal ones are in the order of their cards.
    """
    unseen = np.delete(_DECK, hole + board)
    low, high = _pairs(len(unseen))
    one = unseen[low]
    other = unseen[high]
    if board:
        hands = np.empty((len(low), len(board) + 2), np.uint8)
        hands[:, :-2] = board
        hands[:, -2] = one
        hands[:, -1] = other
        order = rank_hands(hands).argsort(kind="stable")
    else:
        order = _strength_before_the_flop()[one, other].argsort(kind="stable")
    return Holdings(unseen, low[order], high[order])


@cache
def _pairs(cards: int) -> tuple[_Places, _Places]:
    low, high = np.triu_indices(cards, 1)
    return low.astype(np.uint8), high.astype(np.uint8)


@cache
def _strength_before_the_flop() -> NDArray[np.float64]:
    share_of_one = 2
    table = np.array(read_preflop()).reshape(-1, MAX_OPPONENTS, 3)[:, 0, share_of_one]
    strength: NDArray[np.float64] = table[np.array(starting_hand_table())]
    return strength


@njit
def count_shares(
    hole: NDArray[np.uint8],
    board: NDArray[np.uint8],
    unseen: NDArray[np.uint8],
    low: NDArray[np.uint8],
    high: NDArray[np.uint8],
    sizes: NDArray[np.int64],
    start: np.uint64,
    shares: NDArray[np.int64],
) -> None:
    """Draw showdowns in batches; write twice our part of the pots of each batch to shares: 2 for a win, 1 for a tie.

    In each trial the opponent's hand is drawn first, then the rest of the board from what is unseen then, with that
    hand put aside at its end, its higher card last (Fisher and Yates). Every trial begins with a new word of the
    random numbers, whose upper half makes the first draw and its lower half the second, as in `engine.kernels.draw`.

    Args:
        board: none, or three to five cards.
        unseen: the others of the deck.
        low, high: the hands of the opponent, as places in unseen, low < high.
        sizes: how many showdowns are in each batch.
        start: of the random numbers.
    """
    cards = len(unseen)
    to_come = _BOARD_CARDS - len(board)
    rest = cards - 2
    hands = np.uint64(len(low))
    board_key, board_cards = key_and_set(board)
    own_key = KEYS[hole[0]] + KEYS[hole[1]]
    own_cards = BITS[hole[0]] | BITS[hole[1]]
    deck = unseen.copy()
    places = np.empty(_BOARD_CARDS, np.int64)
    counter = start
    for batch in range(len(sizes)):
        won = 0
        for _ in range(sizes[batch]):
            counter += _STEP
            word = np.uint64(mixed(counter))
            hand = ((word >> _HALF) * hands) >> _HALF
            one = low[hand]
            other = high[hand]
            their_key = KEYS[deck[one]] + KEYS[deck[other]]
            their_cards = BITS[deck[one]] | BITS[deck[other]]
            deck[other], deck[cards - 1] = deck[cards - 1], deck[other]
            deck[one], deck[rest] = deck[rest], deck[one]
            key = board_key
            known = board_cards
            for draw in range(to_come):
                if draw % 2 == 0:
                    half = word & _LOW_HALF
                else:
                    counter += _STEP
                    word = np.uint64(mixed(counter))
                    half = word >> _HALF
                place = draw + np.int64((half * np.uint64(rest - draw)) >> _HALF)
                card = deck[place]
                deck[place] = deck[draw]
                deck[draw] = card
                places[draw] = place
                key += KEYS[card]
                known |= BITS[card]
            ours = seven_rank(key + own_key, known | own_cards)
            theirs = seven_rank(key + their_key, known | their_cards)
            if ours > theirs:
                won += 2
            elif ours == theirs:
                won += 1
            for draw in range(to_come - 1, -1, -1):
                place = places[draw]
                deck[place], deck[draw] = deck[draw], deck[place]
            deck[one], deck[rest] = deck[rest], deck[one]
            deck[other], deck[cards - 1] = deck[cards - 1], deck[other]
        shares[batch] = won
