"""The server without its ports: takes jobs, plays their runs by `dealer.library`, keeps results, notifies the clients.

Everything a client learns has been written before. A run is entered, played in its own folder by the runner of
`arena play`, and counted in one change; what was being played when the server ended is resumed when it starts again,
from the last whole hand, or from the first if there is none. Bots that a killed server has left behind are ended first.

Bots of users play where they are; a job waits as long as one of its bots is away or busy.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from bots.errors import WorkersError
from bots.sdk.program import end_programs_of
from dealer import library
from dealer.errors import DealerError, RefusedError, StoreError
from dealer.match.causes import CannotPlay, InternalError
from dealer.run.dealers import DealerProcesses
from dealer.run.ending import Outcome
from dealer.run.folder import CONFIG_NAME, empty_folder
from dealer.run.results import AnyResult
from dealer.run.run_settings import read_config, validated
from dealer.run.tournament_run import Progress
from dealer.server.accounts import User, add_user
from dealer.server.computing import Computing
from dealer.server.db import records
from dealer.server.db.audit import note_change
from dealer.server.db.bot_registry import enter_bots, owner_of
from dealer.server.db.event_records import (
    EVENT_USER,
    EventState,
    ScheduledEvent,
    close_event,
    due_events,
    frozen_versions,
    keep_standings,
    unranked_events,
)
from dealer.server.db.records import Job, JobKind, JobRequest, JobState, Run, RunState, new_job, open_jobs, runs_of
from dealer.server.db.run_changes import (
    RunReport,
    add_job,
    begin_run,
    close_abandoned_runs,
    end_job,
    end_run,
    last_stamp,
    served_stamps,
)
from dealer.server.db.store import RETRY_S, Store
from dealer.server.event_results import played_in_event, standings_of_event
from dealer.server.queue.adjusting import Adjusting
from dealer.server.queue.connected_bots import BotHost, ConnectedBot, ConnectedBots
from dealer.server.queue.event_schedule import schedule_of
from dealer.server.queue.fair_queue import Forecast, RunPlace, WaitingJob, has_idle_room, in_the_way, next_job, skipped
from dealer.server.queue.feed import Feed
from dealer.server.queue.jobs import (
    ActiveJob,
    Client,
    Ending,
    JobEnded,
    Resuming,
    RunEnded,
    Running,
    Waiting,
    check_contest,
    check_request,
    forecasts,
    seed_of,
)
from dealer.server.queue.ladder import LADDER_USER, Ladder, Rater, most_runs
from dealer.server.queue.playing import SeatCaller, Watchers, hosts_of, report_of
from dealer.server.ratings import why_unrated
from dealer.server.resources import Disk, remove_old_logs
from dealer.server.server_bots import process_environment, readjust, run_config
from dealer.server.server_settings import ServerGame, ServerSettings, most_deals
from dealer.table.loop import Changes
from engine.text import count_of
from protocol.benchmark import OWN_SEAT
from protocol.game_definition import short_name
from protocol.joining import Join

_log = logging.getLogger(__name__)
_PROGRESS_S = 1.0
_EVENTS_EVERY_S = 1.0
"""How often events are looked at, which other programs also enter."""


def refusal_of(error: RefusedError | StoreError) -> str:
    """The sentence for a client whose request is refused; what went wrong in the store is for the log."""
    if isinstance(error, StoreError):
        _log.error("a request of a client: %s", error)
        return "the server cannot write it down now; try again later"
    return str(error)


class Service:
    """The server without its ports.

    Attributes:
        computing: processes for what takes long.
        dealers: processes that play the matches without users' bots; None to play them in this process.
        disk: on which everything is.
        store: its database; `dealer.server.db.records` asks it what pages show.
        has_begun: whether processes can be started; before, they would be ended as those of an earlier start.
        broken: works in the background that an error has ended; none is begun again before the next start.
    """

    def __init__(
        self,
        settings: ServerSettings,
        folder: Path,
        store: Store,
        computing: Computing,
        dealers: DealerProcesses | None = None,
    ) -> None:
        self.settings = settings
        self.store = store
        self.computing = computing
        self.dealers = dealers
        self.feed = Feed()
        self.has_begun = asyncio.Event()
        self.connected_bots = ConnectedBots(settings, store)
        self.watchers = Watchers()
        self.standings = Rater(settings, store, self.feed, self.computing)
        self._folder = folder
        self._environment = process_environment(folder)
        self._adjusting = Adjusting(settings, folder, store, self.computing)
        self._changes = Changes()
        self.disk = Disk(folder, settings.least_free_mb * 10**6, self._changes.notify)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_stopping = False
        self._left_s: dict[str, float] = {}
        self._at_tables: Counter[str] = Counter()
        """At how many tables with people a user's bot sits: each counts as a run of the bot."""
        self._closing: set[asyncio.Task[None]] = set()
        self.broken: list[str] = []
        self._versions = store.write_now(lambda db: enter_bots(db, settings.games))
        self._stamp = last_stamp(store)
        self._served = served_stamps(store)
        ladder = settings.ladder
        self._ladder = None if ladder is None else Ladder(settings, ladder, store, self.connected_bots, self._versions)
        self._jobs = _recovered(settings, store, self._versions)
        self._running: dict[int, ActiveJob] = {}
        """The jobs that are `Running`, in the order of their starts."""

    # ---- the life of the service

    async def run(self) -> None:
        """Start runs whenever some can start, until cancelled; then interrupt what is being played, to be resumed."""
        left = await asyncio.to_thread(end_programs_of, str(self._folder.absolute()))
        if left:
            _log.info("%d processes of an earlier start were ended", left)
        self.has_begun.set()
        patience = asyncio.get_running_loop().call_later(self.settings.own_seat_patience_s, self._stop_unattended)
        removing = remove_old_logs(self._folder, self.store, self.settings.keep_days)
        works = {
            "the ratings": self.standings.run(),
            "win rates without luck": self._adjusting.run(),
            "the ladder": self._run_ladder(),
            "events": self._run_events(),
            "connected bots": self.connected_bots.run(),
            "the removal of old logs": removing,
        }
        background = [asyncio.create_task(work, name=name) for name, work in works.items()]
        for task in background:
            task.add_done_callback(self._note_end)
        try:
            while True:
                chosen = self._next()
                if chosen is None:
                    await self._changes.wait_for(self._can_start)
                    continue
                for job in skipped(self._waiting(), self._places(), chosen):
                    self._jobs[job].skips += 1
                await self._begin(self._jobs[chosen.id])
                self._make_room()
        finally:
            self._is_stopping = True
            self.disk.close()
            patience.cancel()
            for task in background:
                task.cancel()
            for running in self._running_states():
                running.interrupt()
            self._in_background(self.connected_bots.note_seen(self.connected_bots.bots))
            while self._tasks or self._closing:
                await asyncio.wait(self._tasks | self._closing)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.broken.append(task.get_name())
            _log.error("the work on %s has ended", task.get_name(), exc_info=error)

    @property
    def matches_played(self) -> int:
        """How many matches are being played."""
        return sum(job.at_once for job in self._running.values())

    def _places(self) -> dict[int, RunPlace]:
        return {number: job.slot for number, job in self._running.items()}

    def _running_states(self) -> list[Running]:
        return [job.state for job in self._running.values() if isinstance(job.state, Running)]

    def _next(self) -> WaitingJob | None:
        if not self.disk.has_room:
            return None
        chosen = next_job(self._waiting(), self._places(), self.settings.limits)
        return None if chosen is not None and chosen.slot.is_idle and not self._is_idle() else chosen

    def _can_start(self) -> bool:
        self._make_room()
        return self._next() is not None

    def _is_idle(self) -> bool:
        most = 0 if self._ladder is None else most_runs(self._ladder.settings)
        return self.disk.has_room and has_idle_room(
            self._waiting(), self._places(), most_idle=most, most=os.cpu_count() or 1
        )

    def _make_room(self) -> None:
        most = os.cpu_count() or 1
        for number in in_the_way(self._waiting(), self._places(), self.settings.limits, most=most):
            _interrupt_after_hand(self._running[number])

    async def _run_ladder(self) -> None:
        if self._ladder is None:
            return
        ladder_user = User(await self.store.write(lambda db: add_user(db, LADDER_USER)), LADDER_USER)
        await self._ladder.run(
            self._changes,
            self.feed,
            is_idle=lambda: self._is_idle() and not self._has_ladder_job_to_start(),
            going=lambda: [(job.row.game, frozenset(job.row.players)) for job in self.active() if job.slot.is_idle],
            submit=partial(self.submit, ladder_user),
        )

    def _has_ladder_job_to_start(self) -> bool:
        waiting = (job for job in self.active() if not isinstance(job.state, Running))
        return any(job.slot.is_idle and self._is_ready(job) for job in waiting)

    async def _run_events(self) -> None:
        """Close events when their time has come; give up contests of bots that stay away, or are other versions."""
        absent_s: dict[int, float] = {}
        while True:
            try:
                for event in due_events(self.store):
                    await self._close_event(event)
                for event in unranked_events(self.store):
                    if event.state is EventState.FINISHED:
                        await self._rank(event)
            except (StoreError, WorkersError) as error:
                _log.error("no event can be closed: %s", error)
            now_s = time.monotonic()
            waiting = [job.row.id for job in self.active() if job.versions and not isinstance(job.state, Running)]
            absent_s = {number: absent_s.get(number, now_s) for number in waiting if self._absent(self._jobs[number])}
            for number, since_s in absent_s.items():
                if now_s - since_s > self.settings.own_seat_patience_s:
                    job = self._jobs[number]
                    reason = f"{self._absent(job)} has not come in the version that has entered"
                    self._stop(job, reason, is_run_stopped=False)
            await asyncio.sleep(_EVENTS_EVERY_S)

    def _waiting(self) -> list[WaitingJob]:
        jobs = [job for job in self._jobs.values() if job.runs_left]
        return [job.waiting(self._served.get(job.row.user.id, 0), is_ready=self._is_ready(job)) for job in jobs]

    def _is_ready(self, job: ActiveJob) -> bool:
        """Whether all players of a job are there, and not busy."""
        if (job.has_own_seat and job.client is None) or self._absent(job):
            return False
        for name in job.users_bots:
            connected = self.connected_bots.find(job.row.game, name)
            runs = sum(name in other.users_bots for other in self._running.values())
            if connected is None or runs + self._at_tables[name] >= connected.offer.at_once:
                return False
        return True

    def _absent(self, job: ActiveJob) -> str:
        """A user's bot that is not there, in the version that is to play; empty if all are."""
        for name in sorted(job.users_bots):
            connected = self.connected_bots.find(job.row.game, name)
            if connected is None or not job.takes(name, connected.versions[job.row.game]):
                return name
        return ""

    async def _begin(self, job: ActiveJob) -> None:
        running = Running(job.run)
        job.state = running
        self._running[job.row.id] = job
        run = running.run
        if run is None:
            run = await self._enter_run(job)
        if run is None:
            del self._running[job.row.id]
            await self._go_on(job, running.end)
            return
        running.run = run
        running.began_s = time.monotonic()
        job.skips = 0
        self._publish_run(job, run, RunState.RUNNING)
        task = asyncio.create_task(self._play(job, running, run))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _enter_run(self, job: ActiveJob) -> Run | None:
        """Enter the next run of a job; None, after a pause, if it cannot be written."""
        self._stamp += 1
        versions = [self.version(job.row.game, player) for player in job.row.players]
        row, stamp = job.row, self._stamp
        try:
            run = await self.store.write(lambda db: begin_run(db, row, versions, stamp))
        except StoreError as error:
            _log.error("no run can be entered: %s", error)
            await asyncio.sleep(RETRY_S)
            return None
        job.row = row.model_copy(update={"started": row.started + 1, "stamp": stamp})
        self._served[row.user.id] = stamp
        return run

    async def _go_on(self, job: ActiveJob, end: str) -> None:
        """Have a job wait for its next run, or end it; `end` is why it has no next run, if that was decided."""
        if end or job.row.started >= job.row.runs:
            await self._end(job, end)
        else:
            job.state = Waiting()

    def version(self, game: str, player: str) -> int | None:
        """The number of a player's version as it is now; None for a client's own agent."""
        connected = self.connected_bots.find(game, player)
        return self._versions.get((game, player)) if connected is None else connected.versions[game]

    def _publish_run(self, job: ActiveJob, run: Run, state: RunState) -> None:
        self.feed.publish("run-changed", run=run.id, job=job.row.id, game=job.row.game, state=state)

    def _publish_job(self, row: Job, state: JobState) -> None:
        self.feed.publish("job-changed", job=row.id, user=row.user.name, game=row.game, state=state)

    async def _play(self, job: ActiveJob, running: Running, run: Run) -> None:
        report = None
        try:
            report = await self._played(job, running, run)
            running.match_run = None
            if report is not None and report.state is RunState.FAILED and not self.disk.has_room:
                # Its failure is that of the disk: it is resumed once there is room.
                report = None
            if report is not None:
                await self._count(job, run, report)
        finally:
            self.watchers.closed(run.id)
            del self._running[job.row.id]
            if self._is_stopping:
                # The next start resumes it.
                pass
            elif report is not None:
                await self._go_on(job, running.end)
            elif running.end:
                await self._drop(job, run, running.end)
            else:
                job.state = Resuming(run)
            self._changes.notify()

    async def _played(self, job: ActiveJob, running: Running, row: Run) -> RunReport | None:
        """Play a run to its end; returns how it ended, and None for one that was interrupted, to be resumed."""
        try:
            for name, seat in zip(job.row.players, row.seats, strict=True):
                connected = self.connected_bots.find(job.row.game, name) if name in job.users_bots else None
                if connected is not None and connected.versions[job.row.game] != seat.version:
                    return RunReport(RunState.CANCELLED, f"{name} has come back as another version.")
            client = job.client if self.settings.seats_by_address else None
            run = await asyncio.to_thread(self._opened, job, row, None if client is None else client.address)
            running.opened(run)
            caller = SeatCaller(
                run,
                row,
                job.row.players,
                job.game,
                self.connected_bots,
                hands=most_deals(job.game, job.row.terms),
                match=job.row.label,
                client=lambda: job.client,
            )

            def note(progress: Progress) -> None:
                running.progress = progress
                caller.note(progress)

            result = await run.play(
                note,
                self.watchers.opened(row.id, caller.see),
                progress_s=_PROGRESS_S,
                compute=self.computing.run,
                dealers=self.dealers,
                watches_newest=True,
            )
            if result.outcome is Outcome.INTERRUPTED and not running.is_cancelled:
                return None
            (contest,) = await asyncio.to_thread(run.contests)
            if contest.ending is not None and contest.ending.is_dealer_lost and not running.is_cancelled:
                _log.error("run %d of %s: %s", row.number, job.row.label, contest.ending.sentence)
                return None
            bots = [records.bot(self.store, seat.version) for seat in row.seats]
            is_practice = job.row.kind is JobKind.REQUEST and self.settings.has_only_ladder
            is_of_event = job.versions is not None
            unrated = why_unrated(run.planned[0], bots, is_practice=is_practice, is_of_event=is_of_event)
            cancelled = running.end if running.is_cancelled else ""
            return await self.computing.run(report_of, contest.plan, contest.scores, result, cancelled, unrated)
        except (DealerError, WorkersError) as error:
            return RunReport.failed(CannotPlay(str(error)))
        except Exception as error:
            _log.exception("run %d of %s", row.number, job.row.label)
            return RunReport.failed(InternalError.of(error))

    def _opened(self, job: ActiveJob, row: Run, own_address: str | None) -> library.Run[AnyResult]:
        folder = self._folder / row.folder
        path = folder / CONFIG_NAME
        assert row.seed is not None
        if path.is_file() and validated(read_config(path), str(path)).seed != row.seed:
            # A run that is not in the database: an older copy of it was put in its place.
            free = (folder.with_name(f"{folder.name}.{number}") for number in itertools.count(1))
            folder.rename(next(beside for beside in free if not beside.exists()))
        if path.is_file():
            readjust(self.settings, job.game, job.row.players, path, self._environment, own_address)
            return library.reopen(folder)
        if folder.exists():
            # The server ended while it was made.
            empty_folder(folder, is_removed=True)
        config = run_config(
            self.settings,
            job.game,
            job.row.players,
            job.row.terms,
            user=job.row.user.name,
            seed=row.seed,
            own_address=own_address,
            environment=self._environment,
        )
        return library.new_run(config, folder)

    async def _count(self, job: ActiveJob, run: Run, report: RunReport) -> None:
        while not self._is_stopping:
            try:
                await self.store.write(lambda db: end_run(db, run.id, report))
                ended = RunEnded(job.row, records.run(self.store, run.id) or run)
            except StoreError as error:
                _log.error("run %d cannot be counted: %s", run.id, error)
                await asyncio.sleep(RETRY_S)
            else:
                self._publish_run(job, run, report.state)
                self.standings.note(job.row.game)
                if report.duplicates:
                    self._adjusting.note(job.row.game, run.id, run.folder)
                for host in hosts_of(job, self.connected_bots):
                    host.notify(ended)
                if job.client is not None:
                    job.client.notify(ended)
                return

    async def _end(self, job: ActiveJob, reason: str) -> None:
        job.state = Ending(reason)
        state = JobState.CANCELLED if reason else JobState.DONE
        try:
            await self.store.write(lambda db: end_job(db, job.row.id, state, reason))
        except StoreError as error:
            # Nothing is left of it at the next start, either; it is closed then.
            _log.error("job %d cannot be closed: %s", job.row.id, error)
        finally:
            del self._jobs[job.row.id]
        self._publish_job(job.row, state)
        if job.client is not None:
            job.client.notify(JobEnded(job.row, state, reason))

    def _stop_unattended(self) -> None:
        for job in self.active():
            if job.has_own_seat and job.client is None:
                self._stop(job, "its client has not come back", is_run_stopped=True)
            for name in job.users_bots:
                if name not in self._left_s and self.connected_bots.find(job.row.game, name) is None:
                    self._stop(job, f"{name} has not come back", is_run_stopped=True)

    # ---- what clients ask for

    async def submit(
        self,
        user: User,
        request: JobRequest,
        client: Client | None = None,
        note: Callable[[sqlite3.Connection, int], None] | None = None,
    ) -> tuple[Job, Forecast | None]:
        """Take a request; it is on disk when this returns. Returns it, and when it will start if that is known.

        Args:
            client: is notified of what becomes of it; needed where an agent of the client's own plays.
            note: writes more in the same change, given the number of the job.

        Raises:
            RefusedError: it cannot be played; the message has the reason.
            StoreError: it cannot be written.
        """
        game = self._checked(user, request, client)
        await asyncio.to_thread(check_contest, self.settings, game, request)
        request = replace(request, game=game.name, players=request.players[: game.game.num_players])
        new = self._new_job(user, request)

        def enter(db: sqlite3.Connection) -> Job:
            job = add_job(db, new)
            if note is not None:
                note(db, job.id)
            return job

        row = await self.store.write(enter)
        self._take_on(ActiveJob(row, game, client))
        if not row.runs:
            if client is not None:
                client.notify(JobEnded(row, row.state, ""))
            return row, None
        try:
            return row, (await self.forecasts()).get(row.id)
        except StoreError as error:
            # It is taken all the same.
            _log.error("no forecast can be made: %s", error)
            return row, None

    def _new_job(self, user: User, request: JobRequest) -> Job:
        self._stamp += 1
        return new_job(user, request, seed_of(request.terms), self._stamp)

    def _take_on(self, job: ActiveJob) -> None:
        """A job has been entered."""
        self._publish_job(job.row, job.row.state)
        if job.row.runs:
            self._jobs[job.row.id] = job
            self._changes.notify()

    async def _rank(self, event: ScheduledEvent) -> None:
        played = await asyncio.to_thread(played_in_event, self.store, event)
        standings = await self.computing.run(standings_of_event, event, played)
        await self.store.write(lambda db: keep_standings(db, event.id, standings.model_dump_json()))

    async def _close_event(self, event: ScheduledEvent) -> None:
        """Freeze the entrants of an event whose time has come, and enter its contests in the same change."""
        game = self.settings.game(event.game)
        event_user = User(await self.store.write(lambda db: add_user(db, EVENT_USER)), EVENT_USER)
        decided, entrants, scheduled = schedule_of(self.store, event, game, self.settings.limits, self.version)
        contests = [(self._new_job(event_user, request), versions) for request, versions in scheduled]
        entered = await self.store.write(lambda db: close_event(db, decided, entrants, contests))
        for row, (_, versions) in zip(entered, contests, strict=False):
            assert game is not None
            self._take_on(ActiveJob(row, game, versions=versions))

    def _checked(self, user: User, request: JobRequest, client: Client | None) -> ServerGame:
        if not self.disk.has_room:
            raise RefusedError("the server's disk is full; try again later")
        game = check_request(self.settings, request, user=user.name, refusal=self.connected_bots.refusal)
        if client is None and OWN_SEAT in request.players[: game.game.num_players]:
            raise RefusedError("an agent of your own needs a connection that receives its address")
        if sum(job.row.user.id == user.id for job in self.active()) >= self.settings.max_queued_per_user:
            raise RefusedError(
                f"the limit is {count_of(self.settings.max_queued_per_user, 'waiting request')} of a user"
            )
        return game

    async def enter(self, user: User, offer: Join, host: BotHost) -> ConnectedBot:
        """Have a user's bot there until `leave_bots`; see `dealer.server.queue.connected_bots.ConnectedBots.enter`."""
        connected = await self.connected_bots.enter(user, offer, host)
        self._left_s.pop(offer.bot, None)
        self._publish_bot(connected, is_online=True)
        self._changes.notify()
        return connected

    def leave_bots(self, host: BotHost) -> None:
        """Who has brought bots has gone: what waits for them waits for a while, what is being played has its rules."""
        gone = self.connected_bots.leave(host)
        if not self._is_stopping:
            self._in_background(self.connected_bots.note_seen(gone))
        for connected in gone:
            name = connected.name
            self._left_s[name] = time.monotonic()
            self._publish_bot(connected, is_online=False)
            patience_s = self.settings.own_seat_patience_s
            asyncio.get_running_loop().call_later(patience_s, self._give_up, name, patience_s)

    def _publish_bot(self, connected: ConnectedBot, *, is_online: bool) -> None:
        for game, version in connected.versions.items():
            self.feed.publish("bot-changed", game=game, bot=connected.name, version=version, is_online=is_online)

    def _give_up(self, name: str, after_s: float) -> None:
        if self._is_stopping or time.monotonic() - self._left_s.get(name, time.monotonic()) < after_s:
            return
        for job in self.active():
            if name in job.users_bots:
                self._stop(job, f"{name} has not come back", is_run_stopped=False)

    def may_sit(self, name: str) -> bool:
        """Whether a user's bot is there and may sit down at a table with people; the ladder makes room."""
        connected = next((one for one in self.connected_bots.bots if one.name == name), None)
        runs = sum(job.is_running and name in job.users_bots and not job.slot.is_idle for job in self.active())
        return connected is not None and runs + self._at_tables[name] < connected.offer.at_once

    def sit_down(self, names: Collection[str]) -> None:
        """Users' bots sit down at a table with people, until `stand_up`."""
        self._at_tables.update(names)
        for job in self.active():
            if job.slot.is_idle and job.users_bots & set(names):
                _interrupt_after_hand(job)

    def stand_up(self, names: Collection[str]) -> None:
        """Users' bots play other runs."""
        self._at_tables.subtract(names)
        self._changes.notify()

    async def forecasts(self) -> dict[int, Forecast]:
        """When each job that waits will start."""
        return await forecasts(self.store, self._jobs, self._running, self._waiting(), self.settings.limits)

    def active(self) -> list[ActiveJob]:
        """The jobs of which something is left, in the order in which they came."""
        return [job for job in self._jobs.values() if not isinstance(job.state, Ending)]

    def progress(self) -> dict[int, Progress]:
        """The progress of the runs that are being played, by their numbers; any thread may ask."""
        found = {}
        for job in list(self._jobs.values()):
            match job.state:
                case Running(run=records.Run(id=number), progress=Progress() as progress):
                    found[number] = progress
        return found

    async def cancel(self, user: User, tag: str) -> int:
        """Cancel a user's jobs with a tag, also what is being played; returns how many there were.

        Raises:
            StoreError: it cannot be written; nothing is cancelled.
        """
        jobs = [job for job in self.active() if job.row.user == user and job.row.tag == tag]
        return await self._cancel([job for job in jobs if not _is_cancelled(job)], user)

    async def cancel_job(self, user: User, number: int, by: User | None = None) -> bool:
        """Cancel one of a user's jobs; False if the user has no such job of which something is left.

        Args:
            by: who wants it; None for the user.

        Raises:
            StoreError: it cannot be written; nothing is cancelled.
        """
        job = self._jobs.get(number)
        if job is None or job.row.user != user or _is_cancelled(job):
            return False
        return await self._cancel([job], by or user) > 0

    async def _cancel(self, jobs: Sequence[ActiveJob], by: User) -> int:
        reason = "it was cancelled"

        def change(db: sqlite3.Connection) -> None:
            for job in jobs:
                end_job(db, job.row.id, JobState.CANCELLED, reason)
                if job.row.user != by:
                    note_change(db, by.name, f"cancelled request {job.row.id} of {job.row.user.name}")

        await self.store.write(change)
        for job in jobs:
            self._stop(job, reason, is_run_stopped=True)
        return len(jobs)

    def adopt(self, user: User, client: Client) -> int:
        """Give a client the jobs that this user had when the server was ended; returns how many have own seats."""
        jobs = [job for job in self.active() if job.row.user == user and job.client is None]
        for job in jobs:
            job.client = client
        self._changes.notify()
        return sum(job.has_own_seat for job in jobs)

    def follow(self, user: User, tag: str, client: Client) -> None:
        """Notify a client from now on of what becomes of a user's jobs with a tag, those with own seats apart."""
        for job in self._jobs.values():
            if job.row.user == user and job.row.tag == tag and not job.has_own_seat:
                job.client = client

    def leave(self, client: Client) -> None:
        """A client has gone: its jobs with own seats lose all runs that have not started."""
        if self._is_stopping:
            # The server leaves, not the client: everything goes on at the next start.
            return
        for job in self.active():
            if job.client is client:
                job.client = None
                if job.has_own_seat:
                    self._stop(job, "its client has left", is_run_stopped=False)

    def _stop(self, job: ActiveJob, reason: str, *, is_run_stopped: bool) -> None:
        """Start no more runs of a job; what goes on is stopped, too, or played to its end."""
        match job.state:
            case Waiting():
                job.state = Ending(reason)
                self._in_background(self._end(job, reason))
            case Resuming(run):
                job.state = Ending(reason)
                self._in_background(self._drop(job, run, reason))
            case Running() as running if is_run_stopped or job.runs_left:
                running.end = running.end or reason
                if is_run_stopped:
                    running.cancel()
            case Running() | Ending():
                # The last run is played to its end, and nothing is lost.
                return
        self._changes.notify()

    async def _drop(self, job: ActiveJob, run: Run, reason: str) -> None:
        """End a job whose interrupted run is not resumed."""
        job.state = Ending(reason)
        await self._count(job, run, RunReport(RunState.CANCELLED, f"{reason}."))
        await self._end(job, reason)

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def log_paths(self, run: Run) -> list[Path]:
        """The logs of a run, in the order of their names."""
        return sorted((self._folder / run.folder).glob("match*.log"))


def _interrupt_after_hand(job: ActiveJob) -> None:
    if isinstance(job.state, Running):
        job.state.interrupt_after_hand()


def _is_cancelled(job: ActiveJob) -> bool:
    match job.state:
        case Running(is_cancelled=is_cancelled):
            return is_cancelled
        case Ending():
            return True
        case _:
            return False


def _recovered(settings: ServerSettings, store: Store, own_bots: Mapping[tuple[str, str], int]) -> dict[int, ActiveJob]:
    """The jobs that go on after a start, by their numbers; those that cannot any more are closed."""
    store.write_now(close_abandoned_runs)
    jobs = {}
    versions = frozen_versions(store)
    for row in open_jobs(store):
        game = settings.game(row.game)
        going = next((run for run in runs_of(store, row) if run.state is RunState.RUNNING), None)
        why = _why_not(settings, store, own_bots, row, versions.get(row.id))
        if why or game is None:
            store.write_now(partial(_cancel_unplayable, job=row.id, run=going, reason=why))
        elif going is None and row.started >= row.runs:
            store.write_now(partial(end_job, job=row.id, state=JobState.DONE))
        else:
            state = Waiting() if going is None else Resuming(going)
            jobs[row.id] = ActiveJob(row, game, versions=versions.get(row.id), state=state)
    return jobs


def _why_not(
    settings: ServerSettings,
    store: Store,
    own_bots: Mapping[tuple[str, str], int],
    row: Job,
    versions: Sequence[int] | None,
) -> str:
    """Why a job cannot go on, as a clause; empty if it can."""
    if settings.game(row.game) is None:
        return f"there is no {short_name(row.game)} any more"
    for player, version in zip(row.players, versions or row.players, strict=True):
        is_known = player == OWN_SEAT or (row.game, player) in own_bots
        if not is_known and owner_of(store, row.game, player) is None:
            return f"there is no {player} any more"
        if versions is not None and own_bots.get((row.game, player), version) != version:
            return f"{player} has changed since it entered"
    is_lost = row.kind is JobKind.LADDER and settings.ladder is None
    return "there is no ladder any more" if is_lost else ""


def _cancel_unplayable(db: sqlite3.Connection, job: int, run: Run | None, reason: str) -> None:
    if run is not None:
        end_run(db, run.id, RunReport(RunState.CANCELLED, reason))
    end_job(db, job, JobState.CANCELLED, reason)
