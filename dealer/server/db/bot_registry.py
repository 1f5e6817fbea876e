"""Register bots and their versions in the database.

A bot gets a new version when its description changes: the settings of a server's bot, the label of a user's bot. A name
belongs to one user in all games until it is freed. The bot that had it keeps its results; the next one is another bot.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Sequence
from typing import Final

from dealer.errors import RefusedError, ServerError
from dealer.run.run_settings import BotSettings, adapter
from dealer.server.db.audit import record_change
from dealer.server.db.store import Store
from dealer.server.server_settings import ServerGame
from engine.text import count_of, shown

SEEN_INTERVAL_S: Final = 30.0
"""Interval at which a server records the connected bots."""


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
            row = db.execute(f"SELECT id, owner {_TAKEN}", (game.name, name)).fetchone()
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


_TAKEN = "FROM bots WHERE game = ? AND name = ? AND freed_s IS NULL"
_USED_NAMES = (
    "SELECT name, owner FROM bots WHERE owner IS NOT NULL AND freed_s IS NULL "
    "UNION SELECT bot, user FROM uploads WHERE state IN ('waiting', 'accepted')"
)


def check_name(db: sqlite3.Connection, owner: int, name: str, max_names: int) -> None:
    """Check that a user may call a bot by a name.

    Raises:
        RefusedError: it belongs to another user, or the user has reached the limit on names.
    """
    query = f"SELECT coalesce(sum(owner != ?1), 0) AS others FROM ({_USED_NAMES}) WHERE name = ?2"
    if db.execute(query, (owner, name)).fetchone()["others"]:
        raise RefusedError(f"the bot {name} belongs to another user; give yours another name")
    names = {row["name"] for row in db.execute(f"SELECT name FROM ({_USED_NAMES}) WHERE owner = ?", (owner,))}
    if name not in names and len(names) >= max_names:
        raise RefusedError(
            f"the limit is {count_of(max_names, 'name')} of bots per user; free one on the page Account first"
        )


def free_name(db: sqlite3.Connection, who: str, name: str, owner: int | None = None) -> None:
    """Free the name of a user's bot in all games. Results keep the bot, but it cannot play again.

    Args:
        who: for the audit log, see `record_change`.
        owner: number of the user who must own it; None for any.

    Raises:
        RefusedError: no such bot has the name, it may be connected, or it is uploaded.
    """
    query = "FROM bots WHERE name = ?1 AND freed_s IS NULL AND owner IS NOT NULL AND (?2 IS NULL OR owner = ?2)"
    row = db.execute(f"SELECT count(*) AS games, max(seen_s) AS seen_s {query}", (name, owner)).fetchone()
    if not row["games"]:
        raise RefusedError(f"no bot of {'a user' if owner is None else 'yours'} is called {shown(name)}")
    if db.execute("SELECT 1 FROM uploads WHERE bot = ? AND state IN ('waiting', 'accepted')", (name,)).fetchone():
        raise RefusedError(f"the bot {name} is uploaded; remove the upload first")
    # A command knows of connected bots only what the server has recorded.
    if row["seen_s"] is not None and row["seen_s"] > time.time() - 2 * SEEN_INTERVAL_S:
        raise RefusedError(
            f"the bot {name} is connected, or was a minute ago; disconnect it, and try again a minute later"
        )
    db.execute(f"UPDATE bots SET freed_s = ?3 WHERE id IN (SELECT id {query})", (name, owner, time.time()))
    record_change(db, who, f"freed the name {name}")


def used_names(store: Store, owner: int) -> tuple[str, ...]:
    """Names of a user's bots that have connected, in all games."""
    query = "SELECT DISTINCT name FROM bots WHERE owner = ? AND freed_s IS NULL ORDER BY name"
    return tuple(row["name"] for row in store.read(query, owner))


def register_user_bot(db: sqlite3.Connection, owner: int, game: str, name: str, label: str) -> int:
    """Register a user's bot and return the number of the version with this label."""
    db.execute(
        "INSERT INTO bots (game, name, owner) VALUES (?1, ?2, ?3) "
        "ON CONFLICT (game, name) WHERE freed_s IS NULL DO UPDATE SET owner = ?3",
        (game, name, owner),
    )
    (bot,) = db.execute(f"SELECT id {_TAKEN}", (game, name)).fetchone()
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
    db.executemany(
        "UPDATE bots SET seen_s = ? WHERE name = ? AND owner IS NOT NULL AND freed_s IS NULL",
        [(now_s, name) for name in names],
    )


def last_seen(store: Store, within_s: float) -> frozenset[tuple[str, str]]:
    """Find users' bots, as (game, name), last seen at most `within_s` before the last of all."""
    rows = store.read(
        "SELECT game, name FROM bots WHERE freed_s IS NULL AND seen_s >= (SELECT max(seen_s) FROM bots) - ?", within_s
    )
    return frozenset((row["game"], row["name"]) for row in rows)


def bot_owner(store: Store, game: str, name: str) -> int | None:
    """Number of the user who owns a bot; None for a bot of the server or an unknown one."""
    rows = store.read(f"SELECT owner {_TAKEN}", game, name)
    return rows[0]["owner"] if rows else None
