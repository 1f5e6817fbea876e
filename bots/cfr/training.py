"""A training from its settings to a strategy file, in a folder that it is gone on with.

The folder holds ``cfr.checkpoint``, written every minute or so, and ``cfr.strategy`` at the end. A training that was
killed goes on from its checkpoint and comes, after the same number of iterations, to the same strategy, bit by bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from bots.cfr.abstraction import CardAbstraction, all_strengths, card_abstraction, memory_bytes
from bots.cfr.arrays import TreeArrays
from bots.cfr.checkpoint import Checkpoint, checkpoint_bytes, load_checkpoint, save_checkpoint
from bots.cfr.deals import AllBoards, Boards, DrawnBoards
from bots.cfr.files import write_strategy
from bots.cfr.measure import exploitability
from bots.cfr.settings import TrainingSettings
from bots.cfr.solver import Discounts, Solver, size_of, tree_arrays
from bots.cfr.tree import BettingTree, betting_tree
from bots.errors import CheckpointError, SolvingError
from bots.run_folder import locked_run
from engine.holdem import is_dealt_as_holdem
from protocol import find_game

__all__ = ["Extent", "Plan", "Progress", "Trained", "plan_training", "train"]

CHECKPOINT: Final = "cfr.checkpoint"
STRATEGY: Final = "cfr.strategy"
_FIRST_CHECK: Final = 64
"""Iterations after which the exploitability is measured for the first time; then after four times as many each."""


class Extent(NamedTuple):
    """How long to train: until either is reached.

    Attributes:
        iterations: how many; None for no limit.
        seconds: of iterating, over all parts of the training; None for no limit.
    """

    iterations: int | None = None
    seconds: float | None = None


class Plan(NamedTuple):
    """What a training will need.

    Attributes:
        settings: of it.
        tree: the betting.
        arrays: the same for the solver; without cards.
        buckets: by round.
        is_drawn: whether boards are drawn.
    """

    settings: TrainingSettings
    tree: BettingTree
    arrays: TreeArrays
    buckets: tuple[int, ...]
    is_drawn: bool

    @property
    def information_sets(self) -> int:
        """How many both players have."""
        return sum(self.buckets[self.tree.rounds[node]] for node in self.tree.decisions)

    @property
    def memory_bytes(self) -> int:
        """About what the training needs at once."""
        vectors = size_of(self.arrays) * (8 + 8 + 8 + (4 if self.is_drawn else 8) * (self.settings.boards + 2))
        return vectors + (memory_bytes() if self.is_drawn else 0)

    @property
    def checkpoint_bytes(self) -> int:
        """How large a checkpoint is; two of them are on the disk while one is written."""
        return checkpoint_bytes(size_of(self.arrays))

    @property
    def strategy_bytes(self) -> int:
        """About how large the strategy file is."""
        return size_of(self.arrays) - self.information_sets + 2 * len(self.tree.kinds) + 1_310_000 * self.is_drawn


class Progress(NamedTuple):
    """How a training stands.

    Attributes:
        iteration: how many have been done.
        part: which part of the extent is done, 0 to 1.
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


class Trained(NamedTuple):
    """What a training has come to.

    Attributes:
        path: of the strategy file.
        iteration: how many were done.
        seconds: of iterating.
        history: what was measured, in order; gains and exploitability are chips per hand.
    """

    path: Path
    iteration: int
    seconds: float
    history: tuple[Mapping[str, Any], ...]


def plan_training(settings: TrainingSettings) -> Plan:
    """What a training will need.

    Raises:
        SolvingError: the game is none that can be trained for.
    """
    _, game = find_game(settings.game)
    if game.num_players != 2 or not game.is_limit:
        raise SolvingError(f"{settings.game}: only limit games of two players are trained for, such as limit and leduc")
    is_drawn = is_dealt_as_holdem(game)
    buckets = (169, *settings.bucket_counts) if is_drawn else AllBoards(game).buckets
    tree = betting_tree(game)
    return Plan(settings, tree, tree_arrays(tree, buckets, np.float32 if is_drawn else np.float64), buckets, is_drawn)


def train(
    plan: Plan,
    folder: Path,
    extent: Extent,
    *,
    threads: int = 1,
    save_every_s: float = 60.0,
    check_boards: int = 256,
    prepare: Callable[[float], None] | None = None,
    show: Callable[[Progress], None] | None = None,
) -> Trained:
    """Train, or go on with a training.

    Args:
        plan: of it.
        folder: of its files; made if it is not there.
        extent: how long.
        threads: that walk boards; nothing depends on how many.
        save_every_s: seconds between checkpoints.
        check_boards: boards drawn for the exploitability, which is measured now and then; 0 never measures it where
            boards are drawn.
        prepare: called with the part that is done of counting the strengths of all hands.
        show: called after each iteration.

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
        session = _Session(plan, boards, path, begun)
        session.iterate(extent, save_every_s, check_boards, pool, show)
        strategy = folder / STRATEGY
        write_strategy(
            strategy, plan.tree, plan.buckets, abstraction, session.solver.average_strategy(), session.record
        )
    return Trained(strategy, session.solver.iteration, session.seconds, session.history)


class _Session:
    """A training that goes on.

    Attributes:
        solver: what has been found.
        seconds: of iterating, since the training began.
        history: what was measured along the way.
    """

    def __init__(self, plan: Plan, boards: Boards, path: Path, begun: Checkpoint | None) -> None:
        """Begin, or go on from a checkpoint.

        Raises:
            CheckpointError: the checkpoint is of another version of the game.
        """
        settings = plan.settings
        discounts = Discounts(settings.gains, settings.losses, settings.average)
        self.solver = Solver(plan.arrays, boards, settings.boards, discounts)
        self.seconds = 0.0
        self.history: tuple[Mapping[str, Any], ...] = ()
        self._plan, self._boards, self._path = plan, boards, path
        if begun is not None:
            if len(begun.regrets) != len(self.solver.regrets):
                raise CheckpointError(str(path), "it is of another version of the game")
            self.solver.resume(begun.iteration, begun.regrets, begun.averages)
            self.seconds, self.history = begun.seconds, begun.history

    @property
    def record(self) -> dict[str, Any]:
        """Of the training so far, for the strategy's file."""
        return {
            "settings": asdict(self._plan.settings),
            "iterations": self.solver.iteration,
            "boards": self.solver.iteration * self.solver.per_iteration,
            "seconds": round(self.seconds, 1),
            "history": [dict(row) for row in self.history],
        }

    def iterate(
        self,
        extent: Extent,
        save_every_s: float,
        check_boards: int,
        pool: Executor | None,
        show: Callable[[Progress], None] | None,
    ) -> None:
        """Iterate to the end; see `train`."""
        solver = self.solver
        # Compiling is no iterating.
        Solver(self._plan.arrays, self._boards, 1, Discounts()).iterate(pool)
        first, first_s = solver.iteration, self.seconds
        saved_s = self.seconds
        while _part(extent, solver.iteration, self.seconds) < 1:
            before = time.perf_counter()
            solver.iterate(pool)
            self.seconds += time.perf_counter() - before
            if _is_check(solver.iteration):
                self._check(check_boards, pool)
            if self.seconds - saved_s >= save_every_s:
                self._save()
                saved_s = self.seconds
            if show is not None:
                speed = self._nodes * (solver.iteration - first) / max(self.seconds - first_s, 1e-9)
                part = _part(extent, solver.iteration, self.seconds)
                last = self.history[-1] if self.history else None
                show(Progress(solver.iteration, part, self.seconds, speed, speed * self._boards.holdings, last))
        self._check(check_boards, pool)
        self._save()

    @property
    def _nodes(self) -> int:
        """How many nodes an iteration walks, for both players."""
        return 2 * len(self._plan.tree.kinds) * self.solver.per_iteration

    def _check(self, check_boards: int, pool: Executor | None) -> None:
        """Measure the exploitability, unless that has been done here or is not wanted."""
        at = self.solver.iteration
        if (self.history and self.history[-1]["iteration"] == at) or not (self._boards.count or check_boards):
            return
        found = exploitability(
            self._plan.arrays, self._boards, self.solver.average_strategy(), count=check_boards, pool=pool
        )
        told = {"exploitability": found.value, "error": found.error, "gains": list(found.gains)}
        self.history = (*self.history, {"iteration": at, "seconds": self.seconds, **told})

    def _save(self) -> None:
        solver = self.solver
        settings = asdict(self._plan.settings)
        save_checkpoint(
            self._path,
            Checkpoint(settings, solver.iteration, self.seconds, self.history, solver.regrets, solver.averages),
        )


@contextmanager
def _threads(count: int) -> Iterator[Executor | None]:
    """Threads that walk; None for this one."""
    if count == 1:
        yield None
        return
    with ThreadPoolExecutor(count) as pool:
        yield pool


def _boards(plan: Plan, threads: int, prepare: Callable[[float], None] | None) -> tuple[CardAbstraction | None, Boards]:
    if not plan.is_drawn:
        return None, AllBoards(plan.tree.game)
    abstraction = card_abstraction(all_strengths(threads, prepare), *plan.settings.bucket_counts)
    return abstraction, DrawnBoards(abstraction, plan.settings.seed)


def _part(extent: Extent, iteration: int, seconds: float) -> float:
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
    """Where the settings of a training differ from those that are asked for."""
    others = [f"{name} {known.get(name)}" for name, value in asked.items() if known.get(name) != value]
    return f"it is of a training with {', '.join(others) or 'other settings'}: give the same, or another folder"
