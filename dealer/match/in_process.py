"""Play one match between bot objects of this process, for bulk work: no bytes, no event loop.

    match = InProcessMatch(setup, bots, watchers)
    match.play(until_hand=setup.hands)

It deals the same cards, asks the same questions and publishes the same events in the same order as `Match`, so bots
that depend on their view and their seed alone leave the same ACPC log. Unlike over TCP, an illegal action counts as a
crash of the bot, a late answer is only noticed once the bot has returned it, and a failed bot is never replaced.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from bots.errors import BotFailure
from bots.sdk.bot import Bot
from bots.sdk.selfplay import BotGroup
from dealer.errors import Cause, MatchFailure
from dealer.match import events
from dealer.match.causes import BotFailed, NobodyLeft, NotWritten, OutOfTime, PlayerCause
from dealer.match.faults import Fault, FaultPolicy, Remedy
from dealer.match.hand_in_play import HandDealer
from dealer.match.seats import SeatClock
from dealer.match.setup import NO_EARLIER_HANDS, EarlierHands, MatchSetup, Phase
from engine import CALL, FOLD, Seat
from logs import format_state_line


class InProcessMatch:
    """One match; the module describes its use.

    Attributes:
        setup: settings of the match.
        phase: state of the match.
        failure: cause of an early end, otherwise None.
    """

    def __init__(
        self,
        setup: MatchSetup,
        bots: Sequence[Bot],
        watchers: Sequence[events.Watcher] = (),
        progress: EarlierHands = NO_EARLIER_HANDS,
    ) -> None:
        """Prepare a match.

        Args:
            setup: settings of the match. `max_idle_lines_per_hand` has no effect, as there are no lines.
            bots: bots by seat; for a resumed match, new bots with the same seeds.
            watchers: receivers of events, notified in this order.
            progress: finished hands of an earlier run to continue from.

        Raises:
            TypeError: an object in `bots` is not a bot.
            ValueError: the game has another number of players, or a watcher wants lines.
        """
        audience = self._audience = events.Audience(watchers)
        if audience.wants(events.LineSent) or audience.wants(events.LineReceived):
            raise ValueError("a match in this process has no lines to show; play it over TCP instead")
        self.setup = setup
        self.phase = Phase.CONNECTING
        self.failure: Cause | None = None
        self._dealer = HandDealer(setup, progress.hands, progress.totals)
        self._bots = BotGroup(bots, setup.game)
        self._clocks = [SeatClock(setup, Seat(seat)) for seat in range(len(bots))]
        # Empty for a new match.
        for clock, used_us in zip(self._clocks, progress.used_us, strict=False):
            clock.match_us = used_us
        self._absent: set[Seat] = set()
        """Seats that check or fold to the end of the match.

        A failed bot is not replaced under `FaultPolicy.RESTART` either, because its memory is lost with the object.
        """
        for seat in progress.forfeited:
            self._leave(seat)
        self._asked_ns = 0
        self._offset_ns = 0
        """Offset from monotonic to Unix time."""
        self._late_failures: Sequence[BotFailure] = ()
        """Failures at the end of the last hand. They count in the next one, as over TCP, where the dealer learns of a
        lost connection only when the player has to act.
        """

    @property
    def totals(self) -> list[float]:
        """Net chips by seat over the finished hands."""
        return self._dealer.totals

    @property
    def has_late_failure(self) -> bool:
        """A bot failed at the end of the last hand, and is lost at the beginning of the next."""
        return bool(self._late_failures)

    @property
    def running_seat(self) -> Seat | None:
        """Seat of the bot whose code is running, or None."""
        return self._bots.running_seat

    @property
    def hands_played(self) -> int:
        """Number of finished hands, including those of an earlier run."""
        return self._dealer.hands_played

    def play(self, until_hand: int) -> None:
        """Play until the match has this many finished hands, or fails. The last hand ends the match.

        Later calls continue, so that a caller can advance several matches in turn.

        Raises:
            RuntimeError: an earlier call was interrupted in the middle of a hand.
        """
        if self.phase is Phase.PLAYING:
            raise RuntimeError(
                f"the match was interrupted in hand {self._dealer.hand_number}; continue it in a new match"
            )
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
        """End the match with its score, unless it is over."""
        if self.phase in (Phase.CONNECTING, Phase.HOLDING):
            try:
                self._start()
                self._finish()
            except (MatchFailure, OSError) as problem:
                self._fail(problem)

    @property
    def dropped_comments(self) -> int:
        """Number of comments that were not kept."""
        return self._dealer.comment_space.dropped

    def close(self) -> None:
        """Notify the bots of the end of the match, as the end of the connection does over TCP.

        `play` and `finish` call this when they end the match.
        """
        # An interrupt has left a bot in the middle of its own code: do not call it again.
        if self.phase is not Phase.PLAYING:
            self._publish_tracebacks(self._bots.end_match())

    # ---- one hand

    def _play_hand(self) -> None:
        # Looked up once, as bulk work spends its time in this loop.
        publish = self._audience.publish
        bots = self._bots
        clocks = self._clocks
        absent = self._absent
        monotonic_ns = time.monotonic_ns
        wants_actions = self._audience.wants(events.ActionPlayed)
        for clock in clocks:
            clock.hand_us = 0
        self._offset_ns = time.time_ns() - monotonic_ns()
        hand = self._dealer.deal(self._offset_ns)
        number = hand.number
        seats = hand.seats
        betting = hand.betting
        if self._audience.wants(events.HandStarted):
            publish(events.HandStarted(number, seats, hand.deal))
        failures = bots.begin_hand(number, hand.deal, seats, betting)
        if failures or self._late_failures:
            self._lose_all([*self._late_failures, *failures])
            self._late_failures = ()
        while not betting.finished:
            seat = seats[betting.acting_position]
            self._asked_ns = asked_ns = monotonic_ns()
            if seat in absent:
                # The same choice as `Play._play_for_absent`.
                action = CALL
                if betting.legal_actions().can_fold:
                    action = FOLD
                now_ns = asked_ns
            else:
                try:
                    action = bots.ask(betting)
                except BotFailure as failure:
                    self._lose_all([failure])
                    # The betting is unchanged: unless the match ends, the seat is asked again and is absent now.
                    continue
                now_ns = monotonic_ns()
                for line in bots.comments:
                    hand.comment(seat, line)
                elapsed_us = (now_ns - asked_ns) // 1000
                if not clocks[seat].charge(elapsed_us):
                    self._lose(OutOfTime(seat, clocks[seat].exceeded_limit(elapsed_us)))
                    continue
            if wants_actions:
                asked_us = hand.unix_us(asked_ns)
                answered_us = hand.unix_us(now_ns)
                publish(events.ActionPlayed(number, seat, betting, action, asked_us, answered_us))
            betting = betting.after(action)
            hand.play(betting, asked_ns, now_ns)
        # The same order as `Play._close_hand`.
        record = self._dealer.settle(hand)
        publish(events.HandPlayed(number, betting, record.times))
        if self._audience.wants(events.LogLine):
            line = format_state_line(record).encode("utf-8", "surrogateescape")
            publish(events.LogLine(number, line, record.comments))
        publish(events.HandFinished(record))
        if failures := bots.end_hand(betting):
            self._late_failures = failures
            self._publish_tracebacks(failures)
        publish(events.HandClosed(number, tuple([clock.match_us for clock in clocks])))

    # ---- the beginning and the end

    def _start(self) -> None:
        if self.phase is Phase.CONNECTING:
            self._asked_ns = time.monotonic_ns()
            self._offset_ns = time.time_ns() - self._asked_ns
            self._audience.publish(events.MatchStarted(self.setup, self._asked_us()))
        self.phase = Phase.PLAYING

    def _finish(self) -> None:
        self._audience.publish(self._end(None, 0))
        self.phase = Phase.FINISHED
        self.close()

    def _end(self, cause: Cause | None, waited_us: int) -> events.MatchEnded:
        return events.MatchEnded(cause, self.hands_played, tuple(self.totals), self._asked_us(), waited_us)

    def _asked_us(self) -> int:
        return (self._asked_ns + self._offset_ns) // 1000

    def _fail(self, problem: MatchFailure | OSError) -> None:
        cause: Cause
        if isinstance(problem, MatchFailure):
            cause = problem.cause
        else:
            cause = NotWritten.from_error(problem)
        self.phase = Phase.FAILED
        self.failure = cause
        waited_us = (time.monotonic_ns() - self._asked_ns) // 1000
        self._audience.publish_failure(self._end(cause, waited_us))
        self.close()

    # ---- players that fail

    def _lose_all(self, failures: Sequence[BotFailure]) -> None:
        for failure in failures:
            # Tracebacks of late failures were published at the end of the hand.
            if failure not in self._late_failures:
                self._publish_tracebacks([failure])
            self._lose(BotFailed(failure.seat, str(failure)))

    def _publish_tracebacks(self, failures: Sequence[BotFailure]) -> None:
        for failure in failures:
            if failure.traceback:
                self._audience.publish(events.BotWrote(failure.seat, "", failure.traceback))

    def _lose(self, cause: PlayerCause) -> None:
        if self.setup.on_fault is FaultPolicy.END:
            raise MatchFailure(cause)
        self._leave(cause.seat)
        fault = Fault(cause.seat, cause.kind, self._dealer.hand_number, b"", Remedy.FORFEITED)
        self._audience.publish(events.FaultSeen(fault))
        if len(self._absent) == self.setup.game.num_players:
            raise MatchFailure(NobodyLeft())

    def _leave(self, seat: Seat) -> None:
        self._absent.add(seat)
        self._bots.remove(seat)
