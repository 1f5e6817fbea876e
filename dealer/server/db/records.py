"""The things that a server keeps, one frozen model each, and the questions about them: bots, jobs, runs, faults.

A model is read from its row by name, is what pages show, and, as JSON, what programs get (`dealer.web.api`); fields
that programs do not see are excluded from that, and class docstrings and descriptions are those of the interface.
Times are seconds since 1970 (``..._s``), and the same as ISO 8601 in UTC (``..._at``). Rates are mbb/g, thousandths of
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
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, PlainSerializer, WithJsonSchema, computed_field

from dealer.run.choices import Seating
from dealer.run.results import FailureReport, public_sentence
from dealer.server.accounts import User
from dealer.server.db.store import Store
from engine import DealKey, Seed
from engine.text import escaped_bytes
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


class Model(BaseModel):
    """A frozen value without fields beyond its own."""

    model_config = ConfigDict(extra="forbid", from_attributes=True, frozen=True)


_M = TypeVar("_M", bound=Model)


def moment_of(name: str) -> Any:
    def at(self: Any) -> datetime | None:
        seconds = getattr(self, name)
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)

    return computed_field(description=f"{name} as ISO 8601")(property(at))


def _name_of(user: User | None) -> str | None:
    return None if user is None else user.name


def _shown(seed: Seed | None) -> int | str | None:
    return seed.secret.hex() if isinstance(seed, DealKey) else seed


_TEXT = {"type": "string"}
_NOTHING = {"type": "null"}
_User: TypeAlias = Annotated[User, PlainSerializer(_name_of), WithJsonSchema({"title": "User", **_TEXT})]
_Owner: TypeAlias = Annotated[
    User | None, PlainSerializer(_name_of), WithJsonSchema({"title": "Owner", "anyOf": [_TEXT, _NOTHING]})
]
_Seed: TypeAlias = Annotated[
    int | InstanceOf[DealKey] | None,
    PlainSerializer(_shown),
    WithJsonSchema({"title": "Seed", "anyOf": [{"type": "integer"}, _TEXT, _NOTHING]}),
]
_Line: TypeAlias = Annotated[bytes, PlainSerializer(escaped_bytes, return_type=str)]


class Bot(Model):
    """A bot in a game, in its newest version."""

    version: int = Field(description="the number that seats, pairs and ratings name")
    game: str
    name: str
    owner: _Owner = Field(description="null for a bot of the server")
    number: int = Field(description="of the version, from 1")
    label: str = Field(description="what its owner calls the version")
    created_s: float
    seen_s: float | None = Field(description="when it was last connected")
    created_at = moment_of("created_s")
    seen_at = moment_of("seen_s")


class Job(Model):
    """A request of a user."""

    id: int
    user: _User
    tag: str
    game: str
    players: tuple[str, ...]
    runs: int
    started: int = Field(description="runs that have started")
    state: JobState
    reason: str = Field(description="why it was cancelled")
    seed: _Seed = Field(description="of a key that the server drew, the digits; null while it would reveal later cards")
    submitted_s: float
    ended_s: float | None
    submitted_at = moment_of("submitted_s")
    ended_at = moment_of("ended_s")
    # Of each run; which cards it has is in `seed`.
    terms: ContestTerms = Field(exclude=True)
    kind: JobKind = Field(exclude=True)
    # The only run in the sequence of seeds; None plays the sequence from its start.
    seed_index: int | None = Field(exclude=True)
    # When it last started, or came: a larger number is later.
    stamp: int = Field(exclude=True)

    @property
    def label(self) -> str:
        """What the text port calls it: its user, a dot, its tag."""
        return f"{self.user.name}.{self.tag}"

    @property
    def is_open(self) -> bool:
        """Whether something of it is to be played, or is being played."""
        return self.state in (JobState.QUEUED, JobState.RUNNING)

    @property
    def is_seed_drawn(self) -> bool:
        """Whether the server has drawn a key, so that no card to come is known."""
        return isinstance(self.seed, DealKey)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def seating(self) -> Seating:
        return Seating(self.terms.seating)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def deals(self) -> int | None:
        return self.terms.deals

    @computed_field  # type: ignore[prop-decorator]
    @property
    def stop(self) -> str | None:
        return self.terms.stop


class RunSeat(Model):
    """A player of a run; its numbers are null until the run has ended."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    # Its place among the players, which is its seat in the first seating.
    player: int
    # In logs and tables; of a run without a result, that of the bot, or of the user whose own agent plays.
    name: str
    version: int | None = Field(default=None, description="null for a program that was brought for this run only")
    chips: float | None = None
    mbb_per_game: float | None = None
    half_width_95: float | None = None
    adjusted_mbb: float | None = Field(default=None, description="with all-in hands at their expectation")
    adjusted_half_width_95: float | None = None

    @property
    def estimate(self) -> Estimate | None:
        return None if self.mbb_per_game is None else Estimate(self.mbb_per_game, self.half_width_95)


class Run(Model):
    """A contest that is played or was."""

    id: int
    job: int
    number: int = Field(description="among those of its job, from 1")
    user: str
    tag: str
    game: str
    state: RunState
    # For everybody: nothing that a player sent or wrote is quoted.
    reason: str
    duplicates: int | None = Field(description="deals that were played in every seating")
    is_rated: bool = Field(description="whether it counts in the standings")
    unrated: str = Field(description="why it does not; empty if it does, and where nothing was played yet")
    started_s: float
    ended_s: float | None
    started_at = moment_of("started_s")
    ended_at = moment_of("ended_s")
    seats: tuple[RunSeat, ...]
    seed: _Seed = Field(exclude=True)
    # Of its files, in the folder of the server.
    folder: str = Field(exclude=True)
    # Why it failed; also None where an older version of the server has kept a sentence only.
    cause: FailureReport | None = Field(default=None, exclude=True)
    # The sentence that the database has; it may quote a player.
    kept_reason: str = Field(default="", exclude=True)

    def reason_for(self, *, shows_output: bool) -> str:
        """Why it ended; what players sent and wrote is quoted if `shows_output`."""
        if not shows_output:
            return self.reason
        return self.kept_reason if self.cause is None else self.cause.sentence(shows_output=True)

    @property
    def results(self) -> tuple[RunSeat, ...]:
        """What the seats have won; empty where nothing was played."""
        return tuple(seat for seat in self.seats if seat.chips is not None)


class Match(Model):
    """A match of a run: one seating of its players."""

    name: str
    first_hand: int
    hands: int
    # Here the file in the folder of the run; programs get an address in its place.
    log: str = Field(description="the address of its ACPC log")


class Fault(Model):
    """Something that a bot did wrong."""

    id: int
    run: int
    match: str
    player: int
    version: int | None = Field(exclude=True)
    kind: str
    # -1 before the first hand.
    hand_number: int
    line: _Line = Field(description="as it was received; what is not printable as Python writes it: \\x.., \\r")
    remedy: str


def model_of(model: type[_M], row: sqlite3.Row, **more: object) -> _M:
    """A model of the columns of its row that are called like its fields, and of `more`."""
    fields = model.model_fields
    return model.model_validate({name: row[name] for name in row.keys() if name in fields} | more)  # noqa: SIM118


def _read_page(store: Store, query: str, chosen: dict[str, object], order: str, most: int) -> list[sqlite3.Row]:
    given = {condition: value for condition, value in chosen.items() if value is not None}
    where = f"WHERE {' AND '.join(given)} " if given else ""
    return store.read(f"{query}{where}ORDER BY {order} DESC LIMIT ?", *given.values(), most)


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
        model_of(Bot, row, owner=None if row["owner"] is None else User(row["owner"], row["owner_name"]))
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
        model_of(
            Job,
            row,
            user=User(row["user"], row["user_name"]),
            players=tuple(json.loads(row["players"])),
            seed=_seed_of(row),
            terms=ContestTerms(**{name: row[name] for name in TERM_COLUMNS}),
            state=JobState.RUNNING if row["is_running"] else row["state"],
        )
        for row in rows
    )


def job(store: Store, number: int) -> Job | None:
    """A job by its number."""
    return next(iter(_jobs(store.read(_JOBS + "WHERE jobs.id = ?", number))), None)


def job_of(store: Store, run: int) -> Job | None:
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
    most: int = _PAGE,
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
    return _jobs(_read_page(store, _JOBS, chosen, "jobs.id", most))


def open_jobs(store: Store) -> tuple[Job, ...]:
    """The jobs of which something is left, in the order in which they came; not those of tables at which people sit."""
    tables = "(SELECT job FROM runs WHERE id IN (SELECT run FROM tables))"
    condition = f"WHERE jobs.state = 'queued' AND jobs.id NOT IN {tables} ORDER BY jobs.id"
    return _jobs(store.read(_JOBS + condition))


_RUNS = (
    "SELECT runs.*, runs.lineup IS NOT NULL AS is_rated, jobs.tag, users.name AS user FROM runs "
    "JOIN jobs ON jobs.id = runs.job JOIN users ON users.id = jobs.user "
)


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
        seats[row["run"]].append(model_of(RunSeat, row, name=name))
    return tuple(
        model_of(Run, row, seed=_seed_of(row), seats=tuple(seats[row["id"]]), **_reasons_of(row)) for row in rows
    )


def _reasons_of(row: sqlite3.Row) -> dict[str, object]:
    """The fields about the end of a run."""
    cause = None if row["cause"] is None else FailureReport.model_validate_json(row["cause"])
    reason = public_sentence(cause) if row["state"] == RunState.FAILED else row["reason"]
    return {"cause": cause, "kept_reason": row["reason"], "reason": reason}


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
    most: int = _PAGE,
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
    return _runs(store, _read_page(store, _RUNS, chosen, "runs.id", most))


def runs_of(store: Store, job: Job) -> tuple[Run, ...]:
    """All runs of a job, in their order."""
    return runs(store, job=job.id, most=job.runs + 1)[::-1]


def runs_by_number(store: Store, numbers: Sequence[int]) -> dict[int, Run]:
    """Runs by their numbers."""
    query = f"{_RUNS}WHERE runs.id IN ({','.join('?' * len(numbers))})"
    return {one.id: one for one in _runs(store, store.read(query, *numbers))}


def matches(store: Store, run: int) -> tuple[Match, ...]:
    """The matches of a run that has ended, in the order of their names."""
    rows = store.read("SELECT name, log, first_hand, hands FROM matches WHERE run = ? ORDER BY name", run)
    return tuple(model_of(Match, row) for row in rows)


def faults(
    store: Store,
    *,
    run: int | None = None,
    owner: int | None = None,
    before: int | None = None,
    most: int = _PAGE,
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
    return tuple(model_of(Fault, row) for row in _read_page(store, query, chosen, "faults.id", most))


def faults_by_bot(store: Store, most: int = _PAGE) -> list[tuple[Bot, str, int, int]]:
    """Bots, the kind of their faults, how many there are, and the last run with one: among the last faults."""
    rows = store.read(
        "SELECT seats.version, kind, count(*) AS found, max(faults.run) AS run FROM faults "
        "JOIN seats ON seats.run = faults.run AND seats.seat = faults.seat "
        "WHERE faults.id > (SELECT max(id) FROM faults) - ? AND seats.version IS NOT NULL "
        "GROUP BY seats.version, kind ORDER BY found DESC LIMIT ?",
        LAST_FAULTS,
        most,
    )
    found = [(bot(store, row["version"]), row) for row in rows]
    return [(one, row["kind"], row["found"], row["run"]) for one, row in found if one is not None]


def faults_by_kind(store: Store, version: int, most: int = 1000) -> dict[str, int]:
    """How often a version did what wrong in so many of its last runs, the most frequent first."""
    rows = store.read(
        "SELECT kind, count(*) AS n FROM (SELECT run, seat FROM seats WHERE version = ? ORDER BY run DESC LIMIT ?) "
        "AS last JOIN faults ON faults.run = last.run AND faults.seat = last.seat GROUP BY kind ORDER BY n DESC, kind",
        version,
        most,
    )
    return {row["kind"]: row["n"] for row in rows}


def duplicate_scores(store: Store, run: int, player: int) -> array[float]:
    """What a player won in each duplicate of a run, in mbb/g and in the order of the deals; empty without a result."""
    scores = array("d")
    for row in store.read("SELECT mbb_by_duplicate FROM scores WHERE run = ? AND seat = ?", run, player):
        scores.frombytes(row["mbb_by_duplicate"])
    return scores
