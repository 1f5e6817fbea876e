"""The whole examination: all situations, over as many connections as they need.

Situations that can follow one another share a connection. If the bot drops out, it is started again and continues with
the next situation, so that one fault does not hide others. A client that somebody else starts is examined over one
connection unless it is expected to reconnect. The examination stops early after a few unanswered questions.
"""

from __future__ import annotations

import enum
import signal
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dealer.doctor.dialogue import Dialogue, OnLine
from dealer.doctor.findings import Finding, Findings, Kind, Problem, Severity
from dealer.doctor.inbox import MOST_BYTES, MOST_LINES, Ending
from dealer.doctor.scripted_match import ScriptedMatch
from dealer.doctor.situations import END_OF_MATCH, HANDSHAKE, ExaminationSetup, Situation, Stop
from dealer.doctor.visits import Absence, BotHost, Exit, Host, Visit
from dealer.errors import ConversationError
from dealer.match.events import StrayConnection
from dealer.table.players import Player
from engine import ActionKind

__all__ = [
    "MOST_SILENCES",
    "MOST_WITHOUT_ANSWER",
    "Examination",
    "SituationOutcome",
    "SituationState",
    "examine_bot",
]

MOST_SILENCES, MOST_WITHOUT_ANSWER = 3, 3
"""The numbers of unanswered questions, and of connections without a single answer, that end the examination."""

_DEATH_NOTICE_S: Final = 2.0
"""How long to wait for the exit code of a bot that has closed the connection."""


class SituationState(enum.Enum):
    """How a situation went."""

    OK = "ok"
    INTERRUPTED = "interrupted"
    FAULTS = "faults"
    NOT_TRIED = "not tried"
    NOT_IN_GAME = "not in this game"


@dataclass(slots=True)
class SituationOutcome:
    """One situation of the examination.

    Attributes:
        situation: the situation.
        state: how it went.
        reason: why it was not tried, if it was not.
        hands: number of hands begun in it.
        answers: how often the bot folded, called and raised.
    """

    situation: Situation
    state: SituationState = SituationState.NOT_TRIED
    reason: str = ""
    hands: int = 0
    answers: Counter[ActionKind] = field(default_factory=Counter)


class Examination:
    """One bot being examined.

    Attributes:
        findings: what was found.
        outcomes: the requested situations, in order.
        slowest_s: time of the slowest answer, in seconds.
        is_interrupted: whether Ctrl-C ended it.
    """

    def __init__(
        self,
        setup: ExaminationSetup,
        host: Host,
        *,
        on_situation: Callable[[Situation], None] = lambda situation: None,
        on_line: OnLine | None = None,
    ) -> None:
        self.findings = Findings()
        self.outcomes = [SituationOutcome(situation) for situation in setup.situations]
        self.slowest_s = 0.0
        self.is_interrupted = False
        self._setup = setup
        self._host = host
        self._on_situation = on_situation
        self._on_line = on_line
        self._silences = 0
        self._connections = 0
        self._current: SituationOutcome | None = None
        self._stopped = ""
        """Why the examination stopped early; empty if it has not."""

    def run(self) -> None:
        """Examine the bot; call it once.

        Raises:
            LaunchError: the bot cannot be started.
            ListenError: the address cannot be listened on.
        """
        try:
            for match in self._matches():
                self._sit(match)
        except KeyboardInterrupt:
            self.is_interrupted = True
            self._stopped = "interrupted"
            if self._current is not None:
                self._current.state = SituationState.INTERRUPTED
        for outcome in self.outcomes:
            if self.findings.in_situation(outcome.situation.name):
                outcome.state = SituationState.FAULTS
            elif outcome.state is SituationState.NOT_TRIED and not outcome.reason:
                outcome.reason = self._stopped or "the bot did not get so far"

    def _matches(self) -> list[list[Situation]]:
        """The situations, grouped by connection."""
        shared: list[Situation] = []
        alone: list[list[Situation]] = []
        for outcome in self.outcomes:
            missing = outcome.situation.missing_in(self._setup.game)
            if missing:
                outcome.state, outcome.reason = SituationState.NOT_IN_GAME, missing
            elif outcome.situation.needs_connection:
                alone.append([outcome.situation])
            elif outcome.situation not in (HANDSHAKE, END_OF_MATCH):
                shared.append(outcome.situation)
        # Every connection begins with the handshake; every shared one reaches the end of the match.
        wants_end = any(outcome.situation is END_OF_MATCH for outcome in self.outcomes)
        return [shared, *alone] if shared or wants_end or not alone else alone

    def _sit(self, situations: Sequence[Situation]) -> None:
        """Try situations that share a connection; connect again where the bot drops out."""
        left = deque(situations)
        while True:
            if self._stopped or not self._may_connect(left):
                return
            self._connections += 1
            visit = self._host.receive_bot()
            if isinstance(visit, Absence):
                self._find_absence(visit)
                self._stopped = "the bot did not connect"
                return
            try:
                reached = self._play(visit, list(left))
            finally:
                visit.close()
            if reached is None:
                return
            if self._connections >= MOST_WITHOUT_ANSWER and not any(outcome.answers for outcome in self.outcomes):
                self._stopped = self._stopped or f"not one answer in {MOST_WITHOUT_ANSWER} connections is enough"
            while left and left.popleft() is not reached:
                pass
            if not left:
                return

    def _may_connect(self, left: Sequence[Situation] | deque[Situation]) -> bool:
        if self._connections == 0 or self._host.can_start or self._setup.comes_again:
            return True
        for outcome in self.outcomes:
            if outcome.situation in left:
                outcome.reason = "another connection is needed, with --reconnect"
        return False

    def _play(self, visit: Visit, situations: Sequence[Situation]) -> Situation | None:
        """Use one connection; returns the situation in which the bot dropped out, or None."""
        setup = self._setup
        dialogue = Dialogue(visit, setup, self.findings, self._on_line)
        hands: dict[str, int] = {}
        try:
            self._begin(HANDSHAKE)
            try:
                dialogue.greet()
            except ConversationError:
                self._stopped = "the bot named no version"
                raise
            ScriptedMatch(dialogue, situations, setup.seed, self._begin, hands).play()
            self._close(visit, dialogue, situations)
            return None
        except ConversationError as over:
            self._find_break(over.ending, visit, dialogue)
            return dialogue.situation
        finally:
            self.slowest_s = max(self.slowest_s, dialogue.slowest_s)
            for outcome in self.outcomes:
                outcome.hands += hands.get(outcome.situation.name, 0)
                outcome.answers += dialogue.answers.get(outcome.situation.name, Counter())

    def _begin(self, situation: Situation) -> None:
        """Enter a situation; it counts as passed unless something is found in it."""
        self._on_situation(situation)
        self._current = next((outcome for outcome in self.outcomes if outcome.situation is situation), None)
        if self._current is not None:
            self._current.state = SituationState.OK

    # ---- the end of a match

    def _close(self, visit: Visit, dialogue: Dialogue, situations: Sequence[Situation]) -> None:
        """Close as a dealer does, and check that the bot ends by itself."""
        last = situations[-1] if situations else END_OF_MATCH
        if not last.needs_connection:
            last = END_OF_MATCH
            dialogue.begin(END_OF_MATCH)
            self._begin(END_OF_MATCH)
        breaks_off = last is not END_OF_MATCH and not (last.plans(self._setup.game) and last.stop is Stop.AFTER_ALL)
        visit.hang_up()
        if self.findings.has(Kind.LINGERS) and last is not END_OF_MATCH and not breaks_off:
            # Already reported; checking again would cost the whole timeout again.
            return
        has_closed = dialogue.read_to_the_end()
        how = visit.wait_for_exit(self._setup.timeout_s if self._host.can_start else 0.0)
        if how.code is None and (self._host.can_start or not has_closed):
            self._find_lingering(dialogue, how, has_closed=has_closed)
        elif how.code is not None and how.code < 0:
            self._find_crash(dialogue, how.code, how.last_lines, "after the dealer had closed", is_over=True)
        elif how.code:
            self._find_exit_code(dialogue, how, breaks_off=breaks_off)

    def _find_lingering(self, dialogue: Dialogue, how: Exit, *, has_closed: bool) -> None:
        what = "has not ended, although it has closed as well" if has_closed else "has neither closed nor ended"
        wrong = f"the dealer has closed, but after {self._setup.timeout_s:g} s the bot {what}"
        advice = "Take a read that returns nothing for the end of the match: close, and end the program."
        problem = Problem(Kind.LINGERS, 0, wrong, "the bot ends by itself", advice)
        dialogue.add(problem, how.last_lines, is_over=True)

    def _find_exit_code(self, dialogue: Dialogue, how: Exit, *, breaks_off: bool) -> None:
        when = "when the dealer closed before the end of the match" if breaks_off else "though nothing was wrong"
        advice = "End with exit code 0 when the dealer closes: tools take anything else for a failure."
        problem = Problem(Kind.EXIT_CODE, 0, f"the bot ended with exit code {how.code} {when}", "exit code 0", advice)
        # The bot may take a match that breaks off for a failure.
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
                self._find_crash(dialogue, how.code, how.last_lines, when)
                return
            ended = " and ended with exit code 0" if how.code == 0 else ""
            wrong = f"the bot closed the connection{ended} {when}"
            advice = "A bot stays until the dealer closes: find out what made it leave at this state."
            dialogue.add(Problem(Kind.LEFT, 0, wrong, "the bot answers, and waits for more", advice), how.last_lines)

    def _find_crash(
        self, dialogue: Dialogue, code: int, last_lines: tuple[str, ...], when: str, *, is_over: bool = False
    ) -> None:
        wrong = f"the bot {_describe_exit(code)} {when}"
        advice = "See what it wrote last, and what is special about the state it was looking at."
        problem = Problem(Kind.CRASHED, 0, wrong, "the bot runs until the dealer closes", advice)
        dialogue.add(problem, last_lines, is_over=is_over)

    def _find_absence(self, absence: Absence) -> None:
        how, kind = absence.exit, Kind.NO_CONNECTION
        expected = "a TCP connection to the host and port that are its last two arguments"
        if absence.strays:
            kind, expected = Kind.NO_VERSION, r"VERSION:2.0.0\r\n"
            wrong = f"no client began with a version line within {absence.waited_s:.0f} s"
        elif how.code is None:
            wrong = f"the bot did not connect within {absence.waited_s:.0f} s"
        else:
            wrong = f"the bot {_describe_exit(how.code)} without connecting"
        advice = "Start the client with the host and the port that were named, while the doctor waits."
        if self._host.can_start:
            advice = (
                "See what it wrote. To start it as it was started here: host and port behind its command, "
                "nothing on its standard input, ARENA_GAME and PYTHONUNBUFFERED=1 in its environment."
            )
        self.findings.add(
            Finding(
                kind=kind,
                severity=Severity.ERROR,
                situation=HANDSHAKE.name,
                hand=None,
                line=b"",
                byte=0,
                state=b"",
                wrong=wrong,
                expected=expected,
                advice=advice,
                output=how.last_lines,
            )
        )


def examine_bot(
    setup: ExaminationSetup,
    player: Player,
    game_name: str,
    address: tuple[str, int],
    *,
    on_situation: Callable[[Situation], None] = lambda situation: None,
    on_line: OnLine | None = None,
    on_waiting: Callable[[str, int], None] = lambda host, port: None,
    on_stray: Callable[[StrayConnection], None] = lambda stray: None,
) -> Examination:
    """Examine a bot over TCP.

    Args:
        setup: what is examined.
        player: the bot: started once per connection, unless it is a client that somebody else starts.
        game_name: the name of the game that the bot is given.
        address: host and port to listen on; port 0 takes a free one.
        on_situation: called with each situation as it begins.
        on_line: called with every line.
        on_waiting: called with host and port when the doctor waits for a client.
        on_stray: told of everybody else who connects meanwhile.

    Raises:
        LaunchError: the bot cannot be started, or the address cannot be listened on.
    """
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        BotHost(player, setup, game_name, Path(folder), address, on_waiting, on_stray) as host,
    ):
        examination = Examination(setup, host, on_situation=on_situation, on_line=on_line)
        examination.run()
    return examination


def _describe_exit(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"was ended by signal {name}"
