"""What the doctor can find; findings of one kind are grouped.

One rule decides the severity, the reference dealer's reading of replies: what it refuses, ignores, waits for or plays
as something else is an error; what it understands although the protocol does not allow it is a warning, because other
dealers may not.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, cast

__all__ = ["Finding", "FindingGroup", "Findings", "Kind", "Problem", "Severity", "SeverityWord"]


SeverityWord: TypeAlias = Literal["note", "warning", "error"]


class Severity(enum.IntEnum):
    """How bad a finding is; larger is worse."""

    NOTE, WARNING, ERROR = 1, 2, 3

    @property
    def word(self) -> SeverityWord:
        """The word for it in reports."""
        return cast(SeverityWord, self.name.lower())


class Kind(enum.Enum):
    """A fault; its value is its name in reports."""

    # Coming and going
    NO_CONNECTION = "no-connection"
    SILENT = "silent"
    LEFT = "left"
    CRASHED = "crashed"
    LINGERS = "lingers"
    EXIT_CODE = "exit-code"
    FLOOD = "flood"
    # The version line
    NO_VERSION = "no-version"
    VERSION_NUMBER = "version-number"
    VERSION_TEXT = "version-text"
    # Lines
    LINE_END = "line-end"
    LINE_UNFINISHED = "line-unfinished"
    LINE_TOO_LONG = "line-too-long"
    NUL_BYTE = "nul-byte"
    EMPTY_LINE = "empty-line"
    JUNK = "junk"
    # When to answer
    UNASKED = "unasked"
    UNASKED_FINAL = "unasked-final"
    TWICE = "twice"
    OLD_STATE = "old-state"
    EARLY = "early"
    # The echo of the state
    ECHO_MISSING = "echo-missing"
    ECHO_CUT = "echo-cut"
    ECHO_CR = "echo-cr"
    ECHO_CHANGED = "echo-changed"
    ECHO_REWRITTEN = "echo-rewritten"
    # The action
    ACTION_MISSING = "action-missing"
    ACTION_UNKNOWN = "action-unknown"
    ACTION_LETTER = "action-letter"
    ACTION_TAIL = "action-tail"
    LIMIT_SIZE = "limit-size"
    SIZE_MISSING = "size-missing"
    SIZE_UNREADABLE = "size-unreadable"
    SIZE_UNUSUAL = "size-unusual"
    SIZE_TOO_SMALL = "size-too-small"
    SIZE_TOO_LARGE = "size-too-large"
    FOLD_REFUSED = "fold-refused"
    RAISE_REFUSED = "raise-refused"

    @property
    def severity(self) -> Severity:
        """The usual severity; a mild situation lowers it."""
        return Severity.WARNING if self in _WARNINGS else Severity.ERROR


_WARNINGS: Final = frozenset(
    {
        Kind.EXIT_CODE,
        Kind.VERSION_TEXT,
        Kind.LINE_END,
        Kind.ECHO_REWRITTEN,
        Kind.ACTION_LETTER,
        Kind.ACTION_TAIL,
        Kind.LIMIT_SIZE,
        Kind.SIZE_UNUSUAL,
    }
)


class Problem(NamedTuple):
    """What is wrong with one line, in any situation.

    Attributes:
        kind: the fault.
        byte: the first wrong byte of the line, counted from 1; one past the last if something is missing; 0 without a
            line.
        wrong: what is wrong, in one sentence.
        expected: what should stand there or should have been done.
        advice: what to do about it.
    """

    kind: Kind
    byte: int
    wrong: str
    expected: str
    advice: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a bot did wrong.

    Attributes:
        kind: the fault.
        severity: how bad it is.
        situation: name of the situation.
        hand: number of the hand; None before the first.
        line: the line as received, including its end; empty without one.
        byte: the first wrong byte of the line, as in `Problem`.
        state: what the dealer had sent, without the line end; empty if nothing.
        wrong: what is wrong, in one sentence.
        expected: what should stand there or should have been done.
        advice: what to do about it.
        output: the last lines of the bot's output, if it ended too early.
    """

    kind: Kind
    severity: Severity
    situation: str
    hand: int | None
    line: bytes
    byte: int
    state: bytes
    wrong: str
    expected: str
    advice: str
    output: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """All findings of one kind: the first of the worst in full, their number, and the situations they were found in."""

    first: Finding
    count: int
    situations: tuple[str, ...]


class Findings:
    """Everything found so far, grouped by kind: a habit takes no more room than a single slip."""

    def __init__(self) -> None:
        self._groups: dict[Kind, FindingGroup] = {}

    def __iter__(self) -> Iterator[FindingGroup]:
        """The groups, worst first; equals in the order in which they were first seen."""
        return iter(sorted(self._groups.values(), key=lambda group: -group.first.severity))

    def __len__(self) -> int:
        return len(self._groups)

    def add(self, finding: Finding) -> None:
        """Add a finding."""
        group = self._groups.get(finding.kind)
        if group is None:
            self._groups[finding.kind] = FindingGroup(finding, 1, (finding.situation,))
            return
        situations = group.situations
        if finding.situation not in situations:
            situations = (*situations, finding.situation)
        first = finding if finding.severity > group.first.severity else group.first
        self._groups[finding.kind] = FindingGroup(first, group.count + 1, situations)

    def has(self, kind: Kind) -> bool:
        """Whether anything of this kind was found."""
        return kind in self._groups

    def count(self, severity: Severity) -> int:
        """Number of kinds of this severity that were found."""
        return sum(severity is group.first.severity for group in self._groups.values())

    def in_situation(self, name: str) -> list[FindingGroup]:
        """What was found in one situation, worst first."""
        return [group for group in self if name in group.situations]
