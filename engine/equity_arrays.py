"""Showdowns counted with numpy: what a process that plays counts with, before or without the compiled kernels.

Functions on arrays that validate nothing: `engine.equity` does, and is what to call. `engine.kernels.equity` holds the
same functions compiled; both count the same showdowns in the same order of random numbers, so they give equal counts.

Keys, hash and flush bit are those of `engine.kernels.cards`, in int64, which is what numpy indexes with: anything
else is converted on every look-up.

Every hand that an opponent may have with every board that may come is a choice of few cards among those unseen, and
the same cards are chosen again with other roles: on the flop four cards are two of the board and two of the opponent
in six ways, and the seven cards are the same seven each time. So each choice is ranked once and compared once per way,
which leaves 178,365 hands to rank of 1,070,190 showdowns. The choices are the same for all hands: they are made once
per process, the flop's in 20 ms and 14 MB.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.kernels.cards import BITS, FLUSH, FLUSHES, KEYS, OFFSETS, RANKS_ONLY, ROW_BITS, START, SUIT_MASK, VALUES
from engine.splitmix import STEP

__all__ = ["count_exact", "count_sampled"]

Counts = NDArray[np.int64]
"""Showdowns by outcome: at 0 the lost ones, at k those in which k players, we among them, have the best hand."""

_BOARD_CARDS: Final = 5
_BLOCK_TRIALS: Final = 1024
"""Trials made at once: their arrays stay in the processor's cache."""

_BLOCK_CHOICES: Final = 1 << 14
"""Choices ranked at once: half the time of all at once, whose arrays the system gives and takes back every time."""

_ROW_BITS: Final = int(ROW_BITS[6])
_ROW: Final = (1 << _ROW_BITS) - 1
_OFFSETS: Final = OFFSETS[6].astype(np.int64)
_VALUES: Final = VALUES[6]
_RANKS_ONLY: Final = int(RANKS_ONLY)
_START: Final = int(START)
_FLUSH: Final = int(FLUSH)
_SUIT_MASK: Final = int(SUIT_MASK)
_KEYS: Final = KEYS.astype(np.int64)
_BITS: Final = BITS.astype(np.int64)

_STEP: Final = np.uint64(STEP)
_FACTORS: Final = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS: Final = np.uint64(30), np.uint64(27), np.uint64(31)
_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64(0xFFFFFFFF)


def count_exact(hole: NDArray[np.uint8], board: NDArray[np.uint8], unseen: NDArray[np.uint8], counts: Counts) -> None:
    """Add to counts every showdown against one opponent: all its hands with all boards to come, each once.

    Args:
        hole: our two cards.
        board: three to five cards.
        unseen: the others of the deck, ascending.
        counts: at least three.
    """
    to_come = _BOARD_CARDS - len(board)
    keys, bits = _KEYS[unseen], _BITS[unseen]
    board_key, board_bits = _START + int(_KEYS[board].sum()), int(_BITS[board].sum())

    boards, blocks = _choices(len(unseen), to_come)
    our_key, our_bits = board_key + int(_KEYS[hole].sum()), board_bits + int(_BITS[hole].sum())
    ours = _rank(_sum_rows(keys, boards) + our_key, partial(_bits_of, bits, boards, our_bits))

    showdowns = wins = ties = 0
    for chosen, roles in blocks:
        theirs = _rank(_sum_rows(keys, chosen) + board_key, partial(_bits_of, bits, chosen, board_bits))
        for board_numbers in roles:
            our_ranks = ours.take(board_numbers)
            wins += int(np.count_nonzero(our_ranks > theirs))
            ties += int(np.count_nonzero(our_ranks == theirs))
        showdowns += roles.size
    counts[0] += showdowns - wins - ties
    counts[1] += wins
    counts[2] += ties


def count_sampled(
    hole: NDArray[np.uint8],
    board: NDArray[np.uint8],
    unseen: NDArray[np.uint8],
    opponents: int,
    trials: int,
    start: int,
    counts: Counts,
) -> None:
    """Add `trials` showdowns to counts; each draws the opponents' cards and the cards to come anew.

    In each trial the unseen cards are shuffled as far as cards are needed (Fisher and Yates): first the rest of the
    board, then two cards for each opponent. Word i of the random numbers is SplitMix64's mixing of ``start`` plus i
    steps, counted from 1; its upper half makes one draw, its lower half the next, and every trial begins with a new
    word. A half chooses among m cards by multiplication: each has its chance to one part in 2**32 / m.

    Args:
        hole: our two cards.
        board: none, or three to five cards.
        unseen: the others of the deck, ascending.
        opponents: how many, 1 to 9.
        trials: how many showdowns.
        start: of the random numbers, 64 bits.
        counts: at least ``opponents + 2``.
    """
    for first in range(0, trials, _BLOCK_TRIALS):
        _count_block(hole, board, unseen, opponents, first, min(_BLOCK_TRIALS, trials - first), start, counts)


def _count_block(
    hole: NDArray[np.uint8],
    board: NDArray[np.uint8],
    unseen: NDArray[np.uint8],
    opponents: int,
    first: int,
    trials: int,
    start: int,
    counts: Counts,
) -> None:
    to_come = _BOARD_CARDS - len(board)
    drawn = _draw(unseen, to_come + 2 * opponents, first, trials, start)
    keys = _KEYS.take(drawn)
    boards = keys[:to_come].sum(axis=0) + (_START + int(_KEYS[board].sum()))
    hands = np.empty((1 + opponents, trials), np.int64)
    np.add(boards, _KEYS[hole].sum(), out=hands[0])
    np.add(keys[to_come::2], keys[to_come + 1 :: 2], out=hands[1:])
    hands[1:] += boards

    def bits_of(which: NDArray[np.intp]) -> NDArray[np.int64]:
        """The cards of the hands so numbered: ours in every trial, then the first opponent's..."""
        player, trial = np.divmod(which, trials)
        place = to_come + 2 * np.maximum(player - 1, 0)
        bits = _BITS[drawn[:to_come, trial]].sum(axis=0) + _BITS[board].sum()
        bits += np.where(player, _BITS[drawn[place, trial]] + _BITS[drawn[place + 1, trial]], _BITS[hole].sum())
        return np.asarray(bits, np.int64)

    ranks = _rank(hands.reshape(-1), bits_of).reshape(hands.shape)
    ours, theirs = ranks[0], ranks[1:]
    best = theirs.max(axis=0)
    is_tie = ours == best
    winners = (ours > best).astype(np.int64)
    if is_tie.any():
        winners[is_tie] = 1 + np.count_nonzero(theirs[:, is_tie] == best[is_tie], axis=0)
    counts += np.bincount(winners, minlength=len(counts))


def _draw(unseen: NDArray[np.uint8], draws: int, first: int, trials: int, start: int) -> NDArray[np.int64]:
    """The cards drawn, shape (draws, trials), in the trials from number `first` on."""
    words = (draws + 1) // 2
    numbers = np.arange(first * words + 1, (first + trials) * words + 1, dtype=np.uint64)
    word = _mix(numbers * _STEP + np.uint64(start)).reshape(trials, words).T
    places = np.empty((2 * words, trials), np.int64)
    places[0::2] = word >> _HALF
    places[1::2] = word & _LOW_HALF
    done = np.arange(2 * words)[:, np.newaxis]
    places *= len(unseen) - done
    places >>= 32
    places += done
    # All decks in one row, the first cards of all trials before the second ones.
    places *= trials
    places += np.arange(trials)
    decks = np.repeat(unseen.astype(np.int64), trials)
    drawn = np.empty((draws, trials), np.int64)
    for draw in range(draws):
        decks.take(places[draw], out=drawn[draw], mode="clip")  # in bounds, and "clip" spares a copy
        decks[places[draw]] = decks[draw * trials : (draw + 1) * trials]
    return drawn


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's mixing."""
    words = (words ^ words >> _SHIFTS[0]) * _FACTORS[0]
    words = (words ^ words >> _SHIFTS[1]) * _FACTORS[1]
    return words ^ words >> _SHIFTS[2]


def _rank(keys: NDArray[np.int64], bits_of: Callable[[NDArray[np.intp]], NDArray[np.int64]]) -> NDArray[np.uint16]:
    """The ranks of hands of seven cards.

    Args:
        keys: the sum of each hand's keys and `_START`.
        bits_of: the cards, as a set of bits, of the hands with these numbers; asked for flushes only.
    """
    plain = keys & _RANKS_ONLY
    ranks = _VALUES.take((plain >> _ROW_BITS) + _OFFSETS.take(plain & _ROW))
    flushes = np.flatnonzero(keys & _FLUSH)
    if len(flushes):
        bits = bits_of(flushes)
        of_suits = [FLUSHES.take(bits >> shift & _SUIT_MASK) for shift in (0, 13, 26, 39)]
        ranks[flushes] = np.maximum.reduce(of_suits)
    return ranks


def _sum_rows(values: NDArray[np.int64], rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """The sums of the values at the places of each column."""
    total = np.zeros(rows.shape[1], np.int64)
    for row in rows:
        total += values.take(row)
    return total


def _bits_of(bits: NDArray[np.int64], rows: NDArray[np.intp], known: int, which: NDArray[np.intp]) -> NDArray[np.int64]:
    """The cards known, and those at the places of these columns, as sets of bits."""
    return _sum_rows(bits, rows[:, which]) + known


_Blocks = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


@cache
def _choices(unseen: int, to_come: int) -> tuple[NDArray[np.intp], _Blocks]:
    """All boards to come, and all choices of an opponent's cards and a board's, with the roles their cards may play.

    Returns:
        The places of the boards' cards, shape (to_come, boards). And blocks of choices, of each two arrays: the places
        of the chosen cards, shape (2 + to_come, choices), and for each way to give the board its part of them the
        number of that board, shape (ways, choices).
    """
    chosen = _subsets(unseen, 2 + to_come)
    ways = []
    for rows in combinations(chosen, to_come):
        if to_come == 2:
            low, high = rows
            ways.append(low * (2 * unseen - low - 3) // 2 + high - 1)
        else:
            ways.append(rows[0] if rows else np.zeros(chosen.shape[1], np.intp))
    ends = range(_BLOCK_CHOICES, chosen.shape[1], _BLOCK_CHOICES)
    parts = (np.array_split(whole, ends, axis=1) for whole in (chosen, np.stack(ways)))
    blocks = [
        (np.ascontiguousarray(places), np.ascontiguousarray(boards)) for places, boards in zip(*parts, strict=True)
    ]
    return _subsets(unseen, to_come), blocks


def _subsets(unseen: int, size: int) -> NDArray[np.intp]:
    """All choices of `size` places out of 0..unseen-1, in order, shape (size, choices)."""
    rows: list[NDArray[np.intp]] = []
    for _ in range(size):
        # Every choice so far goes on with each place behind its last one.
        last = rows[-1] if rows else np.array([-1])
        follow = unseen - 1 - last
        ends = np.cumsum(follow)
        rows = [np.repeat(row, follow) for row in rows]
        rows.append(np.arange(ends[-1]) - np.repeat(ends - follow - last - 1, follow))
    return np.stack(rows) if rows else np.empty((0, 1), np.intp)
