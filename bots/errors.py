"""Exceptions of the bots package.

    BotsError
    ├── SpecError       a bot specification names no bot or has invalid options (also a ValueError)
    ├── ConnectError    the dealer cannot be reached
    ├── DealerFailure   the dealer broke the protocol, deals another game, or is silent for too long
    ├── GameRefused     a bot does not play this game
    ├── IllegalReply    a bot's reply is not a legal action
    ├── BotUsageError   the command line of a bot is invalid
    ├── SolvingError    a game cannot be solved
    ├── UnclearEntry    a person's entry at the table is not a legal action
    ├── StaleEntry      a person's entry at the table belongs to an earlier decision
    ├── BotFailure      a bot in this process raised an exception or replied illegally
    ├── EvolutionError  the settings of an evolution are invalid (also a ValueError)
    ├── BotFileError    a file of a bot or of its training cannot be written or read
    ├── ModelError      a language model refuses requests or does not answer in time
    ├── PolicyError     a policy is unavailable, invalid, or does not match the hands
    ├── WorkersError    worker processes or machines are unavailable
    └── RemoteBotError  a bot in a separate program is lost
        ├── BotExited   the program exited or closed its connection
        └── BotTimeout  the program did not connect or reply in time

Exceptions of a user's own code pass through `bots.play` and `bots.run` unchanged, with a note that names the match
state.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from types import TracebackType
from typing import Final

from engine import Rule, Seat
from engine.errors import PortableError, quoted

_MAX_CHARACTERS: Final = 300
_HOME: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OUR_CODE: Final = (
    os.path.join(_HOME, "bots", ""),
    os.path.join(_HOME, "dealer", ""),
    "<frozen importlib",
    os.path.dirname(importlib.__file__),
)
_NO_BOTS: Final = (os.path.join(_HOME, "bots", "sdk", ""), *_OUR_CODE[1:])
"""Path prefixes of code that belongs to no bot."""


class BotsError(PortableError):
    """Base class of this package's errors."""


class SpecError(BotsError, ValueError):
    """A specification such as ``random?fold=0.1`` names no bot or has invalid options."""

    def __init__(self, spec: str, problem: str) -> None:
        self.spec = spec
        super().__init__(f"{quoted(spec)}: {problem}")


class BotUsageError(BotsError):
    """The command line of a bot is invalid."""


class UnclearEntry(BotsError):
    """A person's entry at the table is not a legal action. The message lists the legal ones."""


class StaleEntry(BotsError):
    """A person's entry at the table belongs to an earlier decision and was ignored."""


class ConnectError(BotsError):
    """The dealer cannot be reached."""


class DealerFailure(BotsError):
    """The dealer broke the protocol, deals another game than assumed, or is silent for too long."""


class GameRefused(BotsError):
    """A bot does not play this game. The message lists the games that it plays."""


class IllegalReply(BotsError):
    """A bot's reply is not a legal action.

    Attributes:
        rule: the rule that refuses it; None for a reply that is not an action or has no text.
        state: the match state of the question, as text.
    """

    def __init__(self, answer: str, problem: str, *, rule: Rule | None, hand_number: int, state: str) -> None:
        self.rule = rule
        self.hand_number = hand_number
        self.state = state
        by_rule = f" (rule {rule.name})" if rule is not None else ""
        super().__init__(f"the bot answered {answer} in hand {hand_number}: {problem}{by_rule}; the state was {state}")


class SolvingError(BotsError):
    """A game cannot be solved, because its kind is unsupported, it is too large, or the solver found no solution."""


class BotFailure(BotsError):
    """A bot in this process raised an exception, which is the cause of this one, or replied illegally.

    Attributes:
        seat: the bot's seat; in `bots.self_play`, its index among the bots.
        hand_number: the current hand; None before the first hand and after the end of the match.
        state: the current match state as text; empty without one.
        traceback: the traceback within the bot's own code, as Python prints it; empty for an illegal reply.
    """

    def __init__(
        self, sentence: str, seat: Seat, hand_number: int | None, state: str, traceback_text: str = ""
    ) -> None:
        super().__init__(sentence)
        self.seat = seat
        self.hand_number = hand_number
        self.state = state
        self.traceback = traceback_text


class EvolutionError(BotsError, ValueError):
    """The settings of an evolution are invalid. The message states the valid ones."""


class BotFileError(BotsError):
    """A file of a bot or of its training cannot be written or read."""

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        super().__init__(f"{path}: {problem}")


class ModelError(BotsError):
    """A language model refuses requests or does not answer in time. The message never contains the key."""


class PolicyError(BotsError):
    """A policy is unavailable, has invalid probabilities, or does not match the hands."""


class WorkersError(BotsError):
    """Worker processes or machines are unavailable.

    Attributes:
        where: name of the workers; empty if unknown.
    """

    def __init__(self, problem: str, where: str = "") -> None:
        super().__init__(problem, where)
        self.problem = problem
        self.where = where

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}" if self.where else self.problem


class RemoteBotError(BotsError):
    """A bot in a separate program is lost.

    Attributes:
        command: command line of the program.
        last_lines: end of its output.
    """

    def __init__(self, problem: str, command: Sequence[str], last_lines: Sequence[str]) -> None:
        self.command = tuple(command)
        self.last_lines = tuple(last_lines)
        output = ""
        if self.last_lines:
            output = f"; its last output was: {self.last_lines[-1]}"
        super().__init__(f"{self.command[0]}: {problem}{output}")


class BotExited(RemoteBotError):
    """The program exited or closed its connection.

    Attributes:
        exit_code: exit code of the program, negative for a signal; None if it still runs.
    """

    def __init__(self, exit_code: int | None, command: Sequence[str], last_lines: Sequence[str]) -> None:
        self.exit_code = exit_code
        if exit_code is None:
            problem = "it closed the connection"
        else:
            problem = f"it ended with exit code {exit_code}"
        super().__init__(problem, command, last_lines)


class BotTimeout(RemoteBotError):
    """The program did not connect or reply in time."""

    def __init__(self, what: str, timeout_s: float, command: Sequence[str], last_lines: Sequence[str]) -> None:
        self.timeout_s = timeout_s
        super().__init__(f"it did not {what} within {timeout_s:g} s", command, last_lines)


class BotInterrupt(BaseException):
    """Raised in a bot's code to interrupt it. It is never a failure of the bot."""


def is_interrupt(error: BaseException) -> bool:
    """Return whether an exception from a bot's code was caused from outside, by Ctrl-C or `BotInterrupt`."""
    if isinstance(error, BotInterrupt):
        return True
    frames = error.__traceback__
    if not isinstance(error, KeyboardInterrupt) or frames is None:
        return False
    while frames.tb_next is not None:
        frames = frames.tb_next
    # Ctrl-C arrives between two instructions, or in the handler of an event loop. A KeyboardInterrupt that a bot raises
    # itself comes from a `raise` statement.
    import opcode

    is_raised = opcode.opname[frames.tb_frame.f_code.co_code[frames.tb_lasti]] == "RAISE_VARARGS"
    return not is_raised or frames.tb_frame.f_globals.get("__name__") == "asyncio.runners"


def own_frames(error: BaseException) -> TracebackType | None:
    """Return the frames of an exception without the leading ones of this program and of the import system."""
    frames = error.__traceback__
    while (
        frames is not None and frames.tb_next is not None and frames.tb_frame.f_code.co_filename.startswith(_OUR_CODE)
    ):
        frames = frames.tb_next
    return frames


def line_in_code(error: BaseException) -> str:
    """Return file and line where a bot's own code failed, as in ``bot.py, line 7``, or an empty text.

    If a library raised the exception, the line is the bot's call of the library.
    """
    frames = own_frames(error)
    if frames is None:
        return ""
    path = frames.tb_frame.f_code.co_filename
    line = frames.tb_lineno
    folder = os.path.dirname(path)
    while frames is not None:
        if os.path.dirname(frames.tb_frame.f_code.co_filename) == folder:
            path = frames.tb_frame.f_code.co_filename
            line = frames.tb_lineno
        frames = frames.tb_next
    if path.startswith(_NO_BOTS):
        return ""
    try:
        working_folder = os.path.join(os.getcwd(), "")
    except OSError:
        working_folder = ""
    return f"{path.removeprefix(working_folder)}, line {line}"


def in_one_line(error: BaseException) -> str:
    """Format the type and the text of an exception on one line of bounded length."""
    try:
        message = " ".join(str(error).split())
    except Exception:
        # A bot's own exception class can fail to format itself.
        message = "it has no readable text"
    if len(message) > _MAX_CHARACTERS:
        message = message[:_MAX_CHARACTERS] + "..."
    name = type(error).__name__
    return f"{name}: {message}" if message else name


def located(error: BaseException) -> str:
    """Format an exception of a bot's own code on one line, preceded by its file and line."""
    line = line_in_code(error)
    return f"{line}: {in_one_line(error)}" if line else in_one_line(error)
