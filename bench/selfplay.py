"""Self-play of ten-handed limit hold'em: the kernel of the training, plain Python, and pokerkit.

"training kernel" has an evolved player, the shipped champion by default, in all ten seats, on deals whose strengths
and chances are known ahead, on one core and on two. Hands are counted as in the training, where those that see no flop
need not be played. "self_play" deals and plays every hand in plain Python, with bots that follow the training's charts
before the flop and draw their actions after it; pokerkit plays the very same hands, action by action, and its payoffs
are checked against ours. What is done once is not timed: compiling, making deals, turning cards and actions into
pokerkit's.

All take turns in every repeat. Rates are by the processor time of one core, which the load of a machine hardly changes;
those of two cores are by the clock as well, where other programs count against them.
"""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib import metadata
from time import perf_counter, process_time
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from bots.baseline import RandomBot
from bots.evolved.chromosome import CHAMPION, GENES, chart, chart_position, read_chromosome
from bots.evolved.training import OPPONENTS, TableEvaluator
from bots.sdk.selfplay import self_play
from bots.sdk.view import View
from bots.workers import Workers, local_workers
from dealer.bench import Row
from engine import Action, ActionKind
from engine.cards import format_cards, starting_hand
from logs import HandRecord
from protocol import find_game

GROUP: Final = "self-play, ten-handed limit hold'em"
UNIT: Final = "hands/s"
PEER: Final = "pokerkit"
PLAYERS: Final = OPPONENTS + 1
CORES: Final = 2
DEALS: Final = 200
TRIALS: Final = 100
SEED: Final = 20_241
PYTHON_HANDS: Final = 1_000
PEERS_HANDS: Final = 40
"""Share of the hands for pokerkit, which is much slower."""


class _Times(NamedTuple):
    """Time of one repeat of a contender.

    Attributes:
        hands: played.
        processor_s: of all processes.
        clock_s: from beginning to end.
    """

    hands: int
    processor_s: float
    clock_s: float


def measure(repeats: int = 5, individuals: int = 50, chromosome: str = CHAMPION) -> list[Row]:
    """Measure the kernel, `self_play` and pokerkit, whose row is zeros with a note if it is not installed.

    Args:
        repeats: how often each program is timed.
        individuals: played in each, 20,000 hands each.
        chromosome: the file of the player who has all ten seats.

    Raises:
        BotFileError: the file cannot be read.
        RuntimeError: the payoffs of pokerkit differ.
    """
    evaluator = TableEvaluator(DEALS, SEED, TRIALS, "reward", True)
    chromosomes = np.array(read_chromosome(chromosome).thresholds, np.int16).reshape(1, GENES, 2)
    table = np.repeat(chromosomes, PLAYERS, axis=0)
    entrants = np.repeat(table[:1], individuals, axis=0)
    hands = 100 * DEALS * individuals
    records = list(chart_hands(PYTHON_HANDS))
    peer, note = pokerkit_play(records[:PEERS_HANDS])
    times: dict[str, list[_Times]] = {}
    with ExitStack() as stack:
        workers = stack.enter_context(local_workers(CORES))
        _play(evaluator, entrants[:1], table[1:])
        _spread(workers, evaluator, entrants[: 4 * CORES], table[1:])
        contenders: dict[str, Callable[[], _Times]] = {
            "training kernel, 1 core": lambda: _timed(hands, lambda: _play(evaluator, entrants, table[1:])),
            f"training kernel, {CORES} cores": lambda: _spread(workers, evaluator, entrants, table[1:]),
            "self_play, plain Python": lambda: _timed(PYTHON_HANDS, lambda: list(chart_hands(PYTHON_HANDS))),
        }
        if peer is not None:
            contenders[note] = lambda: _timed(PEERS_HANDS, peer)
        for _ in range(repeats):
            for who, run in contenders.items():
                times.setdefault(who, []).append(run())
    rows = _rows(times)
    return rows if peer is not None else [*rows, Row(GROUP, PEER, 0.0, 0.0, 0.0, UNIT, None, note)]


def _rows(times: dict[str, list[_Times]]) -> list[Row]:
    first, *_ = times.values()
    rows = []
    for who, taken in times.items():
        cost_us = statistics.median(1e6 * one.processor_s / one.hands for one in taken)
        note = f"{cost_us:,.3g} µs of a processor per hand"
        cores = CORES if who.endswith(f"{CORES} cores") else 1
        by_processor = [cores * one.hands / one.processor_s for one in taken]
        ratios = [
            (ours.hands / ours.processor_s) / (rate / cores) for ours, rate in zip(first, by_processor, strict=True)
        ]
        ratio = None if taken is first else statistics.median(ratios)
        rows.append(_row(who, by_processor, ratio, note))
        if cores > 1:
            by_clock = [one.hands / one.clock_s for one in taken]
            rows.append(_row(f"{who}, by the clock", by_clock, None, "less what other programs took"))
    return rows


def _row(who: str, rates: Sequence[float], ratio: float | None, note: str) -> Row:
    return Row(GROUP, who, statistics.median(rates), min(rates), max(rates), UNIT, ratio, note)


def _timed(hands: int, run: Callable[[], object]) -> _Times:
    clock_s, processor_s = perf_counter(), process_time()
    run()
    return _Times(hands, process_time() - processor_s, perf_counter() - clock_s)


# ---- ours


def _play(evaluator: TableEvaluator, entrants: Any, opponents: Any) -> float:
    """Play the individuals; return the processor time."""
    # Deals the hands, which every process does once.
    evaluator(entrants[:0], np.zeros(0, np.uint64), opponents)
    began_s = process_time()
    evaluator(entrants, np.zeros(len(entrants), np.uint64), opponents)
    return process_time() - began_s


def _spread(workers: Workers, evaluator: TableEvaluator, entrants: Any, opponents: Any) -> _Times:
    parts = np.array_split(entrants, 4 * CORES)
    clock_s = perf_counter()
    taken = workers.map(_play, [evaluator] * len(parts), parts, [opponents] * len(parts))
    return _Times(100 * DEALS * len(entrants), sum(taken), perf_counter() - clock_s)


class _ChartBot(RandomBot):
    """A bot that plays the charts of the training before the flop and draws its actions after it."""

    def act(self, view: View) -> Action:
        if view.board:
            return super().act(view)
        raises = sum(action.kind is ActionKind.RAISE for _, action in view.actions_by_round[0])
        position = chart_position(view.position, view.num_players)
        kind = chart()[position][starting_hand(view.hole_cards)][min(raises, 3)]
        if kind == 2 and view.can_raise:
            return view.raise_min()
        return view.fold() if kind == 0 and view.can_fold else view.call()


def chart_hands(hands: int) -> Iterator[HandRecord]:
    """Play hands of ten bots that follow the charts before the flop and draw actions after it."""
    bots = [_ChartBot(seed=seat) for seat in range(PLAYERS)]
    return self_play("limit10", bots, deals=hands, seed=SEED, seating="single")


# ---- pokerkit


def pokerkit_play(records: Sequence[HandRecord]) -> tuple[Callable[[], object] | None, str]:
    """Make a function that plays the hands with pokerkit; None if it is not installed.

    Raises:
        RuntimeError: its payoffs differ.
    """
    try:
        library = importlib.import_module(PEER)
    except ImportError:
        return None, "not installed"
    game = find_game("limit10")[1]
    by_hand = (library.Automation.CARD_BURNING, library.Automation.HOLE_DEALING, library.Automation.BOARD_DEALING)
    automatic = tuple(one for one in library.Automation if one not in by_hand)
    bets = (game.raise_sizes[0], game.raise_sizes[-1])
    table = library.FixedLimitTexasHoldem(automatic, True, 0, game.blinds[:2], *bets, mode=library.Mode.CASH_GAME)
    scripts = [_script(record) for record in records]
    for record, script in zip(records, scripts, strict=True):
        paid = list(map(float, _replayed(table, game.stacks[0], script).payoffs))
        # A chip that cannot be divided goes to one of those who share it.
        if any(abs(one - other) > 1 for one, other in zip(paid, record.values, strict=True)):
            raise RuntimeError(f"{PEER} pays {paid} in hand {record.hand_number}, not {list(record.values)}")
    return (
        lambda: [_replayed(table, game.stacks[0], script) for script in scripts],
        f"{PEER} {metadata.version(PEER)}",
    )


_Script: TypeAlias = list[tuple[str, tuple[str, ...]]]
"""Methods of a state of pokerkit, each with its arguments, from the first card to the last action."""

_METHODS: Final = {
    ActionKind.FOLD: "fold",
    ActionKind.CALL: "check_or_call",
    ActionKind.RAISE: "complete_bet_or_raise_to",
}


def _script(record: HandRecord) -> _Script:
    script: _Script = [("deal_hole", (format_cards(cards),)) for cards in record.deal.hole_cards]
    dealt = 0
    for cards, actions in zip(record.game.num_board_cards, record.betting.rounds, strict=False):
        if cards:
            script.append(("burn_card", ("??",)))
            script.append(("deal_board", (format_cards(record.deal.board[dealt : dealt + cards]),)))
            dealt += cards
        script += [(_METHODS[action.kind], ()) for _, action in actions]
    return script


def _replayed(table: Any, stack: int, script: _Script) -> Any:
    state = table(stack, PLAYERS)
    for method, arguments in script:
        getattr(state, method)(*arguments)
    return state
