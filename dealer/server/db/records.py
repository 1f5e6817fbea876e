"""Bots, jobs, runs and faults of a server as frozen values, and the queries for them.

A value is read from its row by name. `dealer.web.api.models` has its fields as programs get them. Times are seconds
since 1970 (``..._s``), and the same as a `datetime` in UTC (``..._at``). Rates are mbb/g, thousandths of
a big blind per hand; a half width is half of the 95 % interval.

A job is what a user asked for; each of its runs is a contest that `dealer.library` plays, in a folder named by the
run's number. Every answer is as of the last change on disk. Lists go backwards in time and are asked for page by page:
`before` is the number of the last entry seen, `most` how many to give. Who may see what is decided in
`dealer.server.access`, not here.
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
    """How a job stands."""

    QUEUED = "queued"
    """A run of it is to be played, and none is being played."""
    RUNNING = "running"
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
class JobRequest:
    """A contest to be played so many times.

    Attributes:
        players: by seat of the first seating: the server's own bots, bots of users, or `protocol.benchmark.OWN_SEAT`
            for an agent that the client itself brings.
        tag: what the user calls it.
        runs: how often.
        seed_index: the only run in the sequence of seeds; None for the sequence from its start.
        kind: where it comes from.
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
    """Property with a time of a field in seconds since 1970, in UTC; None where the field is None."""

    def at(self: object) -> datetime | None:
        seconds = getattr(self, name)
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)

    return property(at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A version of a bot in a game.

    Attributes:
        version: the number that seats, pairs and ratings name.
        owner: None for a bot of the server.
        number: of the version among those of the bot, from 1.
        label: the owner's name of the version.
        seen_s: when it was last connected.
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
    """A request of a user.

    Attributes:
        started: number of runs that have started.
        reason: why it was cancelled.
        seed: of all runs; None where it is withheld from the reader.
        terms: of each run. Their seed is not used, see `seed`.
        seed_index: the only run in the sequence of seeds; None for the sequence from its start.
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
        """Name in the text port: user, dot, tag."""
        return f"{self.user.name}.{self.tag}"

    @property
    def is_open(self) -> bool:
        """Whether a run of it is being played or still to be played."""
        return self.state in (JobState.QUEUED, JobState.RUNNING)

    @property
    def is_seed_drawn(self) -> bool:
        """Whether the server drew a key, so that later cards are unknown."""
        return isinstance(self.seed, DealKey)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeat:
    """A player of a run. Its numbers are None until the run has ended.

    Attributes:
        player: place among the players, that is, the seat in the first seating.
        name: in logs and tables; in a run without a result that of the bot, or of the user whose own agent plays.
        version: None for a program that was brought for this run only.
        won: per hand; the database does not keep the standard error.
        adjusted: the same with all-in hands at their expectation, once that is counted.
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
        reason: of its end, for everybody; quotes no player.
        duplicates: number of deals that were played in every seating.
        is_rated: whether it counts in the standings.
        unrated: why it does not; empty if it does or if nothing has been played.
        folder: of its files, in the folder of the server.
        cause: of a failure; also None if an older version of the server kept a sentence only.
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
        """Reason of its end; output of players is quoted only with `shows_output`."""
        if not shows_output:
            return self.reason
        return self.kept_reason if self.cause is None else self.cause.sentence(shows_output=True)

    @property
    def results(self) -> tuple[RunSeat, ...]:
        """Seats with their results; empty if nothing was played."""
        return tuple(seat for seat in self.seats if seat.chips is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A match of a run: one seating of its players.

    Attributes:
        log: its ACPC log, a file in the folder of the run.
    """

    name: str
    first_hand: int
    hands: int
    log: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An error of a bot.

    Attributes:
        version: of the bot; None for a program that was brought for this run only.
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
    """Make a dataclass of `more` and of the columns that are named like its other fields."""
    columns = row.keys()
    names = [field.name for field in fields(row_type) if field.name in columns and field.name not in more]  # type: ignore[arg-type]
    return row_type(**{name: row[name] for name in names}, **more)


def _read_page(store: Store, query: str, chosen: dict[str, object], order: str, limit: int) -> list[sqlite3.Row]:
    given = {condition: value for condition, value in chosen.items() if value is not None}
    where = f"WHERE {' AND '.join(given)} " if given else ""
    return store.read(f"{query}{where}ORDER BY {order} DESC LIMIT ?", *given.values(), limit)


def runs_by_state(store: Store) -> dict[RunState, int]:
    """How many runs a server has in each state."""
    found = {row["state"]: row["n"] for row in store.read("SELECT state, count(*) AS n FROM runs GROUP BY state")}
    return {state: found.get(state, 0) for state in RunState}


def counts(store: Store) -> sqlite3.Row:
    """How many open requests, users, and faults of bots a server has."""
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
    """The newest version of every bot, by game and name; of one game or one owner, where these are given."""
    return _bots(
        store,
        "WHERE versions.number = (SELECT max(number) FROM versions AS all_versions "
        "WHERE all_versions.bot = bots.id) AND (?1 IS NULL OR bots.game = ?1) AND (?2 IS NULL OR bots.owner = ?2) "
        "ORDER BY bots.game, bots.name",
        game,
        owner,
    )


def bot(store: Store, version: int | None) -> Bot | None:
    """A version by its number; None has no bot."""
    return next(iter(_bots(store, "WHERE versions.id = ?", version)), None)


def versions(store: Store, game: str, name: str) -> tuple[Bot, ...]:
    """All versions of a bot in a game, the newest first."""
    return _bots(store, "WHERE bots.game = ? AND bots.name = ? ORDER BY versions.number DESC", game, name)


def bots_of_event(store: Store, event: int) -> tuple[Bot, ...]:
    """The versions that have entered an event, by name."""
    return _bots(store, "WHERE versions.id IN (SELECT version FROM entries WHERE event = ?) ORDER BY bots.name", event)


def versions_by_number(store: Store, numbers: Sequence[int]) -> dict[int, Bot]:
    """Versions by their numbers."""
    found = _bots(store, f"WHERE versions.id IN ({','.join('?' * len(numbers))})", *numbers)
    return {one.version: one for one in found}


def all_versions(store: Store, game: str) -> dict[int, Bot]:
    """All versions of all bots of a game, by their numbers."""
    return {one.version: one for one in _bots(store, "WHERE bots.game = ?", game)}


# ---- jobs and runs


def new_job(user: User, request: JobRequest, seed: Seed, stamp: int = 0) -> Job:
    """A job that waits, before it has a number; `seed` is of all its runs together."""
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


def _jobs(rows: Sequence[sqlite3.Row]) -> tuple[Job, ...]:
    return tuple(
        read_row(
            Job,
            row,
            user=User(row["user"], row["user_name"]),
            players=tuple(json.loads(row["players"])),
            seed=_seed_of(row),
            terms=ContestTerms(**{name: row[name] for name in TERM_COLUMNS}),
            state=JobState.RUNNING if row["is_running"] else JobState(row["state"]),
            kind=JobKind(row["kind"]),
        )
        for row in rows
    )


def job(store: Store, number: int) -> Job | None:
    """A job by its number."""
    return next(iter(_jobs(store.read(_JOBS + "WHERE jobs.id = ?", number))), None)


def job_of_run(store: Store, run: int) -> Job | None:
    """The job of a run by the run's number."""
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
    """Jobs, the newest first; of a user, with a tag, in a state, of an event, where these are given."""
    chosen: dict[str, object] = {
        "jobs.user = ?": user,
        "jobs.tag = ?": tag,
        "jobs.state = ?": JobState.QUEUED if state is JobState.RUNNING else state,
        "is_running = ?": None if state is None else state is JobState.RUNNING,
        "jobs.id IN (SELECT job FROM event_jobs WHERE event = ?)": event,
        "jobs.id < ?": before,
    }
    return _jobs(_read_page(store, _JOBS, chosen, "jobs.id", limit))


def open_jobs(store: Store) -> tuple[Job, ...]:
    """The jobs of which something is left, in the order in which they came; not those of tables at which people sit."""
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
    """Mean and half width as two columns or fields."""
    return (None, None) if estimate is None else (estimate.mean, estimate.half_width)


def _runs(store: Store, rows: Sequence[sqlite3.Row]) -> tuple[Run, ...]:
    seats: dict[int, list[RunSeat]] = {row["id"]: [] for row in rows}
    users_of = {row["id"]: row["user"] for row in rows}
    marks = ",".join("?" * len(seats))
    found = store.read(
        "SELECT seats.*, seats.seat AS player, bots.name AS bot_name FROM seats "
        "LEFT JOIN versions ON versions.id = seats.version "
        f"LEFT JOIN bots ON bots.id = versions.bot WHERE run IN ({marks}) ORDER BY run, seat",
        *seats,
    )
    for row in found:
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
    """A run by its number."""
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
    """Runs, the newest first.

    Args:
        job: of this job only. game: of this game only. state: in this state only.
        is_over: without those that are being played.
        bot: with any version of the bots of this name only. user: requested by this user only.
        pair: that count in this pair only. event: of the contests of this event only.
    """
    chosen: dict[str, object] = {
        "runs.job = ?": job,
        # A plus keeps SQLite from an index by which nearly all runs, those of a game or in this state, would be sorted.
        f"{'+' * (bot is not None)}runs.game = ?": game,
        f"{'+' * (state is RunState.FINISHED)}runs.state = ?": state,
        "+runs.state <> ?": RunState.RUNNING if is_over else None,
        "runs.id IN (SELECT run FROM seats WHERE version = ?)": version,
        "runs.id IN (SELECT run FROM seats WHERE version IN "
        "(SELECT versions.id FROM versions JOIN bots ON bots.id = bot WHERE bots.name = ?))": bot,
        "users.name = ?": user,
        "runs.lineup = ?": pair,
        "runs.job IN (SELECT job FROM event_jobs WHERE event = ?)": event,
        "runs.id < ?": before,
    }
    return _runs(store, _read_page(store, _RUNS, chosen, "runs.id", limit))


def runs_of_job(store: Store, job: Job) -> tuple[Run, ...]:
    """All runs of a job, in their order."""
    return runs(store, job=job.id, limit=job.runs + 1)[::-1]


def runs_by_number(store: Store, numbers: Sequence[int]) -> dict[int, Run]:
    """Runs by their numbers."""
    query = f"{_RUNS}WHERE runs.id IN ({','.join('?' * len(numbers))})"
    return {one.id: one for one in _runs(store, store.read(query, *numbers))}


def matches(store: Store, run: int) -> tuple[Match, ...]:
    """The matches of a run that has ended, in the order of their names."""
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
    """What players did wrong, the latest first: in a run, or of all bots of a user."""
    query = (
        "SELECT faults.*, faults.seat AS player, seats.version "
        "FROM faults JOIN seats ON seats.run = faults.run AND seats.seat = faults.seat "
    )
    of_owner = "seats.version IN (SELECT versions.id FROM versions JOIN bots ON bots.id = bot WHERE bots.owner = ?)"
    chosen: dict[str, object] = {
        "faults.run = ?": run,
        of_owner: owner,
        "faults.id < ?": before,
    }
    return tuple(read_row(Fault, row) for row in _read_page(store, query, chosen, "faults.id", limit))


def faults_by_bot(store: Store, limit: int = _PAGE) -> list[tuple[Bot, str, int, int]]:
    """Bots, the kind of their faults, how many there are, and the last run with one: among the last faults."""
    rows = store.read(
        "SELECT seats.version, kind, count(*) AS found, max(faults.run) AS run FROM faults "
        "JOIN seats ON seats.run = faults.run AND seats.seat = faults.seat "
        "WHERE faults.id > (SELECT max(id) FROM faults) - ? AND seats.version IS NOT NULL "
        "GROUP BY seats.version, kind ORDER BY found DESC LIMIT ?",
        LAST_FAULTS,
        limit,
    )
    found = [(bot(store, row["version"]), row) for row in rows]
    return [(one, row["kind"], row["found"], row["run"]) for one, row in found if one is not None]


def faults_by_kind(store: Store, version: int, limit: int = 1000) -> dict[str, int]:
    """How often a version did what wrong in so many of its last runs, the most frequent first."""
    rows = store.read(
        "SELECT kind, count(*) AS n FROM (SELECT run, seat FROM seats WHERE version = ? ORDER BY run DESC LIMIT ?) "
        "AS last JOIN faults ON faults.run = last.run AND faults.seat = last.seat GROUP BY kind ORDER BY n DESC, kind",
        version,
        limit,
    )
    return {row["kind"]: row["n"] for row in rows}


def duplicate_scores(store: Store, run: int, player: int) -> array[float]:
    """What a player won in each duplicate of a run, in mbb/g and in the order of the deals; empty without a result."""
    scores = array("d")
    for row in store.read("SELECT mbb_by_duplicate FROM scores WHERE run = ? AND seat = ?", run, player):
        scores.frombytes(row["mbb_by_duplicate"])
    return scores
