"""Jobs of earlier starts: resume those that can be played, and close the rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial

from dealer.server.db.bot_registry import bot_owner
from dealer.server.db.event_records import frozen_versions
from dealer.server.db.records import Job, JobKind, JobState, Run, RunState, open_jobs, runs_of_job
from dealer.server.db.run_changes import RunReport, close_abandoned_runs, end_job, end_run
from dealer.server.db.store import Store
from dealer.server.queue.jobs import ActiveJob, Resuming, Waiting
from dealer.server.server_settings import ServerGame
from protocol.benchmark import OWN_SEAT
from protocol.game_definition import short_name


def recovered_jobs(
    store: Store, games: Sequence[ServerGame], own_bots: Mapping[tuple[str, str], int], *, has_ladder: bool
) -> dict[int, ActiveJob]:
    """Read the unfinished jobs of earlier starts, by number, and close those that cannot be played."""
    store.write_now(close_abandoned_runs)
    by_name = {game.name: game for game in games}
    jobs = {}
    versions = frozen_versions(store)
    for row in open_jobs(store):
        game = by_name.get(row.game)
        interrupted = next((run for run in runs_of_job(store, row) if run.state is RunState.RUNNING), None)
        if game is None:
            reason = f"the game {short_name(row.game)} no longer exists"
        else:
            reason = _refusal(store, own_bots, row, versions.get(row.id))
        if not reason and row.kind is JobKind.LADDER and not has_ladder:
            reason = "the ladder no longer exists"
        if reason or game is None:
            store.write_now(partial(_cancel_unplayable, job=row.id, run=interrupted, reason=reason))
        elif interrupted is None and row.started >= row.runs:
            # The server stopped after the last run was counted, and before the job was closed.
            store.write_now(partial(end_job, job=row.id, state=JobState.DONE))
        else:
            state = Waiting() if interrupted is None else Resuming(interrupted)
            jobs[row.id] = ActiveJob(row, game, versions=versions.get(row.id), state=state)
    return jobs


def _refusal(store: Store, own_bots: Mapping[tuple[str, str], int], row: Job, versions: Sequence[int] | None) -> str:
    """Reason that the players of a job cannot play it, as a clause; empty if they can."""
    for player, version in zip(row.players, versions or row.players, strict=True):
        is_known = player == OWN_SEAT or (row.game, player) in own_bots
        if not is_known and bot_owner(store, row.game, player) is None:
            return f"the bot {player} no longer exists"
        if versions is not None and own_bots.get((row.game, player), version) != version:
            return f"{player} has changed since it entered"
    return ""


def _cancel_unplayable(db: sqlite3.Connection, job: int, run: Run | None, reason: str) -> None:
    if run is not None:
        end_run(db, run.id, RunReport(RunState.CANCELLED, reason))
    end_job(db, job, JobState.CANCELLED, reason)
