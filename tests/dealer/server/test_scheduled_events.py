"""Events of a server: entry, contests, results, and restarts during an event."""

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
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dealer.cli.shell.event_folder import publish, write_pages
from dealer.errors import RefusedError
from dealer.server.db import counted_scores, event_records, records
from dealer.server.db.event_records import (
    EventState,
    ScheduledEvent,
    add_event,
    disqualify,
    edit_event,
    withdraw_event,
)
from dealer.server.db.records import JobState, RunState
from dealer.server.db.run_changes import remove_results
from dealer.server.db.store import Store
from dealer.server.db.users import User, add_user
from dealer.server.event_results import event_detail, event_document
from dealer.server.event_settings import EventSettings
from dealer.server.server import is_reserved
from dealer.server.server_settings import ServerSettings, read_toml_settings
from dealer.server.service import Service
from engine import DealKey
from logs.acpc_log.reader import check_deals
from logs.document import Document, Section, Table
from logs.hand_source import find
from tests.dealer.helpers import ARENA, PATIENCE_S, ROOT, program_env
from tests.dealer.server.test_contests import Host, offer, serving, until
from tests.programs import start

HOUSE = """
event_patience_s = {patience}
[[games]]
game = "kuhn.limit.2p"
name = "two"
deals = 60
bots = ["calling", "random", "raising"]
[[games]]
game = "limit"
deals = 5
bots = ["calling", "random"]
"""
LIMIT = "holdem.limit.2p.reverse_blinds"
DEALS = 100


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def from_now(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def announce(service: Service, *, opens: float = -1000.0, closes: float = -1.0, **changes: Any) -> None:
    """Add an event that opens and closes so many seconds from now."""
    fields = {"name": "final", "game": "two", "opens": from_now(opens), "closes": from_now(1e6), **changes}
    settings = EventSettings.model_validate(fields)

    def change(db: sqlite3.Connection) -> None:
        add_event(db, "ann", settings, settings.game)
        # An event that has closed can only be made by changing the database.
        db.execute("UPDATE scheduled_events SET closes_s = ? WHERE name = ?", (time.time() + closes, settings.name))

    service.store.write_now(change)


def final(service: Service) -> ScheduledEvent:
    event = event_records.event(service.store, "final")
    assert event is not None
    return event


async def finished_event(service: Service) -> ScheduledEvent:
    """Wait until the event is finished, and return it."""
    async with asyncio.timeout(PATIENCE_S):
        while final(service).state is not EventState.FINISHED:
            await asyncio.sleep(0.02)
    return final(service)


async def eventually(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not is_true():
            await asyncio.sleep(0.02)


def pairs_played(service: Service) -> list[tuple[str, ...]]:
    return [job.players for job, _ in event_records.event_contests(service.store, final(service))]


def house(patience: float = 3600, **replacements: str) -> ServerSettings:
    """Settings of a server whose bots may be replaced by others under the same names."""
    text = HOUSE.format(patience=patience)
    for old, new in replacements.items():
        text = text.replace(f'"{old}"', f'"{old}={new}"')
    path = Path("s.toml")
    path.write_text(text)
    return read_toml_settings(path)


async def test_event_is_a_round_robin_with_separate_results(tmp_path: Path) -> None:
    async with serving(house()) as (service, ann):
        host = Host()
        await service.presence.enter(ann, offer("eve", "v7", at_once=2), host)
        announce(service, deals=DEALS, entrants=("calling", "eve", "random"))
        event = await finished_event(service)
        assert event.entrants == ("calling", "eve", "random")
        assert event.contests == 3
        assert event.contests_ended == 3
        assert event.deals == DEALS
        assert event.note == ""
        assert len(set(pairs_played(service))) == 3
        assert [bot.label for bot in records.bots_of_event(service.store, event.id)] == ["", "v7", ""]
        assert {job.user.name for job, _ in event_records.event_contests(service.store, event)} == {"(event)"}
        assert is_reserved("(event)")
        runs = [run for _, run in event_records.event_contests(service.store, event)]
        for run in runs:
            assert run is not None
            assert (run.state, run.duplicates) == (RunState.FINISHED, DEALS)
            assert run.unrated == "it counts in an event"
        assert counted_scores.pairs(service.store, service.settings.games[0]) == ()
        detail = event_detail(service.store, event)
        standings = detail.standings
        assert standings is not None
        assert standings.unfinished == []
        for rank in standings.total_bankroll:
            won = []
            for job, run in event_records.event_contests(service.store, event):
                assert run is not None
                if rank.player in job.players:
                    scores = records.duplicate_scores(service.store, run.id, job.players.index(rank.player))
                    won.append(sum(scores) / len(scores))
            assert len(won) == 2
            assert standings.won[rank.player].raw.mean == pytest.approx(sum(won) / 2)
        assert {rank.confidence is None for rank in standings.total_bankroll} == {True}
        assert publish(service.store, Path("data"), event, tmp_path / "site") == 3
        async with asyncio.timeout(PATIENCE_S):
            while not final(service).standings:
                await asyncio.sleep(0.02)
        stored = event_detail(service.store, final(service)).standings
        assert stored is not None
        assert {rank.confidence is None for rank in stored.total_bankroll} == {False}
        assert [rank.player for rank in stored.total_bankroll] == [rank.player for rank in standings.total_bankroll]
        with pytest.raises(RefusedError, match="is not an empty folder"):
            publish(service.store, Path("data"), event, tmp_path / "site")
    check_site(tmp_path / "site")


def check_site(site: Path) -> None:
    """Check the documents and logs of a published event with three contests."""
    published = json.loads((site / "event.json").read_text())
    assert published["event"]["state"] == "finished"
    assert len(published["standings"]["total_bankroll"]) == 3
    assert None not in [rank["confidence"] for rank in published["standings"]["total_bankroll"]]
    assert "is first" in (site / "index.html").read_text()
    for contest in published["contests"]:
        folder = site / "contests" / f"{contest['run']['id']:08}"
        linked = re.findall(r'href="(match[^"]+)"', (folder / "index.html").read_text())
        assert linked == ["match.a.log", "match.b.log"]
        assert len(list(find([folder / "match.a.log"]).hands())) == DEALS
        assert (folder / "index.html").read_text().count('<details class="hand sheet"') == 10


def test_long_tables_of_a_published_event_are_paged(tmp_path: Path) -> None:
    contests = Table.of("Contests", ("contest",), [[f"contest {number}"] for number in range(101)])
    write_pages(Document("Event", sections=(Section("Contests", (contests,)),)), tmp_path)
    names = ["index.html", "page-2.html", "page-3.html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    shown: list[int] = []
    for name in names:
        text = (tmp_path / name).read_text()
        shown += map(int, re.findall(r">contest\s(\d+)<", text))
        assert re.findall(r'href="((?:index|page)[^"]*)"', text) == [other for other in names if other != name]
    assert shown == list(range(101))


async def test_hand_histories_are_published_in_formats_that_have_the_game(tmp_path: Path) -> None:
    async with serving(house()) as (service, _):
        announce(service, game=LIMIT)
        assert publish(service.store, Path("data"), await finished_event(service), tmp_path / "site") == 1
    (folder,) = (tmp_path / "site" / "contests").iterdir()
    linked = re.findall(r'href="(match[^"]+)"', (folder / "index.html").read_text())
    assert {*linked, "index.html"} == {path.name for path in folder.iterdir()}
    assert sorted({path.suffix.lower() for path in folder.iterdir()}) == [".html", ".log", ".ohh", ".phhs", ".txt"]
    assert len(list(find([folder / "match.a.phhs"]).hands())) == 5


async def test_unfinished_event_is_not_published(tmp_path: Path) -> None:
    async with serving(house()) as (service, _):
        announce(service, closes=100.0)
        with pytest.raises(RefusedError, match="the event final is open and can be published only when it is finished"):
            publish(service.store, Path("data"), final(service), tmp_path / "site")


async def test_only_named_bots_enter_and_a_note_names_missing_bots() -> None:
    async with serving(house()) as (service, _):
        # The bot gone is from an earlier configuration.
        service.store.write_now(lambda db: db.execute("INSERT INTO bots (game, name) VALUES ('two', 'gone')").rowcount)
        announce(service, entrants=("random", "calling", "gone"), deals=5)
        event = await finished_event(service)
        assert event.entrants == ("calling", "random")
        assert (event.contests, event.deals) == (1, 5)
        assert event.note == "no bot with this name can enter: gone"
        document = event_document(service.store, event_detail(service.store, event))
        assert "No bot with this name can enter: gone." in document.sentences


async def test_unknown_entrants_are_refused_with_the_nearest_name() -> None:
    async with serving(house()) as (service, _):
        expected = "the game two has no bot caling (did you mean calling?) and <b>; bots are known"
        with pytest.raises(RefusedError, match=re.escape(expected)):
            announce(service, entrants=("random", "caling", "<b>"))
        assert event_records.events(service.store) == ()


async def test_open_event_lists_bots_that_would_enter_now() -> None:
    async with serving(house()) as (service, ann):
        announce(service, closes=1e6)
        await eventually(lambda: final(service).entrants == ("calling", "raising", "random"))
        await service.presence.enter(ann, offer("eve", "v7"), Host())
        await eventually(lambda: "eve" in final(service).entrants)
        assert [bot.label for bot in records.bots_of_event(service.store, final(service).id)] == ["", "v7", "", ""]
        service.store.write_now(lambda db: disqualify(db, "ann", final(service), "eve", "copied"))
        await eventually(lambda: "eve" not in final(service).entrants)
        document = event_document(service.store, event_detail(service.store, final(service)))
        assert document.sentences[0].startswith("The event is open, and 3 bots would enter now.")


async def test_settings_can_change_until_an_event_closes() -> None:
    async with serving(house()) as (service, _):
        announce(service, closes=1e6)
        opened_s = final(service).opens_s

        def edit(name: str, **changes: Any) -> None:
            fields = {"name": name, "game": "two", "closes": from_now(100), **changes}
            settings = EventSettings.model_validate(fields)
            event = event_records.event(service.store, "final") or event_records.event(service.store, "cup")
            assert event is not None
            service.store.write_now(lambda db: edit_event(db, "ann", event, settings, "two"))

        edit("cup", deals=7, entrants=("calling", "random"))
        (event,) = event_records.events(service.store)
        assert (event.name, event.deals, event.opens_s) == ("cup", 7, opened_s)
        assert event.named == ("calling", "random")
        with pytest.raises(RefusedError, match="has no bot nobody"):
            edit("cup", entrants=("nobody",))
        service.store.write_now(lambda db: db.execute("UPDATE scheduled_events SET closed_s = 1").rowcount)
        with pytest.raises(RefusedError, match="the event cup has closed, so its settings cannot change any more"):
            edit("cup")


async def test_withdrawn_event_frees_its_name_or_ends_its_contests() -> None:
    async with serving(house()) as (service, ann):
        announce(service, closes=1e6)
        service.store.write_now(lambda db: withdraw_event(db, "ann", final(service)))
        assert event_records.event(service.store, "final") is None
        # A bot that never answers keeps a contest running, and another one waiting.
        await service.presence.enter(ann, offer("eve"), Host(is_idle=True))
        announce(service)
        await eventually(lambda: final(service).contests_ended == 3)
        service.store.write_now(lambda db: withdraw_event(db, "ann", final(service)))
        await eventually(lambda: final(service).contests_ended == 6)
        event = final(service)
        assert event.state is EventState.WITHDRAWN
        reasons = [job.reason for job, _ in event_records.event_contests(service.store, event)]
        assert sorted(reasons) == ["", "", "", *["the event was withdrawn"] * 3]
        with pytest.raises(RefusedError, match="the event final is withdrawn; only one that is not finished"):
            service.store.write_now(lambda db: withdraw_event(db, "ann", event))


async def test_disqualified_bot_is_removed_from_the_standings_and_its_contests_end(tmp_path: Path) -> None:
    async with serving(house()) as (service, ann):
        await service.presence.enter(ann, offer("eve"), Host(is_idle=True))
        announce(service)
        await eventually(lambda: final(service).contests_ended == 3)
        assert final(service).state is EventState.RUNNING

        def exclude(bot: str) -> None:
            service.store.write_now(lambda db: disqualify(db, "ann", final(service), bot, "it copied another bot"))

        with pytest.raises(RefusedError, match=re.escape("the event final has no bot evee (did you mean eve?)")):
            exclude("evee")
        exclude("eve")
        assert final(service).state is EventState.FINISHED

        def reasons() -> list[str]:
            return [job.reason for job in records.jobs(service.store, event=final(service).id)]

        await eventually(lambda: reasons().count("eve was disqualified") == 3)
        await eventually(lambda: bool(final(service).standings))
        exclude("random")
        await eventually(lambda: bool(final(service).standings))
        event = final(service)
        assert (event.entrants, event.contests) == (("calling", "raising"), 1)
        standings = event_detail(service.store, event).standings
        assert standings is not None
        assert {rank.player for rank in standings.total_bankroll} == {"calling", "raising"}
        assert publish(service.store, Path("data"), event, tmp_path / "site") == 1
    page = (tmp_path / "site" / "index.html").read_text()
    assert "it copied another bot" in page
    assert json.loads((tmp_path / "site" / "event.json").read_text())["event"]["disqualified"] == [
        {"bot": "eve", "reason": "it copied another bot"},
        {"bot": "random", "reason": "it copied another bot"},
    ]


async def test_bots_connected_during_the_entry_period_enter() -> None:
    settings = house()
    with_one_bot = replace(settings.games[0], bots={"calling": settings.games[0].bots["calling"]})
    async with serving(replace(settings, games=(with_one_bot,))) as (service, ann):
        bob = User(service.store.write_now(lambda db: add_user(db, "bob")), "bob")
        early = Host()
        await service.presence.enter(bob, offer("early"), early)
        service.presence.leave(early)
        # The server records the departure before the next change.
        await asyncio.sleep(0)
        service.store.write_now(lambda db: db.execute("UPDATE bots SET seen_s = 5 WHERE name = 'early'").rowcount)
        await service.presence.enter(ann, offer("eve", "v1"), Host())
        await service.presence.enter(ann, offer("adam"), Host())
        announce(service, closes=1e6, deals=5, entries_per_user=0)
        assert final(service).state is EventState.OPEN
        document = event_document(service.store, event_detail(service.store, final(service)))
        assert document.sentences[0].startswith("The event is open, and ")
        service.store.write_now(
            lambda db: db.execute("UPDATE scheduled_events SET closes_s = closes_s - 1e6 - 1").rowcount
        )
        event = await finished_event(service)
        assert event.entrants == ("adam", "calling", "eve")
        assert sorted(pairs_played(service)) == [("adam", "calling"), ("adam", "eve"), ("calling", "eve")]


async def test_users_enter_with_their_last_connected_bot() -> None:
    async with serving(house()) as (service, ann):
        bob = User(service.store.write_now(lambda db: add_user(db, "bob")), "bob")
        for user, name in ((ann, "first"), (ann, "second"), (bob, "third")):
            await service.presence.enter(user, offer(name), Host())
        announce(service, closes=1e6)
        own = {"calling", "raising", "random"}
        await eventually(lambda: set(final(service).entrants) == own | {"second", "third"})
        settings = EventSettings(name="final", game="two", entries_per_user=2, closes=from_now(100))
        service.store.write_now(lambda db: edit_event(db, "ann", final(service), settings, "two"))
        await eventually(lambda: set(final(service).entrants) == own | {"first", "second", "third"})


@pytest.mark.slow  # 21 contests of 500 deals
async def test_equal_bots_have_equal_results_independent_of_owners(tmp_path: Path) -> None:
    """Three equal bots of one user, which also play each other, and one of another user differ by luck alone."""
    async with serving(house()) as (service, ann):
        bob = User(service.store.write_now(lambda db: add_user(db, "bob")), "bob")
        for name in ("one", "two", "three", "four"):
            await service.presence.enter(bob if name == "four" else ann, offer(name, at_once=8), Host())
        announce(service, deals=500, entries_per_user=3)
        event = await finished_event(service)
        standings = event_detail(service.store, event).standings
        assert standings is not None
        rates = [standings.won[name].raw for name in ("one", "two", "three", "four")]
        spread = max(rate.mean for rate in rates) - min(rate.mean for rate in rates)
        assert spread < 2 * max(rate.half_width or 0.0 for rate in rates)


async def test_another_version_does_not_play_for_the_entrant() -> None:
    async with serving(replace(house(patience=0.5), start_timeout_s=0.5)) as (service, ann):
        first = Host(is_idle=True)
        second = Host()
        await service.presence.enter(ann, offer("eve", "v1"), first)
        announce(service, entrants=("eve", "calling", "random"))
        await until(service, lambda: bool(first.received))
        # The bot leaves: the contest that has called it is played without it, and another waits for it.
        service.presence.leave(first)
        await service.presence.enter(ann, offer("eve", "v2", at_once=4), second)
        await finished_event(service)
        assert second.received == []
        ended = {job.players: job.reason for job, _ in event_records.event_contests(service.store, final(service))}
        assert ended["calling", "random"] == ""
        assert "eve has not connected in the version that entered" in ended.values()


async def test_own_bots_changed_since_entry_do_not_play() -> None:
    async with serving(house()) as (service, ann):
        await service.presence.enter(ann, offer("eve"), Host(is_idle=True))
        announce(service, entrants=("eve", "calling"))
        await until(service, lambda: final(service).contests == 1)
    async with serving(house(calling="raising")) as (service, ann):
        ((job, _),) = event_records.event_contests(service.store, final(service))
        assert (job.state, job.reason) == (JobState.CANCELLED, "calling has changed since it entered")
        assert final(service).state is EventState.FINISHED


async def test_stopped_server_continues_an_event_and_plays_nothing_twice() -> None:
    async with serving(house()) as (service, _):
        announce(service, deals=40)
        await until(service, lambda: len(records.runs(service.store)) > 0)
    async with serving(house()):
        pass
    async with serving(house()) as (service, _):
        assert final(service).contests == 3
        event = await finished_event(service)
        runs = records.runs(service.store)
        assert [run.state for run in runs] == [RunState.FINISHED] * 3
        for run in runs:
            assert isinstance(run.seed, DealKey)
            assert run.duplicates == 40
            logs = sorted((Path("data") / run.folder).glob("match*.log"))
            assert [check_deals(log, run.seed) for log in logs] == [40, 40]
        assert event.contests_ended == 3


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"opens": from_now(10), "closes": from_now(5)}, "an event opens before it closes"),
        ({"closes": datetime(2030, 1, 1)}, "timezone"),
        ({"name": "a b"}, "must have only the letters"),
        ({"entrants": ["a", "a"]}, "a bot enters once"),
        ({"deals": 0}, "greater than or equal to 1"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_invalid_event_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        EventSettings.model_validate({"name": "final", "game": "two", "closes": from_now(5), **changes})


def test_event_with_a_taken_name_or_a_past_closing_time_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "server.sqlite3")
    settings = EventSettings(name="final", game="two", closes=from_now(5))
    store.write_now(lambda db: add_event(db, "ann", settings, "two"))
    with pytest.raises(RefusedError, match="there is an event final already"):
        store.write_now(lambda db: add_event(db, "ann", settings, "two"))
    late = EventSettings(name="late", game="two", closes=from_now(-5))
    with pytest.raises(RefusedError, match="the closing time of the event has passed"):
        store.write_now(lambda db: add_event(db, "ann", late, "two"))
    store.close()


async def test_event_of_a_removed_game_ends_without_contests() -> None:
    async with serving(house()) as (service, _):
        announce(service, game="gone")
        event = await finished_event(service)
        assert (event.contests, event.note) == (0, "the server no longer plays the game gone")
        document = event_document(service.store, event_detail(service.store, event))
        assert document.sentences[0] == "The event is finished: 0 contests."


def test_upcoming_events_come_before_those_that_are_over(tmp_path: Path) -> None:
    with contextlib.closing(Store(tmp_path / "server.sqlite3")) as store:
        for name, closes in (("far", 1e6), ("near", 1e5), ("old", 2e5), ("older", 1e5), ("withdrawn", 3e5)):
            settings = EventSettings(name=name, game="two", closes=from_now(closes))
            store.write_now(lambda db, settings=settings: add_event(db, "ann", settings, "two"))  # type: ignore[misc]
        for query in (
            "UPDATE scheduled_events SET closed_s = 1 WHERE name IN ('old', 'older', 'withdrawn')",
            "UPDATE scheduled_events SET withdrawn_s = 1 WHERE name = 'withdrawn'",
        ):
            store.write_now(lambda db, query=query: db.execute(query).rowcount)  # type: ignore[misc]
        names = [event.name for event in event_records.events_by_time(store)]
        assert names == ["near", "far", "withdrawn", "old", "older"]
        assert [event.name for event in event_records.events_by_time(store, skip=1, limit=2)] == names[1:3]
        assert event_records.count_events(store) == 5


def test_removing_results_keeps_upcoming_events(tmp_path: Path) -> None:
    with contextlib.closing(Store(tmp_path / "server.sqlite3")) as store:
        for name in ("final", "later"):
            settings = EventSettings(name=name, game="two", closes=from_now(1e6))
            store.write_now(lambda db, settings=settings: add_event(db, "ann", settings, "two"))  # type: ignore[misc]
        store.write_now(lambda db: db.execute("UPDATE scheduled_events SET closed_s = 1 WHERE name = 'final'").rowcount)
        store.write_now(remove_results)
        assert [event.name for event in event_records.events(store)] == ["later"]


def test_example_in_the_documentation_is_a_valid_event() -> None:
    page = (ROOT / "docs" / "competition.md").read_text("utf-8")
    text, *_ = re.findall(r"(?s)```toml\n(name = .*?)```", page)
    settings = EventSettings.model_validate(tomllib.loads(text))
    assert {name for name, value in settings if value is None} == set()


class ServerProcess:
    """Process of a server, which can be killed at any moment."""

    def __init__(self) -> None:
        command = [*ARENA, "serve", "s.toml", "--port", "0", "--web-port", "0", "--data", "data"]
        self.program = start(command, cwd=Path.cwd(), env=program_env())
        assert self.program.stdout is not None
        assert self.program.stdout.readline().startswith(b"Listening on ")

    def end(self, number: signal.Signals) -> None:
        self.program.send_signal(number)
        self.program.communicate(timeout=PATIENCE_S)


def await_logs(size: int) -> None:
    """Wait until the logs of all runs together have this many bytes."""
    deadline_s = time.monotonic() + PATIENCE_S
    while sum(log.stat().st_size for log in Path("data").glob("runs/*/match*.log")) < size:
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


@pytest.mark.slow
def test_event_survives_kills_of_its_server(tmp_path: Path) -> None:
    kills = 10
    house()
    deals = 150 * kills
    settings = EventSettings.model_validate({"name": "final", "game": "two", "deals": deals, "closes": from_now(3600)})
    chance = random.Random(kills)
    server = ServerProcess()
    # A line of a log has more than 25 bytes.
    total_bytes = 3 * 2 * deals * 25
    try:
        with contextlib.closing(Store(Path("data/server.sqlite3"))) as store:
            store.write_now(lambda db: add_event(db, "ann", settings, "two"))
            store.write_now(lambda db: db.execute("UPDATE scheduled_events SET opens_s = 1, closes_s = 2").rowcount)
            for number in range(kills):
                await_logs(int(total_bytes * chance.uniform(0.2, number + 1) / kills))
                server.end(signal.SIGKILL)
                server = ServerProcess()
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
