"""Series of events in the database, see `dealer.server.series_settings`."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dealer.errors import RefusedError
from dealer.server.db import event_records
from dealer.server.db.audit import record_change
from dealer.server.db.event_records import EventState, ScheduledEvent, add_event, withdraw_event
from dealer.server.db.store import Store
from dealer.server.series_settings import SeriesSettings

_OVER: Final = (EventState.FINISHED, EventState.WITHDRAWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A series in the database, with its events in the order in which they were added."""

    id: int
    settings: SeriesSettings
    events: tuple[ScheduledEvent, ...]

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def groups(self) -> tuple[ScheduledEvent, ...]:
        """Events of the groups that count; empty for repeated events."""
        if self.settings.groups is None:
            return ()
        first = [event for event in self.events if event.name != self.settings.final_name]
        return tuple(event for event in first if event.state is not EventState.WITHDRAWN)

    @property
    def is_over(self) -> bool:
        """Every event is finished or withdrawn."""
        return all(event.state in _OVER for event in self.events)

    @property
    def final(self) -> ScheduledEvent | None:
        return next((event for event in self.events if event.name == self.settings.final_name), None)


# ---- changes, for `Store.write`
def add_series(db: sqlite3.Connection, who: str, settings: SeriesSettings, game: str) -> None:
    """Add a series and announce its first events.

    Args:
        who: for the audit log, see `record_change`.
        game: full name.

    Raises:
        RefusedError: a name is taken, or a closing time has passed.
    """
    if db.execute("SELECT 1 FROM series WHERE name = ?", (settings.name,)).fetchone() is not None:
        raise RefusedError(f"there is a series {settings.name} already; give this one another name")
    inserted = db.execute(
        "INSERT INTO series (name, settings) VALUES (?, ?)", (settings.name, settings.model_dump_json())
    )
    record_change(db, who, f"announced the series {settings.name}")
    for event in settings.first_events():
        add_event(db, who, event, game)
        db.execute("UPDATE scheduled_events SET series = ? WHERE name = ?", (inserted.lastrowid, event.name))


def withdraw_series(db: sqlite3.Connection, who: str, series: Series) -> None:
    """Withdraw the events of a series that are not finished; a series without any other is removed."""
    for event in series.events:
        if event.state not in _OVER:
            withdraw_event(db, who, event)
    db.execute("UPDATE series SET withdrawn_s = ? WHERE id = ?", (time.time(), series.id))
    if db.execute("SELECT 1 FROM scheduled_events WHERE series = ?", (series.id,)).fetchone() is None:
        db.execute("DELETE FROM series WHERE id = ?", (series.id,))
    record_change(db, who, f"withdrew the series {series.name}")


def store_draw(db: sqlite3.Connection, groups: Sequence[tuple[ScheduledEvent, Sequence[str]]]) -> None:
    """Store the bots of each group, which may enter its event."""
    for event, names in groups:
        db.execute(
            "UPDATE scheduled_events SET named = ? WHERE id = ? AND closed_s IS NULL", (json.dumps(names), event.id)
        )


def add_final(db: sqlite3.Connection, series: Series, names: Sequence[str]) -> None:
    """Add the final of a series, which closes at once, unless it has one."""
    now_s = time.time()
    game = series.groups[0].game
    settings = series.settings
    db.execute(
        "INSERT INTO scheduled_events (name, game, deals, named, entries_per_user, opens_s, closes_s, series) "
        "SELECT ?1, ?2, ?3, ?4, 0, ?5, ?5, ?6 WHERE NOT EXISTS (SELECT 1 FROM scheduled_events WHERE name = ?1)",
        (settings.final_name, game, settings.deals, json.dumps(names), now_s, series.id),
    )


# ---- questions
def _series(store: Store, row: sqlite3.Row) -> Series:
    names = store.read("SELECT name FROM scheduled_events WHERE series = ? ORDER BY id", row["id"])
    events = [event_records.event(store, name["name"]) for name in names]
    settings = SeriesSettings.model_validate_json(row["settings"])
    return Series(id=row["id"], settings=settings, events=tuple(event for event in events if event is not None))


def find_series(store: Store, name: str) -> Series | None:
    return next((_series(store, row) for row in store.read("SELECT * FROM series WHERE name = ?", name)), None)


def all_series(store: Store, *, skip: int = 0, limit: int = 50) -> tuple[Series, ...]:
    """A page of series, the latest first.

    Args:
        skip: number of series left out at the beginning.
    """
    rows = store.read("SELECT * FROM series ORDER BY id DESC LIMIT ? OFFSET ?", limit, skip)
    return tuple(_series(store, row) for row in rows)


def series_names(store: Store) -> tuple[str, ...]:
    """Names of all series, the latest first."""
    return tuple(row["name"] for row in store.read("SELECT name FROM series ORDER BY id DESC"))


def series_of(store: Store, event: ScheduledEvent) -> Series | None:
    """Series of an event; None without one."""
    query = "SELECT * FROM series WHERE id = (SELECT series FROM scheduled_events WHERE id = ?)"
    return next((_series(store, row) for row in store.read(query, event.id)), None)


def series_without_final(store: Store) -> tuple[Series, ...]:
    """Series with groups whose final is not announced."""
    rows = store.read(
        "SELECT * FROM series WHERE withdrawn_s IS NULL AND settings ->> 'groups' IS NOT NULL AND NOT EXISTS "
        "(SELECT 1 FROM scheduled_events WHERE scheduled_events.name = series.name || '-final')"
    )
    return tuple(_series(store, row) for row in rows)
