"""The dealer's side of a conversation with a bot under examination: sends states, asks, judges the replies.

Everything goes through a `Wire`, so the module has no socket and no clock. A dealer would wait until time is up; the
doctor goes on at once if a line was plainly meant as the answer: it plays what was meant, or a call, and finds more in
less time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Final, TypeAlias

from dealer.doctor.findings import Finding, Findings, Kind, Problem, Severity
from dealer.doctor.inbox import Ending, Inbox, Wire
from dealer.doctor.lines import (
    Outcome,
    Role,
    SentState,
    Verdict,
    expected_answer,
    first_difference,
    judge_line,
    judge_version,
)
from dealer.doctor.situations import HANDSHAKE, Delivery, ExaminationSetup, Situation
from dealer.errors import ConversationError
from engine import Action, ActionKind, BettingState

__all__ = ["Dialogue", "OnLine"]

OnLine: TypeAlias = Callable[[bool, bytes], None]
"""Called with every line: whether the bot sent it, and its bytes."""

_STRADDLE_BYTES, _FIRST_LINES = 7, 4
"""How long the pieces of straddled lines are; how many lines are sent slowly, as a bot is slow just after its start."""

_PIECE_PAUSE_S, _LINE_PAUSE_S, _FIRST_PAUSE_S, _LAST_PIECE_PAUSE_S = 0.0005, 0.001, 0.02, 0.05
"""Pauses after which a bot has seen what came before them: a piece of a line, a line, one of the first lines, and all
of a line but its LF (a bot that takes CR for the end answers in this time)."""

_COMMENTS: Final = (b"# a line for people\r\n", b"; MATCHSTATE:0:0:f:|\r\n", b"#\r\n")


class Dialogue:
    """A conversation with one bot over one connection.

    Attributes:
        game: the game played.
        situation: the current situation.
        latest: the last state sent; None before the first.
        asked: the state whose answer is awaited, if any.
        answers: how often the bot folded, called and raised, by the name of the situation.
        slowest_s: time of the slowest answer, in seconds.
    """

    def __init__(self, wire: Wire, setup: ExaminationSetup, findings: Findings, on_line: OnLine | None = None) -> None:
        """Begin with the handshake.

        Args:
            wire: the connection.
            setup: the game, and how long to wait for what.
            findings: receives what is found.
            on_line: called with every line.
        """
        self.game = setup.game
        self.situation: Situation = HANDSHAKE
        self.latest: SentState | None = None
        self.asked: SentState | None = None
        self.answers: dict[str, Counter[ActionKind]] = {}
        self.slowest_s = 0.0
        self._wire = wire
        self._findings = findings
        self._setup = setup
        self._on_line = on_line or (lambda is_bots, line: None)
        self._inbox = Inbox(wire)
        self._sent: dict[bytes, SentState] = {}
        self._held: list[SentState] = []
        self._line_count = 0
        self._is_refused = False
        self._follows_another = False

    # ---- what the dealer says

    def begin(self, situation: Situation) -> None:
        """Enter a situation."""
        self.flush()
        self.situation = situation
        self._line_count = 0

    def send(self, text: bytes, role: Role, hand: int, betting: BettingState) -> SentState:
        """Send a state; lines that travel together are held until the next question or `flush`."""
        state = SentState(text, hand, self.situation.name, role, betting)
        self._sent[text] = self.latest = state
        if self.situation.delivery in (Delivery.JOINED, Delivery.STRADDLED):
            self._held.append(state)
        else:
            self._deliver(state)
        return state

    def flush(self) -> None:
        """Send the lines that are held."""
        if not self._held:
            return
        lines = [state.text + b"\r\n" for state in self._held]
        for line in lines:
            self._on_line(False, line)
        data = b"".join(lines)
        self._held.clear()
        if self.situation.delivery is Delivery.JOINED:
            self._wire.send(data)
            return
        for at in range(0, len(data), _STRADDLE_BYTES):
            if at:
                self._wire.pause(_PIECE_PAUSE_S)
            self._wire.send(data[at : at + _STRADDLE_BYTES])

    def _deliver(self, state: SentState) -> None:
        line = state.text + b"\r\n"
        number, self._line_count = self._line_count, self._line_count + 1
        if self._follows_another:
            # A bot that takes one read for one line is to fail only in the situations made for that fault.
            self._wire.pause(_LINE_PAUSE_S if len(self._sent) > _FIRST_LINES else _FIRST_PAUSE_S)
        self._follows_another = state.role is not Role.ASKS
        delivery = self.situation.delivery
        if delivery is Delivery.COMMENTED:
            comment = _COMMENTS[number % len(_COMMENTS)]
            self._on_line(False, comment)
            self._wire.send(comment)
        self._on_line(False, line)
        if delivery is Delivery.BYTEWISE and state.role is Role.ASKS:
            self._send_pieces(state, [line[at : at + 1] for at in range(len(line))], _PIECE_PAUSE_S)
        elif delivery is Delivery.BYTEWISE:
            cut = 1 + number % (len(line) - 1)
            self._send_pieces(state, [line[:cut], line[cut:]], _PIECE_PAUSE_S)
        elif delivery is Delivery.WAITING and number == 0:
            self._wire.pause(self._setup.wait_s)
            self._wire.send(line)
        elif delivery is Delivery.WAITING and number == 1:
            cut = len(line) // 2
            self._send_pieces(state, [line[:cut], line[cut:]], self._setup.wait_s)
        else:
            self._wire.send(line)

    def _send_pieces(self, state: SentState, pieces: list[bytes], pause_s: float) -> None:
        """Send a line in pieces; an answer before the last piece is a finding."""
        for piece in pieces[:-1]:
            self._wire.send(piece)
            self._wire.pause(pause_s)
        if pieces[-1] == b"\n":
            self._wire.pause(_LAST_PIECE_PAUSE_S)
            line = self._inbox.line_from(state.text + b":")
            if line:
                wrong = "the answer came before the LF of the state: the bot takes CR for the end of a line"
                advice = "A line ends at LF; the CR before it is part of the end, not the end."
                expected = "no answer before the whole line has arrived"
                self._add(Problem(Kind.EARLY, len(state.text) + 1, wrong, expected, advice), line, state)
        self._wire.send(pieces[-1])

    # ---- what the bot says

    def greet(self) -> None:
        """Wait for the version line and judge it.

        Raises:
            ConversationError: none arrived.
        """
        limit_s = self._setup.start_timeout_s
        line = self._inbox.next_line(self._wire.now_s() + (math.inf if limit_s is None else limit_s))
        if line is None:
            rest = self._inbox.take_rest()
            for problem in judge_version(rest, self.game) if rest else [self._no_version()]:
                self._add(problem, rest, None)
            raise ConversationError(Ending.SILENT)
        self._on_line(True, line)
        for problem in judge_version(line, self.game):
            self._add(problem, line, None)
            self._is_refused |= problem.kind is Kind.NO_VERSION

    def ask(self, state: SentState) -> Action:
        """Wait for the answer to a state just sent, and judge every line that arrives until then.

        Returns:
            what a dealer plays for it; if a dealer would pass over the line, what the bot meant.

        Raises:
            ConversationError: no answer arrived in time, or none can arrive any more.
        """
        self.flush()
        self.asked = state
        self._inbox.allow_more()
        start_s = self._wire.now_s()
        repeats: list[tuple[bytes, SentState]] = []
        while True:
            line = self._inbox.next_line(start_s + self._setup.timeout_s)
            if line is None:
                self._find_silence(state, repeats)
                raise ConversationError(Ending.SILENT)
            verdict = self._hear(line, state)
            if verdict.outcome is Outcome.REPEAT and verdict.about is not None:
                repeats.append((line, verdict.about))
            elif self._is_meant_as_answer(verdict.outcome):
                for repeat, known in repeats:
                    self._find_repeat(repeat, known)
                state.is_answered = verdict.outcome is Outcome.ANSWER
                state.is_given_up = not state.is_answered
                self.asked = None
                self.slowest_s = max(self.slowest_s, self._wire.now_s() - start_s)
                self.answers.setdefault(self.situation.name, Counter())[verdict.action.kind] += 1
                return verdict.action

    def read_to_the_end(self) -> bool:
        """Judge what still arrives until the bot closes; returns False if it does not close in time, or floods."""
        self.asked = None
        self._inbox.allow_more()
        deadline_s = self._wire.now_s() + self._setup.timeout_s
        while True:
            try:
                line = self._inbox.next_line(deadline_s)
            except ConversationError as over:
                return over.ending is Ending.CLOSED
            if line is None:
                return False
            verdict = self._hear(line, None)
            if verdict.outcome is Outcome.REPEAT and verdict.about is not None:
                self._find_repeat(line, verdict.about)

    def _hear(self, line: bytes, asked: SentState | None) -> Verdict:
        """Judge a line and record what is wrong with it."""
        self._on_line(True, line)
        if self._is_refused and line.startswith(b"VERSION:"):
            # That the version line is late has been reported.
            return Verdict(Outcome.OTHER, (), None)
        verdict = judge_line(line, asked, self.latest, self._sent, self.game)
        for problem in verdict.problems:
            self._add(problem, line, verdict.about)
        return verdict

    def _is_meant_as_answer(self, outcome: Outcome) -> bool:
        """Whether to go on after a line; a bot that was sent part of a state may have answered just that part."""
        if outcome is Outcome.FRAGMENT:
            return not self.situation.delivery.is_cut
        return outcome in (Outcome.ANSWER, Outcome.ATTEMPT)

    # ---- what is found

    def add(
        self,
        problem: Problem,
        output: tuple[str, ...] = (),
        *,
        is_over: bool = False,
        severity: Severity | None = None,
    ) -> None:
        """Add a finding that belongs to no line; once the match is over, it belongs to no state either.

        Args:
            problem: what is wrong.
            output: the last lines the bot wrote.
            is_over: whether the match is over.
            severity: how bad it is, if not as usual.
        """
        self._add(problem, b"", None if is_over else self.asked or self.latest, output, severity)

    def _add(
        self,
        problem: Problem,
        line: bytes,
        about: SentState | None,
        output: tuple[str, ...] = (),
        severity: Severity | None = None,
    ) -> None:
        severity = problem.kind.severity if severity is None else severity
        if self.situation.is_mild:
            severity = min(severity, Severity.WARNING)
        situation = self.situation
        is_told = situation.opening is None or about is None or about.hand == situation.first_hand
        advice = f"{problem.advice} {situation.advice}" if situation.advice and is_told else problem.advice
        # A line may be read in a later situation than its own; what ends the conversation belongs to the current one.
        belongs_here = about is None or not line
        self._findings.add(
            Finding(
                kind=problem.kind,
                severity=severity,
                situation=self.situation.name if belongs_here or about is None else about.situation,
                hand=None if about is None else about.hand,
                line=line,
                byte=problem.byte,
                state=b"" if about is None else about.text,
                wrong=problem.wrong,
                expected=problem.expected,
                advice=advice,
                output=output,
            )
        )

    def _find_repeat(self, line: bytes, known: SentState) -> None:
        wrong = "this state has been answered already; a dealer ignores the second answer"
        advice = "Answer every question once; make sure that nothing sends the reply again."
        byte = len(known.text) + 1
        self._add(Problem(Kind.TWICE, byte, wrong, "nothing: the answer had been taken", advice), line, known)

    def _find_silence(self, state: SentState, repeats: list[tuple[bytes, SentState]]) -> None:
        """Time is up: report why, as far as can be seen."""
        rest = self._inbox.take_rest()
        limit = f"{self._setup.timeout_s:g} s"
        if rest:
            self._on_line(True, rest)
            for problem in judge_line(rest, state, self.latest, self._sent, self.game).problems:
                self._add(problem, rest, state)
            return
        if repeats:
            line, _ = repeats[-1]
            byte = first_difference(line, state.text) + 1
            wrong = f"this answers an earlier state, and no answer to the present one came within {limit}"
            advice = "Echo the state that asks: the last line received, not one kept from before."
            self._add(Problem(Kind.OLD_STATE, byte, wrong, expected_answer(state), advice), line, state)
            return
        wrong = f"no answer came within {limit}"
        betting = state.betting
        advice = (
            f"It was the bot's turn: position {betting.acting_position} in round {betting.round + 1}. Find out whether "
            "it has read this line, took it for one that asks somebody else, or waited for something."
        )
        self._add(Problem(Kind.SILENT, 0, wrong, expected_answer(state), advice), b"", state)

    def _no_version(self) -> Problem:
        wrong = f"the bot connected, but sent no line within {self._setup.start_timeout_s:g} s"
        advice = "The bot speaks first: send this line right after connecting, without waiting for the dealer."
        return Problem(Kind.NO_VERSION, 0, wrong, r"VERSION:2.0.0\r\n", advice)
