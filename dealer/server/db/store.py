"""SQLite database of a server.

One thread writes, and any thread reads. A change is one transaction, on disk when `Store.write` returns, so a crash
loses nothing that was confirmed. ``user_version`` is the version of the tables. `MIGRATIONS` has one step per version,
and each step is a transaction of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from dealer.errors import StoreError

DATABASE_NAME = "server.sqlite3"
RETRY_S: Final = 5.0
"""Delay before a failed change is tried again; a full disk may have space by then."""
_BUSY_TIMEOUT_S = 30.0
_MAX_IDLE_READERS = 8
_T = TypeVar("_T")
_TABLES = """
CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_s REAL NOT NULL,
    served INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY,
    user INTEGER NOT NULL REFERENCES users,
    hash BLOB NOT NULL UNIQUE,
    created_s REAL NOT NULL,
    revoked_s REAL,
    scopes TEXT NOT NULL DEFAULT 'read play',
    label TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE bots (
    id INTEGER PRIMARY KEY,
    game TEXT NOT NULL,
    name TEXT NOT NULL,
    owner INTEGER REFERENCES users,
    seen_s REAL,
    UNIQUE (game, name)
) STRICT;
CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    bot INTEGER NOT NULL REFERENCES bots,
    number INTEGER NOT NULL,
    description TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    created_s REAL NOT NULL,
    label TEXT NOT NULL DEFAULT '',
    UNIQUE (bot, number)
) STRICT;
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user INTEGER NOT NULL REFERENCES users,
    tag TEXT NOT NULL,
    game TEXT NOT NULL,
    players TEXT NOT NULL,
    runs INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    seed_index INTEGER,
    state TEXT NOT NULL CHECK (state IN ('queued', 'done', 'cancelled')),
    reason TEXT NOT NULL DEFAULT '',
    stamp INTEGER NOT NULL,
    submitted_s REAL NOT NULL,
    ended_s REAL,
    kind TEXT NOT NULL DEFAULT 'request' CHECK (kind IN ('request', 'ladder')),
    deals INTEGER,
    seating TEXT NOT NULL DEFAULT 'single',
    stop TEXT,
    on_fault TEXT NOT NULL DEFAULT 'end',
    deal_key BLOB -- if set, seed is 0
) STRICT;
CREATE INDEX jobs_by_state ON jobs (state);
CREATE INDEX jobs_by_user ON jobs (user, tag);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job INTEGER NOT NULL REFERENCES jobs,
    number INTEGER NOT NULL,
    game TEXT NOT NULL,
    seed INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'failed', 'cancelled')),
    folder TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    duplicates INTEGER,
    started_s REAL NOT NULL,
    ended_s REAL,
    lineup INTEGER REFERENCES lineups, -- null unless it counts in the standings
    unrated TEXT NOT NULL DEFAULT '', -- reason that it does not count
    deal_key BLOB,
    UNIQUE (job, number)
) STRICT;
CREATE INDEX runs_by_state ON runs (state, game);
CREATE TABLE seats (
    run INTEGER NOT NULL REFERENCES runs,
    seat INTEGER NOT NULL,
    version INTEGER REFERENCES versions,
    name TEXT,
    chips REAL,
    mbb_per_game REAL,
    half_width_95 REAL,
    adjusted_mbb REAL,
    adjusted_half_width_95 REAL,
    lineup INTEGER REFERENCES lineups,
    PRIMARY KEY (run, seat)
) STRICT, WITHOUT ROWID;
CREATE TABLE matches (
    run INTEGER NOT NULL REFERENCES runs,
    name TEXT NOT NULL,
    log TEXT NOT NULL,
    first_hand INTEGER NOT NULL,
    hands INTEGER NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE scores (
    run INTEGER NOT NULL REFERENCES runs,
    seat INTEGER NOT NULL,
    mbb_by_duplicate BLOB NOT NULL,
    PRIMARY KEY (run, seat)
) STRICT;
CREATE TABLE faults (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    match TEXT NOT NULL,
    seat INTEGER NOT NULL,
    kind TEXT NOT NULL,
    hand_number INTEGER NOT NULL,
    line BLOB NOT NULL,
    remedy TEXT NOT NULL
) STRICT;
CREATE INDEX faults_by_run ON faults (run);
CREATE TABLE passwords (
    user INTEGER PRIMARY KEY REFERENCES users,
    hash BLOB NOT NULL,
    salt BLOB NOT NULL,
    n INTEGER NOT NULL,
    r INTEGER NOT NULL,
    p INTEGER NOT NULL
) STRICT;
CREATE TABLE sessions (
    hash BLOB PRIMARY KEY,
    user INTEGER NOT NULL REFERENCES users,
    created_s REAL NOT NULL,
    used_s REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user, used_s);
CREATE TABLE submissions ( -- requests with an idempotency key
    user INTEGER NOT NULL REFERENCES users,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    job INTEGER NOT NULL REFERENCES jobs,
    PRIMARY KEY (user, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE lineups (
    id INTEGER PRIMARY KEY,
    game TEXT NOT NULL,
    versions TEXT NOT NULL,
    runs INTEGER NOT NULL DEFAULT 0,
    units INTEGER NOT NULL DEFAULT 0,
    hands INTEGER NOT NULL DEFAULT 0,
    UNIQUE (game, versions)
) STRICT;
CREATE TABLE lineup_scores (
    lineup INTEGER NOT NULL REFERENCES lineups,
    version INTEGER NOT NULL REFERENCES versions,
    total REAL NOT NULL DEFAULT 0,
    squares REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (lineup, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE ratings (
    game TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions,
    mbb_per_game REAL NOT NULL,
    half_width_95 REAL,
    field INTEGER NOT NULL,
    is_provisional INTEGER NOT NULL,
    PRIMARY KEY (game, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_lineup ON runs (lineup, id);
CREATE INDEX runs_by_game ON runs (game, id);
CREATE INDEX seats_by_version ON seats (version, run);
CREATE INDEX jobs_by_owner ON jobs (user, id);
CREATE INDEX bots_by_owner ON bots (owner);
CREATE INDEX lineup_scores_by_version ON lineup_scores (version);
CREATE TABLE tables ( -- with a person in a browser
    run INTEGER PRIMARY KEY REFERENCES runs,
    owner TEXT NOT NULL,
    seen_s REAL NOT NULL,
    closed_s REAL
) STRICT;
CREATE INDEX seats_by_lineup ON seats (lineup, version, mbb_per_game, run);
CREATE TABLE company ( -- scores in games of more than two, by version and each version at the same tables
    game TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions,
    other INTEGER NOT NULL REFERENCES versions,
    lineups INTEGER NOT NULL DEFAULT 0,
    units INTEGER NOT NULL DEFAULT 0,
    total REAL NOT NULL DEFAULT 0,
    squares REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (game, version, other)
) STRICT, WITHOUT ROWID;
"""
_EVENTS = """
CREATE TABLE scheduled_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    game TEXT NOT NULL,
    deals INTEGER, -- null for the game's own number
    named TEXT, -- bots that may enter, null for all
    opens_s REAL NOT NULL,
    closes_s REAL NOT NULL,
    closed_s REAL, -- when its versions were frozen and its jobs added
    note TEXT NOT NULL DEFAULT '',
    definition TEXT NOT NULL DEFAULT '', -- of the game
    standings TEXT NOT NULL DEFAULT '' -- once finished
) STRICT;
CREATE TABLE entries (
    event INTEGER NOT NULL REFERENCES scheduled_events,
    version INTEGER NOT NULL REFERENCES versions,
    PRIMARY KEY (event, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE event_jobs (
    job INTEGER PRIMARY KEY REFERENCES jobs,
    event INTEGER NOT NULL REFERENCES scheduled_events,
    versions TEXT NOT NULL -- by seat
) STRICT;
CREATE INDEX event_jobs_by_event ON event_jobs (event);
"""
_INVITATIONS = """
ALTER TABLE users ADD COLUMN disabled_s REAL; -- null while the user may log in
CREATE TABLE invitations (
    hash BLOB PRIMARY KEY,
    user INTEGER NOT NULL UNIQUE REFERENCES users,
    expires_s REAL NOT NULL
) STRICT, WITHOUT ROWID;
"""
_AUDIT = """
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    made_s REAL NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
ALTER TABLE sessions ADD COLUMN token INTEGER; -- whose scopes the session has, null after a login by password
"""
_RATING_HISTORY = """
CREATE TABLE rating_history ( -- a row each time a version has played 5 % more
    version INTEGER NOT NULL REFERENCES versions,
    units INTEGER NOT NULL,
    mbb_per_game REAL NOT NULL,
    half_width_95 REAL NOT NULL,
    PRIMARY KEY (version, units)
) STRICT, WITHOUT ROWID;
"""
_UPLOADS = """
CREATE TABLE uploads ( -- versions of bots that run on the server
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user INTEGER NOT NULL REFERENCES users,
    bot TEXT NOT NULL,
    number INTEGER NOT NULL,
    command TEXT NOT NULL,
    language TEXT NOT NULL,
    games TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'accepted', 'rejected', 'replaced', 'removed')),
    reason TEXT NOT NULL DEFAULT '',
    reports TEXT NOT NULL DEFAULT '[]',
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    folder TEXT NOT NULL,
    submitted_s REAL NOT NULL
) STRICT;
CREATE INDEX uploads_by_user ON uploads (user, bot);
CREATE INDEX uploads_by_state ON uploads (state);
"""
_CAUSES = """
ALTER TABLE runs ADD COLUMN cause TEXT; -- of a failure, as JSON; null in older rows, whose reason may quote a player
"""
_EVENT_CHANGES = """
ALTER TABLE scheduled_events ADD COLUMN withdrawn_s REAL; -- of a closed one; one that is open is removed
ALTER TABLE scheduled_events ADD COLUMN entries_per_user INTEGER NOT NULL DEFAULT 0; -- 0 for any number
ALTER TABLE scheduled_events ADD COLUMN entering TEXT NOT NULL DEFAULT '[]'; -- versions, while it is open
CREATE TABLE disqualifications (
    event INTEGER NOT NULL REFERENCES scheduled_events,
    bot TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (event, bot)
) STRICT, WITHOUT ROWID;
"""
_PEOPLE = """
ALTER TABLE users ADD COLUMN person TEXT NOT NULL DEFAULT ''; -- as a roster names the user
ALTER TABLE invitations ADD COLUMN scopes TEXT NOT NULL DEFAULT 'play read'; -- of the token that it gives
CREATE TABLE texts (
    name TEXT PRIMARY KEY,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""
_FREED_NAMES = """
CREATE TABLE new_bots (
    id INTEGER PRIMARY KEY,
    game TEXT NOT NULL,
    name TEXT NOT NULL,
    owner INTEGER REFERENCES users,
    seen_s REAL,
    freed_s REAL -- null while its name is taken; of a name, only one row is
) STRICT;
INSERT INTO new_bots (id, game, name, owner, seen_s) SELECT id, game, name, owner, seen_s FROM bots;
DROP TABLE bots;
ALTER TABLE new_bots RENAME TO bots;
CREATE UNIQUE INDEX taken_names ON bots (game, name) WHERE freed_s IS NULL;
CREATE INDEX bots_by_name ON bots (game, name);
CREATE INDEX bots_by_owner ON bots (owner);
"""
_TEAMS = """
CREATE TABLE teams (
    account INTEGER PRIMARY KEY REFERENCES users -- whose row has its name
) STRICT;
ALTER TABLE users ADD COLUMN team INTEGER REFERENCES users; -- for which the user acts, null for none
CREATE INDEX users_by_team ON users (team);
CREATE TABLE team_invitations (
    team INTEGER NOT NULL REFERENCES users,
    user INTEGER NOT NULL REFERENCES users,
    PRIMARY KEY (team, user)
) STRICT, WITHOUT ROWID;
"""
_SERIES = """
CREATE TABLE series (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL, -- JSON
    withdrawn_s REAL
) STRICT;
ALTER TABLE scheduled_events ADD COLUMN series INTEGER REFERENCES series;
"""
MIGRATIONS: Final[tuple[str, ...]] = (
    _TABLES,
    _EVENTS,
    _INVITATIONS,
    _AUDIT,
    _RATING_HISTORY,
    _UPLOADS,
    _CAUSES,
    _EVENT_CHANGES,
    _PEOPLE,
    _FREED_NAMES,
    _TEAMS,
    _SERIES,
)
"""Step n migrates version n to n + 1. Version 0 is an empty database."""


class Store:
    """The database of a server."""

    def __init__(self, path: Path) -> None:
        """Open or create the database and migrate its tables.

        Raises:
            StoreError: it cannot be opened, is not ours, or is of a newer version.
        """
        self.path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._idle_readers: list[sqlite3.Connection] = []
        self._active_reads = 0
        self._is_closed = False
        # Guards the three fields above, and is notified when a read ends.
        self._reads = threading.Condition()
        try:
            self._writer = self._thread.submit(_open, path).result()
        except BaseException:
            self._thread.shutdown()
            raise

    async def write(self, change: Callable[[sqlite3.Connection], _T]) -> _T:
        """Apply a change in one transaction; it is on disk when this returns, or rolled back if it raises.

        Raises:
            StoreError: it cannot be written.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._change, change)

    def write_now(self, change: Callable[[sqlite3.Connection], _T]) -> _T:
        """Apply a change like `write`, but block; for start-up, shutdown and commands."""
        return self._thread.submit(self._change, change).result()

    def _change(self, change: Callable[[sqlite3.Connection], _T]) -> _T:
        try:
            return _in_transaction(self._writer, change)
        except sqlite3.Error as error:
            raise StoreError(self.path, str(error)) from None

    def read(self, query: str, *values: object) -> list[sqlite3.Row]:
        """Run a query on the last committed state.

        Raises:
            StoreError: it fails, or the store is closed.
        """
        # Each query has a connection to itself, so that a long one in a thread delays no other.
        reader = self._begin_read()
        try:
            if reader is None:
                reader = _open_reader(self.path)
            return reader.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(self.path, str(error)) from None
        finally:
            self._end_read(reader)

    def _begin_read(self) -> sqlite3.Connection | None:
        """Count a query as running; return an idle connection for it, or None if there is none."""
        with self._reads:
            if self._is_closed:
                raise StoreError(self.path, "it is closed")
            self._active_reads += 1
            return self._idle_readers.pop() if self._idle_readers else None

    def _end_read(self, reader: sqlite3.Connection | None) -> None:
        with self._reads:
            if reader is not None and len(self._idle_readers) < _MAX_IDLE_READERS:
                self._idle_readers.append(reader)
            elif reader is not None:
                reader.close()
            self._active_reads -= 1
            self._reads.notify_all()

    def close(self) -> None:
        """Close the database after pending changes and running queries."""
        with self._reads:
            self._is_closed = True
            # Closing a connection in the middle of its query crashes the process.
            self._reads.wait_for(lambda: self._active_reads == 0)
            for reader in self._idle_readers:
                reader.close()
            self._idle_readers.clear()
        self._thread.submit(self._writer.close).result()
        self._thread.shutdown()


def back_up(path: Path, copy: Path) -> None:
    """Copy a database to one file, also while a server uses it.

    Raises:
        StoreError: there is no database, or `copy` exists or cannot be written.
    """
    if not path.is_file():
        raise StoreError(path, "there is no database of a server")
    if copy.exists():
        raise StoreError(copy, "the file exists already; name another one")
    new = copy.with_name(f"{copy.name}.new")
    try:
        new.unlink(missing_ok=True)
        # Hashes of tokens and seeds of running matches are private to the operator.
        new.touch(0o600)
        with contextlib.closing(_connect(path)) as source, contextlib.closing(sqlite3.connect(new)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
        new.replace(copy)
    except (sqlite3.Error, OSError) as error:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise StoreError(copy, f"cannot be written: {error}") from None


def _connect(path: Path) -> sqlite3.Connection:
    # Without an isolation level, each statement outside of `_in_transaction` commits at once.
    connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    return connection


def _open_reader(path: Path) -> sqlite3.Connection:
    reader = _connect(path)
    try:
        reader.execute("PRAGMA query_only = ON")
    except BaseException:
        reader.close()
        raise
    return reader


def _open(path: Path) -> sqlite3.Connection:
    try:
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(contextlib.closing(_connect(path)))
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version > len(MIGRATIONS):
                problem = f"it has version {version}, and this program reads versions up to {len(MIGRATIONS)}"
                raise StoreError(path, f"{problem}; use the newer program")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            for number in range(version, len(MIGRATIONS)):
                _in_transaction(connection, lambda db, number=number: _migrate(db, number))  # type: ignore[misc]
            # Only now, because a step can replace a table that others refer to.
            connection.execute("PRAGMA foreign_keys = ON")
            stack.pop_all()
    except sqlite3.Error as error:
        raise StoreError(path, str(error)) from None
    return connection


def _migrate(db: sqlite3.Connection, number: int) -> None:
    statement = ""
    for piece in MIGRATIONS[number].split(";"):
        statement += f"{piece};"
        # A trigger contains semicolons of its own.
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""
    db.execute(f"PRAGMA user_version = {number + 1}")


def _in_transaction(db: sqlite3.Connection, change: Callable[[sqlite3.Connection], _T]) -> _T:
    db.execute("BEGIN IMMEDIATE")
    try:
        result = change(db)
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            # SQLite itself rolls back when the disk is full.
            db.execute("ROLLBACK")
        raise
    return result
