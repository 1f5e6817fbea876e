"""Why a match ended early, or a player lost its part in it: values that carry the facts and no wording.

A `PlayerCause` is the fault of a player: it ends the match under `FaultPolicy.END`, and costs that player its part
under the other policies. A `MatchCause` ends the match under every policy. Sentences are made where somebody reads
them: for people in `dealer.match.sentences`, as the reference dealer prints them in `dealer.reference.sentences`.
Times are integer microseconds.
"""

from __future__ import annotations

import enum
import errno
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from dealer.match.clocks import Limit
from dealer.match.faults import FaultKind
from engine import Seat

__all__ = [
    "BadTransaction",
    "BotFailed",
    "Cause",
    "ConnectionClosed",
    "EndedBeforeConnecting",
    "InternalError",
    "LeftBeforeVersion",
    "MatchCause",
    "NobodyLeft",
    "NotConnected",
    "NotReading",
    "NotSent",
    "NotWritten",
    "OutOfTime",
    "PlayerCause",
    "Silent",
    "TooManyIdleLines",
    "TransactionProblem",
    "UnreadableVersion",
    "VersionLate",
    "sending_failed",
]


@dataclass(frozen=True, slots=True)
class PlayerCause:
    """The fault of a player.

    Attributes:
        seat: the player's.
        line: the line that did it, empty where there is none.
        kind: how it is counted.
    """

    seat: Seat
    line: bytes = field(default=b"", kw_only=True)
    kind: ClassVar[FaultKind]


@dataclass(frozen=True, slots=True)
class NotConnected(PlayerCause):
    """The player did not connect within `limit_us`."""

    limit_us: int
    kind = FaultKind.TIMEOUT


@dataclass(frozen=True, slots=True)
class EndedBeforeConnecting(PlayerCause):
    """The player's process ended before it connected."""

    kind = FaultKind.CRASH


@dataclass(frozen=True, slots=True)
class VersionLate(PlayerCause):
    """The player connected, but did not name its version within `limit_us`."""

    limit_us: int
    kind = FaultKind.TIMEOUT


@dataclass(frozen=True, slots=True)
class UnreadableVersion(PlayerCause):
    """The player's first line is no version."""

    kind = FaultKind.MALFORMED_REPLY


@dataclass(frozen=True, slots=True)
class LeftBeforeVersion(PlayerCause):
    """The player closed the connection before it named its version."""

    kind = FaultKind.DISCONNECT


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
class Silent(PlayerCause):
    """The player was asked and said nothing for too long: `waited_us` where `limit_us` were allowed."""

    waited_us: int
    limit_us: int
    kind = FaultKind.TIMEOUT


@dataclass(frozen=True, slots=True)
class ConnectionClosed(PlayerCause):
    """The player was asked and closed the connection after `waited_us` of the `limit_us` it had."""

    waited_us: int
    limit_us: int
    kind = FaultKind.DISCONNECT


@dataclass(frozen=True, slots=True)
class TooManyIdleLines(PlayerCause):
    """The player sent more than `most` lines in one hand that are no answers."""

    hand_number: int
    most: int
    kind = FaultKind.FLOOD


@dataclass(frozen=True, slots=True)
class NotReading(PlayerCause):
    """The player does not read what it is sent."""

    kind = FaultKind.FLOOD


@dataclass(frozen=True, slots=True)
class NotSent(PlayerCause):
    """The connection no longer takes what the player is sent."""

    kind = FaultKind.DISCONNECT


@dataclass(frozen=True, slots=True)
class BotFailed(PlayerCause):
    """The code of a bot in this process raised, or gave an illegal answer; `problem` is the bot's error in words."""

    problem: str
    kind = FaultKind.CRASH


@dataclass(frozen=True, slots=True)
class MatchCause:
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


Cause: TypeAlias = PlayerCause | MatchCause


def sending_failed(seat: Seat, error: OSError) -> PlayerCause:
    """Why a player could not be sent a line; a full buffer means that the player does not read."""
    return NotReading(seat) if error.errno == errno.ENOBUFS else NotSent(seat)
