"""Play the hands of a match: send each question, apply each reply, notify every player.

`Play` does not handle players that connect or fail; `dealer.match.match` does. A state is sent to all players, and it
is a question to the player to act. Every seat gets the bytes that the reference dealer would send, but in fewer
writes: the last state of a hand leaves together with the first of the next one. If a watcher wants lines, each leaves
by itself and in seat order, so that a transcript has the reference's order as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from dealer.errors import Cause, MatchFailure
from dealer.match import events
from dealer.match.causes import (
    BadTransaction,
    NoAnswer,
    PlayerCause,
    TooManyIdleLines,
    TransactionProblem,
    Unreachable,
)
from dealer.match.faults import Fault, Remedy, ReplyProblem
from dealer.match.hand_in_play import HandDealer, HandInPlay
from dealer.match.seats import PlayerSeat, Presence
from dealer.match.setup import MAX_COMMENTS_PER_QUESTION, EarlierHands, MatchSetup, Question
from engine import CALL, FOLD, Action, ActionKind, BettingState, Rule, Seat, nearest_legal
from logs.acpc_log.writer import state_line_ending
from logs.transaction_log import Transaction
from protocol import (
    NEED_DATA,
    BadAction,
    BadState,
    Closed,
    Comment,
    DealerEvent,
    Handshake,
    Reply,
    StaleReply,
    UnknownAction,
)
from protocol.betting_nodes import HEADS, BettingNode, HandLines, first_node

_Line: TypeAlias = Handshake | Comment | Reply | BadState | StaleReply | BadAction | UnknownAction
"""Session events for a line of a player."""

_SEATED = Presence.SEATED
_ABSENT = Presence.ABSENT


class _Seating(NamedTuple):
    """Seats of a hand.

    Attributes:
        player_seats: seats by position.
        opponents: for each position, all other positions with their seats.
        names: names of the players by position.
    """

    player_seats: tuple[PlayerSeat, ...]
    opponents: tuple[tuple[tuple[int, PlayerSeat], ...], ...]
    names: tuple[str, ...]


class Play:
    """Plays the hands of a match.

    Every method may raise `MatchFailure`, or the `OSError` of a watcher.

    Attributes:
        dealer: deals the hands and keeps the score.
        hand: the current hand, or the last one.
        actor: seat of the player to act.
        until: number of finished hands after which play rests.
        is_resting: no question is open and no clock runs.
        deadline_ns: end of the actor's time, on the clock of `time.monotonic_ns`; None without an open question.
        questions: number of questions sent after a reply.
        overhead_ns: time that the dealer itself took, from each reply to the next question.
        watches_lines: a watcher wants lines.
        arrived_ns: arrival of the bytes being judged; None for now.
    """

    def __init__(
        self,
        setup: MatchSetup,
        player_seats: Sequence[PlayerSeat],
        audience: events.Audience,
        progress: EarlierHands,
        *,
        on_unreachable: Callable[[PlayerCause], None],
        on_rest: Callable[[], None],
    ) -> None:
        """Initialise play before the first hand.

        Args:
            setup: settings of the match.
            player_seats: the seats, in order.
            audience: watchers of the match.
            progress: finished hands of an earlier run to continue from.
            on_unreachable: called when a line cannot be sent to a player; if it returns, play continues.
            on_rest: called when `until` hands are finished and all players have received the last state.
        """
        self.dealer = HandDealer(setup, progress.hands, progress.totals)
        self.hand: HandInPlay
        self.actor = player_seats[0]
        self.until = setup.hands
        self.is_resting = True
        self.deadline_ns: int | None = None
        self.questions = 0
        self.overhead_ns = 0
        self.arrived_ns: int | None = None
        self.watches_lines = (
            audience.wants(events.LineSent) or audience.wants(events.LineReceived) or audience.wants(events.Settled)
        )
        # Most watchers do not want most events, and building one costs more than this look-up.
        self._watches_hands = audience.wants(events.HandStarted)
        self._watches_actions = audience.wants(events.ActionPlayed)
        self._watches_plays = audience.wants(events.HandPlayed)
        self._watches_logs = audience.wants(events.LogLine)
        self._watches_ends = audience.wants(events.HandFinished)
        self._watches_closing = audience.wants(events.HandClosed)
        self._setup = setup
        self._player_seats = player_seats
        self._publish = audience.publish
        self._on_unreachable = on_unreachable
        self._on_rest = on_rest
        self._lines: HandLines
        self._seating: _Seating
        self._seatings: dict[tuple[Seat, ...], _Seating] = {}
        """Seatings by the seats of their positions."""
        self._echo = b""
        """State of the open question, without its line end. A reply begins with these bytes."""
        self._session_echo = self._echo
        """Question last given to a session. The fast path uses no session."""
        self._first_node = self._node = first_node(setup.game)
        self._asked_ns = 0
        self._answered_ns = 0
        self._comments = 0
        """Number of comments since the question."""
        self._offset_ns = time.time_ns() - time.monotonic_ns()
        """Offset from monotonic to Unix time."""

    # ---- start, continue, end

    def start(self, transactions: Iterable[Transaction]) -> None:
        """Start the match, and replay the actions of an interrupted one."""
        self._asked_ns = self._answered_ns = time.monotonic_ns()
        self._publish(events.MatchStarted(self._setup, self._unix_us(self._asked_ns)))
        self.is_resting = False
        if self.dealer.hands_played < self.until:
            self._deal()
            for transaction in transactions:
                self._replay(transaction)
        # The replayed actions may have finished hands.
        if self.dealer.hands_played < self.until:
            self._begin()
        else:
            self._rest()

    def resume(self) -> None:
        """Continue after a rest."""
        self._answered_ns = time.monotonic_ns()
        self.is_resting = False
        self._deal()
        self._begin()

    def ask_again(self) -> None:
        """Repeat the question to an actor that has connected again. A running clock keeps its deadline."""
        asked_ns = self._asked_ns
        deadline_ns = self.deadline_ns
        self._answered_ns = time.monotonic_ns()
        self._ask(is_repeated=True)
        # A player gains no time by connecting again during its turn.
        if deadline_ns is not None:
            self._asked_ns = asked_ns
            self.deadline_ns = deadline_ns
        # After a running clock has been kept: the player may have sent its reply together with its version line.
        self.listen()

    @property
    def question(self) -> Question | None:
        """The open question; None while no clock runs."""
        if self.deadline_ns is None:
            return None
        return Question(self.actor.seat, self.hand.number, self._asked_ns)

    def end(self, cause: Cause | None) -> events.MatchEnded:
        """Stop play, and return the event of the end; `cause` is None after the last hand."""
        waited_us = 0
        if not self.is_resting:
            waited_us = self._waited_us()
        self.is_resting = True
        self.deadline_ns = None
        # The reference's FINISHED line has the time of the last question, not of the end.
        asked_us = self._unix_us(self._asked_ns)
        return events.MatchEnded(cause, self.dealer.hands_played, tuple(self.dealer.totals), asked_us, waited_us)

    def count_actions(self, player_seat: PlayerSeat) -> int:
        """Number of a player's actions in the current hand."""
        if self.is_resting or self._node.finished:
            return 0
        # Play follows the nodes. The hand's own betting is set only where it is read.
        self.hand.betting = self._node.betting
        return self.hand.count_actions(player_seat.seat)

    # ---- one hand

    def _deal(self) -> None:
        """Deal the next hand and prepare its lines."""
        # Once a hand: the system may have set its clock meanwhile, and logs have Unix times.
        self._offset_ns = time.time_ns() - time.monotonic_ns()
        self.hand = hand = self.dealer.deal(self._offset_ns)
        self._node = self._first_node
        self._lines = HandLines(self._setup.game, hand.deal, hand.number)
        seating = self._seatings.get(hand.seats)
        if seating is None:
            seating = self._seatings[hand.seats] = self._new_seating(hand.seats)
        self._seating = seating
        for player_seat in self._player_seats:
            player_seat.begin_hand()

    def _new_seating(self, seats: tuple[Seat, ...]) -> _Seating:
        player_seats = tuple([self._player_seats[seat] for seat in seats])
        by_position = tuple(enumerate(player_seats))
        opponents = []
        for position in range(len(seats)):
            opponents.append(by_position[:position] + by_position[position + 1 :])
        names = tuple([self._setup.names[seat] for seat in seats])
        return _Seating(player_seats, tuple(opponents), names)

    def _begin(self) -> None:
        """Start the hand that was dealt."""
        self._show_hand()
        # Blinds can put every player all-in, so that nobody acts.
        if self._node.finished:
            self._close_hand()
        else:
            self._ask()
        # The actor may have sent lines before its turn, or have forfeited.
        self.listen()

    def _show_hand(self) -> None:
        if self._watches_hands:
            self._publish(events.HandStarted(self.hand.number, self.hand.seats, self.hand.deal))

    def _replay(self, transaction: Transaction) -> None:
        """Apply an action of an interrupted match. Its time and chips count; nothing is sent or logged."""
        hand = self.hand
        line = transaction.line
        action = transaction.action
        times = transaction.times
        if not transaction.is_readable:
            raise MatchFailure(BadTransaction(TransactionProblem.UNREADABLE, line))
        if transaction.hand_number != hand.number:
            raise MatchFailure(BadTransaction(TransactionProblem.WRONG_HAND, line))
        if action is None or hand.betting.finished:
            raise MatchFailure(BadTransaction(TransactionProblem.INVALID_ACTION, line))
        _, problem = _nearest_legal(hand.betting, action)
        if problem is not None:
            raise MatchFailure(BadTransaction(TransactionProblem.INVALID_ACTION, line))
        # Unix times of a log can run backwards; the reference charges nothing then.
        elapsed_us = max(0, times.received_us - times.sent_us)
        self._player_seats[hand.actor].charge(elapsed_us, is_replayed=True)
        self._node = after = self._node.after(action)
        hand.play(after.betting, hand.monotonic_ns(times.sent_us), hand.monotonic_ns(times.received_us))
        if after.finished:
            self.dealer.settle(hand)
            self._deal()

    def _play(self, after: BettingNode, now_ns: int) -> None:
        """Apply an action and ask the next player, or close the hand.

        Args:
            after: the node that the action leads to.
            now_ns: time of the reply.
        """
        hand = self.hand
        if self._watches_actions and (action := after.action) is not None:
            asked_us = self._unix_us(self._asked_ns)
            answered_us = self._unix_us(now_ns)
            betting = self._node.betting
            self._publish(events.ActionPlayed(hand.number, self.actor.seat, betting, action, asked_us, answered_us))
        hand.times_ns.append((self._asked_ns, now_ns))
        self._node = after
        if after.finished:
            self._close_hand()
        else:
            self._ask()

    def _close_hand(self) -> None:
        """Settle a finished hand, and begin the next hand with an action or rest."""
        # A loop, not recursion: blinds can put every player all-in hand after hand.
        while True:
            hand = self.hand
            node = self._node
            lines = self._lines
            self.dealer.count(hand, node.point)
            # Logs before players: a hand whose end a player has seen must not be lost in a crash.
            if self._watches_plays:
                self._publish(events.HandPlayed(hand.number, node.betting, hand.times))
            if self._watches_logs:
                line = lines.state_line(node, state_line_ending(hand.values, self._seating.names))
                self._publish(events.LogLine(hand.number, line, tuple(hand.comments)))
            if self._watches_ends:
                hand.betting = node.betting
                self._publish(events.HandFinished(hand.record(self._setup)))
            if self.watches_lines:
                self._send_in_seat_order()
            else:
                # Sent with the first state of the next hand: one write, one segment and one wake-up of the player
                # instead of two.
                for position, player_seat in enumerate(self._seating.player_seats):
                    player_seat.pending += lines.line(position, node)
            if self._watches_closing:
                used_us = tuple([player_seat.clock.match_us for player_seat in self._player_seats])
                self._publish(events.HandClosed(hand.number, used_us))
            if self.dealer.hands_played >= self.until:
                self._rest()
                return
            self._deal()
            self._show_hand()
            if not self._node.finished:
                self._ask()
                return

    def _rest(self) -> None:
        """Send the last state of the hand, and rest."""
        self.is_resting = True
        self.deadline_ns = None
        for player_seat in self._player_seats:
            if player_seat.pending:
                self._send(player_seat, b"", False)
        self._on_rest()

    # ---- the question

    def _ask(self, *, is_repeated: bool = False) -> None:
        """Send the current state to all players, as a question to the player to act.

        Args:
            is_repeated: send it to the player to act only.
        """
        node = self._node
        seating = self._seating
        acting = node.acting_position
        self.actor = actor = seating.player_seats[acting]
        if self.watches_lines:
            if is_repeated:
                self._send_in_seat_order(only=actor)
            else:
                self._send_in_seat_order()
            self.start_clock(actor)
            return
        # `HandLines.line` inlined: this code runs once for every action of a match.
        lines = self._lines
        number = lines.number
        views = lines.views
        text = node.text
        board = lines.boards[node.round]
        self._echo = echo = b"".join((HEADS[acting], number, text, views[acting], board))
        line = actor.pending + echo + b"\r\n"
        actor.pending = b""
        # The player to act first, so that it computes while the others are served. Its clock starts before the write,
        # not after it as in the reference: on a shared core it may run, and even answer, before the call returns.
        now_ns = time.monotonic_ns()
        try:
            actor.write(line, True)
        except OSError as error:
            self._on_unreachable(Unreachable.from_error(actor.seat, error))
        else:
            self.start_clock(actor, now_ns)
        if is_repeated:
            return
        for position, player_seat in seating.opponents[acting]:
            line = b"".join((player_seat.pending, HEADS[position], number, text, views[position], board, b"\r\n"))
            player_seat.pending = b""
            try:
                player_seat.write(line, False)
            except OSError as error:
                self._on_unreachable(Unreachable.from_error(player_seat.seat, error))

    def _send(self, player_seat: PlayerSeat, line: bytes, is_asked: bool) -> bool:
        """Send the pending lines and a further one; return whether the player is reachable."""
        if player_seat.pending:
            line = player_seat.pending + line
            player_seat.pending = b""
        try:
            player_seat.write(line, is_asked)
        except OSError as error:
            self._on_unreachable(Unreachable.from_error(player_seat.seat, error))
            return False
        return True

    def _send_in_seat_order(self, only: PlayerSeat | None = None) -> None:
        """Send the current state seat by seat, and publish each line after it is sent, as the reference does.

        Args:
            only: send it to this seat only.
        """
        hand = self.hand
        for seat, player_seat in enumerate(self._player_seats):
            if player_seat.presence is _SEATED and only in (None, player_seat):
                # The reference's seatToPlayer.
                position = (seat - hand.seats[0]) % len(self._player_seats)
                is_question = position == self._node.acting_position
                # Through the session, which judges every reply here: the fast path would publish no line.
                line = player_seat.session.send(self._lines.line(position, self._node), is_question=is_question)
                # All are sent like questions: a line that is held back would leave after those of later seats.
                if self._send(player_seat, line, True):
                    self._publish(events.LineSent(player_seat.seat, time.time_ns() // 1000, line))

    def start_clock(self, actor: PlayerSeat, now_ns: int | None = None) -> None:
        """Start the clock of the player to act, if it is connected.

        Args:
            actor: seat of the player.
            now_ns: time of the question; None for now.
        """
        if now_ns is None:
            now_ns = time.monotonic_ns()
        self._asked_ns = now_ns
        self._comments = 0
        self.overhead_ns += now_ns - self._answered_ns
        self.questions += 1
        self.deadline_ns = None
        if actor.presence is _SEATED:
            self.deadline_ns = now_ns + actor.silence_ns

    # ---- the reply

    def receive_reply(self, data: bytes, arrived_ns: int | None = None) -> bool:
        """Play a legal reply that arrived whole and alone, as nearly every reply does, without its session.

        Args:
            data: bytes from the player to act.
            arrived_ns: time of their arrival; None for now.

        Returns:
            whether `data` was such a reply; otherwise nothing has been read.
        """
        actor = self.actor
        echo = self._echo
        node = self._node
        # A reply that echoes the state byte for byte answers it for certain. Anything else, such as other leading zeros
        # or half a line, may still be an answer by the reference's rules; its session decides.
        # Bytes that are unread come before these, and are in its session.
        if actor.has_unread or not data.startswith(echo):
            return False
        tail = data[len(echo) :]
        # One look-up for a reply that was played at this node before.
        after = node.known.get(tail) or node.after_reply(tail)
        if after is None:
            return False
        self._answered_ns = now_ns = time.monotonic_ns()
        if arrived_ns is not None:
            # The earliest time at which it can have arrived, which may be before the question.
            now_ns = max(self._asked_ns, arrived_ns)
        elapsed_us = (now_ns - self._asked_ns) // 1000
        if not actor.clock.charge(elapsed_us):
            raise actor.out_of_time(elapsed_us)
        self._play(after, now_ns)
        # The next player may have sent lines before its turn.
        if self.actor.has_unread:
            self.listen()
        return True

    def listen(self) -> None:
        """Judge lines of the player to act, and of the players after it, until bytes are missing."""
        while not self.is_resting:
            actor = self.actor
            if actor.presence is _ABSENT:
                self._play_for_absent()
            elif actor.presence is not _SEATED:
                return
            else:
                event = self._next_event(actor)
                if event is NEED_DATA:
                    return
                self._answered_ns = now_ns = time.monotonic_ns()
                if self.arrived_ns is not None:
                    now_ns = max(self._asked_ns, self.arrived_ns)
                if isinstance(event, Closed):
                    # The reference reports a closed connection as a missing answer.
                    waited_us = self._charge_wait()
                    raise MatchFailure(NoAnswer(actor.seat, waited_us, actor.clock.limits.response_us, is_closed=True))
                if self.watches_lines:
                    self._publish(events.LineReceived(actor.seat, self._unix_us(now_ns), event.raw))
                if not self._judge(event, now_ns):
                    continue
            # True for a seat without a player as well, whose turn is handled above.
            if not self.actor.has_unread:
                return

    def _next_event(self, actor: PlayerSeat) -> DealerEvent:
        """Next event of the actor's session."""
        # Replies on the fast path have bypassed the session, so it may not know the open question.
        if self._session_echo is not self._echo:
            self._session_echo = self._echo
            # The line itself has been sent. The session only has to know the question.
            actor.session.send(self._echo + b"\r\n", is_question=True)
        event = actor.session.next_event()
        actor.has_unread = actor.session.has_input
        return event

    def _play_for_absent(self) -> None:
        """Fold, or check where a fold is illegal, for a player that has forfeited."""
        after = self._node.after_if_legal(FOLD) or self._node.after(CALL)
        self._answered_ns = now_ns = time.monotonic_ns()
        self._play(after, now_ns)

    def _judge(self, event: _Line, now_ns: int) -> bool:
        """Play or report a line of the player to act; return whether an action was played."""
        actor = self.actor
        # The reference's order: comments are free, and time is charged before the line is parsed.
        if isinstance(event, Comment):
            self._extend_wait(event.raw)
            self._limit_comments(event.raw, now_ns)
            self.hand.comment(actor.seat, event.raw)
            return False
        if isinstance(event, Reply):
            self._play_reply(event.action, event.raw, now_ns)
            return True
        problem = _PROBLEMS[type(event)]
        if not problem.is_ignored or self._setup.charges_idle_lines:
            actor.charge((now_ns - self._asked_ns) // 1000)
        if problem.is_ignored:
            self._report(problem, event.raw)
            self._extend_wait(event.raw)
            return False
        # The reference's "bad action format in response, changed to call" and "invalid action, changed to call".
        self._report(problem, event.raw, CALL)
        self._play(self._node.after(CALL), now_ns)
        return True

    def _play_reply(self, action: Action, raw: bytes, now_ns: int) -> None:
        """Play the action of a reply, or the nearest legal one."""
        self.actor.charge((now_ns - self._asked_ns) // 1000)
        node = self._node
        after = node.after_if_legal(action)
        if after is None:
            played, problem = _nearest_legal(node.betting, action)
            if problem is not None:
                self._report(problem, raw, played, action)
            after = node.after(played)
        self._play(after, now_ns)

    def _report(
        self, problem: ReplyProblem, raw: bytes, played: Action | None = None, sent: Action | None = None
    ) -> None:
        remedy = Remedy.PLAYED
        if played is None:
            remedy = Remedy.IGNORED
        fault = Fault(self.actor.seat, problem.kind, self.hand.number, raw, remedy, played)
        self._publish(events.FaultSeen(fault, problem, sent))

    def _extend_wait(self, raw: bytes) -> None:
        """Restart the wait for a player that sent a line other than an answer, as the reference does."""
        limits = self.actor.clock.limits
        self.actor.count_idle_line(self.hand.number, raw)
        self.deadline_ns = time.monotonic_ns() + limits.response_us * 1000
        if not self._setup.charges_idle_lines:
            # Uncharged lines could otherwise extend a wait that no answer can end in time.
            latest_ns = self._asked_ns + (limits.response_us + limits.hand_us) * 1000
            self.deadline_ns = min(self.deadline_ns, latest_ns)

    def _limit_comments(self, raw: bytes, now_ns: int) -> None:
        """Fail a player that sends comments instead of an answer."""
        clock = self.actor.clock
        if self._setup.charges_idle_lines:
            self._comments += 1
            if self._comments > MAX_COMMENTS_PER_QUESTION:
                raise MatchFailure(
                    TooManyIdleLines(self.actor.seat, self.hand.number, MAX_COMMENTS_PER_QUESTION, line=raw)
                )
        elif (now_ns - self._asked_ns) // 1000 > clock.left_us:
            self._give_up(clock.left_us)

    def time_out(self) -> None:
        """Fail the player to act, which is silent."""
        self._give_up(self.actor.clock.limits.response_us)

    def _give_up(self, limit_us: int) -> None:
        raise MatchFailure(NoAnswer(self.actor.seat, self._charge_wait(), limit_us))

    def _charge_wait(self) -> int:
        """Charge the player to act with the time since the question; return that time in microseconds."""
        waited_us = self._waited_us()
        self.actor.clock.charge(waited_us)
        return waited_us

    def _waited_us(self) -> int:
        return (time.monotonic_ns() - self._asked_ns) // 1000

    def _unix_us(self, now_ns: int) -> int:
        """Convert a monotonic time to microseconds of Unix time."""
        return (now_ns + self._offset_ns) // 1000


_PROBLEMS: dict[type, ReplyProblem] = {
    BadState: ReplyProblem.NO_REPLY,
    StaleReply: ReplyProblem.OTHER_STATE,
    BadAction: ReplyProblem.UNREADABLE_SIZE,
    UnknownAction: ReplyProblem.UNKNOWN_ACTION,
}


def _nearest_legal(betting: BettingState, action: Action) -> tuple[Action, ReplyProblem | None]:
    """Return the action to play for a reply, and the fault of the reply or None.

    As in the reference's `isValidAction`, a raise of the wrong size becomes the nearest legal size and any other
    illegal action a call.
    """
    nearest = nearest_legal(action, betting)
    if nearest.kind is not action.kind:
        if action.kind is ActionKind.RAISE and betting.raise_refusal() is Rule.ACTION_LIMIT:
            return nearest, ReplyProblem.ACTION_LIMIT
        return nearest, ReplyProblem.ILLEGAL_ACTION
    # Limit games have one size, so the reference ignores a size in the reply.
    if action.hand_total == nearest.hand_total or betting.game.is_limit:
        return action, None
    return nearest, ReplyProblem.ILLEGAL_SIZE
