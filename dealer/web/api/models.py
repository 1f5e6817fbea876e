"""Requests and responses of the HTTP interface as pydantic models.

A model of a database row has the fields of `dealer.server.db` without those that programs must not see; `Model.of`
makes it from the row. Docstrings and descriptions become part of the OpenAPI document. Lists come in pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Self, TypeAlias

from fastapi import Query
from pydantic import (
    AfterValidator,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    InstanceOf,
    PlainSerializer,
    WithJsonSchema,
    computed_field,
)

from dealer.doctor.findings import DoctorReport
from dealer.match.faults import FaultPolicy
from dealer.run.choices import Seating
from dealer.run.results import GameStandings
from dealer.server.accounts import Scope
from dealer.server.db.event_records import EventState
from dealer.server.db.records import JobRequest, JobState, RunState
from dealer.server.db.users import User
from dealer.uploads.upload_records import UploadState
from engine import DealKey, Seed
from engine.text import escaped_bytes
from protocol.joining import ContestTerms


class Model(BaseModel):
    """Frozen base class of all models; unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid", from_attributes=True, frozen=True)

    @classmethod
    def of(cls, row: object) -> Self:
        """Make a model from a value with attributes of the same names."""
        return cls.model_validate(row)

    @classmethod
    def all_of(cls, rows: Iterable[object]) -> list[Self]:
        """Make a list of models."""
        return [cls.of(row) for row in rows]


# ---- rows of the database


def _iso_time(name: str) -> Any:
    def value(self: Any) -> datetime | None:
        seconds = getattr(self, name)
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)

    return computed_field(description=f"{name} as ISO 8601")(property(value))


def _name_or_none(user: User | None) -> str | None:
    return None if user is None else user.name


def _seed_or_key(seed: Seed | None) -> int | str | None:
    return seed.secret.hex() if isinstance(seed, DealKey) else seed


_TEXT = {"type": "string"}
_NOTHING = {"type": "null"}
_User: TypeAlias = Annotated[User, PlainSerializer(_name_or_none), WithJsonSchema({"title": "User", **_TEXT})]
_Owner: TypeAlias = Annotated[
    User | None, PlainSerializer(_name_or_none), WithJsonSchema({"title": "Owner", "anyOf": [_TEXT, _NOTHING]})
]
_Seed: TypeAlias = Annotated[
    int | InstanceOf[DealKey] | None,
    PlainSerializer(_seed_or_key),
    WithJsonSchema({"title": "Seed", "anyOf": [{"type": "integer"}, _TEXT, _NOTHING]}),
]
_Line: TypeAlias = Annotated[bytes, PlainSerializer(escaped_bytes, return_type=str)]


class Bot(Model):
    """A bot in a game, in its newest version."""

    version: int = Field(description="the number that seats, pairs and ratings name")
    game: str
    name: str
    owner: _Owner = Field(description="null for a bot of the server")
    number: int = Field(description="number of the version, from 1")
    label: str = Field(description="label that its owner gave the version")
    created_s: float
    seen_s: float | None = Field(description="time of its last connection")
    created_at = _iso_time("created_s")
    seen_at = _iso_time("seen_s")


class Job(Model):
    """A contest that a user has submitted, to be played in one or more runs."""

    id: int
    user: _User
    tag: str
    game: str
    players: tuple[str, ...]
    runs: int
    started: int = Field(description="runs that have started")
    state: JobState
    reason: str = Field(description="reason of the cancellation")
    seed: _Seed = Field(description="hexadecimal for a key of the server; null while it would reveal later cards")
    submitted_s: float
    ended_s: float | None
    submitted_at = _iso_time("submitted_s")
    ended_at = _iso_time("ended_s")
    terms: ContestTerms = Field(exclude=True)

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
    """A player of a run; the results are null until the run has ended."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    # Index of the player, which is its seat in the first seating.
    player: int
    # Name in logs and tables. Until there is a result, the name of the bot, or of the user who hosts a program.
    name: str
    version: int | None = Field(default=None, description="null for a program that a client hosts for this run only")
    chips: float | None = None
    mbb_per_game: float | None = Field(default=None, validation_alias=AliasPath("won", "mean"))
    half_width_95: float | None = Field(default=None, validation_alias=AliasPath("won", "half_width"))
    adjusted_mbb: float | None = Field(
        default=None,
        validation_alias=AliasPath("adjusted", "mean"),
        description="all-in hands counted at their expectation",
    )
    adjusted_half_width_95: float | None = Field(default=None, validation_alias=AliasPath("adjusted", "half_width"))


class Run(Model):
    """A contest, running or finished."""

    id: int
    job: int
    number: int = Field(description="number among the runs of its job, from 1")
    user: str
    tag: str
    game: str
    state: RunState
    reason: str
    duplicates: int | None = Field(description="deals played in every seating")
    is_rated: bool = Field(description="whether it counts in the standings")
    unrated: str = Field(description="reason that it does not count; empty if it does or before anything was played")
    started_s: float
    ended_s: float | None
    started_at = _iso_time("started_s")
    ended_at = _iso_time("ended_s")
    seats: tuple[RunSeat, ...]


class Match(Model):
    """A match of a run: one seating of its players."""

    name: str
    first_hand: int
    hands: int
    log: str = Field(description="path of its ACPC log")


class Fault(Model):
    """A fault of a bot."""

    id: int
    run: int
    match: str
    player: int
    kind: str
    # -1 for a fault before the first hand.
    hand_number: int
    line: _Line = Field(description="as received, with \\x.. and other Python escapes for unprintable bytes")
    remedy: str


class PairScore(Model):
    """Winnings of a version against the others of a pair."""

    version: int
    mbb_per_game: float
    half_width_95: float | None


class Pair(Model):
    """All results that count between the same versions."""

    id: int
    game: str
    runs: int
    duplicates: int
    hands: int
    # Sorted by version.
    scores: tuple[PairScore, ...]


class Rating(Model):
    """Estimated winnings of a version against the average of its field."""

    bot: Bot
    mbb_per_game: float
    half_width_95: float | None
    field: int = Field(description="number of its field; ratings of different fields cannot be compared")
    is_provisional: bool
    # Sum over its pairs.
    duplicates: int


class Disqualification(Model):
    """Exclusion of a bot from an event."""

    bot: str
    reason: str


class ScheduledEvent(Model):
    """A round robin between frozen versions of bots."""

    name: str
    game: str
    state: EventState
    deals: int | None = Field(description="deals of each contest, played in every seating; null for the game's default")
    named: tuple[str, ...] | None = Field(description="bots that may enter; null for all")
    entries_per_user: int = Field(description="bots of one user that enter unless they are named; 0 for any number")
    entrants: tuple[str, ...] = Field(
        description="bots whose versions are frozen; while it is open, those that enter if it closes now"
    )
    disqualified: tuple[Disqualification, ...] = Field(description="bots whose contests do not count")
    contests: int = Field(description="number of contests that count; 0 before it closes")
    contests_ended: int
    note: str = Field(description="named bots that were left out; empty for none")
    opens_s: float
    closes_s: float
    opens_at = _iso_time("opens_s")
    closes_at = _iso_time("closes_s")


class EventContest(Model):
    """A contest of an event."""

    job: int
    players: tuple[str, ...] = Field(description="by seat of the first seating")
    state: JobState
    reason: str = Field(description="reason that it was not played; empty if it was or will be")
    run: Run | None = Field(description="null before it begins")


class EventDetail(Model):
    """An event with its results."""

    event: ScheduledEvent
    seconds_left: float | None = Field(description="seconds until it opens, closes or is played; null if unknown")
    standings: GameStandings | None = Field(description="standings from the contests so far; null before it closes")
    contests: tuple[EventContest, ...]
    after: int | None = Field(None, description="parameter for the next page of contests; null on the last page")


class SeriesEvent(Model):
    """An event of a series."""

    name: str
    state: EventState


class SeriesRow(Model):
    """A bot in the table of a series."""

    bot: str
    total: float | None = Field(description="points, mbb/g or place in the final, as the rule says")
    results: dict[str, float] = Field(description="the same by event")


class Series(Model):
    """A series with its table, the best bot first."""

    name: str
    game: str
    rule: str
    events: list[SeriesEvent]
    table: list[SeriesRow]


class AllSeries(Model):
    """Names of all series, the latest first."""

    series: tuple[str, ...]


class Upload(Model):
    """An uploaded version of a bot."""

    id: int
    bot: str
    number: int = Field(description="number among the uploads of this bot")
    command: str
    language: str
    games: tuple[str, ...]
    state: UploadState
    reason: str = Field(description="reason that it does not play; empty if the reports have it, or if it plays")
    sha256: str = Field(description="SHA-256 of the archive")
    size: int = Field(description="size of the archive in bytes")
    submitted_s: float
    submitted_at = _iso_time("submitted_s")


# ---- values of requests


def _check_printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("text must be printable")
    return text


_Tag: TypeAlias = Annotated[str, Field(max_length=200, pattern=r"^\S*$"), AfterValidator(_check_printable)]
_Name: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=200, pattern=r"^\S+$"), AfterValidator(_check_printable)
]


Number: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]


class RateLimited(Model):
    """A limit that has been reached."""

    key: str
    seconds: int = Field(description="seconds to wait")


class Problem(Model):
    """Description of an error (RFC 9457)."""

    title: str = Field(description="meaning of the status")
    status: int
    detail: str = Field(description="sentence about the error in this request")
    ratelimit: RateLimited = Field(None, description="present if a limit is reached")  # type: ignore[assignment]


# ---- parameters of queries


Limit: TypeAlias = Annotated[int, Query(ge=1, le=200, description="entries of a page")]
LongLimit: TypeAlias = Annotated[int, Query(ge=1, le=1000, description="entries of a page")]
Before: TypeAlias = Annotated[Number | None, Query(description="field `before` of the previous page")]
After: TypeAlias = Annotated[Number, Query(description="field `after` of the previous page")]
Mine: TypeAlias = Annotated[bool, Query(description="only the caller's own")]
OfGame: TypeAlias = Annotated[str | None, Query(description="only of this game")]


# ---- requests and responses


class Caller(Model):
    """User and scopes of a token."""

    user: str
    scopes: list[Scope]
    team: str | None = Field(description="team for which the user acts; null without one")
    team_invitations: tuple[str, ...] = Field(description="teams that the user may join")


class Team(Model):
    """A team of users."""

    name: str
    members: tuple[str, ...]


class Teams(Model):
    """All teams, by name."""

    teams: list[Team]


class NewTeam(Model):
    """A team to form."""

    name: str = Field(min_length=1, max_length=64)


class Invited(Model):
    """A user to invite."""

    user: str = Field(min_length=1, max_length=64)


class Game(Model):
    """A game that the server offers."""

    name: str
    players: int
    deals: int = Field(description="deals of one run by default")
    most_runs: int = Field(description="largest number of runs of one job")
    definition: str = Field(description="text of an ACPC .game file")


class Games(Model):
    """All games."""

    games: list[Game]


class Bots(Model):
    """A page of bots, by game and name."""

    bots: list[Bot]
    after: int | None = Field(description="parameter for the next page; null on the last page")


class NewJob(Model):
    """A contest to submit."""

    game: _Name
    players: list[_Name] = Field(min_length=1, max_length=10, description="by seat of the first seating")
    tag: _Tag = Field("", description="label of your own")
    runs: int = Field(1, ge=1, le=10_000)
    seed: int = Field(
        0, ge=0, lt=2**32, description="0 lets the server draw a key; only then can the result count in the standings"
    )
    deals: int | None = Field(None, ge=1, description="largest number of deals of a run; null for the game's default")
    seating: Seating = Field(Seating.ROTATIONS, description="seatings in which each deal is played")
    stop: str | None = Field(None, max_length=200, description="condition to end early, as arena play --stop: ci=30")
    on_fault: FaultPolicy = FaultPolicy.END
    practice: bool = Field(False, description="the same cards for all bots in every seating; never counts")

    def request(self) -> JobRequest:
        """Convert the model to the server's own type."""
        terms = self.model_dump(mode="json", include={"deals", "stop", "seating", "seed", "on_fault", "practice"})
        return JobRequest(self.game, tuple(self.players), self.tag, self.runs, terms=ContestTerms(**terms))


class Jobs(Model):
    """A page of jobs, the newest first."""

    jobs: list[Job]
    before: int | None = Field(description="parameter for the next page; null on the last page")


class Runs(Model):
    """A page of runs, the newest first."""

    runs: list[Run]
    before: int | None = Field(description="parameter for the next page; null on the last page")


class JobDetail(Model):
    """A job with its runs."""

    job: Job
    runs: list[Run]
    position: int | None = Field(description="number of runs that start before its next one; null if no run waits")
    starts_in_s: float | None = Field(description="estimated seconds until then; null without an estimate")


class RunDetail(Model):
    """A run with its matches."""

    run: Run
    matches: list[Match]


class Scores(Model):
    """Winnings of a player in each duplicate of a run, in the order of the deals."""

    mbb_by_duplicate: list[float]


class Faults(Model):
    """A page of faults, the latest first."""

    faults: list[Fault]
    before: int | None = Field(description="parameter for the next page; null on the last page")


class Hand(Model):
    """A finished hand."""

    number: int
    names: list[str] = Field(description="names by position")
    state: str = Field(description="betting and cards as in an ACPC log")
    values: list[float] = Field(description="net chips by position")


class Hands(Model):
    """Hands of a match."""

    hands: list[Hand]
    after: int | None = Field(description="parameter for the next page; null on the last page")


class Pairs(Model):
    """A page of the crosstable of a game."""

    pairs: list[Pair]
    after: int | None = Field(description="parameter for the next page; null on the last page")


class Standings(Model):
    """A page of the ratings of a game, by size of their field and then by rating."""

    ratings: list[Rating]
    after: int | None = Field(description="parameter for the next page; null on the last page")


class ScheduledEvents(Model):
    """A page of events, the latest first."""

    events: list[ScheduledEvent]
    before: int | None = Field(description="parameter for the next page; null on the last page")


class Uploads(Model):
    """The latest uploads of a user."""

    uploads: list[Upload]


class UploadDetail(Model):
    """An upload with the doctor's reports."""

    upload: Upload
    reports: tuple[DoctorReport, ...] = Field(description="as in `arena doctor --json`, by game; empty until examined")
    log: str = Field(description="dialogue with the doctor")
    failure: str = Field(description="output of the bot when it last left a match")


class Cancelled(Model):
    """Result of a cancellation."""

    is_cancelled: bool
