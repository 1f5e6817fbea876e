"""Restored backups, full databases and changed clocks: every run is played once and counts once."""

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


def finished_count(service: Service) -> int:
    return sum(run.state is RunState.FINISHED for run in records.runs(service.store))


def check_everything_once(folder: Path) -> dict[str, bytes]:
    """Check that every run was played once, with each deal in each seating, and counts once; return the logs."""
    runs = rows(folder, "SELECT number, state, duplicates FROM runs ORDER BY number")
    assert runs == [(number, "finished", DEALS) for number in range(1, RUNS + 1)]
    assert rows(folder, "SELECT runs, units, hands FROM lineups") == [(RUNS, RUNS * DEALS, RUNS * DEALS * 2)]
    assert len(list((folder / "runs").iterdir())) == RUNS
    logs = sorted((folder / "runs").glob("*/match*.log"))
    assert len(logs) == 2 * RUNS
    for log in logs:
        assert re.findall(r"(?m)^STATE:(\d+):", log.read_text()) == [str(hand) for hand in range(DEALS)]
    return {str(log.relative_to(folder)): log.read_bytes() for log in logs}


async def until_another_run(service: Service, count: int) -> None:
    """Wait until at least so many runs are finished and another one has started."""
    await until(service, lambda: len(records.runs(service.store)) > finished_count(service) >= count)


async def until_played(service: Service) -> None:
    await until(service, lambda: is_over(service, 1))


async def test_restored_backup_of_a_running_server_plays_nothing_twice() -> None:
    settings = settings_of(CONFIG)
    async with serving(settings) as (service, ann):
        await service.submit(ann, request())
        await until_another_run(service, 2)
        back_up(service.store.path, Path("copy.sqlite3"))
        ended = finished_count(service)
        await until_played(service)
    logs = check_everything_once(DATA)
    results = rows(DATA, RESULTS)
    DATA.rename("lost")
    # The folders of runs are of the moment of the backup, or later ones in which some of its runs continued.
    for has_later_runs in (False, True):
        DATA.mkdir()
        shutil.copy("copy.sqlite3", DATA / DATABASE_NAME)
        before = rows(DATA, "SELECT number FROM runs WHERE state = 'finished'")
        assert len(before) == 2, "the backup has the runs that were finished then"
        assert ended == 2
        for number in range(1, RUNS + 1):
            if has_later_runs or (number,) in before:
                shutil.copytree(f"lost/runs/{number:08}", DATA / f"runs/{number:08}")
        times_ns = {path: path.stat().st_mtime_ns for path in (DATA / "runs").rglob("match*.log")}
        async with serving(settings) as (service, _):
            await until_played(service)
        # The cards follow from the key of the request, and these bots always call.
        assert check_everything_once(DATA) == logs
        assert rows(DATA, RESULTS) == results
        assert {path: path.stat().st_mtime_ns for path in times_ns} == times_ns, "no finished match is played again"
        shutil.rmtree(DATA)


async def test_full_database_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """While SQLite reports a full disk, requests are refused; runs that end meanwhile are counted later."""
    monkeypatch.setattr("dealer.server.queue.job_queue.RETRY_S", 0.02)
    problems: list[str] = []
    change = Store._change

    def change_and_record(self: Store, requested: Callable[[sqlite3.Connection], Any]) -> Any:
        try:
            return change(self, requested)
        except StoreError as error:
            problems.append(str(error))
            raise

    monkeypatch.setattr(Store, "_change", change_and_record)

    async def until_full(work: Callable[[], Awaitable[object]]) -> int:
        for done in range(1000):
            try:
                await work()
            except StoreError:
                return done
        raise AssertionError("it never becomes full")

    def limit_size(db: sqlite3.Connection) -> None:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")

    def fill(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO audit (made_s, who, what) VALUES (0, '', ?)", ("x" * 2000,))

    deals = 40
    async with serving(settings_of(CONFIG)) as (service, ann):
        await service.submit(ann, request(deals=deals))
        await until(service, lambda: finished_count(service) >= 1)
        await service.store.write(limit_size)
        await until_full(lambda: service.store.write(fill))
        # With so long a tag, few requests fit into the space left in pages of the database. Few scores do, too.
        other = request("t" * 240, runs=1, deals=deals)
        accepted = len(records.jobs(service.store)) + await until_full(lambda: service.submit(ann, other))
        assert all("database or disk is full" in problem for problem in problems)
        problems.clear()
        async with asyncio.timeout(PATIENCE_S):
            while len(problems) < 5:
                await asyncio.sleep(0.02)
        await service.store.write(lambda db: db.execute("PRAGMA max_page_count = 1000000"))
        assert len(records.jobs(service.store)) == accepted, "exactly the accepted requests are stored"
        for job in records.jobs(service.store):
            if job.id != 1:
                await service.queue.cancel_job(ann, job.id)
        await until_played(service)
        assert service.broken == []
    assert rows(DATA, "SELECT state, count(*) FROM runs WHERE job = 1 GROUP BY state") == [("finished", RUNS)]
    (counted,) = rows(DATA, "SELECT runs FROM lineups")
    assert counted == rows(DATA, "SELECT count(*) FROM runs WHERE lineup IS NOT NULL")[0]


async def test_changed_clock_during_matches_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is set a day forward, and an hour back before the server is restarted."""
    shift_s, now_s = 0.0, time.time
    monkeypatch.setattr(time, "time", lambda: now_s() + shift_s)
    settings = settings_of(CONFIG)
    async with serving(settings) as (service, ann):
        await service.submit(ann, request())
        await until_another_run(service, 1)
        shift_s = 86_400.0
        await until_another_run(service, 2)
        shift_s -= 3600.0
    async with serving(settings) as (service, _):
        await until_played(service)
    check_everything_once(DATA)
    times = rows(DATA, "SELECT ended_s - started_s FROM runs UNION ALL SELECT ended_s - submitted_s FROM jobs")
    assert len(times) == RUNS + 1
    assert all(duration_s >= 0 for (duration_s,) in times), "no duration is negative"
    assert any(duration_s > 80_000 for (duration_s,) in times)
