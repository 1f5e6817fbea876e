"""Users of a server, by number and name."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass

from dealer.errors import RefusedError
from dealer.server.db.store import Store


@dataclass(frozen=True, slots=True)
class User:
    """A user in the database."""

    id: int
    name: str


def find_user(store: Store, name: str) -> User | None:
    """Find a user by name."""
    rows = store.read("SELECT id FROM users WHERE name = ?", name)
    return User(rows[0]["id"], name) if rows else None


def add_user(db: sqlite3.Connection, name: str) -> int:
    """Return the number of a user; a new name gets one.

    Raises:
        RefusedError: it is the name of a team.
    """
    db.execute("INSERT INTO users (name, created_s) VALUES (?, ?) ON CONFLICT DO NOTHING", (name, time.time()))
    query = "SELECT id, EXISTS (SELECT 1 FROM teams WHERE account = id) AS is_team FROM users WHERE name = ?"
    row = db.execute(query, (name,)).fetchone()
    if row["is_team"]:
        raise RefusedError(f"the name {name} is that of a team, which has no login; name one of its members")
    return int(row["id"])


def add_person(db: sqlite3.Connection, login: str, person: str) -> int:
    """Return the number of a user, after adding the name that a roster has for it, unless that is the login."""
    number = add_user(db, login)
    if person != login:
        db.execute("UPDATE users SET person = ? WHERE id = ?", (person, number))
    return number
