"""What goes in and comes out, as models: they check what programs send, and describe the interface.

Times are seconds since 1970 (``..._s``), and the same as ISO 8601 in UTC (``..._at``). Rates are mbb/g, thousandths of
a big blind per hand; a half width is half of the 95 % interval, null where too little is known.
"""

from __future__ import annotations

import enum
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, computed_field

from dealer.contest.schedule import Seating
from dealer.match.faults import FaultPolicy
from dealer.server.accounts import Scope
from dealer.server.db.runs import RunState

__all__ = [
    "Bot",
    "Bots",
    "BotsQuery",
    "Caller",
    "Cancelled",
    "Fault",
    "Faults",
    "FaultsQuery",
    "Game",
    "Games",
    "Hand",
    "Hands",
    "HandsQuery",
    "Job",
    "JobDetail",
    "JobState",
    "Jobs",
    "JobsQuery",
    "Match",
    "NewJob",
    "PageQuery",
    "Pair",
    "PairScore",
    "Pairs",
    "Problem",
    "Rating",
    "Run",
    "RunDetail",
    "RunSeat",
    "Runs",
    "RunsQuery",
    "Scores",
    "Standings",
]


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("a word has letters that can be printed")
    return text


_Tag: TypeAlias = Annotated[str, Field(max_length=200, pattern=r"^\S*$"), AfterValidator(_printable)]
_Word: TypeAlias = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^\S+$"), AfterValidator(_printable)]


_Number: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", from_attributes=True, frozen=True)


def _at(name: str) -> Any:
    """The field `name`, seconds since 1970, as ISO 8601."""

    def at(self: Any) -> datetime | None:
        seconds = getattr(self, name)
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)

    return computed_field(description=f"{name} as ISO 8601")(property(at))


class RateLimited(_Model):
    """A limit that has been reached."""

    key: str
    seconds: int = Field(description="how long to wait")


class Problem(_Model):
    """What is wrong (RFC 9457)."""

    title: str = Field(description="what the status means")
    status: int
    detail: str = Field(description="what is wrong with this call, in a sentence")
    error: str = Field(description="the same sentence")
    ratelimit: RateLimited = Field(None, description="only where a limit is reached")  # type: ignore[assignment]


# ---- what a query may hold


class _Query(_Model):
    limit: int = Field(50, ge=1, le=200, description="entries of a page")


class _Backwards(_Query):
    before: _Number | None = Field(None, description="of the page before, for the next page")


class _Forwards(_Query):
    limit: int = Field(1000, ge=1, le=1000, description="entries of a page")
    after: _Number = Field(0, description="of the page before, for the next page")


class JobState(enum.StrEnum):
    """How a job stands."""

    QUEUED = "queued"
    """A run of it is to be played, and none is being played."""
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"


class BotsQuery(_Forwards):
    """Which bots."""

    game: str | None = Field(None, description="of this game only")
    mine: bool = Field(False, description="only one's own")


class JobsQuery(_Backwards):
    """Which jobs."""

    mine: bool = Field(False, description="only one's own")
    state: JobState | None = Field(None, description="in this state only")


class RunsQuery(_Backwards):
    """Which runs."""

    game: str | None = Field(None, description="of this game only")
    state: RunState | None = Field(None, description="in this state only")
    version: _Number | None = Field(None, description="with this version of a bot only")
    pair: _Number | None = Field(None, description="that count in this pair only")


class FaultsQuery(_Backwards):
    """Which faults."""

    run: _Number | None = Field(None, description="in this run, of all players if it is one's own")


class PageQuery(_Forwards):
    """Which part of a list."""


class HandsQuery(_Forwards):
    """Which hands."""

    limit: int = Field(100, ge=1, le=1000, description="hands of a page")
    after: _Number = Field(0, description="hands to pass over")


# ---- what is read


class Caller(_Model):
    """For whom a token calls."""

    user: str
    scopes: list[Scope]


class Game(_Model):
    """A game that is played here."""

    name: str
    players: int
    hands: int = Field(description="deals of one run, unless a request says otherwise")
    most_runs: int = Field(description="of one request")
    definition: str = Field(description="as an ACPC .game file")


class Games(_Model):
    """All games."""

    games: list[Game]


class Bot(_Model):
    """A bot in a game, in its newest version."""

    version: int = Field(description="the number that seats, pairs and ratings name")
    game: str
    name: str
    owner: str | None = Field(description="null for a bot of the server")
    number: int = Field(description="of the version, from 1")
    label: str = Field(description="what its owner calls the version")
    created_s: float
    seen_s: float | None = Field(description="when it was last connected")
    created_at = _at("created_s")
    seen_at = _at("seen_s")


class Bots(_Model):
    """A page of bots, by game and name."""

    bots: list[Bot]
    after: int | None = Field(description="ask with this for the next page; null after the last")


class NewJob(_Model):
    """A contest to be played so many times."""

    game: _Word
    players: list[_Word] = Field(min_length=1, max_length=10, description="by seat of the first seating")
    tag: _Tag = Field("", description="what you call it")
    runs: int = Field(1, ge=1, le=10_000)
    seed: int = Field(
        0, ge=0, lt=2**32, description="0 has the server draw a key; only then may the result count in the standings"
    )
    hands: int | None = Field(None, ge=1, description="deals of one run at most; null for what is set for the game")
    seating: Seating = Field(Seating.ROTATIONS, description="in which seatings each deal is played")
    stop: str | None = Field(None, max_length=200, description="may end a run before, as arena play --stop: ci=30")
    on_fault: FaultPolicy = FaultPolicy.END


class Job(_Model):
    """What somebody asked for."""

    id: int
    user: str
    tag: str
    game: str
    players: list[str]
    runs: int
    started: int = Field(description="runs that have started")
    state: JobState
    reason: str = Field(description="why it was cancelled")
    seating: Seating
    hands: int | None
    stop: str | None
    seed: int | str | None = Field(
        description="of a key that the server drew, the digits; null as long as it would tell of cards to come"
    )
    submitted_s: float
    ended_s: float | None
    submitted_at = _at("submitted_s")
    ended_at = _at("ended_s")


class Jobs(_Model):
    """A page of jobs, the newest first."""

    jobs: list[Job]
    before: int | None = Field(description="ask with this for the next page; null after the last")


class RunSeat(_Model):
    """A player of a run; its numbers are null until the run has ended."""

    player: int
    name: str
    version: int | None = Field(description="null for a program that was brought for this run only")
    chips: float | None
    mbb_per_game: float | None
    half_width_95: float | None
    adjusted_mbb: float | None = Field(description="with all-in hands at their expectation")
    adjusted_half_width_95: float | None


class Run(_Model):
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
    started_s: float
    ended_s: float | None
    started_at = _at("started_s")
    ended_at = _at("ended_s")
    seats: list[RunSeat]


class Runs(_Model):
    """A page of runs, the newest first."""

    runs: list[Run]
    before: int | None = Field(description="ask with this for the next page; null after the last")


class JobDetail(_Model):
    """A job with its runs."""

    job: Job
    runs: list[Run]
    position: int | None = Field(description="runs that start before its next one; null if none waits")
    starts_in_s: float | None = Field(description="null if nothing tells")


class Match(_Model):
    """A match of a run: one seating of its players."""

    name: str
    first_hand: int
    hands: int
    log: str = Field(description="the address of its ACPC log")


class RunDetail(_Model):
    """A run with its matches."""

    run: Run
    matches: list[Match]


class Scores(_Model):
    """What a player won in each duplicate of a run, in the order of the deals."""

    mbb_by_duplicate: list[float]


class Fault(_Model):
    """Something that a bot did wrong."""

    id: int
    run: int
    match: str
    player: int
    kind: str
    hand_number: int
    line: str = Field(description="as it was received; what is not printable as \\x..")
    remedy: str


class Faults(_Model):
    """A page of faults, the latest first."""

    faults: list[Fault]
    before: int | None = Field(description="ask with this for the next page; null after the last")


class Hand(_Model):
    """A finished hand."""

    number: int
    names: list[str] = Field(description="by position")
    state: str = Field(description="betting and cards as in an ACPC log")
    values: list[float] = Field(description="net chips by position")


class Hands(_Model):
    """Hands of a match."""

    hands: list[Hand]
    after: int | None = Field(description="ask with this for the next page; null after the last")


class PairScore(_Model):
    """What a version won."""

    version: int
    mbb_per_game: float
    half_width_95: float | None


class Pair(_Model):
    """Everything that counts between the same versions."""

    id: int
    game: str
    runs: int
    duplicates: int
    hands: int
    scores: list[PairScore]


class Pairs(_Model):
    """A page of the crosstable of a game."""

    pairs: list[Pair]
    after: int | None = Field(description="ask with this for the next page; null after the last")


class Rating(_Model):
    """What a version would win from the average of its field."""

    bot: Bot
    mbb_per_game: float
    half_width_95: float | None
    field: int = Field(description="ratings of different fields cannot be compared")
    is_provisional: bool
    duplicates: int


class Standings(_Model):
    """A page of the ratings of a game: the largest field first, and in it the highest first."""

    ratings: list[Rating]
    after: int | None = Field(description="ask with this for the next page; null after the last")


class Cancelled(_Model):
    """Whether something was cancelled."""

    is_cancelled: bool
