"""The whole examination: all situations, over as many connections as they need.

Situations that can follow one another share a connection. If the bot drops out, it is started again and continues with
the next situation, so that one fault does not hide others. A client that connects by itself is examined over one
connection unless it is expected to reconnect. The examination stops early after a few unanswered questions.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Sequence
from typing import Final

from dealer.doctor.dialogue import MOST_BYTES, MOST_LINES, Absence, BotHost, Connection, Dialogue, Ending, Exit, OnEvent
from dealer.doctor.judge import EXPECTED_VERSION, Kind, Problem, SentState, Severity
from dealer.doctor.report import Examination, SituationState
from dealer.doctor.situations import END_OF_MATCH, HANDSHAKE, ExaminationSetup, Situation
from dealer.errors import ConversationError

MOST_SILENCES, MOST_WITHOUT_ANSWER = 3, 3
"""The numbers of unanswered questions, and of connections without a single answer, that end the examination."""

_DEATH_NOTICE_S: Final = 2.0
"""How long to wait for the exit code of a bot that has closed the connection."""


def examine(setup: ExaminationSetup, host: BotHost, on_event: OnEvent = lambda event: None) -> Examination:
    """Examine a bot, to the end or until Ctrl-C.

    Raises:
        LaunchError: the bot cannot be started.
        ListenError: the address cannot be listened on.
    """
    examiner = _Examiner(setup, host, on_event)
    examiner.run()
    return examiner.examination


class _Examiner:
    def __init__(self, setup: ExaminationSetup, host: BotHost, on_event: OnEvent) -> None:
        self.examination = Examination(setup)
        self._setup = setup
        self._host = host
        self._on_event = on_event
        self._silences = 0
        self._connections = 0
        self._stopped = ""
        """Why the examination stopped early; empty if it has not."""

    def run(self) -> None:
        examination = self.examination
        try:
            for situations in self._matches():
                self._examine_over_connections(situations)
        except KeyboardInterrupt:
            examination.is_interrupted = True
            self._stopped = "interrupted"
            examination.row.result = SituationState.INTERRUPTED
        for row in examination.rows:
            if any(row.name in finding.situations for finding in examination.findings):
                row.result = SituationState.FAULTS
            elif row.result is SituationState.NOT_TRIED and not row.reason:
                row.reason = self._stopped or "the bot did not get that far"

    def _matches(self) -> list[list[Situation]]:
        shared: list[Situation] = []
        alone: list[list[Situation]] = []
        for row, situation in zip(self.examination.rows, self._setup.situations, strict=True):
            missing = situation.missing_in(self._setup.game)
            if missing:
                row.result, row.reason = SituationState.NOT_IN_GAME, missing
            elif situation.needs_connection:
                alone.append([situation])
            elif situation not in (HANDSHAKE, END_OF_MATCH):
                shared.append(situation)
        # Every connection begins with the handshake; every shared one reaches the end of the match.
        wants_shared = shared or END_OF_MATCH in self._setup.situations or not alone
        return [shared, *alone] if wants_shared else alone

    def _examine_over_connections(self, situations: Sequence[Situation]) -> None:
        left, rows = deque(situations), self.examination.rows
        while not self._stopped:
            if self._connections and not (self._host.can_start or self._setup.comes_again):
                for row in rows:
                    if row.name in [situation.name for situation in left]:
                        row.reason = "another connection is needed, with --reconnect"
                return
            self._connections += 1
            connection = self._host.receive_bot()
            if isinstance(connection, Absence):
                self._find_absence(connection)
                self._stopped = "the bot did not connect"
                return
            try:
                is_done = self._play(connection, list(left))
            finally:
                connection.close()
            if self._connections >= MOST_WITHOUT_ANSWER and not any(row.answers for row in rows):
                self._stopped = self._stopped or f"not one answer in {MOST_WITHOUT_ANSWER} connections is enough"
            while not is_done and left and left.popleft() is not self.examination.situation:
                pass
            if is_done or not left:
                return

    def _play(self, connection: Connection, situations: Sequence[Situation]) -> bool:
        """Play one match; returns whether it was played to its end."""
        dialogue = Dialogue(connection, self._setup, self.examination, self._on_event)
        dialogue.begin(HANDSHAKE)
        try:
            try:
                dialogue.greet()
            except ConversationError:
                self._stopped = "the bot named no version"
                raise
            dialogue.play(situations)
            self._close(connection, dialogue, situations)
        except ConversationError as over:
            self._find_break(over.ending, connection, dialogue)
            return False
        return True

    # ---- the end of a match

    def _close(self, connection: Connection, dialogue: Dialogue, situations: Sequence[Situation]) -> None:
        last = situations[-1] if situations else END_OF_MATCH
        if not last.needs_connection:
            last = END_OF_MATCH
            dialogue.begin(END_OF_MATCH)
        breaks_off = last is not END_OF_MATCH and (last.breaks_off or not last.policies(self._setup.game))
        connection.hang_up()
        if self.examination.has(Kind.LINGERS) and last is not END_OF_MATCH and not breaks_off:
            # Already reported; checking again would cost the whole timeout again.
            return
        has_closed = dialogue.read_to_the_end()
        how = connection.wait_for_exit(self._setup.timeout_s if self._host.can_start else 0.0)
        if how.code is None and (self._host.can_start or not has_closed):
            what = "has not ended, although it has closed as well" if has_closed else "has neither closed nor ended"
            wrong = f"the dealer has closed, but after {self._setup.timeout_s:g} s the bot {what}"
            advice = "Take a read that returns nothing for the end of the match: close, and end the program."
            problem = Problem(Kind.LINGERS, 0, wrong, advice, "the bot ends by itself")
            self.examination.find(problem, output=how.last_lines)
        elif how.code is not None and how.code < 0:
            self._find_crash(how, "after the dealer had closed", None)
        elif how.code:
            when = "when the dealer closed before the end of the match" if breaks_off else "though nothing was wrong"
            wrong = f"the bot ended with exit code {how.code} {when}"
            advice = "End with exit code 0 when the dealer closes: tools take anything else for a failure."
            # The bot may take a match that breaks off for a failure.
            severity = Severity.NOTE if breaks_off else None
            problem = Problem(Kind.EXIT_CODE, 0, wrong, advice, "exit code 0")
            self.examination.find(problem, output=how.last_lines, severity=severity)

    # ---- what ends a conversation early

    def _find_break(self, ending: Ending, connection: Connection, dialogue: Dialogue) -> None:
        if ending is Ending.SILENT:
            self._silences += 1
            if self._silences >= MOST_SILENCES:
                self._stopped = f"{MOST_SILENCES} questions were left unanswered, which is enough"
            return
        asked = dialogue.judge.asked
        about = asked or dialogue.judge.latest
        if ending is Ending.FLOOD:
            wrong = f"more than {MOST_LINES} lines or {MOST_BYTES >> 10} KiB came without an answer among them"
            advice = "Send one reply to each question; print what is meant for you to stderr."
            self.examination.find(Problem(Kind.FLOOD, 0, wrong, advice, "one line for each question"), about=about)
            return
        how = connection.wait_for_exit(_DEATH_NOTICE_S)
        when = "before the first state" if asked is None else "instead of answering"
        if how.code:
            self._find_crash(how, when, about)
            return
        wrong = f"the bot closed the connection{' and ended with exit code 0' if how.code == 0 else ''} {when}"
        advice = "A bot stays until the dealer closes: find out what made it leave at this state."
        problem = Problem(Kind.LEFT, 0, wrong, advice, "the bot answers, and waits for more")
        self.examination.find(problem, about=about, output=how.last_lines)

    def _find_crash(self, how: Exit, when: str, about: SentState | None) -> None:
        wrong = f"the bot {_describe_exit(how.code or 0)} {when}"
        advice = "See what it wrote last, and what is special about the state it was looking at."
        problem = Problem(Kind.CRASHED, 0, wrong, advice, "the bot runs until the dealer closes")
        self.examination.find(problem, about=about, output=how.last_lines)

    def _find_absence(self, absence: Absence) -> None:
        how, kind = absence.exit, Kind.NO_CONNECTION
        expected = "a TCP connection to the host and port that are its last two arguments"
        if absence.strays:
            kind, expected = Kind.NO_VERSION, EXPECTED_VERSION
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
        self.examination.situation = HANDSHAKE
        self.examination.find(Problem(kind, 0, wrong, advice, expected), output=how.last_lines)


def _describe_exit(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"was ended by signal {name}"
