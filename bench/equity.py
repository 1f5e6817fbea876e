"""Chances to win against one opponent, compared with eval7.

Rates are showdowns per second of processor time of one core, so that the load of the machine hardly matters; both take
turns in every repeat, and ratios are computed within one. Compiling is not timed. eval7 gets all holdings as the
opponent's range, and does not count wins and ties separately.

There are two jobs: sampling showdowns with our compiled kernel, with none, three, four and five cards of the board
known; and counting all showdowns on the flop with the function for bots, which compiles nothing. eval7 counts on whole
boards only, so it is called for each turn and river. A note has the time of one call.
"""

from __future__ import annotations

import importlib
import statistics
import warnings
from collections.abc import Callable
from importlib import metadata
from itertools import combinations
from time import process_time
from typing import Any

from dealer.bench import Row
from engine.cards import CARD_TEXTS, Card, parse_cards
from engine.equity import ANY_HOLDING, compile_kernels, exact_equity, sampled_equity

OURS = "acpc-arena"
PEER = "eval7"
UNIT = "showdowns/s"
HOLE = parse_cards("AhKd")
BOARD = parse_cards("2h7dTc9s3h")
STREETS = (("preflop", 0), ("flop", 3), ("turn", 4), ("river", 5))
FLOP_SHOWDOWNS = 1_070_190
EXACT_CALLS = 20

_Run = Callable[[], object]


def measure(repeats: int = 7, trials: int = 1_000_000) -> list[Row]:
    """Measure our chances and those of eval7, whose rows are zeros with a note if it is not installed.

    Args:
        repeats: how often both are timed.
        trials: showdowns drawn each time.
    """
    compile_kernels()
    rows = []
    peer, note = _peer()
    for street, cards in STREETS:
        board = BOARD[:cards]
        sampled_equity(HOLE, board, trials=1)
        theirs = None if peer is None else peer.drawing(board, trials)
        rows += _compared(f"drawn, {street}", _drawing(board, trials), theirs, trials, 1, repeats, note)
    flop = BOARD[:3]
    exact_equity(HOLE, flop)
    theirs = None if peer is None else peer.counting(flop)
    rows += _compared("counted, flop", _counting(flop), theirs, FLOP_SHOWDOWNS, EXACT_CALLS, repeats, note)
    return rows


def _drawing(board: tuple[Card, ...], trials: int) -> _Run:
    return lambda: sampled_equity(HOLE, board, trials=trials)


def _counting(board: tuple[Card, ...]) -> _Run:
    def run() -> None:
        for _ in range(EXACT_CALLS):
            exact_equity(HOLE, board)

    return run


class _Peer:
    """The two functions of eval7, with cards and range prepared."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._hole = self._cards(HOLE)
        self._range = library.HandRange(", ".join("".join(CARD_TEXTS[card] for card in cards) for cards in ANY_HOLDING))

    def drawing(self, board: tuple[Card, ...], trials: int) -> _Run:
        """Estimate one chance by Monte Carlo."""
        cards = self._cards(board)
        return lambda: self._library.py_hand_vs_range_monte_carlo(self._hole, self._range, cards, trials)

    def counting(self, flop: tuple[Card, ...]) -> _Run:
        """Enumerate all boards with this flop."""
        unseen = [card for card in range(52) if card not in {*HOLE, *flop}]
        boards = [self._cards((*flop, *rest)) for rest in combinations(unseen, 2)]

        def run() -> None:
            for board in boards:
                self._library.py_hand_vs_range_exact(self._hole, self._range, board)

        return run

    def _cards(self, cards: tuple[Card, ...]) -> list[Any]:
        return [self._library.Card(CARD_TEXTS[card]) for card in cards]


def _peer() -> tuple[_Peer | None, str]:
    """Import the peer; return it with its version, or None."""
    with warnings.catch_warnings():
        # What it uses of others is outdated here and there.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            library = importlib.import_module(PEER)
        except ImportError:
            return None, "not installed"
        return _Peer(library), f"{PEER} {metadata.version(PEER)}"


def _compared(
    group: str, ours: _Run, theirs: _Run | None, showdowns: int, our_calls: int, repeats: int, note: str
) -> list[Row]:
    """Time both contenders in each repeat."""
    times: list[tuple[float, float]] = []
    for _ in range(repeats):
        own_s = _seconds(ours) / our_calls
        times.append((own_s, _seconds(theirs) if theirs is not None else 0.0))
    own = [showdowns / own_s for own_s, _ in times]
    call_ms = 1000 * statistics.median(own_s for own_s, _ in times)
    rows = [Row(group, OURS, statistics.median(own), min(own), max(own), UNIT, None, f"{call_ms:.2f} ms")]
    if theirs is None:
        return [*rows, Row(group, PEER, 0.0, 0.0, 0.0, UNIT, None, note)]
    rates = [showdowns / peer_s for _, peer_s in times]
    ratio = statistics.median(peer_s / own_s for own_s, peer_s in times)
    call_ms = 1000 * statistics.median(peer_s for _, peer_s in times)
    return [
        *rows,
        Row(group, note, statistics.median(rates), min(rates), max(rates), UNIT, ratio, f"{call_ms:.2f} ms"),
    ]


def _seconds(run: _Run) -> float:
    """Measure the processor time of a run."""
    start = process_time()
    run()
    return process_time() - start
