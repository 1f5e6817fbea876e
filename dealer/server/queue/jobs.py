"""Unfinished jobs: checks of requests, states of a job, events for clients, forecasts of starts."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from dealer.errors import ConfigError, RefusedError
from dealer.match.faults import FaultPolicy
from dealer.run.choices import Seating
from dealer.run.plan import settle
from dealer.run.results import AnyResult
from dealer.run.run import Run
from dealer.run.tournament_run import Progress
from dealer.server.capacity import CapacityShare, Limits
from dealer.server.db import records
from dealer.server.db.records import JobKind, JobRequest, JobState
from dealer.server.db.run_changes import seconds_per_hand
from dealer.server.db.store import Store
from dealer.server.queue.fair_queue import Forecast, WaitingJob, forecast, never_fits
from dealer.server.server_bots import run_config
from dealer.server.server_settings import ServerGame, ServerSettings, capacity_share, max_deals
from dealer.table.links import OpenSeat
from engine import DealKey, Seed
from engine.text import times_of
from logs.errors import StopRuleError
from logs.estimation import FixedDeals, parse_stop_rule
from protocol.benchmark import MAX_TAG_BYTES, OWN_SEAT, RequestRuns
from protocol.joining import ContestTerms

_MIN_LEFT_S = 1.0
"""Expected remaining time of a run that takes longer than predicted."""


@dataclass(frozen=True, slots=True)
class SeatOpen:
    """A seat waits for a client's own agent or a user's bot.

    Attributes:
        match: label of the job, USER.TAG.
        player: `protocol.benchmark.OWN_SEAT`, or name of the bot.
        port: of the seat, for a client's own agent.
        open_seat: for a user's bot.
    """

    run: int
    match: str
    game: str
    hands: int
    player: str
    port: int
    open_seat: OpenSeat | None = None


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run has ended, and its result is in the database."""

    job: records.Job
    run: records.Run


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A job has ended."""

    job: records.Job
    state: JobState
    reason: str


ServiceEvent: TypeAlias = SeatOpen | RunEnded | JobEnded


class Client(Protocol):
    """A client that is notified of its jobs.

    Attributes:
        address: of its connection.
    """

    address: str

    def notify(self, event: ServiceEvent) -> None:
        """Receive an event; must not raise or block."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The next run of a job has not started."""


@dataclass(frozen=True, slots=True)
class Resuming:
    """A run was interrupted and waits to be resumed."""

    run: records.Run


@dataclass(slots=True, eq=False)
class Running:
    """A run is being added to the database, or is being played.

    Attributes:
        run: None until it is in the database.
        match_run: None until it is open, and again while its result is being counted.
        progress: None before the first report.
        start_s: start or resumption, on the monotonic clock.
        end: reason that no further run starts; empty if the job continues.
        is_interrupted: whether it stops to be resumed later.
        is_cancelled: whether it stops for good.
    """

    run: records.Run | None = None
    match_run: Run[AnyResult] | None = None
    progress: Progress | None = None
    start_s: float = field(default_factory=time.monotonic)
    end: str = ""
    is_interrupted: bool = False
    is_cancelled: bool = False

    def attach(self, match_run: Run[AnyResult]) -> None:
        """Set the open run, and stop it if it was interrupted or cancelled in the meantime."""
        self.match_run = match_run
        if self.is_interrupted or self.is_cancelled:
            match_run.interrupt()

    def interrupt(self) -> None:
        """Stop the run, to be resumed later."""
        self.is_interrupted = True
        if self.match_run is not None:
            self.match_run.interrupt()

    def interrupt_after_hand(self) -> None:
        """Stop the run after the current hand, so that an interruption shows no deal twice."""
        self.is_interrupted = True
        if self.match_run is not None:
            self.match_run.interrupt_after_hand()

    def cancel(self) -> None:
        """Stop the run for good."""
        self.is_cancelled = True
        if self.match_run is not None:
            self.match_run.interrupt()


@dataclass(frozen=True, slots=True)
class Ending:
    """No run is left, and the end of the job is being written; its client is notified afterwards.

    Attributes:
        reason: of its cancellation; empty if all runs have been played.
    """

    reason: str


_State: TypeAlias = Waiting | Resuming | Running | Ending


@dataclass(slots=True, eq=False)
class ActiveJob:
    """An unfinished job.

    Attributes:
        row: as in the database.
        client: to notify, or None.
        versions: required of the players, by seat, in a contest of an event; None if any version may play.
        skips: see `dealer.server.queue.fair_queue.WaitingJob`.
        at_once: number of matches of a run that are played at a time.
    """

    row: records.Job
    game: ServerGame
    client: Client | None = None
    versions: tuple[int, ...] | None = None
    state: _State = field(default_factory=Waiting)
    skips: int = 0
    at_once: int = field(init=False)

    def __post_init__(self) -> None:
        self.at_once = _matches_at_once(self.game, self.row.terms)

    @property
    def has_own_seat(self) -> bool:
        return OWN_SEAT in self.row.players

    @property
    def run(self) -> records.Run | None:
        """Run that is being played or waits to be resumed."""
        match self.state:
            case Running(run=run) | Resuming(run=run):
                return run
            case _:
                return None

    @property
    def progress(self) -> Progress | None:
        return self.state.progress if isinstance(self.state, Running) else None

    @property
    def is_running(self) -> bool:
        return isinstance(self.state, Running) and self.state.run is not None

    @property
    def runs_left(self) -> int:
        """Number of runs to start or resume."""
        left = self.row.runs - self.row.started
        match self.state:
            case Waiting():
                return left
            case Resuming():
                return left + 1
            case Running(end=end):
                return 0 if end else left
            case Ending():
                return 0

    @property
    def user_bots(self) -> frozenset[str]:
        """Names of users' bots among the players."""
        return self.game.user_bots(self.row.players)

    def accepts(self, player: str, version: int | None) -> bool:
        """Return whether a version of a player may play."""
        return self.versions is None or self.versions[self.row.players.index(player)] == version

    @property
    def share(self) -> CapacityShare:
        """Share of the limits for one of its runs."""
        is_idle = self.row.kind is JobKind.LADDER
        return capacity_share(self.game, self.row.players, user=self.row.user.id, at_once=self.at_once, is_idle=is_idle)

    def waiting(self, served: int, *, is_ready: bool) -> WaitingJob:
        """Return the job as the fair queue sees it.

        Args:
            served: stamp of the last start of its user; 0 for never.
        """
        # -1 puts an interrupted run before all others.
        first = -1 if isinstance(self.state, Resuming) else served
        return WaitingJob(
            self.row.id, self.share, self.runs_left, self.row.stamp, first, skips=self.skips, is_ready=is_ready
        )


# ---- requests


def parse_text_request(request: RequestRuns) -> JobRequest:
    """Convert a request of the text port: one seating, as on the reference's server, with a numeric seed."""
    terms = ContestTerms(seed=request.seed or _draw_seed(), seating=Seating.SINGLE.value)
    return JobRequest(request.game, request.players, request.tag, request.runs, request.index, terms=terms)


def _draw_seed() -> int:
    # Not 0, which asks for a secret key instead.
    return secrets.randbelow(2**32 - 1) + 1


def choose_seed(terms: ContestTerms) -> Seed:
    """Return the seed of a request, or draw one."""
    # For practice, a number: seatings share their cards. Otherwise a key: cards shown predict no others.
    if terms.practice and not terms.seed:
        return _draw_seed()
    return terms.seed or DealKey.new()


def check_request(
    settings: ServerSettings, request: JobRequest, *, user: str, refusal: Callable[[str, str], str]
) -> ServerGame:
    """Check that a request can be played at some time; return its game.

    Args:
        refusal: returns the reason that a user's bot cannot play a game, as a clause; empty if it can.

    Raises:
        RefusedError: it can never be played; the message has the reason.
    """
    terms = request.terms
    try:
        Seating(terms.seating)
        FaultPolicy(terms.on_fault)
    except ValueError as error:
        raise RefusedError(str(error)) from None
    game = settings.resolve_game(request.game)
    if request.runs > game.max_runs:
        raise RefusedError(f"the game {game.shown} is played at most {times_of(game.max_runs)} for one request")
    if len(f"{user}{request.tag}".encode("utf-8", "surrogateescape")) > MAX_TAG_BYTES - 3:
        raise RefusedError(f"the tag is too long; with the user name, the limit is {MAX_TAG_BYTES - 3} bytes")
    seats = game.game.num_players
    # The text port takes all words after the seed as players.
    players = request.players[:seats]
    if len(players) < seats:
        raise RefusedError(f"the game {game.shown} needs {seats} players, {len(players)} named")
    for player in players:
        if player in game.user_bots(players) and (reason := refusal(game.name, player)):
            raise RefusedError(reason)
    has_users_duplicates = bool(terms.seed or terms.practice) and terms.seating != Seating.SINGLE
    if has_users_duplicates and game.user_bots(players) and not settings.practice_duplicates:
        raise RefusedError("users' bots are not dealt the same cards twice on this server, not even for practice")
    if not game.deals:
        raise RefusedError(f"the game {game.shown} is set to be played for 0 deals")
    share = capacity_share(game, players, user=0, at_once=_matches_at_once(game, terms))
    if problem := never_fits(share, settings.limits):
        raise RefusedError(problem)
    return game


def _matches_at_once(game: ServerGame, terms: ContestTerms) -> int:
    """Number of matches of a contest that are played at a time.

    A stop rule needs the scores of all seatings, so they are played together.

    Raises:
        RefusedError: the rule is not valid.
    """
    try:
        is_fixed = terms.stop is None or isinstance(parse_stop_rule(terms.stop), FixedDeals)
    except StopRuleError as error:
        raise RefusedError(f"the rule in stop is not valid: {error}") from None
    return 1 if is_fixed else Seating(terms.seating).order_count(game.game.num_players)


def check_contest(settings: ServerSettings, game: ServerGame, request: JobRequest) -> None:
    """Check the length and the settings of a contest. This starts no bot, but can take seconds.

    Raises:
        RefusedError: it can never be played.
    """
    terms = request.terms
    if terms.seating == Seating.SINGLE and terms.stop is None and terms.deals is None:
        # The server's own settings, which were checked when they were read.
        return
    deals = max_deals(game, terms)
    limit = max(game.max_deals, game.deals)
    if not 1 <= deals <= limit:
        raise RefusedError(f"the game {game.shown} is played for 1 to {limit} deals here, not {deals}")
    try:
        settle(run_config(settings, game, request.players[: game.game.num_players], terms, user="user", seed=1))
    except ConfigError as error:
        raise RefusedError(str(error)) from None


# ---- forecasts


async def forecasts(
    store: Store,
    jobs: Mapping[int, ActiveJob],
    running: Mapping[int, ActiveJob],
    waiting: Iterable[WaitingJob],
    limits: Limits,
) -> dict[int, Forecast]:
    """Forecast the start of each waiting job from the durations of recent runs.

    Args:
        jobs: all unfinished jobs.
        running: those that are `Running`, in the order of their starts.
        waiting: those with runs left, for the fair queue.

    Raises:
        StoreError: the database cannot be read.
    """
    games = {job.row.game for job in jobs.values()}
    per_hand_s = {game: seconds_per_hand(store, game) for game in games}
    seconds = {number: _seconds(job, per_hand_s[job.row.game]) for number, job in jobs.items()}
    now_s = time.monotonic()
    elapsed_s = {number: now_s - job.state.start_s for number, job in running.items() if isinstance(job.state, Running)}
    shares = {number: job.share for number, job in running.items()}

    def left_s(number: int) -> float | None:
        total_s = seconds.get(number)
        return None if total_s is None else max(_MIN_LEFT_S, total_s - elapsed_s.get(number, 0.0))

    return await asyncio.to_thread(forecast, list(waiting), shares, limits, seconds.get, left_s=left_s)


def _seconds(job: ActiveJob, per_hand_s: float | None) -> float | None:
    terms = job.row.terms
    if per_hand_s is None:
        return None
    if terms.stop is not None and not isinstance(parse_stop_rule(terms.stop), FixedDeals):
        return None
    matches = Seating(terms.seating).order_count(job.game.game.num_players)
    return per_hand_s * matches * max_deals(job.game, terms)
