"""One match, from the first version line to the score: no sockets, no waiting.

Whoever owns the connections (`dealer.network`, or a test) gives the bytes of each seat to `receive`, calls
`check_time` when `deadline_ns` has passed, and gives each seat a function that writes. The match does the rest: it
deals, tells every seat each state in seat order, judges the lines of the player to act as the reference dealer does,
and tells its observer everything.

Rules it obeys (ACPC protocol 2.0.0 and the reference server):

- Only the player to act is read; lines of others wait and are judged when their turn comes.
- An unreadable or illegal action becomes a call, a raise of the wrong size the nearest legal size; lines that are no
  reply to the present state are passed over. Each is reported, none ends the match.
- All lines that exist at one moment for a seat leave in one write: the last state of a hand goes out together with
  the first of the next.
"""

from __future__ import annotations

import enum
import errno
import operator
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from dealer.clock import DEFAULT_LIMITS, SeatClock, TimeLimits
from dealer.faults import Fault, FaultKind, MatchFailure
from dealer.observer import MatchObserver
from engine import CALL, Action, ActionKind, BettingState, Deal, Game, Rule, Seat, betting_start, deals
from engine.actions import raise_to
from engine.hand import hand_values
from logs import HandRecord, PlayerComment, Times
from logs.transaction_log import Transaction
from protocol import NEED_DATA, DealerSession, RemoteProtocolError, format_action
from protocol.actions import reply_tails
from protocol.hand_lines import HandLines, note_after, note_of
from protocol.session import BadAction, BadState, Closed, Comment, DealerEvent, Handshake, Reply, StaleReply

__all__ = ["Match", "MatchSetup", "Phase", "Write", "send_failure"]

Write = Callable[[bytes, bool], None]
"""Sends bytes to a seat; the flag says that the seat is now asked for an action, so the bytes must leave at once.

Raises:
    OSError: the connection is broken.
"""

_MAX_COMMENTS_PER_HAND: Final = 256
_NO_ECHO: Final = b"\0"


def _write_nothing(data: bytes, is_asked: bool) -> None:
    """The write function of a seat that nobody has taken."""


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """What is played.

    Attributes:
        game: the game.
        name: of the match.
        hands: how many.
        seed: of the cards.
        names: the players by seat.
        fixed_seats: the button does not move.
        first_hand: number of the first hand dealt, for a slice of a longer match.
        limits: the players' clocks.
    """

    game: Game
    name: str
    hands: int
    seed: int
    names: tuple[str, ...]
    fixed_seats: bool = False
    first_hand: int = 0
    limits: TimeLimits = DEFAULT_LIMITS


class Phase(enum.Enum):
    """How far a match is."""

    CONNECTING = "connecting"
    GREETING = "greeting"
    PLAYING = "playing"
    FINISHED = "finished"
    FAILED = "failed"


class Match:
    """The state of one match. See the module for how to drive it.

    Attributes:
        setup: what is played. phase: how far it is. failure: why it failed, when it did. totals: net chips by seat
        over the finished hands. hands_played: finished hands. deadline_ns: on the clock of `time.monotonic_ns`, when
        `check_time` has to be called; None when nothing is awaited.
    """

    def __init__(self, setup: MatchSetup, observer: MatchObserver, transactions: Iterable[Transaction] = ()) -> None:
        """Prepare a match.

        Args:
            setup: what is played.
            observer: is told everything.
            transactions: actions of an earlier run to go on from.
        """
        self.setup = setup
        self.phase = Phase.CONNECTING
        self.failure: MatchFailure | None = None
        self.totals = [0.0] * setup.game.num_players
        self.hands_played = 0
        self.deadline_ns: int | None = None

        game = setup.game
        players = game.num_players
        self._game = game
        self._observer = observer
        self._transactions = transactions
        self._sessions = [DealerSession(game) for _ in range(players)]
        self._clocks = [SeatClock(setup.limits, setup.hands) for _ in range(players)]
        self._writes: list[Write] = [_write_nothing] * players
        self._connected: set[Seat] = set()
        self._nothing_pending = (b"",) * players
        self._pending: tuple[bytes, ...] = self._nothing_pending
        """By seat, the last state of the hand before: it leaves with the first state of the next."""
        self._response_ns = setup.limits.response_us * 1000
        self._greeted = 0
        self._root = betting_start(game)
        self._seats_by_offset = [
            tuple(Seat((position + offset) % players) for position in range(players)) for offset in range(players)
        ]

        # The hand being played.
        self._deals: Iterator[Deal] = deals(game, setup.seed, setup.first_hand)
        self._hand_number = setup.first_hand - 1
        self._deal = Deal((), ())
        self._betting = self._root
        self._seats: tuple[Seat, ...] = ()
        self._lines: HandLines
        self._times_ns: list[tuple[int, int]] = []
        self._comments: list[PlayerComment] = []

        # The question being asked.
        self._actor = Seat(0)
        self._asked_ns = 0
        self._line_asked = b""
        self._echo = _NO_ECHO
        """What an answer begins with: the line asked without its end, and a colon."""
        self._tails = reply_tails(game.is_limit)
        self._unread: set[Seat] = set()
        """Seats whose sessions may hold something unread."""
        self._to_unix_ns = time.time_ns() - time.monotonic_ns()

    # ---- what the owner of the connections calls

    def connect(self, seat: Seat, write: Write) -> None:
        """A player has taken his seat."""
        self._writes[seat] = write
        self._connected.add(seat)
        if self.phase is Phase.CONNECTING and len(self._connected) == self._game.num_players:
            self.phase = Phase.GREETING
            self._guarded(self._greet)

    def receive(self, seat: Seat, data: bytes) -> bool:
        """Bytes came from a seat; returns whether some of them may be waiting unread."""
        if seat == self._actor and not self._unread and data.startswith(self._echo):
            # Nearly every reply echoes the state to the letter and is well known.
            action = self._tails.known(data[len(self._echo) :])
            after = None if action is None else self._betting.after_if_legal(action)
            if action is not None and after is not None:
                now_ns = time.monotonic_ns()
                try:
                    if not self._clocks[seat].charge((now_ns - self._asked_ns) // 1000):
                        raise self._out_of_time()
                    self._play(action, after, now_ns)
                    if self._unread:
                        self._listen()
                except (MatchFailure, OSError) as problem:
                    self._stop(problem)
                return False
        self._sessions[seat].receive_data(data)
        self._unread.add(seat)
        self._hear(seat)
        return True

    def receive_eof(self, seat: Seat) -> None:
        """A player has closed his side; it counts when he is next to act."""
        self._sessions[seat].receive_eof()
        self._unread.add(seat)
        self._hear(seat)

    def _hear(self, seat: Seat) -> None:
        if self.phase is Phase.PLAYING:
            if seat == self._actor:
                self._guarded(self._listen)
        elif self.phase is Phase.GREETING:
            self._guarded(self._greet)

    def buffered_bytes(self, seat: Seat) -> int:
        """Bytes of a seat that wait to be read: stop reading its connection when there are many."""
        return self._sessions[seat].buffered_bytes

    def is_asked(self, seat: Seat) -> bool:
        """Whether the match waits for this seat."""
        if self.phase is Phase.GREETING:
            return seat == self._greeted
        return self.phase is Phase.PLAYING and seat == self._actor

    def check_time(self, now_ns: int) -> None:
        """Fail the match if the player to act has been silent for too long."""
        if self.phase is Phase.PLAYING and self.deadline_ns is not None and now_ns >= self.deadline_ns:
            self._guarded(self._time_out)

    def fail(self, failure: MatchFailure) -> None:
        """End the match for a reason that came from outside."""
        if self.phase not in (Phase.FINISHED, Phase.FAILED):
            waited_us = (time.monotonic_ns() - self._asked_ns) // 1000 if self.phase is Phase.PLAYING else 0
            self.phase = Phase.FAILED
            self.failure = failure
            self.deadline_ns = None
            self._echo = _NO_ECHO
            self._observer.match_failed(failure, waited_us)

    # ---- the handshake

    def _guarded(self, step: Callable[[], None]) -> None:
        """Run a step of the match; whatever goes wrong ends the match and nothing else."""
        try:
            step()
            if self._observer.wants_lines:
                self._observer.settled()
        except (MatchFailure, OSError) as problem:
            self._stop(problem)

    def _stop(self, problem: MatchFailure | OSError) -> None:
        if isinstance(problem, OSError):
            problem = MatchFailure(f"ERROR: could not write {problem.filename or 'a log'}: {problem.strerror}")
        self.fail(problem)

    def _greet(self) -> None:
        """Read the version lines in seat order; start when all are there."""
        while self._greeted < self._game.num_players:
            seat = Seat(self._greeted)
            try:
                event = self._sessions[seat].next_event()
            except RemoteProtocolError as error:
                # The reference prints the line as it came, with its end or without one, up to a NUL.
                line = error.line.split(b"\0")[0].decode("utf-8", "surrogateescape")
                printed = f"ERROR: invalid version string {line}"
                raise MatchFailure(printed.rstrip("\r\n"), seat, FaultKind.MALFORMED_REPLY, printed=printed) from None
            if event is NEED_DATA:
                return
            if isinstance(event, Closed):
                raise MatchFailure(
                    f"ERROR: could not read version string from seat {seat + 1}", seat, FaultKind.DISCONNECT
                )
            if isinstance(event, Handshake) and not event.is_supported:
                self._observer.warning("ERROR: this server is currently using version 2.0.0")
            self._greeted += 1
        self.phase = Phase.PLAYING
        self._start()

    def _start(self) -> None:
        self._asked_ns = time.monotonic_ns()
        self._observer.match_started(self._unix_us(self._asked_ns))
        self._begin_hand()
        for transaction in self._transactions:
            self._replay(transaction)
        if self.hands_played >= self.setup.hands:
            self._finish_match()
        elif self._betting.finished:
            self._close_hand()
        else:
            self._ask(note_of(self._betting).text)
        self._listen()

    def _replay(self, transaction: Transaction) -> None:
        """Apply an action of an earlier run: nothing is sent or logged, but time and chips count."""
        line, action, hand_number, times = transaction
        complaint = ""
        if not transaction.is_readable:
            complaint = "ERROR: could not parse transaction stamp "
        elif hand_number != self._hand_number:
            complaint = "ERROR: handId mismatch in transaction log: "
        elif action is None or self._betting.finished or (action, None) != self._fit(action):
            complaint = "ERROR: invalid action in transaction log: "
        if complaint or action is None:
            # The reference prints the line as it came, with its end or without one, up to a NUL.
            printed = complaint + line.split("\0", 1)[0]
            raise MatchFailure(printed.rstrip("\r\n"), printed=printed)
        seat = self._seats[self._betting.acting_position]
        if not self._clocks[seat].charge(max(0, times.received_us - times.sent_us)):
            raise MatchFailure(f"ERROR: seat {seat + 1} ran out of time in transaction file", seat, FaultKind.TIMEOUT)
        self._times_ns.append((times.sent_us * 1000 - self._to_unix_ns, times.received_us * 1000 - self._to_unix_ns))
        after = self._betting.after(action)
        if after.round != self._betting.round:
            self._lines.reach(self._betting.round, after.round)
        self._betting = after
        if after.finished:
            self._count_hand()
            self._begin_hand()

    # ---- one hand

    def _begin_hand(self) -> None:
        """Deal the next hand and prepare what its lines are made of."""
        self._hand_number += 1
        number = self._hand_number
        players = self._game.num_players
        self._deal = deal = next(self._deals)
        self._betting = self._root
        self._lines = HandLines(self._game, deal, number, self._root.round)
        self._seats = self._seats_by_offset[0 if self.setup.fixed_seats else number % players]
        self._times_ns = []
        self._comments = []
        for clock in self._clocks:
            clock.hand_us = 0
        self._to_unix_ns = time.time_ns() - time.monotonic_ns()

    def _line(self, position: int) -> bytes:
        """The present state as a position sees it."""
        return self._lines.prefixes[position] + note_of(self._betting).text + self._lines.tails[position]

    def _tell_end(self) -> None:
        """Prepare the last state of the hand for every seat; it leaves with whatever is sent next."""
        if self._observer.wants_lines:
            self._tell_in_order()
            return
        players = len(self._seats)
        lines = [self._line((seat - self._seats[0]) % players) for seat in range(players)]
        self._pending = tuple(map(operator.add, self._pending, lines))

    def _ask(self, text: bytes) -> None:
        """Tell the present state to everybody and ask the player to act.

        His line leaves first: he thinks while the others are told. Each seat gets the same bytes in any order.

        Args:
            text: the betting of the present state.
        """
        prefixes, tails = self._lines.prefixes, self._lines.tails
        asked = self._betting.acting_position
        self._actor = actor = self._seats[asked]
        self._line_asked = line = prefixes[asked] + text + tails[asked]
        if self._observer.wants_lines:
            self._echo = _NO_ECHO
            self._tell_in_order()
            self._start_clock()
            return
        self._echo = line[:-2] + b":"
        pending, self._pending = self._pending, self._nothing_pending
        seat, writes = actor, self._writes
        try:
            writes[seat](pending[seat] + line, True)
            self._start_clock()
            for position, seat in enumerate(self._seats):
                if position != asked:
                    writes[seat](pending[seat] + prefixes[position] + text + tails[position], False)
        except OSError as error:
            raise send_failure(seat, error) from None

    def _start_clock(self) -> None:
        """The player to act has his question: his time runs."""
        self._asked_ns = now_ns = time.monotonic_ns()
        self.deadline_ns = now_ns + self._response_ns

    def _tell_in_order(self) -> None:
        """Tell the present state seat by seat, each line noted when it has been sent, as the reference does."""
        players = len(self._seats)
        for seat in range(players):
            line = self._line((seat - self._seats[0]) % players)
            self._send(Seat(seat), line, True)
            self._observer.line_sent(Seat(seat), time.time_ns() // 1000, line)

    def _send(self, seat: Seat, line: bytes, is_asked: bool) -> None:
        try:
            self._writes[seat](line, is_asked)
        except OSError as error:
            raise send_failure(seat, error) from None

    # ---- the answer

    def _listen(self) -> None:
        """Judge the lines of the player to act until more bytes are needed."""
        while self.phase is Phase.PLAYING:
            actor = self._actor
            session = self._sessions[actor]
            session.send_state(self._line_asked)
            event = session.next_event()
            if not session.has_input:
                self._unread.discard(actor)
            if event is NEED_DATA:
                return
            now_ns = time.monotonic_ns()
            action = self._judge(event, now_ns)
            if action is not None:
                self._play(action, self._betting.after(action), now_ns)
                if self._actor not in self._unread:
                    return

    def _out_of_time(self) -> MatchFailure:
        seat = self._actor
        return MatchFailure(f"ERROR: seat {seat + 1} ran out of time", seat, FaultKind.TIMEOUT)

    def _judge(self, event: DealerEvent, now_ns: int) -> Action | None:
        """The action a line amounts to, or None when the player is to be heard on."""
        seat = self._actor
        if isinstance(event, Closed):
            raise self._no_action_failure(FaultKind.DISCONNECT)
        assert event is not NEED_DATA
        raw = event.raw
        if self._observer.wants_lines:
            self._observer.line_received(seat, self._unix_us(now_ns), raw)
        if isinstance(event, Comment):
            self._hear_on()
            if len(self._comments) < _MAX_COMMENTS_PER_HAND:
                text = raw.decode("latin-1").rstrip("\r\n")
                self._comments.append(PlayerComment(seat, len(self._times_ns), text))
            return None
        if not self._clocks[seat].charge((now_ns - self._asked_ns) // 1000):
            raise self._out_of_time()
        if isinstance(event, Reply):
            action, warning = self._fit(event.action)
            if warning is not None:
                self._observer.warning(warning)
                self._report(FaultKind.ILLEGAL_ACTION, raw, f"played {format_action(action)}")
            elif raw.startswith(self._echo):
                self._tails.learn(raw[len(self._echo) :], action)
            return action
        if isinstance(event, BadState):
            self._observer.warning("WARNING: bad state format in response")
            self._report(FaultKind.MALFORMED_REPLY, raw, "ignored")
        elif isinstance(event, StaleReply):
            self._observer.warning("WARNING: ignoring un-requested response")
            self._report(FaultKind.STALE_REPLY, raw, "ignored")
        else:
            problem = "bad action format in response" if isinstance(event, BadAction) else "invalid action"
            self._observer.warning(f"WARNING: {problem}, changed to call")
            self._report(FaultKind.MALFORMED_REPLY, raw, "played c")
            return CALL
        self._hear_on()
        return None

    def _fit(self, action: Action) -> tuple[Action, str | None]:
        """The nearest legal action as the reference finds it, and the sentence about the change if there was one."""
        betting = self._betting
        legal = betting.legal_actions()
        if action.kind is ActionKind.RAISE:
            if legal.can_raise:
                size = action.hand_total
                if self._game.is_limit or legal.raise_min <= size <= legal.raise_max:
                    return action, None
                nearest = legal.raise_min if size < legal.raise_min else legal.raise_max
                change = "increased" if size < nearest else "decreased"
                return raise_to(nearest), f"WARNING: raise of {size} {change} to {nearest}"
            warning = "WARNING: invalid action, changed to call"
            if betting.raise_refusal() is Rule.ACTION_LIMIT:
                warning = "WARNING: #actions in round is too close to MAX_NUM_ACTIONS, forcing call/fold\n" + warning
            return CALL, warning
        if action.kind is ActionKind.FOLD and not legal.can_fold:
            return CALL, "WARNING: invalid action, changed to call"
        return action, None

    def _report(self, kind: FaultKind, raw: bytes, remedy: str) -> None:
        self._observer.fault(Fault(self._actor, kind, self._hand_number, raw, remedy))

    def _hear_on(self) -> None:
        """The player has said something that is no action: his silence counts anew."""
        limits = self.setup.limits
        # Comments are free, so a player could comment for ever; he may not beyond any time he could still answer in.
        latest_ns = self._asked_ns + (limits.response_us + limits.hand_us) * 1000
        self.deadline_ns = min(time.monotonic_ns() + limits.response_us * 1000, latest_ns)

    def _time_out(self) -> None:
        raise self._no_action_failure(FaultKind.TIMEOUT)

    def _no_action_failure(self, kind: FaultKind) -> MatchFailure:
        waited_s = (time.monotonic_ns() - self._asked_ns) / 1e9
        limit_s = self.setup.limits.response_us / 1e6
        return MatchFailure(
            f"ERROR: could not get action from seat {self._actor + 1}\n"
            f"{waited_s:.1f} seconds spent waiting; timeout {limit_s:.1f}",
            self._actor,
            kind,
        )

    def _play(self, action: Action, after: BettingState, now_ns: int) -> None:
        """Apply the player's action, tell everyone, and ask the next player."""
        if self._observer.wants_actions:
            asked_us, received_us = self._unix_us(self._asked_ns), self._unix_us(now_ns)
            self._observer.action_played(action, self._hand_number, asked_us, received_us)
        self._times_ns.append((self._asked_ns, now_ns))
        note = note_after(self._betting, action, after)
        if after.round != self._betting.round:
            self._lines.reach(self._betting.round, after.round)
        self._betting = after
        if after.finished:
            self._close_hand()
        else:
            self._ask(note.text)

    def _unix_us(self, now_ns: int) -> int:
        """A time of the monotonic clock as microseconds of Unix time."""
        return (now_ns + self._to_unix_ns) // 1000

    # ---- the end of a hand and of the match

    def _close_hand(self) -> None:
        """Settle a finished hand and begin the next one that needs an action, or end the match."""
        while True:
            self._observer.hand_finished(self._count_hand())
            if self._betting.folded.bit_count() + 1 < self._game.num_players:
                self._lines.show(self._betting.folded)
            self._tell_end()
            self._observer.hand_closed(self._hand_number, [clock.match_us for clock in self._clocks])
            if self.hands_played >= self.setup.hands:
                for seat, line in enumerate(self._pending):
                    if line:
                        self._send(Seat(seat), line, False)
                self._finish_match()
                return
            self._begin_hand()
            if not self._betting.finished:
                self._ask(note_of(self._betting).text)
                return

    def _count_hand(self) -> HandRecord:
        values = hand_values(self._betting, self._deal)
        for seat, value in zip(self._seats, values, strict=True):
            self.totals[seat] += value
        self.hands_played += 1
        to_unix = self._to_unix_ns
        return HandRecord(
            self._game,
            self.setup.name,
            self._hand_number,
            self.setup.names,
            self._seats,
            self._deal,
            self._betting,
            tuple(values),
            tuple(
                [Times((asked + to_unix) // 1000, (received + to_unix) // 1000) for asked, received in self._times_ns]
            ),
            tuple(self._comments),
        )

    def _finish_match(self) -> None:
        self._observer.match_finished(self._unix_us(self._asked_ns), self.totals)
        self.phase = Phase.FINISHED
        self.deadline_ns = None
        self._echo = _NO_ECHO


def send_failure(seat: Seat, error: OSError) -> MatchFailure:
    """What it means that a seat cannot be sent its line."""
    kind = FaultKind.FLOOD if error.errno == errno.ENOBUFS else FaultKind.DISCONNECT
    return MatchFailure(f"ERROR: could not send state to seat {seat + 1}", seat, kind)
