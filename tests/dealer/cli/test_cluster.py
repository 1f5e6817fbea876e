"""``arena tournament --scheduler`` on a local cluster: losses of workers and schedulers, Ctrl-C, resume."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clusters import LocalCluster, local_cluster
from tests.dealer.cli.conftest import Arena
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env, without_times
from tests.programs import start

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="sends signals"),
]

CUP = ("tournament", "limit", "leduc", "calling", "raising", "Rnd=random", "--seed", "3", "--in-process")
HANDS = ("-n", "3000")
LONG_CUP = ("tournament", "limit", "calling", "raising", "random", "--seed", "3", "--in-process", "-n", "10000")
"""A tournament of three contests for two workers, whose third starts when one has ended and takes seconds."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[LocalCluster]:
    with local_cluster(tmp_path) as cluster:
        yield cluster


def logs(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*.log"))}


def result(run: Path) -> Any:
    return without_times(json.loads((run / "result.json").read_text("utf-8")))


def finished(run: Path) -> int:
    return len(list(run.glob("*/result.json")))


@contextlib.contextmanager
def running(folder: Path, *arguments: str) -> Iterator[Any]:
    process = start([*ARENA, *arguments, "--out", "there"], cwd=folder, env=program_env())
    try:
        yield process
    finally:
        process.kill()


def wait_for(is_so: Callable[[], bool]) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < until_s
        time.sleep(0.01)


def test_killed_worker_changes_no_result(tmp_path: Path, arena: Arena, cluster: LocalCluster) -> None:
    with running(tmp_path, *CUP, *HANDS, "--scheduler", cluster.address, "-q") as process:
        wait_for(lambda: finished(tmp_path / "there") > 0)
        cluster.kill_worker(0)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (0, b"")
    assert arena(*CUP, *HANDS, "--out", "here", "-q").code == 0
    assert logs(tmp_path / "there") == logs(tmp_path / "here")
    assert len(logs(tmp_path / "there")) == 12
    assert result(tmp_path / "there") == result(tmp_path / "here")


def test_run_of_a_lost_scheduler_is_resumed_by_another(tmp_path: Path, arena: Arena, cluster: LocalCluster) -> None:
    with running(tmp_path, *LONG_CUP, "--scheduler", cluster.address) as process:
        wait_for(lambda: finished(tmp_path / "there") > 0)
        cluster.kill()
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert [line for line in err.splitlines() if b" hands/s" not in line] == []
    assert f"the cluster at {cluster.address}: the connection was lost." in out.decode()
    assert b"Resume with:\n    arena resume there\n" in out
    interrupted_logs = logs(tmp_path / "there")
    assert interrupted_logs
    (tmp_path / "other").mkdir()
    with local_cluster(tmp_path / "other") as other:
        command = arena("resume", "there", "--scheduler", other.address, "-q")
    assert (command.code, command.err) == (0, "")
    assert arena(*LONG_CUP, "--out", "here", "-q").code == 0
    assert logs(tmp_path / "there") == logs(tmp_path / "here")
    assert logs(tmp_path / "there").items() > interrupted_logs.items()
    assert result(tmp_path / "there") == result(tmp_path / "here")


def test_ctrl_c_frees_the_workers(tmp_path: Path, arena: Arena, cluster: LocalCluster) -> None:
    with running(tmp_path, *CUP, "-n", "1000000", "--scheduler", cluster.address) as process:
        # The line that is printed every ten seconds tells of hands of contests that have not ended.
        assert b"/6,000,000 deals" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert b"Resume with:\n    arena resume there\n" in out
    # The workers are free again: this would wait for days.
    command = arena(*CUP, "-n", "20", "--scheduler", cluster.address, "-q", "--out", "short")
    assert (command.code, command.err) == (0, "")


def test_refusal_is_one_sentence(tmp_path: Path, arena: Arena, cluster: LocalCluster) -> None:
    command = arena(*CUP, *HANDS, "--scheduler", "tcp://127.0.0.1:1", "--out", "there")
    assert (command.code, command.sentence) == (2, "no scheduler answers at tcp://127.0.0.1:1 within 10 s")
    command = arena(*CUP, *HANDS, "--scheduler", cluster.address, "--workers", "2", "--out", "there")
    assert command.code == 2
    assert command.sentence.startswith("--workers counts matches on this machine and does not go with --scheduler")
    assert not (tmp_path / "there").exists()
    assert arena("play", "kuhn", "-n", "2", "--in-process", "--out", "one").code == 0
    command = arena("resume", "one", "--scheduler", cluster.address)
    assert command.code == 2
    assert "arena: --scheduler is for tournaments, and one holds one contest; leave it out" in command.err
