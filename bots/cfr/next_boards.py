"""Buckets of one holding on every board that the next cards can make.

`ClusteredHands.on` has all holdings of one board. Here one holding meets all 19,600 flops, 47 turns or 46 rivers, and
the features that decide its bucket are computed for it alone. The kernels validate nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.cfr.abstraction import ClusteredHands
from bots.cfr.boards import HOLDING_CARDS, HOLDING_COUNT, canonical_boards
from bots.cfr.clustering import assign_clusters
from bots.cfr.features import (
    CLASS_OF,
    CLASSES,
    FEATURES,
    LEVELS,
    MAX_FEATURE,
    MAX_STRENGTH,
    canonical_key,
    rename_holding,
)
from engine.kernels.cards import BITS, KEYS
from engine.kernels.evaluation import key_and_set, seven_rank
from engine.kernels.jit import njit
from engine.ranges import holding_number

_FLOPS: Final = np.array([*combinations(range(52), 3)], np.uint8)
_FIRST_CARD = HOLDING_CARDS[:, 0].copy()
_SECOND_CARD = HOLDING_CARDS[:, 1].copy()


class NextBoards(NamedTuple):
    """Boards that the next cards can make, and the buckets of a holding on them.

    Attributes:
        cards: the new cards, shape (boards, 3) for flops and (boards, 1) later.
        buckets: shape (boards,).
    """

    cards: NDArray[np.uint8]
    buckets: NDArray[np.uint16]


class HoldingBuckets:
    """Buckets of single holdings in one abstraction."""

    def __init__(self, hands: ClusteredHands) -> None:
        self._hands = hands

    def after(self, hole: Sequence[int], board: Sequence[int]) -> NextBoards:
        """Return the next boards of a holding before the flop, on the flop or on the turn.

        Args:
            hole: two cards, not on the board.
            board: none, three or four cards.
        """
        if not board:
            is_free = ~np.isin(_FLOPS, hole).any(axis=1)
            flops = _FLOPS[is_free]
            buckets = np.empty(len(flops), np.uint16)
            _find_flops(flops, np.int64(holding_number(*hole)), self._flop_keys, self._flop_table, buckets)
            return NextBoards(flops, buckets)
        used = {*hole, *board}
        cards = np.array([card for card in range(52) if card not in used], np.uint8)
        own = np.array(sorted(hole), np.uint8)
        shown = np.array(sorted(board), np.uint8)
        if len(board) == 3:
            features = np.zeros((52, FEATURES), np.uint8)
            _write_turns(own, shown, features)
            buckets = assign_clusters(features[cards], self._hands.turn_centres)
        else:
            classes = np.zeros((52, CLASSES), np.uint8)
            _write_rivers(own, shown, classes)
            buckets = assign_clusters(classes[cards], self._hands.river_centres)
        return NextBoards(cards[:, None], buckets)

    @cached_property
    def _flop_keys(self) -> NDArray[np.int64]:
        return canonical_boards(3).keys

    @cached_property
    def _flop_table(self) -> NDArray[np.uint16]:
        """Bucket of every holding on the canonical flops, shape (1755, 1326)."""
        boards = canonical_boards(3)
        table = np.empty((len(boards.keys), HOLDING_COUNT), np.uint16)
        for row, board in enumerate(boards.cards.tolist()):
            table[row] = self._hands.flops.on(board)
        return table


@njit
def _find_flops(
    flops: NDArray[np.uint8],
    holding: np.int64,
    keys: NDArray[np.int64],
    table: NDArray[np.uint16],
    buckets: NDArray[np.uint16],
) -> None:
    new_suits = np.empty(4, np.uint8)
    for number in range(len(flops)):
        row = np.searchsorted(keys, canonical_key(flops[number], new_suits))
        buckets[number] = table[row, rename_holding(holding, new_suits)]


@njit
def _write_turns(hole: NDArray[np.uint8], flop: NDArray[np.uint8], features: NDArray[np.uint8]) -> None:
    """Write the features of a holding with each turn, as `bots.cfr.features.turn_features` has them.

    Args:
        features: output, shape (52, 16), 0 where the card is not free.
    """
    sums = np.zeros((52, FEATURES), np.int32)
    classes = np.empty(CLASSES, np.uint8)
    board = np.empty(5, np.uint8)
    board[:3] = flop
    _, used = key_and_set(flop)
    used |= BITS[hole[0]] | BITS[hole[1]]
    # A pair of later cards is the turn and the river in either order, and counts for both turns.
    for first in range(52):
        if BITS[first] & used:
            continue
        board[3] = first
        for second in range(first + 1, 52):
            if BITS[second] & used:
                continue
            board[4] = second
            strength = _compare(hole, board, classes)
            for turn in (first, second):
                totals = sums[turn]
                for kind in range(CLASSES):
                    totals[kind] += classes[kind]
                for level in range(LEVELS):
                    if strength * (LEVELS + 1) < MAX_STRENGTH * (level + 1):
                        totals[CLASSES + level] += MAX_FEATURE
    # The mean over 46 rivers, rounded half up.
    for turn in range(52):
        for feature in range(FEATURES):
            features[turn, feature] = (2 * sums[turn, feature] + 46) // 92


@njit
def _write_rivers(hole: NDArray[np.uint8], turn: NDArray[np.uint8], classes: NDArray[np.uint8]) -> None:
    """Write the features of a holding with each river, shape (52, 8), 0 where the card is not free."""
    board = np.empty(5, np.uint8)
    board[:4] = turn
    _, used = key_and_set(turn)
    used |= BITS[hole[0]] | BITS[hole[1]]
    for river in range(52):
        if not BITS[river] & used:
            board[4] = river
            _compare(hole, board, classes[river])


@njit
def _compare(hole: NDArray[np.uint8], board: NDArray[np.uint8], classes: NDArray[np.uint8]) -> int:
    """Write the features of a holding on a full board, and return its strength, as `river_features` has them."""
    key, cards = key_and_set(board)
    own = BITS[hole[0]] | BITS[hole[1]]
    rank = seven_rank(key + KEYS[hole[0]] + KEYS[hole[1]], cards | own)
    used = cards | own
    won = np.zeros(CLASSES, np.int32)
    possible = np.zeros(CLASSES, np.int32)
    # Compare with the 990 holdings of an opponent: a win counts 2 and a tie 1.
    for holding in range(HOLDING_COUNT):
        first = _FIRST_CARD[holding]
        second = _SECOND_CARD[holding]
        both = BITS[first] | BITS[second]
        if both & used:
            continue
        other = seven_rank(key + KEYS[first] + KEYS[second], cards | both)
        kind = CLASS_OF[holding]
        possible[kind] += 2
        if rank > other:
            won[kind] += 2
        elif rank == other:
            won[kind] += 1
    strength = 0
    for kind in range(CLASSES):
        strength += won[kind]
        scaled = np.float32(MAX_FEATURE * won[kind]) / np.float32(max(possible[kind], 1))
        classes[kind] = np.uint8(scaled + np.float32(0.5))
    return strength
