"""Hands of hold'em with random buckets, which cost nothing to compute."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bots.cfr.abstraction import CardTables, ClusteredHands, FlopBuckets
from bots.cfr.boards import HOLDING_CARDS, HOLDING_COUNT, canonical_boards, distinct_holdings
from bots.cfr.deals import BoardArrays
from bots.cfr.features import ON_RIVER, order_by_rank

BUCKETS = (169, 7, 5, 6)


def random_hands(seed: int = 5, buckets: tuple[int, int, int, int] = BUCKETS) -> ClusteredHands:
    """Clusters around random centres."""
    numbers = np.random.default_rng(seed)
    boards, starts = canonical_boards(3), [0]
    for board in boards.cards.tolist():
        starts.append(starts[-1] + int(distinct_holdings(board).max()) + 1)
    flops = FlopBuckets(boards.keys, np.array(starts), numbers.integers(0, buckets[1], starts[-1]).astype(np.uint16))
    turns, rivers = (numbers.integers(0, 256, shape).astype(np.uint8) for shape in ((buckets[2], 16), (buckets[3], 8)))
    return ClusteredHands(buckets, flops, turns, rivers)


def random_tables(buckets: tuple[int, int, int, int] = BUCKETS) -> CardTables:
    numbers = np.random.default_rng(6)
    flops, turns, rivers = (canonical_boards(cards).keys for cards in (3, 4, 5))
    of_rounds = [
        numbers.integers(0, count, (len(keys), HOLDING_COUNT), np.uint16)
        for count, keys in zip(buckets[1:], (flops, turns, rivers), strict=True)
    ]
    return CardTables(flops, turns, rivers, of_rounds[0], of_rounds[1], of_rounds[2])


def board_arrays(hands: Sequence[ClusteredHands], board: Sequence[int]) -> BoardArrays:
    """A full board as a walk takes it, with the buckets of two players."""
    order, ranks = np.empty(ON_RIVER, np.uint16), np.empty(ON_RIVER, np.uint16)
    order_by_rank(np.array(board, np.uint8), order, ranks)
    return BoardArrays(
        HOLDING_CARDS[order, 0],
        HOLDING_CARDS[order, 1],
        np.searchsorted(ranks, ranks, "right").astype(np.uint16),
        np.array([[one.on(tuple(board[:cards]))[order] for cards in (0, 3, 4, 5)] for one in hands], np.uint16),
    )
