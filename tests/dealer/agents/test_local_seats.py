"""Matches of agents on this machine: results, refusals, repeated, parallel and cancelled calls, and restarts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dealer.person.table_session import TableSession
from tests.dealer.agents.agents import State, connected_agent, local_seats

KUHN = {"game": "kuhn", "opponents": ["calling"], "seed": 5}


def number_of(state: State) -> int:
    return int(state["decision"].partition(".")[0])


@pytest.mark.parametrize("deals", [5, pytest.param(100, marks=pytest.mark.slow)])
async def test_whole_match_is_played_and_counted(tmp_path: Path, deals: int) -> None:
    async with connected_agent(local_seats(tmp_path), is_http=True) as agent:
        games = await agent.call("list_games")
        assert [game["name"] for game in games["games"]] == ["kuhn", "limit", "nolimit", "nolimit3"]
        assert (await agent.call("list_bots", game="kuhn"))["bots"][0]["games"] == ["kuhn"]
        states = await agent.play(await agent.call("start_match", deals=deals, **KUHN))
        result = await agent.call("result")
        last_hand = await agent.call("hand")
    decisions = [state["decision"] for state in states if state["decision"] is not None]
    assert len(set(decisions)) == len(decisions)
    ended = [hand["number"] for state in states for hand in state["finished_hands"]]
    assert ended == list(range(deals))
    assert last_hand == states[-1]["finished_hands"][-1]
    (folder,) = tmp_path.iterdir()
    written = json.loads((folder / "result.json").read_text("utf-8"))
    assert result["status"] == "finished"
    assert result["match"] == folder.name
    assert result["chips"] == {player["name"]: player["chips"] for player in written["players"]}
    assert sum(result["chips"].values()) == 0
    assert result["won"]["mbb_per_hand"] == written["players"][0]["won"]["raw"]["mean"]
    assert result["decisions"] == len(decisions)
    if deals == 100:
        # Fewer than 80 deals are too few for corrected scores.
        corrected = written["players"][0]["won"]["corrected"]
        assert result["corrected"]["mbb_per_hand"] == corrected["mean"]
        assert result["corrected"]["half_width_95"] == corrected["half_width_95"] > 0


async def test_illegal_actions_are_refused_and_counted(tmp_path: Path) -> None:
    async with connected_agent(local_seats(tmp_path)) as agent:
        state = await agent.call("start_match", game="nolimit", opponents=["calling"], deals=1, seed=2)
        assert [choice["action"] for choice in state["legal"]] == ["check", "raise"]
        for action, to in (("fold", None), ("raise", 199), ("raise", None), ("bet", 20_001), ("raise", -5)):
            refusal = await agent.refusal("act", decision=state["decision"], action=action, to=to)
            assert refusal.endswith(
                "is illegal here. Legal: check, raise to 200 up to 20,000. Sizes are your total for this betting round."
            )
        assert "input_value" in await agent.refusal("act", decision=state["decision"], action="all-in")
        assert (await agent.call("state"))["decision"] == state["decision"]
        state = await agent.act(state, "raise", 20_000)
        assert state["status"] == "over"
        assert (await agent.call("result"))["refused_actions"] == 5


async def test_repeated_call_changes_nothing(tmp_path: Path) -> None:
    async with connected_agent(local_seats(tmp_path)) as agent:
        first = await agent.call("start_match", deals=3, **{**KUHN, "game": "limit"})
        second = await agent.act(first, "call")
        assert second["accepted"]
        for decision in (first["decision"], "99.0", "rubbish", ""):
            again = await agent.call("act", decision=decision, action="fold")
            assert not again["accepted"]
            assert again["decision"] == second["decision"]
            assert again["hand"] == second["hand"]


async def test_parallel_calls_play_one_action(tmp_path: Path) -> None:
    async with connected_agent(local_seats(tmp_path)) as agent:
        state = await agent.call("start_match", deals=4, **KUHN)
        while state["status"] != "over":
            calls = [agent.act(state, "call"), agent.act(state, "call"), agent.call("state"), agent.act(state, "raise")]
            answers = await asyncio.gather(*calls, return_exceptions=True)
            data = [answer for answer in answers if isinstance(answer, dict)]
            assert sum(answer.get("accepted", False) for answer in data) == 1
            state = await agent.call("state")
        result = await agent.call("result")
    assert result["hands"] == 4
    assert result["status"] == "finished"


@pytest.mark.parametrize("is_http", [False, True], ids=["in memory", "over HTTP"])
async def test_cancelled_call_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_http: bool) -> None:
    from dealer.agents.local_seats import LocalSeats

    act = LocalSeats.act
    is_cancelled = asyncio.Event()
    is_saving = asyncio.Event()
    may_save = asyncio.Event()
    save = TableSession._save

    async def save_slowly(session: TableSession) -> None:
        if session.scene is not None:
            is_saving.set()
            await may_save.wait()
        await save(session)

    async def act_or_note(*arguments: Any) -> Any:
        try:
            return await act(*arguments)
        except asyncio.CancelledError:
            is_cancelled.set()
            raise

    monkeypatch.setattr(LocalSeats, "act", act_or_note)
    monkeypatch.setattr(TableSession, "_save", save_slowly)
    async with connected_agent(local_seats(tmp_path), is_http=is_http) as agent:
        first = await agent.call("start_match", deals=3, **{**KUHN, "game": "limit"})
        call = asyncio.create_task(agent.act(first, "call"))
        await is_saving.wait()
        call.cancel()
        await asyncio.wait([call])
        # The server cancels the call before its action is saved and sent.
        await is_cancelled.wait()
        may_save.set()
        again = await agent.act(first, "call")
        assert not again["accepted"]
        assert again["status"] == "your turn"
        assert again["decision"] != first["decision"]
        assert "You check" in again["hand"]["history"]


async def test_restarted_agent_continues_at_the_same_decision(tmp_path: Path) -> None:
    async with connected_agent(local_seats(tmp_path)) as agent:
        state = await agent.call("start_match", deals=4, **{**KUHN, "game": "limit"})
        while number_of(state) < 1:
            state = await agent.act(state, "call")
        state = await agent.act(state, "call")
    async with connected_agent(local_seats(tmp_path)) as agent:
        again = await agent.call("state")
        for key in ("decision", "hand", "score"):
            assert again[key] == state[key]
        assert (await agent.call("hand"))["number"] == 0
        states = await agent.play(again)
        assert states[-1]["status"] == "over"
    async with connected_agent(local_seats(tmp_path)) as agent:
        result = await agent.call("result")
        assert (result["status"], result["hands"]) == ("finished", 4)
        assert (await agent.call("state"))["status"] == "over"


async def test_resigned_match_counts_its_hands(tmp_path: Path) -> None:
    def check_end(result: dict[str, Any]) -> None:
        assert (result["status"], result["hands"]) == ("resigned", 2)
        assert result["corrected"] is None
        assert result["won"]["holds"].startswith("at any time")
        # A resigned hand counts: the small blind is lost.
        assert sum(result["chips"].values()) == 0

    async with connected_agent(local_seats(tmp_path)) as agent:
        state = await agent.call("start_match", deals=50, **{**KUHN, "game": "limit"})
        while number_of(state) < 1:
            state = await agent.act(state, "call")
        check_end(await agent.call("resign"))
        check_end(await agent.call("resign"))
        late = await agent.call("act", decision=state["decision"], action="call")
        assert (late["accepted"], late["status"]) == (False, "over")
    async with connected_agent(local_seats(tmp_path)) as agent:
        check_end(await agent.call("result"))
        assert (await agent.call("state"))["status"] == "over"


async def test_match_is_named_if_there_are_several(tmp_path: Path) -> None:
    async with connected_agent(local_seats(tmp_path)) as agent:
        assert await agent.refusal("state") == "There is no match yet. Call start_match."
        first = await agent.call("start_match", deals=2, **KUHN)
        second = await agent.call("start_match", deals=2, **KUHN)
        names = f"{first['match']} and {second['match']}"
        assert await agent.refusal("state") == f"Several matches are not over, so name one: {names}."
        await agent.act(first, "call", match=first["match"])
        await agent.call("resign", match=first["match"])
        assert (await agent.call("state"))["match"] == second["match"]


@pytest.mark.parametrize("match", ["..", "../other", "nothing", ".", "a/b", "x" * 300])
async def test_no_other_folder_is_opened(tmp_path: Path, match: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "agent.json").write_text("{}", "utf-8")
    async with connected_agent(local_seats(tmp_path / "runs")) as agent:
        assert (await agent.refusal("state", match=match)).startswith("There is no match ")


async def test_only_listed_games_and_bots_are_played(tmp_path: Path) -> None:
    async with connected_agent(local_seats(tmp_path, calling="calling", mine="calling?explain=false")) as agent:
        refusals = {
            "There is no game 'leduc'. The games are kuhn, limit, nolimit and nolimit3.": {"game": "leduc"},
            "There is no bot './run.sh'. The bots are calling and mine.": {"opponents": ["./run.sh"]},
            "There is no bot 'calling?explain=true'. The bots are calling and mine.": {
                "opponents": ["calling?explain=true"]
            },
            "Name the opponents: one for all seats, or one for each seat besides yours.": {"opponents": []},
        }
        for sentence, wrong in refusals.items():
            assert await agent.refusal("start_match", **{**KUHN, **wrong}) == sentence
        assert (await agent.refusal("start_match", **{**KUHN, "opponents": ["calling"] * 2})).startswith(
            "The match cannot be started: kuhn needs 1 bot besides you"
        )
    assert not list(tmp_path.iterdir())
