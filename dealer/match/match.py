"""One match, from the first version line to the score: no sockets, no waiting.

Whoever owns the connections (`dealer.table.connections`, or a test) gives the bytes of each seat to `receive`, calls
`check_time` when `deadline_ns` has passed, and gives each seat a function that writes. The match does the rest: it
deals, tells every seat each state in seat order, judges the lines of the player to act as the reference dealer does,
and tells its watchers what happens.

Rules it obeys (ACPC protocol 2.0.0 and the reference server):

- Only the player to act is read; lines of others wait and are judged when their turn comes.
- An unreadable or illegal action becomes a call, a raise of the wrong size the nearest legal size; lines that are no
  reply to the present state are passed over. Each is reported, none ends the match.
- All lines that exist at one moment for a seat leave in one write: the last state of a hand goes out together with
  the first of the next.

Beyond the reference, for whoever plays many matches:

- Under a policy other than `FaultPolicy.END` a player who is late or gone does not end everybody's match: the owner
  finds him in `take_losses` and either brings him back (`rejoin`) or gives him up (`forfeit`: he checks or folds from
  then on). Until then the match waits when it is his turn, and nobody's time runs.
- `play_until` sets a hand after which the match holds: nobody is asked, nobody's time runs, until it is moved on or
  ended with `finish`.
- A match broken off at the end of a hand goes on from there with a `Progress`.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from dealer.errors import MatchFailure
from dealer.match.causes import (
    BadTransaction,
    Cause,
    ConnectionClosed,
    LeftBeforeVersion,
    MatchCause,
    NobodyLeft,
    NotWritten,
    OutOfTime,
    PlayerCause,
    Silent,
    TooManyIdleLines,
    TransactionProblem,
    UnreadableVersion,
    sending_failed,
)
from dealer.match.clocks import SeatClock
from dealer.match.correction import fit
from dealer.match.events import (
    ActionPlayed,
    Audience,
    FaultSeen,
    HandClosed,
    HandFinished,
    HandStarted,
    LineReceived,
    LineSent,
    MatchEnded,
    MatchStarted,
    Settled,
    VersionDiffers,
    Watcher,
)
from dealer.match.faults import Fault, FaultPolicy, Remedy, ReplyProblem
from dealer.match.setup import MAX_COMMENTS_PER_HAND, NO_PROGRESS, Loss, MatchSetup, Phase, Progress
from engine import CALL, FOLD, Action, BettingState, Deal, Seat, betting_start, deals
from engine.hand import hand_values
from logs import HandRecord, PlayerComment, Times
from logs.transaction_log import Transaction
from protocol import (
    NEED_DATA,
    BadAction,
    BadState,
    Closed,
    Comment,
    DealerSession,
    Handshake,
    RemoteProtocolError,
    Reply,
    StaleReply,
    UnknownAction,
)
from protocol.hand_lines import HandLines

__all__ = ["NO_PROGRESS", "Match", "MatchSetup", "Phase", "Progress", "Write"]

Write = Callable[[bytes, bool], None]
"""Sends bytes to a seat; the flag says that the seat is now asked for an action, so the bytes must leave at once.

Raises:
    OSError: the connection is broken.
"""


def _write_nothing(data: bytes, is_asked: bool) -> None:
    """The write function of a seat that nobody has taken."""


class Match:
    """The state of one match. See the module for how to drive it.

    Attributes:
        setup: what is played. phase: how far it is. failure: why it failed, when it did. totals: net chips by seat
        over the finished hands. hands_played: finished hands. deadline_ns: on the clock of `time.monotonic_ns`, when
        `check_time` has to be called; None when nothing is awaited. questions, overhead_ns: how often a player was
        asked after an answer, and the time from those answers to the questions that followed, all of it the dealer's.
        has_losses: `take_losses` has something to tell.
    """

    def __init__(
        self,
        setup: MatchSetup,
        watchers: Sequence[Watcher] = (),
        transactions: Iterable[Transaction] = (),
        progress: Progress = NO_PROGRESS,
    ) -> None:
        """Prepare a match.

        Args:
            setup: what is played.
            watchers: who is told what happens.
            transactions: actions of an earlier run to go on from, as the reference does it.
            progress: whole hands of an earlier run to go on from.
        """
        self.setup = setup
        self.phase = Phase.CONNECTING
        self.failure: Cause | None = None
        self.totals = list(progress.totals) or [0.0] * setup.game.num_players
        self.hands_played = progress.hands
        self.deadline_ns: int | None = None
        self.questions = 0
        self.overhead_ns = 0
        self.has_losses = False

        game = setup.game
        players = game.num_players
        self._game = game
        self._audience = audience = Audience(watchers)
        self._tell = audience.tell
        self._shows_lines = audience.wants(LineSent) or audience.wants(LineReceived) or audience.wants(Settled)
        """Every line leaves at once and in seat order, so that the watchers are told what happened when."""
        self._shows_hands = audience.wants(HandStarted)
        self._shows_actions = audience.wants(ActionPlayed)
        self._transactions = transactions
        self._sessions = [DealerSession(game) for _ in range(players)]
        self._clocks = [SeatClock(setup.limits, setup.hands) for _ in range(players)]
        for clock, used_us in zip(self._clocks, progress.used_us, strict=False):
            clock.match_us = used_us
        self._writes: list[Write] = [_write_nothing] * players
        self._connected: set[Seat] = set()
        self._nothing_pending = (b"",) * players
        self._pending: tuple[bytes, ...] = self._nothing_pending
        """By seat, the last state of the hand before: it leaves with the first state of the next."""
        self._response_ns = setup.limits.response_us * 1000
        self._until = setup.hands
        self._losses: list[Loss] = []
        self._away: set[Seat] = set()
        """Seats whose players are awaited again."""
        self._returning: dict[Seat, Write] = {}
        """Those of them who have connected: nothing is sent to them before they have named their version."""
        self._absent: set[Seat] = set(progress.forfeited)
        """Seats that check or fold to the end."""
        self._greeted = 0
        self._root = betting_start(game)
        self._seats_by_offset = [
            tuple(Seat((position + offset) % players) for position in range(players)) for offset in range(players)
        ]

        # The hand being played.
        next_hand = setup.first_hand + progress.hands
        self._deals: Iterator[Deal] = deals(game, setup.seed, next_hand)
        self._hand_number = next_hand - 1
        self._deal = Deal((), ())
        self._betting = self._root
        self._seats: tuple[Seat, ...] = ()
        self._lines: HandLines
        self._times_ns: list[tuple[int, int]] = []
        self._comments: list[PlayerComment] = []

        # The question being asked.
        self._actor = Seat(0)
        self._asked_ns = 0
        self._unread: set[Seat] = set(progress.forfeited)
        """Seats whose sessions may hold something unread, and seats to be answered for."""
        self._answered_ns = 0
        self._idle_lines = [0] * players
        self._takes_single_replies = not self._shows_lines
        self._to_unix_ns = time.time_ns() - time.monotonic_ns()

    # ---- what the owner of the connections calls

    def connect(self, seat: Seat, write: Write) -> None:
        """A player has taken his seat."""
        self._writes[seat] = write
        self._connected.add(seat)
        self.open()

    def open(self) -> None:
        """Begin if nobody is awaited any more; by itself only called where an earlier run gave up every seat."""
        if self.phase is Phase.CONNECTING and not self.missing_seats():
            self.phase = Phase.GREETING
            self._guarded(self._greet)

    def missing_seats(self) -> list[Seat]:
        """The seats that wait for their player."""
        if self.phase is Phase.CONNECTING:
            seats = range(self._game.num_players)
            return [Seat(seat) for seat in seats if seat not in self._connected and seat not in self._absent]
        return sorted(self._away - self._connected)

    def receive(self, seat: Seat, data: bytes) -> bool:
        """Bytes came from a seat; returns whether some of them may be waiting unread."""
        session = self._sessions[seat]
        if seat == self._actor and self._takes_single_replies and self.phase is Phase.PLAYING and not self._unread:
            action = session.receive_reply(data)
            if action is not None:
                try:
                    self._answer(action, data, time.monotonic_ns())
                    if self._unread:
                        self._listen()
                except (MatchFailure, OSError) as problem:
                    self._stop(problem)
                return False
        if not self._is_heard(seat):
            return False
        session.receive_data(data)
        self._hear(seat)
        return session.has_input

    def receive_eof(self, seat: Seat) -> None:
        """A player has closed his side; it counts when he is next to act."""
        if self._is_heard(seat):
            self._sessions[seat].receive_eof()
            self._hear(seat)

    def _is_heard(self, seat: Seat) -> bool:
        """Whether what a seat sends may still matter: not after the match, nor the last of a player lost already."""
        if self.phase is Phase.FINISHED or self.phase is Phase.FAILED:
            return False
        return not self._away or seat not in self._away or seat in self._connected

    def _hear(self, seat: Seat) -> None:
        self._unread.add(seat)
        if seat in self._away:
            self._guarded(lambda: self._greet_again(seat))
        elif self.phase is Phase.PLAYING:
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

    def fail(self, cause: Cause) -> None:
        """End the match, for a cause found inside or outside."""
        if self.phase not in (Phase.FINISHED, Phase.FAILED):
            waited_us = (time.monotonic_ns() - self._asked_ns) // 1000 if self.phase is Phase.PLAYING else 0
            self.phase = Phase.FAILED
            self.failure = cause
            self.deadline_ns = None
            self._audience.tell_failure(self._end(cause, waited_us))

    # ---- holding

    def play_until(self, hands: int) -> None:
        """Go on until so many hands of the match are finished, then hold; the last hand ends the match."""
        self._until = min(hands, self.setup.hands)
        if self.phase is Phase.HOLDING and self.hands_played < self._until:
            self.phase = Phase.PLAYING
            self._answered_ns = time.monotonic_ns()
            self._guarded(self._go_on)

    def _go_on(self) -> None:
        self._begin_hand()
        if self._betting.finished:
            self._close_hand()
        else:
            self._ask()
        self._listen()

    def finish(self) -> None:
        """End a holding match here, with its score."""
        if self.phase is Phase.HOLDING:
            self._guarded(self._finish_match)

    # ---- players who are late or gone

    def lose(self, cause: PlayerCause) -> None:
        """A player is gone, found out outside: it loses its part, or the match ends."""

        def step() -> None:
            raise MatchFailure(cause)

        self._guarded(step)

    def take_losses(self) -> list[Loss]:
        """The players lost since the last call; those not final are awaited again."""
        losses, self._losses = self._losses, []
        self.has_losses = False
        return losses

    def rejoin(self, seat: Seat, write: Write) -> None:
        """An awaited player has taken his seat again; after his version line he is asked what he missed."""
        if seat in self._away:
            self._sessions[seat] = DealerSession(self._game)
            self._returning[seat] = write
            self._connected.add(seat)

    def is_awaited(self, seat: Seat) -> bool:
        """Whether a player was lost and has not named his version again."""
        return seat in self._away

    def forfeit(self, seat: Seat) -> None:
        """Give an awaited player up: he checks or folds from here on."""

        def step() -> None:
            self._away.discard(seat)
            self._returning.pop(seat, None)
            self._absent.add(seat)
            self._unread.add(seat)
            if len(self._absent) == self._game.num_players:
                raise MatchFailure(NobodyLeft())
            if self.phase is Phase.PLAYING and self._actor == seat:
                self._listen()

        if seat in self._away:
            self._guarded(step)

    def _answers_in_hand(self, seat: Seat) -> int:
        return sum(self._seats[position] == seat for actions in self._betting.rounds for position, _ in actions)

    def _set_aside(self, cause: PlayerCause) -> None:
        """A player is gone: when it is his turn the match waits until its owner has decided what becomes of him."""
        seat = cause.seat
        clock = self._clocks[seat]
        clock.hand_us = 0
        self._writes[seat] = _write_nothing
        self._returning.pop(seat, None)
        self._connected.discard(seat)
        self._unread.discard(seat)
        self._away.add(seat)
        is_final = self.setup.on_fault is FaultPolicy.FORFEIT or clock.is_spent
        if self.phase is Phase.HOLDING or self._betting.finished:
            # Between two hands: the one before stands as it is.
            self._losses.append(Loss(cause, self._hand_number + 1, 0, is_final))
        else:
            self._losses.append(Loss(cause, self._hand_number, self._answers_in_hand(seat), is_final))
        self.has_losses = True
        if seat == self._actor:
            self.deadline_ns = None

    def _greet_again(self, seat: Seat) -> None:
        """Read the version line of a player who has come back, and ask him if the match waits for him."""
        if self._read_version(seat) is None:
            return
        self._away.discard(seat)
        self._writes[seat] = self._returning.pop(seat)
        if self.phase is Phase.PLAYING and seat == self._actor:
            self._answered_ns = time.monotonic_ns()
            self._ask(is_repeated=True)
            self._listen()

    # ---- the handshake

    def _guarded(self, step: Callable[[], None]) -> None:
        """Run a step of the match; whatever goes wrong ends the match, or a player's part in it, and nothing else."""
        try:
            step()
        except (MatchFailure, OSError) as problem:
            self._stop(problem)
        if self._shows_lines and self.phase is not Phase.FAILED:
            try:
                self._tell(Settled())
            except OSError as problem:
                self._stop(problem)

    def _stop(self, problem: MatchFailure | OSError) -> None:
        cause: Cause = problem.cause if isinstance(problem, MatchFailure) else NotWritten.of(problem)
        is_survivable = self.setup.on_fault is not FaultPolicy.END and self.phase in (Phase.PLAYING, Phase.HOLDING)
        if not is_survivable or isinstance(cause, MatchCause):
            self.fail(cause)
        elif cause.seat not in self._absent and (cause.seat not in self._away or cause.seat in self._connected):
            self._set_aside(cause)

    def _greet(self) -> None:
        """Read the version lines in seat order; start when all are there."""
        while self._greeted < self._game.num_players:
            seat = Seat(self._greeted)
            if seat in self._absent:
                self._greeted += 1
                continue
            version = self._read_version(seat)
            if version is None:
                return
            if not version.is_supported:
                self._tell(VersionDiffers(seat))
            self._greeted += 1
        self.phase = Phase.PLAYING
        if len(self._absent) == self._game.num_players:
            raise MatchFailure(NobodyLeft())
        self._start()

    def _read_version(self, seat: Seat) -> Handshake | None:
        """The first line of a player, None while it is not there."""
        try:
            event = self._sessions[seat].next_event()
        except RemoteProtocolError as error:
            raise MatchFailure(UnreadableVersion(seat, line=error.line)) from None
        if event is NEED_DATA:
            return None
        if isinstance(event, Closed):
            raise MatchFailure(LeftBeforeVersion(seat))
        assert isinstance(event, Handshake)
        return event

    def _start(self) -> None:
        self._asked_ns = self._answered_ns = time.monotonic_ns()
        self._tell(MatchStarted(self.setup, self._unix_us(self._asked_ns)))
        if self.hands_played >= self._until:
            self._rest()
            return
        self._deal_hand()
        for transaction in self._transactions:
            self._replay(transaction)
        if self.hands_played >= self._until:
            self._rest()
            return
        self._show_hand()
        if self._betting.finished:
            self._close_hand()
        else:
            self._ask()
        self._listen()

    def _replay(self, transaction: Transaction) -> None:
        """Apply an action of an earlier run: nothing is sent or logged, but time and chips count."""
        line, action, hand_number, times = transaction
        problem = None
        if not transaction.is_readable:
            problem = TransactionProblem.UNREADABLE
        elif hand_number != self._hand_number:
            problem = TransactionProblem.WRONG_HAND
        elif action is None or self._betting.finished or (action, None) != fit(self._betting, action):
            problem = TransactionProblem.INVALID_ACTION
        if problem is not None or action is None:
            raise MatchFailure(BadTransaction(problem or TransactionProblem.INVALID_ACTION, line))
        seat = self._seats[self._betting.acting_position]
        self._charge(seat, max(0, times.received_us - times.sent_us), is_replayed=True)
        self._times_ns.append((times.sent_us * 1000 - self._to_unix_ns, times.received_us * 1000 - self._to_unix_ns))
        after = self._betting.after(action)
        self._lines.play(action, after)
        self._betting = after
        if after.finished:
            self._count_hand()
            self._deal_hand()

    # ---- one hand

    def _begin_hand(self) -> None:
        """Deal the next hand and tell of it."""
        self._deal_hand()
        self._show_hand()

    def _show_hand(self) -> None:
        if self._shows_hands:
            self._tell(HandStarted(self._hand_number, self._seats, self._deal))

    def _deal_hand(self) -> None:
        """Deal the next hand and prepare what its lines are made of."""
        self._hand_number += 1
        number = self._hand_number
        players = self._game.num_players
        self._deal = deal = next(self._deals)
        self._betting = self._root
        self._lines = HandLines(deal, number, self._root)
        self._seats = self._seats_by_offset[0 if self.setup.fixed_seats else number % players]
        self._times_ns = []
        self._comments = []
        self._idle_lines = [0] * players
        for clock in self._clocks:
            clock.hand_us = 0
        self._to_unix_ns = time.time_ns() - time.monotonic_ns()

    def _tell_end(self) -> None:
        """Prepare the last state of the hand for every seat; it leaves with whatever is sent next."""
        if self._shows_lines:
            self._tell_in_order()
            return
        players = len(self._seats)
        lines = [self._lines.line((seat - self._seats[0]) % players) for seat in range(players)]
        self._pending = tuple(map(operator.add, self._pending, lines))

    def _ask(self, *, is_repeated: bool = False) -> None:
        """Tell the present state to everybody and ask the player to act.

        His line leaves first: he thinks while the others are told. Each seat gets the same bytes in any order.

        Args:
            is_repeated: all but the player to act know it already.
        """
        prefixes, text, tails = self._lines.prefixes, self._lines.betting, self._lines.tails
        asked = self._betting.acting_position
        self._actor = actor = self._seats[asked]
        if self._shows_lines:
            self._tell_in_order(actor if is_repeated else None)
            self._start_clock()
            return
        line = prefixes[asked] + text + tails[asked]
        if actor not in self._away and actor not in self._absent:
            self._sessions[actor].send(line, is_question=True)
        pending, self._pending = self._pending, self._nothing_pending
        seat, writes = actor, self._writes
        try:
            writes[seat](pending[seat] + line, True)
            self._start_clock()
            if is_repeated:
                return
            for position, seat in enumerate(self._seats):
                if position != asked:
                    writes[seat](pending[seat] + prefixes[position] + text + tails[position], False)
        except OSError as error:
            self._could_not_send(
                seat,
                error,
                [
                    (other, pending[other] + prefixes[position] + text + tails[position])
                    for position, other in enumerate(self._seats)
                    if position != asked and (seat == actor or position > self._seats.index(seat))
                ],
            )

    def _could_not_send(self, seat: Seat, error: OSError, rest: Sequence[tuple[Seat, bytes]]) -> None:
        """A player could not be told: the others still are, unless the match ends for it."""
        cause = sending_failed(seat, error)
        if self.setup.on_fault is FaultPolicy.END:
            raise MatchFailure(cause) from None
        if self._betting.finished and self.hands_played >= self.setup.hands:
            # The match is over for this player all the same.
            return
        self._set_aside(cause)
        for at, (other, line) in enumerate(rest):
            try:
                self._writes[other](line, False)
            except OSError as another:
                self._could_not_send(other, another, rest[at + 1 :])
                return

    def _start_clock(self) -> None:
        """The player to act has his question: his time runs, unless he is not there."""
        self._asked_ns = now_ns = time.monotonic_ns()
        self.overhead_ns += now_ns - self._answered_ns
        self.questions += 1
        if self._away and self._actor in self._away:
            self.deadline_ns = None
        else:
            self.deadline_ns = now_ns + self._response_ns

    def _tell_in_order(self, only: Seat | None = None) -> None:
        """Tell the present state seat by seat, each line noted when it has been sent, as the reference does."""
        players = len(self._seats)
        for seat in map(Seat, range(players)):
            if seat in self._away or seat in self._absent or only not in (None, seat):
                continue
            position = (seat - self._seats[0]) % players
            line = self._lines.line(position)
            try:
                self._writes[seat](
                    self._sessions[seat].send(line, is_question=position == self._betting.acting_position), True
                )
            except OSError as error:
                self._could_not_send(seat, error, ())
            else:
                self._tell(LineSent(seat, time.time_ns() // 1000, line))

    # ---- the answer

    def _listen(self) -> None:
        """Judge the lines of the player to act until more bytes are needed."""
        while self.phase is Phase.PLAYING:
            actor = self._actor
            if actor in self._absent:
                now_ns = time.monotonic_ns()
                check_or_fold = FOLD if self._betting.legal_actions().can_fold else CALL
                self._play(check_or_fold, self._betting.after(check_or_fold), now_ns)
                if self._actor not in self._unread:
                    return
                continue
            if actor in self._away:
                return
            session = self._sessions[actor]
            event = session.next_event()
            if not session.has_input:
                self._unread.discard(actor)
            if event is NEED_DATA:
                return
            now_ns = time.monotonic_ns()
            if isinstance(event, Closed):
                raise MatchFailure(ConnectionClosed(actor, self._wasted_us(), self.setup.limits.response_us))
            raw = event.raw
            if self._shows_lines:
                self._tell(LineReceived(actor, self._unix_us(now_ns), raw))
            if isinstance(event, Comment):
                self._hear_on(raw)
                if len(self._comments) < MAX_COMMENTS_PER_HAND:
                    text = raw.decode("latin-1").rstrip("\r\n")
                    self._comments.append(PlayerComment(actor, len(self._times_ns), text))
                continue
            if isinstance(event, Reply):
                self._answer(event.action, raw, now_ns)
            else:
                self._charge(actor, (now_ns - self._asked_ns) // 1000)
                if not self._is_called(event):
                    continue
                self._play(CALL, self._betting.after(CALL), now_ns)
            if self._actor not in self._unread:
                return

    def _answer(self, action: Action, raw: bytes, now_ns: int) -> None:
        """Play what the player answered, or the nearest legal action."""
        self._charge(self._actor, (now_ns - self._asked_ns) // 1000)
        after = self._betting.after_if_legal(action)
        if after is None:
            sent = action
            action, problem = fit(self._betting, sent)
            if problem is not None:
                self._report(problem, raw, action, sent)
            after = self._betting.after(action)
        self._play(action, after, now_ns)

    def _is_called(self, event: Handshake | BadState | StaleReply | BadAction | UnknownAction) -> bool:
        """Report a line without a readable action; whether it counts as a call, or the player is to be heard on."""
        raw = event.raw
        if isinstance(event, BadState):
            self._report(ReplyProblem.NO_REPLY, raw)
        elif isinstance(event, StaleReply):
            self._report(ReplyProblem.OTHER_STATE, raw)
        else:
            is_size = isinstance(event, BadAction)
            self._report(ReplyProblem.UNREADABLE_SIZE if is_size else ReplyProblem.UNKNOWN_ACTION, raw, CALL)
            return True
        self._hear_on(raw)
        return False

    def _report(
        self, problem: ReplyProblem, raw: bytes, played: Action | None = None, sent: Action | None = None
    ) -> None:
        remedy = Remedy.IGNORED if played is None else Remedy.PLAYED
        fault = Fault(self._actor, problem.kind, self._hand_number, raw, remedy, played)
        self._tell(FaultSeen(fault, problem, sent))

    def _hear_on(self, raw: bytes) -> None:
        """The player has said something that is no action: his silence counts anew."""
        limits = self.setup.limits
        # Comments are free, so a player could comment for ever; he may not beyond any time he could still answer in.
        latest_ns = self._asked_ns + (limits.response_us + limits.hand_us) * 1000
        seat, most = self._actor, self.setup.max_idle_lines_per_hand
        self._idle_lines[seat] += 1
        if most is not None and self._idle_lines[seat] > most:
            raise MatchFailure(TooManyIdleLines(seat, self._hand_number, most, line=raw))
        self.deadline_ns = min(time.monotonic_ns() + limits.response_us * 1000, latest_ns)

    def _time_out(self) -> None:
        raise MatchFailure(Silent(self._actor, self._wasted_us(), self.setup.limits.response_us))

    def _wasted_us(self) -> int:
        """Charge the player to act with the time waited in vain, which counts where the match goes on."""
        waited_us = (time.monotonic_ns() - self._asked_ns) // 1000
        self._clocks[self._actor].charge(waited_us)
        return waited_us

    def _charge(self, seat: Seat, elapsed_us: int, *, is_replayed: bool = False) -> None:
        """Charge a player's clocks with an answer."""
        clock = self._clocks[seat]
        if not clock.charge(elapsed_us):
            raise MatchFailure(OutOfTime(seat, clock.exceeded_limit(elapsed_us), is_replayed))

    def _play(self, action: Action, after: BettingState, now_ns: int) -> None:
        """Apply the player's action, tell everyone, and ask the next player."""
        if self._shows_actions:
            asked_us, received_us = self._unix_us(self._asked_ns), self._unix_us(now_ns)
            self._tell(ActionPlayed(self._hand_number, self._actor, self._betting, action, asked_us, received_us))
        self._times_ns.append((self._asked_ns, now_ns))
        self._answered_ns = now_ns
        self._lines.play(action, after)
        self._betting = after
        if after.finished:
            self._close_hand()
        else:
            self._ask()

    def _unix_us(self, now_ns: int) -> int:
        """A time of the monotonic clock as microseconds of Unix time."""
        return (now_ns + self._to_unix_ns) // 1000

    # ---- the end of a hand and of the match

    def _close_hand(self) -> None:
        """Settle a finished hand and begin the next one that needs an action, or end the match."""
        while True:
            self._tell(HandFinished(self._count_hand()))
            if self._betting.is_showdown:
                self._lines.show(self._betting.folded)
            self._tell_end()
            self._tell(HandClosed(self._hand_number, tuple([clock.match_us for clock in self._clocks])))
            if self.hands_played >= self._until:
                self._rest()
                return
            self._begin_hand()
            if not self._betting.finished:
                self._ask()
                return

    def _rest(self) -> None:
        """The last hand asked for is over: send what is left to be told, then hold, or end the match."""
        pending, self._pending = self._pending, self._nothing_pending
        self.deadline_ns = None
        if self.hands_played < self.setup.hands:
            self.phase = Phase.HOLDING
        for seat, line in enumerate(pending):
            if line:
                try:
                    self._writes[seat](line, False)
                except OSError as error:
                    self._could_not_send(Seat(seat), error, ())
        if self.hands_played >= self.setup.hands:
            self._finish_match()

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

    def _end(self, cause: Cause | None, waited_us: int) -> MatchEnded:
        asked_us = self._unix_us(self._asked_ns)
        return MatchEnded(cause, self.hands_played, tuple(self.totals), asked_us, waited_us)

    def _finish_match(self) -> None:
        self._tell(self._end(None, 0))
        self.phase = Phase.FINISHED
        self.deadline_ns = None
