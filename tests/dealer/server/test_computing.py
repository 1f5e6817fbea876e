"""Worker processes of a server."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import psutil
import pytest

from bots.errors import WorkersError
from dealer.server.computing import Computing
from tests.programs import PATIENCE_S


def _socket_count() -> int:
    return sum("socket:" in os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd"))


def _fail() -> None:
    raise LookupError("no such thing")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
async def test_killed_process_is_replaced_and_processes_end_with_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    computing = Computing()
    killed = psutil.Process(computing.wait(os.getpid))
    killed.kill()
    killed.wait(PATIENCE_S)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.set_inheritable(True)
        replacement = psutil.Process(await computing.run(os.getpid))
    assert replacement.pid not in (killed.pid, os.getpid())
    assert computing.wait(_socket_count) == 0
    monkeypatch.chdir(tmp_path)
    assert computing.wait(os.getcwd) == str(tmp_path), "relative paths are those of this process"
    with pytest.raises(LookupError, match="no such thing"):
        await computing.run(_fail)
    assert caplog.messages == []
    computing.close()
    assert not replacement.is_running()
    with pytest.raises(WorkersError, match="they have ended") as caught:
        await computing.run(os.getpid)
    assert caplog.messages == [str(caught.value)]
