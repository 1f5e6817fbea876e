"""Examine a bot in all situations, over as many connections as they need.

Situations that can follow one another share a connection. If the bot leaves, it is started again and continues with the
next situation, so that one fault does not hide others. A client that connects by itself is examined over one connection
unless it is expected to reconnect. The examination stops early after a few unanswered questions.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from bots.sdk.program import write_game
from dealer.doctor.dialogue import MAX_LINES_PER_QUESTION, Dialogue, OnEvent
from dealer.doctor.findings import Examination, SituationState
from dealer.doctor.judge import EXPECTED_VERSION, Kind, Problem, Severity
from dealer.doctor.situations import END_OF_MATCH, HANDSHAKE, Situation
from dealer.match import FaultKind, Phase, PlayerCause
from dealer.match.causes import NotStarted, StartProblem
from dealer.match.ending_sentences import exit_phrase, stray_sentence
from dealer.table.connections import Connections
from dealer.table.launcher import BotProcess, sdk_cure
from dealer.table.listener import Listener
from dealer.table.loop import notify_from_thread
from dealer.table.players import Player

MAX_SILENCES: Final = 3
"""Number of unanswered questions that end the examination."""
MAX_WITHOUT_ANSWER: Final = 3
"""Number of connections without a single answer that end the examination."""
_BEGINNING: Final = b"VERSION"
_CONNECT_ADVICE: Final = "Start the client with the host and port of the doctor, while the doctor waits."
_START_ADVICE: Final = (
    "Look at its output. To start it the same way, add host and port to its command, give it no standard input, and "
    "set ARENA_GAME and PYTHONUNBUFFERED=1 in its environment."
)

Exit: TypeAlias = tuple[int | None, tuple[str, ...]]
"""Exit code and last lines of a bot. The code is negative for a signal, and None if the bot runs or is remote."""


Play: TypeAlias = Callable[[Dialogue], Awaitable[Exit]]
"""Connects the bot, plays the match, closes the connection and waits until the bot exits."""


class ExaminedBot:
    """Starts a bot, or waits for a client that connects by itself. Call `close` at the end."""

    def __init__(self, player: Player, examination: Examination, game_name: str, on_event: OnEvent) -> None:
        self._player = player
        self._examination = examination
        self._on_event = on_event
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._game_file = write_game(Path(self._folder.name) / "match.game", examination.game, game_name)
        self._listener: Listener | None = None

    def close(self) -> None:
        """Stop waiting for clients."""
        if self._listener is not None:
            self._listener.close()
        self._folder.cleanup()

    async def play(self, match: Dialogue) -> Exit:
        """Play a match with the bot.

        Raises:
            LaunchError: the bot cannot be started.
            ListenError: the address is unavailable.
        """
        bot = match.bot
        settings = self._examination.settings
        listeners = {}
        process = None
        if self._examination.is_remote:
            self._listener = self._listener or Listener(
                settings.host, settings.port, bot, is_version=_is_version, is_unfinished=_is_unfinished
            )
            listeners[bot] = self._listener
        # Without a listener, the connections open one for each bot that we start, which a second connection of the
        # previous bot cannot reach.
        connections = Connections(match, listeners=listeners)
        connections.on_stray = lambda stray: self._on_event(stray_sentence(stray, self._player.name))
        match.call_later = partial(_call_later, connections)
        try:
            port = connections.listen()[bot]
            host = connections.hosts[0]
            if not self._examination.is_remote:
                process = BotProcess(
                    self._player,
                    host=host,
                    port=port,
                    game=self._game_file,
                    seed=settings.seed,
                    output_path=Path(self._folder.name) / "bot.out",
                    on_exit=partial(notify_from_thread, asyncio.get_running_loop(), connections.changes),
                )
            else:
                limit_s = self._examination.start_timeout_s
                left = "no time limit"
                if limit_s is not None:
                    left = f"{limit_s:g} s left"
                self._on_event(f"waiting for the bot at {host}:{port}, {left}")
            playing = asyncio.create_task(connections.run())

            def has_ended() -> bool:
                return process is not None and process.exit_code is not None

            await connections.changes.wait_for(
                lambda: match.is_done or connections.is_over or (has_ended() and match.phase is Phase.CONNECTING)
            )
            if match.phase is Phase.CONNECTING:
                match.miss(connections.start_cause(bot, StartProblem.ENDED))
            if match.is_done:
                match.begin_end()
                connections.hang_up(bot)
            await connections.changes.wait_for(
                lambda: (connections.is_over or match.has_closed) and (process is None or has_ended()),
                match.exit_timeout_s,
            )
            playing.cancel()
            if process is None:
                return None, ()
            last_lines = tuple(process.last_lines())
            self._examination.start_cure = sdk_cure(self._player, last_lines)
            return process.exit_code, last_lines
        finally:
            connections.close()
            if process is not None:
                process.stop()


def _is_version(line: bytes) -> bool:
    return line[: len(_BEGINNING)].upper() == _BEGINNING


def _is_unfinished(received: bytes) -> bool:
    return len(received) < len(_BEGINNING) and _BEGINNING.startswith(received.upper())


def _call_later(connections: Connections, delay_s: float, step: Callable[[], None]) -> None:
    def act() -> None:
        try:
            step()
            connections.after_step()
        except Exception as error:
            connections.fail_internally(error)

    asyncio.get_running_loop().call_later(delay_s, act)


async def examine(examination: Examination, play: Play, on_event: OnEvent = lambda event: None) -> None:
    """Examine a bot until all situations are tried or the task is cancelled.

    Raises:
        LaunchError: the bot cannot be started.
        ListenError: the address is unavailable.
    """
    rows = examination.rows
    try:
        stopped = await _play_all(examination, play, on_event)
    except asyncio.CancelledError:
        examination.is_interrupted = True
        stopped = "interrupted"
        examination.row.result = SituationState.INTERRUPTED
    for row in rows:
        has_fault = any(
            row.name in finding.situations and finding.severity is not Severity.NOTE for finding in examination.findings
        )
        if has_fault:
            row.result = SituationState.FAULTS
        elif row.result is SituationState.NOT_TRIED and not row.reason:
            row.reason = stopped or "the bot disconnected earlier"


async def _play_all(examination: Examination, play: Play, on_event: OnEvent) -> str:
    """Play all matches; return why the examination stopped early, or an empty text."""
    rows = examination.rows
    matches = deque(_matches(examination))
    connections = 0
    silences = 0
    while matches:
        situations = matches.popleft()
        if connections and examination.is_remote and not examination.settings.reconnect:
            names = [situation.name for situation in situations]
            for row in rows:
                if row.name in names:
                    row.reason = "it needs another connection; use --reconnect"
            continue
        connections += 1
        match = Dialogue(examination, situations, on_event)
        ended = await play(match)
        if stopped := _conclude(examination, match, ended):
            return stopped
        if isinstance(match.failure, PlayerCause) and match.failure.kind is FaultKind.TIMEOUT:
            silences += 1
        if silences >= MAX_SILENCES:
            return f"the bot left {MAX_SILENCES} questions unanswered"
        if connections >= MAX_WITHOUT_ANSWER and not any(row.answers for row in rows):
            return f"the bot gave no answer in {MAX_WITHOUT_ANSWER} connections"
        # After the last situation of a match, there is none to continue with.
        if match.failure is not None and examination.situation in situations[:-1]:
            matches.appendleft(situations[situations.index(examination.situation) + 1 :])
    return ""


def _matches(examination: Examination) -> list[list[Situation]]:
    """Return the situations of each match."""
    selected = examination.settings.selected
    shared: list[Situation] = []
    alone: list[list[Situation]] = []
    for row, situation in zip(examination.rows, selected, strict=True):
        if missing := situation.missing_in(examination.game):
            row.result = SituationState.NOT_IN_GAME
            row.reason = missing
        elif situation.needs_connection:
            alone.append([situation])
        elif situation not in (HANDSHAKE, END_OF_MATCH):
            shared.append(situation)
    # Every connection begins with the handshake, and every shared one reaches the end of the match.
    if alone and not shared and END_OF_MATCH not in selected:
        return alone
    return [shared, *alone]


# ---- end of a match


def _conclude(examination: Examination, match: Dialogue, ended: Exit) -> str:
    """Record the end of a match; return why the examination stops, or an empty text."""
    cause = match.failure
    asked = match.judge.asked
    code, output = ended
    about = asked or match.judge.latest
    problem = None
    severity = None
    stopped = ""
    if isinstance(cause, NotStarted):
        stopped = "the bot did not connect"
        if match.has_come:
            stopped = "the bot sent no version"
    if cause is None:
        about = None
        if match.judges_end:
            problem = _judge_end(examination, match, code)
            if code and code > 0 and match.breaks_off:
                # The bot may treat the end of the match as a failure.
                severity = Severity.NOTE
    elif isinstance(cause, NotStarted) and not match.has_come:
        examination.situation = HANDSHAKE
        problem = _absence(examination, cause, code)
    elif not isinstance(cause, PlayerCause):
        raise RuntimeError(f"the match failed because of a bug in the doctor: {cause}")
    elif cause.kind is FaultKind.TIMEOUT:
        match.find_silence()
    elif cause.kind is FaultKind.FLOOD:
        wrong = f"the bot sent more than {MAX_LINES_PER_QUESTION} lines without an answer among them"
        problem = Problem(Kind.FLOOD, 0, wrong, "one line for each question")
        output = ()
    else:
        when = "instead of answering"
        if asked is None:
            when = "before the first state"
        problem = _departure(code, when)
    if problem is not None:
        examination.find(problem, about=about, output=output, severity=severity)
    return stopped


def _departure(code: int | None, when: str) -> Problem:
    """Return the problem of a bot that left during the match."""
    if code:
        wrong = f"the bot ended with {exit_phrase(code)} {when}"
        return Problem(Kind.CRASHED, 0, wrong, "the bot runs until the dealer closes the connection")
    wrong = f"the bot closed the connection {when}"
    if code == 0:
        wrong = f"the bot closed the connection and exited with code 0 {when}"
    return Problem(Kind.LEFT, 0, wrong, "the bot answers and waits for the next state")


def _judge_end(examination: Examination, match: Dialogue, code: int | None) -> Problem | None:
    """Return the problem with the exit of a bot after the dealer has closed the connection, if any."""
    if code is None and not (examination.is_remote and match.has_closed):
        what = "has neither closed the connection nor exited"
        if match.has_closed:
            what = "has closed the connection too, but not exited"
        wrong = f"{examination.settings.timeout_s:g} s after the dealer closed the connection, the bot {what}"
        return Problem(Kind.LINGERS, 0, wrong, "the bot exits by itself")
    if code is not None and code < 0:
        wrong = f"the bot ended with {exit_phrase(code)} after the dealer had closed the connection"
        return Problem(Kind.EXIT_CODE, 0, wrong, "exit code 0")
    if not code:
        return None
    when = "after a complete match"
    if match.breaks_off:
        when = "when the dealer closed the connection before the end of the match"
    return Problem(Kind.EXIT_CODE, 0, f"the bot exited with code {code} {when}", "exit code 0")


def _absence(examination: Examination, cause: NotStarted, code: int | None) -> Problem:
    limit = f"{examination.start_timeout_s or 0:g} s"
    if examination.is_remote:
        expected = "a TCP connection to the host and port of the doctor"
        advice = _CONNECT_ADVICE
    else:
        expected = "a TCP connection to the host and port in its last two arguments"
        advice = _START_ADVICE
    kind = Kind.NO_CONNECTION
    if cause.problem is StartProblem.ENDED:
        wrong = f"the bot ended with {exit_phrase(code or 0)} without connecting"
    elif cause.problem is StartProblem.NOT_CONNECTED:
        wrong = f"the bot did not connect within {limit}"
    else:
        kind = Kind.NO_VERSION
        expected = EXPECTED_VERSION
        wrong = f"no client sent a version line within {limit}"
    return Problem(kind, 0, wrong, expected, examination.start_cure or advice)
