"""Full disks, exhausted descriptors and changed clocks on a server that runs unattended."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dealer.server.db.run_changes import seconds_per_hand
from dealer.server.db.store import Store
from dealer.server.db.users import add_user
from dealer.server.queue.playing import Watchers
from dealer.server.resources import FILE_LIMIT_REMEDY, Disk, file_limit_problem, new_exception_handler, raise_limit
from dealer.server.server_settings import ServerSettings, WebSettings, default_settings
from logs.whole_file import LineFile
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.server.servers import KUHN, allow_slow_bots, reference_settings, running
from tests.filled import fill

CONFIG = f"""
startupTimeoutSecs 20
responseTimeoutSecs 20
game {KUHN} {{
    matchHands 3
    maxRunningJobs 2
    bot k1 ./bot.sh
    bot slow ./slow.sh
}}
user ann secret
"""


@pytest.mark.usefixtures("house_folder")
async def test_full_disk_during_a_match_loses_no_run(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """While the disk is full, no run starts and no request is accepted. Both changes are logged once."""
    is_full = False
    refused: list[str] = []
    write = LineFile.write_bytes

    def write_if_possible(self: LineFile, data: bytes) -> None:
        if is_full:
            refused.append(self.path)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
        write(self, data)

    monkeypatch.setattr(LineFile, "write_bytes", write_if_possible)
    monkeypatch.setattr("dealer.server.resources.free_bytes", lambda folder: 1000 if is_full else 10**12)
    monkeypatch.setattr("dealer.server.resources._CHECK_INTERVAL_S", 0.0)
    monkeypatch.setattr("dealer.server.resources._RECHECK_S", 0.02)

    with caplog.at_level(logging.WARNING):
        async with running(reference_settings(CONFIG)) as house:
            ann = await house.log_in()
            ann.send(f"RUNMATCHES {KUHN} 2 held 7 slow k1 k1\n")
            await ann.expect_remark("QUEUED ann.held: .*")
            async with asyncio.timeout(PATIENCE_S):
                while not house.rows("SELECT id FROM runs"):
                    await asyncio.sleep(0.02)
            is_full = True
            ann.send(f"RUNMATCHES {KUHN} 1 t 7 k1 k1 k1\n")
            await ann.expect("BAD RUNMATCHES COMMAND\n")
            await ann.expect_remark("the server's disk is full; try again later")
            allow_slow_bots(1)
            async with asyncio.timeout(PATIENCE_S):
                while not refused:
                    await asyncio.sleep(0.02)
            await asyncio.sleep(0.2)
            before = len(refused)
            await asyncio.sleep(0.2)
            assert len(refused) == before, "a run that failed for space waits for space"
            is_full = False
            allow_slow_bots(4)
            await ann.expect_remark("ann.held run 1 of 2: finished, .*")
            await ann.expect_remark("ann.held run 2 of 2: finished, .*")
            assert house.rows("SELECT number, state FROM runs ORDER BY id") == [(1, "finished"), (2, "finished")]
            logs = sorted((house.folder / "runs").glob("*/match*.log"))
            assert [path.read_text().count("\nSTATE:") for path in logs] == [3, 3]
    messages = [record.getMessage() for record in caplog.records if record.name == "dealer.server.resources"]
    assert [text.partition(" at ")[0] for text in messages] == ["only 0 MB are free", "enough space is free"]
    assert "least_free_mb is 500" in messages[0]


def test_disk_without_a_limit_or_of_unknown_free_space_has_space(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert Disk(tmp_path / "nowhere", 10**9, lambda: None).has_space
    (record,) = caplog.records
    assert "cannot be determined: " in record.getMessage()
    monkeypatch.setattr("dealer.server.resources.free_bytes", lambda folder: 0)
    assert Disk(tmp_path, 0, lambda: None).has_space


def test_descriptor_limit_is_raised_to_the_maximum_allowed() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, before[0]), before[1]))
        limit = raise_limit()
        assert limit is not None
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (limit, before[1])
        assert limit >= min(before[0], 65_536)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_too_few_descriptors_are_reported() -> None:
    settings = ServerSettings((), max_connections=500, web=WebSettings(max_connections=300))
    assert file_limit_problem(settings, None) == file_limit_problem(settings, 1000) == ""
    assert f"{file_limit_problem(settings, 999)}: {FILE_LIMIT_REMEDY}" == (
        "999 files and connections can be open at a time, and the configuration needs 1,000: raise the limit "
        "(ulimit -n, LimitNOFILE of a unit), or lower max_connections"
    )


async def test_refused_accepts_are_reported_once_and_repeated(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Three failures of `accept` for lack of descriptors delay a client, which is served then."""
    accept = socket.socket.accept
    refused = 0

    def accept_later(self: socket.socket) -> Any:
        nonlocal refused
        if refused < 3:
            refused += 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return accept(self)

    monkeypatch.setattr(socket.socket, "accept", accept_later)
    monkeypatch.setattr("asyncio.constants.ACCEPT_RETRY_DELAY", 0.01)

    asyncio.get_running_loop().set_exception_handler(new_exception_handler())

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"served")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        reply = await reader.read()
        writer.close()
    assert reply == b"served"
    assert refused == 3
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == [
        "no connection can be accepted: Too many open files; raise the limit of open files (ulimit -n)"
    ]


def test_other_errors_of_a_loop_go_to_the_default_handler() -> None:
    contexts: list[dict[str, Any]] = []
    loop = SimpleNamespace(default_exception_handler=contexts.append)
    context = {"message": "something else", "exception": ValueError()}
    new_exception_handler()(cast(asyncio.AbstractEventLoop, loop), context)
    assert contexts == [context]


def test_run_across_a_clock_set_back_lasts_no_negative_time(tmp_path: Path) -> None:
    game = next(game for game in default_settings().games if game.game.num_players == 2)
    with contextlib.closing(Store(tmp_path / "server.sqlite3")) as store:
        for number in range(10):
            store.write_now(lambda db, number=number: add_user(db, f"user{number}"))  # type: ignore[misc]
        store.write_now(lambda db: fill(db, game, 4))
        usual_s = seconds_per_hand(store, game.name)
        assert usual_s == pytest.approx(1 / 200)
        store.write_now(lambda db: db.execute("UPDATE runs SET ended_s = started_s - 1e9 WHERE id <= 2"))
        assert seconds_per_hand(store, game.name) == pytest.approx(usual_s / 2)


def test_ended_runs_are_not_watched() -> None:
    watchers = Watchers()
    for number in range(1, 4):
        watchers.add_run(number, lambda _: None)
        live = watchers.live(number)
        assert live is not None
        assert watchers.live(number) is live
        watchers.remove_run(number)
        assert watchers.live(number) is None
    assert not watchers._by_run
