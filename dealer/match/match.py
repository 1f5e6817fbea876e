"""Run one match from the first version line to the score, without sockets and without waiting.

The owner of the connections (`dealer.table.connections`, or a test) passes the bytes of each seat to `receive`, calls
`check_time` when `deadline_ns` has passed, and gives each seat a function that writes. The match reads the version
lines and handles players that fail; `dealer.match.match_play` deals, asks and judges. Watchers receive every event.

Rules of the ACPC protocol 2.0.0 and the reference server:

- Only the player to act is read. Lines of the other players wait until their turn.
- An unreadable or illegal action becomes a call, a raise of the wrong size the nearest legal size. Lines that do not
  answer the present state are ignored. Each is reported, none ends the match.

Beyond the reference, for owners that play many matches:

- Under a policy other than `FaultPolicy.END`, the match continues when a player does not connect, times out,
  disconnects or floods. The owner takes it from `take_losses` and either brings it back (`connect`) or gives it up
  (`forfeit`: it checks or folds to the end). Until then the match waits at that player's turn, and no clock runs.
- `play_until` sets a hand after which the match holds: no question is open and no clock runs until it is continued or
  ended with `finish`.
- A match interrupted at the end of a hand resumes from its `EarlierHands`.
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
_PLAYING = Phase.PLAYING
_OVER = (Phase.FINISHED, Phase.FAILED)


class Match:
    """One match; the module describes its use.

    Attributes:
        failure: cause of an early end, otherwise None.
        has_losses: `take_losses` will return a player.
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
            watchers: receivers of events, notified in this order.
            transactions: actions of an earlier run to replay, as the reference does.
            progress: whole hands of an earlier run to continue from.
        """
        self.setup = setup
        self.phase = Phase.CONNECTING
        self.failure: Cause | None = None
        self.has_losses = False
        self._audience = Audience(watchers)
        self._transactions = transactions
        used_us = progress.used_us or (0,) * setup.game.num_players
        self._player_seats = [
            PlayerSeat(Seat(seat), setup, used_us=used, is_absent=seat in progress.forfeited)
            for seat, used in enumerate(used_us)
        ]
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
        """Finished hands, those of an earlier run included."""
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
        """Time between a reply and the next question, that is, the dealer's own share."""
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
        """Return whether a seat has no player: none has connected and named its version, at first or after a loss."""
        return self._player_seats[seat].presence in (Presence.AWAITED, Presence.ARRIVED)

    def is_asked(self, seat: Seat) -> bool:
        """Return whether the match waits for a line of this seat."""
        if self.phase is Phase.GREETING:
            return self._next_to_greet() is self._player_seats[seat]
        return self.phase is Phase.PLAYING and seat == self._play.actor.seat

    def buffered_bytes(self, seat: Seat) -> int:
        """Unread bytes of a seat. Stop reading its socket above a limit."""
        return self._player_seats[seat].session.buffered_bytes

    # ---- calls of the owner of the connections

    def connect(self, seat: Seat, write: Write) -> None:
        """Connect a missing player. One that was lost is asked again after its version line."""
        if self._player_seats[seat].presence is Presence.AWAITED:
            self._player_seats[seat].arrive(write)
            self.open()

    def unseat(self, seat: Seat) -> None:
        """Empty the seat of a player that left before the match or is about to reconnect. Its clock is kept."""
        player_seat = self._player_seats[seat]
        used_us = player_seat.clock.hand_us
        player_seat.vacate(Presence.AWAITED)
        player_seat.clock.hand_us = used_us

    def open(self) -> None:
        """Read the version lines once all players are connected.

        `connect` calls it. The owner does if every seat was given up in an earlier run.
        """
        if self.phase is Phase.CONNECTING and not self.missing_seats():
            self.phase = Phase.GREETING
            self._guarded(self._greet)

    def receive(self, seat: Seat, data: bytes, arrived_ns: int | None = None) -> bool:
        """Take bytes of a seat; return whether some of them are unread or its question is still open.

        Args:
            arrived_ns: arrival of the bytes, on the clock of `time.monotonic_ns`; None for now.
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
        play.arrived_ns = None
        return player_seat.session.has_input or self.is_asked(seat)

    def receive_eof(self, seat: Seat) -> None:
        """Take the end of a player's stream. It is a fault once that player has to act."""
        player_seat = self._player_seats[seat]
        if self.phase not in _OVER and player_seat.presence not in _GONE:
            player_seat.session.receive_eof()
            self._read(player_seat)

    def check_time(self, now_ns: int) -> None:
        """Fail the player to act if its time is over."""
        if self.phase is Phase.PLAYING and self.deadline_ns is not None and now_ns >= self.deadline_ns:
            self._guarded(self._play.time_out)

    def play_until(self, hands: int) -> None:
        """Play until this many hands of the match are finished, then hold; the last hand ends the match."""
        self._play.until = min(hands, self.setup.hands)
        if self.phase is Phase.HOLDING and self.hands_played < self._play.until:
            self.phase = Phase.PLAYING
            self._guarded(self._play.resume)

    def finish(self) -> None:
        """End a holding match here, with its score."""
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
        """Record the failure of a player that the owner has noticed; under `FaultPolicy.END`, end the match."""

        def step() -> NoReturn:
            raise MatchFailure(cause)

        self._guarded(step)

    def take_losses(self) -> list[LostPlayer]:
        """Return the players lost since the last call. Those that are not final may connect again."""
        losses = self._losses
        self._losses = []
        self.has_losses = False
        return losses

    def forfeit(self, seat: Seat) -> None:
        """Give a lost player up: it checks or folds to the end."""

        def step() -> None:
            player_seat = self._player_seats[seat]
            player_seat.vacate(Presence.ABSENT)
            self._require_player()
            if self.phase is Phase.PLAYING and self._play.actor is player_seat:
                self._play.listen()

        if self.is_awaited(seat):
            self._guarded(step)
            self.open()

    def _set_aside(self, cause: PlayerCause) -> None:
        """Empty the seat of a player that failed. The match waits at its turn until the owner has decided."""
        player_seat = self._player_seats[cause.seat]
        play = self._play
        is_final = self.setup.on_fault is FaultPolicy.FORFEIT or player_seat.clock.is_spent
        player_seat.vacate(Presence.AWAITED)
        self._losses.append(LostPlayer(cause, play.dealer.hand_number, play.count_actions(player_seat), is_final))
        self.has_losses = True
        if player_seat is play.actor:
            play.deadline_ns = None

    def _on_unreachable(self, cause: PlayerCause) -> None:
        if self.setup.on_fault is FaultPolicy.END:
            raise MatchFailure(cause) from None
        # After the last hand nothing is left to lose.
        if self.hands_played < self.setup.hands:
            self._set_aside(cause)

    def _require_player(self) -> None:
        """Fail the match if every seat was given up."""
        if all(player_seat.presence is Presence.ABSENT for player_seat in self._player_seats):
            raise MatchFailure(NobodyLeft())

    # ---- one step

    def _guarded(self, step: Callable[[], None]) -> None:
        """Run a step of the match. Its failure ends the match or a player's part, and is not raised."""
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
            self._set_aside(cause)

    def _read(self, player_seat: PlayerSeat) -> None:
        """Read a seat that has new bytes, if its line is due."""
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
        """Read the version lines in seat order; start the match after the last."""
        while (player_seat := self._next_to_greet()) is not None:
            version = player_seat.read_version()
            if version is None:
                return
            if not version.is_supported:
                self._audience.publish(VersionDiffers(player_seat.seat))
        self.phase = Phase.PLAYING
        self._require_player()
        self._play.start(self._transactions)

    def _greet_again(self, player_seat: PlayerSeat) -> None:
        """Read the version line of a player that has reconnected, and ask it again if it has to act."""
        if player_seat.read_version() is not None and self.phase is Phase.PLAYING and player_seat is self._play.actor:
            self._play.ask_again()

    def _on_rest(self) -> None:
        if self.hands_played < self.setup.hands:
            self.phase = Phase.HOLDING
        else:
            self._finish()

    def _finish(self) -> None:
        self._audience.publish(self._play.end(None))
        self.phase = Phase.FINISHED
