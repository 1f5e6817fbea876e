"""Why a match ended early, or a player lost its part in it: values that carry the facts and no wording.

A `PlayerCause` is the fault of a player: it ends the match under `FaultPolicy.END`, and costs that player its part
under the other policies. A `MatchCause` ends the match under every policy. Sentences are composed where they are shown
them: for people in `dealer.match.ending_sentences`, as the reference dealer prints them in `dealer.reference.command`.
Times are integer microseconds.
"""

from __future__ import annotations

import abc
import enum
from dataclasses import dataclass, field
from typing import ClassVar

from dealer.errors import Cause, UnreadLinesError
from dealer.match.faults import FaultKind
from engine import Seat


@dataclass(frozen=True, slots=True)
class PlayerCause(Cause, abc.ABC):
    """The fault of a player.

    Attributes:
        seat: the player's.
        line: the line that did it, empty where there is none.
    """

    seat: Seat
    line: bytes = field(default=b"", kw_only=True)

    @property
    @abc.abstractmethod
    def kind(self) -> FaultKind:
        """How it is counted."""


class StartProblem(enum.Enum):
    """Why a player's part has not begun."""

    NOT_CONNECTED = enum.auto()
    """It did not connect in time."""
    ENDED = enum.auto()
    """Its process ended before it connected."""
    VERSION_LATE = enum.auto()
    """It connected, but did not name its version in time."""
    UNREADABLE_VERSION = enum.auto()
    """Its first line is no version."""
    LEFT = enum.auto()
    """It closed the connection before it named its version."""


@dataclass(frozen=True, slots=True)
class NotStarted(PlayerCause):
    """The player's part has not begun: see `problem`; `limit_us` is the time it had where that ran out.

    Where it has not connected, `others` are the seats of those that have not connected either.
    """

    problem: StartProblem
    limit_us: int = 0
    others: tuple[Seat, ...] = ()

    @property
    def kind(self) -> FaultKind:
        """How it is counted."""
        return {
            StartProblem.ENDED: FaultKind.CRASH,
            StartProblem.UNREADABLE_VERSION: FaultKind.MALFORMED_REPLY,
            StartProblem.LEFT: FaultKind.DISCONNECT,
        }.get(self.problem, FaultKind.TIMEOUT)


class Limit(enum.Enum):
    """Which of the three limits of a player's time."""

    RESPONSE = "response"
    HAND = "hand"
    MATCH = "match"


@dataclass(frozen=True, slots=True)
class OutOfTime(PlayerCause):
    """The player answered, but has used more time than it had.

    Attributes:
        limit: the clock that ran out.
        is_replayed: the answer was given in an earlier run.
    """

    limit: Limit
    is_replayed: bool = False
    kind = FaultKind.TIMEOUT


@dataclass(frozen=True, slots=True)
class NoAnswer(PlayerCause):
    """The player was asked and did not answer: it was silent, or has closed the connection.

    Attributes:
        waited_us: how long it was waited for. limit_us: the time it had. is_closed: whether it closed the connection.
    """

    waited_us: int
    limit_us: int
    is_closed: bool = False

    @property
    def kind(self) -> FaultKind:
        return FaultKind.DISCONNECT if self.is_closed else FaultKind.TIMEOUT


@dataclass(frozen=True, slots=True)
class TooManyIdleLines(PlayerCause):
    """The player sent more than `most` lines in one hand that are no answers."""

    hand_number: int
    most: int
    kind = FaultKind.FLOOD


@dataclass(frozen=True, slots=True)
class Unreachable(PlayerCause):
    """The player does not read what it is sent (`is_full`), or the connection no longer takes it."""

    is_full: bool

    @property
    def kind(self) -> FaultKind:
        return FaultKind.FLOOD if self.is_full else FaultKind.DISCONNECT


@dataclass(frozen=True, slots=True)
class BotFailed(PlayerCause):
    """The code of a bot in this process raised, or gave an illegal answer; `problem` is the bot's error in words."""

    problem: str
    kind = FaultKind.CRASH


@dataclass(frozen=True, slots=True)
class MatchCause(Cause):
    """What ends a match and is no player's fault."""

    seat: ClassVar[None] = None
    kind: ClassVar[None] = None


@dataclass(frozen=True, slots=True)
class NobodyLeft(MatchCause):
    """Every player has been given up."""


@dataclass(frozen=True, slots=True)
class NotWritten(MatchCause):
    """A file of the match cannot be written; `path` is None where the system does not name it."""

    path: str | None
    reason: str

    @classmethod
    def of(cls, error: OSError) -> NotWritten:
        """The cause that an operating system error amounts to."""
        return cls(None if error.filename is None else str(error.filename), error.strerror or str(error))


class TransactionProblem(enum.Enum):
    """Why a line of an earlier run cannot be played again."""

    UNREADABLE = enum.auto()
    WRONG_HAND = enum.auto()
    INVALID_ACTION = enum.auto()


@dataclass(frozen=True, slots=True)
class BadTransaction(MatchCause):
    """A line of an earlier run, as it was read, cannot be played again."""

    problem: TransactionProblem
    line: str


@dataclass(frozen=True, slots=True)
class InternalError(MatchCause):
    """The dealer's own code failed: the type and the text of what it raised."""

    error_type: str
    text: str


def sending_failed(seat: Seat, error: OSError) -> PlayerCause:
    """Why a player could not be sent a line."""
    return Unreachable(seat, is_full=isinstance(error, UnreadLinesError))
