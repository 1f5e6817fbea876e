"""Hands of hold'em with random buckets, which cost nothing to compute."""

from __future__ import annotations

import numpy as np

from bots.cfr.abstraction import CardTables, ClusteredHands, FlopBuckets
from bots.cfr.boards import HOLDING_COUNT, canonical_boards, distinct_holdings

BUCKETS = (169, 7, 5, 6)


def random_hands() -> ClusteredHands:
    """Clusters around random centres."""
    numbers = np.random.default_rng(5)
    boards, starts = canonical_boards(3), [0]
    for board in boards.cards.tolist():
        starts.append(starts[-1] + int(distinct_holdings(board).max()) + 1)
    flops = FlopBuckets(boards.keys, np.array(starts), numbers.integers(0, 7, starts[-1]).astype(np.uint16))
    turns, rivers = (numbers.integers(0, 256, shape).astype(np.uint8) for shape in ((5, 16), (6, 8)))
    return ClusteredHands(BUCKETS, flops, turns, rivers)


def random_tables() -> CardTables:
    numbers = np.random.default_rng(6)
    flops, turns, rivers = (canonical_boards(cards).keys for cards in (3, 4, 5))
    of_rounds = [
        numbers.integers(0, count, (len(keys), HOLDING_COUNT), np.uint16)
        for count, keys in zip(BUCKETS[1:], (flops, turns, rivers), strict=True)
    ]
    return CardTables(flops, turns, rivers, of_rounds[0], of_rounds[1], of_rounds[2])
