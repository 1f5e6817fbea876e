"""Audit log: an append-only table of changes to users, logins, events and results.

A reset of the results does not clear it.
"""

from __future__ import annotations

import contextlib
import getpass
import sqlite3
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from dealer.server.db.store import Store

BACKED_UP: Final = "backed up the database"

_T = TypeVar("_T")


def record_change(db: sqlite3.Connection, who: str, what: str) -> None:
    """Record a change, in the transaction that makes it.

    Args:
        who: name of a user, or `operator`.
        what: the predicate of a sentence about them, without secrets.
    """
    db.execute("INSERT INTO audit (made_s, who, what) VALUES (?, ?, ?)", (time.time(), who, what))


def with_audit(who: str, what: str, change: Callable[[sqlite3.Connection], _T]) -> Callable[[sqlite3.Connection], _T]:
    """Wrap a change so that it is recorded too, unless it returns False."""

    def change_and_record(db: sqlite3.Connection) -> _T:
        result = change(db)
        if result is not False:
            record_change(db, who, what)
        return result

    return change_and_record


@cache
def operator() -> str:
    """Return the name under which commands on the server's machine are recorded."""
    try:
        return f"{getpass.getuser()} (command line)"
    except (OSError, KeyError, ImportError):
        # The user of a container may have no name.
        return "(command line)"


def note_backup(path: Path, copy: Path) -> None:
    """Record in a database that it was copied; versions without the table are left alone."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db, contextlib.suppress(sqlite3.Error):
        record_change(db, operator(), f"{BACKED_UP} to {copy}")


def changes(store: Store, *, before: int | None = None, limit: int = 50) -> list[sqlite3.Row]:
    """Read changes as rows of `id`, `made_s`, `who` and `what`, the latest first."""
    return store.read("SELECT * FROM audit WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT ?2", before, limit)
