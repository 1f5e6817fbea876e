"""Agents that play through a client of the package `mcp`, which is imported late because that takes a second."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

State = dict[str, Any]


@dataclass
class Agent:
    """Scripted agent.

    Attributes:
        texts: all answers as JSON.
    """

    client: Any
    texts: list[str] = field(default_factory=list)

    async def call(self, tool: str, **arguments: Any) -> State:
        answer = await self._ask(tool, arguments)
        assert not answer.is_error, answer.content[0].text
        data: State = answer.structured_content
        return data

    async def refusal(self, tool: str, **arguments: Any) -> str:
        answer = await self._ask(tool, arguments)
        assert answer.is_error
        text: str = answer.content[0].text
        return text.removeprefix(f"Error executing tool {tool}: ")

    async def _ask(self, tool: str, arguments: dict[str, Any]) -> Any:
        answer = await self.client.call_tool(tool, arguments)
        self.texts += [answer.model_dump_json()]
        return answer

    async def act(self, state: State, action: str, to: int | None = None, **arguments: Any) -> State:
        return await self.call("act", decision=state["decision"], action=action, to=to, **arguments)

    async def play(self, state: State) -> list[State]:
        """Check or call until the match is over; return all states."""
        states = [state]
        while state["status"] != "over":
            if state["decision"] is None:
                state = await self.call("state", match=state["match"])
            else:
                state = await self.act(state, "call")
            states.append(state)
        return states


def local_seats(runs: Path, **bots: str) -> Any:
    from dealer.agents.local_seats import LocalSeats

    games = {name: name for name in ("kuhn", "limit", "nolimit", "nolimit3")}
    return LocalSeats(runs, games=games, bots=bots or {"calling": "calling"}, name="agent")


@contextlib.asynccontextmanager
async def connected_agent(seats: Any, *, is_http: bool = False) -> AsyncIterator[Agent]:
    """Serve seats to an agent, in memory or over HTTP, until the end of the block."""
    from mcp import Client

    from dealer.agents.agent_serving import serve_address
    from dealer.agents.agent_tools import make_mcp_server

    if is_http:
        async with serve_address(seats, 0) as address, Client(address) as client:
            yield Agent(client)
    else:
        async with seats, Client(make_mcp_server(seats)) as client:
            yield Agent(client)
