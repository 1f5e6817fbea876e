"""One match inside this process: bot objects, no bytes, no event loop, for bulk work.

    match = InProcessMatch(setup, bots, watchers)
    match.play(until_hand=setup.hands)

It deals the same cards, asks the same questions and tells its watchers the same things in the same order as
`Match` does, so bots whose decisions follow from what they see and from their seeds leave the same ACPC
log either way; the tests hold both against each other. It is synchronous: `play` returns when so many hands of the
match are finished, and goes on when called again, so that a caller can move several matches on in turn.

What is different from a match over TCP, because nobody stands between dealer and bot:

- An illegal answer is not played as the nearest legal one: it ends the bot's part, as it ends a bot's program over TCP,
  and so does whatever the bot's own code raises (`FaultKind.CRASH`).
- A bot cannot be interrupted. The time of its answers is measured and counted on the same clocks, and an answer beyond
  the limits is a timeout once it has come.
- A bot object that has failed is not made anew: under `FaultPolicy.RESTART` as under `FaultPolicy.FORFEIT` its seat
  checks or folds from there on.
- There are no lines: watchers that want them are refused, and `MatchSetup.max_idle_lines_per_hand` bounds nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from bots.group import Bot, BotFailure, BotGroup
from dealer.errors import MatchFailure
from dealer.match import events
from dealer.match.causes import BotFailed, Cause, NobodyLeft, NotWritten, OutOfTime, PlayerCause
from dealer.match.clocks import SeatClock
from dealer.match.faults import Fault, FaultPolicy, Remedy
from dealer.match.setup import MAX_COMMENTS_PER_HAND, MatchSetup, Phase
from engine import CALL, FOLD, BettingState, Deal, Seat, betting_start, deals
from engine.hand import hand_values
from logs import HandRecord, PlayerComment, Times

__all__ = ["InProcessMatch"]


class InProcessMatch:
    """The state of one match; see the module for how to drive it.

    Attributes:
        setup: what is played. phase: how far it is. failure: why it failed, when it did. totals: net chips by seat
        over the finished hands. hands_played: finished hands, those of an earlier run included. tracebacks: by seat,
        where a bot's own code failed, as Python prints it.
    """

    def __init__(
        self,
        setup: MatchSetup,
        bots: Sequence[Bot],
        watchers: Sequence[events.Watcher] = (),
        *,
        hands_done: int = 0,
        totals: Sequence[float] | None = None,
        used_us: Sequence[int] | None = None,
        forfeited: frozenset[Seat] = frozenset(),
    ) -> None:
        """Prepare a match.

        Args:
            setup: what is played.
            bots: by seat. For a match that goes on: new ones, made with the same seeds.
            watchers: who is told what happens.
            hands_done: hands that an earlier run has finished.
            totals: net chips by seat over those hands; zeros by default.
            used_us: time used by seat in those hands; zeros by default.
            forfeited: seats that take no part any more.

        Raises:
            TypeError: one of the bots is none.
            ValueError: there are more or fewer bots than the game has players, or a watcher wants lines.
        """
        audience = self._audience = events.Audience(watchers)
        if audience.wants(events.LineSent) or audience.wants(events.LineReceived):
            raise ValueError("a match in this process has no lines to show: play it over TCP to see them")
        game = setup.game
        players = game.num_players
        self.setup = setup
        self.phase = Phase.CONNECTING
        self.failure: Cause | None = None
        self.totals = list(totals or [0.0] * players)
        self.hands_played = hands_done
        self.tracebacks: dict[Seat, str] = {}

        self._table = BotGroup(bots, game)
        self._clocks = [SeatClock(setup.limits, setup.hands) for _ in range(players)]
        for clock, used in zip(self._clocks, used_us or (), strict=False):
            clock.match_us = used
        self._absent: set[Seat] = set()
        """Seats that check or fold to the end."""
        for seat in forfeited:
            self._leave(seat)
        self._root = betting_start(game)
        self._deals = deals(game, setup.seed, setup.first_hand + hands_done)
        self._seats_by_offset = [
            tuple(Seat((position + offset) % players) for position in range(players)) for offset in range(players)
        ]

        # The hand being played.
        self._hand_number = setup.first_hand + hands_done - 1
        self._comments: list[PlayerComment] = []
        self._asked_ns = 0
        self._to_unix_ns = 0
        self._failed_late: Sequence[BotFailure] = ()
        """Bots that failed when they were shown the end of a hand: missed in the next, as a process that has ended."""

    def play(self, until_hand: int) -> None:
        """Play until so many hands of the match are finished, or it has failed; the last hand ends it.

        Raises:
            RuntimeError: an earlier call was broken off in the middle of a hand.
        """
        if self.phase is Phase.PLAYING:
            raise RuntimeError(f"the match was broken off in hand {self._hand_number}: go on in a new one after it")
        if self.phase in (Phase.FINISHED, Phase.FAILED):
            return
        until = min(until_hand, self.setup.hands)
        try:
            self._start()
            while self.hands_played < until:
                self._play_hand()
            if self.hands_played >= self.setup.hands:
                self._finish()
            else:
                self.phase = Phase.HOLDING
        except (MatchFailure, OSError) as problem:
            self._fail(problem)

    def finish(self) -> None:
        """End the match here with its score, if it is not over."""
        if self.phase in (Phase.CONNECTING, Phase.HOLDING):
            try:
                self._start()
                self._finish()
            except (MatchFailure, OSError) as problem:
                self._fail(problem)

    def close(self) -> None:
        """Tell the bots that it is over, as the end of the connection does over TCP; the watchers are told nothing.

        Nothing to do for a match that is over.
        """
        self._keep_tracebacks(self._table.end_match())

    # ---- one hand

    def _play_hand(self) -> None:
        """Deal a hand, play it to its end and tell about it."""
        setup, tell, table, clocks = self.setup, self._audience.tell, self._table, self._clocks
        absent, monotonic_ns, wants_actions = self._absent, time.monotonic_ns, self._audience.wants(events.ActionPlayed)
        self._hand_number = number = self._hand_number + 1
        deal = next(self._deals)
        seats = self._seats_by_offset[0 if setup.fixed_seats else number % len(clocks)]
        self._comments = []
        for clock in clocks:
            clock.hand_us = 0
        self._to_unix_ns = to_unix_ns = time.time_ns() - monotonic_ns()
        if self._audience.wants(events.HandStarted):
            tell(events.HandStarted(number, seats, deal))
        betting = self._root
        times: list[Times] = []
        failures = table.begin_hand(number, deal, seats, betting)
        if failures or self._failed_late:
            self._lose_all([*self._failed_late, *failures])
            self._failed_late = ()
        while not betting.finished:
            seat = seats[betting.acting_position]
            self._asked_ns = asked_ns = monotonic_ns()
            if seat in absent:
                action = FOLD if betting.legal_actions().can_fold else CALL
                now_ns = asked_ns
            else:
                try:
                    action = table.ask(betting)
                except BotFailure as failure:
                    self._lose_all([failure])
                    continue
                now_ns = monotonic_ns()
                if table.said:
                    self._note(seat, len(times), table.said)
                elapsed_us = (now_ns - asked_ns) // 1000
                if not clocks[seat].charge(elapsed_us):
                    self._lose(OutOfTime(seat, clocks[seat].exceeded_limit(elapsed_us)))
                    continue
            sent_us, received_us = (asked_ns + to_unix_ns) // 1000, (now_ns + to_unix_ns) // 1000
            if wants_actions:
                tell(events.ActionPlayed(number, seat, betting, action, sent_us, received_us))
            times.append(Times(sent_us, received_us))
            betting = betting.after(action)
        tell(events.HandFinished(self._count_hand(deal, betting, seats, times)))
        if failures := table.end_hand(betting):
            self._failed_late = failures
            self._keep_tracebacks(failures)
        tell(events.HandClosed(number, tuple([clock.match_us for clock in clocks])))

    def _note(self, seat: Seat, action_index: int, lines: Sequence[bytes]) -> None:
        """Keep what a bot remarked, as text the way a dealer reads a line: a character per byte."""
        for line in lines[: MAX_COMMENTS_PER_HAND - len(self._comments)]:
            self._comments.append(PlayerComment(seat, action_index, line.decode("latin-1").rstrip("\r\n")))

    def _count_hand(
        self, deal: Deal, betting: BettingState, seats: tuple[Seat, ...], times: Sequence[Times]
    ) -> HandRecord:
        values = tuple(hand_values(betting, deal))
        totals = self.totals
        for seat, value in zip(seats, values, strict=True):
            totals[seat] += value
        self.hands_played += 1
        setup = self.setup
        return HandRecord(
            setup.game,
            setup.name,
            self._hand_number,
            setup.names,
            seats,
            deal,
            betting,
            values,
            tuple(times),
            tuple(self._comments),
        )

    # ---- the beginning and the end

    def _start(self) -> None:
        if self.phase is Phase.CONNECTING:
            self._asked_ns = time.monotonic_ns()
            self._to_unix_ns = time.time_ns() - self._asked_ns
            self._audience.tell(events.MatchStarted(self.setup, self._asked_us()))
        self.phase = Phase.PLAYING

    def _finish(self) -> None:
        self._audience.tell(self._end(None, 0))
        self.phase = Phase.FINISHED
        self.close()

    def _end(self, cause: Cause | None, waited_us: int) -> events.MatchEnded:
        return events.MatchEnded(cause, self.hands_played, tuple(self.totals), self._asked_us(), waited_us)

    def _asked_us(self) -> int:
        return (self._asked_ns + self._to_unix_ns) // 1000

    def _fail(self, problem: MatchFailure | OSError) -> None:
        cause: Cause = problem.cause if isinstance(problem, MatchFailure) else NotWritten.of(problem)
        self.phase = Phase.FAILED
        self.failure = cause
        waited_us = (time.monotonic_ns() - self._asked_ns) // 1000
        self._audience.tell_failure(
            events.MatchEnded(cause, self.hands_played, tuple(self.totals), self._asked_us(), waited_us)
        )
        self.close()

    # ---- players who fail

    def _lose_all(self, failures: Sequence[BotFailure]) -> None:
        """Some bots' own code failed, or an answer was illegal."""
        self._keep_tracebacks(failures)
        for failure in failures:
            self._lose(BotFailed(failure.seat, str(failure)))

    def _keep_tracebacks(self, failures: Sequence[BotFailure]) -> None:
        for failure in failures:
            if failure.traceback:
                self.tracebacks[failure.seat] = failure.traceback

    def _lose(self, cause: PlayerCause) -> None:
        """A bot's part is over: the match ends, or goes on without it."""
        if self.setup.on_fault is FaultPolicy.END:
            raise MatchFailure(cause)
        self._leave(cause.seat)
        fault = Fault(cause.seat, cause.kind, self._hand_number, b"", Remedy.FORFEITED)
        self._audience.tell(events.FaultSeen(fault))
        if len(self._absent) == self.setup.game.num_players:
            raise MatchFailure(NobodyLeft())

    def _leave(self, seat: Seat) -> None:
        self._absent.add(seat)
        self._table.remove(seat)
