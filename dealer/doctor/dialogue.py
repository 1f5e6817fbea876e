"""The dealer's side of a conversation with a bot under examination: tells states, asks, judges what comes back.

Everything goes through a `Wire`, so no socket and no clock of its own is here. Unlike a dealer, who would wait until
the time is up, the doctor goes on at once where a line was plainly meant as the answer: it plays what was meant, or a
call, and finds more in less time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final, TypeAlias

from dealer.doctor.findings import Finding, Findings, Kind, Problem, Severity
from dealer.doctor.inbox import Broken, Ending, Inbox, Wire
from dealer.doctor.lines import Outcome, Role, Told, expected_answer, first_difference, judge_line, judge_version
from dealer.doctor.situations import HANDSHAKE, Delivery, Situation
from engine import Action, ActionKind, BettingState, Game

__all__ = ["Dialogue", "OnLine"]

OnLine: TypeAlias = Callable[[bool, bytes], None]
"""Told every line: whether the bot sent it, and its bytes."""

_STRADDLE_BYTES: Final = 7
_PIECE_PAUSE_S: Final = 0.0005
"""Between the pieces of a line, so that a bot that waits for bytes wakes up and sees the piece alone."""

_LINE_PAUSE_S: Final = 0.001
"""Between two lines that are to be seen alone."""

_FIRST_PAUSE_S: Final = 0.02
_FIRST_LINES: Final = 4
"""So many lines are sent at a slower pace: a bot just started is slow at first."""

_LAST_PIECE_PAUSE_S: Final = 0.05
"""Before the LF of a line: time for a bot to answer that takes CR for the end."""

_COMMENTS: Final = (b"# a line for people\r\n", b"; MATCHSTATE:0:0:f:|\r\n", b"#\r\n")


class Dialogue:
    """A conversation with one bot over one connection.

    Attributes:
        game: the game played.
        situation: the situation the bot is in.
        latest: the last state told; None before the first.
        asked: the state whose answer is awaited; None where none is.
        answers: how often the bot folded, called, raised in each situation, by the name of the situation.
        slowest_s: seconds that the slowest answer took.
    """

    def __init__(
        self,
        wire: Wire,
        game: Game,
        findings: Findings,
        *,
        start_timeout_s: float,
        timeout_s: float,
        wait_s: float,
        on_line: OnLine | None = None,
    ) -> None:
        """Begin with the handshake.

        Args:
            wire: the connection.
            game: the game played.
            findings: where to put what is found.
            start_timeout_s: for the version line, in seconds.
            timeout_s: for an answer, and for the bot to close at the end, in seconds.
            wait_s: the long waits, in seconds.
            on_line: told every line.
        """
        self.game = game
        self.situation: Situation = HANDSHAKE
        self.latest: Told | None = None
        self.asked: Told | None = None
        self.answers: dict[str, Counter[ActionKind]] = {}
        self.slowest_s = 0.0
        self._wire = wire
        self._findings = findings
        self._start_timeout_s = start_timeout_s
        self._timeout_s = timeout_s
        self._wait_s = wait_s
        self._on_line = on_line or (lambda is_bots, line: None)
        self._inbox = Inbox(wire)
        self._told: dict[bytes, Told] = {}
        self._held: list[Told] = []
        self._line_count = 0
        self._is_refused = False
        self._is_behind_another = False

    # ---- what the dealer says

    def begin(self, situation: Situation) -> None:
        """Enter a situation."""
        self.flush()
        self.situation = situation
        self._line_count = 0

    def tell(self, text: bytes, role: Role, hand: int, betting: BettingState) -> Told:
        """Tell a state; lines that travel together with others leave with the next question or `flush`."""
        told = Told(text, hand, self.situation.name, role, betting)
        self._told[text] = self.latest = told
        if self.situation.delivery in (Delivery.JOINED, Delivery.STRADDLED):
            self._held.append(told)
        else:
            self._deliver(told)
        return told

    def flush(self) -> None:
        """Send what is held back."""
        if not self._held:
            return
        for told in self._held:
            self._on_line(False, told.text + b"\r\n")
        data = b"".join([told.text + b"\r\n" for told in self._held])
        self._held.clear()
        if self.situation.delivery is Delivery.JOINED:
            self._wire.send(data)
            return
        for at in range(0, len(data), _STRADDLE_BYTES):
            if at:
                self._wire.pause(_PIECE_PAUSE_S)
            self._wire.send(data[at : at + _STRADDLE_BYTES])

    def _deliver(self, told: Told) -> None:
        line = told.text + b"\r\n"
        number, self._line_count = self._line_count, self._line_count + 1
        if self._is_behind_another:
            # A bot that takes one read for one line shall fail in the situations made for it, and nowhere else.
            self._wire.pause(_LINE_PAUSE_S if len(self._told) > _FIRST_LINES else _FIRST_PAUSE_S)
        self._is_behind_another = told.role is not Role.ASKS
        delivery = self.situation.delivery
        if delivery is Delivery.COMMENTED:
            comment = _COMMENTS[number % len(_COMMENTS)]
            self._on_line(False, comment)
            self._wire.send(comment)
        self._on_line(False, line)
        if delivery is Delivery.BYTEWISE and told.role is Role.ASKS:
            self._send_pieces(told, [line[at : at + 1] for at in range(len(line))], _PIECE_PAUSE_S)
        elif delivery is Delivery.BYTEWISE:
            cut = 1 + number % (len(line) - 1)
            self._send_pieces(told, [line[:cut], line[cut:]], _PIECE_PAUSE_S)
        elif delivery is Delivery.WAITING and number == 0:
            self._wire.pause(self._wait_s)
            self._wire.send(line)
        elif delivery is Delivery.WAITING and number == 1:
            cut = len(line) // 2
            self._send_pieces(told, [line[:cut], line[cut:]], self._wait_s)
        else:
            self._wire.send(line)

    def _send_pieces(self, told: Told, pieces: list[bytes], pause_s: float) -> None:
        """Send a line in pieces; an answer that comes before the last of them is a finding."""
        for piece in pieces[:-1]:
            self._wire.send(piece)
            self._wire.pause(pause_s)
        if pieces[-1] == b"\n":
            self._wire.pause(_LAST_PIECE_PAUSE_S)
            line = self._inbox.line_from(told.text + b":")
            if line:
                wrong = "the answer came before the LF of the state: the bot takes CR for the end of a line"
                advice = "A line ends at LF; the CR before it is part of the end, not the end."
                expected = "no answer before the whole line has come"
                self._add(Problem(Kind.EARLY, len(told.text) + 1, wrong, expected, advice), line, told)
        self._wire.send(pieces[-1])

    # ---- what the bot says

    def greet(self) -> None:
        """Wait for the version line and judge it.

        Raises:
            Broken: none came.
        """
        line = self._inbox.next_line(self._wire.now_s() + self._start_timeout_s)
        if line is None:
            rest = self._inbox.take_rest()
            for problem in judge_version(rest, self.game) if rest else [self._no_version()]:
                self._add(problem, rest, None)
            raise Broken(Ending.SILENT)
        self._on_line(True, line)
        for problem in judge_version(line, self.game):
            self._add(problem, line, None)
            self._is_refused |= problem.kind is Kind.NO_VERSION

    def ask(self, told: Told) -> Action:
        """Wait for the answer to a state just told, and judge every line that comes until then.

        Returns:
            what a dealer plays for it; for a line that was meant as an answer what was meant.

        Raises:
            Broken: no answer can come any more, or none came in time.
        """
        self.flush()
        self.asked = told
        self._inbox.allow_more()
        start_s = self._wire.now_s()
        repeats: list[tuple[bytes, Told]] = []
        while True:
            line = self._inbox.next_line(start_s + self._timeout_s)
            if line is None:
                self._find_silence(told, repeats)
                raise Broken(Ending.SILENT)
            self._on_line(True, line)
            if self._is_refused and line.startswith(b"VERSION:"):
                # It comes late, which has been said.
                continue
            verdict = judge_line(line, told, self.latest, self._told, self.game)
            for problem in verdict.problems:
                self._add(problem, line, verdict.about)
            if verdict.outcome is Outcome.REPEAT and verdict.about is not None:
                repeats.append((line, verdict.about))
            elif self._is_meant_as_answer(verdict.outcome):
                for repeat, known in repeats:
                    self._find_repeat(repeat, known)
                told.is_answered = verdict.outcome is Outcome.ANSWER
                told.is_given_up = not told.is_answered
                self.asked = None
                self.slowest_s = max(self.slowest_s, self._wire.now_s() - start_s)
                self.answers.setdefault(self.situation.name, Counter())[verdict.action.kind] += 1
                return verdict.action

    def read_to_the_end(self) -> bool:
        """Judge what still comes until the bot closes; False when it does not in time, or floods."""
        self.asked = None
        self._inbox.allow_more()
        deadline_s = self._wire.now_s() + self._timeout_s
        while True:
            try:
                line = self._inbox.next_line(deadline_s)
            except Broken as broken:
                return broken.ending is Ending.CLOSED
            if line is None:
                return False
            self._on_line(True, line)
            if self._is_refused and line.startswith(b"VERSION:"):
                continue
            verdict = judge_line(line, None, self.latest, self._told, self.game)
            for problem in verdict.problems:
                self._add(problem, line, verdict.about)
            if verdict.outcome is Outcome.REPEAT and verdict.about is not None:
                self._find_repeat(line, verdict.about)

    def _is_meant_as_answer(self, outcome: Outcome) -> bool:
        """Whether to go on after a line: a bot that was sent part of a state may have answered the part only."""
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
        """Add a finding that belongs to no line; where the match is over, it belongs to no state either.

        Args:
            problem: what is wrong.
            output: the last lines the bot wrote.
            is_over: the match is over.
            severity: how bad it is, where that is not as usual.
        """
        self._add(problem, b"", None if is_over else self.asked or self.latest, output, severity)

    def _add(
        self,
        problem: Problem,
        line: bytes,
        about: Told | None,
        output: tuple[str, ...] = (),
        severity: Severity | None = None,
    ) -> None:
        severity = problem.kind.severity if severity is None else severity
        if self.situation.is_mild:
            severity = min(severity, Severity.WARNING)
        advice = f"{problem.advice} {self.situation.advice}" if self.situation.advice else problem.advice
        # A line may be read in a later situation than the one it belongs to; what ends the conversation belongs here.
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

    def _find_repeat(self, line: bytes, known: Told) -> None:
        wrong = "this state has been answered already; a dealer passes over the second answer"
        advice = "Answer every question once; make sure that nothing sends the reply again."
        byte = len(known.text) + 1
        self._add(Problem(Kind.TWICE, byte, wrong, "nothing: the answer had been taken", advice), line, known)

    def _find_silence(self, told: Told, repeats: list[tuple[bytes, Told]]) -> None:
        """The time is up: say why, as far as it shows."""
        rest = self._inbox.take_rest()
        limit = f"{self._timeout_s:g} s"
        if rest:
            self._on_line(True, rest)
            for problem in judge_line(rest, told, self.latest, self._told, self.game).problems:
                self._add(problem, rest, told)
            return
        if repeats:
            line, _ = repeats[-1]
            byte = first_difference(line, told.text) + 1
            wrong = f"this answers an earlier state, and no answer to the present one came within {limit}"
            advice = "Echo the state that asks: the last line received, not one kept from before."
            self._add(Problem(Kind.OLD_STATE, byte, wrong, expected_answer(told), advice), line, told)
            return
        wrong = f"no answer came within {limit}"
        betting = told.betting
        advice = (
            f"It was the bot's turn: position {betting.acting_position} in round {betting.round + 1}. Find out whether "
            "it has read this line, took it for one that asks somebody else, or waited for something."
        )
        self._add(Problem(Kind.SILENT, 0, wrong, expected_answer(told), advice), b"", told)

    def _no_version(self) -> Problem:
        wrong = f"the bot connected, but sent no line within {self._start_timeout_s:g} s"
        advice = "The bot speaks first: send this line right after connecting, without waiting for the dealer."
        return Problem(Kind.NO_VERSION, 0, wrong, r"VERSION:2.0.0\r\n", advice)
