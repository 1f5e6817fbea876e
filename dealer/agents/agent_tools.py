"""Tools of the Model Context Protocol for the calls of an agent.

A response has the values as JSON, with a schema, and the same in words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from dealer.agents.agent_seats import AgentSeats
from dealer.agents.seat_data import (
    ActData,
    BotsData,
    FinishedHand,
    GamesData,
    Move,
    ResultData,
    StateData,
    bots_text,
    games_text,
    hand_text,
    result_text,
    state_text,
)
from dealer.errors import AgentError
from dealer.person.table_settings import HANDS

_INSTRUCTIONS: Final = (
    "Play poker matches. list_games and list_bots name the games and opponents. start_match returns a state with a "
    "decision. Answer it with act, which returns the hands that have ended and the next decision, until the status is "
    "'over'. Then call result. Sizes of bets and raises are your total for the betting round. After a restart, state "
    "returns the open decision. To repeat a call for the same decision changes nothing."
)
_Data = TypeVar("_Data", bound=BaseModel)
_Match: TypeAlias = Annotated[str, Field(description="id of the match; may be empty if only one match is not over")]


def make_mcp_server(seats: AgentSeats) -> MCPServer[Any]:
    """Make a server whose tools are the calls of an agent."""
    # Its log, and that of this package, goes to standard error.
    server: MCPServer[Any] = MCPServer(
        "acpc-arena", instructions=_INSTRUCTIONS, version=version("acpc-arena"), log_level="WARNING"
    )
    tools = AgentTools(seats)
    readers = (tools.list_games, tools.list_bots, tools.state, tools.result, tools.hand)
    for reader in readers:
        server.add_tool(reader, annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    server.add_tool(tools.start_match, annotations=ToolAnnotations(destructive_hint=False, open_world_hint=False))
    server.add_tool(tools.act, annotations=ToolAnnotations(idempotent_hint=True, open_world_hint=False))
    server.add_tool(tools.resign, annotations=ToolAnnotations(idempotent_hint=True, open_world_hint=False))
    return server


class AgentTools:
    """Tools of an agent. Their docstrings are the descriptions that it reads."""

    def __init__(self, seats: AgentSeats) -> None:
        self._seats = seats

    async def list_games(self) -> Annotated[CallToolResult, GamesData]:
        """List the games that can be played."""
        return await _answer(self._seats.list_games(), games_text)

    async def list_bots(
        self, game: Annotated[str, Field(description="only opponents that play this game")] = ""
    ) -> Annotated[CallToolResult, BotsData]:
        """List the opponents with the games that they play."""
        return await _answer(self._seats.list_bots(game), bots_text)

    async def start_match(
        self,
        game: Annotated[str, Field(description="name from list_games")],
        opponents: Annotated[
            list[str], Field(description="names from list_bots: one for all seats, or one for each other seat")
        ],
        deals: Annotated[int, Field(ge=1, le=HANDS, description="number of hands")] = 100,
        seed: Annotated[
            int | None, Field(ge=0, lt=2**32, description="seed of the cards; null for a secret one")
        ] = None,
    ) -> Annotated[CallToolResult, StateData]:
        """Start a match against bots and return the first decision."""
        return await _answer(self._seats.start_match(game, opponents, deals, seed), state_text)

    async def state(self, match: _Match = "") -> Annotated[CallToolResult, StateData]:
        """Return the state of your seat, with the open decision; while others act, wait for it."""
        return await _answer(self._seats.state(match), state_text)

    async def act(
        self,
        decision: Annotated[str, Field(description="the open decision, as named by the state")],
        action: Annotated[Move, Field(description="one of the legal actions")],
        to: Annotated[
            int | None,
            Field(description="for a bet or raise: your total for this betting round; null if the game fixes the size"),
        ] = None,
        match: _Match = "",
    ) -> Annotated[CallToolResult, ActData]:
        """Fold, check, call, bet or raise, and return the ended hands and the next decision."""
        return await _answer(self._seats.act(match, decision, action, to), state_text)

    async def result(self, match: _Match = "") -> Annotated[CallToolResult, ResultData]:
        """Return the result of a match so far, or at its end with an interval without the luck of the cards."""
        return await _answer(self._seats.result(match), result_text)

    async def hand(
        self,
        number: Annotated[int | None, Field(ge=0, description="number of the hand; null for the last one")] = None,
        match: _Match = "",
    ) -> Annotated[CallToolResult, FinishedHand]:
        """Return a finished hand with the cards that you have seen."""
        return await _answer(self._seats.hand(match, number), hand_text)

    async def resign(self, match: _Match = "") -> Annotated[CallToolResult, ResultData]:
        """Check or fold to the end of the current hand, end the match for good, and return its result."""
        return await _answer(self._seats.resign(match), result_text)


async def _answer(call: Awaitable[_Data], text: Callable[[_Data], str]) -> CallToolResult:
    """Await the data of a call, and return them as JSON and as text.

    Raises:
        ToolError: the call is refused, or a file cannot be written.
    """
    try:
        data = await call
    except AgentError as error:
        raise ToolError(str(error)) from None
    except OSError as error:
        raise ToolError(f"{error.filename} cannot be written: {error.strerror}.") from None
    return CallToolResult(
        content=[TextContent(type="text", text=text(data))], structured_content=data.model_dump(mode="json")
    )
