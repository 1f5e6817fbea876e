"""Copies that learn separately: independent of the workers, with a mean nearer to equilibrium."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bots.cfr import abstraction, training
from bots.cfr.strategy_files import read_strategy
from bots.cfr.training import TrainingPlan, plan_training, train
from bots.cfr.training_settings import CfrSettings
from bots.errors import BotFileError, SolvingError
from bots.workers import Workers, cluster_workers
from tests.bots.cfr.drawn import random_hands, random_tables
from tests.clusters import local_cluster


def test_invalid_copies_are_refused() -> None:
    with pytest.raises(SolvingError, match=r"leduc: all of its boards are walked in each iteration"):
        plan_training(CfrSettings(game="leduc", copies=2))
    with pytest.raises(SolvingError, match=r"copies must be 1 to 64, not 65"):
        plan_training(CfrSettings(copies=65))


class PicklingThreads(ThreadPoolExecutor):
    """Threads that pickle arguments and results, as processes do."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function with copies of the arguments."""
        function, arguments = pickle.loads(pickle.dumps((fn, args)))
        return super().submit(lambda: pickle.loads(pickle.dumps(function(*arguments))))


def probabilities(plan: TrainingPlan, folder: Path, ends: list[int], **how: Any) -> bytes:
    """Train with an interruption after some iterations."""
    for end in ends:
        trained = train(plan, folder, iterations=end, **how)
        assert trained.iteration == end
    strategy = read_strategy(str(trained.path))
    assert strategy.record["deals"] == 2 * 20 * ends[-1]
    return strategy.probabilities.tobytes()


@pytest.mark.slow  # numba compiles
def test_workers_and_interruptions_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("abstraction", "training"):
        monkeypatch.setattr(f"bots.cfr.{module}.cluster_hands", lambda *_: (random_hands(), random_tables()))
    plan = plan_training(CfrSettings(buckets="7/5/6", deals=20, copies=2))
    here = probabilities(plan, tmp_path / "here", [7])
    assert probabilities(plan, tmp_path / "threads", [1, 3, 7], threads=2) == here
    with Workers(lambda: PicklingThreads(2), lost=(), name="threads", count=2) as workers:
        assert probabilities(plan, tmp_path / "elsewhere", [2, 7], workers=workers) == here
    other = plan_training(CfrSettings(buckets="7/5/6", deals=20, copies=3))
    with pytest.raises(BotFileError, match="made with copies 2, not copies 3"):
        train(other, tmp_path / "here", iterations=8)


def draw_hands() -> None:
    """Draw the buckets of a process, as clustering takes minutes."""
    for module in (abstraction, training):
        module.cluster_hands = lambda *_: (random_hands(), random_tables())  # type: ignore[attr-defined]


@pytest.mark.slow  # numba compiles in every process
def test_a_cluster_comes_to_the_same_strategy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (abstraction, training):
        # monkeypatch undoes the change here.
        monkeypatch.setattr(module, "cluster_hands", None)
    draw_hands()
    plan = plan_training(CfrSettings(buckets="7/5/6", deals=20, copies=2))
    with local_cluster(tmp_path) as cluster, cluster_workers(cluster.address) as workers:
        distributed = pytest.importorskip("distributed")
        with distributed.Client(cluster.address) as client:
            client.run(draw_hands)
        elsewhere = probabilities(plan, tmp_path / "cluster", [3], workers=workers)
    assert probabilities(plan, tmp_path / "here", [3]) == elsewhere
