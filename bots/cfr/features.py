"""Features by which the hands of hold'em are clustered, as compiled kernels that validate nothing.

On the river the features of a hand are its equities against eight classes of starting hands (OCHS: Johanson, Burch,
Valenzano & Bowling 2013, "Evaluating state-space abstractions in extensive-form games"). On flop and turn they are the
means of these over all final boards, and the share of final boards on which the strength is below each of eight levels.
The Euclidean distance of the latter is Cramér's distance of the distributions, which separates a draw from a made hand
with the same equity (Gilpin & Sandholm 2007, "Potential-aware automated abstraction"). Features are integers from 0 to
255, equal on every machine.
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
"""Number of classes of an opponent's starting hands."""
LEVELS: Final = 8
"""Number of thresholds of strength, at 1/9 to 8/9."""
FEATURES: Final = CLASSES + LEVELS
"""Features of a hand on flop and turn; a hand on the river has only the first `CLASSES`."""
RIVER_HOLDINGS: Final = 1081
"""Number of holdings without a card of a full board, 47 over 2."""
MAX_STRENGTH: Final = 1980
"""Twice the 990 holdings of an opponent on the river, 45 over 2."""
MAX_FEATURE: Final = 255


def _classify_holdings() -> NDArray[np.uint8]:
    """Cut the starting hands, in order of equity, into classes of about as many holdings; shape (1326,)."""
    hands = np.array([starting_hand(cards) for cards in HOLDING_CARDS.tolist()])
    equities = np.empty(len(STARTING_HANDS))
    for hand in range(len(STARTING_HANDS)):
        first = np.flatnonzero(hands == hand)[0]
        equities[hand] = preflop_equity(HOLDING_CARDS[first].tolist()).equity
    order = np.argsort(equities, kind="stable")
    cumulative = np.bincount(hands)[order].cumsum()
    class_of_hand = np.empty(len(order), np.uint8)
    class_of_hand[order] = (cumulative - 1) * CLASSES // HOLDING_COUNT
    classes: NDArray[np.uint8] = class_of_hand[hands]
    return classes


CLASS_OF: Final = _classify_holdings()
"""Class of each holding, 0 the weakest, shape (1326,)."""
# Typed constants: numba would widen an expression of an unsigned and a Python integer to float64 or int64.
_LOW_BYTE = np.uint16(255)
_BYTE = np.uint16(8)
_STEP = np.uint16(1)
_NEXT = np.uint64(1)
_NUMBERS = HOLDING_NUMBERS.astype(np.uint16)
_FIRST_CARD = HOLDING_CARDS[:, 0].copy()
_SECOND_CARD = HOLDING_CARDS[:, 1].copy()


@njit
def _order_by_rank(board: NDArray[np.uint8], order: NDArray[np.uint16], ranks: NDArray[np.uint16]) -> None:
    """Sort the holdings of a full board by rank, the weakest first, ties by number.

    Args:
        board: five cards.
        order: output, the holdings in this order, shape (1081,).
        ranks: output, their ranks in this order, shape (1081,).
    """
    key, cards = key_and_set(board)
    holdings = np.empty(RIVER_HOLDINGS, np.uint16)
    their_ranks = np.empty(RIVER_HOLDINGS, np.uint16)
    low = np.zeros(257, np.uint16)
    high = np.zeros(257, np.uint16)
    size = 0
    # Rank the live holdings, and count each byte of the ranks, one place up: sums are starts of the byte's group.
    for holding in range(HOLDING_COUNT):
        first = _FIRST_CARD[holding]
        second = _SECOND_CARD[holding]
        both = BITS[first] | BITS[second]
        if both & cards:
            continue
        rank = seven_rank(key + KEYS[first] + KEYS[second], cards | both)
        holdings[size] = holding
        their_ranks[size] = rank
        low[np.uint64(rank & _LOW_BYTE) + _NEXT] += _STEP
        high[np.uint64(rank >> _BYTE) + _NEXT] += _STEP
        size += 1
    # A radix sort, which is stable: first by the lower byte, then by the upper one.
    for byte in range(256):
        low[byte + 1] += low[byte]
        high[byte + 1] += high[byte]
    halfway = np.empty(RIVER_HOLDINGS, np.uint16)
    for index in range(RIVER_HOLDINGS):
        place = np.uint64(their_ranks[index] & _LOW_BYTE)
        halfway[low[place]] = index
        low[place] += _STEP
    for step in range(RIVER_HOLDINGS):
        index = halfway[step]
        place = np.uint64(their_ranks[index] >> _BYTE)
        order[high[place]] = holdings[index]
        ranks[high[place]] = their_ranks[index]
        high[place] += _STEP


@njit
def river_features(
    board: NDArray[np.uint8], order: NDArray[np.uint16], classes: NDArray[np.uint8], strengths: NDArray[np.uint16]
) -> None:
    """Write the features of the holdings of a full board.

    Args:
        board: five cards.
        order: output, the holdings, weakest first, shape (1081,).
        classes: output, in this order, the equity against each class in 255ths, shape (1081, 8).
        strengths: output, in this order, 2 for each holding that it beats and 1 for each that it ties, 0 to 1,980,
            shape (1081,).
    """
    ranks = np.empty(RIVER_HOLDINGS, np.uint16)
    _order_by_rank(board, order, ranks)
    # A win counts 2 and a tie 1. The opponent's holdings exclude those that share a card with the player's, so all
    # counts exist for each class and for each card with a class.
    below = np.zeros(CLASSES, np.int32)
    of_card = np.zeros((52, CLASSES), np.int32)
    everyone = np.zeros(CLASSES, np.int32)
    all_of_card = np.zeros((52, CLASSES), np.int32)
    # Count all holdings.
    for index in range(RIVER_HOLDINGS):
        holding = order[index]
        kind = CLASS_OF[holding]
        everyone[kind] += 2
        all_of_card[_FIRST_CARD[holding], kind] += 2
        all_of_card[_SECOND_CARD[holding], kind] += 2
    start = 0
    while start < RIVER_HOLDINGS:
        end = start
        # Each group of equal ranks is added once before its own results are read, and once more after, so that a tied
        # holding counts 1 and a weaker one 2.
        while end < RIVER_HOLDINGS and ranks[end] == ranks[start]:
            holding = order[end]
            kind = CLASS_OF[holding]
            below[kind] += 1
            of_card[_FIRST_CARD[holding], kind] += 1
            of_card[_SECOND_CARD[holding], kind] += 1
            end += 1
        for index in range(start, end):
            holding = order[index]
            first = _FIRST_CARD[holding]
            second = _SECOND_CARD[holding]
            own = CLASS_OF[holding]
            strength = 0
            for kind in range(CLASSES):
                # The holding itself has both cards in common: it is subtracted twice, and added again once.
                itself = 1 if kind == own else 0
                won = below[kind] - of_card[first, kind] - of_card[second, kind] + itself
                possible = everyone[kind] - all_of_card[first, kind] - all_of_card[second, kind] + 2 * itself
                strength += won
                scaled = np.float32(MAX_FEATURE * won) / np.float32(max(possible, 1))
                classes[index, kind] = np.uint8(scaled + np.float32(0.5))
            strengths[index] = strength
        for index in range(start, end):
            holding = order[index]
            kind = CLASS_OF[holding]
            below[kind] += 1
            of_card[_FIRST_CARD[holding], kind] += 1
            of_card[_SECOND_CARD[holding], kind] += 1
        start = end


@njit
def turn_features(board: NDArray[np.uint8], features: NDArray[np.uint8]) -> None:
    """Write the features of all holdings on a board of four cards.

    Args:
        board: four cards.
        features: output, shape (1326, 16), 0 for a holding that shares a card with the board.
    """
    order = np.empty(RIVER_HOLDINGS, np.uint16)
    full = np.empty(5, np.uint8)
    classes = np.empty((RIVER_HOLDINGS, CLASSES), np.uint8)
    strengths = np.empty(RIVER_HOLDINGS, np.uint16)
    sums = np.zeros((HOLDING_COUNT, FEATURES), np.int32)
    for index in range(4):
        full[index] = board[index]
    for card in range(52):
        if card == board[0] or card == board[1] or card == board[2] or card == board[3]:
            continue
        full[4] = card
        river_features(full, order, classes, strengths)
        # Sum over the rivers: equities by class, then 255 for each level that the strength does not reach.
        for index in range(RIVER_HOLDINGS):
            totals = sums[order[index]]
            for kind in range(CLASSES):
                totals[kind] += classes[index, kind]
            strength = np.int32(strengths[index])
            for level in range(LEVELS):
                if strength * (LEVELS + 1) < MAX_STRENGTH * (level + 1):
                    totals[CLASSES + level] += MAX_FEATURE
    # A holding sees 46 of the 48 river cards. The mean is rounded half up.
    for holding in range(HOLDING_COUNT):
        for feature in range(FEATURES):
            features[holding, feature] = (2 * sums[holding, feature] + 46) // 92


@njit
def canonical_key(board: NDArray[np.uint8], new_suits: NDArray[np.uint8]) -> int:
    """Return the key of the canonical board and write the new suit of each suit, as `suit_order` does.

    Args:
        board: three to five cards.
        new_suits: output, shape (4,).
    """
    ranks = np.zeros(4, np.int64)
    for card in board:
        ranks[card & 3] |= 1 << np.int64(card >> 2)
    key = 0
    # The place of a suit is the number of suits that precede it; equal ones keep their order.
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
    """Return the number of a holding after each suit has become `new_suits[suit]`."""
    first = _FIRST_CARD[holding]
    second = _SECOND_CARD[holding]
    return np.int64(_NUMBERS[(first & 0xFC) | new_suits[first & 3], (second & 0xFC) | new_suits[second & 3]])


@njit
def flop_features(
    flop: NDArray[np.uint8], keys: NDArray[np.int64], turns: NDArray[np.uint8], features: NDArray[np.uint8]
) -> None:
    """Write the features of all holdings on a flop, the means of those on all turns.

    Args:
        flop: three cards.
        keys: keys of the canonical boards of four cards, ascending, shape (16432,).
        turns: features on these boards, shape (16432, 1326, 16).
        features: output, shape (1326, 16), 0 for a holding that shares a card with the flop.
    """
    full = np.empty(4, np.uint8)
    new_suits = np.empty(4, np.uint8)
    sums = np.zeros((HOLDING_COUNT, FEATURES), np.int32)
    for index in range(3):
        full[index] = flop[index]
    for card in range(52):
        if card == flop[0] or card == flop[1] or card == flop[2]:
            continue
        full[3] = card
        row = np.searchsorted(keys, canonical_key(full, new_suits))
        # Sum over the turns; a holding with the turn's card adds 0.
        for holding in range(HOLDING_COUNT):
            turn_row = turns[row, rename_holding(np.int64(holding), new_suits)]
            for feature in range(FEATURES):
                sums[holding, feature] += turn_row[feature]
    # A holding sees 47 of the 49 turn cards. The mean is rounded half up.
    for holding in range(HOLDING_COUNT):
        for feature in range(FEATURES):
            features[holding, feature] = (2 * sums[holding, feature] + 47) // 94
