"""Faults of players and the policies that handle them.

A fault is a record, not an exception: the match decides what follows from it.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from engine import Action, Seat

QUOTED_BYTES = 120
"""Length to which an offending line is cut."""


def decode_line(line: bytes) -> str:
    """An offending line as text, cut to `QUOTED_BYTES`."""
    return line[:QUOTED_BYTES].decode("latin-1").rstrip("\r\n")


class FaultKind(enum.Enum):
    """The ways a player can break the protocol; the value is the name in results."""

    ILLEGAL_ACTION = "illegal action"
    """A readable action that the rules refuse; played as the nearest legal size, or as a call."""
    MALFORMED_REPLY = "malformed reply"
    """A line that is no reply at all, or a reply without a readable action."""
    STALE_REPLY = "stale reply"
    """A reply to a state that is not the present one."""
    TIMEOUT = "timeout"
    """No answer, or too much time used."""
    DISCONNECT = "disconnect"
    """The connection ended while the match was on."""
    CRASH = "crash"
    """The player's process ended."""
    FLOOD = "flood"
    """A player that does not read what it is sent, or sends line after line without answering."""


class StrayProblem(enum.Enum):
    """Reason that a connection to a seat's port was rejected; the value follows "it" in a sentence."""

    LEFT = "closed the connection without sending anything"
    NO_VERSION = "did not begin with a version line"
    NO_KEY = "did not send the key of this seat"
    SILENT = "sent nothing"
    TAKEN = "named its version, but the player of this seat is another"
    ELSEWHERE = "named its version, but the player of this seat comes from another address"
    LEFT_EARLY = "left before the match began"


class ReplyProblem(enum.Enum):
    """Fault of a reply, as finely as the reference dealer distinguishes it."""

    NO_REPLY = enum.auto()
    """It is no reply to any state."""
    OTHER_STATE = enum.auto()
    """It answers a state that is not the present one."""
    UNREADABLE_SIZE = enum.auto()
    """It raises without a readable size."""
    UNKNOWN_ACTION = enum.auto()
    """There is no action in it."""
    ILLEGAL_ACTION = enum.auto()
    """The rules refuse the action."""
    ACTION_LIMIT = enum.auto()
    """The rules refuse a raise because the round has too many actions already."""
    ILLEGAL_SIZE = enum.auto()
    """The rules allow a raise, of another size."""

    @property
    def is_ignored(self) -> bool:
        """The line is ignored; for other problems an action is played."""
        return self in (ReplyProblem.NO_REPLY, ReplyProblem.OTHER_STATE)

    @property
    def kind(self) -> FaultKind:
        """Kind as which it is counted."""
        if self is ReplyProblem.OTHER_STATE:
            return FaultKind.STALE_REPLY
        if self in (ReplyProblem.NO_REPLY, ReplyProblem.UNREADABLE_SIZE, ReplyProblem.UNKNOWN_ACTION):
            return FaultKind.MALFORMED_REPLY
        return FaultKind.ILLEGAL_ACTION


class FaultPolicy(enum.Enum):
    """Policy for a player that does not connect, times out, disconnects or floods; the reference's is `END`."""

    END = "end"
    """The match ends; the result so far stands."""
    FORFEIT = "forfeit"
    """The player checks or folds from there on."""
    RESTART = "restart"
    """The player's process is started again, or its client awaited again; the match continues."""


class Remedy(enum.Enum):
    """Consequence of a fault; the value is its text in files and results."""

    IGNORED = "ignored"
    """The line was passed over."""
    PLAYED = "played"
    """Another action was played; see `Fault.played`."""
    RESTARTED = "started again"
    """The player's process was started again."""
    AWAITED = "awaited again"
    """The player, which is started outside the dealer, may connect again."""
    FORFEITED = "checks or folds from there on"
    """The player takes no part any more."""
    MATCH_ENDED = "the match ended"


class Fault(NamedTuple):
    """One fault of a player.

    Attributes:
        hand_number: the hand it happened in; -1 before the first.
        line: the offending line as received, empty where there is none.
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
        """Whether the player checks or folds to the end of the match."""
        return self.remedy is Remedy.FORFEITED
