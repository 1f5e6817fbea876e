"""Contests that the ladder plays while no request waits."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from dealer.server.capacity import CapacityShare, Limits
from dealer.server.computing import Computing
from dealer.server.db import counted_scores, records
from dealer.server.db.records import JobKind, JobRequest, RunState
from dealer.server.db.store import Store
from dealer.server.db.users import User, add_user
from dealer.server.queue.fair_queue import WaitingJob, can_start_idle_run, next_job, preempted_jobs
from dealer.server.queue.feed import Feed
from dealer.server.queue.jobs import Running
from dealer.server.queue.ladder import Rater
from dealer.server.server_settings import ServerSettings
from dealer.server.service import Service
from protocol.joining import ContestTerms, LadderState, LadderWait
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.server.test_contests import Host, is_over, offer, serving, settings_of, until

LADDER = """
[ladder]
width = {width}
deals = 100
games = ["two"]
share = 0.01
[[games]]
game = "kuhn.limit.2p"
name = "two"
max_running = 1
bots = [{bots}]
"""


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def settings(*bots: str, width: float = 1.0) -> ServerSettings:
    return settings_of(LADDER.format(width=width, bots=", ".join(f'"{bot}"' for bot in bots)))


def pairs(service: Service) -> Sequence[counted_scores.Pair]:
    return counted_scores.pairs(service.store, service.settings.games[0])


def are_narrow(service: Service, count: int, width: float) -> bool:
    """Return whether there are so many pairs and none has a half-width above `width`."""
    half_widths = [score.half_width_95 or math.inf for pair in pairs(service) for score in pair.scores]
    return len(half_widths) == 2 * count and max(half_widths) <= width


async def until_idle(service: Service) -> None:
    """Wait until no job is running or queued."""
    await until(service, lambda: not service.queue.active())


async def test_every_pair_is_played_until_its_interval_is_narrow() -> None:
    # After 100 deals the half-widths are 74 (calling and raising), 108 and 118 or so.
    width = 90
    async with serving(settings("calling", "random", "raising", width=width)) as (service, ann):
        await until(service, lambda: are_narrow(service, 3, width))
        # The ladder pauses when all intervals are narrow.
        await until_idle(service)
        runs = records.runs(service.store, limit=1000)
        assert {(run.user, run.state, run.duplicates) for run in runs} == {("ladder", RunState.FINISHED, 100)}
        assert len(runs) == sum(pair.runs for pair in pairs(service))
        played = [pair.duplicates for pair in pairs(service)]
        assert min(played) == 100 < max(played)
        assert {job.kind for job in records.jobs(service.store)} == {JobKind.LADDER}
        # The ladder also plays a connected bot that takes part, and no bot that does not.
        await service.presence.enter(ann, offer("shy", games=("two",)), Host())
        guest = await service.presence.enter(ann, offer("eve", games=("two",), is_on_ladder=True), Host())
        await until(service, lambda: len(pairs(service)) == 4)
        versions = {score.version for pair in pairs(service) for score in pair.scores}
        assert guest.versions["two"] in versions


async def test_ladder_makes_room_for_users_and_resumes_later() -> None:
    async with serving(settings("A=./held.sh", "B=./held.sh")) as (service, ann):
        await until(service, lambda: any(job.is_running for job in service.queue.active()))
        (job,) = service.queue.active()
        request, _ = await service.submit(ann, JobRequest("two", ("A", "B"), terms=ContestTerms(deals=50)))
        async with asyncio.timeout(PATIENCE_S):
            while isinstance(job.state, Running) and not job.state.is_interrupted:
                await asyncio.sleep(0.01)
        # The bots of the ladder's run wait in their first hand until now.
        Path("house/go").touch()
        await until(service, lambda: is_over(service, request.id))
        # The interrupted run is resumed, and counts once.
        assert records.runs(service.store, job=job.row.id)[0].state is RunState.RUNNING
        await until(service, lambda: is_over(service, job.row.id))
        (run,) = records.runs(service.store, job=job.row.id)
        assert (run.state, run.is_rated) == (RunState.FINISHED, True)
        (preferred,) = records.runs(service.store, job=request.id)
        assert preferred.ended_s is not None
        assert run.ended_s is not None
        assert preferred.ended_s < run.ended_s


async def test_pair_whose_runs_fail_is_not_played_further() -> None:
    async with serving(settings("A=./crash.sh", "B=./crash.sh")) as (service, _):
        await until(service, lambda: len(records.runs(service.store)) == 3)
        await until_idle(service)
        await asyncio.sleep(0.1)
        assert [run.state for run in records.runs(service.store)] == [RunState.FAILED] * 3


class LadderStateHost(Host):
    """Bot that does not play and records the ladder states that it receives."""

    def __init__(self) -> None:
        super().__init__(is_idle=True)
        self.states: asyncio.Queue[LadderState] = asyncio.Queue()

    def notify(self, event: object) -> None:
        if isinstance(event, LadderState):
            self.states.put_nowait(event)


async def test_bot_receives_the_reason_and_position_of_its_wait() -> None:
    async with serving(settings()) as (service, ann):
        host = LadderStateHost()
        eve = await service.presence.enter(ann, offer("eve", games=("two",), is_on_ladder=True), host)
        async with asyncio.timeout(PATIENCE_S):
            assert await host.states.get() == LadderState(LadderWait.OPPONENTS)
        bob = User(service.store.write_now(lambda db: add_user(db, "bob")), "bob")
        await service.presence.enter(bob, offer("bobs", games=("two",), is_on_ladder=True), LadderStateHost())
        ladder = service._ladder
        assert ladder is not None
        others = ("two", frozenset(("a", "b")))
        states = ladder.states([eve], running=(), waiting=[others], requests=3)
        assert states == {eve: LadderState(LadderWait.TURN, position=2, contests=2, requests=3)}
        playing = ("two", frozenset(("eve", "bobs")))
        states = ladder.states([eve], running=[playing], waiting=(), requests=0)
        assert states == {eve: LadderState(LadderWait.CHANGE)}


async def test_bot_receives_that_there_is_no_ladder() -> None:
    async with serving() as (service, ann):
        host = LadderStateHost()
        await service.presence.enter(ann, offer("eve", is_on_ladder=True), host)
        async with asyncio.timeout(PATIENCE_S):
            assert await host.states.get() == LadderState(LadderWait.LADDER)


def idle(number: int) -> WaitingJob:
    return WaitingJob(number, CapacityShare(9, "g", ("a", "b"), is_idle=True), 1, number, 0)


def requested_job(number: int, **changes: bool) -> WaitingJob:
    return WaitingJob(number, CapacityShare(1, "g", ("a", "b")), 1, number, 99, **changes)  # type: ignore[arg-type]


def test_ladder_plays_only_while_no_request_waits() -> None:
    assert next_job([idle(1), requested_job(2)], {}, Limits()) == requested_job(2)
    assert can_start_idle_run([idle(1)], {}, max_idle=1, max_runs=2)
    assert not can_start_idle_run([requested_job(2)], {}, max_idle=1, max_runs=2)
    assert can_start_idle_run([requested_job(2, is_ready=False)], {}, max_idle=1, max_runs=2)
    assert not can_start_idle_run([], {1: idle(1).share}, max_idle=1, max_runs=2)
    assert not can_start_idle_run([], {2: requested_job(2).share, 3: requested_job(3).share}, max_idle=1, max_runs=2)


def test_ladder_makes_room_only_if_a_request_needs_it() -> None:
    running = {1: idle(1).share, 2: idle(2).share}
    limits = Limits(runs_per_game={"g": 2})
    assert preempted_jobs([requested_job(3)], running, limits, max_runs=9) == [1, 2]
    assert preempted_jobs([requested_job(3, is_ready=False)], running, limits, max_runs=9) == []
    assert preempted_jobs([], running | {3: requested_job(3).share}, limits, max_runs=2) == [1]
    assert preempted_jobs([], running, limits, max_runs=2) == []


async def test_slow_ratings_are_computed_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
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
