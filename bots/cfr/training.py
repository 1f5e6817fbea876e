"""Train a strategy of ``cfr`` in a folder from which it can be resumed.

The folder holds ``cfr.checkpoint`` (settings, progress, regrets and averages, in the format of `bots.artifact`),
``cfr.buckets`` (buckets of all hands of hold'em) and, at the end, ``cfr.strategy``. A training that was killed resumes
from its checkpoint and yields the same strategy, bit by bit, after the same number of iterations.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.artifact import Artifact, FileKind, as_arrays, read_artifact, write_artifact
from bots.cfr.abstraction import CardTables, cluster_hands, load_hands, max_table_bytes
from bots.cfr.merged_tree import MergedTree, merged_tree
from bots.cfr.sampling import SampledSolver, as_strategy, draw_deals
from bots.cfr.small_games import RankBuckets, SmallGame, Solver
from bots.cfr.strategy_files import write_strategy
from bots.cfr.training_settings import CfrSettings
from bots.cfr.tree import (
    HOLDEM_SIZES,
    ROUND_SIZES,
    BettingTree,
    betting_tree,
    default_caps,
    read_raises,
)
from bots.errors import BotFileError, SolvingError
from bots.long_run import ShowProgress, Words, locked_run, require_same_settings, run_steps, show_nothing, uninterrupted
from bots.solving.equilibria import Discounts
from bots.workers import Workers
from engine.holdem import is_dealt_as_holdem
from engine.text import count_of, duration
from logs.document import DURATION, Axis, Chart, Column, Document, Fact, Section, Series, Table
from protocol import find_game
from protocol.game_definition import short_name

CHECKPOINT_KIND: Final = FileKind(
    "a checkpoint of acpc-arena's regret minimisation",
    2,
    "take another folder, or delete it to begin again",
)


CHECKPOINT: Final = "cfr.checkpoint"
STRATEGY: Final = "cfr.strategy"
BUCKETS: Final = "cfr.buckets"
_SMALL_GAME_BYTES: Final = 160
"""Memory of a number of a small game, with its part of the sequence form."""
_EXCHANGE_INTERVAL_S: Final = 15.0
"""Approximate time between two messages of a worker, and so between two lines of progress."""
_FIRST_CHECK: Final = 64
"""Iterations before the first measurement of the exploitability, four times as many before each later one."""


class TrainingPlan(NamedTuple):
    """Resolved settings of a training, its betting tree and the resources that it needs.

    Attributes:
        settings: with sizes or raises filled in.
        buckets: number of buckets by round.
        is_drawn: whether deals are drawn, as in hold'em. In small games each iteration walks all boards.
    """

    settings: CfrSettings
    tree: BettingTree | MergedTree
    buckets: tuple[int, ...]
    is_drawn: bool

    @property
    def decisions(self) -> int:
        """Number of decisions of the betting."""
        return sum(len(part.decisions) for part in self.tree.parts)

    @property
    def information_sets(self) -> int:
        sets = 0
        for part in self.tree.parts:
            sets += sum(self.buckets[part.rounds[node]] for node in part.decisions)
        return sets

    @property
    def numbers(self) -> int:
        """Number of actions, over all information sets."""
        numbers = 0
        for part in self.tree.parts:
            for node in part.decisions:
                numbers += len(part.actions[node]) * self.buckets[part.rounds[node]]
        return numbers

    @property
    def memory_bytes(self) -> int:
        if self.is_drawn:
            # A regret and an average, float32 each.
            return 2 * 4 * self.numbers * self.settings.copies + max_table_bytes()
        return _SMALL_GAME_BYTES * self.numbers

    @property
    def message_bytes(self) -> int:
        """Size of a copy's regrets and averages, sent to a worker and back."""
        return 2 * 2 * 4 * self.numbers

    @property
    def checkpoint_bytes(self) -> int:
        """Size of a checkpoint. Two of them are on the disk while one is written."""
        number_bytes = 8
        if self.is_drawn:
            number_bytes = 4
        return 2 * number_bytes * self.numbers * self.settings.copies

    @property
    def strategy_bytes(self) -> int:
        """Size of the strategy file."""
        # Actions and round of a node, one byte each, and a hand total of four bytes in no-limit games.
        node_bytes = 6
        if self.tree.game.is_limit:
            node_bytes = 2
        # A byte for each probability but the last one of an information set, which follows from the others.
        size = self.numbers - self.information_sets
        size += node_bytes * sum(len(part.kinds) for part in self.tree.parts)
        if self.is_drawn:
            # The buckets of the flops, two bytes for each of 1,286,792 hands, and the centres.
            size += 2_600_000
        return size


class TrainedStrategy(NamedTuple):
    """Result of a training.

    Attributes:
        seconds: time of iterating, over all runs of the training.
        history: measurements of the exploitability of a small game, in chips per hand.
    """

    path: Path
    iteration: int
    seconds: float
    history: Sequence[Mapping[str, Any]]


def plan_training(settings: CfrSettings) -> TrainingPlan:
    """Resolve the settings of a training.

    Raises:
        SolvingError: the game cannot be trained for, or a setting does not apply to it.
    """
    name, game = find_game(settings.game)
    settings = replace(settings, game=short_name(name))
    is_drawn = is_dealt_as_holdem(game)
    if game.is_limit and settings.sizes:
        raise SolvingError(f"{settings.game} is a limit game: its raises have one size, so leave out sizes")
    if not game.is_limit and settings.raises:
        raise SolvingError(f"{settings.game} is a no-limit game: its sizes say how many raises there are")
    if game.num_players > 2 and not is_drawn:
        raise SolvingError(f"{settings.game}: games of more than two players are trained for in hold'em only")
    tree: BettingTree | MergedTree
    if game.num_players > 2 and not game.is_limit:
        if settings.sizes:
            raise SolvingError(f"{settings.game}: sizes are fixed with more than two players, so leave out sizes")
        tree = merged_tree(game)
    else:
        if game.is_limit and not settings.raises:
            settings = replace(settings, raises=default_caps(game))
        elif not game.is_limit and not settings.sizes:
            settings = replace(settings, sizes=HOLDEM_SIZES if is_drawn else ROUND_SIZES)
        tree = betting_tree(game, read_raises(game, settings.sizes, settings.raises))
    if is_drawn:
        buckets = (169, *settings.bucket_counts)
    else:
        buckets = RankBuckets(game).counts
    if settings.copies > 1 and not is_drawn:
        raise SolvingError(f"{settings.game}: all of its boards are walked in each iteration, so copies have no others")
    return TrainingPlan(settings, tree, buckets, is_drawn)


def train(
    plan: TrainingPlan,
    folder: Path,
    iterations: int | None = None,
    seconds: float | None = None,
    *,
    threads: int = 1,
    save_every_s: float = 60.0,
    workers: Workers | None = None,
    show: ShowProgress = show_nothing,
) -> TrainedStrategy:
    """Start or resume a training, and write its strategy file.

    Args:
        iterations: maximum number of iterations.
        seconds: maximum time of iterating, over all runs of the training.
        threads: number of threads of this process; the result does not depend on it.
        workers: processes that compute copies; with a single copy they are not used.

    Raises:
        BotFileError: the folder holds a training with other settings, is in use, or cannot be written.
    """

    def show_buckets(part: float) -> None:
        show(None, f"the buckets of all hands: {part:.0%}")

    with locked_run(folder, "cfr"), ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        path = folder / CHECKPOINT
        # Settings are compared first: other ones fail at once, and not after the buckets have been computed.
        checkpoint = None
        if path.exists():
            checkpoint = read_artifact(path, CHECKPOINT_KIND)
            with checkpoint.parsing():
                require_same_settings(path, asdict(plan.settings), checkpoint.header["settings"])
        abstraction = None
        tables = None
        if plan.is_drawn:
            abstraction, tables = load_hands(folder / BUCKETS, plan.settings.bucket_counts, threads, show_buckets)
            # Clustering may return fewer buckets than requested.
            plan = plan._replace(buckets=abstraction.buckets)
        session = _Session(plan, tables, path, checkpoint, workers)
        run_steps(session.steps(iterations, seconds, pool), session.save, show, save_every_s=save_every_s)
        strategy = folder / STRATEGY
        mean = session.mean_strategy(plan.tree)
        write_strategy(strategy, plan.tree, plan.buckets, abstraction, mean, session.record)
    return TrainedStrategy(strategy, session.iteration, session.seconds, session.history)


def training_document(plan: TrainingPlan, trained: TrainedStrategy) -> Document:
    """Describe the result of a training, with the course of the exploitability if the game is small."""
    facts = (
        Fact("game", plan.settings.game),
        Fact("decisions of the betting", plan.decisions),
        Fact("information sets", plan.information_sets),
    )
    sentences = (
        f"{count_of(trained.iteration, 'iteration')} in {duration(trained.seconds)}.",
        f"It plays as cfr?strategy={trained.path}",
    )
    if not trained.history:
        return Document("The training of cfr", sentences, facts, ())
    rows = [(row["iteration"], row["seconds"], row["exploitability"]) for row in trained.history]
    table = Table(
        "Winnings of best responses",
        (
            Column("iterations", ","),
            Column("time", DURATION, rank=1),
            Column("exploitability", ".4g", meaning="in chips per hand"),
        ),
        tuple(rows),
    )
    iterations = tuple([row["iteration"] for row in trained.history])
    exploitability = tuple([row["exploitability"] for row in trained.history])
    chart = Chart(
        "Exploitability by iterations",
        Axis("iterations", is_log=True),
        Axis("exploitability", "chips per hand", is_log=True),
        (Series("exploitability", iterations, exploitability, has_dots=True),),
    )
    return Document("The training of cfr", sentences, facts, (Section("Exploitability", (table, chart)),))


_CopyState: TypeAlias = tuple[NDArray[Any], NDArray[Any]]
"""Regrets and averages of a copy."""


class _Session:
    """Run of a training, from its beginning or a checkpoint."""

    def __init__(
        self,
        plan: TrainingPlan,
        cards: CardTables | None,
        path: Path,
        checkpoint: Artifact | None,
        workers: Workers | None,
    ) -> None:
        self.solvers = [_solver(plan, cards, copy) for copy in range(plan.settings.copies)]
        self.seconds = 0.0
        self.history: list[Mapping[str, Any]] = []
        self._plan = plan
        self._path = path
        self._workers = workers
        self._iterations_per_message = 1
        if checkpoint is not None:
            with checkpoint.parsing():
                iteration = checkpoint.header["iteration"]
                self.seconds = checkpoint.header["seconds"]
                self.history = checkpoint.header["history"]
                arrays = checkpoint.arrays()
                regrets = arrays["regrets"].reshape(len(self.solvers), -1)
                averages = arrays["averages"].reshape(len(self.solvers), -1)
            if regrets.shape[1] != len(self.solvers[0].regrets):
                raise BotFileError(str(path), "it is of another version of the game")
            for copy, solver in enumerate(self.solvers):
                solver.resume(iteration, regrets[copy], averages[copy])

    @property
    def iteration(self) -> int:
        return self.solvers[0].iteration

    @property
    def record(self) -> dict[str, Any]:
        return {
            "settings": asdict(self._plan.settings),
            "iterations": self.iteration,
            "deals": self._deals,
            "seconds": round(self.seconds, 1),
            "history": self.history,
        }

    def steps(
        self, iterations: int | None, seconds: float | None, pool: Executor | None
    ) -> Iterator[tuple[float, Words]]:
        """Iterate until a limit is reached; yield the part that is done and a function that describes it."""
        while self._part(iterations, seconds) < 1:
            before = time.perf_counter()
            advanced = None
            if self._workers is not None and len(self.solvers) > 1:
                advanced = self._advance_in_workers(iterations)
            # An iteration changes regrets and averages in place, so an interrupt waits for its end. The first one
            # compiles the kernels and may be interrupted: there is no progress to lose.
            with uninterrupted() if self.iteration else nullcontext():
                if advanced is None:
                    for solver in self.solvers:
                        solver.iterate(pool)
                else:
                    iteration, states = advanced
                    for solver, state in zip(self.solvers, states, strict=True):
                        solver.resume(iteration, *state)
                self.seconds += time.perf_counter() - before
                multiple, remainder = divmod(self.iteration, _FIRST_CHECK)
                # Powers of 4: a single bit, at an even position.
                if not remainder and multiple.bit_count() == 1 and multiple.bit_length() % 2 == 1:
                    self._measure()
            yield self._part(iterations, seconds), self._format_progress
        self._measure()
        yield 1.0, self._format_progress

    def _part(self, iterations: int | None, seconds: float | None) -> float:
        part = 0.0
        if iterations is not None:
            part = self.iteration / iterations
        if seconds is not None:
            part = max(part, self.seconds / seconds)
        return part

    def _format_progress(self) -> str:
        exploited = ""
        if self.history:
            last = self.history[-1]
            exploited = f", exploitability {last['exploitability']:.3g} chips per hand after {last['iteration']:,}"
        drawn = ""
        if self._plan.is_drawn:
            drawn = f", {count_of(self._deals, 'deal')} ({self._deals / self.seconds:,.0f}/s)"
        return f"iteration {self.iteration:,}{drawn}{exploited}"

    def mean_strategy(self, tree: BettingTree | MergedTree) -> NDArray[np.float64]:
        """Return the average strategy of all iterations of all copies, in the layout of a strategy file."""
        first = self.solvers[0]
        if isinstance(first, Solver):
            return first.average_strategy()
        averages = np.add.reduce([solver.averages for solver in self.solvers], dtype=np.float64)
        return as_strategy(tree, self._plan.buckets, averages)

    def _advance_in_workers(self, iterations: int | None) -> tuple[int, list[_CopyState]]:
        """Advance all copies in the workers; return the iteration that they reach and their states."""
        assert self._workers is not None
        count = self._iterations_per_message
        if iterations is not None:
            count = min(count, iterations - self.iteration)
        before = time.perf_counter()
        regrets, averages = zip(*self._copies, strict=True)
        advance = partial(_advance_copy, self._plan.settings, count, self.iteration)
        states = self._workers.map(advance, range(len(self.solvers)), regrets, averages)
        # At most double the number, because the first messages include compilation and bucket tables.
        count_in_time = int(_EXCHANGE_INTERVAL_S / (time.perf_counter() - before) * count)
        self._iterations_per_message = max(1, min(2 * self._iterations_per_message, count_in_time))
        return self.iteration + count, states

    @property
    def _copies(self) -> list[_CopyState]:
        return [(solver.regrets, solver.averages) for solver in self.solvers]

    @property
    def _deals(self) -> int:
        return self.iteration * len(self.solvers) * self.solvers[0].per_iteration

    def _measure(self) -> None:
        """Add the exploitability of a small game to the history, unless the last entry is from this iteration."""
        solver = self.solvers[0]
        if not isinstance(solver, Solver) or (self.history and self.history[-1]["iteration"] == self.iteration):
            return
        gains = solver.gains()
        self.history.append(
            {
                "iteration": self.iteration,
                "seconds": self.seconds,
                "exploitability": sum(gains) / 2,
                "gains": gains,
            }
        )

    def save(self) -> None:
        regrets, averages = map(np.concatenate, zip(*self._copies, strict=True))
        layout, contents = as_arrays({"regrets": regrets, "averages": averages})
        header = {
            **layout,
            "settings": asdict(self._plan.settings),
            "iteration": self.iteration,
            "seconds": self.seconds,
            "history": self.history,
        }
        write_artifact(self._path, CHECKPOINT_KIND, header, contents)


def _solver(plan: TrainingPlan, cards: CardTables | None, copy: int) -> Solver | SampledSolver:
    settings = plan.settings
    discounts = Discounts(settings.gains, settings.losses, settings.average)
    if cards is None:
        assert isinstance(plan.tree, BettingTree)
        raises = read_raises(plan.tree.game, settings.sizes, settings.raises)
        return Solver(SmallGame(plan.tree, raises), discounts)
    return SampledSolver(
        plan.tree,
        plan.buckets,
        partial(draw_deals, cards),
        discounts,
        seed=settings.seed,
        per_iteration=settings.deals,
        copies=settings.copies,
        copy=copy,
    )


_worker_lock: Final = threading.Lock()


def _advance_copy(
    settings: CfrSettings, count: int, iteration: int, copy: int, regrets: NDArray[Any], averages: NDArray[Any]
) -> _CopyState:
    """Advance a copy in a worker process by `count` iterations, and return its state."""
    # The tables of 400 MB are not sent. Each process computes them once, while its other threads wait.
    with _worker_lock:
        plan, cards = _prepare_worker(settings)
    solver = _solver(plan, cards, copy)
    solver.resume(iteration, regrets, averages)
    for _ in range(count):
        solver.iterate()
    return solver.regrets, solver.averages


@lru_cache(maxsize=1)
def _prepare_worker(settings: CfrSettings) -> tuple[TrainingPlan, CardTables]:
    plan = plan_training(settings)
    hands, cards = cluster_hands(*settings.bucket_counts)
    return plan._replace(buckets=hands.buckets), cards
