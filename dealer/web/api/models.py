"""Requests and answers of the HTTP interface as pydantic models, which check and describe them.

Answers about rows of the database have the fields of `dealer.server.db`, without those that programs must not see:
`Model.of` makes a model of a row. Docstrings and descriptions are those of the interface. Lists are pages.
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
    """A frozen value without fields beyond its own."""

    model_config = ConfigDict(extra="forbid", from_attributes=True, frozen=True)

    @classmethod
    def of(cls, row: object) -> Self:
        """Make a model of a value with attributes of the same names."""
        return cls.model_validate(row)

    @classmethod
    def all_of(cls, rows: Iterable[object]) -> list[Self]:
        """Make a model of each value."""
        return [cls.of(row) for row in rows]


# ---- rows of the database


def _moment_of(name: str) -> Any:
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
    created_at = _moment_of("created_s")
    seen_at = _moment_of("seen_s")


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
    submitted_at = _moment_of("submitted_s")
    ended_at = _moment_of("ended_s")
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
    """A player of a run; its numbers are null until the run has ended."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    # Its place among the players, which is its seat in the first seating.
    player: int
    # In logs and tables; of a run without a result, that of the bot, or of the user whose own agent plays.
    name: str
    version: int | None = Field(default=None, description="null for a program that was brought for this run only")
    chips: float | None = None
    mbb_per_game: float | None = Field(default=None, validation_alias=AliasPath("won", "mean"))
    half_width_95: float | None = Field(default=None, validation_alias=AliasPath("won", "half_width"))
    adjusted_mbb: float | None = Field(
        default=None,
        validation_alias=AliasPath("adjusted", "mean"),
        description="with all-in hands at their expectation",
    )
    adjusted_half_width_95: float | None = Field(default=None, validation_alias=AliasPath("adjusted", "half_width"))


class Run(Model):
    """A contest that is played or was."""

    id: int
    job: int
    number: int = Field(description="among those of its job, from 1")
    user: str
    tag: str
    game: str
    state: RunState
    reason: str
    duplicates: int | None = Field(description="deals that were played in every seating")
    is_rated: bool = Field(description="whether it counts in the standings")
    unrated: str = Field(description="why it does not; empty if it does, and where nothing was played yet")
    started_s: float
    ended_s: float | None
    started_at = _moment_of("started_s")
    ended_at = _moment_of("ended_s")
    seats: tuple[RunSeat, ...]


class Match(Model):
    """A match of a run: one seating of its players."""

    name: str
    first_hand: int
    hands: int
    log: str = Field(description="the address of its ACPC log")


class Fault(Model):
    """Something that a bot did wrong."""

    id: int
    run: int
    match: str
    player: int
    kind: str
    # -1 before the first hand.
    hand_number: int
    line: _Line = Field(description="as it was received; what is not printable as Python writes it: \\x.., \\r")
    remedy: str


class PairScore(Model):
    """What a version won."""

    version: int
    mbb_per_game: float
    half_width_95: float | None


class Pair(Model):
    """Everything that counts between the same versions."""

    id: int
    game: str
    runs: int
    duplicates: int
    hands: int
    # In the order of their versions.
    scores: tuple[PairScore, ...]


class Rating(Model):
    """What a version would win from the average of its field."""

    bot: Bot
    mbb_per_game: float
    half_width_95: float | None
    field: int = Field(description="ratings of different fields cannot be compared")
    is_provisional: bool
    # Of all its pairs.
    duplicates: int


class ScheduledEvent(Model):
    """An event."""

    name: str
    game: str
    state: EventState
    deals: int | None = Field(description="of each contest, each in every seating; null for those of the game")
    named: tuple[str, ...] | None = Field(description="the bots that may enter; null for all")
    entrants: tuple[str, ...] = Field(description="the bots whose versions are frozen; empty before it closes")
    contests: int = Field(description="that are played, or were; 0 before it closes")
    contests_ended: int
    note: str = Field(description="which of the named bots were left out; empty for none")
    opens_s: float
    closes_s: float
    opens_at = _moment_of("opens_s")
    closes_at = _moment_of("closes_s")


class EventContest(Model):
    """A contest of an event."""

    job: int
    players: tuple[str, ...] = Field(description="by seat of the first seating")
    state: JobState
    reason: str = Field(description="why it was not played; empty if it is, or will be")
    run: Run | None = Field(description="null before it begins")


class EventDetail(Model):
    """An event with its results."""

    event: ScheduledEvent
    seconds_left: float | None = Field(description="until it opens, closes or is played; null if unknown")
    standings: GameStandings | None = Field(description="by the contests so far; null before it closes")
    contests: tuple[EventContest, ...]


class Upload(Model):
    """A version of a bot as a user has uploaded it."""

    id: int
    bot: str
    number: int = Field(description="of the uploads of this bot")
    command: str
    language: str
    games: tuple[str, ...]
    state: UploadState
    reason: str = Field(description="why it does not play; empty where the findings say it, and for one that plays")
    sha256: str = Field(description="of the archive")
    size: int = Field(description="of the archive, in bytes")
    submitted_s: float
    submitted_at = _moment_of("submitted_s")


# ---- values of requests


def _check_letters(text: str) -> str:
    if not text.isprintable():
        raise ValueError("a word has letters that can be printed")
    return text


_Tag: TypeAlias = Annotated[str, Field(max_length=200, pattern=r"^\S*$"), AfterValidator(_check_letters)]
_Word: TypeAlias = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^\S+$"), AfterValidator(_check_letters)]


Number: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]


class RateLimited(Model):
    """A limit that has been reached."""

    key: str
    seconds: int = Field(description="how long to wait")


class Problem(Model):
    """What is wrong (RFC 9457)."""

    title: str = Field(description="what the status means")
    status: int
    detail: str = Field(description="what is wrong with this call, in a sentence")
    ratelimit: RateLimited = Field(None, description="only where a limit is reached")  # type: ignore[assignment]


# ---- what a query may hold


Limit: TypeAlias = Annotated[int, Query(ge=1, le=200, description="entries of a page")]
LongLimit: TypeAlias = Annotated[int, Query(ge=1, le=1000, description="entries of a page")]
Before: TypeAlias = Annotated[Number | None, Query(description="of the page before, for the next page")]
After: TypeAlias = Annotated[Number, Query(description="of the page before, for the next page")]
Mine: TypeAlias = Annotated[bool, Query(description="only one's own")]
OfGame: TypeAlias = Annotated[str | None, Query(description="of this game only")]


# ---- what is read


class Caller(Model):
    """For whom a token calls."""

    user: str
    scopes: list[Scope]


class Game(Model):
    """A game that is played here."""

    name: str
    players: int
    deals: int = Field(description="deals of one run by default")
    most_runs: int = Field(description="of one request")
    definition: str = Field(description="as an ACPC .game file")


class Games(Model):
    """All games."""

    games: list[Game]


class Bots(Model):
    """A page of bots, by game and name."""

    bots: list[Bot]
    after: int | None = Field(description="ask with this for the next page; null after the last")


class NewJob(Model):
    """A contest to be played so many times."""

    game: _Word
    players: list[_Word] = Field(min_length=1, max_length=10, description="by seat of the first seating")
    tag: _Tag = Field("", description="what you call it")
    runs: int = Field(1, ge=1, le=10_000)
    seed: int = Field(
        0, ge=0, lt=2**32, description="0 has the server draw a key; only then may the result count in the standings"
    )
    deals: int | None = Field(None, ge=1, description="deals of one run at most; null for what is set for the game")
    seating: Seating = Field(Seating.ROTATIONS, description="in which seatings each deal is played")
    stop: str | None = Field(None, max_length=200, description="may end a run before, as arena play --stop: ci=30")
    on_fault: FaultPolicy = FaultPolicy.END
    practice: bool = Field(False, description="the same cards in every seating for all bots; never counts")

    def request(self) -> JobRequest:
        """The same for the server."""
        terms = self.model_dump(mode="json", include={"deals", "stop", "seating", "seed", "on_fault", "practice"})
        return JobRequest(self.game, tuple(self.players), self.tag, self.runs, terms=ContestTerms(**terms))


class Jobs(Model):
    """A page of jobs, the newest first."""

    jobs: list[Job]
    before: int | None = Field(description="ask with this for the next page; null after the last")


class Runs(Model):
    """A page of runs, the newest first."""

    runs: list[Run]
    before: int | None = Field(description="ask with this for the next page; null after the last")


class JobDetail(Model):
    """A job with its runs."""

    job: Job
    runs: list[Run]
    position: int | None = Field(description="runs that start before its next one; null if none waits")
    starts_in_s: float | None = Field(description="null without an estimate")


class RunDetail(Model):
    """A run with its matches."""

    run: Run
    matches: list[Match]


class Scores(Model):
    """What a player won in each duplicate of a run, in the order of the deals."""

    mbb_by_duplicate: list[float]


class Faults(Model):
    """A page of faults, the latest first."""

    faults: list[Fault]
    before: int | None = Field(description="ask with this for the next page; null after the last")


class Hand(Model):
    """A finished hand."""

    number: int
    names: list[str] = Field(description="by position")
    state: str = Field(description="betting and cards as in an ACPC log")
    values: list[float] = Field(description="net chips by position")


class Hands(Model):
    """Hands of a match."""

    hands: list[Hand]
    after: int | None = Field(description="ask with this for the next page; null after the last")


class Pairs(Model):
    """A page of the crosstable of a game."""

    pairs: list[Pair]
    after: int | None = Field(description="ask with this for the next page; null after the last")


class Standings(Model):
    """A page of the ratings of a game: the largest field first, and in it the highest first."""

    ratings: list[Rating]
    after: int | None = Field(description="ask with this for the next page; null after the last")


class ScheduledEvents(Model):
    """A page of events, the latest first."""

    events: list[ScheduledEvent]
    before: int | None = Field(description="ask with this for the next page; null after the last")


class Uploads(Model):
    """The latest uploads of a user."""

    uploads: list[Upload]


class UploadDetail(Model):
    """An upload with what the doctor has found."""

    upload: Upload
    reports: tuple[DoctorReport, ...] = Field(description="as of `arena doctor --json`, by game; empty before")
    log: str = Field(description="the conversation with the doctor")
    failure: str = Field(description="what the bot printed when it last left a match")


class Cancelled(Model):
    """Whether something was cancelled."""

    is_cancelled: bool
