"""Files next to a log: the transaction log with the times of all actions, and the players' comments.

A line of the transaction log, ``match.tlog``, is ``r300 17 1795227485.694648 1795227485.694758``: action, hand number,
time of the question and time of the reply, in seconds of Unix time. It is enough to resume a match.

A line of the comments, ``match.comments``, is a JSON object. Lines of a hand are consecutive, and the hands are in the
order of the log. The file is UTF-8, in which U+FFFD replaces bytes that are not.

    {"hand_number": 17, "seat": 1, "action_index": 3, "text": "# I have queen high"}
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
    """A line of a transaction log.

    Attributes:
        action: None if its letter is not an action.
        hand_number: -1 if the line cannot be read.
    """

    line: str
    action: Action | None
    hand_number: int
    times: Times

    @property
    def is_readable(self) -> bool:
        return self.hand_number >= 0


class CompanionLines(NamedTuple):
    """Consecutive lines of one hand in a file next to a log.

    Attributes:
        line: number of the first line in the file.
        actions: texts as `format_action` writes them; None if the file has none.
    """

    line: int
    hand_number: int
    actions: tuple[str, ...] | None
    times: list[Times]
    comments: list[PlayerComment]


# Makes a named tuple without going through its Python constructor, for the inner loop of reading.
_make: Final = tuple.__new__
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
"""Separator, maximum number of characters (0 for any) and scanner of each field.

The fields are the hand number, then seconds and microseconds of the question and of the reply.
"""


def format_time(time_us: int) -> str:
    """Format microseconds of Unix time as seconds with six decimals."""
    return f"{time_us // 1000000}.{time_us % 1000000:06}"


def format_transaction(action: Action, hand_number: int, sent_us: int, received_us: int) -> str:
    """Format the line of an action, with its LF."""
    return f"{format_action(action)} {hand_number} {format_time(sent_us)} {format_time(received_us)}\n"


def parse_transactions(lines: Iterable[str], *, is_limit: bool) -> list[Transaction]:
    """Parse lines up to the first unreadable one, which is the last of the result.

    As in the reference dealer, a line may lack the microseconds of the reply. Those of the line before are then used.
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
    """Parse a line exactly as `format_transaction` writes it, with its LF; return None for any other line.

    This is many times faster than `parse_transactions`, for logs of a million hands.
    """
    match = _OWN_LINE.fullmatch(line)
    if match is None:
        return None
    text, number, sent_s, sent_us, received_s, received_us = match.groups()
    action = _parse_whole_action(text, is_limit)
    if action is None:
        return None
    times = _make(Times, (int(sent_s + sent_us), int(received_s + received_us)))
    return _make(Transaction, (line, action, int(number), times))


def parse_own_lines(text: str, line: int = 0, *, is_limit: bool) -> list[CompanionLines] | None:
    """Parse lines exactly as `format_transaction` writes them, hand by hand; None for others.

    Args:
        line: number of the first line.
    """
    # Several times faster than line by line, since only C code runs for each line.
    rows = _OWN_LINES.findall(text)
    if not rows or len(rows) != text.count("\n") or not text.endswith("\n"):
        return None
    actions, numbers, sent_s, sent_fractions, received_s, received_fractions = zip(*rows, strict=True)
    # The lenient parser drops raise sizes in limit games, and accepts no raise without a size in no-limit games.
    has_other_actions = max(map(len, actions)) > 1 if is_limit else "r" in actions
    if has_other_actions:
        return None
    sent_us = map(int, map(add, sent_s, sent_fractions))
    received_us = map(int, map(add, received_s, received_fractions))
    times = list(map(_make, repeat(Times), zip(sent_us, received_us, strict=True)))
    hands = []
    start = 0
    for number, hand_numbers in groupby(numbers):
        end = start + len(list(hand_numbers))
        hands.append(CompanionLines(line + start, int(number), actions[start:end], times[start:end], []))
        start = end
    return hands


@functools.lru_cache(maxsize=1 << 14)
def _parse_whole_action(text: str, is_limit: bool) -> Action | None:
    scanned = scan_action(text, 0, is_limit)
    if scanned is None:
        return None
    action, end = scanned
    return action if end == len(text) else None


def _parse_line(line: str, is_limit: bool, last_fraction: int) -> tuple[Transaction, int]:
    """Parse a line; return it with the microseconds of the reply, for the next line."""
    unreadable = Transaction(line, None, -1, Times(0, 0)), last_fraction
    # The reference reads C strings, which end at a zero byte.
    text = line.split("\0", 1)[0]
    scanned = scan_action(text, 0, is_limit)
    if scanned is None:
        return unreadable
    action, end = scanned
    numbers: list[int] = []
    for separator, max_characters, scan in _FIELDS:
        field = None
        if text.startswith(separator, end):
            end += len(separator)
            field = _scan_field(text, end, max_characters, scan)
        if field is not None:
            number, end = field
        elif len(numbers) == len(_FIELDS) - 1:
            number = last_fraction
        else:
            return unreadable
        numbers.append(number)
    hand_number, sent_s, sent_us, received_s, received_us = numbers
    times = Times(sent_s * 1000000 + sent_us, received_s * 1000000 + received_us)
    return Transaction(line, action, wrap_uint32(hand_number), times), received_us


def _scan_field(text: str, start: int, max_characters: int, scan: _Scan) -> tuple[int, int] | None:
    # As scanf, which skips white space before a number and can be limited to a width.
    while start < len(text) and text[start] in " \t\n\v\f\r":
        start += 1
    return scan(text[: start + max_characters] if max_characters else text, start)


def format_comment(hand_number: int, comment: PlayerComment) -> str:
    """Format the line of a comment, with its LF."""
    import json

    return clean(json.dumps({"hand_number": hand_number} | comment._asdict(), ensure_ascii=False)) + "\n"


def parse_comment(line: str) -> tuple[int, PlayerComment]:
    """Parse the hand number and the comment of a line.

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
