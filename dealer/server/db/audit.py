"""Who changed what when of users, logins, events and results: an append-only table that no reset empties."""

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
    """Note a change in the transaction that makes it.

    Args:
        who: a user, or `operator`.
        what: in words that follow the name, without secrets.
    """
    db.execute("INSERT INTO audit (made_s, who, what) VALUES (?, ?, ?)", (time.time(), who, what))


def with_audit(who: str, what: str, change: Callable[[sqlite3.Connection], _T]) -> Callable[[sqlite3.Connection], _T]:
    """A change that is with_audit as well, unless it returns that there was nothing to change."""

    def change_and_note(db: sqlite3.Connection) -> _T:
        made = change(db)
        if made is not False:
            record_change(db, who, what)
        return made

    return change_and_note


@cache
def operator() -> str:
    """Who gives commands on the server's machine."""
    try:
        return f"{getpass.getuser()} (command line)"
    except (OSError, KeyError, ImportError):
        # A container runs as a number without a name.
        return "(command line)"


def note_backup(path: Path, copy: Path) -> None:
    """Note in a database that it was copied; one of an older version stays as it is."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db, contextlib.suppress(sqlite3.Error):
        record_change(db, operator(), f"{BACKED_UP} to {copy}")


def changes(store: Store, *, before: int | None = None, limit: int = 50) -> list[sqlite3.Row]:
    """What was changed (`id`, `made_s`, `who`, `what`), the latest first."""
    return store.read("SELECT * FROM audit WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT ?2", before, limit)
