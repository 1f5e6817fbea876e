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
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from dealer.clock import DEFAULT_LIMITS, SeatClock, TimeLimits
from dealer.faults import Fault, FaultKind, MatchFailure
from dealer.observer import MatchObserver
from engine import CALL, CARD_TEXTS, Action, ActionKind, Deal, Game, Rule, Seat, betting_start, deals
from engine.actions import raise_to
from engine.hand import hand_values
from logs import HandRecord, PlayerComment, Times
from logs.transaction_log import Transaction
from protocol import NEED_DATA, DealerSession, RemoteProtocolError, format_action
from protocol.session import BadAction, BadState, Closed, Comment, DealerEvent, Handshake, Reply, StaleReply

__all__ = ["Match", "MatchSetup", "Phase", "Write"]

Write = Callable[[bytes, bool], None]
"""Sends bytes to a seat; the flag says that the seat is now asked for an action, so the bytes must leave at once.

Raises:
    OSError: the connection is broken.
"""

_ACTION_BYTES: Final = (b"f", b"c", b"r")
_CARD_BYTES: Final = tuple(text.encode() for text in CARD_TEXTS)
_MAX_COMMENTS_PER_HAND: Final = 256


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
        self._pending = [b""] * players
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
        self._betting_text = b""
        self._seats: tuple[Seat, ...] = ()
        self._prefixes: list[bytes] = []
        self._holes: list[bytes] = []
        self._tails: list[bytes] = []
        self._times: list[Times] = []
        self._comments: list[PlayerComment] = []

        # The question being asked.
        self._actor = Seat(0)
        self._asked_us = 0
        self._asked_ns = 0

    # ---- what the owner of the connections calls

    def connect(self, seat: Seat, write: Write) -> None:
        """A player has taken his seat."""
        self._writes[seat] = write
        self._connected.add(seat)
        if self.phase is Phase.CONNECTING and len(self._connected) == self._game.num_players:
            self.phase = Phase.GREETING
            self._guarded(self._greet)

    def receive(self, seat: Seat, data: bytes) -> None:
        """Bytes came from a seat."""
        self._sessions[seat].receive_data(data)
        if self.phase is Phase.PLAYING:
            if seat == self._actor:
                self._guarded(self._listen)
        elif self.phase is Phase.GREETING:
            self._guarded(self._greet)

    def receive_eof(self, seat: Seat) -> None:
        """A player has closed his side; it counts when he is next to act."""
        self._sessions[seat].receive_eof()
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
            self._observer.match_failed(failure, waited_us)

    # ---- the handshake

    def _guarded(self, step: Callable[[], None]) -> None:
        """Run a step of the match; whatever goes wrong ends the match and nothing else."""
        try:
            step()
            self._observer.settled()
        except MatchFailure as failure:
            self.fail(failure)
        except OSError as error:
            self.fail(MatchFailure(f"ERROR: could not write {error.filename or 'a log'}: {error.strerror}"))

    def _greet(self) -> None:
        """Read the version lines in seat order; start when all are there."""
        while self._greeted < self._game.num_players:
            seat = Seat(self._greeted)
            try:
                event = self._sessions[seat].next_event()
            except RemoteProtocolError as error:
                # The reference prints the line as it came, with its end or without one, up to a NUL.
                printed = "ERROR: invalid version string " + error.line.split(b"\0")[0].decode("latin-1")
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
        self._asked_us = time.time_ns() // 1000
        self._observer.match_started(self._asked_us)
        self._begin_hand()
        for transaction in self._transactions:
            self._replay(transaction)
        if self.hands_played >= self.setup.hands:
            self._finish_match()
        elif self._betting.finished:
            self._close_hand()
        else:
            self._ask()
        self._listen()

    def _replay(self, transaction: Transaction) -> None:
        """Apply an action of an earlier run: nothing is sent or logged, but time and chips count."""
        line, action, hand_number, times = transaction
        complaint = ""
        if not transaction.is_readable:
            complaint = "ERROR: could not parse transaction stamp "
        elif hand_number != self._hand_number:
            complaint = "ERROR: handId mismatch in transaction log: "
        elif action is None or (action, None) != self._fit(action):
            complaint = "ERROR: invalid action in transaction log: "
        if complaint or action is None:
            # The reference prints the line as it came, with its end or without one, up to a NUL.
            printed = complaint + line.split("\0", 1)[0]
            raise MatchFailure(printed.rstrip("\r\n"), printed=printed)
        seat = self._seats[self._betting.acting_position]
        if not self._clocks[seat].charge(max(0, times.received_us - times.sent_us)):
            raise MatchFailure(f"ERROR: seat {seat + 1} ran out of time in transaction file", seat, FaultKind.TIMEOUT)
        self._times.append(times)
        self._advance(action)
        if self._betting.finished:
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
        self._betting_text = b"/" * self._root.round
        offset = 0 if self.setup.fixed_seats else number % players
        self._seats = self._seats_by_offset[offset]
        self._times = []
        self._comments = []
        self._prefixes = [b"MATCHSTATE:%d:%d:" % (position, number) for position in range(players)]
        self._holes = [b"".join([_CARD_BYTES[card] for card in cards]) for cards in deal.hole_cards]
        self._make_tails()
        for clock in self._clocks:
            clock.start_hand()

    def _make_tails(self) -> None:
        """The cards as each position sees them in the present round."""
        players = self._game.num_players
        board = self._board_text()
        holes = self._holes
        self._tails = [
            b":" + b"|" * position + holes[position] + b"|" * (players - 1 - position) + board + b"\r\n"
            for position in range(players)
        ]

    def _make_showdown_tails(self) -> None:
        """The cards as each position sees them when hands are shown: all that were not folded, and his own."""
        players, folded = self._game.num_players, self._betting.folded
        board = self._board_text()
        self._tails = []
        for viewer in range(players):
            shown = [b"" if folded >> p & 1 and p != viewer else self._holes[p] for p in range(players)]
            self._tails.append(b":" + b"|".join(shown) + board + b"\r\n")

    def _board_text(self) -> bytes:
        text = b""
        start = 0
        for round_, end in enumerate(self._game.board_cards_by_round[: self._betting.round + 1]):
            if round_:
                text += b"/"
            text += b"".join([_CARD_BYTES[card] for card in self._deal.board[start:end]])
            start = end
        return text

    def _advance(self, action: Action) -> None:
        """Apply a legal action."""
        before = self._betting
        self._betting = betting = before.after(action)
        text = _ACTION_BYTES[action.kind]
        if action.hand_total:
            text = b"r%d" % action.hand_total
        if betting.round != before.round:
            text += b"/" * (betting.round - before.round)
            self._betting_text += text
            self._make_tails()
        else:
            self._betting_text += text

    def _line(self, position: int) -> bytes:
        """The present state as a position sees it."""
        return self._prefixes[position] + self._betting_text + self._tails[position]

    def _tell_end(self) -> None:
        """Prepare the last state of the hand for every seat; it leaves with whatever is sent next."""
        self._show_lines()
        for position, seat in enumerate(self._seats):
            self._pending[seat] += self._line(position)

    def _ask(self) -> None:
        """Tell the present state to everybody and ask the player to act.

        His line leaves first: he thinks while the others are told. Each seat gets the same bytes in any order.
        """
        self._show_lines()
        asked = self._betting.acting_position
        self._actor = actor = self._seats[asked]
        line = self._sessions[actor].send_state(self._line(asked))
        self._send(actor, line, True)
        self._asked_us = time.time_ns() // 1000
        self._asked_ns = now_ns = time.monotonic_ns()
        self.deadline_ns = now_ns + self._response_ns
        for position, seat in enumerate(self._seats):
            if position != asked:
                self._send(seat, self._prefixes[position] + self._betting_text + self._tails[position], False)

    def _show_lines(self) -> None:
        """Tell the observer what is about to be sent, in seat order."""
        if self._observer.wants_lines:
            players = len(self._seats)
            for seat in range(players):
                position = (seat - self._seats[0]) % players
                self._observer.line_sent(Seat(seat), time.time_ns() // 1000, self._line(position))

    def _send(self, seat: Seat, line: bytes, is_asked: bool) -> None:
        pending = self._pending
        if pending[seat]:
            line = pending[seat] + line
            pending[seat] = b""
        try:
            self._writes[seat](line, is_asked)
        except OSError:
            raise MatchFailure(f"ERROR: could not send state to seat {seat + 1}", seat, FaultKind.DISCONNECT) from None

    # ---- the answer

    def _listen(self) -> None:
        """Judge the lines of the player to act until more bytes are needed."""
        while self.phase is Phase.PLAYING:
            event = self._sessions[self._actor].next_event()
            if event is NEED_DATA:
                return
            received_us = time.time_ns() // 1000
            action = self._judge(event, received_us)
            if action is not None:
                self._play(action, received_us)

    def _judge(self, event: DealerEvent, received_us: int) -> Action | None:
        """The action a line amounts to, or None when the player is to be heard on."""
        seat = self._actor
        if isinstance(event, Closed):
            raise self._no_action_failure(FaultKind.DISCONNECT)
        assert event is not NEED_DATA
        raw = event.raw
        if self._observer.wants_lines:
            self._observer.line_received(seat, received_us, raw)
        if isinstance(event, Comment):
            self._hear_on()
            if len(self._comments) < _MAX_COMMENTS_PER_HAND:
                text = raw.decode("latin-1").rstrip("\r\n")
                self._comments.append(PlayerComment(seat, len(self._times), text))
            return None
        elapsed_us = (time.monotonic_ns() - self._asked_ns) // 1000
        if not self._clocks[seat].charge(elapsed_us):
            raise MatchFailure(f"ERROR: seat {seat + 1} ran out of time", seat, FaultKind.TIMEOUT)
        if isinstance(event, Reply):
            action, warning = self._fit(event.action)
            if warning is not None:
                self._observer.warning(warning)
                self._report(FaultKind.ILLEGAL_ACTION, raw, f"played {format_action(action)}")
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

    def _play(self, action: Action, received_us: int) -> None:
        """Apply the player's action, tell everyone, and ask the next player."""
        self._observer.action_played(action, self._hand_number, self._asked_us, received_us)
        self._times.append(Times(self._asked_us, received_us))
        self._advance(action)
        if not self._betting.finished:
            self._ask()
        else:
            self._close_hand()

    # ---- the end of a hand and of the match

    def _close_hand(self) -> None:
        """Settle a finished hand and begin the next one that needs an action, or end the match."""
        while True:
            self._observer.hand_finished(self._count_hand())
            if self._betting.folded.bit_count() + 1 < self._game.num_players:
                self._make_showdown_tails()
            self._tell_end()
            self._observer.hand_closed(self._hand_number, [clock.match_us for clock in self._clocks])
            if self.hands_played >= self.setup.hands:
                for seat in self._seats:
                    self._send(seat, b"", False)
                self._finish_match()
                return
            self._begin_hand()
            if not self._betting.finished:
                self._ask()
                return

    def _count_hand(self) -> HandRecord:
        values = hand_values(self._betting, self._deal)
        for seat, value in zip(self._seats, values, strict=True):
            self.totals[seat] += value
        self.hands_played += 1
        return HandRecord(
            self._game,
            self.setup.name,
            self._hand_number,
            self.setup.names,
            self._seats,
            self._deal,
            self._betting,
            tuple(values),
            tuple(self._times),
            tuple(self._comments),
        )

    def _finish_match(self) -> None:
        self.phase = Phase.FINISHED
        self.deadline_ns = None
        self._observer.match_finished(self._asked_us, self.totals)
