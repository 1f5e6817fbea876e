"""What a player can do wrong, and how a match fails.

A fault is a record, not an exception: the match decides what follows from it. `MatchFailure` is what the reference
ends a match for before its last hand; its sentence is the one the reference prints where the reference has one. Under
another policy than `FaultPolicy.END` a failure that is a player's fault costs that player his part and the match goes
on.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from engine import Seat

__all__ = ["FORFEITED", "QUOTED_BYTES", "RESTARTED", "Fault", "FaultKind", "FaultPolicy", "Loss", "MatchFailure"]


QUOTED_BYTES = 120
"""So much of an offending line is kept."""


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
    """A player who does not read what it is sent, or who sends lines without end that are no answers."""


class FaultPolicy(enum.Enum):
    """What becomes of a player who is gone or late: the faults that the reference ends a match for."""

    END = "end"
    """The match ends; the result so far stands."""
    FORFEIT = "forfeit"
    """The player checks or folds from there on."""
    RESTART = "restart"
    """The player's process is started again and the match goes on."""


RESTARTED = "started again"
FORFEITED = "checks or folds from there on"
"""Remedies."""


class Fault(NamedTuple):
    """One thing a player did wrong.

    Attributes:
        seat: who.
        kind: what.
        hand_number: in which hand; -1 before the first.
        line: the offending line as received, empty where there is none.
        remedy: what was done about it, in words.
        is_final: the player takes no part any more: he checks or folds to the end of the match.
    """

    seat: Seat
    kind: FaultKind
    hand_number: int
    line: bytes
    remedy: str
    is_final: bool = False


class MatchFailure(Exception):
    """The match cannot go on.

    Attributes:
        seat: whose fault it was; None when nobody's at the table.
        kind: what happened, where it was a player's fault.
        printed: the text as the reference prints it, with its line end.
        line: the line that did it, empty where it was none.
    """

    def __init__(
        self,
        sentence: str,
        seat: Seat | None = None,
        kind: FaultKind | None = None,
        *,
        printed: str | None = None,
        line: bytes = b"",
    ) -> None:
        super().__init__(sentence)
        self.seat = seat
        self.kind = kind
        self.printed = sentence + "\n" if printed is None else printed
        self.line = line


class Loss(NamedTuple):
    """A player who is gone while the match goes on.

    Attributes:
        failure: why; its seat and kind are given.
        hand_number: in which hand.
        answers: how many he had given in that hand.
        is_final: he is not to come back: the policy says so, or his time for all hands is used up.
    """

    failure: MatchFailure
    hand_number: int
    answers: int
    is_final: bool
