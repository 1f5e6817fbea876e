"""Play runs of jobs, each in its own folder, by the runner of `arena play`."""

from __future__ import annotations

import asyncio
import itertools
import logging
from pathlib import Path

from bots.errors import WorkersError
from dealer.errors import DealerError
from dealer.match.causes import CannotPlay, InternalError
from dealer.run.dealers import DealerProcesses
from dealer.run.ending import Outcome
from dealer.run.folder import CONFIG_NAME, empty_folder
from dealer.run.results import AnyResult
from dealer.run.run import Run as PlayedRun
from dealer.run.run import new_run, reopen
from dealer.run.run_settings import read_config, validated
from dealer.run.tournament_run import Progress
from dealer.server.computing import Computing
from dealer.server.db import records
from dealer.server.db.records import JobKind, Run, RunState
from dealer.server.db.run_changes import RunReport
from dealer.server.db.store import Store
from dealer.server.queue.jobs import ActiveJob, Running
from dealer.server.queue.playing import SeatCaller, Watchers, make_report
from dealer.server.queue.presence import Presence
from dealer.server.queue.unrated import unrated_reason
from dealer.server.server_bots import process_environment, run_config, update_config
from dealer.server.server_settings import ServerSettings, max_deals

_log = logging.getLogger(__name__)
_PROGRESS_INTERVAL_S = 1.0


class RunPlayer:
    """Player of runs.

    Attributes:
        watchers: of the runs in progress.
    """

    def __init__(
        self,
        settings: ServerSettings,
        folder: Path,
        store: Store,
        presence: Presence,
        computing: Computing,
        dealers: DealerProcesses | None,
    ) -> None:
        self.watchers = Watchers()
        self._settings = settings
        self._folder = folder
        self._environment = process_environment(folder)
        self._store = store
        self._presence = presence
        self._computing = computing
        self._dealers = dealers

    async def play(self, job: ActiveJob, running: Running, row: Run) -> RunReport | None:
        """Play a run; return its report, or None if it was interrupted and has to be resumed."""
        try:
            for name, seat in zip(job.row.players, row.seats, strict=True):
                # The versions of a run are fixed, so a run that is resumed cannot continue with another one.
                connected = self._presence.find(job.row.game, name) if name in job.user_bots else None
                if connected is not None and connected.versions[job.row.game] != seat.version:
                    return RunReport(RunState.CANCELLED, f"{name} has reconnected in another version.")
            client = job.client if self._settings.seats_by_address else None
            run = await asyncio.to_thread(self._open, job, row, None if client is None else client.address)
            running.attach(run)
            caller = SeatCaller(
                run,
                row,
                job.row.players,
                job.game,
                self._presence,
                hands=max_deals(job.game, job.row.terms),
                match=job.row.label,
                client=lambda: job.client,
            )

            def note(progress: Progress) -> None:
                running.progress = progress
                caller.note(progress)

            result = await run.play(
                note,
                self.watchers.add_run(row.id, caller.see),
                progress_s=_PROGRESS_INTERVAL_S,
                compute=self._computing.run,
                dealers=self._dealers,
                watches_newest=True,
            )
            if result.outcome is Outcome.INTERRUPTED and not running.is_cancelled:
                return None
            (contest,) = await asyncio.to_thread(run.contests)
            if contest.ending is not None and contest.ending.is_dealer_lost and not running.is_cancelled:
                _log.error("run %d of %s: %s", row.number, job.row.label, contest.ending.sentence)
                return None
            bots = [records.bot(self._store, seat.version) for seat in row.seats]
            is_practice = job.row.kind is JobKind.REQUEST and self._settings.has_only_ladder
            is_of_event = job.versions is not None
            unrated = unrated_reason(run.planned[0], bots, is_practice=is_practice, is_of_event=is_of_event)
            cancelled = running.end if running.is_cancelled else ""
            return await self._computing.run(make_report, contest.plan, contest.scores, result, cancelled, unrated)
        except (DealerError, WorkersError) as error:
            return RunReport.failed(CannotPlay(str(error)))
        except Exception as error:
            _log.exception("run %d of %s", row.number, job.row.label)
            return RunReport.failed(InternalError.from_error(error))

    def _open(self, job: ActiveJob, row: Run, own_address: str | None) -> PlayedRun[AnyResult]:
        folder = self._folder / row.folder
        path = folder / CONFIG_NAME
        assert row.seed is not None
        if path.is_file() and validated(read_config(path), str(path)).seed != row.seed:
            # The database was restored from a backup, and the folder is of a later run with the same number.
            _move_aside(folder)
        if path.is_file():
            update_config(self._settings, job.game, job.row.players, path, self._environment, own_address)
            return reopen(folder)
        if folder.exists():
            # The server stopped while the folder was being created.
            empty_folder(folder, is_removed=True)
        config = run_config(
            self._settings,
            job.game,
            job.row.players,
            job.row.terms,
            user=job.row.user.name,
            seed=row.seed,
            own_address=own_address,
            environment=self._environment,
        )
        return new_run(config, folder)


def _move_aside(folder: Path) -> None:
    for number in itertools.count(1):
        target = folder.with_name(f"{folder.name}.{number}")
        if not target.exists():
            folder.rename(target)
            return
