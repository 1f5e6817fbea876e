"""Queue of unfinished jobs: start the next run, follow it to its end, and close jobs.

A run is in the database before it starts, and is counted in one change. Clients are notified after each change.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import replace

from dealer.errors import StoreError
from dealer.run.tournament_run import Progress
from dealer.server.capacity import CapacityShare, Limits
from dealer.server.db import records
from dealer.server.db.audit import record_change
from dealer.server.db.records import Job, JobRequest, JobState, Run, RunState, new_job
from dealer.server.db.run_changes import RunReport, begin_run, end_job, end_run, last_stamp, served_stamps
from dealer.server.db.store import RETRY_S, Store
from dealer.server.db.users import User
from dealer.server.queue.fair_queue import (
    Forecast,
    WaitingJob,
    can_start_idle_run,
    next_job,
    preempted_jobs,
    skipped_jobs,
)
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
    choose_seed,
    forecasts,
)
from dealer.server.queue.playing import bot_hosts
from dealer.server.queue.presence import Presence
from dealer.server.queue.run_player import RunPlayer
from dealer.server.resources import Disk
from dealer.table.loop import Changes

_log = logging.getLogger(__name__)


class JobQueue:
    """The jobs whose end is not written."""

    def __init__(
        self,
        jobs: Mapping[int, ActiveJob],
        store: Store,
        feed: Feed,
        changes: Changes,
        disk: Disk,
        presence: Presence,
        *,
        player: RunPlayer,
        limits: Limits,
        max_idle: int,
        on_counted: Callable[[Run, RunReport], None],
    ) -> None:
        """Prepare to play.

        Args:
            jobs: of earlier starts, by number.
            changes: notified when a run may be able to start.
            max_idle: limit on concurrent runs of the ladder.
            on_counted: receives each run that was counted.
        """
        self._jobs = dict(jobs)
        self._store = store
        self._feed = feed
        self._changes = changes
        self._disk = disk
        self._presence = presence
        self._player = player
        self._limits = limits
        self._max_idle = max_idle
        self._on_counted = on_counted
        self._running: dict[int, ActiveJob] = {}
        """Jobs that are `Running`, in the order of their starts."""
        self._stamp = last_stamp(store)
        self._served = served_stamps(store)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    # ---- starting runs

    async def run(self) -> None:
        """Start runs until cancelled."""
        while True:
            chosen = self._next()
            if chosen is None:
                await self._changes.wait_for(self._can_start)
                continue
            for job in skipped_jobs(self._waiting(), self._shares(), chosen):
                self._jobs[job].skips += 1
            await self._begin(self._jobs[chosen.id])
            self._preempt()

    def interrupt(self) -> None:
        """Interrupt all runs, which the next start resumes, and start no more."""
        self._is_stopping = True
        for job in self._running.values():
            if isinstance(job.state, Running):
                job.state.interrupt()

    async def close(self) -> None:
        """Wait for the interrupted runs to stop and for all changes to be written."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _next(self) -> WaitingJob | None:
        if not self._disk.has_space:
            return None
        chosen = next_job(self._waiting(), self._shares(), self._limits)
        if chosen is not None and chosen.share.is_idle and not self._can_start_idle_run():
            return None
        return chosen

    def _can_start(self) -> bool:
        self._preempt()
        return self._next() is not None

    def _can_start_idle_run(self) -> bool:
        if not self._disk.has_space:
            return False
        max_runs = os.cpu_count() or 1
        return can_start_idle_run(self._waiting(), self._shares(), max_idle=self._max_idle, max_runs=max_runs)

    def _preempt(self) -> None:
        """Interrupt runs of the ladder for which requests need the capacity."""
        max_runs = os.cpu_count() or 1
        for number in preempted_jobs(self._waiting(), self._shares(), self._limits, max_runs=max_runs):
            _interrupt_after_hand(self._running[number])

    def _waiting(self) -> list[WaitingJob]:
        jobs = [job for job in self._jobs.values() if job.runs_left]
        return [job.waiting(self._served.get(job.row.user.id, 0), is_ready=self._is_ready(job)) for job in jobs]

    def _shares(self) -> dict[int, CapacityShare]:
        return {number: job.share for number, job in self._running.items()}

    def _is_ready(self, job: ActiveJob) -> bool:
        """Return whether all players of a job are connected and free."""
        if (job.has_own_seat and job.client is None) or self.absent_player(job):
            return False
        for name in job.user_bots:
            runs = sum(name in other.user_bots for other in self._running.values())
            if not self._presence.has_free_seat(name, runs):
                return False
        return True

    def absent_player(self, job: ActiveJob) -> str:
        """Name of a user's bot that is not connected in the required version; empty if all are."""
        for name in sorted(job.user_bots):
            connected = self._presence.find(job.row.game, name)
            if connected is None or not job.accepts(name, connected.versions[job.row.game]):
                return name
        return ""

    # ---- runs

    async def _begin(self, job: ActiveJob) -> None:
        running = Running(job.run)
        job.state = running
        # Before the database is written, so that its capacity counts as taken meanwhile.
        self._running[job.row.id] = job
        run = running.run
        if run is None:
            run = await self._add_run(job)
        if run is None:
            del self._running[job.row.id]
            await self._continue(job, running.end)
            return
        running.run = run
        running.start_s = time.monotonic()
        job.skips = 0
        self._publish_run(job, run, RunState.RUNNING)
        self._start(self._play(job, running, run))

    async def _add_run(self, job: ActiveJob) -> Run | None:
        """Add the next run of a job to the database; after an error, pause and return None."""
        stamp = self._next_stamp()
        versions = [self._presence.version(job.row.game, player) for player in job.row.players]
        row = job.row
        try:
            run = await self._store.write(lambda db: begin_run(db, row, versions, stamp))
        except StoreError as error:
            _log.error("no run can be started: %s", error)
            await asyncio.sleep(RETRY_S)
            return None
        job.row = replace(row, started=row.started + 1, stamp=stamp)
        self._served[row.user.id] = stamp
        return run

    async def _continue(self, job: ActiveJob, end: str) -> None:
        """Let a job wait for its next run, or end it: if none is left, or for the reason `end`."""
        if end or job.row.started >= job.row.runs:
            await self._end(job, end)
        else:
            job.state = Waiting()

    async def _play(self, job: ActiveJob, running: Running, run: Run) -> None:
        report = None
        try:
            report = await self._player.play(job, running, run)
            running.match_run = None
            if report is not None and report.state is RunState.FAILED and not self._disk.has_space:
                # It failed because the disk is full, and is resumed once there is space.
                report = None
            if report is not None:
                await self._count(job, run, report)
        finally:
            self._player.watchers.remove_run(run.id)
            del self._running[job.row.id]
            if self._is_stopping:
                # The next start resumes it.
                pass
            elif report is not None:
                await self._continue(job, running.end)
            elif running.end:
                await self._drop(job, run, running.end)
            else:
                job.state = Resuming(run)
            self._changes.notify()

    async def _count(self, job: ActiveJob, run: Run, report: RunReport) -> None:
        # A run that is not counted is opened again by the next start, which finds it finished and counts it.
        while not self._is_stopping:
            try:
                await self._store.write(lambda db: end_run(db, run.id, report))
                ended = RunEnded(job.row, records.run(self._store, run.id) or run)
            except StoreError as error:
                _log.error("run %d cannot be counted: %s", run.id, error)
                await asyncio.sleep(RETRY_S)
            else:
                self._publish_run(job, run, report.state)
                self._on_counted(run, report)
                for host in bot_hosts(job, self._presence):
                    host.notify(ended)
                if job.client is not None:
                    job.client.notify(ended)
                return

    # ---- ends of jobs

    def stop(self, job: ActiveJob, reason: str, *, is_run_stopped: bool) -> None:
        """Start no more runs of a job, and cancel its current run if `is_run_stopped`."""
        match job.state:
            case Waiting():
                job.state = Ending(reason)
                self._start(self._end(job, reason))
            case Resuming(run):
                job.state = Ending(reason)
                self._start(self._drop(job, run, reason))
            case Running() as running if is_run_stopped or job.runs_left:
                running.end = running.end or reason
                if is_run_stopped:
                    running.cancel()
            case Running() | Ending():
                # The last run is played to its end in any case.
                return
        self._changes.notify()

    async def _drop(self, job: ActiveJob, run: Run, reason: str) -> None:
        """End a job whose interrupted run is not resumed."""
        job.state = Ending(reason)
        await self._count(job, run, RunReport(RunState.CANCELLED, f"{reason}."))
        await self._end(job, reason)

    async def _end(self, job: ActiveJob, reason: str) -> None:
        job.state = Ending(reason)
        state = JobState.CANCELLED if reason else JobState.DONE
        try:
            await self._store.write(lambda db: end_job(db, job.row.id, state, reason))
        except StoreError as error:
            # The next start closes it, because it has no runs left.
            _log.error("job %d cannot be closed: %s", job.row.id, error)
        finally:
            del self._jobs[job.row.id]
        self._publish_job(job.row, state)
        if job.client is not None:
            job.client.notify(JobEnded(job.row, state, reason))

    def stop_unattended(self) -> None:
        """Stop jobs of an earlier start whose clients or bots have not returned."""
        for job in self.active():
            if job.has_own_seat and job.client is None:
                self.stop(job, "its client has not reconnected", is_run_stopped=True)
            for name in job.user_bots:
                # A bot that has left since the start is reported by `Presence.leave` when its own time is over.
                if not self._presence.has_left(name) and self._presence.find(job.row.game, name) is None:
                    self.stop(job, f"{name} has not reconnected", is_run_stopped=True)

    def give_up(self, name: str) -> None:
        """Start no more runs of jobs with a user's bot."""
        for job in self.active():
            if name in job.user_bots:
                self.stop(job, f"{name} has not reconnected", is_run_stopped=False)

    async def cancel(self, user: User, tag: str) -> int:
        """Cancel a user's jobs with a tag and their runs; return their number.

        Raises:
            StoreError: it cannot be written; nothing is cancelled.
        """
        jobs = [job for job in self.active() if job.row.user == user and job.row.tag == tag]
        return await self._cancel([job for job in jobs if not _is_cancelled(job)], user)

    async def cancel_job(self, user: User, number: int, by: User | None = None) -> bool:
        """Cancel a user's job; return False if the user has no such unfinished job.

        Args:
            by: the user who cancels it; None for `user`.

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
                    record_change(db, by.name, f"cancelled request {job.row.id} of {job.row.user.name}")

        await self._store.write(change)
        for job in jobs:
            self.stop(job, reason, is_run_stopped=True)
        return len(jobs)

    # ---- new jobs and clients

    def new_job(self, user: User, request: JobRequest) -> Job:
        """Make a job to be added to the database."""
        return new_job(user, request, choose_seed(request.terms), self._next_stamp())

    def add(self, job: ActiveJob) -> None:
        """Queue a job that is in the database."""
        self._publish_job(job.row, job.row.state)
        if job.row.runs:
            self._jobs[job.row.id] = job
            self._changes.notify()

    def _next_stamp(self) -> int:
        self._stamp += 1
        return self._stamp

    def adopt(self, user: User, client: Client) -> int:
        """Make a client the one of its user's jobs of an earlier start; return the number of those with own seats."""
        jobs = [job for job in self.active() if job.row.user == user and job.client is None]
        for job in jobs:
            job.client = client
        self._changes.notify()
        return sum(job.has_own_seat for job in jobs)

    def follow(self, user: User, tag: str, client: Client) -> None:
        """Notify a client, from now on, of a user's jobs with a tag that have no own seats."""
        for job in self._jobs.values():
            if job.row.user == user and job.row.tag == tag and not job.has_own_seat:
                job.client = client

    def leave(self, client: Client) -> None:
        """Start no more runs with own seats of a client that has disconnected."""
        if self._is_stopping:
            # The server has closed the connection; the next start resumes the jobs.
            return
        for job in self.active():
            if job.client is client:
                job.client = None
                if job.has_own_seat:
                    self.stop(job, "its client has left", is_run_stopped=False)

    # ---- queries

    def active(self) -> list[ActiveJob]:
        """Unfinished jobs in the order of their arrival."""
        return [job for job in self._jobs.values() if not isinstance(job.state, Ending)]

    @property
    def matches_played(self) -> int:
        """Number of matches in progress."""
        return sum(job.at_once for job in self._running.values())

    async def forecasts(self) -> dict[int, Forecast]:
        """Forecast the next start of each waiting job."""
        return await forecasts(self._store, self._jobs, self._running, self._waiting(), self._limits)

    def progress(self) -> dict[int, Progress]:
        """Progress of the runs in progress, by number; thread-safe."""
        progress_by_run = {}
        # A copy, because this may be called in another thread.
        for job in list(self._jobs.values()):
            match job.state:
                case Running(run=records.Run(id=number), progress=Progress() as progress):
                    progress_by_run[number] = progress
        return progress_by_run

    # ---- the ladder, and tables with people

    def can_start_idle(self) -> bool:
        """Return whether a new job of the ladder could start at once."""
        if not self._can_start_idle_run():
            return False
        waiting = [job for job in self.active() if job.share.is_idle and not isinstance(job.state, Running)]
        return not any(self._is_ready(job) for job in waiting)

    def idle_contests(self) -> list[tuple[str, frozenset[str]]]:
        """Game and players of each unfinished job of the ladder."""
        return [(job.row.game, frozenset(job.row.players)) for job in self.active() if job.share.is_idle]

    def count_user_runs(self, name: str) -> int:
        """Count the runs that a user's bot plays, without those of the ladder."""
        requested = [job for job in self.active() if job.is_running and not job.share.is_idle]
        return sum(name in job.user_bots for job in requested)

    def free_bots(self, names: Collection[str]) -> None:
        """Interrupt runs of the ladder with users' bots that join a table."""
        for job in self.active():
            if job.share.is_idle and job.user_bots & set(names):
                _interrupt_after_hand(job)

    def _publish_run(self, job: ActiveJob, run: Run, state: RunState) -> None:
        self._feed.publish("run-changed", run=run.id, job=job.row.id, game=job.row.game, state=state)

    def _publish_job(self, row: Job, state: JobState) -> None:
        self._feed.publish("job-changed", job=row.id, user=row.user.name, game=row.game, state=state)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


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
