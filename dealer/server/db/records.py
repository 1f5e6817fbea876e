"""Bots, jobs, runs and faults of a server as frozen values, with the queries that read them.

A job is a user's request. Each of its runs is a contest that `dealer.run` plays in a folder of its own. Times are
seconds since 1970 (``..._s``) or a `datetime` in UTC (``..._at``). Rates are mbb/g. Lists are read page by page, the
newest first: `before` is the number of the last entry seen, `limit` the length of a page.

Nothing here checks permissions. `dealer.server.access` decides who may see what.
"""

from __future__ import annotations

import enum
import json
import sqlite3
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Final, TypeVar

from dealer.run.results import FailureReport, public_sentence
from dealer.server.db.store import Store
from dealer.server.db.users import User
from engine import DealKey, Seed
from logs.estimation import Estimate
from protocol.joining import DEFAULT_TERMS, ContestTerms

_PAGE = 50
LAST_FAULTS: Final = 10_000
TERM_COLUMNS: Final = ("deals", "stop", "seating", "on_fault")
"""Columns of a job that are fields of its terms."""


class JobState(enum.StrEnum):
    QUEUED = "queued"
    """Runs are left, and none is being played."""
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"


class JobKind(enum.StrEnum):
    REQUEST = "request"
    LADDER = "ladder"
    """Submitted by the server itself; played while no request waits."""


class RunState(enum.StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A contest to play one or more times.

    Attributes:
        players: by seat of the first seating: names of the server's bots, of users' bots, or
            `protocol.benchmark.OWN_SEAT` for the client's own agent.
        tag: the user's name for the request.
        runs: number of times to play it.
        seed_index: the only run to play of the sequence of seeds; None to start at the first.
        terms: of each run.
    """

    game: str
    players: tuple[str, ...]
    tag: str = ""
    runs: int = 1
    seed_index: int | None = None
    kind: JobKind = JobKind.REQUEST
    terms: ContestTerms = DEFAULT_TERMS


_R = TypeVar("_R")


def utc_datetime(name: str) -> property:
    """Make a property of a field with seconds since 1970; None stays None."""

    def read(self: object) -> datetime | None:
        seconds = getattr(self, name)
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)

    return property(read)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A version of a bot in a game.

    Attributes:
        version: number by which seats, pairs and ratings refer to it.
        owner: None for a bot of the server.
        number: of the version among those of the bot, from 1.
        label: the owner's name of the version.
        seen_s: time when it was last connected.
    """

    version: int
    game: str
    name: str
    owner: User | None
    number: int
    label: str
    created_s: float
    seen_s: float | None
    created_at = utc_datetime("created_s")
    seen_at = utc_datetime("seen_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A request in the database.

    Attributes:
        started: number of runs that have started.
        reason: of its cancellation.
        seed: of all runs; None if withheld from the reader.
        terms: of each run. Their seed is not used, see `seed`.
        seed_index: the only run to play of the sequence of seeds; None to start at the first.
        stamp: order of the last start, or of the arrival; a larger number is later.
    """

    id: int
    user: User
    tag: str
    game: str
    players: tuple[str, ...]
    runs: int
    started: int
    state: JobState
    reason: str
    seed: Seed | None
    submitted_s: float
    ended_s: float | None
    terms: ContestTerms
    kind: JobKind
    seed_index: int | None
    stamp: int
    submitted_at = utc_datetime("submitted_s")
    ended_at = utc_datetime("ended_s")

    @property
    def label(self) -> str:
        """Name in the text port, USER.TAG."""
        return f"{self.user.name}.{self.tag}"

    @property
    def is_open(self) -> bool:
        return self.state in (JobState.QUEUED, JobState.RUNNING)

    @property
    def is_seed_drawn(self) -> bool:
        # From the cards of a key, unlike those of a number, no other cards can be computed.
        return isinstance(self.seed, DealKey)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeat:
    """A player of a run, with results once the run has ended.

    Attributes:
        player: seat in the first seating.
        name: in logs and tables; before a result, name of the bot, or of the user whose own agent plays.
        version: None for an unregistered agent.
        won: per hand, in mbb/g; without the standard error, which is not stored.
        adjusted: `won` with all-in hands at their expectation; computed after the run.
    """

    player: int
    name: str
    version: int | None = None
    chips: float | None = None
    won: Estimate | None = None
    adjusted: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A running or finished contest.

    Attributes:
        number: among the runs of its job, from 1.
        reason: of its end; public, quotes no player.
        duplicates: number of deals that were played in every seating.
        is_rated: whether it counts in the standings.
        unrated: reason that it does not count; empty if it does or if nothing has been played.
        folder: of its files, relative to the server's folder.
        cause: of a failure; None also for runs of older servers, which stored a sentence only.
        kept_reason: as stored; may quote a player.
    """

    id: int
    job: int
    number: int
    user: str
    tag: str
    game: str
    state: RunState
    reason: str
    duplicates: int | None
    is_rated: bool
    unrated: str
    started_s: float
    ended_s: float | None
    seats: tuple[RunSeat, ...]
    seed: Seed
    folder: str
    cause: FailureReport | None = None
    kept_reason: str = ""
    started_at = utc_datetime("started_s")
    ended_at = utc_datetime("ended_s")

    def reason_for(self, *, shows_output: bool) -> str:
        """Format the reason of its end, with output of players if `shows_output`."""
        if not shows_output:
            return self.reason
        return self.kept_reason if self.cause is None else self.cause.sentence(shows_output=True)

    @property
    def results(self) -> tuple[RunSeat, ...]:
        """Seats that have results; empty if nothing was played."""
        return tuple(seat for seat in self.seats if seat.chips is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A match of a run, that is, one seating of its players.

    Attributes:
        log: name of its ACPC log in the folder of the run.
    """

    name: str
    first_hand: int
    hands: int
    log: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of a bot.

    Attributes:
        version: of the bot; None for an unregistered agent.
        hand_number: -1 before the first hand.
        line: as received.
    """

    id: int
    run: int
    match: str
    player: int
    version: int | None
    kind: str
    hand_number: int
    line: bytes
    remedy: str


def read_row(row_type: type[_R], row: sqlite3.Row, /, **more: object) -> _R:
    """Make a dataclass from `more` and from the columns named like its other fields."""
    columns = set(row.keys()) - more.keys()
    values = {field.name: row[field.name] for field in fields(row_type) if field.name in columns}  # type: ignore[arg-type]
    return row_type(**values, **more)


def _read_page(store: Store, query: str, filters: dict[str, object], order: str, limit: int) -> list[sqlite3.Row]:
    """Read the first rows that meet all filters, conditions with the value of their mark; None disables a filter."""
    active = {condition: value for condition, value in filters.items() if value is not None}
    where = f"WHERE {' AND '.join(active)} " if active else ""
    return store.read(f"{query}{where}ORDER BY {order} DESC LIMIT ?", *active.values(), limit)


def runs_by_state(store: Store) -> dict[RunState, int]:
    """Count the runs in each state."""
    counts = {row["state"]: row["n"] for row in store.read("SELECT state, count(*) AS n FROM runs GROUP BY state")}
    return {state: counts.get(state, 0) for state in RunState}


def counts(store: Store) -> sqlite3.Row:
    """Count open requests, users and faults, as `requests_open`, `users` and `faults`."""
    return store.read(
        "SELECT (SELECT count(*) FROM jobs WHERE state = 'queued') AS requests_open, "
        "(SELECT count(*) FROM users) AS users, (SELECT coalesce(max(id), 0) FROM faults) AS faults"
    )[0]


# ---- bots


_VERSIONS = (
    "SELECT versions.id AS version, bots.game, bots.name, bots.owner, users.name AS owner_name, versions.number, "
    "versions.label, versions.created_s, bots.seen_s FROM versions JOIN bots ON bots.id = versions.bot "
    "LEFT JOIN users ON users.id = bots.owner "
)


def _bots(store: Store, condition: str, *values: object) -> tuple[Bot, ...]:
    return tuple(
        read_row(Bot, row, owner=None if row["owner"] is None else User(row["owner"], row["owner_name"]))
        for row in store.read(_VERSIONS + condition, *values)
    )


def bots(store: Store, *, game: str | None = None, owner: int | None = None) -> tuple[Bot, ...]:
    """Newest version of every bot whose name is not freed, of a game or an owner if given, by game and name."""
    return _bots(
        store,
        "WHERE versions.number = (SELECT max(number) FROM versions AS all_versions "
        "WHERE all_versions.bot = bots.id) AND bots.freed_s IS NULL "
        "AND (?1 IS NULL OR bots.game = ?1) AND (?2 IS NULL OR bots.owner = ?2) "
        "ORDER BY bots.game, bots.name",
        game,
        owner,
    )


def bot(store: Store, version: int | None) -> Bot | None:
    """Read a version by its number."""
    return next(iter(_bots(store, "WHERE versions.id = ?", version)), None)


def versions(store: Store, game: str, name: str) -> tuple[Bot, ...]:
    """Versions of a bot in a game, the newest first; of the bot that had the name last if it is freed."""
    bot = "SELECT id FROM bots WHERE game = ? AND name = ? ORDER BY freed_s IS NOT NULL, freed_s DESC LIMIT 1"
    return _bots(store, f"WHERE bots.id = ({bot}) ORDER BY versions.number DESC", game, name)


def bots_of_event(store: Store, event: int) -> tuple[Bot, ...]:
    """Versions that have entered an event, or enter it if it closes now, in the order of their names."""
    condition = (
        "WHERE versions.id IN (SELECT version FROM entries WHERE event = ?1 UNION "
        "SELECT value FROM scheduled_events, json_each(entering) WHERE scheduled_events.id = ?1) "
        "AND bots.name NOT IN (SELECT bot FROM disqualifications WHERE event = ?1) ORDER BY bots.name"
    )
    return _bots(store, condition, event)


def versions_by_number(store: Store, numbers: Sequence[int]) -> dict[int, Bot]:
    marks = ",".join("?" * len(numbers))
    return {bot.version: bot for bot in _bots(store, f"WHERE versions.id IN ({marks})", *numbers)}


def all_versions(store: Store, game: str) -> dict[int, Bot]:
    """Versions of all bots of a game, by number."""
    return {bot.version: bot for bot in _bots(store, "WHERE bots.game = ?", game)}


# ---- jobs and runs


def new_job(user: User, request: JobRequest, seed: Seed, stamp: int = 0) -> Job:
    """Make a waiting job without a number; the seeds of its runs are derived from `seed`."""
    return Job(
        id=0,
        user=user,
        tag=request.tag,
        game=request.game,
        players=request.players,
        runs=request.runs,
        started=0,
        state=JobState.QUEUED if request.runs else JobState.DONE,
        reason="",
        seed=seed,
        submitted_s=time.time(),
        ended_s=None,
        terms=replace(request.terms, seed=0, practice=False),
        kind=request.kind,
        seed_index=request.seed_index,
        stamp=stamp,
    )


_JOBS = (
    "SELECT jobs.*, users.name AS user_name, (SELECT count(*) FROM runs WHERE runs.job = jobs.id) AS started, "
    "jobs.state = 'queued' AND EXISTS (SELECT 1 FROM runs WHERE runs.job = jobs.id AND runs.state = 'running') "
    "AS is_running "
    "FROM jobs JOIN users ON users.id = jobs.user "
)


def _seed_of(row: sqlite3.Row) -> Seed:
    return int(row["seed"]) if row["deal_key"] is None else DealKey(row["deal_key"])


def _job(row: sqlite3.Row) -> Job:
    return read_row(
        Job,
        row,
        user=User(row["user"], row["user_name"]),
        players=tuple(json.loads(row["players"])),
        seed=_seed_of(row),
        terms=ContestTerms(**{name: row[name] for name in TERM_COLUMNS}),
        state=JobState.RUNNING if row["is_running"] else JobState(row["state"]),
        kind=JobKind(row["kind"]),
    )


def _jobs(rows: Sequence[sqlite3.Row]) -> tuple[Job, ...]:
    return tuple(map(_job, rows))


def job(store: Store, number: int) -> Job | None:
    return next(iter(_jobs(store.read(_JOBS + "WHERE jobs.id = ?", number))), None)


def job_of_run(store: Store, run: int) -> Job | None:
    """Job of the run with a number."""
    return next(iter(_jobs(store.read(_JOBS + "WHERE jobs.id = (SELECT job FROM runs WHERE id = ?)", run))), None)


def jobs(
    store: Store,
    *,
    user: int | None = None,
    tag: str | None = None,
    state: JobState | None = None,
    event: int | None = None,
    before: int | None = None,
    limit: int = _PAGE,
) -> tuple[Job, ...]:
    """Jobs that meet all given conditions, the newest first."""
    # A running job is stored as queued.
    stored_state = JobState.QUEUED if state is JobState.RUNNING else state
    is_running = None if state is None else state is JobState.RUNNING
    filters: dict[str, object] = {
        "jobs.user = ?": user,
        "jobs.tag = ?": tag,
        "jobs.state = ?": stored_state,
        "is_running = ?": is_running,
        "jobs.id IN (SELECT job FROM event_jobs WHERE event = ?)": event,
        "jobs.id < ?": before,
    }
    return _jobs(_read_page(store, _JOBS, filters, "jobs.id", limit))


def open_jobs(store: Store) -> tuple[Job, ...]:
    """Unfinished jobs in the order of their arrival, without those of tables with people."""
    tables = "(SELECT job FROM runs WHERE id IN (SELECT run FROM tables))"
    condition = f"WHERE jobs.state = 'queued' AND jobs.id NOT IN {tables} ORDER BY jobs.id"
    return _jobs(store.read(_JOBS + condition))


_RUNS = (
    "SELECT runs.*, runs.lineup IS NOT NULL AS is_rated, jobs.tag, users.name AS user FROM runs "
    "JOIN jobs ON jobs.id = runs.job JOIN users ON users.id = jobs.user "
)


def _estimate(mean: float | None, half_width: float | None) -> Estimate | None:
    return None if mean is None else Estimate(mean, half_width)


def estimate_values(estimate: Estimate | None) -> tuple[float | None, float | None]:
    """Mean and decisive half width as two columns or fields."""
    return (None, None) if estimate is None else (estimate.mean, estimate.decisive_half_width)


def _runs(store: Store, rows: Sequence[sqlite3.Row]) -> tuple[Run, ...]:
    seats: dict[int, list[RunSeat]] = {row["id"]: [] for row in rows}
    users_of = {row["id"]: row["user"] for row in rows}
    marks = ",".join("?" * len(seats))
    seat_rows = store.read(
        "SELECT seats.*, seats.seat AS player, bots.name AS bot_name FROM seats "
        "LEFT JOIN versions ON versions.id = seats.version "
        f"LEFT JOIN bots ON bots.id = versions.bot WHERE run IN ({marks}) ORDER BY run, seat",
        *seats,
    )
    for row in seat_rows:
        name = row["name"] or row["bot_name"] or users_of[row["run"]]
        won = _estimate(row["mbb_per_game"], row["half_width_95"])
        adjusted = _estimate(row["adjusted_mbb"], row["adjusted_half_width_95"])
        seats[row["run"]].append(read_row(RunSeat, row, name=name, won=won, adjusted=adjusted))
    return tuple(_run(row, tuple(seats[row["id"]])) for row in rows)


def _run(row: sqlite3.Row, seats: tuple[RunSeat, ...]) -> Run:
    state = RunState(row["state"])
    cause = None if row["cause"] is None else FailureReport.model_validate_json(row["cause"])
    return read_row(
        Run,
        row,
        state=state,
        reason=public_sentence(cause) if state is RunState.FAILED else row["reason"],
        cause=cause,
        kept_reason=row["reason"],
        is_rated=bool(row["is_rated"]),
        seed=_seed_of(row),
        seats=seats,
    )


def run(store: Store, number: int) -> Run | None:
    return next(iter(_runs(store, store.read(_RUNS + "WHERE runs.id = ?", number))), None)


def runs(
    store: Store,
    *,
    job: int | None = None,
    game: str | None = None,
    bot: str | None = None,
    user: str | None = None,
    state: RunState | None = None,
    is_over: bool = False,
    version: int | None = None,
    pair: int | None = None,
    event: int | None = None,
    before: int | None = None,
    limit: int = _PAGE,
) -> tuple[Run, ...]:
    """Runs that meet all given conditions, the newest first.

    Args:
        bot: name of a player, in any version.
        user: name of the user who requested them.
        is_over: leave out runs that are being played.
        version: number of a player's version.
        pair: number of a pair in whose scores they count.
        event: number of an event whose contests they are.
    """
    # A unary plus disables an index that selects nearly all runs, which SQLite would then have to sort.
    game_condition = "runs.game = ?" if bot is None else "+runs.game = ?"
    state_condition = "+runs.state = ?" if state is RunState.FINISHED else "runs.state = ?"
    filters: dict[str, object] = {
        "runs.job = ?": job,
        game_condition: game,
        state_condition: state,
        "+runs.state <> ?": RunState.RUNNING if is_over else None,
        "runs.id IN (SELECT run FROM seats WHERE version = ?)": version,
        "runs.id IN (SELECT run FROM seats WHERE version IN "
        "(SELECT versions.id FROM versions JOIN bots ON bots.id = bot WHERE bots.name = ?))": bot,
        "users.name = ?": user,
        "runs.lineup = ?": pair,
        "runs.job IN (SELECT job FROM event_jobs WHERE event = ?)": event,
        "runs.id < ?": before,
    }
    return _runs(store, _read_page(store, _RUNS, filters, "runs.id", limit))


def runs_of_job(store: Store, job: Job) -> tuple[Run, ...]:
    """Runs of a job in the order of their numbers."""
    return runs(store, job=job.id, limit=job.runs + 1)[::-1]


def runs_by_number(store: Store, numbers: Sequence[int]) -> dict[int, Run]:
    marks = ",".join("?" * len(numbers))
    rows = store.read(f"{_RUNS}WHERE runs.id IN ({marks})", *numbers)
    return {run.id: run for run in _runs(store, rows)}


def matches(store: Store, run: int) -> tuple[Match, ...]:
    """Matches of a finished run in the order of their names."""
    rows = store.read("SELECT name, log, first_hand, hands FROM matches WHERE run = ? ORDER BY name", run)
    return tuple(read_row(Match, row) for row in rows)


def faults(
    store: Store,
    *,
    run: int | None = None,
    owner: int | None = None,
    before: int | None = None,
    limit: int = _PAGE,
) -> tuple[Fault, ...]:
    """Faults in a run or of an owner's bots, the latest first."""
    query = (
        "SELECT faults.*, faults.seat AS player, seats.version "
        "FROM faults JOIN seats ON seats.run = faults.run AND seats.seat = faults.seat "
    )
    is_of_owner = "seats.version IN (SELECT versions.id FROM versions JOIN bots ON bots.id = bot WHERE bots.owner = ?)"
    filters: dict[str, object] = {
        "faults.run = ?": run,
        is_of_owner: owner,
        "faults.id < ?": before,
    }
    return tuple(read_row(Fault, row) for row in _read_page(store, query, filters, "faults.id", limit))


def faults_by_bot(store: Store, limit: int = _PAGE) -> list[tuple[Bot, str, int, int]]:
    """Count the last `LAST_FAULTS` faults by bot and kind, as (bot, kind, count, last run)."""
    rows = store.read(
        "SELECT seats.version, kind, count(*) AS n, max(faults.run) AS run FROM faults "
        "JOIN seats ON seats.run = faults.run AND seats.seat = faults.seat "
        "WHERE faults.id > (SELECT max(id) FROM faults) - ? AND seats.version IS NOT NULL "
        "GROUP BY seats.version, kind ORDER BY n DESC LIMIT ?",
        LAST_FAULTS,
        limit,
    )
    counts = []
    for row in rows:
        player = bot(store, row["version"])
        if player is not None:
            counts.append((player, row["kind"], row["n"], row["run"]))
    return counts


def faults_by_kind(store: Store, version: int, limit: int = 1000) -> dict[str, int]:
    """Count the faults of a version by kind in its last `limit` runs, the most frequent first."""
    rows = store.read(
        "SELECT kind, count(*) AS n FROM (SELECT run, seat FROM seats WHERE version = ? ORDER BY run DESC LIMIT ?) "
        "AS last JOIN faults ON faults.run = last.run AND faults.seat = last.seat GROUP BY kind ORDER BY n DESC, kind",
        version,
        limit,
    )
    return {row["kind"]: row["n"] for row in rows}


def duplicate_scores(store: Store, run: int, player: int) -> array[float]:
    """Winnings of a player in each duplicate of a run, in mbb/g in the order of the deals; empty without a result."""
    scores = array("d")
    for row in store.read("SELECT mbb_by_duplicate FROM scores WHERE run = ? AND seat = ?", run, player):
        scores.frombytes(row["mbb_by_duplicate"])
    return scores
