"""The transaction log: every action with its times, enough to play a broken-off match on.

One line an action, written before the action is applied: ``r300 17 1795227485.694648 1795227485.694758``: the action,
the hand number, when the player was asked and when he answered (seconds of Unix time with microseconds).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from engine import Action
from logs.record import Times
from protocol.actions import format_action, scan_action
from protocol.numbers import wrap_uint32

__all__ = ["Transaction", "format_time", "format_transaction", "parse_transaction"]


class Transaction(NamedTuple):
    """One line of a transaction log."""

    action: Action | None
    """None when its letter is no action."""
    hand_number: int
    times: Times


_INT = r"[ \t\n\v\f\r]*([+-]?[0-9]+)"
_STAMP = re.compile(rf"{_INT}{_INT}\.([0-9]{{1,6}}){_INT}\.([0-9]{{1,6}})")


def format_time(time_us: int) -> str:
    """Microseconds of Unix time as seconds with six decimals."""
    return f"{time_us // 1000000}.{time_us % 1000000:06}"


def format_transaction(action: Action, hand_number: int, sent_us: int, received_us: int) -> str:
    """The line of one action, with its LF."""
    return f"{format_action(action)} {hand_number} {format_time(sent_us)} {format_time(received_us)}\n"


def parse_transaction(line: str, *, is_limit: bool) -> Transaction | None:
    """Read a line; None when it is not in the format."""
    scanned = scan_action(line, 0, is_limit)
    if scanned is None:
        return None
    action, at = scanned
    match = _STAMP.match(line, at)
    if match is None:
        return None
    hand, sent_s, sent_us, received_s, received_us = (int(number) for number in match.groups())
    times = Times(sent_s * 1000000 + sent_us, received_s * 1000000 + received_us)
    return Transaction(action, wrap_uint32(hand), times)
