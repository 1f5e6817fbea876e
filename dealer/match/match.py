"""State machine of one match over TCP, from the version lines to the score. It does no I/O and never waits.

Its owner (`dealer.table.connections`, or a test) passes the bytes of each seat to `receive`, calls `check_time` when
`deadline_ns` has passed, and gives each seat a function that writes. The match reads version lines and handles players
that fail, and `dealer.match.match_play` plays the hands.

Under `FaultPolicy.END` a player that fails ends the match, as with the reference dealer. Under the other policies its
seat becomes empty and `take_losses` reports it. The match waits at that player's turn, with no clock running, until
the owner reconnects it with `connect` or gives it up with `forfeit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from dealer.errors import Cause, MatchFailure
from dealer.match.causes import NobodyLeft, NotStarted, NotWritten, PlayerCause
from dealer.match.events import Audience, Settled, VersionDiffers, Watcher
from dealer.match.faults import FaultPolicy
from dealer.match.match_play import Play
from dealer.match.seats import PlayerSeat, Presence, Write
from dealer.match.setup import NO_EARLIER_HANDS, EarlierHands, LostPlayer, MatchSetup, Phase, Question
from engine import Seat
from logs.transaction_log import Transaction

_GONE = (Presence.AWAITED, Presence.ABSENT)
# Looking a member up in its enumeration is slow; `receive` does it for every reply.
_PLAYING = Phase.PLAYING
_OVER = (Phase.FINISHED, Phase.FAILED)


class Match:
    """One match; the module describes its use.

    Attributes:
        phase: state of the match.
        failure: cause of an early end, otherwise None.
        has_losses: `take_losses` has something to return.
    """

    def __init__(
        self,
        setup: MatchSetup,
        watchers: Sequence[Watcher] = (),
        transactions: Iterable[Transaction] = (),
        progress: EarlierHands = NO_EARLIER_HANDS,
    ) -> None:
        """Prepare a match.

        Args:
            setup: settings of the match.
            watchers: receivers of events, notified in this order.
            transactions: actions of an interrupted match to replay, as the reference's ``-a`` does.
            progress: finished hands of an interrupted match to continue from, instead.
        """
        self.setup = setup
        self.phase = Phase.CONNECTING
        self.failure: Cause | None = None
        self.has_losses = False
        self._audience = Audience(watchers)
        self._transactions = transactions
        used_us = progress.used_us or (0,) * setup.game.num_players
        self._player_seats: list[PlayerSeat] = []
        for number, used in enumerate(used_us):
            seat = Seat(number)
            self._player_seats.append(PlayerSeat(seat, setup, used_us=used, is_absent=seat in progress.forfeited))
        self._play = Play(
            setup,
            self._player_seats,
            self._audience,
            progress,
            on_unreachable=self._on_unreachable,
            on_rest=self._on_rest,
        )
        # The fast path publishes no lines.
        self._can_use_fast_path = not self._play.watches_lines
        self._losses: list[LostPlayer] = []

    # ---- progress

    @property
    def totals(self) -> list[float]:
        """Net chips by seat over the finished hands."""
        return self._play.dealer.totals

    @property
    def hands_played(self) -> int:
        """Number of finished hands, including those of an earlier run."""
        return self._play.dealer.hands_played

    @property
    def deadline_ns(self) -> int | None:
        """Time to call `check_time`, on the clock of `time.monotonic_ns`; None while no clock runs."""
        return self._play.deadline_ns

    @property
    def questions(self) -> int:
        """Number of questions sent after a reply."""
        return self._play.questions

    @property
    def dropped_comments(self) -> int:
        """Number of comments that were not kept."""
        return self._play.dealer.comment_space.dropped

    @property
    def overhead_ns(self) -> int:
        """Time that the dealer itself took, from each reply to the next question."""
        return self._play.overhead_ns

    @property
    def question(self) -> Question | None:
        """The open question; None while no clock runs."""
        if self.phase is not Phase.PLAYING:
            return None
        return self._play.question

    def missing_seats(self) -> list[Seat]:
        """Seats without a connection."""
        return [player_seat.seat for player_seat in self._player_seats if player_seat.presence is Presence.AWAITED]

    def is_awaited(self, seat: Seat) -> bool:
        """Return whether a seat lacks a player that has connected and named its version."""
        return self._player_seats[seat].presence in (Presence.AWAITED, Presence.ARRIVED)

    def is_asked(self, seat: Seat) -> bool:
        """Return whether the match waits for a line of this seat."""
        if self.phase is Phase.GREETING:
            # Version lines are read one after the other, in seat order.
            return self._next_to_greet() is self._player_seats[seat]
        return self.phase is Phase.PLAYING and seat == self._play.actor.seat

    def buffered_bytes(self, seat: Seat) -> int:
        """Number of unread bytes of a seat. The owner should stop reading the socket above a limit."""
        return self._player_seats[seat].session.buffered_bytes

    # ---- calls of the owner of the connections

    def connect(self, seat: Seat, write: Write) -> None:
        """Connect a missing player.

        If the open question is that player's, it is asked again after its version line.
        """
        if self._player_seats[seat].presence is Presence.AWAITED:
            self._player_seats[seat].arrive(write)
            self.open()

    def unseat(self, seat: Seat) -> None:
        """Empty the seat of a player that left before the match, or that connects again. Its clock keeps its time."""
        player_seat = self._player_seats[seat]
        used_us = player_seat.clock.hand_us
        player_seat.vacate(Presence.AWAITED)
        player_seat.clock.hand_us = used_us

    def open(self) -> None:
        """Read the version lines once all players are connected.

        `connect` calls this. The owner calls it for a resumed match, all of whose players may have forfeited.
        """
        if self.phase is Phase.CONNECTING and not self.missing_seats():
            self.phase = Phase.GREETING
            self._guarded(self._greet)

    def receive(self, seat: Seat, data: bytes, arrived_ns: int | None = None) -> bool:
        """Take bytes from the player of a seat.

        TCP is a stream: `data` may be a part of a line or several lines. Only the player to act is read. Bytes of the
        others wait in their sessions, and are judged against the state of the time when their turn comes.

        Args:
            seat: the seat.
            data: bytes from its connection.
            arrived_ns: time of their arrival, on the clock of `time.monotonic_ns`; None for now.

        Returns:
            whether bytes of this seat are unread or the match still waits for its line.
        """
        player_seat = self._player_seats[seat]
        play = self._play
        if self.phase is _PLAYING and play.actor is player_seat and self._can_use_fast_path:
            try:
                if play.receive_reply(data, arrived_ns):
                    return False
            except (MatchFailure, OSError) as problem:
                self._stop(problem)
                return False
        if self.phase in _OVER or player_seat.presence in _GONE:
            return False
        player_seat.session.receive_data(data)
        play.arrived_ns = arrived_ns
        self._read(player_seat)
        # For these bytes only: `forfeit` and `resume` judge lines that arrived earlier.
        play.arrived_ns = None
        return player_seat.session.has_input or self.is_asked(seat)

    def receive_eof(self, seat: Seat) -> None:
        """Take the end of a player's stream."""
        # No fault yet: lines sent before the end still count, and the reference, too, notices a closed connection only
        # when it reads it. A player may leave after its last action, or close only its sending side.
        player_seat = self._player_seats[seat]
        if self.phase not in _OVER and player_seat.presence not in _GONE:
            player_seat.session.receive_eof()
            self._read(player_seat)

    def check_time(self, now_ns: int) -> None:
        """Fail the player to act if `deadline_ns` has passed."""
        if self.phase is Phase.PLAYING and self.deadline_ns is not None and now_ns >= self.deadline_ns:
            self._guarded(self._play.time_out)

    def play_until(self, hands: int) -> None:
        """Play until the match has this many finished hands, then hold. The last hand ends the match."""
        self._play.until = min(hands, self.setup.hands)
        if self.phase is Phase.HOLDING and self.hands_played < self._play.until:
            self.phase = Phase.PLAYING
            self._guarded(self._play.resume)

    def finish(self) -> None:
        """End a holding match with its score."""
        if self.phase is Phase.HOLDING:
            self._guarded(self._finish)

    def fail(self, cause: Cause) -> None:
        """End the match early."""
        if self.phase not in _OVER:
            self.phase = Phase.FAILED
            self.failure = cause
            self._audience.publish_failure(self._play.end(cause))

    # ---- players that fail

    def miss(self, cause: NotStarted) -> None:
        """Record a player that did not connect before the match; under `FaultPolicy.END`, end the match."""
        if self.setup.on_fault is FaultPolicy.END:
            self.fail(cause)
        elif self.phase is Phase.CONNECTING and self._player_seats[cause.seat].presence is Presence.AWAITED:
            is_final = self.setup.on_fault is FaultPolicy.FORFEIT
            self._losses.append(LostPlayer(cause, self._play.dealer.hand_number, 0, is_final))
            self.has_losses = True

    def lose(self, cause: PlayerCause) -> None:
        """Record a failure that the owner noticed; under `FaultPolicy.END`, end the match."""

        # Raised inside `_guarded`, which applies the policy.
        def step() -> NoReturn:
            raise MatchFailure(cause)

        self._guarded(step)

    def take_losses(self) -> list[LostPlayer]:
        """Return the losses since the last call. Players whose loss is not final may connect again."""
        losses = self._losses
        self._losses = []
        self.has_losses = False
        return losses

    def forfeit(self, seat: Seat) -> None:
        """Give up a lost player: it checks or folds to the end of the match."""

        def step() -> None:
            player_seat = self._player_seats[seat]
            player_seat.vacate(Presence.ABSENT)
            self._require_player()
            if self.phase is Phase.PLAYING and self._play.actor is player_seat:
                self._play.listen()

        if self.is_awaited(seat):
            self._guarded(step)
            # This player may have been the last one that was missing.
            self.open()

    def _record_loss(self, cause: PlayerCause) -> None:
        """Empty the seat of a player that failed, and let the owner decide about it."""
        player_seat = self._player_seats[cause.seat]
        play = self._play
        # A player without time left for the match would fail again at its next answer.
        is_final = self.setup.on_fault is FaultPolicy.FORFEIT or player_seat.clock.is_spent
        player_seat.vacate(Presence.AWAITED)
        self._losses.append(LostPlayer(cause, play.dealer.hand_number, play.count_actions(player_seat), is_final))
        self.has_losses = True
        if player_seat is play.actor:
            # Its clock stands still until it is back or has forfeited.
            play.deadline_ns = None

    def _on_unreachable(self, cause: PlayerCause) -> None:
        if self.setup.on_fault is FaultPolicy.END:
            raise MatchFailure(cause) from None
        # A player may leave as soon as it has seen, or counted, the last hand.
        if self.hands_played < self.setup.hands:
            self._record_loss(cause)

    def _require_player(self) -> None:
        """Fail the match if every player has forfeited."""
        if all(player_seat.presence is Presence.ABSENT for player_seat in self._player_seats):
            raise MatchFailure(NobodyLeft())

    # ---- one step

    def _guarded(self, step: Callable[[], None]) -> None:
        """Run a step of the match, and handle its failure."""
        try:
            step()
        except (MatchFailure, OSError) as problem:
            self._stop(problem)
        if self._play.watches_lines and self.phase is not Phase.FAILED:
            try:
                self._audience.publish(Settled())
            except OSError as problem:
                self._stop(problem)

    def _stop(self, problem: MatchFailure | OSError) -> None:
        cause: Cause
        if isinstance(problem, MatchFailure):
            cause = problem.cause
        else:
            cause = NotWritten.from_error(problem)
        can_continue = self.setup.on_fault is not FaultPolicy.END and self.phase in (Phase.PLAYING, Phase.HOLDING)
        if not can_continue or not isinstance(cause, PlayerCause):
            self.fail(cause)
        elif self._player_seats[cause.seat].presence not in _GONE:
            # A player can fail in several ways in one step; the first counts.
            self._record_loss(cause)

    def _read(self, player_seat: PlayerSeat) -> None:
        """Read a seat with new bytes, if a line is expected of it."""
        player_seat.has_unread = True
        if self.phase is Phase.GREETING:
            self._guarded(self._greet)
        elif self.phase is Phase.CONNECTING:
            return
        elif player_seat.presence is Presence.ARRIVED:
            self._guarded(lambda: self._greet_again(player_seat))
        elif self.phase is Phase.PLAYING and player_seat is self._play.actor:
            self._guarded(self._play.listen)

    def _next_to_greet(self) -> PlayerSeat | None:
        for player_seat in self._player_seats:
            if player_seat.presence is Presence.ARRIVED:
                return player_seat
        return None

    def _greet(self) -> None:
        """Read the version lines, and start the match after the last."""
        # In seat order, as the reference reads them: which player a match fails by does not depend on who is faster.
        while (player_seat := self._next_to_greet()) is not None:
            version = player_seat.read_version()
            if version is None:
                return
            if not version.is_supported:
                # The reference prints an ERROR and plays on.
                self._audience.publish(VersionDiffers(player_seat.seat))
        self.phase = Phase.PLAYING
        self._require_player()
        self._play.start(self._transactions)

    def _greet_again(self, player_seat: PlayerSeat) -> None:
        """Read the version line of a player that has reconnected, and repeat a question to it."""
        if player_seat.read_version() is None:
            return
        if self.phase is Phase.PLAYING and player_seat is self._play.actor:
            self._play.ask_again()

    def _on_rest(self) -> None:
        if self.hands_played < self.setup.hands:
            self.phase = Phase.HOLDING
        else:
            self._finish()

    def _finish(self) -> None:
        self._audience.publish(self._play.end(None))
        self.phase = Phase.FINISHED
