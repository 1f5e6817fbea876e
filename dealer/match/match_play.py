"""The play of a match over bytes, hand after hand: who is asked, what the answers come to, what all players receive.

`Play` has no part in players that come and go: the match gives it seats, and decides what becomes of a player that
fails. Two rules about bytes:

- All lines that exist at one moment for a seat leave in one write: the last state of a hand goes out together with the
  first of the next. The player to act gets it first: it thinks while the others get theirs.
- Where lines are watched, every line leaves at once and in seat order, so that the watchers get what
  happened when. Each seat gets the same bytes either way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from dealer.errors import Cause, MatchFailure
from dealer.match import events
from dealer.match.causes import (
    BadTransaction,
    NoAnswer,
    PlayerCause,
    TooManyIdleLines,
    TransactionProblem,
    sending_failed,
)
from dealer.match.faults import Fault, Remedy, ReplyProblem
from dealer.match.hand_in_play import HandDealer, HandInPlay
from dealer.match.seats import PlayerSeat, Presence
from dealer.match.setup import MAX_COMMENTS_PER_QUESTION, EarlierHands, MatchSetup, Question
from engine import CALL, FOLD, Action, ActionKind, BettingState, Rule, Seat, nearest_legal
from logs.acpc_log.writer import state_line_ending
from logs.transaction_log import Transaction
from protocol import NEED_DATA, BadAction, BadState, Closed, Comment, DealerEvent, Reply, StaleReply, UnknownAction
from protocol.betting_nodes import HEADS, BettingNode, HandLines, first_node

_SEATED = Presence.SEATED
_ABSENT = Presence.ABSENT


class _Seating(NamedTuple):
    """Who sits where in a hand.

    Attributes:
        seats: by position. others: by position, all others with their positions. names: of the players, by position.
    """

    player_seats: tuple[PlayerSeat, ...]
    others: tuple[tuple[tuple[int, PlayerSeat], ...], ...]
    names: tuple[str, ...]


class Play:
    """The hands of one match being played.

    Every method may raise `MatchFailure`, or the `OSError` of a watcher.

    Attributes:
        dealer: deals and keeps the score. hand: the hand being played, or the last one. actor: who is to act.
        until: how many hands are to be finished before it rests. is_resting: no player is asked, no clock runs.
        deadline_ns: on the clock of `time.monotonic_ns`, when the player to act has been silent for too long; None
        when nothing is awaited. questions, overhead_ns: how often a player was asked after an answer, and the time
        from those answers to the questions that followed, all of it the dealer's. watches_lines: see the module.
        arrived_ns: when the bytes that are being judged came; None for now.
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
        """Prepare the play.

        Args:
            setup: what is played.
            seats: by seat.
            audience: who is notified.
            progress: whole hands of an earlier run to go on from.
            on_unreachable: called with a player that cannot be sent its line; where it returns, the play goes on.
            on_rest: called when the last hand asked for is over and all players have been notified.
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
        self.watches_lines = any(map(audience.wants, (events.LineSent, events.LineReceived, events.Settled)))
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
        """By the seats of the positions, those that have come about so far."""
        self._echo = b""
        """What the answer to the present question begins with: the state without its line end."""
        self._posed = self._echo
        """The last question that a session was given: it does not need those that are answered at once."""
        self._first_node = self._node = first_node(setup.game)
        self._asked_ns = 0
        self._answered_ns = 0
        self._comments = 0
        """How many comments have come since the question."""
        self._offset_ns = time.time_ns() - time.monotonic_ns()
        """What makes Unix time of a time of the monotonic clock."""

    # ---- beginning, going on, ending

    def start(self, transactions: Iterable[Transaction]) -> None:
        """Begin, with the actions of an earlier run."""
        self._asked_ns = self._answered_ns = time.monotonic_ns()
        self._publish(events.MatchStarted(self._setup, self._unix_us(self._asked_ns)))
        self.is_resting = False
        if self.dealer.hands_played < self.until:
            self._deal()
            for transaction in transactions:
                self._replay(transaction)
        if self.dealer.hands_played < self.until:
            self._begin()
        else:
            self._rest()

    def go_on(self) -> None:
        """Play on after a rest."""
        self._answered_ns = time.monotonic_ns()
        self.is_resting = False
        self._deal()
        self._begin()

    def ask_again(self) -> None:
        """The player to act has connected again: ask it once more; where its time was running, it runs on."""
        asked_ns, deadline_ns = self._asked_ns, self.deadline_ns
        self._answered_ns = time.monotonic_ns()
        self._ask(is_repeated=True)
        if deadline_ns is not None:
            self._asked_ns, self.deadline_ns = asked_ns, deadline_ns
        self.listen()

    @property
    def question(self) -> Question | None:
        """What the player to act has been asked; None while no clock runs."""
        return None if self.deadline_ns is None else Question(self.actor.seat, self.hand.number, self._asked_ns)

    def end(self, cause: Cause | None) -> events.MatchEnded:
        """Stop; the event of the end, with the cause of one before the last hand."""
        waited_us = 0 if self.is_resting else self._waited_us()
        self.is_resting = True
        self.deadline_ns = None
        dealer = self.dealer
        return events.MatchEnded(
            cause, dealer.hands_played, tuple(dealer.totals), self._unix_us(self._asked_ns), waited_us
        )

    def count_actions(self, player_seat: PlayerSeat) -> int:
        """The number of actions of a player in the hand being played."""
        if self.is_resting or self._node.finished:
            return 0
        self.hand.betting = self._node.betting
        return self.hand.count_actions(player_seat.seat)

    # ---- one hand

    def _deal(self) -> None:
        """Deal the next hand and prepare what its lines are made of."""
        self._offset_ns = time.time_ns() - time.monotonic_ns()
        self.hand = hand = self.dealer.deal(self._offset_ns)
        self._node = self._first_node
        self._lines = HandLines(self._setup.game, hand.deal, hand.number)
        self._seating = self._seatings.get(hand.seats) or self._seat(hand.seats)
        for player_seat in self._player_seats:
            player_seat.begin_hand()

    def _seat(self, seats: tuple[Seat, ...]) -> _Seating:
        player_seats = tuple([self._player_seats[seat] for seat in seats])
        all_seats = tuple(enumerate(player_seats))
        others = tuple([all_seats[:position] + all_seats[position + 1 :] for position in range(len(seats))])
        names = tuple([self._setup.names[seat] for seat in seats])
        made = self._seatings[seats] = _Seating(player_seats, others, names)
        return made

    def _begin(self) -> None:
        """Play the hand that was dealt."""
        self._show_hand()
        if self._node.finished:
            self._close_hand()
        else:
            self._ask()
        self.listen()

    def _show_hand(self) -> None:
        if self._watches_hands:
            self._publish(events.HandStarted(self.hand.number, self.hand.seats, self.hand.deal))

    def _replay(self, transaction: Transaction) -> None:
        """Apply an action of an earlier run: nothing is sent or logged, but time and chips count."""
        hand = self.hand
        line, action, hand_number, times = transaction
        if not transaction.is_readable:
            raise MatchFailure(BadTransaction(TransactionProblem.UNREADABLE, line))
        if hand_number != hand.number:
            raise MatchFailure(BadTransaction(TransactionProblem.WRONG_HAND, line))
        if action is None or hand.betting.finished or (action, None) != _fit(hand.betting, action):
            raise MatchFailure(BadTransaction(TransactionProblem.INVALID_ACTION, line))
        self._player_seats[hand.actor].charge(max(0, times.received_us - times.sent_us), is_replayed=True)
        self._node = after = self._node.after(action)
        hand.play(after.betting, hand.monotonic_ns(times.sent_us), hand.monotonic_ns(times.received_us))
        if after.finished:
            self.dealer.settle(hand)
            self._deal()

    def _play(self, after: BettingNode, now_ns: int) -> None:
        """Apply the player's action, by the node that it leads to, send it to all players, and ask the next player."""
        hand = self.hand
        if self._watches_actions and (action := after.action) is not None:
            asked_us, answered_us, betting = self._unix_us(self._asked_ns), self._unix_us(now_ns), self._node.betting
            self._publish(events.ActionPlayed(hand.number, self.actor.seat, betting, action, asked_us, answered_us))
        hand.times_ns.append((self._asked_ns, now_ns))
        self._node = after
        if after.finished:
            self._close_hand()
        else:
            self._ask()

    def _close_hand(self) -> None:
        """Settle a finished hand and begin the next one that needs an action, or rest."""
        while True:
            hand, node, lines = self.hand, self._node, self._lines
            self.dealer.count(hand, node.point)
            if self._watches_plays:
                self._publish(events.HandPlayed(hand.number, node.betting, hand.times))
            if self._watches_logs:
                line = lines.state_line(node, state_line_ending(hand.values, self._seating.names))
                self._publish(events.LogLine(hand.number, line, tuple(hand.comments)))
            if self._watches_ends:
                hand.betting = node.betting
                self._publish(events.HandFinished(hand.record(self._setup)))
            if self.watches_lines:
                self._tell_in_order()
            else:
                for position, player_seat in enumerate(self._seating.player_seats):
                    player_seat.pending += lines.line(position, node)
            if self._watches_closing:
                self._publish(
                    events.HandClosed(
                        hand.number, tuple([player_seat.clock.match_us for player_seat in self._player_seats])
                    )
                )
            if self.dealer.hands_played >= self.until:
                self._rest()
                return
            self._deal()
            self._show_hand()
            if not self._node.finished:
                self._ask()
                return

    def _rest(self) -> None:
        """The last hand asked for is over: send what is still to be sent."""
        self.is_resting = True
        self.deadline_ns = None
        for player_seat in self._player_seats:
            if player_seat.pending:
                self._send(player_seat, b"", False)
        self._on_rest()

    # ---- the question

    def _ask(self, *, is_repeated: bool = False) -> None:
        """Send the present state to all players and ask the player to act.

        Args:
            is_repeated: all but the player to act know it already.
        """
        node, (player_seats, others, _) = self._node, self._seating
        asked = node.acting_position
        self.actor = actor = player_seats[asked]
        if self.watches_lines:
            self._tell_in_order(actor if is_repeated else None)
            self.start_clock(actor)
            return
        lines, text = self._lines, node.text
        number, views, board = lines.number, lines.views, lines.boards[node.round]
        self._echo = echo = b"".join((HEADS[asked], number, text, views[asked], board))
        line = actor.pending + echo + b"\r\n"
        actor.pending = b""
        try:
            actor.write(line, True)
        except OSError as error:
            self._on_unreachable(sending_failed(actor.seat, error))
        else:
            self.start_clock(actor)
        for position, player_seat in () if is_repeated else others[asked]:
            line = b"".join((player_seat.pending, HEADS[position], number, text, views[position], board, b"\r\n"))
            player_seat.pending = b""
            try:
                player_seat.write(line, False)
            except OSError as error:
                self._on_unreachable(sending_failed(player_seat.seat, error))

    def _send(self, player_seat: PlayerSeat, line: bytes, is_asked: bool) -> bool:
        """Send a line after what is pending; whether the player could be reached."""
        if player_seat.pending:
            line, player_seat.pending = player_seat.pending + line, b""
        try:
            player_seat.write(line, is_asked)
        except OSError as error:
            self._on_unreachable(sending_failed(player_seat.seat, error))
            return False
        return True

    def _tell_in_order(self, only: PlayerSeat | None = None) -> None:
        """Send the present state seat by seat, each line noted when it has been sent, as the reference does."""
        hand = self.hand
        for seat, player_seat in enumerate(self._player_seats):
            if player_seat.presence is _SEATED and only in (None, player_seat):
                position = (seat - hand.seats[0]) % len(self._player_seats)
                is_question = position == self._node.acting_position
                line = player_seat.session.send(self._lines.line(position, self._node), is_question=is_question)
                if self._send(player_seat, line, True):
                    self._publish(events.LineSent(player_seat.seat, time.time_ns() // 1000, line))

    def start_clock(self, actor: PlayerSeat) -> None:
        """Start the time of the player to act, which has its question, unless it is not there."""
        self._asked_ns = now_ns = time.monotonic_ns()
        self._comments = 0
        self.overhead_ns += now_ns - self._answered_ns
        self.questions += 1
        self.deadline_ns = now_ns + actor.silence_ns if actor.presence is _SEATED else None

    # ---- the answer

    def hear_reply(self, data: bytes, arrived_ns: int | None = None) -> bool:
        """The short way of nearly every reply of the player to act.

        Args:
            arrived_ns: when it came; None for now.

        Returns:
            whether `data` was one; if not, nothing has been taken.
        """
        actor, echo, node = self.actor, self._echo, self._node
        if actor.has_unread or not data.startswith(echo):
            return False
        tail = data[len(echo) :]
        after = node.known.get(tail) or node.after_reply(tail)
        if after is None:
            return False
        self._answered_ns = now_ns = time.monotonic_ns()
        if arrived_ns is not None:
            now_ns = max(self._asked_ns, arrived_ns)
        elapsed_us = (now_ns - self._asked_ns) // 1000
        if not actor.clock.charge(elapsed_us):
            raise actor.out_of_time(elapsed_us)
        self._play(after, now_ns)
        if self.actor.has_unread:
            self.listen()
        return True

    def listen(self) -> None:
        """Judge the lines of the player to act until more bytes are needed."""
        while not self.is_resting:
            actor = self.actor
            if actor.presence is _ABSENT:
                folded = self._node.after_if_legal(FOLD)
                self._answered_ns = now_ns = time.monotonic_ns()
                self._play(folded or self._node.after(CALL), now_ns)
            elif actor.presence is not _SEATED:
                return
            else:
                if self._posed is not self._echo:
                    self._posed = self._echo
                    actor.session.send(self._echo + b"\r\n", is_question=True)
                event = actor.session.next_event()
                actor.has_unread = actor.session.has_input
                if event is NEED_DATA:
                    return
                self._answered_ns = now_ns = time.monotonic_ns()
                if self.arrived_ns is not None:
                    now_ns = max(self._asked_ns, self.arrived_ns)
                if isinstance(event, Closed):
                    waited_us = self._waited_in_vain_us()
                    raise MatchFailure(NoAnswer(actor.seat, waited_us, actor.clock.limits.response_us, is_closed=True))
                if self.watches_lines:
                    self._publish(events.LineReceived(actor.seat, self._unix_us(now_ns), event.raw))
                if isinstance(event, Comment):
                    self._hear_on(event.raw)
                    self._limit_comments(event.raw, now_ns)
                    self.hand.comment(actor.seat, event.raw)
                    continue
                if isinstance(event, Reply):
                    self._answer(event.action, event.raw, now_ns)
                else:
                    problem = _problem_of(event)
                    if not problem.is_ignored or self._setup.charges_idle_lines:
                        actor.charge((now_ns - self._asked_ns) // 1000)
                    if problem.is_ignored:
                        self._report(problem, event.raw)
                        self._hear_on(event.raw)
                        continue
                    self._report(problem, event.raw, CALL)
                    self._play(self._node.after(CALL), now_ns)
            if not self.actor.has_unread:
                return

    def _answer(self, action: Action, raw: bytes, now_ns: int) -> None:
        """Play what the player answered, or the nearest legal action."""
        self.actor.charge((now_ns - self._asked_ns) // 1000)
        node = self._node
        after = node.after_if_legal(action)
        if after is None:
            sent = action
            action, problem = _fit(node.betting, sent)
            if problem is not None:
                self._report(problem, raw, action, sent)
            after = node.after(action)
        self._play(after, now_ns)

    def _report(
        self, problem: ReplyProblem, raw: bytes, played: Action | None = None, sent: Action | None = None
    ) -> None:
        remedy = Remedy.IGNORED if played is None else Remedy.PLAYED
        fault = Fault(self.actor.seat, problem.kind, self.hand.number, raw, remedy, played)
        self._publish(events.FaultSeen(fault, problem, sent))

    def _hear_on(self, raw: bytes) -> None:
        """The player has sent something other than an action: its silence is counted again from here."""
        limits = self.actor.clock.limits
        self.actor.count_idle_line(self.hand.number, raw)
        self.deadline_ns = time.monotonic_ns() + limits.response_us * 1000
        if not self._setup.charges_idle_lines:
            self.deadline_ns = min(self.deadline_ns, self._asked_ns + (limits.response_us + limits.hand_us) * 1000)

    def _limit_comments(self, raw: bytes, now_ns: int) -> None:
        """Comments are free: end the wait of a player that could send them without end."""
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
        """The player to act has been silent for too long."""
        self._give_up(self.actor.clock.limits.response_us)

    def _give_up(self, limit_us: int) -> None:
        raise MatchFailure(NoAnswer(self.actor.seat, self._waited_in_vain_us(), limit_us))

    def _waited_in_vain_us(self) -> int:
        """The time waited for the player to act; it is charged, which counts where the match goes on."""
        waited_us = self._waited_us()
        self.actor.clock.charge(waited_us)
        return waited_us

    def _waited_us(self) -> int:
        return (time.monotonic_ns() - self._asked_ns) // 1000

    def _unix_us(self, now_ns: int) -> int:
        """A time of the monotonic clock as microseconds of Unix time."""
        return (now_ns + self._offset_ns) // 1000


_PROBLEMS: dict[type, ReplyProblem] = {
    BadState: ReplyProblem.NO_REPLY,
    StaleReply: ReplyProblem.OTHER_STATE,
    BadAction: ReplyProblem.UNREADABLE_SIZE,
    UnknownAction: ReplyProblem.UNKNOWN_ACTION,
}


def _problem_of(event: DealerEvent) -> ReplyProblem:
    """What is wrong with a line that is no reply, or a reply without a readable action."""
    return _PROBLEMS[type(event)]


def _fit(betting: BettingState, action: Action) -> tuple[Action, ReplyProblem | None]:
    """The action itself where it is legal, else the nearest legal one and what is wrong.

    A raise of the wrong size becomes the nearest legal size; any other illegal action a call. In limit games any size
    of a raise that is allowed stands for the one there is.
    """
    nearest = nearest_legal(action, betting)
    if nearest.kind is not action.kind:
        is_full = action.kind is ActionKind.RAISE and betting.raise_refusal() is Rule.ACTION_LIMIT
        return nearest, ReplyProblem.ACTION_LIMIT if is_full else ReplyProblem.ILLEGAL_ACTION
    if action.hand_total == nearest.hand_total or betting.game.is_limit:
        return action, None
    return nearest, ReplyProblem.ILLEGAL_SIZE
