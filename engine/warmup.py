"""Calls that compile every kernel of the engine, for ``arena warmup``.

A kernel is compiled for the types of its arguments, so these calls use those of the real callers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from engine.batch import MAX_CARDS, rank_hands
from engine.duels import duel_counts
from engine.equity import compile_kernels, sampled_equity
from engine.kernels.matchups import compile_matchups
from engine.kernels.ranges import find_shares
from engine.ranges import chances_of_all, shares_against

_ACES = (48, 49)
_KINGS = (44, 45)
_FLOP = (0, 5, 10)


def _rank() -> None:
    for cards in range(1, MAX_CARDS + 1):
        rank_hands(np.arange(cards, dtype=np.uint8).reshape(1, cards))


def _sample() -> None:
    compile_kernels()
    for board in ((), _FLOP):
        sampled_equity(_ACES, board, opponents=2, trials=1)


def _find_shares() -> None:
    cards = np.array([[*_ACES, *_KINGS, *_FLOP, 15, 20]], np.uint8)
    pot = np.zeros(1, np.int64)
    members = np.array([3], np.uint64)
    known = np.array([5], np.int64)
    streams = np.zeros(1, np.uint64)
    shares = np.zeros((1, 2))
    find_shares(cards, pot, members, known, streams=streams, draws=1, duels=duel_counts(), shares=shares)


def _count_ranges() -> None:
    chances_of_all(_FLOP)
    shares_against(_ACES, _FLOP)
    shares_against(_ACES, ())


ENGINE_JOBS: Final[tuple[tuple[str, Callable[[], None]], ...]] = (
    ("ranks of many hands", _rank),
    ("sampled chances to win", _sample),
    ("shares of pots before the board is complete", _find_shares),
    ("all holdings at once", _count_ranges),
    ("matchups before the flop", compile_matchups),
)
"""Purpose of each group of kernels, and the call that compiles it."""
