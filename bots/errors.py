"""The errors of the bots package.

    BotsError
    ├── SpecError       a text does not name a bot, or has options that the bot does not take (also a ValueError)
    ├── ConnectError    the dealer cannot be reached
    ├── DealerFailure   the dealer's lines are not states of the game, or the dealer is silent for too long
    ├── GameRefused     a bot does not play this game
    ├── IllegalReply    a bot answered with something the rules refuse
    ├── BotUsageError   the command line of a bot cannot be read
    ├── SolvingError    a game cannot be solved
    ├── UnclearEntry    what a person typed at the table is not a legal action
    ├── StaleEntry      what a person sent from the table was meant for a moment that has passed
    ├── BotFailure      a bot's own code failed, or its answer was illegal, in this process
    ├── EvolutionError  settings with which nothing can evolve (also a ValueError)
    ├── BotFileError    a file that a bot, or its training, keeps cannot be written or read
    ├── PolicyError     a policy cannot be had, has no valid probabilities, or is not that of the hands
    ├── WorkersError    processes or machines that were to compute something cannot
    └── RemoteBotError  a bot that is a separate program can no longer be played with
        ├── BotExited   the program ended, or closed its connection
        └── BotTimeout  the program did not connect, or answer, in time

Each error is one sentence that its reader can act on. What a user's own code raises under `bots.play` and `bots.run` is
none of these: it comes through as it is, with a note that names the state the bot was looking at.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from types import TracebackType
from typing import Final

from engine import Rule, Seat
from engine.errors import PortableError, quoted

_MOST_CHARACTERS: Final = 300
_HOME: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OUR_CODE: Final = (
    os.path.join(_HOME, "bots", ""),
    os.path.join(_HOME, "dealer", ""),
    "<frozen importlib",
    os.path.dirname(importlib.__file__),
)
_NO_BOTS: Final = (os.path.join(_HOME, "bots", "sdk", ""), *_OUR_CODE[1:])
"""Code of this program that belongs to no bot."""


class BotsError(PortableError):
    """The root of this package's errors."""


class SpecError(BotsError, ValueError):
    """A text like ``random?fold=0.1`` does not name a bot, or has options that the bot does not take."""

    def __init__(self, spec: str, problem: str) -> None:
        self.spec = spec
        super().__init__(f"{quoted(spec)}: {problem}")


class BotUsageError(BotsError):
    """The command line of a bot cannot be read."""


class UnclearEntry(BotsError):
    """What a person typed at the table is not a legal action; the sentence has the legal ones."""


class StaleEntry(BotsError):
    """What a person sent from the table was meant for a moment that has passed; nothing was done."""


class ConnectError(BotsError):
    """The dealer cannot be reached."""


class DealerFailure(BotsError):
    """The dealer broke the protocol, or deals a game other than the one assumed."""


class GameRefused(BotsError):
    """A bot does not play this game; the sentence has those that it plays."""


class IllegalReply(BotsError):
    """A bot's answer is not a legal action.

    Attributes:
        rule: the rule that refuses it; None for an answer that is not an action, or has no text.
        state: the match state it was given to, as text.
    """

    def __init__(self, answer: str, problem: str, *, rule: Rule | None, hand_number: int, state: str) -> None:
        self.rule = rule
        self.hand_number = hand_number
        self.state = state
        by_rule = f" (rule {rule.name})" if rule is not None else ""
        super().__init__(f"the bot answered {answer} in hand {hand_number}: {problem}{by_rule}; the state was {state}")


class SolvingError(BotsError):
    """A game cannot be solved: solvers do not take its kind, it is too large, or the solver ends without a solution."""


class BotFailure(BotsError):
    """A bot's part is over: its own code failed, or its answer is illegal. One sentence on one line.

    What failed is the exception's cause.

    Attributes:
        seat: the bot's seat; in `bots.self_play`, its index among the bots.
        hand_number: the hand it was playing; None before the first and after the end of the match.
        state: the match state it was looking at, as text; empty where there was none.
        traceback: where its own code failed, as Python prints it; empty for an illegal answer.
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
    """Settings, sizes or figures with which nothing can evolve; the sentence has the valid ones."""


class BotFileError(BotsError):
    """A file that a bot, or its training, keeps cannot be written or read."""

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        super().__init__(f"{path}: {problem}")


class PolicyError(BotsError):
    """A policy cannot be had, has no valid probabilities, or is not that of the hands."""


class WorkersError(BotsError):
    """Processes or machines that were to compute something cannot; `where` names them, if it is known."""

    def __init__(self, problem: str, where: str = "") -> None:
        super().__init__(problem, where)
        self.problem = problem
        self.where = where

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}" if self.where else self.problem


class RemoteBotError(BotsError):
    """A bot that is a separate program can no longer be played with."""

    def __init__(self, problem: str, command: Sequence[str], last_lines: Sequence[str]) -> None:
        self.command = tuple(command)
        self.last_lines = tuple(last_lines)
        wrote = ""
        if self.last_lines:
            wrote = f"; the last it wrote: {self.last_lines[-1]}"
        super().__init__(f"{self.command[0]}: {problem}{wrote}")


class BotExited(RemoteBotError):
    """The program has ended, or closed its connection.

    Attributes:
        exit_code: its exit code; a negative number is the signal that ended it; None if it still runs.
    """

    def __init__(self, exit_code: int | None, command: Sequence[str], last_lines: Sequence[str]) -> None:
        self.exit_code = exit_code
        if exit_code is None:
            problem = "it closed the connection"
        else:
            problem = f"it ended with exit code {exit_code}"
        super().__init__(problem, command, last_lines)


class BotTimeout(RemoteBotError):
    """The program did not connect, or answer, in time."""

    def __init__(self, what: str, timeout_s: float, command: Sequence[str], last_lines: Sequence[str]) -> None:
        self.timeout_s = timeout_s
        super().__init__(f"it did not {what} within {timeout_s:g} s", command, last_lines)


class BotInterrupt(BaseException):
    """Raised in the code of a bot to interrupt it; never a failure of the bot."""


def is_interrupt(error: BaseException) -> bool:
    """Return whether code of a bot was interrupted from outside, and has not failed by itself."""
    if isinstance(error, BotInterrupt):
        return True
    frames = error.__traceback__
    if not isinstance(error, KeyboardInterrupt) or frames is None:
        return False
    while frames.tb_next is not None:
        frames = frames.tb_next
    # Ctrl-C arrives between two instructions, or in the handler of an event loop. A bot's own has a `raise`.
    import opcode

    is_raised = opcode.opname[frames.tb_frame.f_code.co_code[frames.tb_lasti]] == "RAISE_VARARGS"
    return not is_raised or frames.tb_frame.f_globals.get("__name__") == "asyncio.runners"


def own_frames(error: BaseException) -> TracebackType | None:
    """Frames of an exception from a bot's own code on, without those of this program and of the import system."""
    frames = error.__traceback__
    while (
        frames is not None and frames.tb_next is not None and frames.tb_frame.f_code.co_filename.startswith(_OUR_CODE)
    ):
        frames = frames.tb_next
    return frames


def line_in_code(error: BaseException) -> str:
    """File and line where a bot's own code failed, as ``bot.py, line 7``; empty where there is none.

    Where that code called a library, the line is that of the call.
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
        here = os.path.join(os.getcwd(), "")
    except OSError:
        here = ""
    return f"{path.removeprefix(here)}, line {line}"


def in_one_line(error: BaseException) -> str:
    """Any exception as its type and its text, on one line of bounded length."""
    try:
        said = " ".join(str(error).split())
    except Exception:
        said = "it has no readable text"
    if len(said) > _MOST_CHARACTERS:
        said = said[:_MOST_CHARACTERS] + "..."
    name = type(error).__name__
    return f"{name}: {said}" if said else name


def located(error: BaseException) -> str:
    """An exception of a bot's own code on one line, after the file and line where it was raised."""
    line = line_in_code(error)
    return f"{line}: {in_one_line(error)}" if line else in_one_line(error)
