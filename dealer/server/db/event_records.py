"""Events: scheduled round robins whose results count by themselves.

Bots enter between two times. `close_event` freezes the versions of the entrants and adds a job for every table, in one
change. From then on the jobs are played like all others.
"""

from __future__ import annotations

import enum
import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

from dealer.errors import RefusedError
from dealer.server.db import records
from dealer.server.db.audit import record_change
from dealer.server.db.records import Bot, Job, Run, read_row, utc_datetime
from dealer.server.db.run_changes import add_job
from dealer.server.db.store import Store
from dealer.server.event_settings import EventSettings

EVENT_USER = "(event)"
"""Owner of the jobs of events. Users cannot have a name in parentheses, and the text port needs one word."""


class EventState(enum.StrEnum):
    ANNOUNCED = "announced"
    """Bots cannot enter yet."""
    OPEN = "open"
    CLOSED = "closed"
    """Closed for entrants; no contest has started."""
    RUNNING = "running"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledEvent:
    """An event in the database.

    Attributes:
        deals: of each contest, each in every seating; None for the game's default.
        named: bots that may enter; None for all.
        entrants: bots whose versions are frozen; empty before it closes.
        contests: number of contests; 0 before it closes.
        note: problems found at closing, such as missing bots; empty for none.
        definition: of the game when the event closed; empty before.
        standings: JSON; empty before they are final.
    """

    name: str
    game: str
    state: EventState
    deals: int | None
    named: tuple[str, ...] | None
    entrants: tuple[str, ...]
    contests: int
    contests_ended: int
    note: str
    opens_s: float
    closes_s: float
    id: int
    definition: str
    standings: str
    opens_at = utc_datetime("opens_s")
    closes_at = utc_datetime("closes_s")


# ---- changes, for `Store.write`
def add_event(db: sqlite3.Connection, who: str, settings: EventSettings, game: str) -> None:
    """Add an event.

    Args:
        who: for the audit log, see `record_change`.
        game: full name.

    Raises:
        RefusedError: the name is taken, or the closing time has passed.
    """
    if db.execute("SELECT 1 FROM scheduled_events WHERE name = ?", (settings.name,)).fetchone() is not None:
        raise RefusedError(f"there is an event {settings.name} already; give this one another name")
    now_s, closes_s = time.time(), settings.closes.timestamp()
    opens_s = now_s if settings.opens is None else settings.opens.timestamp()
    if closes_s <= now_s:
        raise RefusedError("the closing time of the event has passed")
    named = None if settings.entrants is None else json.dumps(settings.entrants)
    db.execute(
        "INSERT INTO scheduled_events (name, game, deals, named, opens_s, closes_s) VALUES (?, ?, ?, ?, ?, ?)",
        (settings.name, game, settings.deals, named, opens_s, closes_s),
    )
    record_change(db, who, f"announced the event {settings.name}")


def close_event(
    db: sqlite3.Connection,
    event: ScheduledEvent,
    entrants: Sequence[Bot],
    contests: Sequence[tuple[Job, Sequence[int]]],
) -> list[Job]:
    """Freeze the entrants of an event and add its contests; return their jobs, or none if it is closed already.

    Args:
        event: with the values decided at closing.
        contests: new jobs, each with the versions of its players by seat.
    """
    closed = db.execute(
        "UPDATE scheduled_events SET closed_s = ?, deals = ?, note = ?, definition = ? "
        "WHERE id = ? AND closed_s IS NULL",
        (time.time(), event.deals, event.note, event.definition, event.id),
    )
    if closed.rowcount != 1:
        return []
    db.executemany("INSERT INTO entries VALUES (?, ?)", [(event.id, bot.version) for bot in entrants])
    jobs = []
    for new_job, versions in contests:
        job = add_job(db, new_job)
        db.execute("INSERT INTO event_jobs VALUES (?, ?, ?)", (job.id, event.id, json.dumps(list(versions))))
        jobs.append(job)
    return jobs


def store_standings(db: sqlite3.Connection, event: int, standings: str) -> None:
    db.execute("UPDATE scheduled_events SET standings = ? WHERE id = ?", (standings, event))


# ---- questions
_EVENTS = (
    "SELECT scheduled_events.*, "
    "(SELECT json_group_array(bots.name) FROM entries JOIN versions ON versions.id = version "
    "JOIN bots ON bots.id = bot WHERE event = scheduled_events.id) AS entrants, "
    "(SELECT count(*) FROM event_jobs WHERE event = scheduled_events.id) AS contests, "
    "(SELECT count(*) FROM event_jobs JOIN jobs ON jobs.id = job "
    "WHERE event = scheduled_events.id AND state != 'queued') AS contests_ended, "
    "EXISTS (SELECT 1 FROM event_jobs JOIN runs ON runs.job = event_jobs.job "
    "WHERE event = scheduled_events.id) AS has_started FROM scheduled_events "
)


def _event(row: sqlite3.Row) -> ScheduledEvent:
    named = None if row["named"] is None else tuple(json.loads(row["named"]))
    entrants = tuple(sorted(json.loads(row["entrants"])))
    return read_row(ScheduledEvent, row, state=_state(row), named=named, entrants=entrants)


def _state(row: sqlite3.Row) -> EventState:
    if row["closed_s"] is None:
        now_s = time.time()
        if now_s < row["opens_s"]:
            return EventState.ANNOUNCED
        return EventState.OPEN if now_s < row["closes_s"] else EventState.CLOSED
    if row["contests"] == row["contests_ended"]:
        return EventState.FINISHED
    return EventState.RUNNING if row["has_started"] else EventState.CLOSED


def event(store: Store, name: str) -> ScheduledEvent | None:
    return next(map(_event, store.read(_EVENTS + "WHERE name = ?", name)), None)


def events(store: Store, *, before: int | None = None, limit: int = 50) -> tuple[ScheduledEvent, ...]:
    """A page of events, the latest first."""
    query = _EVENTS + "WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT ?2"
    return tuple(map(_event, store.read(query, before, limit)))


def due_events(store: Store) -> tuple[ScheduledEvent, ...]:
    """Events to be closed now, the earliest first."""
    query = _EVENTS + "WHERE closed_s IS NULL AND closes_s <= ? ORDER BY closes_s, id"
    return tuple(map(_event, store.read(query, time.time())))


def unranked_events(store: Store) -> tuple[ScheduledEvent, ...]:
    """Closed events without final standings."""
    return tuple(map(_event, store.read(_EVENTS + "WHERE definition != '' AND standings = ''")))


def frozen_versions(store: Store) -> dict[int, tuple[int, ...]]:
    """Versions by seat that play in the open jobs of events, by the number of the job."""
    query = "SELECT job, versions FROM event_jobs JOIN jobs ON jobs.id = job WHERE state = 'queued'"
    return {row["job"]: tuple(json.loads(row["versions"])) for row in store.read(query)}


def event_contests(store: Store, event: ScheduledEvent) -> tuple[tuple[Job, Run | None], ...]:
    """Jobs of an event in order, each with its run once that has started."""
    runs = {run.job: run for run in records.runs(store, event=event.id, limit=event.contests)}
    return tuple((job, runs.get(job.id)) for job in records.jobs(store, event=event.id, limit=event.contests)[::-1])
