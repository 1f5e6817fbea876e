"""A training from its settings to a strategy file, in a folder from which it is resumed.

The folder holds ``cfr.checkpoint`` (`bots.artifact`: settings, progress, regrets, averages), written every minute or
so, and ``cfr.strategy`` at the end. A killed training resumes from its checkpoint and comes, after the same
number of iterations, to the same strategy, bit by bit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.artifact import FileKind, as_arrays, locked_run, read_artifact, write_artifact
from bots.cfr.abstraction import CardAbstraction, card_abstraction, memory_bytes
from bots.cfr.deals import AllBoards, Boards, DrawnBoards, TreeArrays
from bots.cfr.files import write_strategy
from bots.cfr.settings import CfrSettings
from bots.cfr.solver import (
    MESSAGE_BYTES,
    CopyState,
    Discounts,
    Solver,
    Strategy,
    advance_copy,
    exploitability,
    mean_strategy,
    size_of,
    tree_arrays,
)
from bots.cfr.strengths import all_strengths
from bots.cfr.tree import HOLDEM_SIZES, ROUND_SIZES, BettingTree, betting_tree, read_sizes
from bots.errors import CheckpointError, SolvingError
from bots.workers import Workers
from engine.holdem import is_dealt_as_holdem
from protocol import find_game

_KIND: Final = FileKind(
    "a checkpoint of acpc-arena's regret minimisation",
    2,
    CheckpointError,
    "take another folder, or delete it to begin again",
)
_NUMBERS: Final = np.dtype("<f8")


class Checkpoint(NamedTuple):
    """What a training has come to, and the settings that it was begun with, as JSON has them."""

    settings: Mapping[str, Any]
    iteration: int
    seconds: float
    history: tuple[Mapping[str, Any], ...]
    regrets: NDArray[np.float64]
    averages: NDArray[np.float64]


def checkpoint_bytes(size: int) -> int:
    return 2 * _NUMBERS.itemsize * size


def save_checkpoint(path: Path, found: Checkpoint) -> None:
    """Write a checkpoint whole, in place of an earlier one."""
    of_arrays, contents = as_arrays(
        {"regrets": found.regrets.astype(_NUMBERS), "averages": found.averages.astype(_NUMBERS)}
    )
    header = {
        **of_arrays,
        "settings": dict(found.settings),
        "iteration": found.iteration,
        "seconds": found.seconds,
        "history": [dict(row) for row in found.history],
    }
    write_artifact(path, _KIND, header, contents)


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        CheckpointError: there is no such file, it is not a checkpoint, of another version, or damaged.
    """
    found = read_artifact(path, _KIND)
    header, arrays = found.header, found.arrays()
    with found.parsing():
        return Checkpoint(
            header["settings"],
            int(header["iteration"]),
            float(header["seconds"]),
            tuple(header["history"]),
            arrays["regrets"].astype(np.float64),
            arrays["averages"].astype(np.float64),
        )


CHECKPOINT: Final = "cfr.checkpoint"
STRATEGY: Final = "cfr.strategy"
_APART_S: Final = 15.0
"""Seconds, about, that copies learn apart: between two messages, and two lines of progress."""
_FIRST_CHECK: Final = 64
"""Iterations after which the exploitability is measured for the first time; then after four times as many each."""


class TrainingLimit(NamedTuple):
    """How long to train: until either is reached; None for no limit. Seconds are of iterating, over all parts."""

    iterations: int | None = None
    seconds: float | None = None


class TrainingPlan(NamedTuple):
    """What a training will need: its settings, with the sizes of a no-limit game, and its tree."""

    settings: CfrSettings
    tree: BettingTree
    arrays: TreeArrays
    buckets: tuple[int, ...]
    is_drawn: bool

    @property
    def information_sets(self) -> int:
        return sum(self.buckets[self.tree.rounds[node]] for node in self.tree.decisions)

    @property
    def memory_bytes(self) -> int:
        """About what the training needs at once."""
        vectors = size_of(self.arrays) * (8 + 8 + 8 + (4 if self.is_drawn else 8) * (self.settings.boards + 2))
        return vectors * self.settings.copies + (memory_bytes() if self.is_drawn else 0)

    @property
    def message_bytes(self) -> int:
        """What is sent to a worker with a copy, and back, together."""
        return MESSAGE_BYTES * size_of(self.arrays)

    @property
    def checkpoint_bytes(self) -> int:
        """How large a checkpoint is; two of them are on the disk while one is written."""
        return checkpoint_bytes(size_of(self.arrays) * self.settings.copies)

    @property
    def strategy_bytes(self) -> int:
        """About how large the strategy file is."""
        nodes = (2 if self.tree.game.is_limit else 6) * len(self.tree.kinds)
        return size_of(self.arrays) - self.information_sets + nodes + 1_310_000 * self.is_drawn


class CfrProgress(NamedTuple):
    """The progress of a training.

    Attributes:
        part: which part of the limit is reached, 0 to 1.
        seconds: of iterating so far.
        nodes_per_s: nodes of the betting visited in a second, each for all holdings of a board at once.
        hands_per_s: the same, times the holdings.
        last: the last row of the history; None before the first.
    """

    iteration: int
    part: float
    seconds: float
    nodes_per_s: float
    hands_per_s: float
    last: Mapping[str, Any] | None


class TrainedStrategy(NamedTuple):
    """The result of a training; the history has what was measured, in chips per hand, and the seconds of iterating."""

    path: Path
    iteration: int
    seconds: float
    history: tuple[Mapping[str, Any], ...]


def plan_training(settings: CfrSettings) -> TrainingPlan:
    """What a training will need; a `SolvingError` for a game that cannot be trained for."""
    _, game = find_game(settings.game)
    is_drawn = is_dealt_as_holdem(game)
    sizes = None
    if game.is_limit and settings.sizes:
        raise SolvingError(f"{settings.game} is a limit game: its raises have one size, so leave out sizes")
    if not game.is_limit:
        settings = replace(settings, sizes=settings.sizes or (HOLDEM_SIZES if is_drawn else ROUND_SIZES))
        sizes = read_sizes(settings.sizes, game.num_rounds)
    tree = betting_tree(game, sizes)
    buckets = (169, *settings.bucket_counts) if is_drawn else AllBoards(game).buckets
    if settings.copies > 1 and not is_drawn:
        raise SolvingError(f"{settings.game}: all of its boards are walked in each iteration, so copies have no others")
    return TrainingPlan(
        settings, tree, tree_arrays(tree, buckets, np.float32 if is_drawn else np.float64), buckets, is_drawn
    )


def train(
    plan: TrainingPlan,
    folder: Path,
    extent: TrainingLimit,
    *,
    threads: int = 1,
    save_every_s: float = 60.0,
    check_boards: int = 256,
    workers: Workers | None = None,
    prepare: Callable[[float], None] | None = None,
    show: Callable[[CfrProgress], None] | None = None,
) -> TrainedStrategy:
    """Train, or resume a training.

    Args:
        threads: that walk boards; nothing depends on how many.
        check_boards: boards drawn for the exploitability, which is measured now and then; 0 never measures it where
            boards are drawn.
        workers: who computes copies, of which there must be several; threads of this process by default.
        prepare: called with the part that is done of counting the strengths of all hands.

    Raises:
        CheckpointError: the folder holds a training with other settings, is in use, or cannot be written.
        StrategyError: the strategy cannot be written.
    """
    with locked_run(folder, "cfr"), _threads(threads) as pool:
        path = folder / CHECKPOINT
        begun = load_checkpoint(path) if path.exists() else None
        if begun is not None and begun.settings != asdict(plan.settings):
            raise CheckpointError(str(path), _difference(begun.settings, asdict(plan.settings)))
        abstraction, boards = _boards(plan, threads, prepare)
        session = _Session(plan, boards, path, begun, workers)
        session.iterate(extent, save_every_s, check_boards, pool, show)
        strategy = folder / STRATEGY
        write_strategy(strategy, plan.tree, plan.buckets, abstraction, mean_strategy(session.solvers), session.record)
    return TrainedStrategy(strategy, session.iteration, session.seconds, session.history)


class _Session:
    def __init__(
        self, plan: TrainingPlan, boards: Boards, path: Path, begun: Checkpoint | None, workers: Workers | None
    ) -> None:
        self.solvers = [_solver(plan, boards, copy) for copy in range(plan.settings.copies)]
        self.seconds = 0.0
        self.history: tuple[Mapping[str, Any], ...] = ()
        self._plan, self._boards, self._path, self._workers = plan, boards, path, workers
        self._apart = 1
        if begun is not None:
            of_copies = [found.reshape(len(self.solvers), -1) for found in (begun.regrets, begun.averages)]
            if len(of_copies[0][0]) != len(self.solvers[0].regrets):
                raise CheckpointError(str(path), "it is of another version of the game")
            for solver, *found in zip(self.solvers, *of_copies, strict=True):
                solver.resume(begun.iteration, *found)
            self.seconds, self.history = begun.seconds, begun.history

    @property
    def iteration(self) -> int:
        return self.solvers[0].iteration

    @property
    def record(self) -> dict[str, Any]:
        return {
            "settings": asdict(self._plan.settings),
            "iterations": self.iteration,
            "boards": self.iteration * self._boards_per_iteration,
            "seconds": round(self.seconds, 1),
            "history": [dict(row) for row in self.history],
        }

    def iterate(
        self,
        extent: TrainingLimit,
        save_every_s: float,
        check_boards: int,
        pool: Executor | None,
        show: Callable[[CfrProgress], None] | None,
    ) -> None:
        # The time of compilation does not count.
        Solver(self._plan.arrays, self._boards, 1, Discounts()).iterate(pool)
        first, first_s = self.iteration, self.seconds
        saved_s = self.seconds
        while _part(extent, self.iteration, self.seconds) < 1:
            before = time.perf_counter()
            self._go_on(extent, pool)
            self.seconds += time.perf_counter() - before
            if _is_check(self.iteration):
                self._check(check_boards, pool)
            if self.seconds - saved_s >= save_every_s:
                self._save()
                saved_s = self.seconds
            if show is not None:
                speed = self._nodes * (self.iteration - first) / max(self.seconds - first_s, 1e-9)
                part = _part(extent, self.iteration, self.seconds)
                last = self.history[-1] if self.history else None
                show(CfrProgress(self.iteration, part, self.seconds, speed, speed * self._boards.holdings, last))
        self._check(check_boards, pool)
        self._save()

    def _go_on(self, extent: TrainingLimit, pool: Executor | None) -> None:
        """Do an iteration, or let all copies do some: as many as take a while, but for a check or the end."""
        if len(self.solvers) == 1:
            self.solvers[0].iterate(pool)
            return
        count = 1
        while (
            count < self._apart
            and not _is_check(self.iteration + count)
            and self.iteration + count != extent.iterations
        ):
            count += 1
        before = time.perf_counter()
        if self._workers is not None:
            settings = self._plan.settings
            asked = [(settings, copy, count, self.iteration, *found) for copy, found in enumerate(self._copies)]
            for solver, found in zip(
                self.solvers, self._workers.map(_go_on_elsewhere, *zip(*asked, strict=True)), strict=True
            ):
                solver.resume(solver.iteration + count, *found)
        else:
            over: Callable[..., Any] = map if pool is None else pool.map
            list(over(lambda solver: advance_copy(solver, count), self.solvers))
        seconds = (time.perf_counter() - before) / count
        self._apart = max(1, min(2 * self._apart, int(_APART_S / seconds)))

    @property
    def _copies(self) -> list[CopyState]:
        return [CopyState(solver.regrets, solver.averages) for solver in self.solvers]

    @property
    def _boards_per_iteration(self) -> int:
        return len(self.solvers) * self.solvers[0].per_iteration

    @property
    def _nodes(self) -> int:
        return 2 * len(self._plan.tree.kinds) * self._boards_per_iteration

    def _check(self, check_boards: int, pool: Executor | None) -> None:
        """Measure the exploitability, unless that has been done here or is not wanted."""
        at = self.iteration
        if (self.history and self.history[-1]["iteration"] == at) or not (self._boards.count or check_boards):
            return
        found = exploitability(
            self._plan.arrays, self._boards, mean_strategy(self.solvers), count=check_boards, pool=pool
        )
        measured = {"exploitability": found.value, "error": found.error, "gains": list(found.gains)}
        self.history = (*self.history, {"iteration": at, "seconds": self.seconds, **measured})

    def _save(self) -> None:
        regrets, averages = map(np.concatenate, zip(*self._copies, strict=True))
        settings = asdict(self._plan.settings)
        save_checkpoint(self._path, Checkpoint(settings, self.iteration, self.seconds, self.history, regrets, averages))


def _solver(plan: TrainingPlan, boards: Boards, copy: int) -> Solver:
    settings = plan.settings
    discounts = Discounts(settings.gains, settings.losses, settings.average)
    return Solver(plan.arrays, boards, settings.boards, discounts, settings.copies, copy)


_worker_lock: Final = threading.Lock()


def _go_on_elsewhere(
    settings: CfrSettings, copy: int, count: int, iteration: int, regrets: Strategy, averages: Strategy
) -> CopyState:
    """Advance a copy in another process, which counts the strengths of all hands itself, once."""
    with _worker_lock:
        plan, boards = _prepared(settings)
    solver = _solver(plan, boards, copy)
    solver.resume(iteration, regrets, averages)
    return advance_copy(solver, count)


@lru_cache(maxsize=1)
def _prepared(settings: CfrSettings) -> tuple[TrainingPlan, Boards]:
    plan = plan_training(settings)
    return plan, _boards(plan, 1, None)[1]


@contextmanager
def _threads(count: int) -> Iterator[Executor | None]:
    if count == 1:
        yield None
        return
    with ThreadPoolExecutor(count) as pool:
        yield pool


def _boards(
    plan: TrainingPlan, threads: int, prepare: Callable[[float], None] | None
) -> tuple[CardAbstraction | None, Boards]:
    if not plan.is_drawn:
        return None, AllBoards(plan.tree.game)
    abstraction = card_abstraction(all_strengths(threads, prepare), *plan.settings.bucket_counts)
    return abstraction, DrawnBoards(abstraction, plan.settings.seed)


def _part(extent: TrainingLimit, iteration: int, seconds: float) -> float:
    parts = []
    if extent.iterations is not None:
        parts.append(iteration / extent.iterations)
    if extent.seconds is not None:
        parts.append(seconds / extent.seconds)
    return max(parts)


def _is_check(iteration: int) -> bool:
    """Whether an iteration is the first check, or a power of 4 times it."""
    times, left = divmod(iteration, _FIRST_CHECK)
    return not left and times.bit_count() == 1 and times.bit_length() % 2 == 1


def _difference(known: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    others = [f"{name} {known.get(name)}" for name, value in asked.items() if known.get(name) != value]
    return f"it is of a training with {', '.join(others) or 'other settings'}: give the same, or another folder"
