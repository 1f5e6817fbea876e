"""Texts that a server keeps by name: those of organisers for all visitors, and the address of its pages."""

from __future__ import annotations

import enum
import sqlite3

from dealer.server.db.store import Store


class TextName(enum.StrEnum):
    """Name of a text."""

    ADDRESS = "address"
    """Address of the pages for other machines, written at each start."""
    MESSAGE = "message"
    """Message of the day, on the first page."""
    RULES = "rules"
    """Rules of a course or a competition, in Markdown."""


def read_text(store: Store, name: TextName) -> str:
    """Return a text, or an empty one."""
    rows = store.read("SELECT text FROM texts WHERE name = ?", name)
    return str(rows[0]["text"]) if rows else ""


def write_text(db: sqlite3.Connection, name: TextName, text: str) -> None:
    """Replace a text."""
    db.execute("INSERT OR REPLACE INTO texts (name, text) VALUES (?, ?)", (name, text))
