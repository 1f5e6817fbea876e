"""What goes in and comes out besides the things that the server keeps, as models: they check what programs send.

The things themselves are those of `dealer.server.db.records` and `dealer.server.db.counted_scores`; together they
describe the interface. Lists are pages of them.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import Query
from pydantic import AfterValidator, Field

from dealer.doctor.findings import DoctorReport
from dealer.match.faults import FaultPolicy
from dealer.run.choices import Seating
from dealer.server.accounts import Scope
from dealer.server.db.counted_scores import Pair, Rating
from dealer.server.db.event_records import ScheduledEvent
from dealer.server.db.records import Bot, Fault, Job, JobRequest, Match, Model, Run
from dealer.uploads.upload_records import Upload
from protocol.joining import ContestTerms


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

    bots: tuple[Bot, ...]
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

    faults: tuple[Fault, ...]
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

    pairs: tuple[Pair, ...]
    after: int | None = Field(description="ask with this for the next page; null after the last")


class Standings(Model):
    """A page of the ratings of a game: the largest field first, and in it the highest first."""

    ratings: tuple[Rating, ...]
    after: int | None = Field(description="ask with this for the next page; null after the last")


class ScheduledEvents(Model):
    """A page of events, the latest first."""

    events: tuple[ScheduledEvent, ...]
    before: int | None = Field(description="ask with this for the next page; null after the last")


class Uploads(Model):
    """The latest uploads of a user."""

    uploads: tuple[Upload, ...]


class UploadDetail(Model):
    """An upload with what the doctor has found."""

    upload: Upload
    reports: tuple[DoctorReport, ...] = Field(description="as of `arena doctor --json`, by game; empty before")
    log: str = Field(description="the conversation with the doctor")
    failure: str = Field(description="what the bot printed when it last left a match")


class Cancelled(Model):
    """Whether something was cancelled."""

    is_cancelled: bool
