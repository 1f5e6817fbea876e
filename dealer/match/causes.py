"""Causes of a match's early end, or of the loss of a player, as values without wording.

A `PlayerCause` is the fault of a player. It ends the match under `FaultPolicy.END`; under the other policies only that
player is lost. A `MatchCause` ends the match under every policy. A `Failure` adds the facts that a sentence needs.

Sentences are composed where they are shown, for people in `dealer.match.ending_sentences` and for the reference
dealer's standard error in `dealer.reference.command`. Times are integer microseconds.
"""

from __future__ import annotations

import abc
import enum
from dataclasses import dataclass, field
from typing import ClassVar

from dealer.errors import Cause, UnreadLinesError
from dealer.match.faults import FaultKind
from engine import Seat

# Names of classes and fields are stored in result.json and in the server's database: renaming one breaks old files.
# Text that a player sent or wrote can reveal its cards. It has fields of its own (`PlayerCause.line`,
# `BotFailed.problem`, `InternalError.text`, `Failure.last_lines`), so that a public sentence can leave it out.


@dataclass(frozen=True, slots=True)
class PlayerCause(Cause, abc.ABC):
    """Fault of a player.

    Attributes:
        seat: seat of the player.
        line: the offending line, or empty.
    """

    seat: Seat
    line: bytes = field(default=b"", kw_only=True)

    @property
    @abc.abstractmethod
    def kind(self) -> FaultKind:
        """Kind as which the fault is counted."""


class StartProblem(enum.Enum):
    """Reason that a player did not take its seat."""

    NOT_CONNECTED = "not connected"
    """It did not connect in time."""
    ENDED = "ended"
    """Its process ended before it connected."""
    VERSION_LATE = "version late"
    """It connected, but did not name its version in time."""
    UNREADABLE_VERSION = "unreadable version"
    """Its first line is not a version line."""
    LEFT = "left"
    """It closed the connection before it named its version."""


@dataclass(frozen=True, slots=True)
class NotStarted(PlayerCause):
    """The player did not take its seat.

    Attributes:
        problem: the reason.
        limit_us: the time limit, if that has passed; otherwise 0.
        others: further seats whose players have not connected.
    """

    problem: StartProblem
    limit_us: int = 0
    others: tuple[Seat, ...] = ()

    @property
    def kind(self) -> FaultKind:
        if self.problem is StartProblem.ENDED:
            return FaultKind.CRASH
        if self.problem is StartProblem.UNREADABLE_VERSION:
            return FaultKind.MALFORMED_REPLY
        if self.problem is StartProblem.LEFT:
            return FaultKind.DISCONNECT
        return FaultKind.TIMEOUT


class Limit(enum.Enum):
    """Time limit of a player: for a response, a hand or the match."""

    RESPONSE = "response"
    HAND = "hand"
    MATCH = "match"


@dataclass(frozen=True, slots=True)
class OutOfTime(PlayerCause):
    """The player answered, but exceeded a time limit.

    Attributes:
        limit: the exceeded limit.
        is_replayed: the answer belongs to an earlier run, whose transaction log is being replayed.
    """

    limit: Limit
    is_replayed: bool = False
    # Without an annotation, so that it is a constant of the class and no field.
    kind = FaultKind.TIMEOUT


@dataclass(frozen=True, slots=True)
class NoAnswer(PlayerCause):
    """The player did not answer a question.

    Attributes:
        waited_us: time since the question.
        limit_us: the time limit.
        is_closed: the player closed the connection.
    """

    waited_us: int
    limit_us: int
    is_closed: bool = False

    @property
    def kind(self) -> FaultKind:
        return FaultKind.DISCONNECT if self.is_closed else FaultKind.TIMEOUT


@dataclass(frozen=True, slots=True)
class TooManyIdleLines(PlayerCause):
    """The player sent more than `most` lines other than answers in one hand."""

    hand_number: int
    most: int
    kind = FaultKind.FLOOD


@dataclass(frozen=True, slots=True)
class Unreachable(PlayerCause):
    """A line could not be sent to the player.

    Attributes:
        is_full: too many bytes wait for a player that does not read; otherwise the connection is broken.
    """

    is_full: bool

    @property
    def kind(self) -> FaultKind:
        return FaultKind.FLOOD if self.is_full else FaultKind.DISCONNECT

    @classmethod
    def from_error(cls, seat: Seat, error: OSError) -> Unreachable:
        """Convert the error of a write."""
        # By type: the system's own ENOBUFS is not the fault of a player that does not read.
        return cls(seat, is_full=isinstance(error, UnreadLinesError))


@dataclass(frozen=True, slots=True)
class BotFailed(PlayerCause):
    """The code of a bot in this process raised an exception or returned an illegal action.

    Attributes:
        problem: text of the exception.
    """

    problem: str
    kind = FaultKind.CRASH


@dataclass(frozen=True, slots=True)
class MatchCause(Cause):
    """Cause that is not the fault of one player."""

    seat: ClassVar[None] = None
    kind: ClassVar[None] = None


@dataclass(frozen=True, slots=True)
class NobodyLeft(MatchCause):
    """Every player has forfeited."""


@dataclass(frozen=True, slots=True)
class NotWritten(MatchCause):
    """A file of the match cannot be written.

    Attributes:
        path: the file; None if the system does not name it.
        reason: the system's message.
    """

    path: str | None
    reason: str

    @classmethod
    def from_error(cls, error: OSError) -> NotWritten:
        """Convert the error of a write."""
        return cls(None if error.filename is None else str(error.filename), error.strerror or str(error))


class TransactionProblem(enum.Enum):
    """Reason that a line of a transaction log cannot be replayed."""

    UNREADABLE = "unreadable"
    WRONG_HAND = "wrong hand"
    INVALID_ACTION = "invalid action"


@dataclass(frozen=True, slots=True)
class BadTransaction(MatchCause):
    """A line of an earlier run's transaction log cannot be replayed.

    Attributes:
        line: the line as read, with its end.
    """

    problem: TransactionProblem
    line: str


@dataclass(frozen=True, slots=True)
class InternalError(MatchCause):
    """Unexpected exception of the dealer's own code."""

    error_type: str
    text: str

    @classmethod
    def from_error(cls, error: Exception) -> InternalError:
        """Convert an unexpected exception."""
        return cls(type(error).__name__, str(error))


@dataclass(frozen=True, slots=True)
class WorkerLost(MatchCause):
    """The worker process that plays all players ended by itself.

    Attributes:
        losses: number of times in a row.
    """

    losses: int


@dataclass(frozen=True, slots=True)
class CannotPlay(MatchCause):
    """A run cannot start or continue.

    Attributes:
        problem: the sentence of the error, without a full stop.
    """

    problem: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A cause with the facts that its sentence needs.

    Attributes:
        names: the players, by seat; empty if the cause does not concern them.
        hand_number: the hand being played at the time.
        exit_code: exit code of the failed player's process, negative for a signal; None while it runs.
        last_lines: last lines that the process wrote; None if the dealer did not start it.
        cure: a sentence with a remedy, if one is known.
    """

    cause: Cause
    names: tuple[str, ...] = ()
    hand_number: int = 0
    exit_code: int | None = None
    last_lines: tuple[str, ...] | None = None
    cure: str = ""
