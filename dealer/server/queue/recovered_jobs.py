"""Jobs of earlier starts: resume what can be played, and close the rest."""

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
    """Jobs of earlier starts of which something is left, by their numbers; close those that cannot be played."""
    store.write_now(close_abandoned_runs)
    by_name = {game.name: game for game in games}
    jobs = {}
    versions = frozen_versions(store)
    for row in open_jobs(store):
        game = by_name.get(row.game)
        going = next((run for run in runs_of_job(store, row) if run.state is RunState.RUNNING), None)
        if game is None:
            why = f"there is no {short_name(row.game)} any more"
        else:
            why = _refusal(store, own_bots, row, versions.get(row.id))
        if not why and row.kind is JobKind.LADDER and not has_ladder:
            why = "there is no ladder any more"
        if why or game is None:
            store.write_now(partial(_cancel_unplayable, job=row.id, run=going, reason=why))
        elif going is None and row.started >= row.runs:
            store.write_now(partial(end_job, job=row.id, state=JobState.DONE))
        else:
            state = Waiting() if going is None else Resuming(going)
            jobs[row.id] = ActiveJob(row, game, versions=versions.get(row.id), state=state)
    return jobs


def _refusal(store: Store, own_bots: Mapping[tuple[str, str], int], row: Job, versions: Sequence[int] | None) -> str:
    """Reason that the players of a job cannot play it, as a clause; empty if they can."""
    for player, version in zip(row.players, versions or row.players, strict=True):
        is_known = player == OWN_SEAT or (row.game, player) in own_bots
        if not is_known and bot_owner(store, row.game, player) is None:
            return f"there is no {player} any more"
        if versions is not None and own_bots.get((row.game, player), version) != version:
            return f"{player} has changed since it entered"
    return ""


def _cancel_unplayable(db: sqlite3.Connection, job: int, run: Run | None, reason: str) -> None:
    if run is not None:
        end_run(db, run.id, RunReport(RunState.CANCELLED, reason))
    end_job(db, job, JobState.CANCELLED, reason)
