"""Tasks on processes and on a cluster: ordered results, and recovery from dead workers."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from bots.errors import WorkersError
from bots.workers import Workers, cluster_workers, is_wanted, local_workers
from tests.bots.worker_tasks import count_up, die, die_once, fail, square, until_unwanted, wait_for_one
from tests.clusters import LocalCluster, local_cluster
from tests.programs import PATIENCE_S


def wait_for(is_so: Callable[[], bool]) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < until_s
        time.sleep(0.01)


def test_results_are_in_order_although_a_worker_dies(tmp_path: Path) -> None:
    with local_workers(2) as workers:
        assert workers.map(square, range(20)) == [number * number for number in range(20)]
        results = workers.each(wait_for_one, [str(tmp_path / "one")] * 2, [1, 2])
        assert next(results) == (1, 2)  # the first waits for the file
        (tmp_path / "one").touch()
        assert list(results) == [(0, 1)]
        assert workers.map(die_once, [str(tmp_path / "died")] * 6, range(6)) == [0, 1, 4, 9, 16, 25]
        assert (tmp_path / "died").exists()
        assert workers.map(square, []) == []


@pytest.mark.slow
def test_workers_that_always_die_fail_the_map() -> None:
    with (
        local_workers(1) as workers,
        pytest.raises(WorkersError, match="3 workers died in turn, and no task was finished"),
    ):
        workers.map(die, range(2))


def test_no_process_is_left_after_an_error() -> None:
    """The executor's thread of a remaining process can close a pipe that the interpreter's end writes to."""
    earlier = multiprocessing.active_children()
    with local_workers(1) as workers:
        # Processes of this machine report no progress.
        assert count_up(3) == workers.submit(count_up, 3, on_progress=print).result(PATIENCE_S) == 3
        assert is_wanted()
        with pytest.raises(ValueError, match="task 3 cannot be done"):
            workers.map(fail, [3])
    assert multiprocessing.active_children() == earlier


def test_tasks_after_deaths_are_done() -> None:
    with local_workers(1) as workers:
        with pytest.raises(WorkersError, match="3 workers died in turn"):
            workers.submit(die, 1).result(PATIENCE_S)
        assert workers.submit(square, 3).result(PATIENCE_S) == 9


def test_killed_workers_fail_their_tasks() -> None:
    workers = local_workers(1, ignores_term=True)
    ready, waiting = workers.submit(square, 2), workers.submit(wait_for_one, "never", 1)
    assert ready.result(PATIENCE_S) == 4
    workers.end(at_once=True)
    with pytest.raises((WorkersError, CancelledError)):
        waiting.result(PATIENCE_S)
    with pytest.raises(WorkersError, match="they have ended"):
        workers.submit(square, 2).result(PATIENCE_S)


@pytest.mark.skipif(os.name == "nt", reason="processes are killed by a signal")
def test_death_of_a_worker_kills_the_other_workers() -> None:
    """A broken executor waits for its other processes, which ignore SIGTERM here."""
    earlier = set(multiprocessing.active_children())
    with local_workers(2, ignores_term=True) as workers:
        # An executor does not watch a process before the submission that follows its start.
        for _ in range(3):
            workers.submit(time.sleep, 2 * PATIENCE_S)
        killed, survivor = set(multiprocessing.active_children()) - earlier
        killed.kill()
        wait_for(lambda: not survivor.is_alive())
        workers.end(at_once=True)


class BarrierExecutor(Executor):
    """Executor that runs tasks only once `count` threads submit one.

    During the shutdown it starts a process and waits for its kill.

    """

    def __init__(self, count: int) -> None:
        self._barrier = threading.Barrier(count)
        self._processes: dict[int, BarrierExecutor] = {}
        self._is_killed = threading.Event()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._barrier.wait(PATIENCE_S)
        future: Future[Any] = Future()
        future.set_result(fn(*args))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        time.sleep(0.1)
        self._processes[1] = self
        assert self._is_killed.wait(PATIENCE_S)

    def terminate(self) -> None:
        """Do nothing, like a process that takes too long to save its state."""

    def kill(self) -> None:
        self._is_killed.set()


def barrier_workers(count: int) -> Workers:
    return Workers(lambda: BarrierExecutor(count), lost=(), name="barrier", count=1)


def test_submissions_do_not_wait_for_each_other() -> None:
    """Python 3.12 calls back from a broken executor while it holds the lock that `submit` takes."""
    workers = barrier_workers(2)
    with ThreadPoolExecutor(2) as threads:
        futures = list(threads.map(workers.submit, [square] * 2, range(2)))
    assert [future.result(PATIENCE_S) for future in futures] == [0, 1]


def test_process_that_starts_during_the_end_is_killed() -> None:
    barrier_workers(1).end(at_once=True)


PARENT = """
import os, time
from bots.workers import local_workers

if __name__ == "__main__":
    print(local_workers(1, ignores_term=True).submit(os.getpid).result(), flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(os.name == "nt", reason="processes are killed by a signal")
def test_death_of_an_idle_worker_does_not_delay_the_end(tmp_path: Path) -> None:
    """Between tasks no task reports a death, and the executor waits for processes that ignore SIGTERM."""
    earlier = set(multiprocessing.active_children())
    workers = local_workers(2, ignores_term=True)
    # Both processes are set up when one has done a task while the other waits.
    waiting = workers.submit(wait_for_one, str(tmp_path / "file"), 1)
    assert workers.submit(square, 2).result(PATIENCE_S) == 4
    (tmp_path / "file").touch()
    assert waiting.result(PATIENCE_S) == 1
    killed, survivor = set(multiprocessing.active_children()) - earlier
    killed.kill()
    try:
        wait_for(lambda: not survivor.is_alive())
    finally:
        survivor.kill()
    workers.end()


@pytest.mark.skipif(os.name == "nt", reason="processes are killed by a signal")
def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(PARENT, "ascii")
    with subprocess.Popen([sys.executable, str(tmp_path / "parent.py")], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = psutil.Process(int(parent.stdout.readline()))
        worker.terminate()
        parent.kill()
    # The adopting process may leave it as a zombie.
    wait_for(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE)


def test_number_of_workers_is_positive() -> None:
    with pytest.raises(ValueError, match="there must be at least 1 worker, not 0"):
        local_workers(0)


@pytest.mark.slow
class TestCluster:
    @pytest.fixture
    def cluster(self, tmp_path: Path) -> Iterator[LocalCluster]:
        with local_cluster(tmp_path) as cluster:
            yield cluster

    def test_results_are_in_order_although_a_worker_dies(self, cluster: LocalCluster, tmp_path: Path) -> None:
        with cluster_workers(cluster.address) as workers:
            assert workers.count == 2
            assert workers.map(pow, range(20), [2] * 20) == [number * number for number in range(20)]
            assert workers.map(die_once, [str(tmp_path / "died")] * 6, range(6)) == [0, 1, 4, 9, 16, 25]
            assert (tmp_path / "died").exists()

    def test_tasks_report_progress_and_end_when_cancelled(self, cluster: LocalCluster, tmp_path: Path) -> None:
        received: list[tuple[int, ...]] = []
        with cluster_workers(cluster.address) as workers:
            assert workers.submit(count_up, 3, on_progress=received.append).result(PATIENCE_S) == 3
            wait_for(lambda: received == [(0, 7), (1, 7), (2, 7)])
            future = workers.submit(until_unwanted, str(tmp_path / "ended"), on_progress=received.append)
            wait_for(lambda: received[-1] == (99,))
            assert future.cancel()
            wait_for((tmp_path / "ended").exists)

    def test_lost_scheduler_fails_the_tasks(self, cluster: LocalCluster) -> None:
        with cluster_workers(cluster.address) as workers:
            assert workers.map(abs, [-1]) == [1]
            cluster.kill()
            with pytest.raises(WorkersError, match=r"the cluster at tcp://.*: the connection was lost"):
                workers.map(time.sleep, [0.2] * 20)

    def test_missing_scheduler_is_refused(self) -> None:
        pytest.importorskip("distributed", reason="dask.distributed is not installed")
        with pytest.raises(WorkersError, match=r"no scheduler answers at tcp://127\.0\.0\.1:1 within 10 s"):
            cluster_workers("tcp://127.0.0.1:1")
