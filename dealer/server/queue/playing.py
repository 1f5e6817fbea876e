"""Parts of playing a run: call agents to their seats, pass events to watchers, make the report at the end."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from dealer.match.events import SeatOpened
from dealer.match.writers import read_faults
from dealer.run.contest import MatchEvent, Watch
from dealer.run.contest_plan import ContestPlan
from dealer.run.results import AnyResult, ContestResult
from dealer.run.run import Run
from dealer.run.scores import DealScores
from dealer.run.tournament_run import Progress
from dealer.server.db import records
from dealer.server.db.records import Match, RunSeat, RunState
from dealer.server.db.run_changes import RunReport
from dealer.server.queue.jobs import ActiveJob, Client, SeatOpen
from dealer.server.queue.presence import BotHost, Presence
from dealer.server.server_settings import ServerGame, player_name
from dealer.watching import LiveMatches
from engine import Seat
from logs.estimation import Rate, Scoreboard
from protocol.benchmark import OWN_SEAT
from protocol.joining import RunStanding


def make_report(
    plan: ContestPlan, contest_scores: DealScores, result: AnyResult, cancelled: str, unrated: str
) -> RunReport:
    """Make the report of a run.

    Args:
        cancelled: reason of its cancellation; empty if it was not cancelled.
        unrated: reason that it does not count in the standings; empty if it does.
    """
    assert isinstance(result, ContestResult)
    faults = tuple(
        # Numbers of players, because a player has another seat in every seating.
        (match_plan.name, fault._replace(seat=Seat(match_plan.players[fault.seat])))
        for match_plan in plan.match_plans
        for fault in read_faults(plan.record.folder / f"{match_plan.name}.faults", len(match_plan.players))
    )
    matches = tuple(
        Match(name=match.name, log=f"{match.name}.log", first_hand=match.first_hand, hands=match.hands)
        for match in result.matches
    )
    seats = tuple(
        RunSeat(
            player=number,
            name=player.name,
            chips=player.chips,
            won=None if player.won is None else player.won.raw,
        )
        for number, player in enumerate(result.players)
    )
    is_comparable = plan.seatings > 1 and not plan.learners and not plan.is_sequential
    is_complete = result.outcome.is_complete
    units = list(contest_scores.in_order())
    if is_comparable and plan.has_own_cards and not is_complete:
        # Only complete rounds of seatings: the rest has cards of its own, whose luck nothing balances.
        units = list(contest_scores.in_rounds())
        if units:
            seats = _seats(plan, units)
    is_kept = is_complete or (is_comparable and bool(units))
    # Scores of a run that was broken off count too: it may have been broken off because of them.
    scores = tuple(array("d", column) for column in zip(*units, strict=True)) if is_kept else ()
    state = RunState.FINISHED
    reason = result.reason
    cause = None
    if not is_complete and cancelled:
        state = RunState.CANCELLED
        reason = f"{cancelled}."
    elif not is_complete:
        state = RunState.FAILED
        # Composed from the cause where it is shown, because it may quote a player.
        reason = ""
        cause = result.cause
    return RunReport(
        state,
        reason,
        len(units) if is_kept else None,
        seats=seats,
        scores=scores,
        matches=matches,
        faults=faults,
        unrated=unrated,
        cause=cause,
    )


def _seats(plan: ContestPlan, units: Sequence[Sequence[float]]) -> tuple[RunSeat, ...]:
    """Players with their winnings in some units of a contest."""
    board = Scoreboard(plan.new_mean, plan.names)
    for scores in units:
        board.add(zip(plan.names, scores, strict=True))
    seats = []
    for number, (name, scores) in enumerate(zip(plan.names, zip(*units, strict=True), strict=True)):
        chips = round(math.fsum(scores) * plan.seatings * plan.game.big_blind / 1000, 6)
        seats.append(RunSeat(player=number, name=name, chips=chips, won=board.mean(name).estimate))
    return tuple(seats)


def bot_hosts(job: ActiveJob, presence: Presence) -> list[BotHost]:
    """Hosts of the users' bots in a job that are connected."""
    bots = [presence.find(job.row.game, name) for name in sorted(job.user_bots)]
    return [bot.host for bot in bots if bot is not None]


def _format_rate(rate: Rate | None, name: str) -> str:
    if rate is None:
        return ""
    return str(rate.of(name) if name in (rate.player, rate.opponent) else rate)


class SeatCaller:
    """Call users' bots and clients' own agents to the seats of a run, and notify the bots of its progress.

    An agent that is not connected is called again at each report of progress.
    """

    def __init__(
        self,
        run: Run[Any],
        row: records.Run,
        players: Sequence[str],
        game: ServerGame,
        presence: Presence,
        *,
        hands: int,
        match: str,
        client: Callable[[], Client | None] = lambda: None,
    ) -> None:
        """Prepare to call.

        Args:
            row: the run, with the versions of its players. A bot with another version is not called.
            players: by seat.
            hands: number of hands of a match.
            match: label of the job, USER.TAG.
            client: returns the client with the own agents.
        """
        self._players = dict(zip(run.planned[0].names, zip(players, row.seats, strict=True), strict=True))
        self._users_bots = sorted(game.user_bots(players))
        self._row = row
        self._game = game
        self._presence = presence
        self._hands = hands
        self._match = match
        self._client = client
        self._waiting: dict[tuple[str, str], SeatOpen] = {}

    def see(self, event: MatchEvent) -> None:
        """Call a player when its seat opens."""
        opened = event.event
        if not isinstance(opened, SeatOpened):
            return
        name = event.players[opened.seat]
        player, _ = self._players[name]
        if player == OWN_SEAT or player in self._users_bots:
            self._waiting[event.match, name] = SeatOpen(
                run=self._row.id,
                match=self._match,
                game=self._game.name,
                hands=self._hands,
                player=player,
                port=opened.port,
                open_seat=opened.open_seat,
            )
            self._call()

    def note(self, progress: Progress) -> None:
        """Call players that were away, and report progress to the bots."""
        self._call()
        for name in self._users_bots:
            connected = self._presence.find(self._game.name, name)
            if connected is not None:
                rate = _format_rate(progress.rate, player_name(name))
                connected.host.notify(RunStanding(self._match, progress.hands, progress.hands_planned, rate))

    def _call(self) -> None:
        for (match, name), seat in list(self._waiting.items()):
            host = self._find_host(*self._players[name])
            if host is not None:
                del self._waiting[match, name]
                host.notify(seat)

    def _find_host(self, player: str, seat: records.RunSeat) -> Client | BotHost | None:
        if player == OWN_SEAT:
            return self._client()
        connected = self._presence.find(self._game.name, player)
        if connected is None or connected.versions[self._game.name] != seat.version:
            return None
        return connected.host


class Watchers:
    """Watchers of the runs in progress."""

    def __init__(self) -> None:
        self._by_run: dict[int, list[Watch]] = {}

    def add_run(self, run: int, first: Watch) -> Watch:
        """Add a run, and return the function to play it with; `first` gets each event before all others."""
        watchers = self._by_run[run] = [first]

        def notify(event: MatchEvent) -> None:
            # A copy, because `live` may add a watcher in another thread.
            for watch in tuple(watchers):
                watch(event)

        return notify

    def remove_run(self, run: int) -> None:
        self._by_run.pop(run, None)

    def live(self, run: int) -> LiveMatches | None:
        """Live matches of a run, followed since the first call; None unless it is being played. Thread-safe."""
        watchers = self._by_run.get(run, [])
        if watchers and not any(isinstance(watch, LiveMatches) for watch in watchers):
            watchers.append(LiveMatches())
        return next((watch for watch in watchers if isinstance(watch, LiveMatches)), None)
