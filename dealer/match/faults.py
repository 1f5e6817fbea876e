"""Faults of players and the policies that handle them.

A `Fault` is a record of something a player did wrong and of its remedy. It is published as an event, never raised.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from engine import Action, Seat

QUOTED_BYTES = 120
"""Bytes kept of an offending line, as a client can send anything."""


def decode_line(line: bytes) -> str:
    """Decode an offending line as latin-1, cut to `QUOTED_BYTES` and without its end."""
    return line[:QUOTED_BYTES].decode("latin-1").rstrip("\r\n")


class FaultKind(enum.Enum):
    """Kinds of faults; the value is the name in results."""

    ILLEGAL_ACTION = "illegal action"
    """The rules refuse the action. The nearest legal size is played, or a call."""
    MALFORMED_REPLY = "malformed reply"
    """The line is not a reply, or its action is unreadable."""
    STALE_REPLY = "stale reply"
    """The line answers another state than the current one."""
    TIMEOUT = "timeout"
    """The player did not answer in time."""
    DISCONNECT = "disconnect"
    """The connection ended during the match."""
    CRASH = "crash"
    """The player's process ended."""
    FLOOD = "flood"
    """The player does not read, or sends too many lines without answering."""


class StrayProblem(enum.Enum):
    """Reason that a connection to a seat's port was rejected; the value follows "it" in a sentence."""

    LEFT = "closed the connection without sending anything"
    NO_VERSION = "did not begin with a version line"
    NO_KEY = "did not send the key of this seat"
    SILENT = "sent nothing"
    TAKEN = "named its version, but the seat is taken by another player"
    ELSEWHERE = "named its version, but the seat is reserved for another address"
    LEFT_EARLY = "left before the match began"


class ReplyProblem(enum.Enum):
    """Fault of a reply, one for each warning of the reference dealer."""

    NO_REPLY = enum.auto()
    """The line does not begin with a state."""
    OTHER_STATE = enum.auto()
    """The line answers another state than the current one."""
    UNREADABLE_SIZE = enum.auto()
    """The reply raises without a readable size."""
    UNKNOWN_ACTION = enum.auto()
    """The reply contains no action."""
    ILLEGAL_ACTION = enum.auto()
    """The rules refuse the action."""
    ACTION_LIMIT = enum.auto()
    """The rules refuse a raise because the round already has too many actions."""
    ILLEGAL_SIZE = enum.auto()
    """The rules allow a raise, but of another size."""

    @property
    def is_ignored(self) -> bool:
        """The line is ignored. For any other problem, an action is played."""
        return self in (ReplyProblem.NO_REPLY, ReplyProblem.OTHER_STATE)

    @property
    def kind(self) -> FaultKind:
        """Kind as which the fault is counted."""
        if self is ReplyProblem.OTHER_STATE:
            return FaultKind.STALE_REPLY
        if self in (ReplyProblem.NO_REPLY, ReplyProblem.UNREADABLE_SIZE, ReplyProblem.UNKNOWN_ACTION):
            return FaultKind.MALFORMED_REPLY
        return FaultKind.ILLEGAL_ACTION


class FaultPolicy(enum.Enum):
    """Policy for a player that does not connect, times out, disconnects or floods; the reference's is `END`."""

    END = "end"
    """The match ends. Finished hands count."""
    FORFEIT = "forfeit"
    """The player checks or folds to the end of the match."""
    RESTART = "restart"
    """The player's process is started again, or its client may connect again. The match continues."""


class Remedy(enum.Enum):
    """Consequence of a fault; the value is its text in files and results."""

    IGNORED = "ignored"
    """The line was ignored."""
    PLAYED = "played"
    """Another action was played; see `Fault.played`."""
    RESTARTED = "started again"
    """The player's process was started again."""
    AWAITED = "awaited again"
    """The client, which the dealer does not start, may connect again."""
    FORFEITED = "checks or folds from there on"
    """The player checks or folds to the end of the match."""
    MATCH_ENDED = "the match ended"


class Fault(NamedTuple):
    """Record of a fault and its remedy.

    Attributes:
        hand_number: the hand being played; -1 before the first.
        line: the offending line as received, or empty.
        played: the action played instead, for `Remedy.PLAYED`.
    """

    seat: Seat
    kind: FaultKind
    hand_number: int
    line: bytes
    remedy: Remedy
    played: Action | None = None

    @property
    def is_final(self) -> bool:
        """The player checks or folds to the end of the match."""
        return self.remedy is Remedy.FORFEITED
