"""What hands of hold'em are clustered by, compiled. The kernels validate nothing.

On the river a hand counts by what it wins against each of eight classes of opponents, which are the starting hands cut
by their equity into groups of equal size (OCHS: Johanson, Burch, Valenzano & Bowling 2013, "Evaluating state-space
abstractions in extensive-form games"). Before the river it counts by the mean of these over all boards to come, and by
the distribution of its strength at the end: the part of those boards on which it is below each of eight levels.
Euclidean distance between such vectors is Cramer's distance of the distributions, and a draw and a made hand with the
same chance to win are far apart (Gilpin & Sandholm 2007, "Potential-aware automated abstraction"). Features are whole
numbers from 0 to 255, so they are the same on every machine.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_CARDS, HOLDING_COUNT, HOLDING_NUMBERS
from engine.cards import STARTING_HANDS, starting_hand
from engine.equity import preflop_equity
from engine.kernels.cards import BITS, KEYS
from engine.kernels.evaluation import key_and_set, seven_rank
from engine.kernels.jit import njit

CLASSES: Final = 8
"""Of opponents."""
LEVELS: Final = 8
"""Of strength, at ninths."""
FEATURES: Final = CLASSES + LEVELS
"""Of a hand on flop or turn; on the river only those of the classes count."""
RIVER_HOLDINGS: Final = 1081
"""Holdings that a full board of hold'em leaves."""
_BEATS_ALL: Final = 1980
"""Twice the 990 holdings of an opponent on the river."""
_MOST: Final = 255


def _classes() -> NDArray[np.uint8]:
    hands = np.array([starting_hand(cards) for cards in HOLDING_CARDS.tolist()])
    first = [HOLDING_CARDS[np.flatnonzero(hands == hand)[0]].tolist() for hand in range(len(STARTING_HANDS))]
    equities = np.array([preflop_equity(hole).equity for hole in first])
    order = np.argsort(equities, kind="stable")
    up_to = np.bincount(hands)[order].cumsum()
    of_hand = np.empty(len(order), np.uint8)
    of_hand[order] = (up_to - 1) * CLASSES // HOLDING_COUNT
    found: NDArray[np.uint8] = of_hand[hands]
    return found


CLASS_OF: Final = _classes()
"""The class of each holding, from the weakest, 0."""
_LOW_BYTE = np.uint16(255)
_BYTE = np.uint16(8)
_STEP = np.uint16(1)
_NEXT = np.uint64(1)
_NUMBERS = HOLDING_NUMBERS.astype(np.uint16)
_ONE = HOLDING_CARDS[:, 0].copy()
_OTHER = HOLDING_CARDS[:, 1].copy()


@njit
def _order_by_rank(board: NDArray[np.uint8], order: NDArray[np.uint16], ranks: NDArray[np.uint16]) -> None:
    """Put the holdings of a full board in order, the weakest first, equal ones by their numbers, and their ranks.

    The shape of both is (1081,).
    """
    key, cards = key_and_set(board)
    found = np.empty(RIVER_HOLDINGS, np.uint16)
    their_ranks = np.empty(RIVER_HOLDINGS, np.uint16)
    low = np.zeros(257, np.uint16)
    high = np.zeros(257, np.uint16)
    size = 0
    for holding in range(HOLDING_COUNT):
        one = _ONE[holding]
        other = _OTHER[holding]
        both = BITS[one] | BITS[other]
        if both & cards:
            continue
        rank = seven_rank(key + KEYS[one] + KEYS[other], cards | both)
        found[size] = holding
        their_ranks[size] = rank
        low[np.uint64(rank & _LOW_BYTE) + _NEXT] += _STEP
        high[np.uint64(rank >> _BYTE) + _NEXT] += _STEP
        size += 1
    # Sorted by the lower byte, then by the upper one, each of which keeps the order of equals.
    for byte in range(256):
        low[byte + 1] += low[byte]
        high[byte + 1] += high[byte]
    halfway = np.empty(RIVER_HOLDINGS, np.uint16)
    for at in range(RIVER_HOLDINGS):
        place = np.uint64(their_ranks[at] & _LOW_BYTE)
        halfway[low[place]] = at
        low[place] += _STEP
    for step in range(RIVER_HOLDINGS):
        at = halfway[step]
        place = np.uint64(their_ranks[at] >> _BYTE)
        order[high[place]] = found[at]
        ranks[high[place]] = their_ranks[at]
        high[place] += _STEP


@njit
def river_features(
    board: NDArray[np.uint8], order: NDArray[np.uint16], classes: NDArray[np.uint8], strengths: NDArray[np.uint16]
) -> None:
    """Write the features of the holdings of a full board.

    Args:
        board: five cards.
        order: shape (1081,), the holdings, weakest first.
        classes: shape (1081, 8), in that order: the part of the holdings of each class that a holding beats, in 255ths.
        strengths: shape (1081,), in that order: twice the holdings that it beats, and once those that it ties, 0 to
            1,980.
    """
    ranks = np.empty(RIVER_HOLDINGS, np.uint16)
    _order_by_rank(board, order, ranks)
    below = np.zeros(CLASSES, np.int32)
    of_card = np.zeros((52, CLASSES), np.int32)
    everyone = np.zeros(CLASSES, np.int32)
    all_of_card = np.zeros((52, CLASSES), np.int32)
    for at in range(RIVER_HOLDINGS):
        holding = order[at]
        kind = CLASS_OF[holding]
        everyone[kind] += 2
        all_of_card[_ONE[holding], kind] += 2
        all_of_card[_OTHER[holding], kind] += 2
    start = 0
    while start < RIVER_HOLDINGS:
        end = start
        # A holding that is weaker counts twice, and a tied one once: added in two halves.
        while end < RIVER_HOLDINGS and ranks[end] == ranks[start]:
            holding = order[end]
            kind = CLASS_OF[holding]
            below[kind] += 1
            of_card[_ONE[holding], kind] += 1
            of_card[_OTHER[holding], kind] += 1
            end += 1
        for at in range(start, end):
            holding = order[at]
            one = _ONE[holding]
            other = _OTHER[holding]
            own = CLASS_OF[holding]
            strength = 0
            for kind in range(CLASSES):
                # A holding has been counted itself: once among all, once with each of its cards.
                itself = 1 if kind == own else 0
                won = below[kind] - of_card[one, kind] - of_card[other, kind] + itself
                most = everyone[kind] - all_of_card[one, kind] - all_of_card[other, kind] + 2 * itself
                strength += won
                classes[at, kind] = np.uint8(np.float32(_MOST * won) / np.float32(max(most, 1)) + np.float32(0.5))
            strengths[at] = strength
        for at in range(start, end):
            holding = order[at]
            kind = CLASS_OF[holding]
            below[kind] += 1
            of_card[_ONE[holding], kind] += 1
            of_card[_OTHER[holding], kind] += 1
        start = end


@njit
def turn_features(board: NDArray[np.uint8], features: NDArray[np.uint8]) -> None:
    """Write the features of all holdings on a board of four cards, shape (1326, 16); 0 where they share a card."""
    order = np.empty(RIVER_HOLDINGS, np.uint16)
    full = np.empty(5, np.uint8)
    classes = np.empty((RIVER_HOLDINGS, CLASSES), np.uint8)
    strengths = np.empty(RIVER_HOLDINGS, np.uint16)
    sums = np.zeros((HOLDING_COUNT, FEATURES), np.int32)
    for at in range(4):
        full[at] = board[at]
    for card in range(52):
        if card == board[0] or card == board[1] or card == board[2] or card == board[3]:
            continue
        full[4] = card
        river_features(full, order, classes, strengths)
        for at in range(RIVER_HOLDINGS):
            of_holding = sums[order[at]]
            for kind in range(CLASSES):
                of_holding[kind] += classes[at, kind]
            strength = np.int32(strengths[at])
            for level in range(LEVELS):
                if strength * (LEVELS + 1) < _BEATS_ALL * (level + 1):
                    of_holding[CLASSES + level] += _MOST
    for holding in range(HOLDING_COUNT):
        for feature in range(FEATURES):
            features[holding, feature] = (2 * sums[holding, feature] + 46) // 92


@njit
def canonical_key(board: NDArray[np.uint8], new_suits: NDArray[np.uint8]) -> int:
    """Return the key of the canonical board, and write the new name of each suit (`suit_order`)."""
    ranks = np.zeros(4, np.int64)
    for card in board:
        ranks[card & 3] |= 1 << np.int64(card >> 2)
    key = 0
    for suit in range(4):
        place = 0
        for other in range(4):
            if ranks[other] > ranks[suit] or (ranks[other] == ranks[suit] and other < suit):
                place += 1
        new_suits[suit] = place
        key |= ranks[suit] << (13 * (3 - place))
    return key


@njit
def rename_holding(holding: np.int64, new_suits: NDArray[np.uint8]) -> np.int64:
    """Return the number of a holding whose suits have new names."""
    one = _ONE[holding]
    other = _OTHER[holding]
    return np.int64(_NUMBERS[(one & 0xFC) | new_suits[one & 3], (other & 0xFC) | new_suits[other & 3]])


@njit
def flop_features(
    flop: NDArray[np.uint8], keys: NDArray[np.int64], turns: NDArray[np.uint8], features: NDArray[np.uint8]
) -> None:
    """Write the features of all holdings on a flop, shape (1326, 16): the mean of those on all turns.

    Args:
        flop: three cards.
        keys: of the canonical boards of four cards, ascending.
        turns: their features, shape (16432, 1326, 16).
        features: 0 where a holding shares a card with the flop.
    """
    full = np.empty(4, np.uint8)
    new_suits = np.empty(4, np.uint8)
    sums = np.zeros((HOLDING_COUNT, FEATURES), np.int32)
    for at in range(3):
        full[at] = flop[at]
    for card in range(52):
        if card == flop[0] or card == flop[1] or card == flop[2]:
            continue
        full[3] = card
        row = np.searchsorted(keys, canonical_key(full, new_suits))
        for holding in range(HOLDING_COUNT):
            of_turn = turns[row, rename_holding(np.int64(holding), new_suits)]
            for feature in range(FEATURES):
                sums[holding, feature] += of_turn[feature]
    for holding in range(HOLDING_COUNT):
        for feature in range(FEATURES):
            features[holding, feature] = (2 * sums[holding, feature] + 47) // 94
