"""One match, from the first version line to the score: no sockets, no waiting.

The owner of the connections (`dealer.table.connections`, or a test) gives the bytes of each seat to `receive`, calls
`check_time` when `deadline_ns` has passed, and gives each seat a function that writes. The match does the rest: it
greets the players and decides what becomes of one that fails; dealing, asking and judging is done in
`dealer.match.match_play`, and the watchers are notified.

Rules it obeys (ACPC protocol 2.0.0 and the reference server):

- Only the player to act is read; lines of others wait and are judged when their turn comes.
- An unreadable or illegal action becomes a call, a raise of the wrong size the nearest legal size; lines that are no
  reply to the present state are passed over. Each is reported, none ends the match.

Beyond the reference, for owners that play many matches:

- Under a policy other than `FaultPolicy.END` a player that does not come, times out, disconnects or floods does not end
  the match for all players: the owner finds it in `take_losses` and either brings it back (`connect`) or gives it up
  (`forfeit`: it checks or folds from then on). Until then the match waits when it is that player's turn, and no clock
  runs.
- `play_until` sets a hand after which the match holds: no player is asked, no clock runs, until it is continued or
  ended with `finish`.
- A match interrupted at the end of a hand goes on from there with its `EarlierHands`.
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
    """One match. See the module for how to drive it.

    Attributes:
        setup: what is played. phase: how far it is. failure: why it failed, when it did. has_losses: `take_losses` has
        something to report.
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
            setup: what is played.
            watchers: who is notified.
            transactions: actions of an earlier run to go on from, as the reference does it.
            progress: whole hands of an earlier run to go on from.
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
        self._takes_short_way = not self._play.watches_lines
        self._losses: list[LostPlayer] = []

    # ---- how it stands

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
        """When `check_time` has to be called, on the clock of `time.monotonic_ns`; None when nothing is awaited."""
        return self._play.deadline_ns

    @property
    def questions(self) -> int:
        """How often a player was asked after an answer."""
        return self._play.questions

    @property
    def dropped_comments(self) -> int:
        """Comments of players that were not kept."""
        return self._play.dealer.comment_space.dropped

    @property
    def overhead_ns(self) -> int:
        """The time from answers to the questions that followed, all of it the dealer's."""
        return self._play.overhead_ns

    @property
    def question(self) -> Question | None:
        """The question that a player has yet to answer; None while no clock runs."""
        return self._play.question if self.phase is Phase.PLAYING else None

    def missing_seats(self) -> list[Seat]:
        """The seats that wait for their player to connect."""
        return [player_seat.seat for player_seat in self._player_seats if player_seat.presence is Presence.AWAITED]

    def is_awaited(self, seat: Seat) -> bool:
        """Whether a player is yet to connect or to name its version, be it for the first time or again."""
        return self._player_seats[seat].presence in (Presence.AWAITED, Presence.ARRIVED)

    def is_asked(self, seat: Seat) -> bool:
        """Whether the match waits for this seat to say something."""
        if self.phase is Phase.GREETING:
            return self._next_to_greet() is self._player_seats[seat]
        return self.phase is Phase.PLAYING and seat == self._play.actor.seat

    def buffered_bytes(self, seat: Seat) -> int:
        """Bytes of a seat that wait to be read: stop reading its connection when there are many."""
        return self._player_seats[seat].session.buffered_bytes

    # ---- what the owner of the connections calls

    def connect(self, seat: Seat, write: Write) -> None:
        """An awaited player has connected; one that was lost is asked what it missed after its version line."""
        if self._player_seats[seat].presence is Presence.AWAITED:
            self._player_seats[seat].arrive(write)
            self.open()

    def unseat(self, seat: Seat) -> None:
        """A player has left before the match began, or is about to connect again: no fault, and its time runs on."""
        player_seat = self._player_seats[seat]
        used_us = player_seat.clock.hand_us
        player_seat.vacate(Presence.AWAITED)
        player_seat.clock.hand_us = used_us

    def open(self) -> None:
        """Begin if no player is awaited any more; the owner calls it where an earlier run gave up every seat."""
        if self.phase is Phase.CONNECTING and not self.missing_seats():
            self.phase = Phase.GREETING
            self._guarded(self._greet)

    def receive(self, seat: Seat, data: bytes, arrived_ns: int | None = None) -> bool:
        """Take bytes of a seat; return whether it owes more: some wait unread, or its question is still open.

        Args:
            arrived_ns: when they came, on the clock of `time.monotonic_ns`; None for now.
        """
        player_seat, play = self._player_seats[seat], self._play
        if self.phase is _PLAYING and play.actor is player_seat and self._takes_short_way:
            try:
                if play.hear_reply(data, arrived_ns):
                    return False
            except (MatchFailure, OSError) as problem:
                self._stop(problem)
                return False
        if self.phase in _OVER or player_seat.presence in _GONE:
            return False
        player_seat.session.receive_data(data)
        play.arrived_ns = arrived_ns
        self._hear(player_seat)
        play.arrived_ns = None
        return player_seat.session.has_input or self.is_asked(seat)

    def receive_eof(self, seat: Seat) -> None:
        """A player has closed its side; it counts when that player is next to act."""
        player_seat = self._player_seats[seat]
        if self.phase not in _OVER and player_seat.presence not in _GONE:
            player_seat.session.receive_eof()
            self._hear(player_seat)

    def check_time(self, now_ns: int) -> None:
        """Lose the player to act if it has been silent for too long."""
        if self.phase is Phase.PLAYING and self.deadline_ns is not None and now_ns >= self.deadline_ns:
            self._guarded(self._play.time_out)

    def play_until(self, hands: int) -> None:
        """Go on until this many hands of the match are finished, then hold; the last hand ends the match."""
        self._play.until = min(hands, self.setup.hands)
        if self.phase is Phase.HOLDING and self.hands_played < self._play.until:
            self.phase = Phase.PLAYING
            self._guarded(self._play.go_on)

    def finish(self) -> None:
        """End a holding match here, with its score."""
        if self.phase is Phase.HOLDING:
            self._guarded(self._finish)

    def fail(self, cause: Cause) -> None:
        """End the match early, for a cause found inside or outside."""
        if self.phase not in _OVER:
            self.phase = Phase.FAILED
            self.failure = cause
            self._audience.publish_failure(self._play.end(cause))

    # ---- players that fail

    def miss(self, cause: NotStarted) -> None:
        """An awaited player has not come before the match: it is lost, or the match ends."""
        if self.setup.on_fault is FaultPolicy.END:
            self.fail(cause)
        elif self.phase is Phase.CONNECTING and self._player_seats[cause.seat].presence is Presence.AWAITED:
            self._losses.append(
                LostPlayer(cause, self._play.dealer.hand_number, 0, self.setup.on_fault is FaultPolicy.FORFEIT)
            )
            self.has_losses = True

    def lose(self, cause: PlayerCause) -> None:
        """A player is gone, found out outside: it loses its part, or the match ends."""

        def step() -> NoReturn:
            raise MatchFailure(cause)

        self._guarded(step)

    def take_losses(self) -> list[LostPlayer]:
        """The players lost since the last call; those not final are awaited again."""
        losses, self._losses = self._losses, []
        self.has_losses = False
        return losses

    def forfeit(self, seat: Seat) -> None:
        """Give a lost player up: it checks or folds from here on."""

        def step() -> None:
            player_seat = self._player_seats[seat]
            player_seat.vacate(Presence.ABSENT)
            self._require_somebody()
            if self.phase is Phase.PLAYING and self._play.actor is player_seat:
                self._play.listen()

        if self.is_awaited(seat):
            self._guarded(step)
            self.open()

    def _set_aside(self, cause: PlayerCause) -> None:
        """A player is gone: when its turn comes the match waits until its owner has decided what becomes of it."""
        player_seat, play = self._player_seats[cause.seat], self._play
        is_final = self.setup.on_fault is FaultPolicy.FORFEIT or player_seat.clock.is_spent
        player_seat.vacate(Presence.AWAITED)
        self._losses.append(LostPlayer(cause, play.dealer.hand_number, play.count_actions(player_seat), is_final))
        self.has_losses = True
        if player_seat is play.actor:
            play.deadline_ns = None

    def _on_unreachable(self, cause: PlayerCause) -> None:
        if self.setup.on_fault is FaultPolicy.END:
            raise MatchFailure(cause) from None
        # After the last hand the match is over for this player all the same.
        if self.hands_played < self.setup.hands:
            self._set_aside(cause)

    def _require_somebody(self) -> None:
        if all(player_seat.presence is Presence.ABSENT for player_seat in self._player_seats):
            raise MatchFailure(NobodyLeft())

    # ---- one step

    def _guarded(self, step: Callable[[], None]) -> None:
        """Run a step of the match; whatever goes wrong ends the match, or a player's part in it, and nothing else."""
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
        cause: Cause = problem.cause if isinstance(problem, MatchFailure) else NotWritten.of(problem)
        is_survivable = self.setup.on_fault is not FaultPolicy.END and self.phase in (Phase.PLAYING, Phase.HOLDING)
        if not is_survivable or not isinstance(cause, PlayerCause):
            self.fail(cause)
        elif self._player_seats[cause.seat].presence not in _GONE:
            self._set_aside(cause)

    def _hear(self, player_seat: PlayerSeat) -> None:
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
        return next(
            (player_seat for player_seat in self._player_seats if player_seat.presence is Presence.ARRIVED), None
        )

    def _greet(self) -> None:
        """Read the version lines in seat order; start when all are there."""
        while (player_seat := self._next_to_greet()) is not None:
            version = player_seat.read_version()
            if version is None:
                return
            if not version.is_supported:
                self._audience.publish(VersionDiffers(player_seat.seat))
        self.phase = Phase.PLAYING
        self._require_somebody()
        self._play.start(self._transactions)

    def _greet_again(self, player_seat: PlayerSeat) -> None:
        """Read the version line of a player that has come back, and ask it if the match waits for it."""
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
