"""Answers of the tools in the guide for agents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.dealer.agents.agents import Agent, connected_agent, local_seats
from tests.dealer.helpers import ROOT

MATCH = {"game": "nolimit", "opponents": ["mfs"], "deals": 200, "seed": 3}


def check_in_guide(text: str) -> None:
    """Check that the guide contains a text, with another id of the match."""
    guide = "\n".join((ROOT / page).read_text("utf-8") for page in ("docs/agents.md", "research/tables/agents.md"))
    lines = [re.sub(r"[0-9]{8}-[0-9]{6}-agent", "20261129-020000-agent", line) for line in text.splitlines()]
    assert "\n".join(lines) in guide


async def text_of(agent: Agent, tool: str, **arguments: object) -> str:
    answer = await agent.client.call_tool(tool, arguments)
    text: str = answer.content[0].text
    return text


async def test_guide_has_the_first_answers(tmp_path: Path) -> None:
    async with connected_agent(local_seats(tmp_path, mfs="mfs")) as agent:
        check_in_guide(await text_of(agent, "start_match", **MATCH))
        check_in_guide(await text_of(agent, "act", decision="0.1", action="fold"))
        for tool in (await agent.client.list_tools()).tools:
            check_in_guide(f"| `{tool.name}` |")


@pytest.mark.slow
async def test_guide_has_the_result_of_200_hands(tmp_path: Path) -> None:
    async with connected_agent(local_seats(tmp_path, mfs="mfs")) as agent:
        await agent.play(await agent.call("start_match", **MATCH))
        text = await text_of(agent, "result")
    # The rest of the text has times and a folder.
    check_in_guide(text.partition(" decisions")[0])
