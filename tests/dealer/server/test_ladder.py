"""What is played while no request waits."""

from __future__ import annotations

import asyncio
import contextlib
import math
from pathlib import Path
from typing import cast

import pytest

from dealer.server.capacity import CapacityShare, Limits
from dealer.server.computing import Computing
from dealer.server.db import counted_scores, records
from dealer.server.db.records import JobKind, JobRequest, RunState
from dealer.server.db.store import Store
from dealer.server.queue.fair_queue import WaitingJob, can_start_idle_run, next_job, preempted_jobs
from dealer.server.queue.feed import Feed
from dealer.server.queue.jobs import Running
from dealer.server.queue.ladder import Rater
from dealer.server.server_settings import ServerSettings
from dealer.server.service import Service
from protocol.joining import ContestTerms
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.server.test_contests import Host, is_over, offer, serving, settings_of, until

BOTS = '"calling=calling", "random=random", "raising=raising"'
LADDER = """
[ladder]
width = {width}
deals = 100
games = ["two"]
share = 0.01
[[games]]
game = "kuhn.limit.2p"
name = "two"
max_running = {most}
bots = [{bots}]
""".replace("{bots}", BOTS)


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def settings(width: float, most: int = 1) -> ServerSettings:
    return settings_of(LADDER.format(width=width, most=most))


def widths(service: Service) -> list[float]:
    found = counted_scores.pairs(service.store, service.settings.games[0])
    return [max(score.half_width_95 or math.inf for score in pair.scores) for pair in found]


async def test_every_pair_is_played_until_its_interval_is_narrow() -> None:
    async with serving(settings(80)) as (service, ann):
        await until(service, lambda: len(widths(service)) == 3 and max(widths(service)) <= 80)
        # It rests: nothing is wider than asked for.
        await until_idle(service)
        runs = records.runs(service.store, limit=1000)
        assert {(run.user, run.state, run.duplicates) for run in runs} == {("ladder", RunState.FINISHED, 100)}
        assert len(runs) == sum(pair.runs for pair in counted_scores.pairs(service.store, service.settings.games[0]))
        played = [pair.duplicates for pair in counted_scores.pairs(service.store, service.settings.games[0])]
        assert min(played) == 100 < max(played)
        assert len({job.kind for job in records.jobs(service.store)} - {JobKind.LADDER}) == 0
        # A bot that comes and may climb is played, too; one that may not is left alone.
        await service.presence.enter(ann, offer("shy", games=("two",)), Host())
        host = Host()
        guest = await service.presence.enter(ann, offer("eve", games=("two",), is_on_ladder=True), host)
        await until(service, lambda: len(widths(service)) == 6)
        versions = {
            score.version
            for pair in counted_scores.pairs(service.store, service.settings.games[0])
            for score in pair.scores
        }
        assert guest.versions["two"] in versions
        assert len(versions) == 4


async def until_idle(service: Service) -> None:
    """Wait until nothing is left of the ladder's jobs."""
    await until(service, lambda: not service.queue.active())


async def test_the_ladder_makes_room_for_users_and_goes_on_later() -> None:
    bots = '"A=./held.sh", "B=./held.sh"'
    async with serving(settings_of(LADDER.format(width=1, most=1).replace(BOTS, bots))) as (service, ann):
        await until(service, lambda: any(job.is_running for job in service.queue.active()))
        (first,) = service.queue.active()
        row, _ = await service.submit(ann, JobRequest("two", ("A", "B"), terms=ContestTerms(deals=50)))
        async with asyncio.timeout(PATIENCE_S):
            while isinstance(first.state, Running) and not first.state.is_interrupted:
                await asyncio.sleep(0.01)
        # Its first hand, at the latest, is played only now.
        Path("house/go").touch()
        await until(service, lambda: is_over(service, row.id))
        # Its run was interrupted, not ended: it is resumed, and counts once.
        assert records.runs(service.store, job=first.row.id)[0].state is RunState.RUNNING
        await until(service, lambda: is_over(service, first.row.id))
        (run,) = records.runs(service.store, job=first.row.id)
        assert (run.state, run.is_rated) == (RunState.FINISHED, True)
        (mine,) = records.runs(service.store, job=row.id)
        assert mine.ended_s is not None
        assert run.ended_s is not None
        assert mine.ended_s < run.ended_s


async def test_a_line_up_that_comes_to_nothing_is_left_alone() -> None:
    text = LADDER.format(width=1, most=1).replace(BOTS, '"A=./crash.sh", "B=./crash.sh"')
    async with serving(settings_of(text)) as (service, ann):
        del ann
        await until(service, lambda: len(records.runs(service.store)) == 3)
        await until_idle(service)
        await asyncio.sleep(0.1)
        assert {run.state for run in records.runs(service.store)} == {RunState.FAILED}
        assert len(records.runs(service.store)) == 3


def idle(number: int) -> WaitingJob:
    return WaitingJob(number, CapacityShare(9, "g", ("a", "b"), is_idle=True), 1, number, 0)


def wanted(number: int, **changes: bool) -> WaitingJob:
    return WaitingJob(number, CapacityShare(1, "g", ("a", "b")), 1, number, 99, **changes)  # type: ignore[arg-type]


def test_the_ladder_comes_after_everybody_and_only_when_nobody_waits() -> None:
    assert next_job([idle(1), wanted(2)], {}, Limits()) == wanted(2)
    assert can_start_idle_run([idle(1)], {}, max_idle=1, max_runs=2)
    assert not can_start_idle_run([wanted(2)], {}, max_idle=1, max_runs=2)
    assert can_start_idle_run([wanted(2, is_ready=False)], {}, max_idle=1, max_runs=2)
    assert not can_start_idle_run([], {1: idle(1).share}, max_idle=1, max_runs=2)
    assert not can_start_idle_run([], {2: wanted(2).share, 3: wanted(3).share}, max_idle=1, max_runs=2)


def test_the_ladder_makes_room_only_where_it_is_in_the_way() -> None:
    running = {1: idle(1).share, 2: idle(2).share}
    one = Limits(runs_per_game={"g": 2})
    assert preempted_jobs([wanted(3)], running, one, max_runs=9) == [1, 2]
    assert preempted_jobs([wanted(3, is_ready=False)], running, one, max_runs=9) == []
    assert preempted_jobs([], running | {3: wanted(3).share}, one, max_runs=2) == [1]
    assert preempted_jobs([], running, one, max_runs=2) == []


async def test_ratings_that_take_long_are_made_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0
    done: list[object] = []
    rater = Rater(settings_of().games, cast(Store, None), Feed(), cast(Computing, None))

    async def refit(name: str) -> None:
        nonlocal now_s
        now_s += 2.0
        done.append(name)

    async def sleep(seconds: float) -> None:
        done.append(seconds)
        if len(done) == 4:
            raise asyncio.CancelledError

    monkeypatch.setattr(rater, "refit", refit)
    monkeypatch.setattr("dealer.server.queue.ladder.time.monotonic", lambda: now_s)
    monkeypatch.setattr("dealer.server.queue.ladder.asyncio.sleep", sleep)

    with contextlib.suppress(asyncio.CancelledError):
        await rater.run()
    assert done == ["kuhn3", 8.0, "two", 8.0]
