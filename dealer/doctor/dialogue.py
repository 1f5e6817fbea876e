"""A match between the bot under examination and scripted opponents, over one connection.

A `Dialogue` is a `Match` that `dealer.table.connections` drives. It differs in two respects. Lines to the bot are sent
as the situation requires, in pieces with pauses, and the bot's time runs from the last piece. Lines from the bot are
judged, and the match receives the answer that they mean.

If a line is clearly meant as the answer, a dialogue plays it, or a call, instead of waiting until the time is up. The
match stops before its end, so that lines that the bot sends after the dealer has closed are judged as well.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from random import Random
from typing import Final, TypeAlias

from dealer.doctor.findings import Examination
from dealer.doctor.judge import (
    EXPECTED_VERSION,
    Judge,
    Judgement,
    Kind,
    LineRole,
    Problem,
    SentState,
    expected_answer,
    first_difference,
    judge_version,
)
from dealer.doctor.situations import END_OF_MATCH, HANDSHAKE, Delivery, Policy, Situation
from dealer.match import FaultKind, Match, MatchSetup, Phase, PlayerCause, TimeLimits, Watcher, Write
from dealer.match.causes import TooManyIdleLines
from dealer.match.events import Event, HandStarted, LineReceived, LineSent
from engine import Action, Deal, Game, Seat, deals, rank_hand
from logs import Times
from logs.transaction_log import Transaction
from protocol.actions import format_action
from protocol.framing import MAX_LINE_BYTES, LineReader
from protocol.match_state import StateReader
from protocol.session import VERSION_LINE

MAX_LINES_PER_QUESTION: Final = 1000
"""Limit for a flood; of an overlong line, every piece that a dealer reads counts."""
_UNLIMITED_S: Final = 1e9
_DEATH_NOTICE_S: Final = 2.0
"""Time to wait for the exit code of a bot that has closed the connection."""
_STRADDLE_BYTES: Final = 7
"""Bytes of a piece of straddled lines."""
_FIRST_LINES: Final = 4
"""Number of lines with longer pauses, because a bot is slow just after its start."""
# Pauses after which a bot has read the bytes sent before.
_PIECE_PAUSE_S: Final = 0.0005
_LINE_PAUSE_S: Final = 0.001
_FIRST_PAUSE_S: Final = 0.02
"""Pause after each of the first lines."""
_LAST_PIECE_PAUSE_S: Final = 0.05
"""Pause before the LF of a line, in which a bot that treats CR as the line end answers."""
_MAX_PIECE_BYTES: Final = 447
"""Size of a read above which the rest of the line may still be in the socket, although sent in the same call."""
_COMMENTS: Final = (b"# a line for people\r\n", b"; MATCHSTATE:0:0:f:|\r\n", b"#\r\n")
_STRONG_AMONG: Final = 20
"""Number of deals of which the best hole cards are taken."""

OnEvent: TypeAlias = Callable[[Situation | LineSent | LineReceived | str], None]
"""Called with a situation that begins, a line to or from the bot, or a sentence about a connection."""


class Dialogue(Match, Watcher):
    """Match whose findings go to an `Examination`, driven by `Connections`.

    Attributes:
        bot: seat of the bot.
        judge: judges the lines of the bot.
        has_come: the bot has connected.
        has_closed: the bot has closed its side of the connection.
        call_later: calls a function after a time in seconds; the driver of the match sets it.
    """

    wants = frozenset({HandStarted, LineSent})
    """With `LineSent` among them, the match sends every line in a call of its own."""

    def __init__(self, examination: Examination, situations: Sequence[Situation], on_event: OnEvent) -> None:
        game = examination.game
        players = game.num_players
        first = HANDSHAKE
        if situations:
            first = situations[0]
        position, opening = _opening(first, game)
        # As in a real match, the bot keeps its seat and its position moves by one from hand to hand.
        self.bot = Seat((position + first.first_hand) % players)
        self.judge = Judge(game)
        self.has_come = False
        self.has_closed = False
        self.call_later: Callable[[float, Callable[[], None]], object]
        self._examination = examination
        self._on_event = on_event
        self._script = [(situation, policy) for situation in situations for policy in situation.policies(game)]
        self._last = END_OF_MATCH
        if situations and situations[-1].needs_connection:
            self._last = situations[-1]
        self._policy: Policy | None = None
        if self._script:
            _, self._policy = self._script[0]
        self._chance = Random()
        self._position = position
        self._reader = LineReader()
        self._lines = 0
        """Lines of the bot since the current question."""
        self._line_count = 0
        """Lines of the dealer in the current situation."""
        self._pieces_of_line: list[bytes] = []
        """Reads since the last line end of the bot."""
        self._line_in_pieces = b""
        """Last line of the bot that took more than one read."""
        self._first_piece_bytes = 0
        """Size of the first of these reads."""
        self._is_cut = False
        """The last line of the bot was too long, and the next one is the rest of it."""
        self._is_refused = False
        """The first line of the bot was not a version."""
        self._is_paused = False
        self._repeats: list[tuple[bytes, SentState]] = []
        self._held = b""
        self._pieces: list[tuple[float, bytes]] = []
        """Pieces to send to the bot, each with the pause before it."""
        self._told = dict.fromkeys(map(Seat, range(players)), b"")
        """Last line sent to each opponent."""
        # One more hand than is played, so that the match waits after the last one.
        match = _match_setup(examination, len(self._script) + 1, first.first_hand)
        # The actions before the first state are replayed, like those of an interrupted match.
        replayed = [Transaction("", action, first.first_hand, Times(0, 0)) for action in opening]
        super().__init__(match, [self], replayed)
        self.play_until(len(self._script))
        self._play.dealer.deals = self._deals(position)
        for seat in set(self._told) - {self.bot}:
            super().connect(seat, partial(self._tell, seat))
            super().receive(seat, VERSION_LINE)

    def _deals(self, position: int) -> Iterator[Deal]:
        game = self.setup.game
        cards = deals(game, self.setup.seed)
        for number, (situation, _) in enumerate(self._script):
            if situation.has_strong_cards:
                yield _strong_deal(cards, (position - number) % game.num_players)
            else:
                yield next(cards)

    def _tell(self, seat: Seat, line: bytes, is_asked: bool) -> None:
        self._told[seat] = line

    def notice(self, event: Event) -> None:
        if isinstance(event, HandStarted):
            situation, self._policy = self._script[self.hands_played]
            if situation is not self._examination.situation:
                self.begin(situation)
            self._examination.row.hands += 1
            self._chance = Random(f"{self._examination.settings.seed}/{situation.name}/{event.hand_number}")

    def begin(self, situation: Situation) -> None:
        self._flush()
        self._examination.begin(situation)
        self._on_event(situation)
        self._line_count = 0

    # ---- calls of the connections

    def connect(self, seat: Seat, write: Write) -> None:
        self._write = write
        self.has_come = True
        self.begin(HANDSHAKE)
        super().connect(seat, self._send)

    def receive(self, seat: Seat, data: bytes, arrived_ns: int | None = None) -> bool:
        # Bounds the bytes that wait while lines are sent to the bot. More is a flood, whatever it contains.
        if self._reader.buffered_bytes <= MAX_LINES_PER_QUESTION * MAX_LINE_BYTES:
            self._reader.feed(data)
            self._note_pieces(data)
        self._advance()
        return True

    def _note_pieces(self, data: bytes) -> None:
        pieces = self._pieces_of_line
        end = data.find(b"\n") + 1
        if end and pieces:
            self._line_in_pieces = b"".join(pieces) + data[:end]
            self._first_piece_bytes = len(pieces[0])
        if end:
            pieces.clear()
        if rest := data.rpartition(b"\n")[2]:
            pieces.append(rest)
        if len(data) + sum(map(len, pieces[:-1])) > _MAX_PIECE_BYTES:
            pieces.clear()

    def receive_eof(self, seat: Seat) -> None:
        self._reader.feed_eof()
        self.has_closed = True
        self._advance()

    @property
    def deadline_ns(self) -> int | None:
        # The bot's time begins with the last piece.
        if self._pieces:
            return None
        return super().deadline_ns

    @property
    def is_done(self) -> bool:
        """All situations are over, and their lines are sent."""
        return self.phase is Phase.HOLDING and not self._pieces

    # ---- lines of the dealer

    def _send(self, line: bytes, is_asked: bool) -> None:
        """Send a state to the bot in the way of the situation."""
        text = line.rstrip()
        situation = self._examination.situation
        hand = StateReader(self.setup.game).read(text.decode("latin-1"))
        self._position = hand.position
        asks = hand.betting.acting_position == hand.position
        sent = SentState(text, hand.hand_number, situation.name, hand.betting, asks)
        self.judge.sent[text] = sent
        self._held += line
        if asks:
            self.judge.asked = sent
            self._lines = 0
            self._repeats = []
        if asks or situation.delivery not in (Delivery.JOINED, Delivery.STRADDLED):
            self._flush(asks=asks)
        # Last, because `_cut` looks at the state before this one.
        self.judge.latest = sent

    def _flush(self, *, asks: bool = False) -> None:
        lines = self._held
        self._held = b""
        for line in lines.splitlines(keepends=True):
            self._on_event(LineSent(self.bot, 0, line))
        if lines:
            self._pieces += self._cut(lines, asks=asks)
            self._pump()

    def _cut(self, lines: bytes, *, asks: bool) -> list[tuple[float, bytes]]:
        """Cut lines into pieces, each with the pause before it."""
        judge = self.judge
        wait_s = self._examination.settings.wait_s
        number = self._line_count
        self._line_count += 1
        delivery = self._examination.situation.delivery
        before_s = 0.0
        between_s = _PIECE_PAUSE_S
        if judge.latest is not None and not judge.latest.asks:
            # A bot that treats a read as a line must fail only in the situations made for that fault.
            before_s = _FIRST_PAUSE_S
            if len(judge.sent) > _FIRST_LINES:
                before_s = _LINE_PAUSE_S
        if delivery is Delivery.COMMENTED:
            comment = _COMMENTS[number % len(_COMMENTS)]
            self._on_event(LineSent(self.bot, 0, comment))
            return [(before_s, comment), (0.0, lines)]
        cuts: Iterable[int] = ()
        if delivery is Delivery.STRADDLED:
            cuts = range(_STRADDLE_BYTES, len(lines), _STRADDLE_BYTES)
        elif delivery is Delivery.BYTEWISE and asks:
            cuts = range(1, len(lines))
        elif delivery is Delivery.BYTEWISE:
            cuts = [1 + number % (len(lines) - 1)]
        elif delivery is Delivery.WAITING and number == 0:
            before_s += wait_s
        elif delivery is Delivery.WAITING and number == 1:
            cuts = [len(lines) // 2]
            between_s = wait_s
        pieces = []
        pause_s = before_s
        start = 0
        for end in (*cuts, len(lines)):
            pieces.append((pause_s, lines[start:end]))
            pause_s = between_s
            start = end
        if delivery is Delivery.BYTEWISE and asks:
            pieces[-1] = (_LAST_PIECE_PAUSE_S, b"\n")
        return pieces

    def _pump(self) -> None:
        """Send pieces up to the next pause."""
        while self._pieces and not self._is_paused:
            pause_s, piece = self._pieces[0]
            if pause_s:
                self._pieces[0] = (0.0, piece)
                self._is_paused = True
                self.call_later(pause_s, self._resume)
                return
            if piece == b"\n" and self._examination.situation.delivery is Delivery.BYTEWISE:
                self._find_early()
            del self._pieces[0]
            # A bot that has left or does not read is noticed while the dialogue waits for its answer.
            with contextlib.suppress(OSError):
                self._write(piece, True)

    def _resume(self) -> None:
        self._is_paused = False
        self._pump()
        if not self._pieces:
            if self.judge.asked is not None and self.phase is Phase.PLAYING:
                self._play.start_clock(self._play.actor)
            self._advance()

    def _find_early(self) -> None:
        state = self.judge.asked
        rest = self._reader.take_rest()
        self._reader.feed(rest)
        if state is not None and (start := rest.find(state.text + b":")) >= 0:
            wrong = "the answer came before the LF of the state, so the bot treats CR as the line end"
            problem = Problem(Kind.EARLY, len(state.text) + 1, wrong, "no answer before the whole line has arrived")
            self._examination.find(problem, rest[start:].splitlines(keepends=True)[0], state)

    # ---- lines of the bot

    def _advance(self) -> None:
        """Let the opponents act and judge the lines of the bot, until another line is needed."""
        while self.phase not in (Phase.FAILED, Phase.FINISHED):
            if self.phase is Phase.HOLDING:
                self._flush()
            if self.phase is Phase.PLAYING and not self.is_asked(self.bot):
                self._act()
            elif self._pieces or (self.phase is not Phase.HOLDING and not self.is_asked(self.bot)):
                return
            elif (line := self._reader.pop()) is not None:
                self._judge_line(line)
            else:
                if self.has_closed and self.phase is not Phase.HOLDING:
                    super().receive_eof(self.bot)
                return

    def _act(self) -> None:
        """Let an opponent act."""
        seat = self._play.actor.seat
        state = self.judge.latest
        assert state is not None
        assert self._policy is not None
        action = self._policy(state.betting, self._position, self._chance)
        super().receive(seat, self._told[seat].rstrip() + b":" + format_action(action).encode() + b"\r\n")

    def _judge_line(self, line: bytes) -> None:
        """Judge a line, and play the action that a dealer would play for it."""
        judge = self.judge
        examination = self._examination
        is_rest = self._is_cut
        self._is_cut = len(line) >= MAX_LINE_BYTES and not line.endswith(b"\n")
        self._lines += 1
        if self._lines > MAX_LINES_PER_QUESTION:
            self.lose(TooManyIdleLines(self.bot, self._play.dealer.hand_number, MAX_LINES_PER_QUESTION, line=line))
            return
        # The long line has been judged at its beginning.
        if is_rest:
            return
        self._on_event(LineReceived(self.bot, 0, line))
        if self.phase is Phase.GREETING:
            for problem in judge_version(line, self.setup.game):
                examination.find(problem, line)
                self._is_refused |= problem.kind is Kind.NO_VERSION
            super().receive(self.bot, VERSION_LINE)
            return
        if self._is_refused and line.startswith(b"VERSION:"):
            # The late version line is reported already.
            return
        judgement = judge.judge(line)
        state = judge.asked
        for problem in judgement.problems:
            examination.find(problem, line, judgement.about)
        if judgement.role is LineRole.REPEAT and judgement.about is not None:
            self._repeats.append((line, judgement.about))
            if state is None:
                self._find_repeats()
        elif state is not None and self._is_played(judgement.role):
            if judgement.role is LineRole.ANSWER and line == self._line_in_pieces:
                self._find_pieces(line, state)
            self._play_answer(state, judgement)

    def _is_played(self, role: LineRole) -> bool:
        """Return whether a dealer continues with an action after a line with this role."""
        if role is LineRole.FRAGMENT:
            # The bot may have answered the part of a state that it had received.
            return not self._examination.situation.delivery.is_cut
        return role in (LineRole.ANSWER, LineRole.ATTEMPT)

    def _play_answer(self, state: SentState, judgement: Judgement) -> None:
        examination = self._examination
        self._find_repeats()
        state.is_given_up = judgement.role is not LineRole.ANSWER
        self.judge.asked = None
        examination.row.count(judgement.action)
        if (question := self.question) is not None:
            took_s = (time.monotonic_ns() - question.asked_ns) / 1e9
            examination.slowest_s = max(examination.slowest_s, took_s)
        if examination.situation.breaks_off and not state.betting.after(judgement.action).finished:
            # The dealer disappears in the middle of the hand.
            self.phase = Phase.HOLDING
        else:
            super().receive(self.bot, state.text + b":" + format_action(judgement.action).encode() + b"\r\n")

    def _find_pieces(self, line: bytes, state: SentState) -> None:
        wrong = (
            f"the reply was sent in several pieces, the first of {self._first_piece_bytes} bytes; without TCP_NODELAY "
            "the next piece waits for an acknowledgement, with most dealers for 40 ms"
        )
        problem = Problem(Kind.TWO_PIECES, self._first_piece_bytes + 1, wrong, "the whole line in one call")
        self._examination.find(problem, line, state)

    def _find_repeats(self) -> None:
        wrong = "this state is already answered; a dealer ignores the second answer"
        for line, known in self._repeats:
            problem = Problem(Kind.TWICE, len(known.text) + 1, wrong, "nothing, because the answer was accepted")
            self._examination.find(problem, line, known)
        self._repeats = []

    def find_silence(self) -> None:
        """Record that the bot sent no version, or did not answer the current question, in time."""
        examination = self._examination
        state = self.judge.asked
        line = b""
        if not self._is_cut:
            line = self._reader.take_rest()
        limit = f"{examination.settings.timeout_s:g} s"
        if line:
            self._on_event(LineReceived(self.bot, 0, line))
        if state is None and line:
            problems = judge_version(line, self.setup.game)
        elif state is None:
            wrong = f"the bot connected, but sent no line within {examination.start_timeout_s or 0:g} s"
            advice = "Send the first line right after connecting, without waiting for the dealer."
            problems = (Problem(Kind.NO_VERSION, 0, wrong, EXPECTED_VERSION, advice),)
        elif line:
            problems = self.judge.judge(line).problems
        elif self._repeats:
            line = self._repeats[-1][0]
            wrong = f"this answers an earlier state, and no answer to the current one came within {limit}"
            byte = first_difference(line, state.text) + 1
            problems = (Problem(Kind.OLD_STATE, byte, wrong, expected_answer(state)),)
        else:
            advice = (
                f"It was the bot's turn: position {state.betting.acting_position} in round {state.betting.round + 1}. "
                "Find out whether it read this line, mistook it for a question to another player, or waited for "
                "something."
            )
            problems = (Problem(Kind.SILENT, 0, f"no answer came within {limit}", expected_answer(state), advice),)
        for problem in problems:
            examination.find(problem, line, state)

    def begin_end(self) -> None:
        """Record that the dealer closes the connection, as a situation of its own unless the current one breaks off."""
        self._lines = 0
        if self._last is not self._examination.situation:
            self.begin(self._last)

    @property
    def breaks_off(self) -> bool:
        """The dealer closes the connection before the end of the match."""
        return self._last is not END_OF_MATCH and (self._last.breaks_off or not self._script)

    @property
    def judges_end(self) -> bool:
        """The exit of the bot matters. A bot that lingers is found once, since waiting for it again only costs time."""
        is_about_end = self._last is END_OF_MATCH or self.breaks_off
        return self.failure is None and (is_about_end or not self._examination.has(Kind.LINGERS))

    @property
    def exit_timeout_s(self) -> float:
        """Time limit for the exit of the bot after the match."""
        if self.judges_end:
            return self._examination.settings.timeout_s
        if isinstance(self.failure, PlayerCause) and self.failure.kind is FaultKind.DISCONNECT:
            return _DEATH_NOTICE_S
        return 0.0


def _opening(situation: Situation, game: Game) -> tuple[int, list[Action]]:
    """Return the position of the bot in the first hand, and the actions before the first state."""
    if situation.opening is None:
        return 0, []
    betting = situation.opening(game)
    actions: list[Action] = []
    if betting.finished:
        return 0, actions
    for round_actions in betting.rounds:
        actions += [action for _, action in round_actions]
    if not actions:
        return 0, actions
    return betting.acting_position, actions


def _match_setup(examination: Examination, hands: int, first_hand: int) -> MatchSetup:
    """Return the setup of a match in which only the time for an answer is limited."""
    settings = examination.settings
    game = examination.game
    limits = TimeLimits.from_seconds(
        response_s=settings.timeout_s,
        hand_s=_UNLIMITED_S,
        per_hand_s=_UNLIMITED_S,
        start_s=examination.start_timeout_s,
    )
    names = tuple([f"player{seat + 1}" for seat in range(game.num_players)])
    return MatchSetup(game, "doctor", hands, settings.seed, names, first_hand=first_hand, limits=limits)


def _strong_deal(cards: Iterator[Deal], position: int) -> Deal:
    """Give a position the best hole cards of several deals, in exchange for its own."""
    candidates = list(itertools.islice(cards, _STRONG_AMONG))
    ranks = []
    for number, deal in enumerate(candidates):
        for place, hole in enumerate(deal.hole_cards):
            ranks.append((rank_hand(hole), number, place))
    _, number, place = max(ranks)
    deal = candidates[number]
    holes = list(deal.hole_cards)
    holes[position], holes[place] = holes[place], holes[position]
    return deal._replace(hole_cards=tuple(holes))
