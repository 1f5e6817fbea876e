"""Events: round robins of a server, each with its entrants, its deals and its times, whose results count by themselves.

An event is open for entrants between two moments. When it closes, one change freezes the versions of its entrants and
enters a job for every table of them (`close_event`); from then on it is played like all other jobs, whatever ends the
server. A contest of an event is a run of one of its jobs.
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
"""The user whose the jobs of events are: names in parentheses are the server's, and the text port needs one word."""


class EventState(enum.StrEnum):
    """How an event stands."""

    ANNOUNCED = "announced"
    """Bots cannot enter yet."""
    OPEN = "open"
    CLOSED = "closed"
    """No contest has begun."""
    RUNNING = "running"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledEvent:
    """An event.

    Attributes:
        deals: of each contest, each in every seating; None for those of the game.
        named: bots that may enter; None for all.
        entrants: bots whose versions are frozen; empty before it closes.
        contests: number of contests; 0 before it closes.
        note: which of the named bots were left out; empty for none.
        definition: of the game when the event closed; empty before.
        standings: JSON, once they are final.
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
    """Enter an event.

    Args:
        who: has announced it, see `record_change`.
        game: its full name.

    Raises:
        RefusedError: there is an event of this name, or its time has passed.
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
    """Freeze the entrants of an event and enter its contests; returns them with their numbers.

    An event that is closed already stays as it is.

    Args:
        event: with what was decided about it.
        contests: new jobs, each with the versions of its players, by seat.
    """
    closed = db.execute(
        "UPDATE scheduled_events SET closed_s = ?, deals = ?, note = ?, definition = ? "
        "WHERE id = ? AND closed_s IS NULL",
        (time.time(), event.deals, event.note, event.definition, event.id),
    )
    if closed.rowcount != 1:
        return []
    db.executemany("INSERT INTO entries VALUES (?, ?)", [(event.id, bot.version) for bot in entrants])
    entered = []
    for job, versions in contests:
        entered.append(add_job(db, job))
        db.execute("INSERT INTO event_jobs VALUES (?, ?, ?)", (entered[-1].id, event.id, json.dumps(list(versions))))
    return entered


def store_standings(db: sqlite3.Connection, event: int, standings: str) -> None:
    """Keep the standings of an event that is finished."""
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
    "WHERE event = scheduled_events.id) AS has_begun FROM scheduled_events "
)


def _event(row: sqlite3.Row) -> ScheduledEvent:
    now_s = time.time()
    if row["closed_s"] is None:
        state = EventState.CLOSED if now_s >= row["closes_s"] else EventState.OPEN
        state = EventState.ANNOUNCED if now_s < row["opens_s"] else state
    elif row["contests"] == row["contests_ended"]:
        state = EventState.FINISHED
    else:
        state = EventState.RUNNING if row["has_begun"] else EventState.CLOSED
    named = None if row["named"] is None else tuple(json.loads(row["named"]))
    return read_row(ScheduledEvent, row, state=state, named=named, entrants=tuple(sorted(json.loads(row["entrants"]))))


def event(store: Store, name: str) -> ScheduledEvent | None:
    """An event by its name."""
    return next(map(_event, store.read(_EVENTS + "WHERE name = ?", name)), None)


def events(store: Store, *, before: int | None = None, limit: int = 50) -> tuple[ScheduledEvent, ...]:
    """Events, the latest first."""
    query = _EVENTS + "WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT ?2"
    return tuple(map(_event, store.read(query, before, limit)))


def due_events(store: Store) -> tuple[ScheduledEvent, ...]:
    """Events whose closing time has come and that have not been closed, the earliest first."""
    query = _EVENTS + "WHERE closed_s IS NULL AND closes_s <= ? ORDER BY closes_s, id"
    return tuple(map(_event, store.read(query, time.time())))


def unranked_events(store: Store) -> tuple[ScheduledEvent, ...]:
    """Events that have closed and have no final standings."""
    return tuple(map(_event, store.read(_EVENTS + "WHERE definition != '' AND standings = ''")))


def frozen_versions(store: Store) -> dict[int, tuple[int, ...]]:
    """The versions that play in the open jobs of events, by seat, by the number of the job."""
    query = "SELECT job, versions FROM event_jobs JOIN jobs ON jobs.id = job WHERE state = 'queued'"
    return {row["job"]: tuple(json.loads(row["versions"])) for row in store.read(query)}


def event_contests(store: Store, event: ScheduledEvent) -> tuple[tuple[Job, Run | None], ...]:
    """The contests of an event in their order, each with its run if that has begun."""
    runs = {run.job: run for run in records.runs(store, event=event.id, limit=event.contests)}
    return tuple((job, runs.get(job.id)) for job in records.jobs(store, event=event.id, limit=event.contests)[::-1])
