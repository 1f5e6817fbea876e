"""Changes of jobs, runs and tables with people, for `Store.write`.

A run is added before it starts. The change that closes it also counts it, so a crash cannot separate the two. A table
is a run whose first player is a person in a browser. Its job stays open until the table is closed, and `open_jobs`
leaves it out of the queue.
"""

from __future__ import annotations

import json
import sqlite3
import time
from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dealer.errors import Cause
from dealer.match.causes import Failure
from dealer.match.faults import Fault
from dealer.match.writers import format_remedy
from dealer.run.choices import Seating
from dealer.run.results import FailureReport
from dealer.server.db.counted_scores import add_run
from dealer.server.db.records import (
    TERM_COLUMNS,
    Job,
    JobRequest,
    JobState,
    Match,
    Run,
    RunSeat,
    RunState,
    estimate_values,
    new_job,
)
from dealer.server.db.store import Store
from dealer.server.db.users import User, add_user
from engine import DealKey, Seed, derived_seed
from protocol.benchmark import OWN_SEAT
from protocol.joining import TABLE_TAG, ContestTerms

_RUNS_TIMED = 20
"""Number of recent runs of a game whose duration predicts that of the next."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """Result of a run.

    Attributes:
        reason: of its end, a public sentence; empty for a failed run.
        duplicates: number of deals played in every seating, or of hands per seating if each has cards of its own;
            None for a run without stored scores.
        seats: by seat; empty if nothing was played.
        scores: by seat, in mbb/g by duplicate; empty if none are stored.
        matches: that have hands.
        faults: each with the name of its match.
        unrated: reason that it does not count in the standings, as a clause; empty if it counts.
        cause: of a failure; None in every other state.
    """

    state: RunState
    reason: str = ""
    duplicates: int | None = None
    seats: tuple[RunSeat, ...] = ()
    scores: tuple[array[float], ...] = ()
    matches: tuple[Match, ...] = ()
    faults: tuple[tuple[str, Fault], ...] = ()
    unrated: str = ""
    cause: FailureReport | None = None

    @classmethod
    def failed(cls, cause: Cause) -> RunReport:
        """Report of a run that cannot be played, for a cause outside of its matches."""
        return cls(RunState.FAILED, cause=FailureReport.of(Failure(cause)))


def _run_seed(job: Job, number: int) -> Seed:
    """Seed of run `number` (from 1): the job's own for an only run, else one of the sequence derived from it."""
    assert job.seed is not None
    if job.runs == 1 and job.seed_index is None:
        return job.seed
    return derived_seed(job.seed, number - 1 if job.seed_index is None else job.seed_index)


def _seed_columns(seed: Seed | None) -> dict[str, object]:
    if isinstance(seed, DealKey):
        return {"seed": 0, "deal_key": seed.secret}
    return {"seed": seed, "deal_key": None}


def _insert(db: sqlite3.Connection, table: str, columns: dict[str, object]) -> int:
    marks = ", ".join("?" * len(columns))
    inserted = db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values()))
    return int(inserted.lastrowid or 0)


# ---- changes, for `Store.write`
def add_job(db: sqlite3.Connection, job: Job) -> Job:
    """Add a job; return it with its number."""
    columns: dict[str, object] = {
        "user": job.user.id,
        "tag": job.tag,
        "game": job.game,
        "players": json.dumps(job.players),
        "runs": job.runs,
        "seed_index": job.seed_index,
        "state": job.state,
        "stamp": job.stamp,
        "submitted_s": job.submitted_s,
        "kind": job.kind,
    }
    columns |= {name: getattr(job.terms, name) for name in TERM_COLUMNS}
    columns |= _seed_columns(job.seed)
    return replace(job, id=_insert(db, "jobs", columns))


def begin_run(db: sqlite3.Connection, job: Job, versions: Sequence[int | None], stamp: int) -> Run:
    """Add the next run of a job, in the state RUNNING.

    Args:
        versions: of the bots, by seat; None for a client's own agent.
    """
    number = job.started + 1
    seed = _run_seed(job, number)
    now_s = time.time()
    columns: dict[str, object] = {"job": job.id, "number": number, "game": job.game, "state": RunState.RUNNING}
    run = _insert(db, "runs", columns | {"folder": "", "started_s": now_s} | _seed_columns(seed))
    folder = f"runs/{run:08}"
    db.execute("UPDATE runs SET folder = ? WHERE id = ?", (folder, run))
    for seat, version in enumerate(versions):
        _insert(db, "seats", {"run": run, "seat": seat, "version": version})
    db.execute("UPDATE jobs SET stamp = ? WHERE id = ?", (stamp, job.id))
    db.execute("UPDATE users SET served = ? WHERE id = ?", (stamp, job.user.id))
    seats = []
    for seat, (player, version) in enumerate(zip(job.players, versions, strict=True)):
        name = job.user.name if player == OWN_SEAT else player
        seats.append(RunSeat(player=seat, name=name, version=version))
    return Run(
        id=run,
        job=job.id,
        number=number,
        user=job.user.name,
        tag=job.tag,
        game=job.game,
        state=RunState.RUNNING,
        reason="",
        duplicates=None,
        is_rated=False,
        unrated="",
        started_s=now_s,
        ended_s=None,
        seats=tuple(seats),
        seed=seed,
        folder=folder,
    )


def end_run(db: sqlite3.Connection, run: int, report: RunReport) -> None:
    """Close a run and count it; do nothing if it is closed already."""
    closed = db.execute(
        # max(), because the clock may have been set back since.
        "UPDATE runs SET state = ?, reason = ?, duplicates = ?, unrated = ?, ended_s = max(started_s, ?) "
        "WHERE id = ? AND state = 'running'",
        (report.state, report.reason, report.duplicates, report.unrated, time.time(), run),
    )
    if closed.rowcount != 1:
        return
    if report.cause is not None:
        db.execute("UPDATE runs SET cause = ? WHERE id = ?", (report.cause.model_dump_json(), run))
    db.executemany(
        "UPDATE seats SET name = ?, chips = ?, mbb_per_game = ?, half_width_95 = ? WHERE run = ? AND seat = ?",
        [(seat.name, seat.chips, *estimate_values(seat.won), run, seat.player) for seat in report.seats],
    )
    for seat, scores in enumerate(report.scores):
        _insert(db, "scores", {"run": run, "seat": seat, "mbb_by_duplicate": scores.tobytes()})
    for match in report.matches:
        _insert(db, "matches", {"run": run, **asdict(match)})
    for name, fault in report.faults:
        columns: dict[str, object] = {
            "run": run,
            "match": name,
            "seat": fault.seat,
            "kind": fault.kind.value,
            "hand_number": fault.hand_number,
            "line": fault.line,
            "remedy": format_remedy(fault),
        }
        _insert(db, "faults", columns)
    _add_to_standings(db, run, report)


def _add_to_standings(db: sqlite3.Connection, run: int, report: RunReport) -> None:
    if report.unrated or not any(report.scores):
        return
    (game,) = db.execute("SELECT game FROM runs WHERE id = ?", (run,)).fetchone()
    versions = [row["version"] for row in db.execute("SELECT version FROM seats WHERE run = ? ORDER BY seat", (run,))]
    add_run(db, run, game, versions, scores=report.scores, hands=sum(match.hands for match in report.matches))


def close_abandoned_runs(db: sqlite3.Connection) -> None:
    """Close running runs of closed jobs; a server that is killed while it cancels leaves them."""
    db.execute(
        "UPDATE runs SET state = 'cancelled', reason = 'it was cancelled.', ended_s = max(started_s, ?) "
        "WHERE state = 'running' AND job IN (SELECT id FROM jobs WHERE state != 'queued')",
        (time.time(),),
    )


def end_job(db: sqlite3.Connection, job: int, state: JobState, reason: str = "") -> None:
    """Close a job that is still open."""
    db.execute(
        "UPDATE jobs SET state = ?, reason = ?, ended_s = max(submitted_s, ?) WHERE id = ? AND state = 'queued'",
        (state, reason, time.time(), job),
    )


RESULT_TABLES = (
    "rating_history",
    "ratings",
    "company",
    "lineup_scores",
    "seats",
    "scores",
    "matches",
    "faults",
    "tables",
    "submissions",
    "runs",
    "lineups",
    "event_jobs",
    "jobs",
)
"""Tables of requests and results, each before the tables that it refers to."""


def remove_results(db: sqlite3.Connection) -> None:
    """Remove all requests, results and closed events; their numbers are not used again."""
    for table in RESULT_TABLES:
        db.execute(f"DELETE FROM {table}")
    db.execute("DELETE FROM entries")
    closed = "FROM scheduled_events WHERE closed_s IS NOT NULL"
    db.execute(f"DELETE FROM disqualifications WHERE event IN (SELECT id {closed})")
    db.execute(f"DELETE {closed}")
    db.execute("DELETE FROM series WHERE id NOT IN (SELECT series FROM scheduled_events WHERE series IS NOT NULL)")


# ---- questions
def served_stamps(store: Store) -> dict[int, int]:
    """Stamp of the last run of each user, by the user's number."""
    return {row["id"]: row["served"] for row in store.read("SELECT id, served FROM users")}


def last_stamp(store: Store) -> int:
    """Highest stamp in use."""
    rows = store.read("SELECT max((SELECT max(stamp) FROM jobs), (SELECT max(served) FROM users)) AS last")
    return int(rows[0]["last"] or 0)


def seconds_per_hand(store: Store, game: str) -> float | None:
    """Average duration of a hand in the last runs of a game; None before the first has finished."""
    rows = store.read(
        # max(), because the clock may have been set back during a run.
        "SELECT sum(max(0.0, ended_s - started_s)) AS seconds, "
        "sum((SELECT sum(hands) FROM matches WHERE run = last.id)) AS hands "
        "FROM (SELECT id, ended_s, started_s FROM runs WHERE game = ? AND state = 'finished' "
        # Tables with people are slower than any run of bots.
        "AND id NOT IN (SELECT run FROM tables) ORDER BY id DESC LIMIT ?) AS last",
        game,
        _RUNS_TIMED,
    )
    return rows[0]["seconds"] / rows[0]["hands"] if rows[0]["hands"] else None


_GUEST = "a guest"
"""Name of the user to which the jobs of all guests belong. Other users' names have no blanks."""
GUEST_NAME = "guest"
"""Name of guests in logs and at tables."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """An open table, on a server or on this machine.

    Attributes:
        id: on a server, the number of its run.
        owner: key of the person who plays.
        seen_s: time of the last visit, in seconds since 1970.
        is_guests: whether the person is a guest, without a login.
    """

    id: str
    owner: str
    game: str
    players: tuple[str, ...]
    folder: Path
    seen_s: float
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
    """Add a table, that is, a job and its running run.

    Args:
        user: number of the user; None for a guest.
        versions: of the bots, by seat; None for the person, who has the first seat.
    """
    number = add_user(db, _GUEST) if user is None else user
    row = db.execute("SELECT name, served FROM users WHERE id = ?", (number,)).fetchone()
    terms = ContestTerms(seating=Seating.SINGLE.value)
    request = JobRequest(game, (OWN_SEAT, *players), TABLE_TAG, terms=terms)
    # The stamp of the user's last run, so that a table does not change the user's place in the queue.
    stamp = row["served"]
    job = add_job(db, new_job(User(number, row["name"]), request, seed, stamp))
    run = begin_run(db, job, versions, stamp)
    db.execute("INSERT INTO tables (run, owner, seen_s) VALUES (?, ?, ?)", (run.id, owner, time.time()))
    return run


def record_visit(db: sqlite3.Connection, run: int) -> None:
    """Record that a visitor opened a table."""
    db.execute("UPDATE tables SET seen_s = ? WHERE run = ?", (time.time(), run))


def close_table(db: sqlite3.Connection, run: int, report: RunReport) -> None:
    """Close a table and its run."""
    db.execute("UPDATE tables SET closed_s = ? WHERE run = ?", (time.time(), run))
    end_run(db, run, report)
    (job,) = db.execute("SELECT job FROM runs WHERE id = ?", (run,)).fetchone()
    end_job(db, job, JobState.DONE)


def open_tables(store: Store, folder: Path) -> list[TableRow]:
    """Read all open tables, the oldest first.

    Args:
        folder: of the server.
    """
    return [
        TableRow(
            id=str(row["run"]),
            owner=row["owner"],
            game=row["game"],
            players=tuple(row["names"].split("\n")),
            folder=folder / row["folder"],
            seen_s=row["seen_s"],
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
