"""What a player can do wrong, and how a match fails.

A fault is a record, not an exception: the match decides what follows from it. `MatchFailure` is how a match ends before
its last hand; its sentence is the one the reference prints where the reference has one.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from engine import Seat

__all__ = ["Fault", "FaultKind", "MatchFailure"]


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
    """More unread bytes than a connection may hold: a player who does not read what it is sent."""


class Fault(NamedTuple):
    """One thing a player did wrong.

    Attributes:
        seat: who.
        kind: what.
        hand_number: in which hand; -1 before the first.
        line: the offending line as received, empty where there is none.
        remedy: what was done about it, in words.
    """

    seat: Seat
    kind: FaultKind
    hand_number: int
    line: bytes
    remedy: str


class MatchFailure(Exception):
    """The match cannot go on.

    Attributes:
        seat: whose fault it was; None when nobody's at the table.
        kind: what happened, where it was a player's fault.
        printed: the text as the reference prints it, with its line end.
    """

    def __init__(
        self, sentence: str, seat: Seat | None = None, kind: FaultKind | None = None, *, printed: str | None = None
    ) -> None:
        super().__init__(sentence)
        self.seat = seat
        self.kind = kind
        self.printed = sentence + "\n" if printed is None else printed
