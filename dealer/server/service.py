"""Core of a server, without its ports: accept requests, play their runs, keep results and notify clients.

A client learns nothing that is not on disk. Each run is added, played in its own folder by the runner of `arena play`,
and counted in one change. The next start resumes what was being played, from the last complete hand. Before that it
ends bots that a killed server has left behind.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path

from bots.sdk.program import end_server_programs
from dealer.errors import RefusedError, StoreError
from dealer.run.dealers import DealerProcesses
from dealer.server.computing import Computing
from dealer.server.db.bot_registry import register_server_bots
from dealer.server.db.records import Job, JobRequest, Run
from dealer.server.db.run_changes import RunReport, add_job
from dealer.server.db.store import Store
from dealer.server.db.users import User, add_user
from dealer.server.queue.adjusting import Adjusting
from dealer.server.queue.event_closing import Events
from dealer.server.queue.fair_queue import Forecast
from dealer.server.queue.feed import Feed
from dealer.server.queue.job_queue import JobQueue
from dealer.server.queue.jobs import ActiveJob, Client, JobEnded, check_contest, check_request
from dealer.server.queue.ladder import LADDER_USER, Ladder, Rater, max_ladder_runs
from dealer.server.queue.presence import ConnectedBot, Presence
from dealer.server.queue.recovered_jobs import recovered_jobs
from dealer.server.queue.run_player import RunPlayer
from dealer.server.resources import Disk, remove_old_logs
from dealer.server.server_settings import ServerGame, ServerSettings
from dealer.table.loop import Changes
from engine.text import count_of
from protocol.benchmark import OWN_SEAT
from protocol.joining import LadderState, LadderWait

_log = logging.getLogger(__name__)
_LADDER_NEWS_S = 60.0
"""Interval at which the state of the ladder is read without an event."""
_LADDER_PAUSE_S = 1.0
_LADDER_PAUSE_FACTOR = 20
"""Pause after reading it, as a multiple of the time that this took."""


def refusal_text(error: RefusedError | StoreError) -> str:
    """Sentence for a client whose request is refused; an error of the database is logged instead of shown."""
    if isinstance(error, StoreError):
        _log.error("a request of a client cannot be stored: %s", error)
        return "the server cannot store the request now; try again later"
    return str(error)


class Service:
    """Core of a server, without its ports.

    Attributes:
        computing: processes for long computations.
        disk: of the server's folder.
        store: the database.
        presence: connected bots of users.
        player: plays the runs.
        queue: unfinished jobs.
        has_started: set once leftover processes of an earlier start are ended, and new ones may be started.
        broken: names of background tasks that an error has ended. The next start of the server starts them again.
    """

    def __init__(
        self,
        settings: ServerSettings,
        folder: Path,
        store: Store,
        computing: Computing,
        dealers: DealerProcesses | None = None,
    ) -> None:
        """Create the parts of the server; `run` starts them.

        Args:
            dealers: processes that play matches without users' bots; None to play them in this process.
        """
        self.settings = settings
        self.store = store
        self.computing = computing
        self.feed = Feed()
        self.has_started = asyncio.Event()
        self.broken: list[str] = []
        self._folder = folder
        self._changes = Changes()
        self.disk = Disk(folder, settings.least_free_mb * 10**6, self._changes.notify)
        own_versions = store.write_now(lambda db: register_server_bots(db, settings.games))
        self.presence = Presence(
            settings.games,
            own_versions,
            store,
            self.feed,
            self._changes,
            max_names=settings.max_names_per_user,
            reconnect_timeout_s=settings.own_seat_patience_s,
            # A lambda, because the queue is created later.
            on_missing=lambda name: self.queue.give_up(name),
        )
        self.player = RunPlayer(settings, folder, store, self.presence, computing, dealers)
        self._rater = Rater(settings.games, store, self.feed, computing)
        self._adjusting = Adjusting(settings.games, folder, store, computing)
        self._ladder: Ladder | None = None
        max_idle = 0
        if settings.ladder is not None:
            self._ladder = Ladder(
                settings.ladder, settings.games, settings.limits, store, self.presence, own_versions=own_versions
            )
            max_idle = max_ladder_runs(settings.ladder)
        jobs = recovered_jobs(store, settings.games, own_versions, has_ladder=settings.ladder is not None)
        self.queue = JobQueue(
            jobs,
            store,
            self.feed,
            self._changes,
            self.disk,
            self.presence,
            player=self.player,
            limits=settings.limits,
            max_idle=max_idle,
            on_counted=self._note_counted,
        )
        self._events = Events(
            settings.games,
            store,
            self.queue,
            self.presence,
            computing,
            limits=settings.limits,
            reconnect_timeout_s=settings.event_patience_s,
        )

    async def run(self) -> None:
        """Play runs until cancelled; then interrupt those in progress, to be resumed at the next start."""
        num_ended = await asyncio.to_thread(end_server_programs, str(self._folder.absolute()))
        if num_ended:
            _log.info("%d processes of an earlier start were ended", num_ended)
        self.has_started.set()
        loop = asyncio.get_running_loop()
        # Clients and bots of an earlier start have this time to return.
        timer = loop.call_later(self.settings.own_seat_patience_s, self.queue.stop_unattended)
        works = {
            "the ratings": self._rater.run(),
            "win rates without luck": self._adjusting.run(),
            "the ladder": self._run_ladder(),
            "news of the ladder": self._report_ladder(),
            "events": self._events.run(),
            "connected bots": self.presence.run(),
            "the removal of old logs": remove_old_logs(self._folder, self.store, self.settings.keep_days),
        }
        background = [asyncio.create_task(work, name=name) for name, work in works.items()]
        for task in background:
            task.add_done_callback(self._note_end)
        try:
            await self.queue.run()
        finally:
            self.disk.close()
            timer.cancel()
            for task in background:
                task.cancel()
            self.queue.interrupt()
            await self.presence.close()
            await self.queue.close()

    def _note_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.broken.append(task.get_name())
            _log.error("the work on %s has ended", task.get_name(), exc_info=error)

    def _note_counted(self, run: Run, report: RunReport) -> None:
        self._rater.note(run.game)
        if report.duplicates:
            self._adjusting.note(run.game, run.id, run.folder)

    async def _run_ladder(self) -> None:
        if self._ladder is None:
            return
        ladder_user = User(await self.store.write(lambda db: add_user(db, LADDER_USER)), LADDER_USER)
        await self._ladder.run(
            self._changes,
            self.feed,
            is_idle=self.queue.can_start_idle,
            current=self.queue.idle_contests,
            submit=partial(self.submit, ladder_user),
        )

    async def _report_ladder(self) -> None:
        """Notify bots of the ladder that do not play when their state has changed."""
        told: dict[ConnectedBot, LadderState] = {}
        last_event = -1
        while True:
            await self.feed.wait(last_event, _LADDER_NEWS_S)
            last_event = self.feed.last
            start_s = time.monotonic()
            try:
                states = await self._ladder_states()
            except StoreError as error:
                _log.error("the state of the ladder cannot be read: %s", error)
                states = {}
            for bot, state in states.items():
                if told.get(bot) != state:
                    bot.host.notify(state)
            told = states
            # With many bots the states take long, and matches must not wait for them.
            await asyncio.sleep(max(_LADDER_PAUSE_S, _LADDER_PAUSE_FACTOR * (time.monotonic() - start_s)))

    async def _ladder_states(self) -> dict[ConnectedBot, LadderState]:
        jobs = self.queue.active()
        playing = {name for job in jobs if job.is_running for name in job.row.players}
        bots = [bot for bot in self.presence.bots if bot.offer.ladder and bot.name not in playing]
        if not bots:
            return {}
        if self._ladder is None:
            return {bot: LadderState(LadderWait.LADDER) for bot in bots}
        running = []
        waiting = []
        requests = 0
        for job in jobs:
            contest = job.row.game, frozenset(job.row.players)
            if not job.share.is_idle:
                requests += 1
            elif job.is_running:
                running.append(contest)
            else:
                waiting.append(contest)
        return await asyncio.to_thread(self._ladder.states, bots, running=running, waiting=waiting, requests=requests)

    # ---- requests of clients

    async def submit(
        self,
        user: User,
        request: JobRequest,
        client: Client | None = None,
        note: Callable[[sqlite3.Connection, int], None] | None = None,
    ) -> tuple[Job, Forecast | None]:
        """Add a request to the queue.

        Args:
            client: to notify of its runs and its end; needed if an agent of the client's own plays.
            note: writes more in the same change, from the number of the job.

        Returns:
            the job, which is on disk, and a forecast of its start, if known.

        Raises:
            RefusedError: it cannot be played; the message has the reason.
            StoreError: it cannot be written.
        """
        game = self._check(user, request, client)
        # In a thread, as this can take seconds.
        await asyncio.to_thread(check_contest, self.settings, game, request)
        request = replace(request, game=game.name, players=request.players[: game.game.num_players])
        new = self.queue.new_job(user, request)

        def add(db: sqlite3.Connection) -> Job:
            job = add_job(db, new)
            if note is not None:
                note(db, job.id)
            return job

        row = await self.store.write(add)
        self.queue.add(ActiveJob(row, game, client))
        if not row.runs:
            if client is not None:
                client.notify(JobEnded(row, row.state, ""))
            return row, None
        try:
            return row, (await self.queue.forecasts()).get(row.id)
        except StoreError as error:
            # The job is accepted even without a forecast.
            _log.error("no forecast can be made: %s", error)
            return row, None

    def _check(self, user: User, request: JobRequest, client: Client | None) -> ServerGame:
        if not self.disk.has_space:
            raise RefusedError("the server's disk is full; try again later")
        game = check_request(self.settings, request, user=user.name, refusal=self.presence.refusal)
        if client is None and OWN_SEAT in request.players[: game.game.num_players]:
            raise RefusedError("an agent of your own needs a connection to the text port, which sends its address")
        limit = self.settings.max_queued_per_user
        if sum(job.row.user.id == user.id for job in self.queue.active()) >= limit:
            raise RefusedError(f"the limit is {count_of(limit, 'unfinished request')} per user")
        return game

    def can_join_table(self, name: str) -> bool:
        """Return whether a user's bot is connected and may join a table with people."""
        # Runs of the ladder do not count: `seat_bots` interrupts them.
        return self.presence.has_free_seat(name, self.queue.count_user_runs(name))

    def seat_bots(self, names: Collection[str]) -> None:
        """Take seats of users' bots for a table with people, until `Presence.release_seats`."""
        self.presence.occupy_seats(names)
        self.queue.free_bots(names)

    def log_paths(self, run: Run) -> list[Path]:
        """Paths of a run's logs in the order of their names."""
        return sorted((self._folder / run.folder).glob("match*.log"))
