"""The server without its ports: takes jobs, plays their runs by `dealer.runs`, keeps what comes out, tells the clients.

Everything a client is told has been written before. A run is entered, played in its own folder by the runner of
`arena play`, and counted in one change; what was going on when the server ended is gone on with when it starts again,
from the last whole hand, or from the first if there is none. Bots that a killed server has left behind are ended first.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import sqlite3
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dealer.contest.config import RunConfig, read_config, validated
from dealer.contest.ending import Outcome
from dealer.contest.progress import Progress
from dealer.errors import DealerError, RefusedError, StoreError
from dealer.record.folder import CONFIG_NAME, empty_folder
from dealer.runs import AnyResult, Run, new_play, reopen
from dealer.server import ledger
from dealer.server.accounts import User
from dealer.server.jobs import ActiveJob, Client, JobEnded, RunEnded, SeatOpen
from dealer.server.ledger import JobRow, JobState, RunReport, RunRow, RunState
from dealer.server.orphans import MARK, end_orphans
from dealer.server.queue import Forecast, Job, Slot, forecast, never_fits, next_job, skipped
from dealer.server.reports import report_of
from dealer.server.settings import HouseGame, ServerSettings, run_config
from dealer.server.store import Store
from dealer.table.loop import Changes
from logs.whole_file import write_whole
from protocol.benchmark import MOST_TAG_BYTES, OWN_SEAT, RequestRuns

__all__ = ["Service"]

_log = logging.getLogger(__name__)

_LEAST_LEFT_S = 1.0
"""A run that has taken longer than others is expected to end after this time."""
_RETRY_S = 5.0
"""When a change could not be written, because the disk is full, it is tried again after this time."""


@dataclass(slots=True)
class _Running:
    """What the service is busy with, by the number of the job."""

    tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    slots: dict[int, Slot] = field(default_factory=dict)


class Service:
    """The server without its ports."""

    def __init__(self, settings: ServerSettings, folder: Path, store: Store) -> None:
        """Take up what the store has left to play.

        Args:
            settings: what the server is.
            folder: of everything it keeps.
            store: its database, in that folder.
        """
        self.settings = settings
        self.store = store
        self._folder = folder
        self._environment = {MARK: str(folder.absolute())}
        self._changes = Changes()
        self._jobs: dict[int, ActiveJob] = {}
        self._running = _Running()
        self._is_stopping = False
        self._closing: set[asyncio.Task[None]] = set()
        store.write_now(ledger.close_abandoned_runs)
        self._versions = store.write_now(lambda db: ledger.enter_bots(db, settings.games))
        self._stamp = ledger.last_stamp(store)
        self._served = ledger.served_stamps(store)
        for row in ledger.open_jobs(store):
            self._take_up(row)

    def _take_up(self, row: JobRow) -> None:
        """A job that was there when the server ended."""
        game = self.settings.game(row.game)
        gone = [player for player in row.players if game is not None and player != OWN_SEAT and not game.bot(player)]
        if game is None or gone:
            reason = f"there is no {gone[0] if gone else row.game} any more"
            self._write_off(row, reason)
        elif row.going is None and row.started >= row.runs:
            self.store.write_now(lambda db: ledger.end_job(db, row.id, JobState.DONE))
        else:
            self._jobs[row.id] = ActiveJob(row, game, going=row.going, is_resumed=row.going is not None)

    def _write_off(self, row: JobRow, reason: str) -> None:
        def change(db: sqlite3.Connection) -> None:
            if row.going is not None:
                ledger.end_run(db, row.going.id, RunReport(RunState.CANCELLED, reason))
            ledger.end_job(db, row.id, JobState.CANCELLED, reason)

        self.store.write_now(change)

    # ---- the life of the service

    async def run(self) -> None:
        """Start runs whenever some can start, until cancelled; then interrupt what goes on, to be gone on with."""
        left = await asyncio.to_thread(end_orphans, self._environment[MARK])
        if left:
            _log.info("%d processes of an earlier start were ended", left)
        patience = asyncio.get_running_loop().call_later(self.settings.own_seat_s, self._lose_patience)
        try:
            while True:
                chosen = self._next()
                if chosen is None:
                    await self._changes.wait_for(lambda: self._next() is not None)
                    continue
                for job in skipped(self._waiting(), self._running.slots, chosen):
                    self._jobs[job].skips += 1
                await self._begin(self._jobs[chosen.id])
        finally:
            self._is_stopping = True
            patience.cancel()
            for active in self._jobs.values():
                if active.run is not None:
                    active.run.interrupt()
            while self._running.tasks or self._closing:
                await asyncio.wait([*self._running.tasks.values(), *self._closing])

    def _next(self) -> Job | None:
        return next_job(self._waiting(), self._running.slots, self.settings.limits)

    def _waiting(self) -> list[Job]:
        return [
            Job(
                job.row.id,
                job.slot,
                job.runs_left,
                job.row.stamp,
                # What was going on when the server ended comes before everything else.
                -1 if job.is_resumed else self._served.get(job.row.user.id, 0),
                job.skips,
                not job.has_own_seat or job.client is not None,
            )
            for job in self._jobs.values()
            if job.runs_left
        ]

    async def _begin(self, job: ActiveJob) -> None:
        """Enter the next run of a job and have it played."""
        number = job.row.id
        self._running.slots[number] = job.slot
        if job.is_resumed:
            job.is_resumed = False
        else:
            self._stamp += 1
            versions = [
                None if player == OWN_SEAT else self._versions[job.row.game, player] for player in job.row.players
            ]
            row, stamp = job.row, self._stamp
            try:
                job.going = await self.store.write(lambda db: ledger.begin_run(db, row, versions, stamp))
            except StoreError as error:
                _log.error("no run can be entered: %s", error)
                await asyncio.sleep(_RETRY_S)
                del self._running.slots[number]
                if not job.runs_left:
                    await self._end(job)
                return
            job.row = replace(row, started=row.started + 1, stamp=stamp)
            self._served[row.user.id] = stamp
        job.skips = 0
        job.began_s = time.monotonic()
        task = asyncio.create_task(self._play(job, job.going))  # type: ignore[arg-type]
        self._running.tasks[number] = task

    async def _play(self, job: ActiveJob, run: RunRow) -> None:
        """Play a run to its end and count it."""
        try:
            report = await self._report(job, run)
            job.run = None
            if report is not None:
                await self._count(job, run, report)
        finally:
            job.going = job.run = None
            del self._running.slots[job.row.id], self._running.tasks[job.row.id]
            if not self._is_stopping and not job.runs_left:
                await self._end(job)
            self._changes.notify()

    async def _report(self, job: ActiveJob, row: RunRow) -> RunReport | None:
        """How a run ended; None for one that the end of the server has interrupted."""
        try:
            run = await asyncio.to_thread(self._open, job, row)
            job.run = run
            if self._is_stopping or job.is_cancelled:
                run.interrupt()
            result = await run.play(self._announcer(job) if job.has_own_seat else None)
            if result.outcome is Outcome.INTERRUPTED and not job.is_cancelled:
                return None
            return await asyncio.to_thread(report_of, run, result, job.end if job.is_cancelled else "")
        except DealerError as error:
            return RunReport(RunState.FAILED, f"{error}.")
        except Exception as error:
            _log.exception("run %d of %s.%s", row.number, job.row.user.name, job.row.tag)
            return RunReport(RunState.FAILED, f"internal error: {type(error).__name__}.")

    def _open(self, job: ActiveJob, row: RunRow) -> Run[AnyResult]:
        """The run in its folder: as far as it has come, or new."""
        folder = self._folder / row.folder
        if (folder / CONFIG_NAME).is_file():
            if job.has_own_seat:
                self._readdress(folder / CONFIG_NAME, job)
            return reopen(folder)
        if folder.exists():
            # The server ended while it was made.
            empty_folder(folder, is_removed=True)
        return new_play(self._config(job, row), folder)

    def _readdress(self, path: Path, job: ActiveJob) -> None:
        """Have a run expect the agents of its client from where that is now."""
        config = validated(read_config(path), str(path))
        address = self._address_of(job)
        bots = [
            bot.model_copy(update={"address": address}) if player == OWN_SEAT else bot
            for bot, player in zip(config.bots, job.row.players, strict=True)
        ]
        write_whole(path, config.model_copy(update={"bots": bots, "host": self.settings.host}).to_toml())

    def _address_of(self, job: ActiveJob) -> str | None:
        """The address from which the agents of a job's client have to come; None for any."""
        return None if job.client is None or not self.settings.seats_by_address else job.client.address

    def _config(self, job: ActiveJob, row: RunRow) -> RunConfig:
        return run_config(
            self.settings,
            job.game,
            job.row.players,
            user=job.row.user.name,
            address=self._address_of(job),
            seed=row.seed,
            environment=self._environment,
        )

    def _announcer(self, job: ActiveJob) -> Callable[[Progress], None]:
        """Tells the client of a job, once, where its own agents are awaited."""
        is_told = False

        def tell(progress: Progress) -> None:
            nonlocal is_told
            if is_told or not progress.awaited:
                return
            is_told = True
            for player in progress.awaited:
                if player.is_remote and job.client is not None:
                    job.client.tell(SeatOpen(job.row, player.port))

        return tell

    async def _count(self, job: ActiveJob, run: RunRow, report: RunReport) -> None:
        """Write how a run ended, however long that takes, and tell."""
        while not self._is_stopping:
            try:
                await self.store.write(lambda db: ledger.end_run(db, run.id, report))
            except StoreError as error:
                _log.error("run %d cannot be counted: %s", run.id, error)
                await asyncio.sleep(_RETRY_S)
            else:
                if job.client is not None:
                    job.client.tell(RunEnded(job.row, run, report))
                return

    async def _end(self, job: ActiveJob) -> None:
        """Close a job of which nothing is left."""
        state = JobState.CANCELLED if job.end else JobState.DONE
        if self._jobs.pop(job.row.id, None) is None:
            return
        try:
            await self.store.write(lambda db: ledger.end_job(db, job.row.id, state, job.end))
        except StoreError as error:
            # Nothing is left of it at the next start, either; it is closed then.
            _log.error("job %d cannot be closed: %s", job.row.id, error)
        if job.client is not None:
            job.client.tell(JobEnded(job.row, state, job.end))

    def _lose_patience(self) -> None:
        """Give up the requests of clients that have not come back since the server was started."""
        for job in list(self._jobs.values()):
            if job.has_own_seat and job.client is None:
                self._stop(job, "its client has not come back", is_run_stopped=True)

    # ---- what clients ask for

    async def submit(self, user: User, request: RequestRuns, client: Client) -> tuple[JobRow, Forecast | None]:
        """Take a request; it is on disk when this returns. Returns it, and when it will start if that is known.

        Raises:
            RefusedError: it cannot be played; the sentence says why.
            StoreError: it cannot be written.
        """
        game = self._checked(user, request)
        seed = request.seed or secrets.randbelow(2**32 - 1) + 1
        self._stamp += 1
        players = request.players[: game.game.num_players]
        row = JobRow(0, user, request.tag, game.name, players, request.runs, seed, request.index, self._stamp)
        state = JobState.QUEUED if row.runs else JobState.DONE
        number = await self.store.write(lambda db: ledger.add_job(db, replace(row, state=state)))
        row = replace(row, id=number)
        if not row.runs:
            client.tell(JobEnded(row, state, ""))
            return row, None
        self._jobs[number] = ActiveJob(row, game, client)
        self._changes.notify()
        try:
            return row, (await self.forecasts()).get(number)
        except StoreError as error:
            # It is taken all the same.
            _log.error("no forecast can be made: %s", error)
            return row, None

    def _checked(self, user: User, request: RequestRuns) -> HouseGame:
        """The game of a request that can be played.

        Raises:
            RefusedError: it cannot.
        """
        game = self.settings.game(request.game)
        if game is None:
            raise RefusedError(f"there is no game {_shown(request.game)}; GAMES lists those there are")
        if request.runs > game.most_runs:
            raise RefusedError(f"{game.name} is played at most {game.most_runs} times for one request")
        if len(f"{user.name}{request.tag}".encode("utf-8", "surrogateescape")) > MOST_TAG_BYTES - 3:
            raise RefusedError(f"the tag is too long: with the name, {MOST_TAG_BYTES - 3} bytes are taken")
        seats = game.game.num_players
        players = request.players[:seats]
        if len(players) < seats:
            raise RefusedError(f"{game.name} has {seats} seats, and {len(players)} players are named")
        for player in players:
            if player != OWN_SEAT and game.bot(player) is None:
                raise RefusedError(f"{game.name} has no bot {_shown(player)}; GAMES lists those there are")
        if not game.hands:
            raise RefusedError(f"{game.name} is set to be played for 0 hands")
        slot = Slot(user.id, game.name, tuple(player for player in players if player != OWN_SEAT))
        if problem := never_fits(slot, self.settings.limits):
            raise RefusedError(problem)
        if sum(job.row.user.id == user.id for job in self._jobs.values()) >= self.settings.queued_per_user:
            raise RefusedError(f"{self.settings.queued_per_user} of your requests are waiting already")
        return game

    async def forecasts(self) -> dict[int, Forecast]:
        """When each job that waits will start."""
        games = {job.row.game for job in self._jobs.values()}
        seconds: Mapping[str, float | None] = {game: ledger.mean_seconds(self.store, game) for game in games}
        waiting, slots = self._waiting(), dict(self._running.slots)
        now_s = time.monotonic()
        gone_s = {number: now_s - self._jobs[number].began_s for number in slots if number in self._jobs}

        def left_s(number: int) -> float | None:
            mean_s = seconds.get(slots[number].game)
            return None if mean_s is None else max(_LEAST_LEFT_S, mean_s - gone_s.get(number, 0.0))

        return await asyncio.to_thread(
            forecast, waiting, slots, self.settings.limits, seconds.__getitem__, left_s=left_s
        )

    def active(self) -> list[ActiveJob]:
        """The jobs of which something is left, in the order in which they came."""
        return list(self._jobs.values())

    async def cancel(self, user: User, tag: str) -> int:
        """Cancel a user's jobs with a tag, also what is being played; returns how many there were.

        Raises:
            StoreError: it cannot be written; nothing is cancelled.
        """
        jobs = [
            job for job in self._jobs.values() if job.row.user == user and job.row.tag == tag and not job.is_cancelled
        ]
        reason = "it was cancelled"

        def change(db: sqlite3.Connection) -> None:
            for job in jobs:
                ledger.end_job(db, job.row.id, JobState.CANCELLED, reason)

        await self.store.write(change)
        for job in jobs:
            if job.row.id in self._jobs:
                self._stop(job, reason, is_run_stopped=True)
        return len(jobs)

    def adopt(self, user: User, client: Client) -> int:
        """Give a client the jobs that this user had when the server was ended; returns how many have own seats."""
        jobs = [job for job in self._jobs.values() if job.row.user == user and job.client is None]
        for job in jobs:
            job.client = client
        self._changes.notify()
        return sum(job.has_own_seat for job in jobs)

    def leave(self, client: Client) -> None:
        """A client has gone: its jobs with own seats lose all runs that have not started."""
        if self._is_stopping:
            # The server leaves, not the client: everything goes on at the next start.
            return
        for job in list(self._jobs.values()):
            if job.client is client:
                job.client = None
                if job.has_own_seat:
                    self._stop(job, "its client has left", is_run_stopped=False)

    def _stop(self, job: ActiveJob, reason: str, *, is_run_stopped: bool) -> None:
        """Start no more runs of a job; what goes on is stopped, too, or played to its end."""
        if not job.runs_left and not is_run_stopped:
            # Its last run goes on, and nothing is lost.
            return
        job.end = job.end or reason
        if job.is_resumed:
            # What was going on when the server ended does not go on.
            job.is_resumed = False
            self._in_background(self._drop(job))
        elif job.row.id not in self._running.slots:
            self._in_background(self._end(job))
        elif is_run_stopped:
            job.is_cancelled = True
            if job.run is not None:
                job.run.interrupt()
        self._changes.notify()

    async def _drop(self, job: ActiveJob) -> None:
        if job.going is not None:
            await self._count(job, job.going, RunReport(RunState.CANCELLED, f"{job.end}."))
        await self._end(job)

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def log_paths(self, run: RunRow) -> list[Path]:
        """The logs of a run, in the order of their names."""
        return sorted((self._folder / run.folder).glob("match*.log"))


def _shown(word: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in word[:60])
