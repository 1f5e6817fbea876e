"""Processes that compute for a server: results as in this process, and a process that dies costs nothing but time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from bots.errors import WorkersError
from dealer.server.computing import Computing
from tests.programs import PATIENCE_S


@pytest.fixture(scope="module")
def computing() -> Iterator[Computing]:
    with contextlib.closing(Computing()) as computing:
        yield computing


def _run(task: object) -> object:
    async def main() -> object:
        async with asyncio.timeout(PATIENCE_S):
            return await task  # type: ignore[misc]

    return asyncio.run(main())


def _die(path: str) -> int:
    """Kill the process, the first time."""
    if not Path(path).exists():
        Path(path).touch()
        os._exit(9)
    return os.getpid()


def _sockets() -> int:
    return sum("socket:" in os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd"))


def _fail() -> None:
    raise LookupError("no such thing")


def _die_always() -> None:
    os._exit(9)


def test_a_task_whose_process_dies_is_done_again(
    computing: Computing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Paths are those of this process, wherever that is.
    monkeypatch.chdir(tmp_path)
    first = _run(computing.run(os.getpid))
    assert _run(computing.run(_die, "died")) not in (first, os.getpid())
    assert (tmp_path / "died").exists()


def test_a_killed_process_is_replaced(computing: Computing) -> None:
    process = psutil.Process(computing.wait(os.getpid))
    process.kill()
    process.wait(PATIENCE_S)
    assert computing.wait(os.getpid) != process.pid


def test_errors_are_those_of_the_task(computing: Computing) -> None:
    with pytest.raises(LookupError, match="no such thing"):
        computing.wait(_fail)


def test_what_kills_its_process_every_time_is_given_up(computing: Computing, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(WorkersError, match="3 workers died in turn, and no task was finished"):
        _run(computing.run(_die_always))
    assert caplog.messages == [
        "the workers of this machine: 3 workers died in turn, and no task was finished",
    ]
    assert computing.wait(abs, -1) == 1


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_processes_inherit_no_sockets_and_end_with_the_server() -> None:
    computing = Computing()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.set_inheritable(True)
        assert computing.wait(_sockets) == 0
    process = psutil.Process(computing.wait(os.getpid))
    computing.close()
    assert not process.is_running()
    with pytest.raises(WorkersError, match="they have ended"):
        computing.wait(os.getpid)
