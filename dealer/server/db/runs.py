"""What the server keeps of jobs and runs: its changes and questions to the store, as functions and values.

A job is what a user asked for; each of its runs is a contest that `dealer.runs` plays, in a folder named by the run's
number. A run is entered before it starts and closed once, by the change that also counts it: at no moment is it neither
going on nor counted.
"""

from __future__ import annotations

import enum
import json
import sqlite3
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dealer.contest.schedule import Seating
from dealer.match.faults import Fault, FaultPolicy
from dealer.record.writers import remedy_text
from dealer.server.accounts import User
from dealer.server.db.crosstable import add_run
from dealer.server.db.store import Store
from engine import DealKey, Seed, derived_seed

__all__ = [
    "JobKind",
    "JobRow",
    "JobState",
    "RunReport",
    "RunRow",
    "RunState",
    "SeatReport",
    "add_job",
    "begin_run",
    "close_abandoned_runs",
    "end_job",
    "end_run",
    "jobs_of",
    "last_stamp",
    "open_jobs",
    "run_seed",
    "runs_of",
    "seats_of",
    "served_stamps",
]

_RUNS_REMEMBERED = 20
"""So many of the last runs of a game say how long the next one will take."""


class JobState(enum.StrEnum):
    """How a job stands."""

    QUEUED = "queued"
    """Something of it is to be played, or is being played."""
    DONE = "done"
    CANCELLED = "cancelled"


class JobKind(enum.StrEnum):
    """Where a job comes from."""

    REQUEST = "request"
    """A user wants it."""
    LADDER = "ladder"
    """The server plays it while no request waits."""


class RunState(enum.StrEnum):
    """How a run stands."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run.

    Attributes:
        id: its number among all runs.
        number: among those of its job, from 1.
        seed: of the cards, a number or a key.
        folder: of its files, in that of the server.
        state: how it stands. reason: how it ended, in a sentence.
    """

    id: int
    number: int
    seed: Seed
    folder: str
    state: RunState = RunState.RUNNING
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job.

    Attributes:
        id: its number.
        user: whose it is.
        tag: what the user calls it.
        game: the name of the game.
        players: by seat of the first seating: names of the server's own bots or of users, or
            `protocol.benchmark.OWN_SEAT`.
        runs: how many.
        seed: of all of them together: a number that somebody chose or was told, or a key that the server keeps.
        seed_index: the only one in the sequence of seeds; None plays the sequence from its start.
        stamp: when it last started, or came.
        started: how many runs have been started.
        going: the run that was going on.
        state: how it stands. reason: why it was cancelled.
        kind: where it comes from.
        hands: the most deals of one run; None for what is set for the game.
        seating: in which seatings each deal is played.
        stop: the rule that may end a run before, as `arena play` writes it.
        on_fault: what becomes of a player that fails.
        submitted_s: when it came. ended_s: when nothing of it was left, None before. Both in seconds since 1970.
        is_running: whether a run of it was going on when this was read.
    """

    id: int
    user: User
    tag: str
    game: str
    players: tuple[str, ...]
    runs: int
    seed: Seed
    seed_index: int | None
    stamp: int
    started: int = 0
    going: RunRow | None = None
    state: JobState = JobState.QUEUED
    reason: str = ""
    kind: JobKind = JobKind.REQUEST
    hands: int | None = None
    seating: Seating = Seating.SINGLE
    stop: str | None = None
    on_fault: FaultPolicy = FaultPolicy.END
    submitted_s: float = 0.0
    ended_s: float | None = None
    is_running: bool = False

    @property
    def is_seed_drawn(self) -> bool:
        """Whether the server has drawn a key, so that nobody knows a card to come."""
        return isinstance(self.seed, DealKey)


@dataclass(frozen=True, slots=True)
class SeatReport:
    """What came out for one seat of a run.

    Attributes:
        name: of its player.
        chips: net, over all hands.
        mbb_per_game: what it won; None before the first hand.
        half_width_95: half the 95 % interval of that; None if the hands are too few.
        mbb_by_duplicate: the scores.
    """

    name: str
    chips: float
    mbb_per_game: float | None = None
    half_width_95: float | None = None
    mbb_by_duplicate: array[float] | None = None


@dataclass(frozen=True, slots=True)
class RunReport:
    """How a run ended.

    Attributes:
        state: in a word. reason: in a sentence.
        duplicates: how many deals were played in every seating, or as many hands with cards of each seating's own; None
            for a run of which no scores are kept.
        seats: by seat; empty where nothing was played.
        matches: of each its name, the file of its log in the folder of the run, its first hand and its hands.
        faults: of each the name of its match.
        is_comparable: whether what came out says how good the players are: nothing but chance decided its length, and
            every deal was played in every seating.
    """

    state: RunState
    reason: str
    duplicates: int | None = None
    seats: tuple[SeatReport, ...] = ()
    matches: tuple[tuple[str, str, int, int], ...] = ()
    faults: tuple[tuple[str, Fault], ...] = ()
    is_comparable: bool = False


def run_seed(job: JobRow, number: int) -> Seed:
    """The seed of a run of a job, `number` from 1: the job's own for its only run, else from its sequence."""
    if job.runs == 1 and job.seed_index is None:
        return job.seed
    return derived_seed(job.seed, number - 1 if job.seed_index is None else job.seed_index)


def _seed_columns(seed: Seed) -> tuple[int, bytes | None]:
    return (0, seed.secret) if isinstance(seed, DealKey) else (seed, None)


def seed_of_row(row: sqlite3.Row) -> Seed:
    """The seed in the columns of a job or a run."""
    return int(row["seed"]) if row["deal_key"] is None else DealKey(row["deal_key"])


# ---- changes, for `Store.write`
def add_job(db: sqlite3.Connection, job: JobRow) -> int:
    """Enter a job that waits; returns its number."""
    made = db.execute(
        "INSERT INTO jobs (user, tag, game, players, runs, seed, deal_key, seed_index, state, stamp, submitted_s, "
        "kind, hands, seating, stop, on_fault) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            job.user.id,
            job.tag,
            job.game,
            json.dumps(job.players),
            job.runs,
            *_seed_columns(job.seed),
            job.seed_index,
            job.state,
            job.stamp,
            time.time(),
            job.kind,
            job.hands,
            job.seating,
            job.stop,
            job.on_fault.value,
        ),
    )
    return int(made.lastrowid or 0)


def begin_run(db: sqlite3.Connection, job: JobRow, versions: Sequence[int | None], stamp: int) -> RunRow:
    """Enter the next run of a job as going on.

    Args:
        db: the database.
        job: whose run it is.
        versions: by seat, of the server's own bots; None for a client's own.
        stamp: of this start.
    """
    number = job.started + 1
    seed = run_seed(job, number)
    made = db.execute(
        "INSERT INTO runs (job, number, game, seed, deal_key, state, folder, started_s) "
        "VALUES (?, ?, ?, ?, ?, 'running', '', ?)",
        (job.id, number, job.game, *_seed_columns(seed), time.time()),
    )
    run = int(made.lastrowid or 0)
    folder = f"runs/{run:08}"
    db.execute("UPDATE runs SET folder = ? WHERE id = ?", (folder, run))
    db.executemany(
        "INSERT INTO seats (run, seat, version) VALUES (?, ?, ?)",
        [(run, seat, version) for seat, version in enumerate(versions)],
    )
    db.execute("UPDATE jobs SET stamp = ? WHERE id = ?", (stamp, job.id))
    db.execute("UPDATE users SET served = ? WHERE id = ?", (stamp, job.user.id))
    return RunRow(run, number, seed, folder)


def end_run(db: sqlite3.Connection, run: int, report: RunReport) -> None:
    """Close a run and count it; one that is closed already stays as it is."""
    now_s = time.time()
    closed = db.execute(
        "UPDATE runs SET state = ?, reason = ?, duplicates = ?, ended_s = ? WHERE id = ? AND state = 'running'",
        (report.state, report.reason, report.duplicates, now_s, run),
    )
    if closed.rowcount != 1:
        return
    for seat, one in enumerate(report.seats):
        db.execute(
            "UPDATE seats SET name = ?, chips = ?, mbb_per_game = ?, half_width_95 = ? WHERE run = ? AND seat = ?",
            (one.name, one.chips, one.mbb_per_game, one.half_width_95, run, seat),
        )
        if one.mbb_by_duplicate is not None:
            scores = one.mbb_by_duplicate.tobytes()
            db.execute("INSERT INTO scores (run, seat, mbb_by_duplicate) VALUES (?, ?, ?)", (run, seat, scores))
    db.executemany(
        "INSERT INTO matches (run, name, log, first_hand, hands) VALUES (?, ?, ?, ?, ?)",
        [(run, *match) for match in report.matches],
    )
    db.executemany(
        "INSERT INTO faults (run, match, seat, kind, hand_number, line, remedy) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (run, match, fault.seat, fault.kind.value, fault.hand_number, fault.line, remedy_text(fault))
            for match, fault in report.faults
        ],
    )
    _rate(db, run, report)


def _rate(db: sqlite3.Connection, run: int, report: RunReport) -> None:
    """Have a run that has just been closed count in the standings, if it does; see `dealer.server.db.crosstable`."""
    (game, is_secret) = db.execute("SELECT game, deal_key IS NOT NULL FROM runs WHERE id = ?", (run,)).fetchone()
    versions = [row["version"] for row in db.execute("SELECT version FROM seats WHERE run = ? ORDER BY seat", (run,))]
    scores = [seat.mbb_by_duplicate for seat in report.seats if seat.mbb_by_duplicate]
    is_known = None not in versions and len(set(versions)) == len(versions) == len(scores)
    if report.is_comparable and is_secret and is_known:
        add_run(db, run, game, versions, scores, sum(hands for _, _, _, hands in report.matches))


def close_abandoned_runs(db: sqlite3.Connection) -> None:
    """Close the runs that go on of jobs that do not: the server ended when it had just cancelled them."""
    db.execute(
        "UPDATE runs SET state = 'cancelled', reason = 'it was cancelled.', ended_s = ? "
        "WHERE state = 'running' AND job IN (SELECT id FROM jobs WHERE state != 'queued')",
        (time.time(),),
    )


def end_job(db: sqlite3.Connection, job: int, state: JobState, reason: str = "") -> None:
    """Close a job."""
    db.execute(
        "UPDATE jobs SET state = ?, reason = ?, ended_s = ? WHERE id = ? AND state = 'queued'",
        (state, reason, time.time(), job),
    )


# ---- questions
def job_of_row(row: sqlite3.Row) -> JobRow:
    return JobRow(
        row["id"],
        User(row["user"], row["user_name"]),
        row["tag"],
        row["game"],
        tuple(json.loads(row["players"])),
        row["runs"],
        seed_of_row(row),
        row["seed_index"],
        row["stamp"],
        row["started"],
        None,
        JobState(row["state"]),
        row["reason"],
        JobKind(row["kind"]),
        row["hands"],
        Seating(row["seating"]),
        row["stop"],
        FaultPolicy(row["on_fault"]),
        row["submitted_s"],
        row["ended_s"],
        bool(row["is_running"]),
    )


JOBS = (
    "SELECT jobs.*, users.name AS user_name, (SELECT count(*) FROM runs WHERE runs.job = jobs.id) AS started, "
    "jobs.state = 'queued' AND EXISTS (SELECT 1 FROM runs WHERE runs.job = jobs.id AND runs.state = 'running') "
    "AS is_running "
    "FROM jobs JOIN users ON users.id = jobs.user "
)
_TABLES = "(SELECT job FROM runs WHERE id IN (SELECT run FROM tables))"
"""The jobs of tables at which people sit; see `dealer.server.db.tables`."""


def open_jobs(store: Store) -> list[JobRow]:
    """The jobs of which something is left, in the order in which they came; each with the run that was going on."""
    jobs = []
    for row in store.read(JOBS + "WHERE jobs.state = 'queued' AND jobs.id NOT IN " + _TABLES + " ORDER BY jobs.id"):
        job = job_of_row(row)
        going = [run for run in runs_of(store, job.id) if run.state is RunState.RUNNING]
        jobs.append(replace(job, going=going[0] if going else None))
    return jobs


def jobs_of(store: Store, user: int, tag: str | None, most: int) -> list[JobRow]:
    """The last jobs of a user, with a tag if one is given, in the order in which they came."""
    condition = "WHERE jobs.user = ?1 AND (?2 IS NULL OR jobs.tag = ?2) ORDER BY jobs.id DESC LIMIT ?3"
    return [job_of_row(row) for row in reversed(store.read(JOBS + condition, user, tag, most))]


def runs_of(store: Store, job: int) -> list[RunRow]:
    """The runs of a job, in their order."""
    return [
        RunRow(row["id"], row["number"], seed_of_row(row), row["folder"], RunState(row["state"]), row["reason"])
        for row in store.read("SELECT * FROM runs WHERE job = ? ORDER BY number", job)
    ]


def versions_of(store: Store, run: int) -> list[int | None]:
    """The numbers of the versions that play in a run, by seat; None for a client's own agent."""
    return [row["version"] for row in store.read("SELECT version FROM seats WHERE run = ? ORDER BY seat", run)]


def seats_of(store: Store, run: int) -> list[SeatReport]:
    """What came out for the seats of a run that has ended; empty where nothing was played."""
    return [
        SeatReport(row["name"], row["chips"], row["mbb_per_game"], row["half_width_95"])
        for row in store.read("SELECT * FROM seats WHERE run = ? AND name IS NOT NULL ORDER BY seat", run)
    ]


def served_stamps(store: Store) -> dict[int, int]:
    """When each user was last served, by the user's number."""
    return {row["id"]: row["served"] for row in store.read("SELECT id, served FROM users")}


def last_stamp(store: Store) -> int:
    """The last stamp that was given."""
    rows = store.read("SELECT max((SELECT max(stamp) FROM jobs), (SELECT max(served) FROM users)) AS last")
    return int(rows[0]["last"] or 0)


def seconds_per_hand(store: Store, game: str) -> float | None:
    """How long a hand took in the last runs of a game, on average; None before the first has ended."""
    rows = store.read(
        # A clock that is set back makes no run shorter than nothing.
        "SELECT sum(max(0.0, ended_s - started_s)) AS seconds, "
        "sum((SELECT sum(hands) FROM matches WHERE run = last.id)) AS hands "
        "FROM (SELECT id, ended_s, started_s FROM runs WHERE game = ? AND state = 'finished' "
        # People take their time.
        "AND id NOT IN (SELECT run FROM tables) ORDER BY id DESC LIMIT ?) AS last",
        game,
        _RUNS_REMEMBERED,
    )
    return rows[0]["seconds"] / rows[0]["hands"] if rows[0]["hands"] else None
