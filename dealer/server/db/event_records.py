"""Events: scheduled round robins whose results count by themselves.

Bots enter between two times. `close_event` freezes the versions of the entrants and adds a job for every table, in one
change. From then on the jobs are played like all others.
"""

from __future__ import annotations

import enum
import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dealer.errors import RefusedError
from dealer.server.db import records
from dealer.server.db.audit import record_change
from dealer.server.db.records import Bot, Job, Run, read_row, utc_datetime
from dealer.server.db.run_changes import add_job
from dealer.server.db.store import Store
from dealer.server.event_settings import EventSettings
from engine.text import closest_word, listed, shown
from protocol.game_definition import short_name

EVENT_USER = "(event)"
"""Owner of the jobs of events. Users cannot have a name in parentheses, and the text port needs one word."""

MAX_CONTESTS = 20_000


class EventState(enum.StrEnum):
    ANNOUNCED = "announced"
    """Bots cannot enter yet."""
    OPEN = "open"
    CLOSED = "closed"
    """Closed for entrants; no contest has started."""
    RUNNING = "running"
    FINISHED = "finished"
    WITHDRAWN = "withdrawn"
    """Withdrawn after it closed. Contests that had not ended were cancelled."""


@dataclass(frozen=True, slots=True, order=True)
class Disqualification:
    """Exclusion of a bot from an event, by an organiser."""

    bot: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledEvent:
    """An event in the database.

    Attributes:
        deals: of each contest, each in every seating; None for the game's default.
        named: bots that may enter; None for all.
        entries_per_user: bots of one user that enter, unless they are named; 0 for any number.
        entrants: bots whose versions are frozen, without disqualified ones; while it is open, those that enter if it
            closes now.
        disqualified: bots whose contests do not count.
        contests: number of contests that count; 0 before it closes.
        note: problems found at closing, such as missing bots; empty for none.
        definition: of the game when the event closed; empty before.
        standings: JSON; empty before they are final.
    """

    name: str
    game: str
    state: EventState
    deals: int | None
    named: tuple[str, ...] | None
    entries_per_user: int
    entrants: tuple[str, ...]
    disqualified: tuple[Disqualification, ...]
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
        RefusedError: the name is taken, an entrant is unknown, or the closing time has passed.
    """
    _check_name(db, settings.name)
    _check_entrants(db, settings, game)
    values = _new_values(settings, game, time.time())
    db.execute(
        "INSERT INTO scheduled_events (name, game, deals, named, entries_per_user, opens_s, closes_s) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        values,
    )
    record_change(db, who, f"announced the event {settings.name}")


def edit_event(db: sqlite3.Connection, who: str, event: ScheduledEvent, settings: EventSettings, game: str) -> None:
    """Replace the settings of an event that has not closed. Without `opens`, it opens when it did before.

    Raises:
        RefusedError: it has closed, or `add_event` would refuse the new settings.
    """
    if settings.name != event.name:
        _check_name(db, settings.name)
    _check_entrants(db, settings, game)
    edited = db.execute(
        "UPDATE scheduled_events SET name = ?, game = ?, deals = ?, named = ?, entries_per_user = ?, opens_s = ?, "
        "closes_s = ? WHERE id = ? AND closed_s IS NULL",
        (*_new_values(settings, game, event.opens_s), event.id),
    )
    if edited.rowcount != 1:
        raise RefusedError(f"the event {event.name} has closed, so its settings cannot change any more")
    record_change(db, who, f"edited the event {event.name}")


def withdraw_event(db: sqlite3.Connection, who: str, event: ScheduledEvent) -> None:
    """Withdraw an event. One that is not closed is removed, so that another can have its name.

    Raises:
        RefusedError: it is finished or was withdrawn before.
    """
    if event.state in (EventState.FINISHED, EventState.WITHDRAWN):
        raise RefusedError(f"the event {event.name} is {event.state}; only one that is not finished can be withdrawn")
    closed = db.execute(
        "UPDATE scheduled_events SET withdrawn_s = ? WHERE id = ? AND closed_s IS NOT NULL", (time.time(), event.id)
    )
    if closed.rowcount != 1:
        db.execute("DELETE FROM disqualifications WHERE event = ?", (event.id,))
        db.execute("DELETE FROM scheduled_events WHERE id = ?", (event.id,))
    record_change(db, who, f"withdrew the event {event.name}")


def disqualify(db: sqlite3.Connection, who: str, event: ScheduledEvent, bot: str, reason: str) -> None:
    """Exclude a bot from an event: it does not enter, or its contests do not count and the standings are made anew.

    Raises:
        RefusedError: the event was withdrawn, or the bot is not one that entered or can enter.
    """
    if event.state is EventState.WITHDRAWN:
        raise RefusedError(f"the event {event.name} is withdrawn")
    if bot in [known.bot for known in event.disqualified]:
        raise RefusedError(f"the bot {shown(bot)} is disqualified already")
    is_upcoming = event.state in (EventState.ANNOUNCED, EventState.OPEN)
    known_bots = _bot_names(db, event.game) if is_upcoming else event.entrants
    if bot not in known_bots:
        raise RefusedError(f"the event {event.name} has no bot {shown(bot)}{_suggestion(bot, known_bots)}")
    db.execute("INSERT INTO disqualifications VALUES (?, ?, ?)", (event.id, bot, reason))
    db.execute("UPDATE scheduled_events SET standings = '' WHERE id = ?", (event.id,))
    record_change(db, who, f"disqualified {shown(bot)} in the event {event.name}: {reason}")


def _check_name(db: sqlite3.Connection, name: str) -> None:
    if db.execute("SELECT 1 FROM scheduled_events WHERE name = ?", (name,)).fetchone() is not None:
        raise RefusedError(f"there is an event {name} already; give this one another name")


def _check_entrants(db: sqlite3.Connection, settings: EventSettings, game: str) -> None:
    known = _bot_names(db, game)
    unknown = [name for name in settings.entrants or () if name not in known]
    if unknown:
        names = listed([f"{shown(name)}{_suggestion(name, known)}" for name in unknown])
        raise RefusedError(f"the game {short_name(game)} has no bot {names}; bots are known once they have connected")


def _bot_names(db: sqlite3.Connection, game: str) -> list[str]:
    return [row["name"] for row in db.execute("SELECT name FROM bots WHERE game = ? AND freed_s IS NULL", (game,))]


def _new_values(
    settings: EventSettings, game: str, opens_s: float
) -> tuple[str, str, int | None, str | None, int, float, float]:
    closes_s = settings.closes.timestamp()
    if settings.opens is not None:
        opens_s = settings.opens.timestamp()
    if closes_s <= time.time():
        raise RefusedError("the closing time of the event has passed")
    named = None if settings.entrants is None else json.dumps(settings.entrants)
    return settings.name, game, settings.deals, named, settings.entries_per_user, opens_s, closes_s


def _suggestion(bot: str, known: Sequence[str]) -> str:
    similar = closest_word(bot, known)
    if similar is None:
        return ""
    return f" (did you mean {shown(similar)}?)"


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
        "UPDATE scheduled_events SET closed_s = ?, deals = ?, note = ?, definition = ?, entering = '[]' "
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


def store_entering(db: sqlite3.Connection, event: ScheduledEvent, entering: Sequence[Bot]) -> None:
    """Store the bots that enter an open event if it closes now."""
    versions = json.dumps([bot.version for bot in entering])
    db.execute("UPDATE scheduled_events SET entering = ? WHERE id = ? AND closed_s IS NULL", (versions, event.id))


def store_standings(db: sqlite3.Connection, event: ScheduledEvent, standings: str) -> None:
    """Store final standings, unless another bot has been disqualified since the event was read."""
    db.execute(
        "UPDATE scheduled_events SET standings = ?1 WHERE id = ?2 "
        "AND (SELECT count(*) FROM disqualifications WHERE event = ?2) = ?3",
        (standings, event.id, len(event.disqualified)),
    )


# ---- questions
_COUNTED = (
    "FROM event_jobs JOIN jobs ON jobs.id = job WHERE event_jobs.event = scheduled_events.id AND NOT EXISTS "
    "(SELECT 1 FROM disqualifications JOIN json_each(jobs.players) ON value = bot WHERE event = scheduled_events.id)"
)
_ENTERED = (
    "versions.id IN (SELECT version FROM entries WHERE event = scheduled_events.id "
    "UNION SELECT value FROM json_each(scheduled_events.entering))"
)
_EVENTS = (
    "SELECT scheduled_events.*, "
    f"(SELECT json_group_array(bots.name) FROM versions JOIN bots ON bots.id = bot WHERE {_ENTERED}) AS entered, "
    "(SELECT json_group_array(json_array(bot, reason)) FROM disqualifications WHERE event = scheduled_events.id) "
    "AS disqualified_bots, "
    f"(SELECT count(*) {_COUNTED}) AS contests, "
    f"(SELECT count(*) {_COUNTED} AND state != 'queued') AS contests_ended, "
    "EXISTS (SELECT 1 FROM event_jobs JOIN runs ON runs.job = event_jobs.job "
    "WHERE event = scheduled_events.id) AS has_started FROM scheduled_events "
)


def _event(row: sqlite3.Row) -> ScheduledEvent:
    named = None if row["named"] is None else tuple(json.loads(row["named"]))
    disqualified = tuple(sorted(Disqualification(*values) for values in json.loads(row["disqualified_bots"])))
    excluded = {known.bot for known in disqualified}
    entrants = tuple(sorted(name for name in json.loads(row["entered"]) if name not in excluded))
    return read_row(ScheduledEvent, row, state=_state(row), named=named, entrants=entrants, disqualified=disqualified)


def _state(row: sqlite3.Row) -> EventState:
    if row["closed_s"] is None:
        now_s = time.time()
        if now_s < row["opens_s"]:
            return EventState.ANNOUNCED
        return EventState.OPEN if now_s < row["closes_s"] else EventState.CLOSED
    if row["withdrawn_s"] is not None:
        return EventState.WITHDRAWN
    if row["contests"] == row["contests_ended"]:
        return EventState.FINISHED
    return EventState.RUNNING if row["has_started"] else EventState.CLOSED


def event(store: Store, name: str) -> ScheduledEvent | None:
    return next(map(_event, store.read(_EVENTS + "WHERE name = ?", name)), None)


def events(store: Store, *, before: int | None = None, limit: int = 50) -> tuple[ScheduledEvent, ...]:
    """A page of events, the latest first."""
    query = _EVENTS + "WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT ?2"
    return tuple(map(_event, store.read(query, before, limit)))


def events_by_time(store: Store, *, skip: int = 0, limit: int = 50) -> tuple[ScheduledEvent, ...]:
    """Events that are not finished, the next to close first, then all others, the latest first.

    Args:
        skip: number of events left out at the beginning.
    """
    is_over = "(closed_s IS NOT NULL AND (withdrawn_s IS NOT NULL OR contests = contests_ended))"
    query = _EVENTS + f"ORDER BY {is_over}, iif({is_over}, -closes_s, closes_s), id LIMIT ?2 OFFSET ?1"
    return tuple(map(_event, store.read(query, skip, limit)))


def count_events(store: Store) -> int:
    return int(store.read("SELECT count(*) AS events FROM scheduled_events")[0]["events"])


def open_events(store: Store) -> tuple[ScheduledEvent, ...]:
    """Events that bots can enter now."""
    query = _EVENTS + "WHERE closed_s IS NULL AND opens_s <= ?1 AND closes_s > ?1"
    return tuple(map(_event, store.read(query, time.time())))


def due_events(store: Store) -> tuple[ScheduledEvent, ...]:
    """Events to be closed now, the earliest first."""
    query = _EVENTS + "WHERE closed_s IS NULL AND closes_s <= ? ORDER BY closes_s, id"
    return tuple(map(_event, store.read(query, time.time())))


def unranked_events(store: Store) -> tuple[ScheduledEvent, ...]:
    """Closed events without final standings."""
    query = _EVENTS + "WHERE definition != '' AND standings = '' AND withdrawn_s IS NULL"
    return tuple(map(_event, store.read(query)))


def dropped_contests(store: Store) -> Mapping[int, str]:
    """Reasons to stop open contests, by the number of the job: a withdrawn event, or a disqualified bot."""
    query = (
        "SELECT job, iif(withdrawn_s IS NULL, bot || ' was disqualified', 'the event was withdrawn') AS reason "
        "FROM event_jobs JOIN jobs ON jobs.id = job JOIN scheduled_events ON scheduled_events.id = event_jobs.event "
        "LEFT JOIN disqualifications ON disqualifications.event = event_jobs.event "
        "AND bot IN (SELECT value FROM json_each(jobs.players)) "
        "WHERE state = 'queued' AND (withdrawn_s IS NOT NULL OR bot IS NOT NULL)"
    )
    return {row["job"]: row["reason"] for row in store.read(query)}


def frozen_versions(store: Store) -> dict[int, tuple[int, ...]]:
    """Versions by seat that play in the open jobs of events, by the number of the job."""
    query = "SELECT job, versions FROM event_jobs JOIN jobs ON jobs.id = job WHERE state = 'queued'"
    return {row["job"]: tuple(json.loads(row["versions"])) for row in store.read(query)}


def event_contests(store: Store, event: ScheduledEvent) -> tuple[tuple[Job, Run | None], ...]:
    """Jobs of an event that count, in order, each with its run once that has started."""
    runs = {run.job: run for run in records.runs(store, event=event.id, limit=MAX_CONTESTS)}
    excluded = {known.bot for known in event.disqualified}
    jobs = records.jobs(store, event=event.id, limit=MAX_CONTESTS)[::-1]
    return tuple((job, runs.get(job.id)) for job in jobs if excluded.isdisjoint(job.players))
