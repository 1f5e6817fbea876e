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
        settings = plan.settings
        solver = Solver(
            plan.arrays, boards, settings.boards, Discounts(settings.gains, settings.losses, settings.average)
        )
        seconds = 0.0
        history: tuple[Mapping[str, Any], ...] = ()
        if begun is not None:
            if len(begun.regrets) != len(solver.regrets):
                raise CheckpointError(str(path), "it is of another version of the game")
            solver.resume(begun.iteration, begun.regrets, begun.averages)
            seconds, history = begun.seconds, begun.history
        saved_s = seconds

        def check(at: int) -> None:
            nonlocal history
            if history and history[-1]["iteration"] == at:
                return
            if boards.count or check_boards:
                found = exploitability(plan.arrays, boards, solver.average_strategy(), count=check_boards, pool=pool)
                told = {"exploitability": found.value, "error": found.error, "gains": list(found.gains)}
                history = (*history, {"iteration": at, "seconds": seconds, **told})

        def save() -> None:
            save_checkpoint(
                path,
                Checkpoint(asdict(settings), solver.iteration, seconds, history, solver.regrets, solver.averages),
            )

        # Compiling is no iterating.
        Solver(plan.arrays, boards, 1, Discounts()).iterate(pool)
        began = solver.iteration, seconds
        nodes = 2 * len(plan.tree.kinds) * solver.per_iteration
        while _part(extent, solver.iteration, seconds) < 1:
            before = time.perf_counter()
            solver.iterate(pool)
            seconds += time.perf_counter() - before
            if _is_check(solver.iteration):
                check(solver.iteration)
            if seconds - saved_s >= save_every_s:
                save()
                saved_s = seconds
            if show is not None:
                speed = nodes * (solver.iteration - began[0]) / max(seconds - began[1], 1e-9)
                part = _part(extent, solver.iteration, seconds)
                last = history[-1] if history else None
                show(Progress(solver.iteration, part, seconds, speed, speed * boards.holdings, last))
        check(solver.iteration)
        save()
        strategy = folder / STRATEGY
        record = {
            "settings": asdict(settings),
            "iterations": solver.iteration,
            "boards": solver.iteration * solver.per_iteration,
            "seconds": round(seconds, 1),
            "history": [dict(row) for row in history],
        }
        write_strategy(strategy, plan.tree, plan.buckets, abstraction, solver.average_strategy(), record)
    return Trained(strategy, solver.iteration, seconds, history)


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
