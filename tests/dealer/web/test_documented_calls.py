"""Calls of the page about the HTTP interface, run by `curl`."""

from __future__ import annotations

import asyncio
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.dealer.helpers import ROOT
from tests.dealer.web.visits import PATIENCE_S, small_house, visiting
from tests.outside import SHELL, needs

CALLS = re.findall(r"(?m)^    (curl .*)$", (ROOT / "docs" / "http-api.md").read_text("utf-8"))
CURL_TIMEOUT = 28
"""Exit code of curl after the time in ``-m``."""


async def run_command(command: str, folder: Path, environment: dict[str, str]) -> str:
    program = await asyncio.create_subprocess_exec(
        SHELL,
        "-c",
        command,
        cwd=folder,
        env=os.environ | environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(program.communicate(), PATIENCE_S)
    expected = CURL_TIMEOUT if " -m " in command else 0
    assert program.returncode == expected, (command, out.decode(), err.decode())
    return out.decode()


@pytest.mark.slow
@needs("curl")
async def test_documented_calls_work(tmp_path: Path) -> None:
    # Make curl fail for unsuccessful answers.
    (tmp_path / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n")

    assert len(CALLS) > 15
    # The action in the page's call is legal only if the opponent never raises.
    *games, nolimit = small_house().games
    nolimit = replace(nolimit, bots={"calling": nolimit.bots["calling"]})
    async with visiting(replace(small_house(), games=(*games, nolimit)), tmp_path / "data") as visit:
        environment = {"ARENA": visit.address.rstrip("/"), "TOKEN": visit.token, "CURL_HOME": str(tmp_path)}
        answer = ""
        for call in CALLS:
            answer = await run_command(call, tmp_path, environment)
            if "Idempotency-Key" in call:
                async with asyncio.timeout(PATIENCE_S):
                    while visit.house.rows("SELECT state FROM jobs") != [("done",)]:
                        await asyncio.sleep(0.05)
            if "/api/login" in call:
                environment["SESSION"] = json.loads(answer)["token"]
        assert (tmp_path / "match.log").read_text().startswith("# name/game/hands/seed ")
        assert json.loads(answer)["old_action"] in ("", "c")
        assert visit.house.rows("SELECT count(*) FROM jobs WHERE tag = ''") == [(1,)]


def test_documented_calls_cover_both_interfaces() -> None:
    paths = {call.split("$ARENA")[1].strip('"').split("?")[0] for call in CALLS}
    assert {path.split("/")[2] for path in paths} == {"v1", "login", "new_hand", "act"}
