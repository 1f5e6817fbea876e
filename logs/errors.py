"""Errors of the logs package, and problems in files.

    LogsError
    ├── LogError               a file cannot be read: not a log, an unknown game, not TOML
    │   ├── DamagedLogError    strict reading met a problem
    │   ├── NotALogError       nothing in a file belongs in an ACPC log
    │   └── UnknownGameError   an ACPC log does not name its game, which must be given
    ├── UncleanLogError        a log must be read hand by hand, since something in it is unusual
    ├── LeaksRefused           leaks cannot be determined from these hands
    ├── NoSuchHandError        a match has no hand of a number
    ├── HandError              a hand of a file cannot be read; readers report it and continue
    ├── UnsupportedGameError   a format does not have a game
    ├── ExportError            a file that would be written exists already
    └── StopRuleError          a text or a number is not a stop rule

A `LogProblem` is not an error. Reading continues, and the caller gets its place, its description and the consequence.
Readers raise and report through a `ProblemReporter`. All errors can be pickled. No message names an option of the
command line, which the commands add.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import PortableError


class LogsError(PortableError):
    """Root of the errors of this package."""


class LeaksRefused(LogsError):
    """Leaks cannot be determined from these hands."""


class UncleanLogError(LogsError):
    """A log must be read hand by hand, since something in it is unusual."""


class ProblemKind(enum.Enum):
    """Consequence of a problem; the value is the end of its message."""

    SKIPPED = "skipped"
    """The line or hand is left out, as it cannot be trusted."""
    HALF_WRITTEN = "left out, as is normal when a match was stopped while writing"
    """The last line of an ACPC log lacks its end."""
    UNFINISHED = "left out, because the file ends within the hand"
    """The last hand of a hand history lacks its end."""
    CUT = "the rest of the file is left out"
    """The file cannot be read beyond this place."""
    COUNTED_ONCE = "each counts once"
    """Hands were read before. Nothing is damaged, so strict reading continues."""
    LEFT_OUT = "left out"
    """Files in a folder have no hands. Nothing is damaged, so strict reading continues."""
    UNCHECKED = "read unchecked"
    """Something cannot be verified. It may be in order, so strict reading continues."""
    NOTED = "read all the same"
    """Something is wrong, but nothing is left out."""


@dataclass(frozen=True, slots=True)
class LogProblem:
    """A problem in a file.

    Attributes:
        path: file as named by the caller; ``<lines>`` for lines without a file.
        line_number: 1-based; None for a problem of the whole file.
        column: 1-based index of the first wrong character in the line; None if unknown.
        problem: description, as a sentence without a full stop.
        kind: consequence.
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
        # Strict reading accepts the missing end of a file.
        return self.kind not in (
            ProblemKind.HALF_WRITTEN,
            ProblemKind.UNFINISHED,
            ProblemKind.COUNTED_ONCE,
            ProblemKind.LEFT_OUT,
            ProblemKind.UNCHECKED,
        )

    @property
    def place(self) -> str:
        """File, line and byte, as in ``match.log, line 7, byte 12``."""
        place = self.path
        if self.line_number is not None:
            place += f", line {self.line_number}"
            if self.column is not None:
                place += f", byte {self.column}"
        return place


class LogError(LogsError, ValueError):
    """A file cannot be read.

    Attributes:
        problem: description, as a sentence without a full stop.
    """

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(path, problem)

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class UnknownGameError(LogError):
    """An ACPC log does not name its game; it can be read if the game is given."""


class NotALogError(LogError):
    """Nothing in a file belongs in an ACPC log."""


class DamagedLogError(LogError):
    """Strict reading met a problem."""

    def __init__(self, log_problem: LogProblem) -> None:
        self.log_problem = log_problem
        super().__init__(log_problem.path, log_problem.problem)
        self.args = (log_problem,)

    def __str__(self) -> str:
        return f"{self.log_problem.place}: {self.problem}"


@dataclass(frozen=True, slots=True)
class ProblemReporter:
    """Report the problems of one file.

    Attributes:
        path: file as named by the caller; ``<lines>`` for lines without a file.
        strict: whether the first problem ends the reading, except for a half-written end.
    """

    path: str
    strict: bool = False
    on_problem: Callable[[LogProblem], None] | None = None

    def report(self, line_number: int, column: int | None, problem: str, kind: ProblemKind) -> None:
        """Report a problem of the file; see `LogProblem` for the arguments.

        Raises:
            DamagedLogError: reading is strict, and the problem is damage.
        """
        self.pass_on(LogProblem(self.path, line_number, column, problem, kind))

    def pass_on(self, problem: LogProblem) -> None:
        """Report a problem, perhaps of another file; see `report`."""
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
    """A hand of a file cannot be read.

    Attributes:
        problem: description, as a sentence without a full stop.
        line: 0-based line of the hand with the problem.
        column: 1-based index of the first wrong character in the line; None if unknown.
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
        problem: property of the game that the format lacks, as a sentence without a full stop.
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
    """A text or a number is not a stop rule; the message lists the rules."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"{problem}; a stop rule is a number of deals (10000), ci=WIDTH in mbb/g (ci=20) "
            "or better:LOW,HIGH[,ALPHA[,BETA]] in mbb/g (better:0,30)"
        )
