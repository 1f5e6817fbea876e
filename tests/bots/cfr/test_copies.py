"""Copies that learn apart: the same whoever computes them, and their mean nearer to an equilibrium than they are."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bots.cfr.deals import DrawnBoards
from bots.cfr.files import read_strategy
from bots.cfr.settings import CfrSettings
from bots.cfr.solver import Discounts, Solver, advance_copy, exploitability, mean_strategy, tree_arrays
from bots.cfr.training import TrainingLimit, TrainingPlan, plan_training, train
from bots.cfr.tree import betting_tree
from bots.errors import CheckpointError, SolvingError
from bots.workers import Workers, cluster_workers
from protocol import find_game
from tests.bots.cfr.drawn import DrawnLeduc, random_cards
from tests.clusters import local_cluster


@pytest.mark.slow  # numba compiles
def test_the_mean_of_copies_is_nearer_to_an_equilibrium_than_they_are() -> None:
    boards = DrawnLeduc()
    tree = tree_arrays(betting_tree(find_game("leduc")[1]), boards.buckets, boards.float_type)
    copies = [Solver(tree, boards, 1, Discounts(), 4, copy) for copy in range(4)]
    for copy in copies:
        advance_copy(copy, 200)
    assert sorted(boards.numbers) == list(range(800))
    apart = [exploitability(tree, boards.all, copy.average_strategy()).value for copy in copies]
    together = exploitability(tree, boards.all, mean_strategy(copies)).value
    # At most their mean by convexity; the luck of the boards evens out as well.
    assert together < 0.75 * np.mean(apart)
    alone = Solver(tree, boards, 1, Discounts())
    advance_copy(alone, 200)
    assert together < exploitability(tree, boards.all, alone.average_strategy()).value


def test_copies_of_a_game_whose_boards_are_all_walked_are_refused() -> None:
    with pytest.raises(SolvingError, match=r"leduc: all of its boards are walked in each iteration"):
        plan_training(CfrSettings(game="leduc", copies=2))
    with pytest.raises(SolvingError, match=r"1 to 64 copies, not 65"):
        plan_training(CfrSettings(copies=65))


class PicklingThreads(ThreadPoolExecutor):
    """Threads that are given and give what another process would."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function with copies of the arguments."""
        function, arguments = pickle.loads(pickle.dumps((fn, args)))
        return super().submit(lambda: pickle.loads(pickle.dumps(function(*arguments))))


def probabilities(plan: TrainingPlan, folder: Path, ends: list[int], **how: Any) -> bytes:
    """What a training comes to that is interrupted after some iterations."""
    for end in ends:
        trained = train(plan, folder, TrainingLimit(iterations=end), check_boards=0, **how)
        assert trained.iteration == end
    strategy = read_strategy(str(trained.path))
    assert strategy.record["boards"] == 2 * ends[-1]
    return strategy.probabilities.tobytes()


@pytest.mark.slow  # numba compiles
def test_workers_and_interruptions_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cards = random_cards()
    monkeypatch.setattr("bots.cfr.training._boards", lambda plan, *_: (cards, DrawnBoards(cards, plan.settings.seed)))
    plan = plan_training(CfrSettings(buckets="7/5/6", boards=1, copies=2))
    here = probabilities(plan, tmp_path / "here", [7])
    assert probabilities(plan, tmp_path / "threads", [1, 3, 7], threads=2) == here
    with Workers(lambda: PicklingThreads(2), lost=(), name="threads", count=2) as workers:
        assert probabilities(plan, tmp_path / "elsewhere", [2, 7], workers=workers) == here
    other = plan_training(CfrSettings(buckets="7/5/6", boards=1, copies=3))
    with pytest.raises(CheckpointError, match="made with copies 2, not copies 3"):
        train(other, tmp_path / "here", TrainingLimit(iterations=8))


@pytest.mark.slow  # every process counts the showdowns of hold'em
def test_a_cluster_comes_to_the_same_strategy(tmp_path: Path) -> None:
    plan = plan_training(CfrSettings(buckets="4", boards=1, copies=2))
    with local_cluster(tmp_path) as cluster, cluster_workers(cluster.address) as workers:
        elsewhere = probabilities(plan, tmp_path / "cluster", [3], workers=workers)
    assert probabilities(plan, tmp_path / "here", [3]) == elsewhere
