"""Contests of jobs, bots of users in their seats, and the standings."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from dealer.errors import RefusedError
from dealer.match.events import HandFinished
from dealer.run.contest import MatchEvent, Watch
from dealer.server.computing import Computing
from dealer.server.db import counted_scores, records
from dealer.server.db.records import JobRequest, JobState, RunState
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import User, add_user
from dealer.server.queue.jobs import Running, SeatOpen
from dealer.server.server_settings import ServerSettings, read_toml_settings
from dealer.server.service import Service
from engine import DealKey, derived_seed
from logs.acpc_log.reader import check_deals
from logs.hand_source import find
from logs.tracker.many_files import count_hands
from logs.tracker.statistics import statistics_of
from protocol.joining import ContestTerms, Join
from tests.dealer.helpers import PATIENCE_S
from tests.dealer.server.servers import KUHN, CallingLink, shared_workers, write_house

CONFIG = f"""
[[games]]
game = "{KUHN}"
name = "kuhn3"
deals = 40
max_deals = 500
bots = ["A=./bot.sh", "B=./bot.sh", "C=./bot.sh"]
[[games]]
game = "kuhn.limit.2p"
name = "two"
deals = 150
max_deals = 5000
bots = ["calling=calling", "random=random"]
"""


@dataclass
class Host:
    """Connection of a bot, which plays as soon as a seat is offered unless it is idle."""

    received: list[SeatOpen] = field(default_factory=list)
    playing: list[CallingLink] = field(default_factory=list)
    is_idle: bool = False

    def notify(self, event: object) -> None:
        if isinstance(event, SeatOpen):
            self.received.append(event)
            if not self.is_idle:
                assert event.open_seat is not None
                self.playing.append(CallingLink(event.open_seat))


def offer(
    name: str, version: str = "1", games: tuple[str, ...] = (), at_once: int = 1, *, is_on_ladder: bool = False
) -> Join:
    return Join(name, "session", version, at_once, is_on_ladder, games)


def settings_of(text: str = CONFIG) -> ServerSettings:
    write_house(Path("house"))
    path = Path("house/s.toml")
    path.write_text(text)
    return read_toml_settings(path)


@contextlib.asynccontextmanager
async def serving(settings: ServerSettings | None = None) -> AsyncIterator[tuple[Service, User]]:
    """Run a service without ports; yield it and a user."""
    if settings is None:
        settings = settings_of()
    folder = Path("data")
    folder.mkdir(exist_ok=True)
    with contextlib.closing(Store(folder / DATABASE_NAME)) as store:
        ann = User(store.write_now(lambda db: add_user(db, "ann")), "ann")
        service = Service(settings, folder, store, Computing(shared_workers()))
        task = asyncio.create_task(service.run())
        try:
            yield service, ann
            assert not task.done(), task.exception()
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def until(service: Service, is_true: Callable[[], bool]) -> None:
    """Wait until a condition holds; every change of it must be published as an event."""
    last = service.feed.last
    async with asyncio.timeout(PATIENCE_S):
        while not is_true():
            await service.feed.wait(last, PATIENCE_S)
            last = service.feed.last


def record_events(service: Service) -> list[MatchEvent]:
    """Return a list that receives the events of all runs that begin from now on."""
    events: list[MatchEvent] = []
    add_run = service.player.watchers.add_run

    def add_recorded_run(run: int, watch: Watch) -> Watch:
        def notify(event: MatchEvent) -> None:
            watch(event)
            events.append(event)

        return add_run(run, notify)

    service.player.watchers.add_run = add_recorded_run  # type: ignore[method-assign]
    return events


def is_over(service: Service, number: int) -> bool:
    job = records.job(service.store, number)
    return job is not None and not job.is_open


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


NOSY = 'with open("nosy.txt", "a") as file:\n    file.write(repr((sys.argv, dict(os.environ))) + "\\n")\n'


async def check_scores_of_two_runs(service: Service) -> None:
    """Check that the only job has two runs of five deals per seating, which count for one line-up."""
    runs = records.runs(service.store, job=1)
    assert [(run.number, run.state, run.duplicates, run.is_rated) for run in runs] == [
        (2, RunState.FINISHED, 5, True),
        (1, RunState.FINISHED, 5, True),
    ]
    assert [match.hands for match in records.matches(service.store, runs[0].id)] == [5, 5, 5]
    (pair,) = counted_scores.pairs(service.store, service.settings.games[0])
    assert (pair.runs, pair.duplicates, pair.hands) == (2, 10, 30)
    scores = [records.duplicate_scores(service.store, run.id, 0) for run in runs]
    assert pair.scores[0].mbb_per_game == pytest.approx((sum(scores[0]) + sum(scores[1])) / 10)
    assert counted_scores.pair(service.store, service.settings.games[0], pair.id) == pair
    await until(service, lambda: len(counted_scores.standings(service.store, "kuhn3")) == 3)
    assert {rating.is_provisional for rating in counted_scores.standings(service.store, "kuhn3")} == {True}


async def test_counted_deals_come_from_a_key_that_no_player_receives() -> None:
    settings = settings_of()
    program = Path("house/bot.sh")
    program.write_text(
        program.read_text().replace("import os, _socket, sys, time\n", f"import os, _socket, sys, time\n{NOSY}")
    )
    async with serving(settings) as (service, ann):
        row, _ = await service.submit(ann, JobRequest("kuhn3", ("A", "B", "C"), runs=2, terms=ContestTerms(deals=5)))
        await until(service, lambda: is_over(service, row.id))
        await check_scores_of_two_runs(service)
    with contextlib.closing(Store(Path("data") / DATABASE_NAME)) as store:
        job = records.job(store, 1)
        assert job is not None
        assert isinstance(job.seed, DealKey)
        runs = records.runs(store, job=1)
        assert [run.seed for run in runs] == [derived_seed(job.seed, 1), derived_seed(job.seed, 0)]
    inputs = Path("house/nosy.txt").read_text()
    assert inputs.count("ARENA_GAME_NAME") == 18
    keys = [job.seed]
    for run in runs:
        logs = [Path("data") / run.folder / f"match.{seating}.log" for seating in "abc"]
        seeds = [derived_seed(run.seed, seating) for seating in range(3)]
        # Programs could remember cards, so every seating has its own.
        assert [check_deals(log, seed) for log, seed in zip(logs, seeds, strict=True)] == [5, 5, 5]
        keys += [seed for seed in (run.seed, *seeds) if isinstance(seed, DealKey)]
    assert len(set(keys)) == 9
    for key in keys:
        assert key.secret.hex() not in inputs
        assert repr(key.secret) not in inputs
    for path in Path("data/runs").glob("*/**/*"):
        if path.is_file() and path.name != "run.toml":
            assert not [key for key in keys if key.secret.hex() in path.read_text("latin-1")], path


async def test_built_in_bots_remember_nothing_and_play_duplicates() -> None:
    async with serving() as (service, ann):
        row, _ = await service.submit(ann, JobRequest("two", ("calling", "random"), terms=ContestTerms(deals=10)))
        await until(service, lambda: is_over(service, row.id))
        (run,) = records.runs(service.store, job=row.id)
        assert run.is_rated
        for seating in "ab":
            assert check_deals(Path("data") / run.folder / f"match.{seating}.log", run.seed) == 10


@pytest.mark.parametrize(
    ("is_cancelled", "stop"),
    [
        # With a rule that reads the scores, all seatings are played in parallel.
        (True, "ci=0.1"),
        pytest.param(False, "ci=0.1", marks=pytest.mark.slow),
        # Without a rule, the second seating does not begin.
        pytest.param(True, None, marks=pytest.mark.slow),
    ],
)
async def test_interrupted_run_counts_as_far_as_it_was_played(*, is_cancelled: bool, stop: str | None) -> None:
    async with serving() as (service, ann):
        host = Host()
        await service.presence.enter(ann, offer("eve", games=("two",)), host)
        request = JobRequest("two", ("eve", "random"), terms=ContestTerms(deals=5000, stop=stop))
        events = record_events(service)
        row, _ = await service.submit(ann, request)
        async with asyncio.timeout(PATIENCE_S):
            while sum(isinstance(event.event, HandFinished) for event in events) < 60:
                await asyncio.sleep(0.01)
        host.is_idle = True
        if is_cancelled:
            await service.queue.cancel_job(ann, row.id)
        else:
            for link in host.playing:
                link.leave()
        await until(service, lambda: records.runs(service.store)[0].ended_s is not None)
        (run,) = records.runs(service.store, job=row.id)
        assert run.state is (RunState.CANCELLED if is_cancelled else RunState.FAILED)
        assert run.is_rated
        assert run.duplicates is not None
        assert 20 <= run.duplicates < 5000
        # All whole units of each match count.
        hands_played = [match.hands for match in records.matches(service.store, run.id)]
        assert run.duplicates == sum(hands // 2 for hands in hands_played)
        assert run.seats[0].chips == -(run.seats[1].chips or 0.0)
        (pair,) = counted_scores.pairs(service.store, service.settings.games[1])
        assert pair.duplicates == run.duplicates == len(records.duplicate_scores(service.store, run.id, 0))


async def _play_three_deals(settings: ServerSettings) -> None:
    async with serving(settings) as (service, ann):
        for name in ("adam", "eve"):
            await service.presence.enter(ann, offer(name, games=("two",)), Host())
        row, _ = await service.submit(ann, JobRequest("two", ("adam", "eve"), terms=ContestTerms(deals=3)))
        await until(service, lambda: is_over(service, row.id))


async def test_runs_unknown_to_a_restored_database_are_set_aside() -> None:
    settings = settings_of()
    await _play_three_deals(settings)
    log = Path("data/runs/00000001/match.a.log").read_bytes()
    for path in Path("data").glob("server.sqlite3*"):
        path.unlink()
    await _play_three_deals(settings)
    assert Path("data/runs/00000001.1/match.a.log").read_bytes() == log
    assert Path("data/runs/00000001/match.a.log").read_bytes() != log


async def test_interrupted_run_of_an_ended_job_is_cancelled() -> None:
    async with serving() as (service, ann):
        host = Host(is_idle=True)
        await service.presence.enter(ann, offer("eve", games=("two",)), host)
        row, _ = await service.submit(ann, JobRequest("two", ("eve", "random"), terms=ContestTerms(deals=5000)))
        await until(service, lambda: [job.is_running for job in service.queue.active()] == [True])
        (job,) = service.queue.active()
        assert isinstance(job.state, Running)
        job.state.end = "its client has left"
        job.state.interrupt()
        await until(service, lambda: is_over(service, row.id))
        (run,) = records.runs(service.store, job=row.id)
        assert (run.state, run.reason) == (RunState.CANCELLED, "its client has left.")
        assert service.queue.active() == []


@pytest.mark.slow  # another process compiles
async def test_all_in_adjusted_winnings_are_stored() -> None:
    bots = '["A=random?fold=0,call=0,raise=1", "B=calling"]'
    async with serving(settings_of(f'[[games]]\ngame = "nolimit"\nname = "nolimit"\nbots = {bots}\n')) as (
        service,
        ann,
    ):
        row, _ = await service.submit(ann, JobRequest("nolimit", ("A", "B"), terms=ContestTerms(deals=30, seed=1)))
        await until(service, lambda: is_over(service, row.id))
        async with asyncio.timeout(PATIENCE_S):
            while (seats := records.runs(service.store)[0].seats)[0].adjusted is None:
                await asyncio.sleep(0.05)
        counted = statistics_of(count_hands(find(Path("data/runs/00000001").glob("match*.log")), big_pots=0))
        for seat in seats:
            (bot,) = [bot for bot in counted.bots if bot.name == seat.name]
            assert bot.adjusted is not None
            assert seat.adjusted is not None
            assert seat.won is not None
            assert seat.adjusted.mean == bot.adjusted.mbb_per_game.mean
            assert seat.adjusted.mean != seat.won.mean


async def test_stop_rule_ends_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logs.estimation.stopping.MIN_UNITS_FOR_WIDTH", 50)
    async with serving() as (service, ann):
        request = JobRequest("two", ("calling", "random"), terms=ContestTerms(stop="ci=900"))
        row, _ = await service.submit(ann, request)
        await until(service, lambda: is_over(service, row.id))
        (run,) = records.runs(service.store, job=row.id)
        assert run.duplicates is not None
        assert run.duplicates < 150
        assert run.is_rated
        won = run.seats[0].won
        assert won is not None
        assert won.half_width is not None
        assert won.half_width <= 900


REFUSED_REQUESTS = [
    (JobRequest("chess", ("A",)), "there is no game 'chess' here; the games are kuhn3, two"),
    (JobRequest("two", ("calling", "nobody")), "two has no bot nobody"),
    (JobRequest("two", ("calling",)), "the game two needs 2 players, 1 named"),
    (JobRequest("two", ("calling", "random"), terms=ContestTerms(seating="none")), "'none' is not a valid Seating"),
    (
        JobRequest("two", ("calling", "random"), terms=ContestTerms(deals=5001)),
        "the game two is played for 1 to 5000 deals here, not 5001",
    ),
    (JobRequest("two", ("calling", "random"), terms=ContestTerms(stop="soon")), "stop"),
    (JobRequest("two", ("calling", "random"), terms=ContestTerms(stop="better:1e9,2e9")), "stop"),
    (JobRequest("two", ("calling", "LOCAL")), "needs a connection"),
]


async def test_impossible_request_is_refused() -> None:
    settings = settings_of()
    async with serving(settings) as (service, ann):
        for request, sentence in REFUSED_REQUESTS:
            with pytest.raises(RefusedError, match=sentence):
                await service.submit(ann, request)
        assert records.jobs(service.store) == ()
    async with serving(replace(settings, max_running_bots=1)) as (service, ann):
        with pytest.raises(RefusedError, match="it needs 2 bots, and at most 1 may run at a time"):
            await service.submit(ann, JobRequest("two", ("calling", "random")))


async def test_bot_of_a_user_can_be_challenged_while_connected() -> None:
    async with serving() as (service, ann):
        bob = User(service.store.write_now(lambda db: add_user(db, "bob")), "bob")
        request = JobRequest("kuhn3", ("A", "eve", "C"), terms=ContestTerms(deals=10))
        with pytest.raises(RefusedError, match="kuhn3 has no bot eve"):
            await service.submit(bob, request)
        host = Host()
        guest = await service.presence.enter(ann, offer("eve", "v1", ("kuhn3",)), host)
        row, _ = await service.submit(bob, request)
        await until(service, lambda: is_over(service, row.id))
        (run,) = records.runs(service.store, version=guest.versions["kuhn3"])
        assert (run.state, run.user) == (RunState.FINISHED, "bob")
        assert run.is_rated
        assert [event.player for event in host.received if isinstance(event, SeatOpen)] == ["eve"] * 3
        (bot,) = records.bots(service.store, owner=ann.id)
        assert (bot.name, bot.label, bot.number) == ("eve", "v1", 1)
        assert bot.owner == ann
        service.presence.leave(host)
        with pytest.raises(RefusedError, match="eve is not connected now"):
            await service.submit(bob, request)
        # A bot that reconnects with its label is the same version, with another label a new one.
        assert (await service.presence.enter(ann, offer("eve", "v1", ("kuhn3",)), host)).versions == guest.versions
        other = Host()
        newer = await service.presence.enter(ann, offer("eve", "v2", ("kuhn3",)), other)
        assert newer.versions != guest.versions
        assert [bot.label for bot in records.versions(service.store, "kuhn3", "eve")] == ["v2", "v1"]


REFUSED_BOTS = [
    (offer("A", games=("kuhn3",)), "the bot A is one of the server's own bots"),
    (offer("LOCAL"), "cannot be a bot's name"),
    (offer("a/b"), "cannot be a bot's name"),
    (offer("..."), "cannot be a bot's name"),
    (offer("eve", "\x1b[2J"), "printable characters"),
    (offer("eve", games=("chess",)), "there is no game 'chess' here"),
    (offer("taken"), "the bot taken belongs to another user"),
]


async def test_bot_with_a_taken_or_invalid_name_is_refused() -> None:
    async with serving() as (service, ann):
        bob = User(service.store.write_now(lambda db: add_user(db, "bob")), "bob")
        await service.presence.enter(bob, offer("taken", games=("two",)), Host())
        for bot, sentence in REFUSED_BOTS:
            with pytest.raises(RefusedError, match=sentence):
                await service.presence.enter(ann, bot, Host())


async def test_request_waits_for_a_busy_or_absent_bot() -> None:
    async with serving() as (service, ann):
        host = Host(is_idle=True)
        await service.presence.enter(ann, offer("eve", games=("two",)), host)
        first, _ = await service.submit(ann, JobRequest("two", ("eve", "random"), "1", terms=ContestTerms(deals=10)))
        second, _ = await service.submit(ann, JobRequest("two", ("random", "eve"), "2", terms=ContestTerms(deals=10)))
        await until(service, lambda: [job.is_running for job in service.queue.active()] == [True, False])
        assert len(records.runs(service.store)) == 1
        # The first request is cancelled while its bot is away. When the bot reconnects, it plays the second.
        service.presence.leave(host)
        assert await service.queue.cancel_job(ann, first.id)
        assert not await service.queue.cancel_job(User(99, "bob"), second.id)
        await until(service, lambda: is_over(service, first.id))
        assert records.runs(service.store, job=second.id) == ()
        await service.presence.enter(ann, offer("eve", games=("two",)), Host())
        await until(service, lambda: is_over(service, second.id))
        (run,) = records.runs(service.store, job=second.id)
        assert run.state is RunState.FINISHED


async def test_request_is_cancelled_when_its_bot_does_not_reconnect() -> None:
    async with serving(replace(settings_of(), own_seat_patience_s=0.2)) as (service, ann):
        host = Host(is_idle=True)
        await service.presence.enter(ann, offer("eve", games=("two",)), host)
        service.presence.leave(host)
        await service.presence.enter(ann, offer("eve", games=("two",)), host)
        busy, _ = await service.submit(ann, JobRequest("two", ("eve", "random"), "1", terms=ContestTerms(deals=10)))
        waiting, _ = await service.submit(ann, JobRequest("two", ("eve", "random"), "2", terms=ContestTerms(deals=10)))
        service.presence.leave(host)
        await until(service, lambda: is_over(service, waiting.id))
        job = records.job(service.store, waiting.id)
        assert job is not None
        assert (job.state, job.reason) == (JobState.CANCELLED, "eve has not reconnected")
        await service.queue.cancel_job(ann, busy.id)


async def test_last_appearance_of_a_bot_is_stored() -> None:
    async with serving() as (service, ann):

        def seen_s() -> float:
            (row,) = service.store.read("SELECT seen_s FROM bots WHERE name = 'eve'")
            return float(row["seen_s"])

        host = Host(is_idle=True)
        await service.presence.enter(ann, offer("eve", games=("two",)), host)
        arrival_s = seen_s()
        await service.presence.record_seen(service.presence.bots)
        recorded_s = seen_s()
        assert recorded_s > arrival_s
        service.presence.leave(host)
        async with asyncio.timeout(PATIENCE_S):
            while seen_s() <= recorded_s:
                await asyncio.sleep(0.01)


async def test_bot_connected_before_a_restart_can_be_challenged_until_it_reconnects() -> None:
    settings = settings_of()
    async with serving(settings) as (service, ann):
        for name in ("gone", "eve"):
            await service.presence.enter(ann, offer(name, games=("two",)), Host())
    with contextlib.closing(Store(Path("data") / DATABASE_NAME)) as store:
        store.write_now(lambda db: db.execute("UPDATE bots SET seen_s = 1 WHERE name = 'gone'"))
    async with serving(settings) as (service, ann):
        row, _ = await service.submit(ann, JobRequest("two", ("eve", "random"), "1", terms=ContestTerms(deals=10)))
        with pytest.raises(RefusedError, match="gone is not connected now"):
            await service.submit(ann, JobRequest("two", ("gone", "random"), "2"))
        host = Host()
        await service.presence.enter(ann, offer("eve", games=("two",)), host)
        await until(service, lambda: is_over(service, row.id))
        job = records.job(service.store, row.id)
        assert job is not None
        assert job.state is JobState.DONE
        service.presence.leave(host)
        with pytest.raises(RefusedError, match="eve is not connected now"):
            await service.submit(ann, JobRequest("two", ("eve", "random"), "3"))
    async with serving(settings) as (service, ann):
        row, _ = await service.submit(ann, JobRequest("two", ("eve", "random"), "4", terms=ContestTerms(deals=10)))
        service.queue.stop_unattended()
        await until(service, lambda: is_over(service, row.id))
        job = records.job(service.store, row.id)
        assert job is not None
        assert (job.state, job.reason) == (JobState.CANCELLED, "eve has not reconnected")


async def test_matches_can_be_watched_and_events_followed() -> None:
    async with serving() as (service, ann):
        before = service.feed.last
        events = record_events(service)
        await service.presence.enter(ann, offer("eve", games=("two",)), Host())
        row, _ = await service.submit(ann, JobRequest("two", ("eve", "random"), terms=ContestTerms(deals=5)))
        await until(service, lambda: is_over(service, row.id))
        (run,) = records.runs(service.store)
        assert any(isinstance(event.event, HandFinished) for event in events)
        job_fields = {"job": row.id, "user": "ann", "game": "two"}
        run_fields = {"run": run.id, "job": row.id, "game": "two"}
        expected = [
            ("job-changed", job_fields | {"state": "queued"}),
            ("run-changed", run_fields | {"state": "running"}),
            ("run-changed", run_fields | {"state": "finished"}),
            ("job-changed", job_fields | {"state": "done"}),
            ("standings-changed", {"game": "two"}),
        ]

        def are_published() -> bool:
            published = [event for _, event in service.feed.after(before)]
            return all(event in published for event in expected)

        await until(service, are_published)
