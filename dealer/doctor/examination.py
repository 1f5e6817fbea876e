"""The whole examination: connection after connection, situation after situation, until all is known or nothing goes.

Situations that can follow one another share a connection. Where the bot drops out of one, it is started again and goes
on with the next, so that one fault does not hide others. A client that somebody else starts is examined over one
connection, unless asked to come again. What takes long is bounded: a few questions left unanswered are enough.
"""

from __future__ import annotations

import enum
import math
import signal
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from dealer.doctor.dialogue import Dialogue, OnLine
from dealer.doctor.findings import Finding, Findings, Kind, Problem, Severity
from dealer.doctor.inbox import MOST_BYTES, MOST_LINES, Broken, Ending
from dealer.doctor.sitting import Sitting
from dealer.doctor.situations import END_OF_MATCH, HANDSHAKE, Situation, Stop
from dealer.doctor.visits import Absent, Exit, Host, Visit
from engine import ActionKind, Game

__all__ = ["MOST_SILENCES", "MOST_WITHOUT_ANSWER", "Examination", "Row", "Setup", "State"]

MOST_SILENCES: Final = 3
"""After so many questions without an answer nothing more is tried."""

MOST_WITHOUT_ANSWER: Final = 3
"""After so many connections without a single answer nothing more is tried."""

_DEATH_NOTICE_S: Final = 2.0
"""A bot that has closed the connection is waited for so long, so that its exit code can be told."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What is examined, and how.

    Attributes:
        game: the game played.
        situations: to go through, in order.
        seed: of the cards and of the opponents.
        start_timeout_s: for the version line, in seconds; None: without limit.
        timeout_s: for one answer, and for the bot to end after the dealer has closed; in seconds.
        wait_s: the long waits, in seconds.
        comes_again: a client that somebody else starts is waited for as often as needed.
    """

    game: Game
    situations: Sequence[Situation]
    seed: int = 0
    start_timeout_s: float | None = 30.0
    timeout_s: float = 10.0
    wait_s: float = 2.0
    comes_again: bool = False


class State(enum.Enum):
    """How a situation went."""

    OK = "ok"
    INTERRUPTED = "interrupted"
    FAULTS = "faults"
    NOT_TRIED = "not tried"
    NOT_IN_GAME = "not in this game"


@dataclass(slots=True)
class Row:
    """One situation of the examination.

    Attributes:
        situation: which.
        state: how it went.
        reason: why it was not tried, where it was not.
        hands: hands begun in it.
        answers: what the bot answered.
    """

    situation: Situation
    state: State = State.NOT_TRIED
    reason: str = ""
    hands: int = 0
    answers: Counter[ActionKind] = field(default_factory=Counter)


class Examination:
    """One bot being examined.

    Attributes:
        findings: what was found.
        rows: the situations asked for, in order.
        slowest_s: seconds that the slowest answer took.
        is_interrupted: Ctrl-C ended it.
    """

    def __init__(
        self,
        setup: Setup,
        host: Host,
        *,
        on_situation: Callable[[Situation], None] = lambda situation: None,
        on_line: OnLine | None = None,
    ) -> None:
        self.findings = Findings()
        self.rows = [Row(situation) for situation in setup.situations]
        self.slowest_s = 0.0
        self.is_interrupted = False
        self._setup = setup
        self._host = host
        self._on_situation = on_situation
        self._on_line = on_line
        self._silences = 0
        self._connections = 0
        self._current: Row | None = None
        self._stopped = ""
        """Why nothing more is tried; empty while something is."""

    def run(self) -> None:
        """Examine the bot; a second time is not possible.

        Raises:
            LaunchError: the bot cannot be started.
            ListenError: the address cannot be listened on.
        """
        try:
            for sitting in self._sittings():
                self._sit(sitting)
        except KeyboardInterrupt:
            self.is_interrupted = True
            self._stopped = "interrupted"
            if self._current is not None:
                self._current.state = State.INTERRUPTED
        for row in self.rows:
            if self.findings.in_situation(row.situation.name):
                row.state = State.FAULTS
            elif row.state is State.NOT_TRIED and not row.reason:
                row.reason = self._stopped or "the bot did not get so far"

    def _sittings(self) -> list[list[Situation]]:
        """Which situations share a connection."""
        shared: list[Situation] = []
        alone: list[list[Situation]] = []
        for row in self.rows:
            missing = row.situation.missing_in(self._setup.game)
            if missing:
                row.state, row.reason = State.NOT_IN_GAME, missing
            elif row.situation.needs_connection:
                alone.append([row.situation])
            elif row.situation not in (HANDSHAKE, END_OF_MATCH):
                shared.append(row.situation)
        # The handshake is a part of every match, the end of every shared one.
        wants_end = any(row.situation is END_OF_MATCH for row in self.rows)
        return [shared, *alone] if shared or wants_end or not alone else alone

    def _sit(self, situations: Sequence[Situation]) -> None:
        """Go through situations that share a connection, with more connections where the bot drops out."""
        left = deque(situations)
        while True:
            if self._stopped or not self._may_connect(left):
                return
            self._connections += 1
            try:
                visit = self._host.receive_bot()
            except Absent as absent:
                self._find_absence(absent)
                self._stopped = "the bot did not connect"
                return
            try:
                reached = self._play(visit, list(left))
            finally:
                visit.close()
            if reached is None:
                return
            if self._connections >= MOST_WITHOUT_ANSWER and not any(row.answers for row in self.rows):
                self._stopped = self._stopped or f"not one answer in {MOST_WITHOUT_ANSWER} connections is enough"
            while left and left.popleft() is not reached:
                pass
            if not left:
                return

    def _may_connect(self, left: Sequence[Situation] | deque[Situation]) -> bool:
        if self._connections == 0 or self._host.can_start or self._setup.comes_again:
            return True
        for row in self.rows:
            if row.situation in left:
                row.reason = "another connection is needed, with --reconnect"
        return False

    def _play(self, visit: Visit, situations: Sequence[Situation]) -> Situation | None:
        """Use one connection; the situation in which the bot dropped out, None where it did not."""
        setup = self._setup
        dialogue = Dialogue(
            visit.wire,
            setup.game,
            self.findings,
            start_timeout_s=math.inf if setup.start_timeout_s is None else setup.start_timeout_s,
            timeout_s=setup.timeout_s,
            wait_s=setup.wait_s,
            on_line=self._on_line,
        )
        hands: dict[str, int] = {}
        try:
            self._begin(HANDSHAKE)
            try:
                dialogue.greet()
            except Broken:
                self._stopped = "the bot named no version"
                raise
            Sitting(dialogue, situations, setup.seed, self._begin, hands).play()
            self._close(visit, dialogue, situations)
            return None
        except Broken as broken:
            self._find_break(broken.ending, visit, dialogue)
            return dialogue.situation
        finally:
            self.slowest_s = max(self.slowest_s, dialogue.slowest_s)
            for row in self.rows:
                row.hands += hands.get(row.situation.name, 0)
                row.answers += dialogue.answers.get(row.situation.name, Counter())

    def _begin(self, situation: Situation) -> None:
        """Enter a situation; it counts as gone through, and what is found in it shows in the end."""
        self._on_situation(situation)
        self._current = next((row for row in self.rows if row.situation is situation), None)
        if self._current is not None:
            self._current.state = State.OK

    # ---- the end of a match

    def _close(self, visit: Visit, dialogue: Dialogue, situations: Sequence[Situation]) -> None:
        """Close as a dealer does, and see that the bot ends by itself."""
        last = situations[-1] if situations else END_OF_MATCH
        if not last.needs_connection:
            last = END_OF_MATCH
            dialogue.begin(END_OF_MATCH)
            self._begin(END_OF_MATCH)
        breaks_off = last is not END_OF_MATCH and not (last.plans(self._setup.game) and last.stop is Stop.AFTER_ALL)
        visit.hang_up()
        if self.findings.has(Kind.LINGERS) and last is not END_OF_MATCH and not breaks_off:
            # It has been found out already and would cost its time again.
            return
        has_closed = dialogue.read_to_the_end()
        how = visit.wait_for_exit(self._setup.timeout_s if self._host.watches_exit else 0.0)
        if how.code is None and (self._host.watches_exit or not has_closed):
            self._find_lingering(dialogue, how, has_closed=has_closed)
        elif how.code is not None and how.code < 0:
            self._find_crash(dialogue, how, "after the dealer had closed", is_over=True)
        elif how.code:
            self._find_exit_code(dialogue, how, breaks_off=breaks_off)

    def _find_lingering(self, dialogue: Dialogue, how: Exit, *, has_closed: bool) -> None:
        what = "has not ended, though it has closed, too" if has_closed else "has neither closed nor ended"
        wrong = f"the dealer has closed, but after {self._setup.timeout_s:g} s the bot {what}"
        advice = "Take a read that returns nothing for the end of the match: close, and end the program."
        problem = Problem(Kind.LINGERS, 0, wrong, "the bot ends by itself", advice)
        dialogue.add(problem, how.last_lines, is_over=True)

    def _find_exit_code(self, dialogue: Dialogue, how: Exit, *, breaks_off: bool) -> None:
        when = "when the dealer closed before the end of the match" if breaks_off else "though nothing was wrong"
        advice = "End with exit code 0 when the dealer closes: tools take anything else for a failure."
        problem = Problem(Kind.EXIT_CODE, 0, f"the bot ended with exit code {how.code} {when}", "exit code 0", advice)
        # A match that breaks off may well be a failure to the bot.
        severity = Severity.NOTE if breaks_off else None
        dialogue.add(problem, how.last_lines, is_over=True, severity=severity)

    # ---- what ends a conversation early

    def _find_break(self, ending: Ending, visit: Visit, dialogue: Dialogue) -> None:
        if ending is Ending.SILENT:
            self._silences += 1
            if self._silences >= MOST_SILENCES:
                self._stopped = f"{MOST_SILENCES} questions were left unanswered, which is enough"
        elif ending is Ending.FLOOD:
            wrong = f"more than {MOST_LINES} lines or {MOST_BYTES >> 10} KiB came without an answer among them"
            advice = "Send one reply to each question; print what is meant for you to stderr."
            dialogue.add(Problem(Kind.FLOOD, 0, wrong, "one line for each question", advice))
        else:
            how = visit.wait_for_exit(_DEATH_NOTICE_S)
            when = "instead of answering" if dialogue.asked is not None else "before the first state"
            if how.code:
                self._find_crash(dialogue, how, when)
                return
            ended = " and ended with exit code 0" if how.code == 0 else ""
            wrong = f"the bot closed the connection{ended} {when}"
            advice = "A bot stays until the dealer closes: find out what made it leave at this state."
            dialogue.add(Problem(Kind.LEFT, 0, wrong, "the bot answers, and waits for more", advice), how.last_lines)

    def _find_crash(self, dialogue: Dialogue, how: Exit, when: str, *, is_over: bool = False) -> None:
        assert how.code is not None
        wrong = f"the bot {_describe_exit(how.code)} {when}"
        advice = "See what it wrote last, and what is special about the state it was looking at."
        problem = Problem(Kind.CRASHED, 0, wrong, "the bot runs until the dealer closes", advice)
        dialogue.add(problem, how.last_lines, is_over=is_over)

    def _find_absence(self, absent: Absent) -> None:
        how = absent.exit
        if how.code is None:
            wrong = f"the bot did not connect within {absent.waited_s:.0f} s"
        else:
            wrong = f"the bot {_describe_exit(how.code)} without connecting"
        self.findings.add(
            Finding(
                kind=Kind.NO_CONNECTION,
                severity=Severity.ERROR,
                situation=HANDSHAKE.name,
                hand=None,
                line=b"",
                byte=0,
                state=b"",
                wrong=wrong,
                expected="a TCP connection to the host and port that are its last two arguments",
                advice="Try the command by itself, with a host and a port behind it; --start-timeout sets the time.",
                output=how.last_lines,
            )
        )


def _describe_exit(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"was ended by signal {name}"
