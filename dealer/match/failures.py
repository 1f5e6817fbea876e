"""What ends a match, or a player's part in it, in the words of the reference dealer, each sentence once.

A match over TCP, one inside this process and the tables that own connections say the same things by these functions.
"""

from __future__ import annotations

import errno

from dealer.match.faults import FaultKind, MatchFailure
from engine import Seat
from protocol import RemoteProtocolError

__all__ = [
    "flooded",
    "no_action",
    "no_version",
    "nobody_left",
    "not_sent",
    "not_written",
    "out_of_time",
    "unreadable_version",
    "wrong_transaction",
]


def unreadable_version(seat: Seat, error: RemoteProtocolError) -> MatchFailure:
    """A player's first line is no version."""
    # The reference prints the line as it came, with its end or without one, up to a NUL.
    line = error.line.split(b"\0")[0].decode("utf-8", "surrogateescape")
    printed = f"ERROR: invalid version string {line}"
    return MatchFailure(printed.rstrip("\r\n"), seat, FaultKind.MALFORMED_REPLY, printed=printed, line=error.line)


def no_version(seat: Seat) -> MatchFailure:
    """A player left before he named his version."""
    return MatchFailure(f"ERROR: could not read version string from seat {seat + 1}", seat, FaultKind.DISCONNECT)


def wrong_transaction(complaint: str, line: str) -> MatchFailure:
    """A line of an earlier run cannot be played again.

    Args:
        complaint: what the reference says of it.
        line: as it was read.
    """
    # The reference prints the line as it came, with its end or without one, up to a NUL.
    printed = f"ERROR: {complaint} " + line.split("\0", 1)[0]
    return MatchFailure(printed.rstrip("\r\n"), printed=printed)


def out_of_time(seat: Seat, *, where: str = "") -> MatchFailure:
    """A player has used more time than he had."""
    return MatchFailure(f"ERROR: seat {seat + 1} ran out of time{where}", seat, FaultKind.TIMEOUT)


def no_action(seat: Seat, kind: FaultKind, waited_us: int, response_us: int) -> MatchFailure:
    """A player was asked and did not answer.

    Args:
        seat: his.
        kind: whether he was silent or left.
        waited_us: so long he was waited for.
        response_us: so long he had.
    """
    return MatchFailure(
        f"ERROR: could not get action from seat {seat + 1}\n"
        f"{waited_us / 1e6:.1f} seconds spent waiting; timeout {response_us / 1e6:.1f}",
        seat,
        kind,
    )


def flooded(seat: Seat, most: int, hand_number: int, line: bytes) -> MatchFailure:
    """A player said too much that is no answer."""
    sentence = f"ERROR: seat {seat + 1} sent more than {most} lines that are no answers in hand {hand_number}"
    return MatchFailure(sentence, seat, FaultKind.FLOOD, line=line)


def not_sent(seat: Seat, error: OSError) -> MatchFailure:
    """A player cannot be sent his line."""
    kind = FaultKind.FLOOD if error.errno == errno.ENOBUFS else FaultKind.DISCONNECT
    return MatchFailure(f"ERROR: could not send state to seat {seat + 1}", seat, kind)


def not_written(error: OSError) -> MatchFailure:
    """A file cannot be written."""
    return MatchFailure(f"ERROR: could not write {error.filename or 'a log'}: {error.strerror}")


def nobody_left() -> MatchFailure:
    """Everybody has been given up."""
    return MatchFailure("ERROR: no player is left to act")
