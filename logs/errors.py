"""Everything the logs package can refuse, and how it speaks of what it finds in a file.

    LogsError
    ├── LogError               a file cannot be read as what it should be: no log, an unknown game, no TOML
    │   └── DamagedLogError    strict reading met a problem; `found` is that `LogProblem`
    ├── UnsupportedGameError   a format has no such game
    ├── ExportError            a file that would be written is there already
    └── StopRuleError          a text or a number is not a stop rule

A `LogProblem` is no error: reading goes on, and whoever reads is told where the problem is, what is wrong there and
what was done about it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = [
    "DamagedLogError",
    "ExportError",
    "LogError",
    "LogProblem",
    "LogsError",
    "ProblemKind",
    "StopRuleError",
    "UnsupportedGameError",
]


class ProblemKind(enum.Enum):
    """What was done about a problem; the value is the end of its sentence."""

    SKIPPED = "skipped"
    """The line or hand is left out: it cannot be trusted."""
    HALF_WRITTEN = "left out, as is normal when a match was stopped while writing"
    """The last line lacks its end."""
    NOTED = "read all the same"
    """Nothing is left out, but something is not as it should be."""


@dataclass(frozen=True, slots=True)
class LogProblem:
    """Something in a file that is not as it should be.

    Attributes:
        path: the file, as it was given; ``<lines>`` for lines without a file.
        line_number: 1-based.
        column: 1-based index of the first wrong character in the line; None where none can be told.
        problem: what is wrong, as a sentence without its stop.
        kind: what was done.
    """

    path: str
    line_number: int
    column: int | None
    problem: str
    kind: ProblemKind

    def __str__(self) -> str:
        """The whole sentence: ``match.log, line 7, byte 12: 'Xx' is no card (skipped)``."""
        byte = "" if self.column is None else f", byte {self.column}"
        return f"{self.path}, line {self.line_number}{byte}: {self.problem} ({self.kind.value})"


class LogsError(Exception):
    """The root of this package's errors."""


class LogError(LogsError, ValueError):
    """A file cannot be read as what it should be.

    Attributes:
        path: the file, as it was given.
        problem: what is wrong, as a sentence without its stop.
    """

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path}: {problem}")


class DamagedLogError(LogError):
    """Strict reading met a problem.

    Attributes:
        found: the problem.
    """

    def __init__(self, found: LogProblem) -> None:
        self.path = found.path
        self.problem = found.problem
        self.found = found
        byte = "" if found.column is None else f", byte {found.column}"
        ValueError.__init__(self, f"{found.path}, line {found.line_number}{byte}: {found.problem}")


class UnsupportedGameError(LogsError, ValueError):
    """A format has no such game.

    Attributes:
        format_name: the format.
    """

    def __init__(self, format_name: str, problem: str) -> None:
        self.format_name = format_name
        super().__init__(problem)


class ExportError(LogsError):
    """A file that would be written is there already.

    Attributes:
        path: the file.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path} is there already: --force writes over it, --out takes another folder")


class StopRuleError(LogsError, ValueError):
    """Something is not a stop rule (see `logs.estimation.stopping`): says why, and what is accepted."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"{problem}; a stop rule is a number of hands (10000), ci=WIDTH in mbb/g (ci=20) "
            "or better:LOW,HIGH[,ALPHA[,BETA]] in mbb/g (better:0,30)"
        )
