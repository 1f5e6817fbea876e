"""Matches of a server in separate dealer processes."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from dealer.server.server_settings import read_toml_settings
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.server.servers import House, running

CONFIG = """
[[games]]
game = "kuhn"
deals = 500
bots = ["random", "calling"]
"""


def _dealer_processes() -> list[psutil.Process]:
    processes = psutil.Process().children(recursive=True)
    return [process for process in processes if "dealer_process" in " ".join(_command(process))]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


async def _until_hands_are_logged(house: House) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not any(path.read_bytes().count(b"\n") > 50 for path in (house.folder / "runs").glob("*/*.log")):
            await asyncio.sleep(0.02)


@pytest.mark.usefixtures("house_folder")
async def test_run_continues_when_its_dealer_process_is_killed() -> None:
    Path("s.toml").write_text(CONFIG)
    settings = replace(read_toml_settings(Path("s.toml")), port=0)
    async with running(settings, dealer_count=1) as house:
        ann = await house.log_in("player", house.started.token or "")
        ann.send("RUNMATCHES kuhn 1 t 7 random calling\n")
        await ann.expect_remark("QUEUED player.t: .*")
        await _until_hands_are_logged(house)
        (process,) = _dealer_processes()
        process.send_signal(signal.SIGKILL)
        await ann.expect_remark("player.t run 1 of 1: finished, .*")
        (log,) = (house.folder / "runs").glob("*/*.log")
        lines = log.read_text().splitlines()
        assert [line.split(":")[1] for line in lines if line.startswith("STATE:")] == [str(n) for n in range(500)]
        assert house.rows("SELECT number, state FROM runs") == [(1, "finished")]
    assert not _dealer_processes()
