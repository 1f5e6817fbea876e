"""Agents on a server, as bots of their users: requested contests, the ladder and refusals."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dealer.errors import JoinError
from dealer.joining.connection import ALL_GAMES, JoinSettings
from dealer.library import play_async
from dealer.server.server_settings import read_toml_settings
from dealer.table.players import Player, PlayerKind
from dealer.web.server_site import server_site
from tests.dealer.agents.agents import connected_agent
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.joining.test_joining import hands_of
from tests.dealer.server.servers import House, running

GAMES = """
port = 0
[web]
port = 0
[[games]]
game = "kuhn"
deals = 20
bots = ["A=./bot2l.sh"]
"""
LADDER = """
[ladder]
width = 1
deals = 100
share = 1.0
"""


def server_seats(house: House, token: str | None = None, **changes: Any) -> Any:
    from dealer.agents.server_seats import ServerSeats

    assert house.started.page is not None
    Path("joined").mkdir(exist_ok=True)
    player = Player("tcp", "agent", PlayerKind.TCP)
    settings = JoinSettings(
        house.started.page,
        token or house.started.token or "",
        player,
        Path("joined"),
        games=(ALL_GAMES,),
        retry_s=0.05,
        answer_timeout_s=PATIENCE_S,
        **changes,
    )
    return ServerSeats(settings)


def settings_of(folder: Path, more: str = "") -> Any:
    path = folder / "s.toml"
    path.write_text(GAMES + more)
    return read_toml_settings(path)


async def test_contest_on_a_server_equals_a_local_one(house_folder: Path) -> None:
    async with (
        running(settings_of(house_folder), web=server_site) as house,
        connected_agent(server_seats(house)) as agent,
    ):
        assert [game["name"] for game in (await agent.call("list_games"))["games"]] == ["kuhn"]
        assert [bot["name"] for bot in (await agent.call("list_bots", game="kuhn"))["bots"]] == ["A"]
        state = await agent.call("start_match", game="kuhn", opponents=["A"], deals=4, seed=7)
        refusal = await agent.refusal("act", decision=state["decision"], action="bet", to=9)
        assert "illegal" in refusal
        again = await agent.call("act", decision="1.0.99", action="call")
        assert (again["accepted"], again["decision"]) == (False, state["decision"])
        states = await agent.play(state)
        decisions = [state["decision"] for state in states if state["decision"]]
        assert len(set(decisions)) == len(decisions)
        result = await agent.call("result")
        assert (result["status"], result["hands"], result["refused_actions"]) == ("finished", 8, 1)
        assert (await agent.call("hand"))["number"] == 3
        played = hands_of(Path("data/runs/00000001"))
    local = await play_async("kuhn", ["agent=calling", "A=./bot2l.sh"], deals=4, seed=7, out=Path("local"))
    assert played == hands_of(Path("local"))
    assert local.players[0].won is not None
    assert result["won"]["mbb_per_hand"] == local.players[0].won.raw.mean


async def test_resigned_match_is_checked_and_folded_to_its_end(house_folder: Path) -> None:
    async with (
        running(settings_of(house_folder), web=server_site) as house,
        connected_agent(server_seats(house)) as agent,
    ):
        state = await agent.call("start_match", game="kuhn", opponents=["A"], deals=4, seed=7)
        await agent.call("resign")
        await agent.play(await agent.call("state", match=state["match"]))
        result = await agent.call("result")
        assert (result["status"], result["hands"]) == ("resigned", 8)


async def test_refusals_of_a_server_reach_the_agent(house_folder: Path) -> None:
    async with running(settings_of(house_folder), web=server_site) as house:
        with pytest.raises(JoinError):
            await server_seats(house, token="wrong").__aenter__()
        async with connected_agent(server_seats(house)) as agent:
            refusal = await agent.refusal("start_match", game="kuhn", opponents=["nobody"])
            assert refusal.startswith("The server does not play the match: ")
            assert (await agent.refusal("start_match", game="limit", opponents=["A"])).startswith("There is no game")
            assert (await agent.refusal("state", match="other")).startswith("There is no match")


@pytest.mark.slow
async def test_agent_plays_on_the_ladder(house_folder: Path) -> None:
    async with (
        running(settings_of(house_folder, LADDER), web=server_site) as house,
        connected_agent(server_seats(house, is_on_ladder=True)) as agent,
    ):
        async with asyncio.timeout(PATIENCE_S):
            state = await agent.call("state")
            while not state["decision"]:
                state = await agent.call("state")
            await agent.play(state)
        result = await agent.call("result", match=state["match"])
        assert (result["status"], result["hands"]) == ("finished", 200)
