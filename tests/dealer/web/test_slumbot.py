"""Slumbot's interface: its clients play our bots, and no session can avoid the end of a hand."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dealer.run.run_settings import BotSettings
from dealer.server import server_settings as configured
from dealer.server.server_settings import ServerSettings
from dealer.web.slumbot.interface import find_server_bots
from dealer.web.slumbot.luck import LuckCorrection
from engine import Game
from logs import HandRecord
from logs.hand_source import find
from logs.variance.correction import ChanceCorrection
from tests.dealer.web.slumbot_client import Client, read_betting
from tests.dealer.web.visits import PATIENCE_S, Visit, new_user, small_house, visiting, with_web


@pytest.fixture
def luck_correction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enable the luck correction, and wait for it as long as its code takes to compile."""
    monkeypatch.undo()
    monkeypatch.setattr("dealer.web.slumbot.luck.PATIENCE_S", PATIENCE_S * 10)


@pytest.fixture(autouse=True)
def _without_luck_correction(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_values(*arguments: Any) -> None:
        del arguments

    monkeypatch.setattr(LuckCorrection, "values", no_values)


def house(**web: Any) -> ServerSettings:
    return with_web(small_house(), **{"guests_may_play": True, **web})


async def play(visit: Visit, folder: Path, hands: int, prefix: str = "/api") -> Client:
    client = Client(visit.browser, prefix=prefix)
    await client.log_in("player", visit.token)
    for _ in range(hands):
        await client.play_hand()
    assert client.hands == hands
    assert {*client.positions} == {0, 1}
    assert all(a != b for a, b in zip(client.positions, client.positions[1:], strict=False)), "positions alternate"
    return client


async def test_independent_client_agrees_with_every_answer(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path / "data") as visit:
        client = await play(visit, tmp_path, 6)
        headers = {"authorization": f"Bearer {visit.token}"}
        (job,) = (await visit.browser.get("/api/v1/jobs", headers=headers)).json()["jobs"]
        assert job["seed"] is None, "the cards follow from the seed"
        logs = list((tmp_path / "data" / "runs").glob("*/match*.log"))
        records = list(find(logs).hands())
        won = [record.values[record.names.index("player")] for record in records][: client.hands]
        assert sum(won) == client.total
        assert visit.house.rows("SELECT users.name FROM jobs JOIN users ON users.id = user") == [("player",)]
        assert visit.house.rows("SELECT seed, length(deal_key) FROM runs") == [(0, 32)]


@pytest.mark.slow
@pytest.mark.parametrize("bot", ["random", "calling"])
async def test_client_agrees_for_hundreds_of_hands(tmp_path: Path, bot: str) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        client = await play(visit, tmp_path, 600, f"/slumbot/{bot}/api")
        assert all(client.ends.values()) or bot == "random"


def test_default_opponent_is_the_strongest_bot() -> None:
    parts: Any = SimpleNamespace(settings=configured.default_settings())
    (game,) = {game.name for game, _ in find_server_bots(parts)}
    strongest_first = [bot for _, bot in find_server_bots(parts)]
    assert strongest_first[:3] == ["cfr", "mfs", "rembrant"]
    assert strongest_first[-1] == "folding"
    specifications = ("calling", "own.sh", "cfr?rivers=0", "random")
    bots = {f"bot{number}": BotSettings(bot=text) for number, text in enumerate(specifications)}
    (server_game,) = (candidate for candidate in parts.settings.games if candidate.name == game)
    parts.settings = replace(parts.settings, games=(replace(server_game, bots=bots),))
    assert [game.bots[bot].bot for game, bot in find_server_bots(parts)] == [
        "cfr?rivers=0",
        "own.sh",
        "random",
        "calling",
    ]


async def test_address_chooses_the_opponent(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path / "data") as visit:
        for prefix in ("/slumbot/calling/api", "/slumbot/api"):
            await Client(visit.browser, prefix=prefix).deal()
        named, default = (players for (players,) in visit.house.rows("SELECT players FROM jobs ORDER BY id"))
        assert "calling" in named
        assert "random" in default
        answer = await visit.browser.post("/slumbot/nobody/api/new_hand", json={})
        assert answer.status_code == 404
        assert answer.json() == {"error_msg": "There is no such bot; the bots are random, calling."}


async def test_server_without_the_game_refuses(tmp_path: Path) -> None:
    settings = house()
    async with visiting(replace(settings, games=settings.games[:2]), tmp_path / "data") as visit:
        answer = await visit.browser.post("/api/new_hand", json={})
        assert (answer.status_code, answer.json()) == (404, {"error_msg": "There is no such bot; the bots are none."})


async def refusal(visit: Visit, name: str, **data: Any) -> tuple[int, str]:
    answer = await visit.browser.post(f"/api/{name}", json=data)
    assert list(answer.json()) == ["error_msg"]
    return answer.status_code, answer.json()["error_msg"]


async def test_impossible_calls_change_nothing(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path / "data") as visit:
        assert await refusal(visit, "act", token="unknown", incr="c") == (
            401,
            "This token is unknown or has expired. Log in, or call new_hand without a token.",
        )
        assert (await refusal(visit, "new_hand", token="unknown"))[0] == 401
        assert (await refusal(visit, "act", incr="c"))[0] == 400
        assert (await refusal(visit, "act", token=5, incr="c"))[0] == 400
        assert (await refusal(visit, "login", username="player"))[0] == 400
        assert (await refusal(visit, "login", username="player", password="wrong"))[0] == 401
        for body in (b"\xff", b"[]", b"[" * 100_000, b'"x"', b"nonsense"):
            answer = await visit.browser.post("/api/act", content=body)
            assert (answer.status_code, list(answer.json())) == (400, ["error_msg"])
        assert (await visit.browser.get("/api/act")).status_code == 405
        client = Client(visit.browser, prefix="/slumbot/calling/api")
        await client.log_in("player", visit.token)
        assert (await refusal(visit, "act", token=client.token, incr="c")) == (
            200,
            "No hand is in play. Call new_hand.",
        )
        dealt = await client.deal()
        # A fold needs a bet. The small blind cannot check; the big blind can, because the bot has called.
        illegal = ["f", "c"] if dealt["client_pos"] == 0 else ["k"]
        illegal += ["", "b", "b99", "b20001", "b-300", "b300b600", "b300f", "kk", "c/", "B300", "b 300", "b1e3"]
        for incr in (*illegal, "b" + "9" * 400, "b٣٠٠", None, 300, ["c"], {"c": 1}, True):
            status, sentence = await refusal(visit, "act", token=client.token, incr=incr)
            assert status == 200
            assert sentence.startswith("Illegal action; incr may be ")
        raised = await client.call("act", token=client.token, incr="b300")
        assert raised["old_action"] == dealt["action"]
        assert read_betting(raised["action"])
        await client.call("act", token=client.token, incr="b19700")
        assert await refusal(visit, "act", token=client.token, incr="c") == (200, "The hand is over. Call new_hand.")


async def test_new_hand_forfeits_the_current_one(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path / "data") as visit:
        client = Client(visit.browser, prefix="/slumbot/calling/api")
        first = await client.deal()
        size = 5000
        raised = await client.call("act", token=client.token, incr=f"b{size}")
        second = await client.deal()
        assert second["client_pos"] == 1 - first["client_pos"]
        assert len(raised["board"]) == 3
        assert second["board"] == []
        assert "winnings" not in raised
        # The first hand was checked to its showdown against a bot that only calls, and counts.
        answer = await client.call("act", token=client.token, incr="b20000")
        while "winnings" not in answer:
            answer = await client.call("act", token=client.token, incr="k")
        assert answer["session_num_hands"] == 2
        assert abs(answer["session_total"] - answer["winnings"]) in (size, 0)


async def test_session_continues_at_the_same_decision_after_a_restart(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path / "data") as visit:
        first = Client(visit.browser, prefix="/slumbot/calling/api")
        await first.play_hand()
        await first.deal()
        before = await first.call("act", token=first.token, incr="b777")
    async with visiting(house(), tmp_path / "data") as visit:
        client = Client(visit.browser, prefix="/slumbot/calling/api")
        client.token = first.token
        answer = await client.deal()
        for name in ("action", "hole_cards", "board", "client_pos"):
            assert answer[name] == before[name], "the session continues its hand"
        while "winnings" not in answer:
            answer = await client.call("act", token=client.token, incr="k")
        assert answer["session_num_hands"] == 2
        assert answer["session_total"] == first.total + answer["winnings"]


async def test_session_above_the_limit_ends_the_oldest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealer.web.slumbot.interface._SESSIONS_EACH", 1)
    async with visiting(house(), tmp_path / "data") as visit:
        clients = [Client(visit.browser, prefix="/slumbot/calling/api") for _ in range(2)]
        for client in clients:
            await client.deal()
        assert (await refusal(visit, "new_hand", token=clients[0].token))[0] == 401
        rows = visit.house.rows("SELECT state FROM runs ORDER BY id")
        assert [state for (state,) in rows].count("running") == 1
        (log,) = (tmp_path / "data" / "runs" / "00000001").glob("match*.log")
        assert len(list(find([log]).hands())) >= 1, "the abandoned hand counts"
        await clients[-1].call("act", token=clients[-1].token, incr="b400")


async def test_silent_session_forfeits_its_hand(tmp_path: Path) -> None:
    async with visiting(house(slumbot_forfeit_hours=0.2 / 3600), tmp_path / "data") as visit:
        client = Client(visit.browser, prefix="/slumbot/calling/api")
        await client.deal()
        async with asyncio.timeout(PATIENCE_S):
            while visit.house.rows("SELECT state FROM runs") == [("running",)]:
                await asyncio.sleep(0.05)
        assert (await refusal(visit, "act", token=client.token, incr="c"))[0] == 401
        (log,) = (tmp_path / "data" / "runs" / "00000001").glob("match*.log")
        assert list(find([log]).hands())


async def test_sessions_belong_to_users_if_guests_may_not_play(tmp_path: Path) -> None:
    async with visiting(house(guests_may_play=False), tmp_path / "data") as visit:
        assert (await refusal(visit, "new_hand"))[0] == 401
        ann = new_user(tmp_path / "data", "ann")
        player_client, ann_client = Client(visit.browser), Client(visit.browser)
        await player_client.log_in("player", visit.token)
        await ann_client.log_in("ann", ann)
        assert player_client.token != ann_client.token
        await player_client.deal()
        assert (await refusal(visit, "act", token=ann, incr="c"))[0] == 401
        await ann_client.deal()


def records_of(folder: Path) -> list[HandRecord]:
    return list(find(sorted((folder / "data" / "runs").glob("*/match*.log"))).hands())


def corrected_winnings(folder: Path, name: str = "player") -> float:
    """Winnings of a player in all logged hands, corrected for luck by this process."""
    records = records_of(folder)
    values = ChanceCorrection(records[0].game).values(records)
    return sum(hand_values[record.names.index(name)] for record, hand_values in zip(records, values, strict=True))


async def play_hand_by_calling(client: Client) -> dict[str, Any]:
    """Play a hand by calls and checks; return its last answer."""
    answer = await client.deal()
    while "winnings" not in answer:
        to_call = read_betting(answer["action"]).to_call
        answer = await client.call("act", token=client.token, incr="c" if to_call else "k")
    return answer


async def test_corrected_winnings_add_up_over_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def halve_winnings(self: LuckCorrection, game: Game, records: Sequence[HandRecord]) -> list[list[float]]:
        del self, game
        # Of a few hands at a time, like the real correction.
        return [[value * 0.501 for value in record.values] for record in records[:3]]

    monkeypatch.setattr(LuckCorrection, "values", halve_winnings)
    total = await play_over_a_restart(tmp_path)
    halves = [0.501 * record.values[record.names.index("player")] for record in records_of(tmp_path)]
    assert total == round(sum(halves))


@pytest.mark.slow
@pytest.mark.usefixtures("luck_correction")
async def test_reported_winnings_are_corrected_for_luck(tmp_path: Path) -> None:
    total = await play_over_a_restart(tmp_path)
    assert total == round(corrected_winnings(tmp_path))


async def play_over_a_restart(tmp_path: Path) -> int:
    """Play hands with a restart of the server during the fourth; return the sum of corrected winnings."""
    total = 0
    answer: dict[str, Any] = {}

    async def play_hands(client: Client, hands: int) -> None:
        nonlocal total, answer
        for _ in range(hands):
            answer = await play_hand_by_calling(client)
            assert isinstance(answer["baseline_winnings"], int), "clients read whole numbers"
            total += answer["baseline_winnings"]
            assert answer["session_baseline_total"] == total

    async with visiting(house(), tmp_path / "data") as visit:
        first = Client(visit.browser)
        await first.log_in("player", visit.token)
        await play_hands(first, 3)
        # The bot may fold first, which ends the hand at once.
        dealt = await first.deal()
        assert ("baseline_winnings" in dealt) == ("winnings" in dealt)
        total += dealt.get("baseline_winnings", 0)
        hand_count = 6 if "winnings" in dealt else 5
    async with visiting(house(), tmp_path / "data") as visit:
        client = Client(visit.browser)
        client.token = first.token
        await play_hands(client, 2)
    assert answer["session_num_hands"] == hand_count
    assert total != answer["session_total"]
    return total


@pytest.mark.slow
@pytest.mark.usefixtures("luck_correction")
async def test_answer_without_corrected_winnings_is_completed_by_the_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with visiting(house(), tmp_path / "data") as visit:
        client = Client(visit.browser)
        await client.log_in("player", visit.token)
        assert "baseline_winnings" in await play_hand_by_calling(client)
        for process in multiprocessing.active_children():
            process.kill()
            process.join()
        second = await play_hand_by_calling(client)
        assert "baseline_winnings" not in second
        assert second["session_num_hands"] == 2
        third = await play_hand_by_calling(client)
        assert third["session_baseline_total"] == round(corrected_winnings(tmp_path))
    assert [record.levelname for record in caplog.records if "corrected" in record.getMessage()] == ["ERROR"]
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("text", "street", "turn", "total"),
    [
        ("", 0, 1, [100, 50]),
        ("b200b1250c/kb750", 1, 0, [1250, 2000]),
        ("b200c/kb200f", 1, None, [200, 400]),
        ("b20000c///", 3, None, [20000, 20000]),
        ("ck/kk/kk/kk", 3, None, [100, 100]),
    ],
)
def test_client_reads_published_examples(text: str, street: int, turn: int | None, total: list[int]) -> None:
    betting = read_betting(text)
    assert (betting.street, betting.turn, betting.total) == (street, turn, total)
