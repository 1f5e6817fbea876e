"""What a server takes up when it starts: the jobs of which something is left."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from dealer.server import ledger
from dealer.server.jobs import ActiveJob
from dealer.server.ledger import JobKind, JobRow, JobState, RunReport, RunState
from dealer.server.requests import matches_at_once
from dealer.server.roster import owner_of
from dealer.server.settings import ServerSettings
from dealer.server.store import Store
from protocol.benchmark import OWN_SEAT

__all__ = ["take_up"]


def take_up(settings: ServerSettings, store: Store, own_bots: Collection[tuple[str, str]]) -> dict[int, ActiveJob]:
    """The jobs that go on, by their numbers; those that cannot any more are closed.

    Args:
        settings: of the server.
        store: the database.
        own_bots: the server's own bots, by game and name.
    """
    store.write_now(ledger.close_abandoned_runs)
    jobs = {}
    for row in ledger.open_jobs(store):
        game = settings.game(row.game)
        why = _why_not(settings, store, own_bots, row)
        if why or game is None:
            _write_off(store, row, why)
        elif row.going is None and row.started >= row.runs:
            _close(store, row)
        else:
            at_once = matches_at_once(game, row.seating, row.stop)
            jobs[row.id] = ActiveJob(row, game, going=row.going, is_resumed=row.going is not None, at_once=at_once)
    return jobs


def _why_not(settings: ServerSettings, store: Store, own_bots: Collection[tuple[str, str]], row: JobRow) -> str:
    """Why a job cannot go on, as a clause; empty if it can."""
    if settings.game(row.game) is None:
        return f"there is no {row.game} any more"
    for player in row.players:
        is_known = player == OWN_SEAT or (row.game, player) in own_bots
        if not is_known and owner_of(store, row.game, player) is None:
            return f"there is no {player} any more"
    is_lost = row.kind is JobKind.LADDER and settings.ladder is None
    return "there is no ladder any more" if is_lost else ""


def _close(store: Store, row: JobRow) -> None:
    store.write_now(lambda db: ledger.end_job(db, row.id, JobState.DONE))


def _write_off(store: Store, row: JobRow, reason: str) -> None:
    def change(db: sqlite3.Connection) -> None:
        if row.going is not None:
            ledger.end_run(db, row.going.id, RunReport(RunState.CANCELLED, reason))
        ledger.end_job(db, row.id, JobState.CANCELLED, reason)

    store.write_now(change)
