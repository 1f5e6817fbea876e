"""A server restored from a backup, a database that cannot grow, a clock that is set: nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import re
import shutil
import sqlite3
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from dealer.errors import StoreError
from dealer.server.db import records
from dealer.server.db.records import JobRequest, RunState
from dealer.server.db.store import DATABASE_NAME, Store, back_up
from dealer.server.service import Service
from protocol.joining import ContestTerms
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.server.servers import rows
from tests.dealer.server.test_contests import is_over, serving, settings_of, until

CONFIG = """
[[games]]
game = "kuhn.limit.2p"
name = "two"
deals = 40
max_running = 1
bots = ["A=./bot.sh", "B=./bot.sh"]
"""
RUNS = 3
DEALS = 6
RESULTS = (
    "SELECT runs.id, runs.state, runs.duplicates, runs.lineup, seats.seat, seats.chips, scores.mbb_by_duplicate "
    "FROM runs JOIN seats ON seats.run = runs.id JOIN scores ON scores.run = runs.id AND scores.seat = seats.seat "
    "ORDER BY runs.id, seats.seat"
)
DATA = Path("data")


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def request(tag: str = "t", runs: int = RUNS, deals: int = DEALS) -> JobRequest:
    return JobRequest("two", ("A", "B"), tag, runs=runs, terms=ContestTerms(deals=deals))


def finished(service: Service) -> int:
    return sum(run.state is RunState.FINISHED for run in records.runs(service.store))


def check_everything_once(folder: Path) -> dict[str, bytes]:
    """Every run was played once, each deal in each seating, and counts once; returns the logs."""
    runs = rows(folder, "SELECT number, state, duplicates FROM runs ORDER BY number")
    assert runs == [(number, "finished", DEALS) for number in range(1, RUNS + 1)]
    assert rows(folder, "SELECT runs, units, hands FROM lineups") == [(RUNS, RUNS * DEALS, RUNS * DEALS * 2)]
    assert len(list((folder / "runs").iterdir())) == RUNS
    logs = sorted((folder / "runs").glob("*/match*.log"))
    assert len(logs) == 2 * RUNS
    for log in logs:
        assert re.findall(r"(?m)^STATE:(\d+):", log.read_text()) == [str(hand) for hand in range(DEALS)]
    return {str(log.relative_to(folder)): log.read_bytes() for log in logs}


async def until_played(service: Service) -> None:
    await until(service, lambda: is_over(service, 1))


async def test_a_restored_backup_of_a_running_server_plays_nothing_twice() -> None:
    settings = settings_of(CONFIG)
    async with serving(settings) as (service, ann):
        await service.submit(ann, request())
        await until(service, lambda: finished(service) >= 2 and len(records.runs(service.store)) > finished(service))
        back_up(service.store.path, Path("copy.sqlite3"))
        ended = finished(service)
        await until_played(service)
    wanted, results = check_everything_once(DATA), rows(DATA, RESULTS)
    DATA.rename("lost")
    # Of the files of runs, those of the database, or those of a later moment: some of its runs continued meanwhile.
    for has_later_runs in (False, True):
        DATA.mkdir()
        shutil.copy("copy.sqlite3", DATA / DATABASE_NAME)
        before = rows(DATA, "SELECT number FROM runs WHERE state = 'finished'")
        assert len(before) == ended == 2, "the copy is of the moment at which it was made"
        for number in range(1, RUNS + 1):
            if has_later_runs or (number,) in before:
                shutil.copytree(f"lost/runs/{number:08}", DATA / f"runs/{number:08}")
        played = {path: path.stat().st_mtime_ns for path in (DATA / "runs").rglob("match*.log")}
        async with serving(settings) as (service, _):
            await until_played(service)
        # The cards follow from the key of the request, and these bots always call.
        assert check_everything_once(DATA) == wanted
        assert rows(DATA, RESULTS) == results
        assert {path: path.stat().st_mtime_ns for path in played} == played, "what was played is not played again"
        shutil.rmtree(DATA)


async def test_a_database_that_cannot_grow_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite itself says that the disk is full: requests are refused, and what ends is counted when there is room."""
    monkeypatch.setattr("dealer.server.queue.job_queue.RETRY_S", 0.02)
    problems: list[str] = []
    change = Store._change

    def note(self: Store, requested: Callable[[sqlite3.Connection], Any]) -> Any:
        try:
            return change(self, requested)
        except StoreError as error:
            problems.append(str(error))
            raise

    monkeypatch.setattr(Store, "_change", note)

    async def until_full(work: Callable[[], Awaitable[object]]) -> int:
        for done in range(1000):
            try:
                await work()
            except StoreError:
                return done
        raise AssertionError("it never becomes full")

    def close(db: sqlite3.Connection) -> None:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")

    def fill(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO audit (made_s, who, what) VALUES (0, '', ?)", ("x" * 2000,))

    deals = 40
    async with serving(settings_of(CONFIG)) as (service, ann):
        await service.submit(ann, request(deals=deals))
        await until(service, lambda: finished(service) >= 1)
        await service.store.write(close)
        await until_full(lambda: service.store.write(fill))
        # So long that the room that is left in pages is enough for few; so is that for scores.
        other = request("t" * 240, runs=1, deals=deals)
        accepted = len(records.jobs(service.store)) + await until_full(lambda: service.submit(ann, other))
        assert all("database or disk is full" in problem for problem in problems)
        problems.clear()
        async with asyncio.timeout(PATIENCE_S):
            while len(problems) < 5:
                await asyncio.sleep(0.02)
        await service.store.write(lambda db: db.execute("PRAGMA max_page_count = 1000000"))
        assert len(records.jobs(service.store)) == accepted, "refused requests are not stored, and all others are"
        for job in records.jobs(service.store):
            if job.id != 1:
                await service.queue.cancel_job(ann, job.id)
        await until_played(service)
        assert service.broken == []
    assert rows(DATA, "SELECT state, count(*) FROM runs WHERE job = 1 GROUP BY state") == [("finished", RUNS)]
    (counted,) = rows(DATA, "SELECT runs FROM lineups")
    assert counted == rows(DATA, "SELECT count(*) FROM runs WHERE lineup IS NOT NULL")[0]


async def test_a_clock_that_is_set_while_matches_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is set a day forward, and an hour back before the server starts again."""
    shift_s, now_s = 0.0, time.time
    monkeypatch.setattr(time, "time", lambda: now_s() + shift_s)
    settings = settings_of(CONFIG)
    async with serving(settings) as (service, ann):
        await service.submit(ann, request())
        await until(service, lambda: finished(service) >= 1 and len(records.runs(service.store)) > finished(service))
        shift_s = 86_400.0
        await until(service, lambda: finished(service) >= 2 and len(records.runs(service.store)) > finished(service))
        shift_s -= 3600.0
    async with serving(settings) as (service, _):
        await until_played(service)
    check_everything_once(DATA)
    times = rows(DATA, "SELECT ended_s - started_s FROM runs UNION ALL SELECT ended_s - submitted_s FROM jobs")
    assert len(times) == RUNS + 1
    assert all(duration_s >= 0 for (duration_s,) in times), "no run lasts less than nothing"
    assert any(duration_s > 80_000 for (duration_s,) in times)
