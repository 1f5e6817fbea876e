"""Hold'em hands with random buckets, which are cheap to make, and plans of small games."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from bots.cfr.abstraction import CardTables, ClusteredHands, FlopBuckets
from bots.cfr.boards import HOLDING_COUNT, canonical_boards, distinct_holdings
from bots.cfr.small_games import SmallGame
from bots.solving.sequence_form import Plans

BUCKETS = (169, 7, 5, 6)


@cache
def flop_starts() -> tuple[int, ...]:
    """Count the distinct hands on the canonical flops before each flop, and in total."""
    starts = [0]
    for board in canonical_boards(3).cards.tolist():
        starts.append(starts[-1] + int(distinct_holdings(board).max()) + 1)
    return tuple(starts)


def random_hands(seed: int = 5, buckets: tuple[int, int, int, int] = BUCKETS) -> ClusteredHands:
    """Return clusters around random centres."""
    numbers = np.random.default_rng(seed)
    boards, starts = canonical_boards(3), flop_starts()
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


def plans_of(game: SmallGame, strategy: NDArray[np.float64]) -> Plans:
    """Convert a strategy of a small game, in file order, to plans."""
    plans, place = [np.ones(game.form.plan_shape(player)) for player in range(2)], 0
    for player, of_boards in game.decisions():
        count, of_board = len(of_boards[0][0].actions), len(of_boards[0][1])
        size = len(of_boards) * of_board
        of_node = strategy[place : place + count * size].reshape(count, size)
        place += count * size
        for at, (choice, order) in enumerate(of_boards):
            played = of_node[:, at * of_board : (at + 1) * of_board]
            plans[player][choice.sequences, order] = plans[player][choice.parent, order] * played
    assert place == len(strategy)
    return tuple(plans)
