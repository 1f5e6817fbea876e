"""The whole examination: all situations, over as many connections as they need.

Situations that can follow one another share a connection. If the bot drops out, it is started again and continues with
the next situation, so that one fault does not hide others. A client that somebody else starts is examined over one
connection unless it is expected to reconnect. The examination stops early after a few unanswered questions.
"""

from __future__ import annotations

import signal
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from dealer.doctor.dialogue import MOST_BYTES, MOST_LINES, Absence, BotHost, Connection, Dialogue, Ending, Exit, OnLine
from dealer.doctor.judge import Kind, Problem, SentState, Severity
from dealer.doctor.report import (
    DoctorReport,
    Finding,
    Findings,
    Result,
    SituationReport,
    SituationState,
    sentence_of,
)
from dealer.doctor.situations import END_OF_MATCH, HANDSHAKE, ExaminationSetup, Situation
from dealer.errors import ConversationError
from dealer.match.events import StrayConnection
from dealer.table.players import Player
from engine import ActionKind

MOST_SILENCES, MOST_WITHOUT_ANSWER = 3, 3
"""The numbers of unanswered questions, and of connections without a single answer, that end the examination."""

_DEATH_NOTICE_S: Final = 2.0
"""How long to wait for the exit code of a bot that has closed the connection."""


class Examination:
    """One bot being examined.

    Attributes:
        findings: what was found.
        rows: what came of the requested situations, in order.
        slowest_s: time of the slowest answer, in seconds.
        is_interrupted: whether Ctrl-C ended it.
    """

    def __init__(
        self,
        setup: ExaminationSetup,
        host: BotHost,
        *,
        on_situation: Callable[[Situation], None] = lambda situation: None,
        on_line: OnLine | None = None,
    ) -> None:
        self.findings = Findings()
        self.rows = [SituationReport(name=situation.name) for situation in setup.situations]
        self.slowest_s = 0.0
        self.is_interrupted = False
        self._setup = setup
        self._host = host
        self._on_situation = on_situation
        self._on_line = on_line
        self._silences = 0
        self._connections = 0
        self._current: SituationReport | None = None
        self._stopped = ""
        """Why the examination stopped early; empty if it has not."""

    def run(self) -> None:
        """Examine the bot; call it once.

        Raises:
            LaunchError: the bot cannot be started.
            ListenError: the address cannot be listened on.
        """
        try:
            for situations in self._matches():
                self._sit(situations)
        except KeyboardInterrupt:
            self.is_interrupted = True
            self._stopped = "interrupted"
            if self._current is not None:
                self._current.result = SituationState.INTERRUPTED
        for row in self.rows:
            if any(row.name in finding.situations for finding in self.findings):
                row.result = SituationState.FAULTS
            elif row.result is SituationState.NOT_TRIED and not row.reason:
                row.reason = self._stopped or "the bot did not get so far"

    def report(self, *, bot: str, game: str) -> DoctorReport:
        """The report on a finished or interrupted examination of a bot in a game, both by their names."""
        errors = self.findings.count(Severity.ERROR)
        result: Result = "faulty" if errors else "interrupted" if self.is_interrupted else "sound"
        return DoctorReport(
            bot=bot,
            game=game,
            seed=self._setup.seed,
            result=result,
            errors=errors,
            warnings=self.findings.count(Severity.WARNING),
            notes=self.findings.count(Severity.NOTE),
            situations=self.rows,
            findings=list(self.findings),
            hands=sum(row.hands for row in self.rows),
            answers=sum(row.answers for row in self.rows),
            slowest_answer_s=round(self.slowest_s, 6),
            sentence=sentence_of(self.findings, self.rows, game, is_interrupted=self.is_interrupted),
        )

    def _matches(self) -> list[list[Situation]]:
        shared: list[Situation] = []
        alone: list[list[Situation]] = []
        for row, situation in zip(self.rows, self._setup.situations, strict=True):
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

    def _sit(self, situations: Sequence[Situation]) -> None:
        left = deque(situations)
        while not self._stopped:
            if self._connections and not (self._host.can_start or self._setup.comes_again):
                for row in self.rows:
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
                reached = self._play(connection, list(left))
            finally:
                connection.close()
            if self._connections >= MOST_WITHOUT_ANSWER and not any(row.answers for row in self.rows):
                self._stopped = self._stopped or f"not one answer in {MOST_WITHOUT_ANSWER} connections is enough"
            while reached is not None and left and left.popleft() is not reached:
                pass
            if reached is None or not left:
                return

    def _play(self, connection: Connection, situations: Sequence[Situation]) -> Situation | None:
        dialogue = Dialogue(connection, self._setup, self.findings, self._on_line)
        try:
            self._begin(HANDSHAKE)
            try:
                dialogue.greet()
            except ConversationError:
                self._stopped = "the bot named no version"
                raise
            dialogue.play(situations, self._begin)
            self._close(connection, dialogue, situations)
            return None
        except ConversationError as over:
            self._find_break(over.ending, connection, dialogue)
            return dialogue.situation
        finally:
            self.slowest_s = max(self.slowest_s, dialogue.slowest_s)
            for row in self.rows:
                answers = dialogue.answers.get(row.name, Counter())
                row.hands += dialogue.hands[row.name]
                row.folds += answers[ActionKind.FOLD]
                row.calls += answers[ActionKind.CALL]
                row.raises += answers[ActionKind.RAISE]

    def _begin(self, situation: Situation) -> None:
        self._on_situation(situation)
        self._current = next((row for row in self.rows if row.name == situation.name), None)
        if self._current is not None:
            self._current.result = SituationState.OK

    # ---- the end of a match

    def _close(self, connection: Connection, dialogue: Dialogue, situations: Sequence[Situation]) -> None:
        last = situations[-1] if situations else END_OF_MATCH
        if not last.needs_connection:
            last = END_OF_MATCH
            dialogue.begin(END_OF_MATCH)
            self._begin(END_OF_MATCH)
        breaks_off = last is not END_OF_MATCH and (last.breaks_off or not last.plans(self._setup.game))
        connection.hang_up()
        if self.findings.has(Kind.LINGERS) and last is not END_OF_MATCH and not breaks_off:
            # Already reported; checking again would cost the whole timeout again.
            return
        has_closed = dialogue.read_to_the_end()
        how = connection.wait_for_exit(self._setup.timeout_s if self._host.can_start else 0.0)
        if how.code is None and (self._host.can_start or not has_closed):
            what = "has not ended, although it has closed as well" if has_closed else "has neither closed nor ended"
            wrong = f"the dealer has closed, but after {self._setup.timeout_s:g} s the bot {what}"
            advice = "Take a read that returns nothing for the end of the match: close, and end the program."
            problem = Problem(Kind.LINGERS, 0, wrong, "the bot ends by itself", advice)
            dialogue.add(problem, b"", None, how.last_lines)
        elif how.code is not None and how.code < 0:
            self._find_crash(dialogue, how, "after the dealer had closed", None)
        elif how.code:
            when = "when the dealer closed before the end of the match" if breaks_off else "though nothing was wrong"
            wrong = f"the bot ended with exit code {how.code} {when}"
            advice = "End with exit code 0 when the dealer closes: tools take anything else for a failure."
            problem = Problem(Kind.EXIT_CODE, 0, wrong, "exit code 0", advice)
            # The bot may take a match that breaks off for a failure.
            severity = Severity.NOTE if breaks_off else None
            dialogue.add(problem, b"", None, how.last_lines, severity)

    # ---- what ends a conversation early

    def _find_break(self, ending: Ending, connection: Connection, dialogue: Dialogue) -> None:
        if ending is Ending.SILENT:
            self._silences += 1
            if self._silences >= MOST_SILENCES:
                self._stopped = f"{MOST_SILENCES} questions were left unanswered, which is enough"
            return
        about = dialogue.asked or dialogue.latest
        if ending is Ending.FLOOD:
            wrong = f"more than {MOST_LINES} lines or {MOST_BYTES >> 10} KiB came without an answer among them"
            advice = "Send one reply to each question; print what is meant for you to stderr."
            dialogue.add(Problem(Kind.FLOOD, 0, wrong, "one line for each question", advice), b"", about)
            return
        how = connection.wait_for_exit(_DEATH_NOTICE_S)
        when = "instead of answering" if dialogue.asked is not None else "before the first state"
        if how.code:
            self._find_crash(dialogue, how, when, about)
            return
        wrong = f"the bot closed the connection{' and ended with exit code 0' if how.code == 0 else ''} {when}"
        advice = "A bot stays until the dealer closes: find out what made it leave at this state."
        dialogue.add(
            Problem(Kind.LEFT, 0, wrong, "the bot answers, and waits for more", advice), b"", about, how.last_lines
        )

    def _find_crash(self, dialogue: Dialogue, how: Exit, when: str, about: SentState | None) -> None:
        wrong = f"the bot {_describe_exit(how.code or 0)} {when}"
        advice = "See what it wrote last, and what is special about the state it was looking at."
        problem = Problem(Kind.CRASHED, 0, wrong, "the bot runs until the dealer closes", advice)
        dialogue.add(problem, b"", about, how.last_lines)

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
        problem = Problem(kind, 0, wrong, expected, advice)
        self.findings.add(Finding.of(problem, Severity.ERROR, HANDSHAKE.name, output=how.last_lines))


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
        BotHost(player, setup, game_name, Path(folder), address, on_waiting=on_waiting, on_stray=on_stray) as host,
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
