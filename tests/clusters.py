"""A dask cluster of two workers on this machine, in a separate process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_PROGRAM = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, *[worker.pid for worker in cluster.workers.values()], flush=True)
        sys.stdin.read()
"""


@dataclass(frozen=True)
class LocalCluster:
    """A running cluster.

    Attributes:
        address: address of the scheduler.
        workers: process ids of the workers.
        process: the scheduler, which also replaces workers that have died.
    """

    address: str
    workers: tuple[int, ...]
    process: subprocess.Popen[str]

    def kill(self) -> None:
        """Kill the scheduler and its workers."""
        self.process.kill()
        self.process.wait()

    def kill_worker(self, number: int) -> None:
        """Kill a worker; the scheduler replaces it."""
        os.kill(self.workers[number], signal.SIGKILL)


@contextlib.contextmanager
def local_cluster(folder: Path) -> Iterator[LocalCluster]:
    """Start a cluster; skip the test if dask.distributed is not installed."""
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    (folder / "cluster.py").write_text(_PROGRAM)
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", str(folder / "cluster.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        # The cluster must not repeat a task whose worker has died, so that our program has to repeat it.
        env={**os.environ, "PYTHONPATH": str(_ROOT), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"},
    ) as process:
        assert process.stdout is not None
        address, *workers = process.stdout.readline().split()
        yield LocalCluster(address, tuple(map(int, workers)), process)
        process.kill()
