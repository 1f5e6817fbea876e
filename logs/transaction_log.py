"""The files that accompany a log: every action with its times, enough to resume a match, and the players' comments.

The transaction log, ``match.tlog``, has one line an action, ``r300 17 1795227485.694648 1795227485.694758``: the
action, the hand number, when the player was asked and when it answered (seconds of Unix time with microseconds).

Comments, ``match.comments``, have a JSON object per line:

    {"hand_number": 17, "seat": 1, "action_index": 3, "text": "# I have queen high"}

The lines of a hand are consecutive, the hands in the order of the log. The file is UTF-8; U+FFFD stands for bytes of a
player that are not.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from itertools import groupby, repeat
from operator import add
from typing import Final, NamedTuple, TypeAlias

from engine import Action, Seat
from engine.errors import quoted
from engine.text import clean
from logs.record import PlayerComment, Times
from protocol.actions import format_action, scan_action
from protocol.numbers import scan_integer, scan_unsigned, wrap_uint32


class Transaction(NamedTuple):
    """One line of a transaction log: asked and answered when. The action is None when its letter is not an action; the
    hand number is -1 when the line cannot be read.
    """

    line: str
    action: Action | None
    hand_number: int
    times: Times

    @property
    def is_readable(self) -> bool:
        """Whether the line is in the format."""
        return self.hand_number >= 0


class CompanionLines(NamedTuple):
    """Lines of one hand that follow each other in a file that accompanies a log.

    Attributes:
        line: number of the first in the file.
        actions: as `format_action` writes them; None where the file does not hold them.
    """

    line: int
    hand_number: int
    actions: tuple[str, ...] | None
    times: list[Times]
    comments: list[PlayerComment]


_make: Final = tuple.__new__
"""Makes a named tuple without its checks, for the inner loop of reading."""
_OWN_LINE: Final = re.compile(r"([fcr][0-9]{0,10}) ([0-9]{1,10}) ([0-9]{1,18})\.([0-9]{6}) ([0-9]{1,18})\.([0-9]{6})\n")
_OWN_LINES: Final = re.compile(
    r"^([fc]|r|r[1-9][0-9]{0,8}) ([0-9]{1,9}) ([0-9]{1,18})\.([0-9]{6}) ([0-9]{1,18})\.([0-9]{6})\n", re.MULTILINE
)
_Scan: TypeAlias = Callable[[str, int], tuple[int, int] | None]
_FIELDS: Final[tuple[tuple[str, int, _Scan], ...]] = (
    ("", 0, scan_unsigned),
    ("", 0, scan_integer),
    (".", 6, scan_unsigned),
    ("", 0, scan_integer),
    (".", 6, scan_unsigned),
)
"""Hand number, then seconds and microseconds twice: the separator before each, its maximum length, its scanner."""


def format_time(time_us: int) -> str:
    """Microseconds of Unix time as seconds with six decimals."""
    return f"{time_us // 1000000}.{time_us % 1000000:06}"


def format_transaction(action: Action, hand_number: int, sent_us: int, received_us: int) -> str:
    """The line of one action, with its LF."""
    return f"{format_action(action)} {hand_number} {format_time(sent_us)} {format_time(received_us)}\n"


def parse_transactions(lines: Iterable[str], *, is_limit: bool) -> list[Transaction]:
    """Read lines up to the first that is not in the format, which is the last of the result.

    As in the reference, a line may lack the microseconds of the reply: those of the line before then count.
    """
    transactions: list[Transaction] = []
    received_fraction = 0
    for line in lines:
        transaction, received_fraction = _parse_line(line, is_limit, received_fraction)
        transactions.append(transaction)
        if not transaction.is_readable:
            break
    return transactions


def parse_own_line(line: str, *, is_limit: bool) -> Transaction | None:
    """A line exactly as `format_transaction` writes it, with its LF; None for any other.

    Many times faster than `parse_transactions`, for logs of a million hands that are read again.
    """
    found = _OWN_LINE.fullmatch(line)
    if found is None:
        return None
    text, number, sent_s, sent_us, received_s, received_us = found.groups()
    action = _scanned(text, is_limit)
    if action is None:
        return None
    times = _make(Times, (int(sent_s + sent_us), int(received_s + received_us)))
    return _make(Transaction, (line, action, int(number), times))


def parse_own_lines(text: str, line: int = 0, *, is_limit: bool) -> list[CompanionLines] | None:
    """Lines exactly as `format_transaction` writes them, hand by hand; None if any of them is not. The first has the
    number `line`.

    Several times faster than line by line: nothing is done for a single line but by the interpreter's own loops.
    """
    found = _OWN_LINES.findall(text)
    if not found or len(found) != text.count("\n") or not text.endswith("\n"):
        return None
    actions, numbers, *parts = zip(*found, strict=True)
    # In limit games the lenient reading drops sizes; in others it accepts no raise without one.
    if (max(map(len, actions)) > 1) if is_limit else ("r" in actions):
        return None
    sent_us, received_us = (map(int, map(add, parts[i], parts[i + 1])) for i in (0, 2))
    times = list(map(_make, repeat(Times), zip(sent_us, received_us, strict=True)))
    hands = []
    start = 0
    for number, lines in groupby(numbers):
        end = start + len(list(lines))
        hands.append(CompanionLines(line + start, int(number), actions[start:end], times[start:end], []))
        start = end
    return hands


@functools.lru_cache(maxsize=1 << 14)
def _scanned(text: str, is_limit: bool) -> Action | None:
    scanned = scan_action(text, 0, is_limit)
    if scanned is not None and scanned[1] == len(text):
        return scanned[0]
    return None


def _parse_line(line: str, is_limit: bool, last_fraction: int) -> tuple[Transaction, int]:
    unreadable = Transaction(line, None, -1, Times(0, 0)), last_fraction
    text = line.split("\0", 1)[0]
    scanned = scan_action(text, 0, is_limit)
    if scanned is None:
        return unreadable
    action, at = scanned
    numbers: list[int] = []
    for separator, most_digits, scan in _FIELDS:
        number = None
        if text.startswith(separator, at):
            at += len(separator)
            number = _scan_field(text, at, most_digits, scan)
        if number is None:
            if len(numbers) < 4:
                return unreadable
            number = last_fraction, at
        numbers.append(number[0])
        at = number[1]
    hand_number, sent_s, sent_us, received_s, received_us = numbers
    times = Times(sent_s * 1000000 + sent_us, received_s * 1000000 + received_us)
    return Transaction(line, action, wrap_uint32(hand_number), times), received_us


def _scan_field(text: str, start: int, most: int, scan: _Scan) -> tuple[int, int] | None:
    while start < len(text) and text[start] in " \t\n\v\f\r":
        start += 1
    return scan(text[: start + most] if most else text, start)


def format_comment(hand_number: int, comment: PlayerComment) -> str:
    """The line of one comment, with its LF."""
    import json

    return clean(json.dumps({"hand_number": hand_number} | comment._asdict(), ensure_ascii=False)) + "\n"


def parse_comment(line: str) -> tuple[int, PlayerComment]:
    """The hand and the comment of a line.

    Raises:
        ValueError: it is not a comment.
    """
    import json

    try:
        data = json.loads(line)
        numbers = data["hand_number"], data["seat"], data["action_index"]
        text = data["text"]
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{quoted(line)} is not a comment") from error
    if not isinstance(text, str) or not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError(f"{quoted(line)} is not a comment")
    return numbers[0], PlayerComment(Seat(numbers[1]), numbers[2], clean(text))
