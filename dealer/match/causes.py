"""Why a match ended early, or a player lost its part in it: values that carry the facts and no wording.

A `PlayerCause` is the fault of a player: it ends the match under `FaultPolicy.END`, and costs that player its part
under the other policies. A `MatchCause` ends the match under every policy. A `Failure` is a cause with everything that
its sentence needs. Sentences are composed where they are shown: for people in `dealer.match.ending_sentences`, as the
reference dealer prints them in `dealer.reference.command`. Times are integer microseconds.

Lines that a player sent or wrote may reveal its cards. They are in fields of their own (`PlayerCause.line`,
`BotFailed.problem`, `InternalError.text`, `Failure.last_lines`), which a sentence for everybody leaves out.
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

    NOT_CONNECTED = "not connected"
    """It did not connect in time."""
    ENDED = "ended"
    """Its process ended before it connected."""
    VERSION_LATE = "version late"
    """It connected, but did not name its version in time."""
    UNREADABLE_VERSION = "unreadable version"
    """Its first line is no version."""
    LEFT = "left"
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

    UNREADABLE = "unreadable"
    WRONG_HAND = "wrong hand"
    INVALID_ACTION = "invalid action"


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

    @classmethod
    def of(cls, error: Exception) -> InternalError:
        """The cause that an unexpected error amounts to."""
        return cls(type(error).__name__, str(error))


@dataclass(frozen=True, slots=True)
class WorkerLost(MatchCause):
    """The worker process in which all players play has ended so many times in a row."""

    losses: int


@dataclass(frozen=True, slots=True)
class CannotPlay(MatchCause):
    """A run cannot start or continue: the sentence of the error, without a full stop."""

    problem: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A cause with everything that its sentence needs.

    Attributes:
        names: the players, by seat; empty where the cause is about none of them.
        hand_number: the hand being played when it happened.
        exit_code: what the failed player's process ended with, negative for a signal; None if it goes on.
        last_lines: what the process wrote last; None if there is no process of ours.
        cure: a sentence that says what to do, if that is known.
    """

    cause: Cause
    names: tuple[str, ...] = ()
    hand_number: int = 0
    exit_code: int | None = None
    last_lines: tuple[str, ...] | None = None
    cure: str = ""


def sending_failed(seat: Seat, error: OSError) -> PlayerCause:
    """Why a player could not be sent a line."""
    return Unreachable(seat, is_full=isinstance(error, UnreadLinesError))
