"""The errors of the logs package, and the reports of problems in a file.

    LogsError
    ├── LogError               a file cannot be read as what it should be: not a log, an unknown game, not TOML
    │   ├── DamagedLogError    strict reading met a problem; `found` is that `LogProblem`
    │   ├── NotALogError       a file was taken for an ACPC log, and nothing in it belongs in one
    │   └── UnknownGameError   no line names the game that an ACPC log holds: it must be given
    ├── UncleanLogError        something is unusual in a log: its hands are to be counted one by one
    ├── LeaksRefused           leaks cannot be determined from these hands
    ├── NoSuchHandError        a match has no hand of a number
    ├── HandError              one hand of a file cannot be read; readers report it and continue
    ├── UnsupportedGameError   a format does not have a game
    ├── ExportError            a file that would be written exists already
    └── StopRuleError          a text or a number is not a stop rule

A `LogProblem` is not an error: reading continues, and the caller learns where the problem is, what is wrong there and
what was done about it. Readers raise and report through a `ProblemReporter`.

All of these travel between processes. None of their sentences names an option of the command line: the command adds it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import PortableError


class LogsError(PortableError):
    """The root of this package's errors."""


class LeaksRefused(LogsError):
    """Hands that leaks cannot be determined from."""


class UncleanLogError(LogsError):
    """A log in which something is unusual: its hands are to be counted one by one."""


class ProblemKind(enum.Enum):
    """What was done about a problem; the value is the end of its sentence."""

    SKIPPED = "skipped"
    """The line or hand is left out: it cannot be trusted."""
    HALF_WRITTEN = "left out, as is normal when a match was stopped while writing"
    """The last line of an ACPC log lacks its end."""
    UNFINISHED = "left out: the file ends before the hand does"
    """The last hand of a hand history lacks its end."""
    CUT = "the rest of the file is left out"
    """The file cannot be read on from there."""
    COUNTED_ONCE = "each counts once"
    """Hands that were read before. Nothing is damaged, so strict reading continues."""
    LEFT_OUT = "left out"
    """Files in a folder that hold no hands. Nothing is damaged, so strict reading continues."""
    UNCHECKED = "read unchecked"
    """Something that cannot be verified. It may be in order, so strict reading continues."""
    NOTED = "read all the same"
    """Nothing is left out, but something is not as it should be."""


@dataclass(frozen=True, slots=True)
class LogProblem:
    """Something in a file that is not as it should be.

    Attributes:
        path: the file, as it was given; ``<lines>`` for lines without a file.
        line_number: 1-based; None for a problem of the whole file.
        column: 1-based index of the first wrong character in the line; None where it is unknown.
        problem: what is wrong, as a sentence without its stop.
    """

    path: str
    line_number: int | None
    column: int | None
    problem: str
    kind: ProblemKind

    def __str__(self) -> str:
        return f"{self.place}: {self.problem} ({self.kind.value})"

    @property
    def is_damage(self) -> bool:
        """Whether strict reading stops at it; it accepts the missing end of a file."""
        return self.kind not in (
            ProblemKind.HALF_WRITTEN,
            ProblemKind.UNFINISHED,
            ProblemKind.COUNTED_ONCE,
            ProblemKind.LEFT_OUT,
            ProblemKind.UNCHECKED,
        )

    @property
    def place(self) -> str:
        """Where it is: ``match.log, line 7, byte 12``."""
        if self.line_number is None:
            return self.path
        return f"{self.path}, line {self.line_number}" + ("" if self.column is None else f", byte {self.column}")


class LogError(LogsError, ValueError):
    """A file cannot be read as what it should be. `problem`: what is wrong, as a sentence without its stop."""

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(path, problem)

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class UnknownGameError(LogError):
    """No line names the game that an ACPC log holds: it can be read if the game is given."""


class NotALogError(LogError):
    """A file was taken for an ACPC log, and nothing in it belongs in one."""


class DamagedLogError(LogError):
    """Strict reading met a problem."""

    def __init__(self, found: LogProblem) -> None:
        self.found = found
        super().__init__(found.path, found.problem)
        self.args = (found,)

    def __str__(self) -> str:
        return f"{self.found.place}: {self.problem}"


@dataclass(frozen=True, slots=True)
class ProblemReporter:
    """Reports the problems of one file as they are met.

    Attributes:
        path: the file, as it was given; ``<lines>`` for lines without a file.
        strict: whether the first problem ends the reading, except for a half-written end.
    """

    path: str
    strict: bool = False
    on_problem: Callable[[LogProblem], None] | None = None

    def report(self, line_number: int, column: int | None, problem: str, kind: ProblemKind) -> None:
        """Report a problem; see `LogProblem` for the arguments.

        Raises:
            DamagedLogError: reading is strict, and this is not the half-written end of a file.
        """
        self.pass_on(LogProblem(self.path, line_number, column, problem, kind))

    def pass_on(self, problem: LogProblem) -> None:
        """Report a problem that may be another file's; see `report`."""
        if self.on_problem is not None:
            self.on_problem(problem)
        if self.strict and problem.is_damage:
            raise DamagedLogError(problem)


class NoSuchHandError(LogsError, LookupError):
    """A match has no hand of a number."""

    def __init__(self, match_name: str, number: int) -> None:
        self.match_name = match_name
        self.number = number
        super().__init__(match_name, number)

    def __str__(self) -> str:
        return f"{self.match_name} has no hand {self.number}"


class HandError(LogsError, ValueError):
    """One hand of a file cannot be read.

    Attributes:
        problem: what is wrong, as a sentence without its stop.
        line: which line of the hand is the reason, 0-based.
        column: 1-based index of the first wrong character in the line; None where it is unknown.
    """

    def __init__(self, problem: str, line: int = 0, column: int | None = None) -> None:
        self.problem = problem
        self.line = line
        self.column = column
        super().__init__(problem, line, column)

    def __str__(self) -> str:
        return self.problem


class UnsupportedGameError(LogsError, ValueError):
    """A format does not have a game.

    Attributes:
        problem: what the game has that the format has not, as a sentence without its stop.
    """

    def __init__(self, format_name: str, problem: str) -> None:
        self.format_name = format_name
        self.problem = problem
        super().__init__(format_name, problem)

    def __str__(self) -> str:
        return self.problem


class ExportError(LogsError):
    """A file that would be written exists already."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(path)

    def __str__(self) -> str:
        return f"{self.path} exists already"


class StopRuleError(LogsError, ValueError):
    """A text that is not a stop rule (see `logs.estimation.stopping`): the message lists what is accepted."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"{problem}; a stop rule is a number of deals (10000), ci=WIDTH in mbb/g (ci=20) "
            "or better:LOW,HIGH[,ALPHA[,BETA]] in mbb/g (better:0,30)"
        )
