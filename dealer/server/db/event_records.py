"""Events: round robins of a server, each with its entrants, its deals and its times, whose results count by themselves.

An event is open for entrants between two moments. When it closes, one change freezes the versions of its entrants and
enters a job for every table of them (`close_event`); from then on it is played like all other jobs, whatever ends the
server. A contest of an event is a run of one of its jobs.
"""

from __future__ import annotations

import enum
import json
import re
import sqlite3
import time
from collections.abc import Sequence
from typing import Annotated, Final, Self, TypeAlias

from pydantic import AfterValidator, AwareDatetime, Field, model_validator

from dealer.errors import RefusedError
from dealer.server.db import records
from dealer.server.db.audit import note_change
from dealer.server.db.records import Bot, Job, Model, Run, model_of, moment_of
from dealer.server.db.run_changes import add_job
from dealer.server.db.store import Store
from engine.errors import quoted

EVENT_USER = "(event)"
"""The user whose the jobs of events are: names in parentheses are the server's, and the text port needs one word."""

_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$"


def _is_name(text: str) -> str:
    if re.fullmatch(_NAME, text) is None:
        raise ValueError(
            "must be 1 to 40 of the letters A-Z and a-z, digits, '.', '_' and '-', the first a letter or a digit, "
            f"not {quoted(text)}"
        )
    return text


_Name: TypeAlias = Annotated[str, AfterValidator(_is_name), Field(json_schema_extra={"pattern": _NAME})]


class EventSettings(Model):
    """A new event, as an organiser describes it."""

    name: _Name = Field(description="at most 40 letters A-Z and a-z, digits, `.`, `_` and `-`")
    game: str = Field(min_length=1, max_length=200, description="a game of the server")
    deals: int | None = Field(
        None, ge=1, lt=2**32, description="of each contest, each in every seating; left out, as set for the game"
    )
    entrants: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] | None = Field(
        None,
        max_length=1000,
        description="names of bots; left out, the server's own and all that were connected while the event was open",
    )
    opens: AwareDatetime | None = Field(None, description="when bots can enter, with an offset; left out, now")
    closes: AwareDatetime = Field(description="when the versions are frozen and play begins, with an offset")

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if self.opens is not None and self.opens >= self.closes:
            raise ValueError("an event opens before it closes")
        if self.entrants is not None and len(set(self.entrants)) < len(self.entrants):
            raise ValueError("a bot enters once")
        return self


class EventState(enum.StrEnum):
    """How an event stands."""

    ANNOUNCED = "announced"
    """Bots cannot enter yet."""
    OPEN = "open"
    CLOSED = "closed"
    """No contest has begun."""
    RUNNING = "running"
    FINISHED = "finished"


class ScheduledEvent(Model):
    """An event."""

    name: str
    game: str
    state: EventState
    deals: int | None = Field(description="of each contest, each in every seating; null for those of the game")
    named: tuple[str, ...] | None = Field(description="the bots that may enter; null for all")
    entrants: tuple[str, ...] = Field(description="the bots whose versions are frozen; empty before it closes")
    contests: int = Field(description="that are played, or were; 0 before it closes")
    contests_ended: int
    note: str = Field(description="which of the named bots were left out; empty for none")
    opens_s: float
    closes_s: float
    opens_at = moment_of("opens_s")
    closes_at = moment_of("closes_s")
    id: int = Field(exclude=True)
    # The game as it was when the event closed; empty before.
    definition: str = Field(exclude=True)
    # JSON, once they are final.
    standings: str = Field(exclude=True)


# ---- changes, for `Store.write`
def add_event(db: sqlite3.Connection, who: str, settings: EventSettings, game: str) -> None:
    """Enter an event.

    Args:
        who: has announced it, see `note_change`.
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
    note_change(db, who, f"announced the event {settings.name}")


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


def keep_standings(db: sqlite3.Connection, event: int, standings: str) -> None:
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
    return model_of(ScheduledEvent, row, state=state, named=named, entrants=tuple(sorted(json.loads(row["entrants"]))))


def event(store: Store, name: str) -> ScheduledEvent | None:
    """An event by its name."""
    return next(map(_event, store.read(_EVENTS + "WHERE name = ?", name)), None)


def events(store: Store, *, before: int | None = None, most: int = 50) -> tuple[ScheduledEvent, ...]:
    """Events, the latest first."""
    query = _EVENTS + "WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT ?2"
    return tuple(map(_event, store.read(query, before, most)))


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


def contests_of(store: Store, event: ScheduledEvent) -> tuple[tuple[Job, Run | None], ...]:
    """The contests of an event in their order, each with its run if that has begun."""
    runs = {run.job: run for run in records.runs(store, event=event.id, most=event.contests)}
    return tuple((job, runs.get(job.id)) for job in records.jobs(store, event=event.id, most=event.contests)[::-1])
