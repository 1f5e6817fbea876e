"""Slumbot's interface: clients written for it play our bots, and nobody gets out of a hand."""

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
from tests.dealer.web.slumbot_client import Client, read
from tests.dealer.web.visits import PATIENCE_S, Visit, new_user, small_house, visiting, with_web


@pytest.fixture
def worth(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that wait for what hands are worth, however long its code is compiled."""
    monkeypatch.undo()
    monkeypatch.setattr("dealer.web.slumbot.luck.PATIENCE_S", PATIENCE_S * 10)


@pytest.fixture(autouse=True)
def _without_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    async def values(*asked: Any) -> None:
        del asked

    monkeypatch.setattr(LuckCorrection, "values", values)


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


async def test_an_independent_client_plays_with_its_own_book(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path / "data") as visit:
        client = await play(visit, tmp_path, 6)
        headers = {"authorization": f"Bearer {visit.token}"}
        (job,) = (await visit.browser.get("/api/v1/jobs", headers=headers)).json()["jobs"]
        assert job["seed"] is None, "whoever knows the seed knows the cards"
        logs = list((tmp_path / "data" / "runs").glob("*/match*.log"))
        records = list(find(logs).hands())
        won = [record.values[record.names.index("player")] for record in records][: client.hands]
        assert sum(won) == client.total, "the hands are in a log like everybody's"
        assert visit.house.rows("SELECT users.name FROM jobs JOIN users ON users.id = user") == [("player",)]
        assert visit.house.rows("SELECT seed, length(deal_key) FROM runs") == [(0, 32)]


@pytest.mark.slow
@pytest.mark.parametrize("bot", ["random", "calling"])
async def test_hundreds_of_hands(tmp_path: Path, bot: str) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        client = await play(visit, tmp_path, 600, f"/slumbot/{bot}/api")
        assert all(client.ends.values()) or bot == "random"


def test_the_opponent_is_the_strongest_there_is_unless_the_address_names_another() -> None:
    parts: Any = SimpleNamespace(settings=configured.default_settings())
    (game,) = {game.name for game, _ in find_server_bots(parts)}
    assert [bot for _, bot in find_server_bots(parts)][:3] == ["cfr", "mfs", "rembrant"]
    assert [bot for _, bot in find_server_bots(parts)][-1] == "folding"
    described = ("calling", "own.sh", "cfr?rivers=0", "random")
    bots = {f"bot{number}": BotSettings(bot=text) for number, text in enumerate(described)}
    (there,) = (one for one in parts.settings.games if one.name == game)
    parts.settings = replace(parts.settings, games=(replace(there, bots=bots),))
    assert [game.bots[bot].bot for game, bot in find_server_bots(parts)] == [
        "cfr?rivers=0",
        "own.sh",
        "random",
        "calling",
    ]


async def test_the_opponent_is_chosen_by_the_address(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path / "data") as visit:
        for prefix in ("/slumbot/calling/api", "/slumbot/api"):
            await Client(visit.browser, prefix=prefix).deal()
        players = [row[0] for row in visit.house.rows("SELECT players FROM jobs ORDER BY id")]
        assert ["calling" in players[0], "random" in players[1]] == [True, True]
        answer = await visit.browser.post("/slumbot/nobody/api/new_hand", json={})
        assert (answer.status_code, answer.json()) == (
            404,
            {"error_msg": "There is no such bot; the bots are random, calling."},
        )


async def test_a_server_without_the_game_says_so(tmp_path: Path) -> None:
    settings = house()
    async with visiting(replace(settings, games=settings.games[:2]), tmp_path / "data") as visit:
        answer = await visit.browser.post("/api/new_hand", json={})
        assert (answer.status_code, answer.json()) == (404, {"error_msg": "There is no such bot; the bots are none."})


async def refused(visit: Visit, name: str, **data: Any) -> tuple[int, str]:
    answer = await visit.browser.post(f"/api/{name}", json=data)
    assert list(answer.json()) == ["error_msg"]
    return answer.status_code, answer.json()["error_msg"]


async def test_impossible_calls_change_nothing(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path / "data") as visit:
        assert await refused(visit, "act", token="unknown", incr="c") == (
            401,
            "This token is unknown or has expired. Log in, or call new_hand without a token.",
        )
        assert (await refused(visit, "new_hand", token="unknown"))[0] == 401
        assert (await refused(visit, "act", incr="c"))[0] == 400
        assert (await refused(visit, "act", token=5, incr="c"))[0] == 400
        assert (await refused(visit, "login", username="player"))[0] == 400
        assert (await refused(visit, "login", username="player", password="wrong"))[0] == 401
        for body in (b"\xff", b"[]", b"[" * 100_000, b'"x"', b"nonsense"):
            answer = await visit.browser.post("/api/act", content=body)
            assert (answer.status_code, list(answer.json())) == (400, ["error_msg"])
        assert (await visit.browser.get("/api/act")).status_code == 405
        client = Client(visit.browser, prefix="/slumbot/calling/api")
        await client.log_in("player", visit.token)
        assert (await refused(visit, "act", token=client.token, incr="c")) == (
            200,
            "No hand is in play. Call new_hand.",
        )
        dealt = await client.deal()
        # The bot has called; the big blind may check.
        illegal = ["f", "c"] if dealt["client_pos"] == 0 else ["k"]
        illegal += ["", "b", "b99", "b20001", "b-300", "b300b600", "b300f", "kk", "c/", "B300", "b 300", "b1e3"]
        for incr in (*illegal, "b" + "9" * 400, "b٣٠٠", None, 300, ["c"], {"c": 1}, True):
            status, sentence = await refused(visit, "act", token=client.token, incr=incr)
            assert status == 200
            assert sentence.startswith("Illegal action; incr may be ")
        raised = await client.call("act", token=client.token, incr="b300")
        assert raised["old_action"] == dealt["action"]
        assert read(raised["action"])
        await client.call("act", token=client.token, incr="b19700")
        assert await refused(visit, "act", token=client.token, incr="c") == (200, "The hand is over. Call new_hand.")


async def test_a_new_hand_gives_up_the_one_that_is_played(tmp_path: Path) -> None:
    async with visiting(house(), tmp_path / "data") as visit:
        client = Client(visit.browser, prefix="/slumbot/calling/api")
        first = await client.deal()
        size = 5000
        raised = await client.call("act", token=client.token, incr=f"b{size}")
        second = await client.deal()
        assert second["client_pos"] == 1 - first["client_pos"]
        assert (len(raised["board"]), second["board"]) == (3, [])
        assert "winnings" not in raised
        # Checked to its end against a bot that only calls: it went to the showdown, and counts.
        told = await client.call("act", token=client.token, incr="b20000")
        while "winnings" not in told:
            told = await client.call("act", token=client.token, incr="k")
        assert told["session_num_hands"] == 2
        assert abs(told["session_total"] - told["winnings"]) in (size, 0)


async def test_sessions_outlive_the_server_and_come_back_to_the_same_decision(tmp_path: Path) -> None:
    kept: dict[str, Any] = {}

    async with visiting(house(), tmp_path / "data") as visit:
        client = Client(visit.browser, prefix="/slumbot/calling/api")
        await client.play_hand()
        kept["total"] = client.total
        await client.deal()
        kept["told"] = await client.call("act", token=client.token, incr="b777")
        kept["token"] = client.token
    async with visiting(house(), tmp_path / "data") as visit:
        client = Client(visit.browser, prefix="/slumbot/calling/api")
        client.token = kept["token"]
        told, before = await client.deal(), kept["told"]
        for name in ("action", "hole_cards", "board", "client_pos"):
            assert told[name] == before[name], "the hand is not another"
        while "winnings" not in told:
            told = await client.call("act", token=client.token, incr="k")
        assert told["session_num_hands"] == 2
        assert told["session_total"] == kept["total"] + told["winnings"]


async def test_a_session_too_many_ends_the_oldest_with_its_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dealer.web.slumbot.interface._SESSIONS_EACH", 1)
    async with visiting(house(), tmp_path / "data") as visit:
        clients = [Client(visit.browser, prefix="/slumbot/calling/api") for _ in range(2)]
        for client in clients:
            await client.deal()
        assert (await refused(visit, "new_hand", token=clients[0].token))[0] == 401
        rows = visit.house.rows("SELECT state FROM runs ORDER BY id")
        assert [state for (state,) in rows].count("running") == 1
        (log,) = (tmp_path / "data" / "runs" / "00000001").glob("match*.log")
        assert len(list(find([log]).hands())) >= 1, "the hand that was left counts"
        await clients[-1].call("act", token=clients[-1].token, incr="b400")


async def test_silent_session_forfeits_its_hand(tmp_path: Path) -> None:
    async with visiting(house(slumbot_forfeit_hours=0.2 / 3600), tmp_path / "data") as visit:
        client = Client(visit.browser, prefix="/slumbot/calling/api")
        await client.deal()
        async with asyncio.timeout(PATIENCE_S):
            while visit.house.rows("SELECT state FROM runs") == [("running",)]:
                await asyncio.sleep(0.05)
        assert (await refused(visit, "act", token=client.token, incr="c"))[0] == 401
        (log,) = (tmp_path / "data" / "runs" / "00000001").glob("match*.log")
        assert list(find([log]).hands())


async def test_sessions_belong_to_their_users_where_guests_may_not_play(tmp_path: Path) -> None:
    async with visiting(house(guests_may_play=False), tmp_path / "data") as visit:
        assert (await refused(visit, "new_hand"))[0] == 401
        ann = new_user(tmp_path / "data", "ann")
        mine, hers = Client(visit.browser), Client(visit.browser)
        await mine.log_in("player", visit.token)
        await hers.log_in("ann", ann)
        assert mine.token != hers.token
        await mine.deal()
        assert (await refused(visit, "act", token=ann, incr="c"))[0] == 401
        await hers.deal()


def records_of(folder: Path) -> list[HandRecord]:
    return list(find(sorted((folder / "data" / "runs").glob("*/match*.log"))).hands())


def corrected(folder: Path, name: str = "player") -> float:
    """What all hands of the logs are worth to a player, counted here."""
    records = records_of(folder)
    values = ChanceCorrection(records[0].game).values(records)
    return sum(of_hand[record.names.index(name)] for record, of_hand in zip(records, values, strict=True))


async def finished_hand(client: Client) -> dict[str, Any]:
    """The end of a hand in which the client only calls and checks."""
    told = await client.deal()
    while "winnings" not in told:
        to_call = read(told["action"]).to_call
        told = await client.call("act", token=client.token, incr="c" if to_call else "k")
    return told


def halved(game: Game, records: Sequence[HandRecord]) -> list[list[float]]:
    """Something that is easily counted in the place of what hands are worth; a few hands at a time."""
    del game
    return [[value * 0.501 for value in record.values] for record in records[:3]]


async def test_corrected_winnings_add_up_over_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def values(self: LuckCorrection, game: Game, records: Sequence[HandRecord]) -> list[list[float]]:
        del self
        return halved(game, records)

    monkeypatch.setattr(LuckCorrection, "values", values)
    total = await played_over_a_restart(tmp_path)
    assert total == round(sum(halved_of_logs(tmp_path)))


def halved_of_logs(folder: Path) -> list[float]:
    return [0.501 * record.values[record.names.index("player")] for record in records_of(folder)]


@pytest.mark.slow
@pytest.mark.usefixtures("worth")
async def test_hands_are_told_without_the_luck_of_the_cards(tmp_path: Path) -> None:
    total = await played_over_a_restart(tmp_path)
    assert total == round(corrected(tmp_path))


async def played_over_a_restart(tmp_path: Path) -> int:
    """Some hands, with a restart after the third; return their reported worth."""
    kept: dict[str, Any] = {"sum": 0}

    async def play_hands(client: Client, hands: int) -> None:
        for _ in range(hands):
            told = await finished_hand(client)
            assert isinstance(told["baseline_winnings"], int), "clients read whole numbers"
            kept["sum"] += told["baseline_winnings"]
            assert told["session_baseline_total"] == kept["sum"]
        kept["told"] = told

    async def begin(visit: Visit) -> None:
        client = Client(visit.browser)
        await client.log_in("player", visit.token)
        await play_hands(client, 3)
        dealt = await client.deal()
        # At the end only, which comes at once where the bot folds first.
        assert ("baseline_winnings" in dealt) == ("winnings" in dealt)
        kept["sum"] += dealt.get("baseline_winnings", 0)
        kept["hands"] = 5 + ("winnings" in dealt)
        kept["token"] = client.token

    async def go_on(visit: Visit) -> None:
        client = Client(visit.browser)
        client.token = kept["token"]
        await play_hands(client, 2)

    async with visiting(house(), tmp_path / "data") as visit:
        await begin(visit)
    async with visiting(house(), tmp_path / "data") as visit:
        await go_on(visit)
    assert kept["told"]["session_num_hands"] == kept["hands"]
    assert kept["sum"] != kept["told"]["session_total"]
    return int(kept["sum"])


@pytest.mark.slow
@pytest.mark.usefixtures("worth")
async def test_an_answer_does_without_what_cannot_be_counted_and_the_next_has_all(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with visiting(house(), tmp_path / "data") as visit:
        client = Client(visit.browser)
        await client.log_in("player", visit.token)
        assert "baseline_winnings" in await finished_hand(client)
        for process in multiprocessing.active_children():
            process.kill()
            process.join()
        told = await finished_hand(client)
        assert "baseline_winnings" not in told
        assert told["session_num_hands"] == 2
        told = await finished_hand(client)
        assert told["session_baseline_total"] == round(corrected(tmp_path))
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
def test_the_client_reads_published_examples(text: str, street: int, turn: int | None, total: list[int]) -> None:
    betting = read(text)
    assert (betting.street, betting.turn, betting.total) == (street, turn, total)
