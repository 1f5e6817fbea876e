"""Program ``arena mcp``: standard streams, streamable HTTP, and recovery after a kill."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.dealer.agents.agents import Agent
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env
from tests.programs import loaded_by

MATCH = {"game": "limit", "opponents": ["calling"], "seed": 5}


@contextlib.asynccontextmanager
async def program(folder: Path) -> AsyncIterator[Agent]:
    """Start ``arena mcp`` over standard streams, and check that it prints protocol messages only."""
    from mcp import Client, StdioServerParameters, stdio_client

    problems: list[Any] = []

    async def on_message(message: Any) -> None:
        if isinstance(message, Exception):
            problems.append(message)

    arguments = [*ARENA[1:], "mcp", "limit", "calling", "--runs", "runs"]
    parameters = StdioServerParameters(
        command=sys.executable, args=arguments, cwd=folder, env=program_env(NUMBA_OPT="1")
    )
    with (folder / "errors.txt").open("a") as errors:
        async with Client(stdio_client(parameters, errors), message_handler=on_message) as client:
            yield Agent(client)
    assert not problems


async def test_match_over_standard_streams(tmp_path: Path) -> None:
    async with program(tmp_path) as agent:
        assert [game["name"] for game in (await agent.call("list_games"))["games"]] == ["limit"]
        state = await agent.call("start_match", deals=2, **MATCH)
        assert "illegal" in await agent.refusal("act", decision=state["decision"], action="raise", to=7)
        answers = await asyncio.gather(*(agent.act(state, "call") for _ in range(3)))
        assert sorted(answer["accepted"] for answer in answers) == [False, False, True]
        states = await agent.play(answers[0])
        assert states[-1]["status"] == "over"
        assert (await agent.call("result"))["hands"] == 2
        await agent.call("start_match", deals=2, **MATCH)
    # The program has ended without an error after the streams were closed.
    assert (tmp_path / "errors.txt").read_text("utf-8") == ""


@contextlib.asynccontextmanager
async def http_program(folder: Path) -> AsyncIterator[Agent]:
    """Start ``arena mcp --port`` and connect to it."""
    from mcp import Client

    arguments = [*ARENA, "mcp", "limit", "calling", "--runs", "runs", "--port", "0"]
    with subprocess.Popen(arguments, cwd=folder, env=program_env(NUMBA_OPT="1"), stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        line = await asyncio.to_thread(process.stderr.readline)
        address = re.search(rb"http://\S+", line)
        assert address, line
        try:
            async with Client(address[0].decode()) as client:
                yield Agent(client)
        finally:
            process.terminate()


@pytest.mark.slow
@pytest.mark.parametrize("start", [program, http_program], ids=["standard streams", "HTTP"])
async def test_killed_program_continues_at_the_same_decision(tmp_path: Path, start: Any) -> None:
    state: dict[str, Any] = {}
    with contextlib.suppress(BaseExceptionGroup):
        async with start(tmp_path) as agent:
            state = await agent.call("start_match", deals=3, **MATCH)
            for _ in range(6):
                state = await agent.act(state, "call")
            (folder,) = (tmp_path / "runs").iterdir()
            kill_program(tmp_path)
            await asyncio.wait_for(agent.act(state, "call"), PATIENCE_S)
    async with start(tmp_path) as agent:
        again = await agent.call("state")
        assert (again["decision"], again["hand"]) == (state["decision"], state["hand"])
        await agent.play(again)
        result = await agent.call("result")
    assert (result["match"], result["hands"], result["status"]) == (folder.name, 3, "finished")


def kill_program(folder: Path) -> None:
    import psutil

    programs = [child for child in psutil.Process().children() if child.cwd() == str(folder)]
    assert programs
    for child in programs:
        os.kill(child.pid, signal.SIGKILL)


@pytest.mark.slow
def test_command_line_does_not_load_the_package() -> None:
    assert loaded_by("import dealer.cli.mcp", ["mcp", "mcp.server", "dealer.agents.local_seats"]) == []
