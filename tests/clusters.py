"""A dask cluster of two workers on this machine, as a program of its own."""

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
    """A cluster.

    Attributes:
        address: of its scheduler.
        workers: the processes of its workers.
        process: scheduler, and what starts a new worker in place of one that has died.
    """

    address: str
    workers: tuple[int, ...]
    process: subprocess.Popen[str]

    def kill(self) -> None:
        """End it all at once."""
        self.process.kill()
        self.process.wait()

    def kill_worker(self, number: int) -> None:
        """End a worker; another is started in its place."""
        os.kill(self.workers[number], signal.SIGKILL)


@contextlib.contextmanager
def local_cluster(folder: Path) -> Iterator[LocalCluster]:
    """A cluster; skips the test where dask.distributed is not installed."""
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    (folder / "cluster.py").write_text(_PROGRAM)
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", str(folder / "cluster.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        # A task whose worker dies is not done again by the cluster, so that it is done again here.
        env={**os.environ, "PYTHONPATH": str(_ROOT), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"},
    ) as process:
        assert process.stdout is not None
        address, *workers = process.stdout.readline().split()
        yield LocalCluster(address, tuple(map(int, workers)), process)
        process.kill()
