"""Tasks over processes and over a cluster: results in order, and a worker that dies costs nothing but time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bots.errors import WorkersError
from bots.workers import cluster_workers, local_workers


def square(number: int) -> int:
    return number * number


def die_once(path: str, number: int) -> int:
    """Kill the worker the first time that task 2 is done."""
    if number == 2:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return number * number
        os._exit(9)
    return number * number


def die(number: int) -> int:
    os._exit(9)


def fail(number: int) -> int:
    raise ValueError(f"task {number} cannot be done")


def wait(number: int) -> int:
    time.sleep(0.2)
    return number


def test_over_processes(tmp_path: Path) -> None:
    with local_workers(2) as workers:
        assert workers.map(square, range(20)) == [number * number for number in range(20)]
        assert workers.map(die_once, [str(tmp_path / "died")] * 6, range(6)) == [0, 1, 4, 9, 16, 25]
        assert (tmp_path / "died").exists()
        assert workers.map(square, []) == []
        with pytest.raises(ValueError, match="task 3 cannot be done"):
            workers.map(fail, [3])


@pytest.mark.slow
def test_workers_that_always_die() -> None:
    with (
        local_workers(1) as workers,
        pytest.raises(WorkersError, match="3 workers died in turn, and no task was finished"),
    ):
        workers.map(die, range(2))


def test_no_workers() -> None:
    with pytest.raises(ValueError, match="there must be at least 1 worker, not 0"):
        local_workers(0)


ROOT = Path(__file__).parents[2]
CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.mark.slow
class TestCluster:
    @pytest.fixture
    def cluster(self, tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
        pytest.importorskip("distributed", reason="dask.distributed is not installed")
        (tmp_path / "cluster.py").write_text(CLUSTER)
        with subprocess.Popen(
            [sys.executable, "-W", "ignore", str(tmp_path / "cluster.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            # A task whose worker dies is not done again by the cluster, so that it is done again here.
            env={**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"},
        ) as process:
            assert process.stdout is not None
            yield process.stdout.readline().strip(), process
            process.kill()

    def test_two_workers(self, cluster: tuple[str, subprocess.Popen[str]], tmp_path: Path) -> None:
        with cluster_workers(cluster[0]) as workers:
            assert workers.count == 2
            assert workers.map(pow, range(20), [2] * 20) == [number * number for number in range(20)]
            assert workers.map(die_once, [str(tmp_path / "died")] * 6, range(6)) == [0, 1, 4, 9, 16, 25]
            assert (tmp_path / "died").exists()

    def test_a_scheduler_that_goes_away(self, cluster: tuple[str, subprocess.Popen[str]]) -> None:
        with cluster_workers(cluster[0]) as workers:
            assert workers.map(abs, [-1]) == [1]
            cluster[1].kill()
            cluster[1].wait()
            with pytest.raises(WorkersError, match=r"the cluster at tcp://.*: the connection was lost"):
                workers.map(time.sleep, [0.2] * 20)

    def test_no_scheduler(self) -> None:
        pytest.importorskip("distributed", reason="dask.distributed is not installed")
        with pytest.raises(WorkersError, match=r"no scheduler answers at tcp://127\.0\.0\.1:1 within 10 s"):
            cluster_workers("tcp://127.0.0.1:1")
