"""Jobs on their way: checked on request, waiting, being played, and what their clients are notified of.

What can never be played is refused in a sentence; what passes is settled by the very code that plays it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from dealer.errors import ConfigError, RefusedError
from dealer.library import Run
from dealer.match.faults import FaultPolicy
from dealer.run.choices import Seating
from dealer.run.plan import settle
from dealer.run.results import AnyResult
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

_LEAST_LEFT_S = 1.0
"""A run that has taken longer than others is expected to end after this time."""


@dataclass(frozen=True, slots=True)
class SeatOpen:
    """A seat waits for an agent at this port: a client's own, or a user's bot.

    Attributes:
        match: a user, a dot and the tag of a job.
        player: `protocol.benchmark.OWN_SEAT`, or the name of the bot.
        port: where the run awaits a client's own agent.
        open_seat: where it awaits a user's bot.
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
    """A run has ended and is counted."""

    job: records.Job
    run: records.Run


@dataclass(frozen=True, slots=True)
class JobEnded:
    """Nothing is left of a job."""

    job: records.Job
    state: JobState
    reason: str


ServiceEvent: TypeAlias = SeatOpen | RunEnded | JobEnded


class Client(Protocol):
    """A client that is notified of its jobs.

    Attributes:
        address: from which it has connected.
    """

    address: str

    def notify(self, event: ServiceEvent) -> None:
        """Take note; must not raise, and must not wait."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The next run of a job has not started."""


@dataclass(frozen=True, slots=True)
class Resuming:
    """A run was interrupted and waits to be resumed."""

    run: records.Run


@dataclass(slots=True, eq=False)
class Running:
    """A run is being entered, or is being played.

    Attributes:
        run: None while it is being entered.
        match_run: None until it is opened, and once its result is being counted.
        progress: None before its first report.
        began_s: when it started or was resumed, on the monotonic clock.
        end: why no run is started after it; empty as long as that is not decided.
        is_interrupted: whether it is to stop, to be resumed later.
        is_cancelled: whether it is to stop for good.
    """

    run: records.Run | None = None
    match_run: Run[AnyResult] | None = None
    progress: Progress | None = None
    began_s: float = field(default_factory=time.monotonic)
    end: str = ""
    is_interrupted: bool = False
    is_cancelled: bool = False

    def opened(self, match_run: Run[AnyResult]) -> None:
        """Note the run that is played, and stop it if that was decided while it was opened."""
        self.match_run = match_run
        if self.is_interrupted or self.is_cancelled:
            match_run.interrupt()

    def interrupt(self) -> None:
        """Stop the run, to be resumed later."""
        self.is_interrupted = True
        if self.match_run is not None:
            self.match_run.interrupt()

    def interrupt_after_hand(self) -> None:
        """Stop the run after the current hand, so that nobody who can stop it sees a deal twice."""
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
    """No run is left, and the end of the job is being written. Its client is notified after that.

    Attributes:
        reason: why it was cancelled; empty for a job whose runs have all been played.
    """

    reason: str


_State: TypeAlias = Waiting | Resuming | Running | Ending


@dataclass(slots=True, eq=False)
class ActiveJob:
    """A job until its end is written.

    Attributes:
        row: as it is kept, with the number of runs started.
        versions: of the players, by seat, in a contest of an event: no others play. None where any may.
        skips: see `dealer.server.queue.fair_queue.WaitingJob`.
        at_once: how many matches of a run are played at a time.
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
        """Whether a client's own agent plays."""
        return OWN_SEAT in self.row.players

    @property
    def run(self) -> records.Run | None:
        """The run that is being played, or waits to be resumed."""
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
        """Whether a run is being played."""
        return isinstance(self.state, Running) and self.state.run is not None

    @property
    def runs_left(self) -> int:
        """Runs to be started or resumed."""
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
        """The bots of users that play."""
        return self.game.user_bots(self.row.players)

    def takes(self, player: str, version: int | None) -> bool:
        """Whether a version of a player may play."""
        return self.versions is None or self.versions[self.row.players.index(player)] == version

    @property
    def slot(self) -> CapacityShare:
        """What a run of it takes."""
        is_idle = self.row.kind is JobKind.LADDER
        return capacity_share(self.game, self.row.players, user=self.row.user.id, at_once=self.at_once, is_idle=is_idle)

    def waiting(self, served: int, *, is_ready: bool) -> WaitingJob:
        """The same for the queue.

        Args:
            served: when its user was last served; 0 for never.
        """
        # A run that was interrupted comes before everything else.
        first = -1 if isinstance(self.state, Resuming) else served
        return WaitingJob(
            self.row.id, self.slot, self.runs_left, self.row.stamp, first, skips=self.skips, is_ready=is_ready
        )


# ---- what is asked for


def parse_text_request(request: RequestRuns) -> JobRequest:
    """What a line of the text port asks for: one seating, as on the reference's server, of a seed that is sent."""
    terms = ContestTerms(seed=request.seed or _drawn_seed(), seating=Seating.SINGLE.value)
    return JobRequest(request.game, request.players, request.tag, request.runs, request.index, terms=terms)


def _drawn_seed() -> int:
    return secrets.randbelow(2**32 - 1) + 1


def choose_seed(terms: ContestTerms) -> Seed:
    """The seed of a request: as asked for, else a number for practice, whose seatings share their cards, or a key."""
    if terms.practice and not terms.seed:
        return _drawn_seed()
    return terms.seed or DealKey.new()


def check_request(
    settings: ServerSettings, request: JobRequest, *, user: str, refusal: Callable[[str, str], str]
) -> ServerGame:
    """The game of a request that can be played.

    Args:
        refusal: why a bot that is not one of the server's own bots cannot play a game, as a clause; empty if it can.

    Raises:
        RefusedError: it can never be played; the message has the reason.
    """
    terms = request.terms
    try:
        Seating(terms.seating), FaultPolicy(terms.on_fault)
    except ValueError as error:
        raise RefusedError(str(error)) from None
    game = settings.resolve_game(request.game)
    if request.runs > game.max_runs:
        raise RefusedError(f"the game {game.shown} is played at most {times_of(game.max_runs)} for one request")
    if len(f"{user}{request.tag}".encode("utf-8", "surrogateescape")) > MAX_TAG_BYTES - 3:
        raise RefusedError(f"the tag is too long: with the name, {MAX_TAG_BYTES - 3} bytes are taken")
    seats = game.game.num_players
    players = request.players[:seats]
    if len(players) < seats:
        raise RefusedError(f"the game {game.shown} needs {seats} players, {len(players)} named")
    for player in players:
        if player in game.user_bots(players) and (why := refusal(game.name, player)):
            raise RefusedError(why)
    has_users_duplicates = bool(terms.seed or terms.practice) and terms.seating != Seating.SINGLE
    if has_users_duplicates and game.user_bots(players) and not settings.practice_duplicates:
        raise RefusedError("users' bots are not dealt the same cards twice on this server, not even for practice")
    if not game.deals:
        raise RefusedError(f"the game {game.shown} is set to be played for 0 deals")
    if problem := never_fits(
        capacity_share(game, players, user=0, at_once=_matches_at_once(game, terms)), settings.limits
    ):
        raise RefusedError(problem)
    return game


def _matches_at_once(game: ServerGame, terms: ContestTerms) -> int:
    """How many matches of a contest sit at tables at a time: all seatings where a rule looks at the scores.

    Raises:
        RefusedError: the rule is not a valid one.
    """
    try:
        is_fixed = terms.stop is None or isinstance(parse_stop_rule(terms.stop), FixedDeals)
    except StopRuleError as error:
        raise RefusedError(f"the rule in stop is not valid: {error}") from None
    return 1 if is_fixed else Seating(terms.seating).order_count(game.game.num_players)


def check_contest(settings: ServerSettings, game: ServerGame, request: JobRequest) -> None:
    """Refuse what is too long, and what `arena play` would refuse; looking at every bot takes a moment.

    Raises:
        RefusedError: it can never be played.
    """
    terms = request.terms
    if terms.seating == Seating.SINGLE and terms.stop is None and terms.deals is None:
        # As the server has set it.
        return
    deals = max_deals(game, terms)
    most = max(game.max_deals, game.deals)
    if not 1 <= deals <= most:
        raise RefusedError(f"the game {game.shown} is played for 1 to {most} deals here, not {deals}")
    try:
        settle(run_config(settings, game, request.players[: game.game.num_players], terms, user="user", seed=1))
    except ConfigError as error:
        raise RefusedError(str(error)) from None


# ---- when it will be played


async def forecasts(
    store: Store,
    jobs: Mapping[int, ActiveJob],
    running: Mapping[int, ActiveJob],
    waiting: Iterable[WaitingJob],
    limits: Limits,
) -> dict[int, Forecast]:
    """When each job that waits will start, as long as runs take what the last runs of their games took.

    Args:
        jobs: all whose end is not written. running: those of them with a run, in the order of their starts.
        waiting: the same as the queue sees them.

    Raises:
        StoreError: the database cannot be read.
    """
    per_hand_s = {game: seconds_per_hand(store, game) for game in {job.row.game for job in jobs.values()}}
    seconds = {number: _seconds(job, per_hand_s[job.row.game]) for number, job in jobs.items()}
    now_s = time.monotonic()
    gone_s = {number: now_s - job.state.began_s for number, job in running.items() if isinstance(job.state, Running)}
    places = {number: job.slot for number, job in running.items()}

    def left_s(number: int) -> float | None:
        all_s = seconds.get(number)
        return None if all_s is None else max(_LEAST_LEFT_S, all_s - gone_s.get(number, 0.0))

    return await asyncio.to_thread(forecast, list(waiting), places, limits, seconds.get, left_s=left_s)


def _seconds(job: ActiveJob, per_hand_s: float | None) -> float | None:
    terms = job.row.terms
    if per_hand_s is None:
        return None
    if terms.stop is not None and not isinstance(parse_stop_rule(terms.stop), FixedDeals):
        return None
    matches = Seating(terms.seating).order_count(job.game.game.num_players)
    return per_hand_s * matches * max_deals(job.game, terms)
