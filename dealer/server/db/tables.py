"""Tables at which people sit in browsers, as the store keeps them: a table is a run whose first player is a person.

Its job is not part of the queue (`open_jobs` leaves it out); like its run it is open until the table is closed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dealer.server.accounts import User, add_user
from dealer.server.db.records import JobRequest, JobState, Run, new_job
from dealer.server.db.runs import RunReport, add_job, begin_run, end_job, end_run
from dealer.server.db.store import Store
from engine import Seed
from protocol.benchmark import OWN_SEAT

_GUEST = "a guest"
"""The user of all who have not logged in: no other user's name can have a blank."""
GUEST_NAME = "guest"
"""Of guests in logs and at tables."""
TAG = "table"


@dataclass(frozen=True, slots=True)
class TableRow:
    """An open table, on a server or on this machine.

    Attributes:
        owner: who sits there, in the words of whoever opened it.
        seen_s: when it was last looked at, in seconds since 1970.
        run: the number of its run on a server; None elsewhere.
        is_guests: whether a guest sits there, who has not logged in.
    """

    id: str
    owner: str
    game: str
    players: tuple[str, ...]
    folder: Path
    seen_s: float
    run: int | None = None
    is_guests: bool = False


def add_table(
    db: sqlite3.Connection,
    owner: str,
    user: int | None,
    game: str,
    *,
    versions: Sequence[int | None],
    players: Sequence[str],
    seed: Seed,
) -> Run:
    """Enter a table.

    Args:
        user: the number of the user; None for a guest.
        versions: by seat, of the bots; None for the person, who sits first.
    """
    number = add_user(db, _GUEST) if user is None else user
    row = db.execute("SELECT name, served FROM users WHERE id = ?", (number,)).fetchone()
    request = JobRequest(game, (OWN_SEAT, *players), TAG, seating="single")
    # The queue serves this user neither sooner nor later for it.
    stamp = row["served"]
    job = add_job(db, new_job(User(number, row["name"]), request, seed, stamp))
    run = begin_run(db, job, versions, stamp)
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


def open_tables(store: Store, folder: Path) -> list[TableRow]:
    """All open tables, the oldest first; their folders are in that of the server."""
    return [
        TableRow(
            id=str(row["run"]),
            owner=row["owner"],
            game=row["game"],
            players=tuple(row["names"].split("\n")),
            folder=folder / row["folder"],
            seen_s=row["seen_s"],
            run=row["run"],
            is_guests=row["user"] == _GUEST,
        )
        for row in store.read(
            "SELECT tables.run, tables.owner, tables.seen_s, runs.folder, runs.game, users.name AS user, "
            "(SELECT group_concat(name, char(10)) FROM (SELECT bots.name FROM seats "
            "JOIN versions ON versions.id = version JOIN bots ON bots.id = bot "
            "WHERE seats.run = tables.run ORDER BY seat)) AS names "
            "FROM tables JOIN runs ON runs.id = tables.run JOIN jobs ON jobs.id = runs.job "
            "JOIN users ON users.id = jobs.user WHERE closed_s IS NULL ORDER BY tables.run"
        )
    ]
