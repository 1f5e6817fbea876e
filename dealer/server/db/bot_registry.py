"""Register bots and their versions in the database.

A bot gets a new version when its description changes: the settings of a server's bot, the label of a user's bot.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Sequence

from dealer.errors import ServerError
from dealer.run.run_settings import BotSettings, adapter
from dealer.server.db.store import Store
from dealer.server.server_settings import ServerGame


def register_server_bots(db: sqlite3.Connection, games: Sequence[ServerGame]) -> dict[tuple[str, str], int]:
    """Register the server's own bots.

    Returns:
        the number of the current version by (game, bot).

    Raises:
        ServerError: a user's bot has this name.
    """
    versions = {}
    for game in games:
        for name, bot in game.bots.items():
            db.execute("INSERT INTO bots (game, name) VALUES (?, ?) ON CONFLICT DO NOTHING", (game.name, name))
            row = db.execute("SELECT id, owner FROM bots WHERE game = ? AND name = ?", (game.name, name)).fetchone()
            if row["owner"] is not None:
                raise ServerError(f"{name} is a user's bot in {game.shown}; give the server's own bot another name")
            versions[game.name, name] = _register_version(db, row["id"], bot)
    return versions


def _register_version(db: sqlite3.Connection, bot: int, settings: BotSettings) -> int:
    text = adapter(BotSettings).dump_json(settings).decode()
    fingerprint = hashlib.sha256(text.encode()).hexdigest()
    row = db.execute(
        "SELECT id, number, fingerprint FROM versions WHERE bot = ? ORDER BY number DESC LIMIT 1", (bot,)
    ).fetchone()
    if row is not None and row["fingerprint"] == fingerprint:
        return int(row["id"])
    return _add_version(db, bot, text, fingerprint)


def _add_version(db: sqlite3.Connection, bot: int, description: str, fingerprint: str, label: str = "") -> int:
    inserted = db.execute(
        "INSERT INTO versions (bot, number, description, fingerprint, label, created_s) VALUES "
        "(?1, (SELECT 1 + coalesce(max(number), 0) FROM versions WHERE bot = ?1), ?2, ?3, ?4, ?5)",
        (bot, description, fingerprint, label, time.time()),
    )
    return int(inserted.lastrowid or 0)


def name_owner(db: sqlite3.Connection, name: str) -> int | None:
    """Number of the user whose bot has a name in any game; None if the name is free."""
    row = db.execute("SELECT owner FROM bots WHERE name = ? AND owner IS NOT NULL LIMIT 1", (name,)).fetchone()
    return None if row is None else int(row["owner"])


def register_user_bot(db: sqlite3.Connection, owner: int, game: str, name: str, label: str) -> int:
    """Register a user's bot and return the number of the version with this label."""
    db.execute(
        "INSERT INTO bots (game, name, owner) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET owner = ?3",
        (game, name, owner),
    )
    (bot,) = db.execute("SELECT id FROM bots WHERE game = ? AND name = ?", (game, name)).fetchone()
    record_seen(db, [name])
    fingerprint = hashlib.sha256(label.encode()).hexdigest()
    known = db.execute(
        "SELECT id FROM versions WHERE bot = ? AND fingerprint = ? AND label = ?", (bot, fingerprint, label)
    ).fetchone()
    return int(known["id"]) if known is not None else _add_version(db, bot, "", fingerprint, label)


def known_games(store: Store) -> tuple[str, ...]:
    """Full names of all games that have ever had a bot."""
    return tuple(row["game"] for row in store.read("SELECT DISTINCT game FROM bots ORDER BY game"))


def record_seen(db: sqlite3.Connection, names: Sequence[str]) -> None:
    """Record that users' bots are connected now."""
    now_s = time.time()
    db.executemany("UPDATE bots SET seen_s = ? WHERE name = ? AND owner IS NOT NULL", [(now_s, name) for name in names])


def last_seen(store: Store, within_s: float) -> frozenset[tuple[str, str]]:
    """Find users' bots, as (game, name), last seen at most `within_s` before the last of all."""
    rows = store.read("SELECT game, name FROM bots WHERE seen_s >= (SELECT max(seen_s) FROM bots) - ?", within_s)
    return frozenset((row["game"], row["name"]) for row in rows)


def bot_owner(store: Store, game: str, name: str) -> int | None:
    """Number of the user who owns a bot; None for a bot of the server or an unknown one."""
    rows = store.read("SELECT owner FROM bots WHERE game = ? AND name = ?", game, name)
    return rows[0]["owner"] if rows else None
