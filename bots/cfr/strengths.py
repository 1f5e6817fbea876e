"""How strong every holding is on a board, compiled. The kernels validate nothing.

The strength of a holding on the river is what it wins and ties against the 990 holdings that an opponent may have:
twice the wins and once the ties, 0 to 1,980. All 1,081 holdings of a board are put in order once, and one sweep from
the weakest upwards counts those below, less those that share a card. Its *standing* is the same among all 1,081
holdings, itself and those that share a card included: 1 to 2,161. Standings ascend with the rank.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.cfr.abstraction import HOLDING_CARDS, HOLDING_COUNT, HOLDING_NUMBERS, Strengths, canonical_boards
from engine.cards import starting_hand
from engine.kernels.cards import BITS, KEYS, START
from engine.kernels.evaluation import seven_rank
from engine.kernels.jit import njit

_ON_RIVER: Final = 1081
"""Holdings that a full board leaves."""
MOST_STANDING: Final = 2162
NO_STRENGTH: Final = 0xFFFF
"""The strength of a holding that shares a card with the board."""

_STARTING_HANDS = np.array([starting_hand(cards) for cards in HOLDING_CARDS.tolist()], np.uint8)
_PARTS: Final = 64
"""Into which the boards are divided among threads."""
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
    key, cards = START, np.uint64(0)
    for card in board:
        key += KEYS[card]
        cards |= BITS[card]
    found, their_ranks = np.empty(_ON_RIVER, np.uint16), np.empty(_ON_RIVER, np.uint16)
    low, high = np.zeros(257, np.uint16), np.zeros(257, np.uint16)
    size = 0
    for holding in range(HOLDING_COUNT):
        one, other = _ONE[holding], _OTHER[holding]
        both = BITS[one] | BITS[other]
        if both & cards:
            continue
        rank = seven_rank(key + KEYS[one] + KEYS[other], cards | both)
        found[size], their_ranks[size] = holding, rank
        low[np.uint64(rank & _LOW_BYTE) + _NEXT] += _STEP
        high[np.uint64(rank >> _BYTE) + _NEXT] += _STEP
        size += 1
    # Sorted by the lower byte, then by the upper one, each of which keeps the order of equals.
    for byte in range(256):
        low[byte + 1] += low[byte]
        high[byte + 1] += high[byte]
    halfway = np.empty(_ON_RIVER, np.uint16)
    for at in range(_ON_RIVER):
        place = np.uint64(their_ranks[at] & _LOW_BYTE)
        halfway[low[place]] = at
        low[place] += _STEP
    for step in range(_ON_RIVER):
        at = halfway[step]
        place = np.uint64(their_ranks[at] >> _BYTE)
        order[high[place]], ranks[high[place]] = found[at], their_ranks[at]
        high[place] += _STEP


@njit
def river_strengths(board: NDArray[np.uint8], strengths: NDArray[np.uint16], standings: NDArray[np.int64]) -> None:
    """Write the strength of each holding, shape (1326,), on a full board; `NO_STRENGTH` where they share a card.

    Added to `standings`, shape (2163,), is how many holdings have each standing.
    """
    order, ranks = np.empty(_ON_RIVER, np.uint16), np.empty(_ON_RIVER, np.uint16)
    _order_by_rank(board, order, ranks)
    strengths[:] = NO_STRENGTH
    of_card = np.zeros(52, np.int64)
    below, start = 0, 0
    while start < _ON_RIVER:
        end = start
        # A holding that is weaker counts twice, and a tied one once: added in two halves.
        while end < _ON_RIVER and ranks[end] == ranks[start]:
            of_card[_ONE[order[end]]] += 1
            of_card[_OTHER[order[end]]] += 1
            end += 1
        below += end - start
        standings[below] += end - start
        for at in range(start, end):
            one, other = _ONE[order[at]], _OTHER[order[at]]
            # It has been counted itself: once among all, once with each of its cards.
            strengths[order[at]] = below - of_card[one] - of_card[other] + 1
        for at in range(start, end):
            of_card[_ONE[order[at]]] += 1
            of_card[_OTHER[order[at]]] += 1
        below += end - start
        start = end


@njit
def turn_sums(
    boards: NDArray[np.uint8],
    times: NDArray[np.int64],
    sums: NDArray[np.uint32],
    rivers: NDArray[np.int64],
) -> None:
    """Add the squared strengths of each holding over all river cards.

    Args:
        boards: of four cards, shape (boards, 4).
        times: how often each counts among the standings on rivers, shape (boards,).
        sums: shape (boards, 1326), zeros.
        rivers: shape (2163,), how many hands on rivers have each standing; added to.
    """
    strengths = np.empty(HOLDING_COUNT, np.uint16)
    full = np.empty(5, np.uint8)
    of_board = np.zeros(len(rivers), np.int64)
    for number in range(len(boards)):
        board = boards[number]
        for at in range(4):
            full[at] = board[at]
        of_board[:] = 0
        for card in range(52):
            if card == board[0] or card == board[1] or card == board[2] or card == board[3]:
                continue
            full[4] = card
            river_strengths(full, strengths, of_board)
            for holding in range(HOLDING_COUNT):
                strength = strengths[holding]
                if strength != NO_STRENGTH:
                    sums[number, holding] += np.uint32(strength) * np.uint32(strength)
        for standing in range(len(rivers)):
            rivers[standing] += times[number] * of_board[standing]


@njit
def canonical(board: NDArray[np.uint8], new_suits: NDArray[np.uint8]) -> int:
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
def renamed(holding: np.int64, new_suits: NDArray[np.uint8]) -> np.int64:
    """Return the number of a holding whose suits have new names."""
    one, other = _ONE[holding], _OTHER[holding]
    return np.int64(_NUMBERS[(one & 0xFC) | new_suits[one & 3], (other & 0xFC) | new_suits[other & 3]])


@njit
def flop_sums(
    flops: NDArray[np.uint8], keys: NDArray[np.int64], turns: NDArray[np.uint32], sums: NDArray[np.int64]
) -> None:
    """Add what `turn_sums` gives of each holding over all turn cards.

    Args:
        flops: shape (flops, 3).
        keys: of the canonical boards of four cards, ascending.
        turns: what `turn_sums` gave for them.
        sums: shape (flops, 1326), zeros.
    """
    full = np.empty(4, np.uint8)
    new_suits = np.empty(4, np.uint8)
    for number in range(len(flops)):
        flop = flops[number]
        for at in range(3):
            full[at] = flop[at]
        for card in range(52):
            if card == flop[0] or card == flop[1] or card == flop[2]:
                continue
            full[3] = card
            row = np.searchsorted(keys, canonical(full, new_suits))
            for holding in range(HOLDING_COUNT):
                sums[number, holding] += turns[row, renamed(np.int64(holding), new_suits)]


@njit
def deal_board(
    board: NDArray[np.uint8],
    flop: NDArray[np.uint8],
    flop_suits: NDArray[np.uint8],
    turn: NDArray[np.uint8],
    turn_suits: NDArray[np.uint8],
    cuts: NDArray[np.int64],
    ones: NDArray[np.uint8],
    others: NDArray[np.uint8],
    ties: NDArray[np.uint16],
    early: NDArray[np.uint8],
    parts: NDArray[np.int64],
) -> None:
    """Write the holdings that a board leaves, weakest first, with their buckets.

    Args:
        board: five cards: flop, turn, river.
        flop: the bucket of each holding on the canonical flop, shape (1326,).
        flop_suits: the new names of the suits there.
        turn: the same of the first four cards.
        turn_suits: the same.
        cuts: the least standing of each bucket on the river but the first.
        ones: shape (1081,), the lower card of each holding.
        others: shape (1081,), the other one.
        ties: shape (1081,), after the last holding of the same rank.
        early: shape (3, 1081), the buckets before the river.
        parts: shape (len(cuts) + 2,), where each bucket of the river begins.
    """
    order, ranks = np.empty(_ON_RIVER, np.uint16), np.empty(_ON_RIVER, np.uint16)
    _order_by_rank(board, order, ranks)
    bucket, start = 0, 0
    parts[0] = 0
    while start < _ON_RIVER:
        end = start
        while end < _ON_RIVER and ranks[end] == ranks[start]:
            end += 1
        while bucket < len(cuts) and start + end >= cuts[bucket]:
            bucket += 1
            parts[bucket] = start
        for at in range(start, end):
            holding = np.int64(order[at])
            ones[at], others[at] = _ONE[holding], _OTHER[holding]
            ties[at] = end
            early[0, at] = _STARTING_HANDS[holding]
            early[1, at] = flop[renamed(holding, flop_suits)]
            early[2, at] = turn[renamed(holding, turn_suits)]
        start = end
    while bucket < len(parts) - 1:
        bucket += 1
        parts[bucket] = _ON_RIVER


def all_strengths(threads: int = 1, progress: Callable[[float], None] | None = None) -> Strengths:
    """Count every showdown of every hand: about 800,000 boards, some 15 seconds of one core.

    `progress` is called now and then with the part that is done, 0 to 1.
    """
    boards = canonical_boards(4)
    size = len(boards.keys)
    turns = np.zeros((size, HOLDING_COUNT), np.uint32)
    edges = [size * part // _PARTS for part in range(_PARTS + 1)]

    def count(part: int) -> NDArray[np.int64]:
        which = slice(edges[part], edges[part + 1])
        of_part = np.zeros(MOST_STANDING + 1, np.int64)
        turn_sums(boards.cards[which], boards.times[which], turns[which], of_part)
        return of_part

    rivers = np.zeros(MOST_STANDING + 1, np.int64)
    pool = ThreadPoolExecutor(threads)
    try:
        for done, future in enumerate(as_completed([pool.submit(count, part) for part in range(_PARTS)]), 1):
            rivers += future.result()
            if progress is not None:
                progress(done / _PARTS)
    finally:
        pool.shutdown(cancel_futures=True)
    flops = np.zeros((len(canonical_boards(3).keys), HOLDING_COUNT), np.int64)
    flop_sums(canonical_boards(3).cards, boards.keys, turns, flops)
    return Strengths(flops, turns, rivers)


def compile_kernels() -> None:
    """Compile what `all_strengths` runs."""
    sums = np.zeros((1, HOLDING_COUNT), np.uint32)
    turn_sums(np.zeros((0, 4), np.uint8), np.zeros(0, np.int64), sums, np.zeros(MOST_STANDING + 1, np.int64))
    flop_sums(np.zeros((0, 3), np.uint8), np.zeros(0, np.int64), sums, np.zeros((1, HOLDING_COUNT), np.int64))
