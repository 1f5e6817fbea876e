"""What goes with a run while it is played, and what is kept of it.

Agents are called to their seats, and watchers get its events; at its end, `make_report` gives what is kept: its result,
its faults, and the score of every duplicate.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from dealer.library import Run
from dealer.match.events import SeatOpened
from dealer.match.writers import read_faults
from dealer.run.contest import MatchEvent, Watch
from dealer.run.contest_plan import ContestPlan
from dealer.run.results import AnyResult, ContestResult
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
    """Make what is kept of a run of one contest.

    Args:
        cancelled: why it was ended before its time; empty if it was not cancelled.
        unrated: why it does not count in the standings; empty if it does.
    """
    assert isinstance(result, ContestResult)
    faults = tuple(
        # By player, who has another seat in every seating.
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
            name=one.name,
            chips=one.chips,
            won=None if one.won is None else one.won.raw,
        )
        for number, one in enumerate(result.players)
    )
    is_comparable = plan.seatings > 1 and not plan.learners and not plan.is_sequential
    units, is_complete = list(contest_scores.in_order()), result.outcome.is_complete
    if is_comparable and plan.has_own_cards and not is_complete:
        # Nothing in the seatings to come could make up for the luck of a seating that was broken off.
        units = list(contest_scores.in_rounds())
        if units:
            seats = _seats(plan, units)
    is_kept = is_complete or (is_comparable and bool(units))
    # Also of what was broken off: who did that may have had a reason in the scores.
    scores = tuple(array("d", column) for column in zip(*units, strict=True)) if is_kept else ()
    state, reason, cause = RunState.FINISHED, result.reason, None
    if not is_complete and cancelled:
        state, reason = RunState.CANCELLED, f"{cancelled}."
    elif not is_complete:
        state, reason, cause = RunState.FAILED, "", result.cause
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
    """The players with their winnings in these units."""
    board = Scoreboard(plan.new_mean, plan.names)
    for scores in units:
        board.add(zip(plan.names, scores, strict=True))
    seats = []
    for number, (name, scores) in enumerate(zip(plan.names, zip(*units, strict=True), strict=True)):
        chips = round(math.fsum(scores) * plan.seatings * plan.game.big_blind / 1000, 6)
        seats.append(RunSeat(player=number, name=name, chips=chips, won=board.mean(name).estimate))
    return tuple(seats)


def bot_hosts(job: ActiveJob, presence: Presence) -> list[BotHost]:
    """Who brings the users' bots of a job, as far as they are there."""
    there = [presence.find(job.row.game, name) for name in sorted(job.user_bots)]
    return [connected.host for connected in there if connected is not None]


def _rate_of(rate: Rate | None, name: str) -> str:
    if rate is None:
        return ""
    return str(rate.of(name) if name in (rate.player, rate.opponent) else rate)


class SeatCaller:
    """Calls users' bots and clients' own agents to the seats of a run, as soon as they open, and shows how it stands.

    Who is away is called when it is back.
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
            row: the run, with the versions of its players: a bot that is there in another version is not called.
            players: by seat.
            match: whose and which: a user, a dot and a tag.
            client: gives who brings the own agents.
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
        """Call a player to its seat."""
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
        """Call those who were away, and show the progress to the others."""
        self._call()
        for name in self._users_bots:
            connected = self._presence.find(self._game.name, name)
            if connected is not None:
                rate = _rate_of(progress.rate, player_name(name))
                connected.host.notify(RunStanding(self._match, progress.hands, progress.hands_planned, rate))

    def _call(self) -> None:
        for key, seat in list(self._waiting.items()):
            host = self._host_of(*self._players[key[1]])
            if host is not None:
                del self._waiting[key]
                host.notify(seat)

    def _host_of(self, player: str, seat: records.RunSeat) -> Client | BotHost | None:
        if player == OWN_SEAT:
            return self._client()
        connected = self._presence.find(self._game.name, player)
        is_same = connected is not None and connected.versions[self._game.name] == seat.version
        return connected.host if connected is not None and is_same else None


class Watchers:
    """Hands the events of matches to all who watch them."""

    def __init__(self) -> None:
        self._by_run: dict[int, list[Watch]] = {}

    def opened(self, run: int, first: Watch) -> Watch:
        """What a run that begins is to be played with; `first` gets every event before all others."""
        watchers = self._by_run[run] = [first]

        def notify(event: MatchEvent) -> None:
            for watch in tuple(watchers):
                watch(event)

        return notify

    def closed(self, run: int) -> None:
        """A run has ended."""
        self._by_run.pop(run, None)

    def live(self, run: int) -> LiveMatches | None:
        """The matches of a run, followed since this was first asked; None unless it is being played. For any thread."""
        watchers = self._by_run.get(run, [])
        if watchers and not any(isinstance(watch, LiveMatches) for watch in watchers):
            watchers.append(LiveMatches())
        return next((watch for watch in watchers if isinstance(watch, LiveMatches)), None)
