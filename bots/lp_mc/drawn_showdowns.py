"""Compiled loops that draw the showdowns of a simulation.

A showdown gives the opponent one of its remaining hands, all equally likely, and completes the board from the rest of
the deck. `bots.lp_mc.simulation` adds the betting.
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
    """Possible hands of the opponent, the weakest first.

    Attributes:
        unseen: cards that are neither ours nor on the board, ascending.
        low: index of each hand's lower card in `unseen`.
        high: index of each hand's higher card in `unseen`.
    """

    unseen: NDArray[np.uint8]
    low: _Places
    high: _Places

    def without_weakest(self, share: float) -> Holdings:
        """Drop this share of the hands, rounded down, from the weak end. At least one hand remains."""
        first = min(int(share * len(self.low)), len(self.low) - 1)
        return Holdings(self.unseen, self.low[first:], self.high[first:])


def holdings_by_strength(hole: tuple[int, ...], board: tuple[int, ...]) -> Holdings:
    """Return the possible hands of an opponent in the order of their strength with the board.

    Before the flop the order is that of the chance to win against random cards. Equal hands are in the order of their
    cards.
    """
    unseen = np.delete(_DECK, hole + board)
    low, high = _pairs(len(unseen))
    low_cards = unseen[low]
    high_cards = unseen[high]
    if board:
        hands = np.empty((len(low), len(board) + 2), np.uint8)
        hands[:, :-2] = board
        hands[:, -2] = low_cards
        hands[:, -1] = high_cards
        order = rank_hands(hands).argsort(kind="stable")
    else:
        order = _preflop_strength()[low_cards, high_cards].argsort(kind="stable")
    return Holdings(unseen, low[order], high[order])


@cache
def _pairs(cards: int) -> tuple[_Places, _Places]:
    low, high = np.triu_indices(cards, 1)
    return low.astype(np.uint8), high.astype(np.uint8)


@cache
def _preflop_strength() -> NDArray[np.float64]:
    """Return the chance to win against random cards by both cards of a hand, shape (52, 52)."""
    # Each row of the table has three numbers, of which the last is the share of the pot.
    shares = np.array(read_preflop()).reshape(-1, MAX_OPPONENTS, 3)[:, 0, 2]
    strength: NDArray[np.float64] = shares[np.array(starting_hand_table())]
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
    """Draw batches of showdowns, and write twice our share of the pots of each batch: 2 per win, 1 per tie.

    Args:
        hole: our two cards.
        board: no cards, or three to five.
        unseen: the other cards of the deck.
        low: index in `unseen` of the lower card of each possible hand of the opponent.
        high: index of the higher card.
        sizes: number of showdowns of each batch.
        start: state of the random numbers.
        shares: result, by batch.
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
        # Sums twice our share of each pot of the batch.
        for _ in range(sizes[batch]):
            # A trial starts with a new random word. The upper half of a word makes a draw and the lower half the next
            # one, as in engine.kernels.draw.
            counter += _STEP
            word = np.uint64(mixed(counter))
            hand = ((word >> _HALF) * hands) >> _HALF
            their_low = low[hand]
            their_high = high[hand]
            their_key = KEYS[deck[their_low]] + KEYS[deck[their_high]]
            their_cards = BITS[deck[their_low]] | BITS[deck[their_high]]
            # Move the opponent's cards to the end of the deck, behind the cards that can still come.
            deck[their_high], deck[cards - 1] = deck[cards - 1], deck[their_high]
            deck[their_low], deck[rest] = deck[rest], deck[their_low]
            key = board_key
            known = board_cards
            # Draws the rest of the board (Fisher and Yates), and adds its cards to the key and the set.
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
            # Undo all exchanges in reverse order: each trial starts from the same deck.
            for draw in range(to_come - 1, -1, -1):
                place = places[draw]
                deck[place], deck[draw] = deck[draw], deck[place]
            deck[their_low], deck[rest] = deck[rest], deck[their_low]
            deck[their_high], deck[cards - 1] = deck[cards - 1], deck[their_high]
        shares[batch] = won
