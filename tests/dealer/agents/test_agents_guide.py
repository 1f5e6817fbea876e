"""The guide for agents has what the tools answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.dealer.agents.agents import Agent, connected, local_seats
from tests.dealer.helpers import ROOT

MATCH = {"game": "nolimit", "opponents": ["mfs"], "deals": 200, "seed": 3}


def check_in_guide(text: str) -> None:
    """Check that a block of the guide is a text, but for the id of the match."""
    guide = "\n".join((ROOT / page).read_text("utf-8") for page in ("docs/agents.md", "research/tables/agents.md"))
    lines = [re.sub(r"[0-9]{8}-[0-9]{6}-agent", "20261129-020000-agent", line) for line in text.splitlines()]
    assert "\n".join(lines) in guide


async def text_of(agent: Agent, tool: str, **arguments: object) -> str:
    answer = await agent.client.call_tool(tool, arguments)
    text: str = answer.content[0].text
    return text


async def test_guide_has_the_first_answers(tmp_path: Path) -> None:
    async with connected(local_seats(tmp_path, mfs="mfs")) as agent:
        check_in_guide(await text_of(agent, "start_match", **MATCH))
        check_in_guide(await text_of(agent, "act", decision="0.1", action="fold"))
        for tool in (await agent.client.list_tools()).tools:
            check_in_guide(f"| `{tool.name}` |")


@pytest.mark.slow
async def test_guide_has_the_result_of_200_hands(tmp_path: Path) -> None:
    async with connected(local_seats(tmp_path, mfs="mfs")) as agent:
        await agent.play(await agent.call("start_match", **MATCH))
        text = await text_of(agent, "result")
    # The times and the folder differ.
    check_in_guide(text.partition(" decisions")[0])
