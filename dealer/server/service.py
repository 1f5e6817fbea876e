"""The server without its ports: takes jobs, plays their runs by `dealer.library`, keeps results, notifies the clients.

Everything a client learns has been written before. A run is entered, played in its own folder by the runner of
`arena play`, and counted in one change; what was being played when the server ended is resumed when it starts again,
from the last whole hand, or from the first if there is none. Bots that a killed server has left behind are ended first.

Bots of users play where they are; a job waits as long as one of its bots is away or busy.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
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
from dealer.server.queue.presence import Presence
from dealer.server.queue.recovered_jobs import recovered_jobs
from dealer.server.queue.run_player import RunPlayer
from dealer.server.resources import Disk, remove_old_logs
from dealer.server.server_settings import ServerGame, ServerSettings
from dealer.table.loop import Changes
from engine.text import count_of
from protocol.benchmark import OWN_SEAT

_log = logging.getLogger(__name__)


def refusal_text(error: RefusedError | StoreError) -> str:
    """The sentence for a client whose request is refused; what went wrong in the store is for the log."""
    if isinstance(error, StoreError):
        _log.error("a request of a client: %s", error)
        return "the server cannot write it down now; try again later"
    return str(error)


class Service:
    """The server without its ports.

    Attributes:
        computing: processes for what takes long.
        disk: on which everything is.
        store: its database; `dealer.server.db.records` asks it what pages show.
        presence: users' bots that are connected.
        player: plays the runs.
        queue: jobs of which something is left.
        has_started: whether processes can be started; before, they would be ended as those of an earlier start.
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
        """Prepare to serve.

        Args:
            dealers: processes that play the matches without users' bots; None to play them in this process.
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
            reconnect_timeout_s=settings.own_seat_patience_s,
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
            reconnect_timeout_s=settings.own_seat_patience_s,
        )

    async def run(self) -> None:
        """Start runs whenever some can start, until cancelled; then interrupt what is being played, to be resumed."""
        left = await asyncio.to_thread(end_server_programs, str(self._folder.absolute()))
        if left:
            _log.info("%d processes of an earlier start were ended", left)
        self.has_started.set()
        patience = asyncio.get_running_loop().call_later(self.settings.own_seat_patience_s, self.queue.stop_unattended)
        works = {
            "the ratings": self._rater.run(),
            "win rates without luck": self._adjusting.run(),
            "the ladder": self._run_ladder(),
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
            patience.cancel()
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
            going=self.queue.idle_contests,
            submit=partial(self.submit, ladder_user),
        )

    # ---- what clients ask for

    async def submit(
        self,
        user: User,
        request: JobRequest,
        client: Client | None = None,
        note: Callable[[sqlite3.Connection, int], None] | None = None,
    ) -> tuple[Job, Forecast | None]:
        """Enter a request; return its job, which is on disk, and when it will start if that is known.

        Args:
            client: notified of its runs and its end; needed where an agent of the client's own plays.
            note: writes more in the same change, given the number of the job.

        Raises:
            RefusedError: it cannot be played; the message has the reason.
            StoreError: it cannot be written.
        """
        game = self._checked(user, request, client)
        await asyncio.to_thread(check_contest, self.settings, game, request)
        request = replace(request, game=game.name, players=request.players[: game.game.num_players])
        new = self.queue.new_job(user, request)

        def enter(db: sqlite3.Connection) -> Job:
            job = add_job(db, new)
            if note is not None:
                note(db, job.id)
            return job

        row = await self.store.write(enter)
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

    def _checked(self, user: User, request: JobRequest, client: Client | None) -> ServerGame:
        if not self.disk.has_space:
            raise RefusedError("the server's disk is full; try again later")
        game = check_request(self.settings, request, user=user.name, refusal=self.presence.refusal)
        if client is None and OWN_SEAT in request.players[: game.game.num_players]:
            raise RefusedError("an agent of your own needs a connection that receives its address")
        limit = self.settings.max_queued_per_user
        if sum(job.row.user.id == user.id for job in self.queue.active()) >= limit:
            raise RefusedError(f"the limit is {count_of(limit, 'waiting request')} of a user")
        return game

    def can_join_table(self, name: str) -> bool:
        """Whether a user's bot is connected and may sit down at a table with people; the ladder makes room."""
        return self.presence.has_free_seat(name, self.queue.users_runs(name))

    def sit_down(self, names: Collection[str]) -> None:
        """Seat users' bots at a table with people, until `Presence.release_seats`."""
        self.presence.occupy_seats(names)
        self.queue.free_bots(names)

    def log_paths(self, run: Run) -> list[Path]:
        """The logs of a run, in the order of their names."""
        return sorted((self._folder / run.folder).glob("match*.log"))
