"""What a hand is worth against one opponent's unseen cards, compiled: every showdown is counted.

`engine.kernels.showdowns.count_against_one` counts the same. Boards and hands that are alike in all that counts are
counted once here, times their number: where no flush is possible only ranks count; where one is, its suit and the ranks
of the other cards. For training, which asks millions of times in one process.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import FLUSHES, RANK_KEYS
from engine.kernels.evaluation import plain_seven_rank
from engine.kernels.jit import njit

_BOARD_CARDS: Final = 5
_NO_CARD: Final = 26
"""Beside the 26 kinds of cards: a rank, twice, plus one for the suit that matters."""
_ZERO = np.uint64(0)


@njit
def count_against_one(hole: NDArray[np.uint8], board: NDArray[np.uint8], counts: NDArray[np.int64]) -> None:
    """Add to counts every showdown against one opponent: all its hands with all boards to come, each once.

    Args:
        hole: our two cards.
        board: three to five cards.
        counts: at least three: lost, won and tied showdowns.
    """
    to_come = _BOARD_CARDS - len(board)
    left = np.full(14, 4, np.int64)
    left[13] = 1
    suited_left = np.zeros((4, 13), np.int64)
    suited_left[:] = 1
    board_ranks, hole_ranks = _ZERO, RANK_KEYS[hole[0] >> 2] + RANK_KEYS[hole[1] >> 2]
    ours, on_board, in_suit = np.zeros(4, np.int64), np.zeros(4, np.int64), np.zeros(4, np.int64)
    for card in hole:
        left[card >> 2] -= 1
        suited_left[card & 3, card >> 2] = 0
        ours[card & 3] |= 1 << np.int64(card >> 2)
    for card in board:
        left[card >> 2] -= 1
        suited_left[card & 3, card >> 2] = 0
        board_ranks += RANK_KEYS[card >> 2]
        on_board[card & 3] |= 1 << np.int64(card >> 2)
        in_suit[card & 3] += 1
    first_a, last_a = (0, _NO_CARD - 1) if to_come > 0 else (_NO_CARD, _NO_CARD)
    with_flush = np.zeros((14, 14), np.int64)
    size = np.ones(_NO_CARD + 1, np.int64)
    nothing = np.zeros(13, np.int64)
    for suit in range(4):
        if in_suit[suit] + to_come < 3:
            continue
        suited = suited_left[suit]
        for rank in range(13):
            size[2 * rank], size[2 * rank + 1] = left[rank] - suited[rank], suited[rank]
        for a in range(first_a, last_a + 1):
            for b in range(a if to_come == 2 else _NO_CARD, _NO_CARD if to_come == 2 else _NO_CARD + 1):
                # The kind of no card is even, too: it is of no suit.
                if in_suit[suit] + (a & 1) + (b & 1) < 3:
                    continue
                times = size[a] * size[b] if a != b or a == _NO_CARD else size[a] * (size[a] - 1) // 2
                if times == 0:
                    continue
                with_flush[a >> 1, b >> 1] += times
                ranks, mask = board_ranks, on_board[suit]
                for kind in (a, b):
                    if kind != _NO_CARD:
                        ranks += RANK_KEYS[kind >> 1]
                        left[kind >> 1] -= 1
                        if kind & 1:
                            suited[kind >> 1] = 0
                            mask |= 1 << (kind >> 1)
                suited_on_board = in_suit[suit] + (a & 1) + (b & 1)
                _compare(ranks, hole_ranks, mask, ours[suit], left, suited, suited_on_board, times, counts)
                for kind in (a, b):
                    if kind != _NO_CARD:
                        left[kind >> 1] += 1
                        suited[kind >> 1] |= kind & 1
    for a in range(first_a >> 1, (last_a >> 1) + 1):
        for b in range(a if to_come == 2 else 13, 13 if to_come == 2 else 14):
            ways = left[a] * left[b] if a != b or a == 13 else left[a] * (left[a] - 1) // 2
            times = ways - with_flush[a, b]
            if times == 0:
                continue
            ranks = board_ranks
            for rank in (a, b):
                if rank != 13:
                    ranks += RANK_KEYS[rank]
                    left[rank] -= 1
            _compare(ranks, hole_ranks, 0, 0, left, nothing, 0, times, counts)
            for rank in (a, b):
                if rank != 13:
                    left[rank] += 1


@njit
def _compare(
    ranks: np.uint64,
    hole_ranks: np.uint64,
    mask: int,
    ours: int,
    left: NDArray[np.int64],
    suited: NDArray[np.int64],
    on_board: int,
    times: int,
    counts: NDArray[np.int64],
) -> None:
    # `ranks` and `hole_ranks` are sums of rank keys; `mask` and `ours` are the board's and our ranks in the suit of a
    # possible flush, `suited` those cards among `left` that are of this suit.
    best = max(plain_seven_rank(ranks + hole_ranks), FLUSHES[mask | ours])
    won = tied = total = 0
    for a in range(13):
        of_a, suited_a, with_a = left[a], suited[a], ranks + RANK_KEYS[a]
        if of_a == 0:
            continue
        # No cards of one rank are left for a pair: its key leads beside the table.
        plain = plain_seven_rank(with_a + RANK_KEYS[a]) if of_a > 1 else np.uint16(0)
        ways = of_a * (of_a - 1) // 2
        total += ways
        if on_board > 3:
            # One of the two is suited, or none.
            plain = max(plain, FLUSHES[mask])
            one = suited_a * (of_a - 1)
            ways -= one
            theirs = max(plain, FLUSHES[mask | 1 << a])
            won += one if best > theirs else 0
            tied += one if best == theirs else 0
        won += ways if best > plain else 0
        tied += ways if best == plain else 0
        for b in range(a + 1, 13):
            ways = of_a * left[b]
            if ways == 0:
                continue
            total += ways
            plain = plain_seven_rank(with_a + RANK_KEYS[b])
            both = suited_a * suited[b]
            ways -= both
            if on_board > 3:
                # The first is suited, the second, or none.
                plain = max(plain, FLUSHES[mask])
                only_a, only_b = suited_a * left[b] - both, suited[b] * of_a - both
                ways -= only_a + only_b
                theirs = max(plain, FLUSHES[mask | 1 << a])
                won += only_a if best > theirs else 0
                tied += only_a if best == theirs else 0
                theirs = max(plain, FLUSHES[mask | 1 << b])
                won += only_b if best > theirs else 0
                tied += only_b if best == theirs else 0
            won += ways if best > plain else 0
            tied += ways if best == plain else 0
            if both:
                # With three on the board only both together make a flush, which is never also a full house.
                theirs = FLUSHES[mask | 1 << a | 1 << b]
                won += 1 if best > theirs else 0
                tied += 1 if best == theirs else 0
    counts[0] += times * (total - won - tied)
    counts[1] += times * won
    counts[2] += times * tied
