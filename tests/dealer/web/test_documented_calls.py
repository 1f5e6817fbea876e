"""Every call of the page about the interface, as it is written there, by the `curl` of this machine."""

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
TIME_IS_UP = 28


async def ran(command: str, folder: Path, environment: dict[str, str]) -> str:
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
    allowed = (TIME_IS_UP,) if " -m " in command else (0,)
    assert program.returncode in allowed, (command, out.decode(), err.decode())
    return out.decode()


@pytest.mark.slow
@needs("curl")
async def test_every_call_does_what_the_page_says(tmp_path: Path) -> None:
    # As written, but an answer that is no success is a failure.
    (tmp_path / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n")

    assert len(CALLS) > 15
    # An opponent that raises nothing, so that the call of the page is legal.
    *games, nolimit = small_house().games
    nolimit = replace(nolimit, bots={"calling": nolimit.bots["calling"]})
    async with visiting(replace(small_house(), games=(*games, nolimit)), tmp_path / "data") as visit:
        environment = {"ARENA": visit.address.rstrip("/"), "TOKEN": visit.token, "CURL_HOME": str(tmp_path)}
        told = []
        for call in CALLS:
            told.append(answer := await ran(call, tmp_path, environment))
            if "Idempotency-Key" in call:
                async with asyncio.timeout(PATIENCE_S):
                    while visit.house.rows("SELECT state FROM jobs") != [("done",)]:
                        await asyncio.sleep(0.05)
            if "/api/login" in call:
                environment["SESSION"] = json.loads(answer)["token"]
        assert (tmp_path / "match.log").read_text().startswith("# name/game/hands/seed ")
        assert json.loads(told[-1])["old_action"] in ("", "c")
        assert visit.house.rows("SELECT count(*) FROM jobs WHERE tag = ''") == [(1,)]


def test_a_pages_worth_of_examples_is_in_the_description() -> None:
    paths = {call.split("$ARENA")[1].strip('"').split("?")[0] for call in CALLS}
    assert {path.split("/")[2] for path in paths} == {"v1", "login", "new_hand", "act"}
