"""A training from its settings to a strategy file, in a folder from which it is resumed.

The folder holds ``cfr.checkpoint`` (`bots.artifact`: settings, progress, regrets, averages), written every minute or
so, ``cfr.buckets`` with the buckets of all hands of hold'em, and ``cfr.strategy`` at the end. A killed training resumes
from its checkpoint and comes, after the same number of iterations, to the same strategy, bit by bit.
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
_BYTES_OF_A_NUMBER: Final = 160
"""Of a small game, with its part of the sequence form."""
_APART_S: Final = 15.0
"""Seconds, about, that copies learn apart: between two messages, and two lines of progress."""
_FIRST_CHECK: Final = 64
"""Iterations after which the exploitability is measured for the first time; then after four times as many each."""


class TrainingPlan(NamedTuple):
    """What a training will need: its settings, with the sizes of a no-limit game, and its tree.

    `is_drawn` is whether deals are drawn, as in hold'em; in small games all boards are walked.
    """

    settings: CfrSettings
    tree: BettingTree
    buckets: tuple[int, ...]
    is_drawn: bool

    @property
    def information_sets(self) -> int:
        return sum(self.buckets[self.tree.rounds[node]] for node in self.tree.decisions)

    @property
    def numbers(self) -> int:
        """Number of actions of all information sets."""
        numbers = 0
        for node in self.tree.decisions:
            numbers += len(self.tree.actions[node]) * self.buckets[self.tree.rounds[node]]
        return numbers

    @property
    def memory_bytes(self) -> int:
        if self.is_drawn:
            return 2 * 4 * self.numbers * self.settings.copies + max_table_bytes()
        return _BYTES_OF_A_NUMBER * self.numbers

    @property
    def message_bytes(self) -> int:
        """What is sent to a worker with a copy, and back, together."""
        return 2 * 2 * 4 * self.numbers

    @property
    def checkpoint_bytes(self) -> int:
        """Size of a checkpoint; two of them are on the disk while one is written."""
        of_number = 8
        if self.is_drawn:
            of_number = 4
        return 2 * of_number * self.numbers * self.settings.copies

    @property
    def strategy_bytes(self) -> int:
        of_node = 6
        if self.tree.game.is_limit:
            of_node = 2
        size = self.numbers - self.information_sets + of_node * len(self.tree.kinds)
        if self.is_drawn:
            size += 2_600_000
        return size


class TrainedStrategy(NamedTuple):
    """The result of a training; the history has what was measured, in chips per hand, and the seconds of iterating."""

    path: Path
    iteration: int
    seconds: float
    history: Sequence[Mapping[str, Any]]


def plan_training(settings: CfrSettings) -> TrainingPlan:
    """What a training will need; a `SolvingError` for a game that cannot be trained for."""
    name, game = find_game(settings.game)
    settings = replace(settings, game=short_name(name))
    is_drawn = is_dealt_as_holdem(game)
    if game.is_limit and settings.sizes:
        raise SolvingError(f"{settings.game} is a limit game: its raises have one size, so leave out sizes")
    if not game.is_limit and settings.raises:
        raise SolvingError(f"{settings.game} is a no-limit game: its sizes say how many raises there are")
    if game.num_players > 2 and not (is_drawn and game.is_limit):
        raise SolvingError(f"{settings.game}: games of more than two players are trained for in limit hold'em only")
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
    """Train, or resume a training.

    Args:
        iterations: after which it stops.
        seconds: of iterating, over all parts, after which it stops, if that is earlier.
        threads: that walk; nothing depends on how many.
        workers: who computes copies, of which there must be several; threads of this process by default.

    Raises:
        BotFileError: the folder holds a training with other settings, is in use, or cannot be written.
    """
    with locked_run(folder, "cfr"), ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        path = folder / CHECKPOINT
        begun = None
        if path.exists():
            begun = read_artifact(path, CHECKPOINT_KIND)
            with begun.parsing():
                require_same_settings(path, asdict(plan.settings), begun.header["settings"])
        abstraction = None
        tables = None
        if plan.is_drawn:
            abstraction, tables = load_hands(
                folder / BUCKETS,
                plan.settings.bucket_counts,
                threads,
                lambda part: show(None, f"the buckets of all hands: {part:.0%}"),
            )
            plan = plan._replace(buckets=abstraction.buckets)
        session = _Session(plan, tables, path, begun, workers)
        run_steps(session.steps(iterations, seconds, pool), session.save, show, save_every_s=save_every_s)
        strategy = folder / STRATEGY
        write_strategy(strategy, plan.tree, plan.buckets, abstraction, session.mean_strategy(), session.record)
    return TrainedStrategy(strategy, session.iteration, session.seconds, session.history)


def training_document(plan: TrainingPlan, trained: TrainedStrategy) -> Document:
    """A training, with the exploitability on the way if the game is small."""
    facts = (
        Fact("game", plan.settings.game),
        Fact("decisions of the betting", len(plan.tree.decisions)),
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
"""The regrets and the averages of a copy."""


class _Session:
    def __init__(
        self,
        plan: TrainingPlan,
        cards: CardTables | None,
        path: Path,
        begun: Artifact | None,
        workers: Workers | None,
    ) -> None:
        self.solvers = [_solver(plan, cards, copy) for copy in range(plan.settings.copies)]
        self.seconds = 0.0
        self.history: list[Mapping[str, Any]] = []
        self._plan = plan
        self._path = path
        self._workers = workers
        self._apart = 1
        if begun is not None:
            with begun.parsing():
                iteration = begun.header["iteration"]
                self.seconds = begun.header["seconds"]
                self.history = begun.header["history"]
                arrays = begun.arrays()
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
        """Iterations until a limit is reached; one that has begun changes the state and is not interrupted."""
        while self._part(iterations, seconds) < 1:
            before = time.perf_counter()
            found = None
            if self._workers is not None and self._copies[1:]:
                found = self._advanced_elsewhere(iterations)
            # The first waits for compiled code, and there is nothing to lose before it.
            with uninterrupted() if self.iteration else nullcontext():
                if found is None:
                    for solver in self.solvers:
                        solver.iterate(pool)
                else:
                    reached, states = found
                    for solver, state in zip(self.solvers, states, strict=True):
                        solver.resume(reached, *state)
                self.seconds += time.perf_counter() - before
                times, left = divmod(self.iteration, _FIRST_CHECK)
                # At the first check, and at each power of 4 times it.
                if not left and times.bit_count() == 1 and times.bit_length() % 2 == 1:
                    self._check()
            yield self._part(iterations, seconds), self._in_words
        self._check()
        yield 1.0, self._in_words

    def _part(self, iterations: int | None, seconds: float | None) -> float:
        part = 0.0
        if iterations is not None:
            part = self.iteration / iterations
        if seconds is not None:
            part = max(part, self.seconds / seconds)
        return part

    def _in_words(self) -> str:
        exploited = ""
        if self.history:
            last = self.history[-1]
            exploited = f", exploitability {last['exploitability']:.3g} chips per hand after {last['iteration']:,}"
        drawn = ""
        if self._plan.is_drawn:
            drawn = f", {count_of(self._deals, 'deal')} ({self._deals / self.seconds:,.0f}/s)"
        return f"iteration {self.iteration:,}{drawn}{exploited}"

    def mean_strategy(self) -> NDArray[np.float64]:
        """What converges: how often each action was taken over all iterations of all copies."""
        solver = self.solvers[0]
        if isinstance(solver, Solver):
            return solver.average_strategy()
        averages = np.add.reduce([one.averages for one in self.solvers], dtype=np.float64)
        return as_strategy(self._plan.tree, self._plan.buckets, averages)

    def _advanced_elsewhere(self, iterations: int | None) -> tuple[int, list[_CopyState]]:
        """All copies after some iterations, and after how many: as many as take a while, but for the end."""
        assert self._workers is not None
        count = self._apart
        if iterations is not None:
            count = min(count, iterations - self.iteration)
        before = time.perf_counter()
        regrets, averages = zip(*self._copies, strict=True)
        advance = partial(_advance_elsewhere, self._plan.settings, count, self.iteration)
        states = self._workers.map(advance, range(len(self.solvers)), regrets, averages)
        count_in_time = int(_APART_S / (time.perf_counter() - before) * count)
        self._apart = max(1, min(2 * self._apart, count_in_time))
        return self.iteration + count, states

    @property
    def _copies(self) -> list[_CopyState]:
        return [(solver.regrets, solver.averages) for solver in self.solvers]

    @property
    def _deals(self) -> int:
        return self.iteration * len(self.solvers) * self.solvers[0].per_iteration

    def _check(self) -> None:
        """Measure the exploitability of a small game, unless that has been done here."""
        at = self.iteration
        solver = self.solvers[0]
        if not isinstance(solver, Solver) or (self.history and self.history[-1]["iteration"] == at):
            return
        gains = solver.gains()
        measured = {"exploitability": sum(gains) / 2, "gains": gains}
        self.history.append({"iteration": at, "seconds": self.seconds, **measured})

    def save(self) -> None:
        regrets, averages = map(np.concatenate, zip(*self._copies, strict=True))
        of_arrays, contents = as_arrays({"regrets": regrets, "averages": averages})
        header = {
            **of_arrays,
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


def _advance_elsewhere(
    settings: CfrSettings, count: int, iteration: int, copy: int, regrets: NDArray[Any], averages: NDArray[Any]
) -> _CopyState:
    """Advance a copy in another process, which computes the buckets of all hands itself, once."""
    with _worker_lock:
        plan, cards = _prepared(settings)
    solver = _solver(plan, cards, copy)
    solver.resume(iteration, regrets, averages)
    for _ in range(count):
        solver.iterate()
    return solver.regrets, solver.averages


@lru_cache(maxsize=1)
def _prepared(settings: CfrSettings) -> tuple[TrainingPlan, CardTables]:
    plan = plan_training(settings)
    hands, cards = cluster_hands(*settings.bucket_counts)
    return plan._replace(buckets=hands.buckets), cards
