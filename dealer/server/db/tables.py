"""Tables at which people sit in browsers, as the store keeps them: a table is a run whose first player is a person.

Its job is not part of the queue (`open_jobs` leaves it out); like its run it is open until the table is closed.
"""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass

from dealer.server.accounts import User, add_user
from dealer.server.db.records import versions
from dealer.server.db.runs import JobRow, JobState, RunReport, RunRow, add_job, begin_run, end_job, end_run
from dealer.server.db.store import Store
from dealer.server.queue.connected_bots import Lobby
from engine import Seed
from protocol.benchmark import OWN_SEAT

__all__ = [
    "GUEST",
    "GUEST_NAME",
    "TAG",
    "TableRecord",
    "add_table",
    "bot_versions",
    "close_table",
    "open_tables",
    "see_table",
]

GUEST = "a guest"
"""The user of all who have not logged in: no other user's name can have a blank."""
GUEST_NAME = "guest"
"""Of guests in logs and at tables."""
TAG = "table"


@dataclass(frozen=True, slots=True)
class TableRecord:
    """An open table.

    Attributes:
        run: the number of its run.
        owner: who sits there, in the words of whoever opened it.
        game: the name of the game.
        players: the names of the bots, by seat.
        folder: of the run, in that of the server.
        seen_s: when somebody last looked at it, in seconds since 1970.
        is_guests: whether a guest sits there.
    """

    run: int
    owner: str
    game: str
    players: tuple[str, ...]
    folder: str
    seen_s: float
    is_guests: bool


def bot_versions(store: Store, lobby: Lobby, game: str, players: tuple[str, ...]) -> list[int | None]:
    """The versions of the bots of a table, by seat: the server's newest, users' as connected; None: the person."""
    there = [lobby.find(game, name) for name in players]
    return [
        None,
        *(
            versions(store, game, name)[0].version if guest is None else guest.versions[game]
            for name, guest in zip(players, there, strict=True)
        ),
    ]


def add_table(
    db: sqlite3.Connection,
    owner: str,
    user: int | None,
    game: str,
    players: tuple[str, ...],
    bots: list[int | None],
    seed: Seed,
) -> RunRow:
    """Enter a table.

    Args:
        db: the database.
        owner: who sits down.
        user: the number of the user; None for a guest.
        game: the name of the game.
        players: the names of the bots, by seat.
        bots: what `bot_versions` says of them.
        seed: of the cards, a number or a key.
    """
    number = add_user(db, GUEST) if user is None else user
    row = db.execute("SELECT name, served FROM users WHERE id = ?", (number,)).fetchone()
    # The queue serves this user neither sooner nor later for it.
    stamp = row["served"]
    job = JobRow(0, User(number, row["name"]), TAG, game, (OWN_SEAT, *players), 1, seed, None, stamp)
    job_number = add_job(db, job)
    job = JobRow(job_number, job.user, TAG, game, job.players, 1, seed, None, stamp)
    run = begin_run(db, job, bots, stamp)
    db.execute("INSERT INTO tables (run, owner, seen_s) VALUES (?, ?, ?)", (run.id, owner, time.time()))
    return run


def see_table(db: sqlite3.Connection, run: int) -> None:
    """Somebody looks at a table."""
    db.execute("UPDATE tables SET seen_s = ? WHERE run = ?", (time.time(), run))


def close_table(db: sqlite3.Connection, run: int, report: RunReport) -> None:
    """Close a table and its run."""
    db.execute("UPDATE tables SET closed_s = ? WHERE run = ?", (time.time(), run))
    end_run(db, run, report)
    (job,) = db.execute("SELECT job FROM runs WHERE id = ?", (run,)).fetchone()
    end_job(db, job, JobState.DONE)


def open_tables(store: Store) -> list[TableRecord]:
    """All open tables, the oldest first."""
    found = []
    for row in store.read(
        "SELECT tables.run, tables.owner, tables.seen_s, runs.folder, runs.game, users.name AS user, "
        "(SELECT group_concat(name, char(10)) FROM (SELECT bots.name FROM seats JOIN versions ON versions.id = version "
        "JOIN bots ON bots.id = bot WHERE seats.run = tables.run ORDER BY seat)) AS names "
        "FROM tables JOIN runs ON runs.id = tables.run JOIN jobs ON jobs.id = runs.job "
        "JOIN users ON users.id = jobs.user WHERE closed_s IS NULL ORDER BY tables.run"
    ):
        players = tuple(row["names"].split("\n"))
        is_guests = row["user"] == GUEST
        found.append(
            TableRecord(row["run"], row["owner"], row["game"], players, row["folder"], row["seen_s"], is_guests)
        )
    return found
