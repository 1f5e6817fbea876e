"""Which hands of hold'em the solver cannot tell apart: buckets, round by round.

Before the flop there are the 169 starting hands, which lose nothing. On flop and turn a hand counts by the mean, over
all boards to come, of the square of what it wins and ties against the 990 holdings of an opponent: E[HS^2], which ranks
a draw above a made hand of the same chance to win (Johanson 2007, section 2.5.5). On the river it counts by its
standing among all holdings (`bots.cfr.strengths`). The hands of a round are cut into buckets of equally many hands. All
numbers are whole, so the same buckets come out everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_CARDS, HOLDING_COUNT, canonical_boards
from engine.starting_hands import STARTING_HANDS

__all__ = ["NO_BUCKET", "CardAbstraction", "Strengths", "all_strengths", "card_abstraction", "memory_bytes"]

NO_BUCKET: Final = 255
"""Of a holding that shares a card with the board."""
_PARTS: Final = 64
_BIN_BITS: Final = 12
"""The distribution of sums on the turn is counted in steps of 4,096, of a range of 180 million."""
_FLOP_BIN_BITS: Final = 18


class Strengths(NamedTuple):
    """How strong all hands of hold'em are.

    Attributes:
        flops: the sum of squared strengths over all turns and rivers in order, shape (1755, 1326).
        turns: the sum of squared strengths over all rivers, shape (16432, 1326).
        rivers: how many hands have each standing on the river, shape (2163,).
    """

    flops: NDArray[np.int64]
    turns: NDArray[np.uint32]
    rivers: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CardAbstraction:
    """Buckets by round.

    Attributes:
        buckets: how many each round has: 169, flop, turn, river.
        flops: the bucket of each holding on each canonical flop, shape (1755, 1326).
        turns: the same on boards of four cards, shape (16432, 1326).
        turn_cuts: the least sum of each bucket on the turn but the first, ascending.
        river_cuts: the least standing of each bucket on the river but the first, ascending.
    """

    buckets: tuple[int, ...]
    flops: NDArray[np.uint8]
    turns: NDArray[np.uint8]
    turn_cuts: NDArray[np.int64]
    river_cuts: NDArray[np.int64]


def memory_bytes() -> int:
    """What `all_strengths` and `card_abstraction` need at most, in bytes."""
    flops, turns = 1755 * HOLDING_COUNT, 16_432 * HOLDING_COUNT
    return 8 * flops + 4 * turns + 2 * (flops + turns) + 8 * turns


def all_strengths(threads: int = 1, progress: Callable[[float], None] | None = None) -> Strengths:
    """Count every showdown of every hand: about 800,000 boards, some 15 seconds of one core.

    Args:
        threads: how many count.
        progress: called now and then with the part of the work that is done, 0 to 1.
    """
    from bots.cfr.strengths import MOST_STANDING, flop_sums, turn_sums

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


def card_abstraction(strengths: Strengths, flop: int, turn: int, river: int) -> CardAbstraction:
    """Cut the hands of each round into buckets.

    Args:
        strengths: of all hands.
        flop: how many buckets there are on the flop.
        turn: and on the turn.
        river: and on the river; at most `bots.cfr.settings.MOST_BUCKETS` each.
    """
    flops, _ = _cut(strengths.flops, canonical_boards(3).cards, canonical_boards(3).times, flop, _FLOP_BIN_BITS)
    turns, turn_cuts = _cut(strengths.turns, canonical_boards(4).cards, canonical_boards(4).times, turn, _BIN_BITS)
    river_cuts = _quantiles(strengths.rivers, river)
    return CardAbstraction((len(STARTING_HANDS), flop, turn, river), flops, turns, turn_cuts, river_cuts)


def _quantiles(counts: NDArray[np.int64], buckets: int) -> NDArray[np.int64]:
    """The least value of each bucket but the first, such that all hold as equally many as whole values allow."""
    up_to = counts.cumsum()
    wanted = up_to[-1] * np.arange(1, buckets) // buckets
    found: NDArray[np.int64] = np.searchsorted(up_to, wanted, "right").astype(np.int64)
    return found


def _cut(
    sums: NDArray[np.int64] | NDArray[np.uint32],
    boards: NDArray[np.uint8],
    times: NDArray[np.int64],
    buckets: int,
    bin_bits: int,
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bucket of each hand of a round, and the cuts."""
    counts = np.zeros(1, np.int64)
    for row, board, ways in zip(sums, boards, times, strict=True):
        of_board = np.bincount(row[_live(board)] >> bin_bits).astype(np.int64) * ways
        if len(of_board) > len(counts):
            counts = np.pad(counts, (0, len(of_board) - len(counts)))
        counts[: len(of_board)] += of_board
    cuts = _quantiles(counts, buckets) << bin_bits
    found = np.empty(sums.shape, np.uint8)
    for row, board, out in zip(sums, boards, found, strict=True):
        out[:] = np.searchsorted(cuts, row, "right")
        out[~_live(board)] = NO_BUCKET
    return found, cuts


def _live(board: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which holdings have no card of a board."""
    dealt = np.zeros(52, bool)
    dealt[board] = True
    is_live: NDArray[np.bool_] = ~(dealt[HOLDING_CARDS[:, 0]] | dealt[HOLDING_CARDS[:, 1]])
    return is_live
