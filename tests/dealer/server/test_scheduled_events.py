"""Events of a server: who enters, what is played, what becomes of it when something is killed or changed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import signal
import sqlite3
import time
import tomllib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dealer.errors import RefusedError
from dealer.server.db import counted_scores, event_records, records
from dealer.server.db.event_records import EventState, ScheduledEvent, add_event
from dealer.server.db.records import JobState, RunState
from dealer.server.db.run_changes import remove_results
from dealer.server.db.store import Store
from dealer.server.db.users import User, add_user
from dealer.server.event_results import event_detail, event_document, publish
from dealer.server.event_settings import EventSettings
from dealer.server.server import is_reserved
from dealer.server.server_settings import ServerSettings, read_toml_settings
from dealer.server.service import Service
from engine import DealKey
from logs.acpc_log.reader import check_deals
from logs.hand_source import find
from tests.dealer.helpers import ARENA, PATIENCE_S, ROOT, program_env
from tests.dealer.server.test_contests import Host, offer, serving, until
from tests.programs import start

HOUSE = """
own_seat_patience_s = {patience}
[[games]]
game = "kuhn.limit.2p"
name = "two"
deals = 60
bots = ["calling", "random", "raising"]
[[games]]
game = "limit"
deals = 10
bots = ["calling", "random"]
"""
LIMIT = "holdem.limit.2p.reverse_blinds"


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def at(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def announced(service: Service, *, opens: float = -1000.0, closes: float = -1.0, **changes: Any) -> None:
    """Enter an event whose times are so many seconds from now."""
    given = {"name": "final", "game": "two", "opens": at(opens), "closes": at(1e6), **changes}
    settings = EventSettings.model_validate(given)

    def change(db: sqlite3.Connection) -> None:
        add_event(db, "ann", settings, settings.game)
        # Nobody can announce one that has closed.
        db.execute("UPDATE scheduled_events SET closes_s = ? WHERE name = ?", (time.time() + closes, settings.name))

    service.store.write_now(change)


def final(service: Service) -> ScheduledEvent:
    found = event_records.event(service.store, "final")
    assert found is not None
    return found


async def finished(service: Service) -> ScheduledEvent:
    async with asyncio.timeout(PATIENCE_S):
        while final(service).state is not EventState.FINISHED:
            await asyncio.sleep(0.02)
    return final(service)


def pairs_played(service: Service) -> list[tuple[str, ...]]:
    return [job.players for job, _ in event_records.event_contests(service.store, final(service))]


def house(patience: float = 3600, **words: str) -> ServerSettings:
    text = HOUSE.format(patience=patience)
    for old, new in words.items():
        text = text.replace(f'"{old}"', f'"{old}={new}"')
    path = Path("s.toml")
    path.write_text(text)
    return read_toml_settings(path)


async def test_an_event_is_a_round_robin_whose_results_are_apart(tmp_path: Path) -> None:
    async with serving(house()) as (service, ann):
        host = Host()
        await service.presence.enter(ann, offer("eve", "v7", at_once=2), host)
        announced(service, deals=100)
        event = await finished(service)
        assert event.entrants == ("calling", "eve", "raising", "random")
        assert (event.contests, event.contests_ended, event.deals, event.note) == (6, 6, 100, "")
        assert len(set(pairs_played(service))) == 6
        assert [bot.label for bot in records.bots_of_event(service.store, event.id)] == ["", "v7", "", ""]
        assert {job.user.name for job, _ in event_records.event_contests(service.store, event)} == {"(event)"}
        assert is_reserved("(event)")
        runs = [run for _, run in event_records.event_contests(service.store, event)]
        assert {(run and run.state, run and run.duplicates) for run in runs} == {(RunState.FINISHED, 100)}
        assert {run and run.unrated for run in runs} == {"it counts in an event"}
        assert counted_scores.pairs(service.store, service.settings.games[0]) == ()
        detail = event_detail(service.store, event)
        standings = detail.standings
        assert standings is not None
        assert standings.unfinished == []
        for rank in standings.total_bankroll:
            won = [
                sum(scores) / len(scores)
                for job, run in event_records.event_contests(service.store, event)
                if run is not None and rank.player in job.players
                for scores in [records.duplicate_scores(service.store, run.id, job.players.index(rank.player))]
            ]
            assert standings.won[rank.player].raw.mean == pytest.approx(sum(won) / 3)
        assert {rank.confidence is None for rank in standings.total_bankroll} == {True}
        assert publish(service.store, Path("data"), event, tmp_path / "site") == 6
        async with asyncio.timeout(PATIENCE_S):
            while not final(service).standings:
                await asyncio.sleep(0.02)
        kept = event_detail(service.store, final(service)).standings
        assert kept is not None
        assert {rank.confidence is None for rank in kept.total_bankroll} == {False}
        assert [rank.player for rank in kept.total_bankroll] == [rank.player for rank in standings.total_bankroll]
        with pytest.raises(RefusedError, match="is not an empty folder"):
            publish(service.store, Path("data"), event, tmp_path / "site")
    site = tmp_path / "site"
    told = json.loads((site / "event.json").read_text())
    assert told["event"]["state"] == "finished"
    assert len(told["standings"]["total_bankroll"]) == 4
    assert None not in [rank["confidence"] for rank in told["standings"]["total_bankroll"]]
    assert "is first" in (site / "index.html").read_text()
    for contest in told["contests"]:
        folder = site / "contests" / f"{contest['run']['id']:08}"
        linked = re.findall(r'href="(match[^"]+)"', (folder / "index.html").read_text())
        assert linked == ["match.a.log", "match.b.log"]
        assert len(list(find([folder / "match.a.log"]).hands())) == 100


async def test_what_is_published_has_hand_histories_where_there_are_any(tmp_path: Path) -> None:
    async with serving(house()) as (service, _):
        announced(service, game=LIMIT)
        assert publish(service.store, Path("data"), await finished(service), tmp_path / "site") == 1
    (folder,) = (tmp_path / "site" / "contests").iterdir()
    linked = re.findall(r'href="(match[^"]+)"', (folder / "index.html").read_text())
    assert {*linked, "index.html"} == {path.name for path in folder.iterdir()}
    assert sorted({path.suffix.lower() for path in folder.iterdir()}) == [".html", ".log", ".ohh", ".phhs", ".txt"]
    assert len(list(find([folder / "match.a.phhs"]).hands())) == 10


async def test_an_event_that_goes_on_is_not_published(tmp_path: Path) -> None:
    async with serving(house()) as (service, _):
        announced(service, closes=100.0)
        with pytest.raises(RefusedError, match="the event final is open and can be published only when it is finished"):
            publish(service.store, Path("data"), final(service), tmp_path / "site")


async def test_only_named_bots_enter_and_those_that_cannot_are_told() -> None:
    async with serving(house()) as (service, _):
        announced(service, entrants=("random", "calling", "nobody", "<b>"), deals=20)
        event = await finished(service)
        assert (event.entrants, event.contests, event.deals) == (("calling", "random"), 1, 20)
        assert event.note == "no bot with this name can enter: <b> and nobody"
        document = event_document(service.store, event_detail(service.store, event))
        assert "No bot with this name can enter: <b> and nobody." in document.sentences


async def test_who_was_connected_while_it_was_open_enters() -> None:
    async with serving(house()) as (service, ann):
        bob = User(service.store.write_now(lambda db: add_user(db, "bob")), "bob")
        before, here = Host(), Host()
        await service.presence.enter(bob, offer("early"), before)
        service.presence.leave(before)
        # What it writes about the bot comes first.
        await asyncio.sleep(0)
        service.store.write_now(lambda db: db.execute("UPDATE bots SET seen_s = 5 WHERE name = 'early'").rowcount)
        await service.presence.enter(ann, offer("eve", "v1"), here)
        await service.presence.enter(ann, offer("adam"), Host())
        announced(service, closes=1e6, deals=5)
        assert final(service).state is EventState.OPEN
        document = event_document(service.store, event_detail(service.store, final(service)))
        assert document.sentences[0].startswith("The event is open. It closes in 277 h 46 min;")
        service.store.write_now(
            lambda db: db.execute("UPDATE scheduled_events SET closes_s = closes_s - 1e6 - 1").rowcount
        )
        event = await finished(service)
        assert event.entrants == ("adam", "calling", "eve", "raising", "random")
        # Two bots of one user do not meet.
        assert ("adam", "eve") not in pairs_played(service)
        assert event.contests == 9


async def test_another_version_does_not_play_and_what_it_lacks_is_given_up_at_last() -> None:
    async with serving(replace(house(patience=0.5), start_timeout_s=0.5)) as (service, ann):
        first, second = Host(is_idle=True), Host()
        await service.presence.enter(ann, offer("eve", "v1"), first)
        announced(service, entrants=("eve", "calling", "random"))
        await until(service, lambda: bool(first.received))
        # It leaves, so that the contest that has called it is played without it, and another waits for it.
        service.presence.leave(first)
        await service.presence.enter(ann, offer("eve", "v2", at_once=4), second)
        await finished(service)
        assert second.received == []
        ended = {job.players: job.reason for job, _ in event_records.event_contests(service.store, final(service))}
        assert ended["calling", "random"] == ""
        assert "eve has not connected in the version that entered" in ended.values()


async def test_the_own_bots_of_a_changed_configuration_do_not_play() -> None:
    async with serving(house()) as (service, ann):
        await service.presence.enter(ann, offer("eve"), Host(is_idle=True))
        announced(service, entrants=("eve", "calling"))
        await until(service, lambda: final(service).contests == 1)
    async with serving(house(calling="raising")) as (service, ann):
        ((job, _),) = event_records.event_contests(service.store, final(service))
        assert (job.state, job.reason) == (JobState.CANCELLED, "calling has changed since it entered")
        assert final(service).state is EventState.FINISHED


async def test_a_stopped_server_continues_an_event_and_plays_nothing_twice() -> None:
    async def begin(service: Service, ann: User) -> None:
        announced(service, deals=400)
        await until(service, lambda: len(records.runs(service.store)) > 0)

    async def go_on(service: Service, ann: User) -> None:
        assert final(service).contests == 3
        event = await finished(service)
        runs = records.runs(service.store)
        assert len(runs) == 3
        assert {run.state for run in runs} == {RunState.FINISHED}
        for run in runs:
            assert isinstance(run.seed, DealKey)
            assert run.duplicates == 400
            logs = sorted((Path("data") / run.folder).glob("match*.log"))
            assert [check_deals(log, run.seed) for log in logs] == [400, 400]
        assert event.contests_ended == 3

    async with serving(house()) as (service, ann):
        await begin(service, ann)
    for _ in range(2):
        async with serving(house()) as (service, _):
            await until(service, lambda: True)
    async with serving(house()) as (service, ann):
        await go_on(service, ann)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"opens": at(10), "closes": at(5)}, "an event opens before it closes"),
        ({"closes": datetime(2030, 1, 1)}, "timezone"),
        ({"name": "a b"}, "must be 1 to 40 of the letters"),
        ({"entrants": ["a", "a"]}, "a bot enters once"),
        ({"deals": 0}, "greater than or equal to 1"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_what_makes_no_event(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        EventSettings.model_validate({"name": "final", "game": "two", "closes": at(5), **changes})


def test_an_event_has_a_name_of_its_own_and_its_time_to_come(tmp_path: Path) -> None:
    store = Store(tmp_path / "server.sqlite3")
    settings = EventSettings(name="final", game="two", closes=at(5))
    store.write_now(lambda db: add_event(db, "ann", settings, "two"))
    with pytest.raises(RefusedError, match="there is an event final already"):
        store.write_now(lambda db: add_event(db, "ann", settings, "two"))
    late = EventSettings(name="late", game="two", closes=at(-5))
    with pytest.raises(RefusedError, match="the closing time of the event has passed"):
        store.write_now(lambda db: add_event(db, "ann", late, "two"))
    store.close()


async def test_a_game_that_is_gone_ends_an_event_without_contests() -> None:
    async with serving(house()) as (service, _):
        announced(service, game="gone")
        event = await finished(service)
        assert (event.contests, event.note) == (0, "the server no longer plays the game gone")
        document = event_document(service.store, event_detail(service.store, event))
        assert document.sentences[0] == "The event is finished: 0 contests."


async def test_removing_results_keeps_events_that_are_to_come() -> None:
    async with serving(house()) as (service, _):
        announced(service, deals=5)
        await finished(service)
        announced(service, name="later", closes=1e6)
    store = Store(Path("data/server.sqlite3"))
    store.write_now(remove_results)
    assert [event.name for event in event_records.events(store)] == ["later"]
    store.close()


def test_the_example_of_the_page_about_competitions_is_an_event() -> None:
    page = (ROOT / "docs" / "competition.md").read_text("utf-8")
    (text,) = re.findall(r"(?s)```toml\n(name = .*?)```", page)
    settings = EventSettings.model_validate(tomllib.loads(text))
    assert {name for name, value in settings if value is None} == set()


class Killed:
    """A server in a process of its own, which can be killed at any moment."""

    def __init__(self) -> None:
        command = [*ARENA, "serve", "s.toml", "--port", "0", "--web-port", "0", "--data", "data"]
        self.program = start(command, cwd=Path.cwd(), env=program_env())
        assert self.program.stdout is not None
        assert self.program.stdout.readline().startswith(b"Listening on ")

    def end(self, number: signal.Signals) -> None:
        self.program.send_signal(number)
        self.program.communicate(timeout=PATIENCE_S)


def await_logs(size: int) -> None:
    """Wait until the logs of all runs have this many bytes together."""
    deadline_s = time.monotonic() + PATIENCE_S
    while sum(log.stat().st_size for log in Path("data").glob("runs/*/match*.log")) < size:
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_an_event_survives_its_server_being_killed(tmp_path: Path, kills: int) -> None:
    house()
    deals = 150 * kills
    settings = EventSettings.model_validate({"name": "final", "game": "two", "deals": deals, "closes": at(3600)})
    chance = random.Random(kills)
    server = Killed()
    # Of all logs; a line has more than 25 bytes.
    whole = 3 * 2 * deals * 25
    try:
        with contextlib.closing(Store(Path("data/server.sqlite3"))) as store:
            store.write_now(lambda db: add_event(db, "ann", settings, "two"))
            store.write_now(lambda db: db.execute("UPDATE scheduled_events SET opens_s = 1, closes_s = 2").rowcount)
            for number in range(kills):
                await_logs(int(whole * chance.uniform(0.2, number + 1) / kills))
                server.end(signal.SIGKILL)
                server = Killed()
            deadline = time.monotonic() + PATIENCE_S
            while (event := event_records.event(store, "final")) is None or event.state is not EventState.FINISHED:
                assert time.monotonic() < deadline, event
                time.sleep(0.1)
            contests = event_records.event_contests(store, event)
            assert sorted(job.players for job, _ in contests) == [
                ("calling", "raising"),
                ("calling", "random"),
                ("raising", "random"),
            ]
            assert len(records.runs(store)) == 3
            for _, run in contests:
                assert run is not None
                assert isinstance(run.seed, DealKey)
                assert (run.state, run.duplicates) == (RunState.FINISHED, deals)
                logs = sorted((Path("data") / run.folder).glob("match*.log"))
                assert [check_deals(log, run.seed) for log in logs] == [deals, deals]
            assert publish(store, Path("data"), event, tmp_path / "site") == 3
    finally:
        server.end(signal.SIGINT)
