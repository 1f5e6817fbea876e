"""The times and comments of a single hand, found beside a log by halving: their lines are in the order of the hands."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, Final

from engine import BettingState
from logs.comments import parse_comment
from logs.files import stem
from logs.record import PlayerComment, Times
from logs.transaction_log import parse_own_lines, parse_transactions
from protocol import format_action

__all__ = ["notes_of_hand"]

_MOST_DIGITS: Final = 18
"""Of the number of a hand."""


def notes_of_hand(path: str, number: int, betting: BettingState) -> tuple[tuple[Times, ...], tuple[PlayerComment, ...]]:
    """The times and the comments of a hand, as far as there are any beside its log."""
    beside = stem(path)
    comments = []
    for line in _lines_at(f"{beside}.comments", number, _number_of_comment):
        comment = parse_comment(line)[1]
        if comment.seat < betting.game.num_players:
            comments.append(comment)
    lines = _lines_at(f"{beside}.tlog", number, _number_of_transaction)
    actions = tuple(format_action(action) for taken in betting.rounds for _, action in taken)
    is_limit = betting.game.is_limit
    own = parse_own_lines("".join(lines), is_limit=is_limit) if lines else None
    if own is not None:
        found = tuple(action for part in own for action in part.actions)
        times = tuple(times for part in own for times in part.times)
    else:
        read = parse_transactions(lines, is_limit=is_limit)
        found = tuple("" if one.action is None else format_action(one.action) for one in read)
        times = tuple(one.times for one in read)
    return (times if found == actions else ()), tuple(comments)


def _number_of_transaction(line: str) -> int | None:
    fields = line.split(" ", 2)
    number = fields[1] if len(fields) > 2 else ""
    return int(number) if number.isascii() and number.isdigit() and len(number) < _MOST_DIGITS else None


def _number_of_comment(line: str) -> int | None:
    try:
        return parse_comment(line)[0]
    except ValueError:
        return None


def _lines_at(path: str, number: int, number_of: Callable[[str], int | None]) -> list[str]:
    """The whole lines of a hand in a file whose hands are in order; none where there is no such file."""
    try:
        file = open(path, "rb")  # noqa: SIM115 (closed below; only that it is absent is no error)
    except FileNotFoundError:
        return []
    with file:
        low, high = 0, file.seek(0, os.SEEK_END)
        while low < high:
            middle = (low + high) // 2
            found, end = _first_number(file, middle, high, number_of)
            if found is not None and found < number:
                low = end
            else:
                high = middle
        return _following(file, low, number, number_of)


def _first_number(
    file: IO[bytes], start: int, end: int, number_of: Callable[[str], int | None]
) -> tuple[int | None, int]:
    """The number of the first line that begins at a place or after it, and before another; and where that line ends."""
    if start:
        file.seek(start - 1)
        file.readline()
    else:
        file.seek(0)
    while (at := file.tell()) < end and (line := file.readline()):
        found = number_of(_text_of(line))
        if found is not None:
            return found, at + len(line)
    return None, end


def _following(file: IO[bytes], start: int, number: int, number_of: Callable[[str], int | None]) -> list[str]:
    """The lines of a hand, the first of which begins at a place or is the first of a number after it."""
    if start:
        file.seek(start - 1)
        file.readline()
    else:
        file.seek(0)
    lines: list[str] = []
    while line := file.readline():
        text = _text_of(line)
        found = number_of(text) if text.endswith("\n") else None
        if found is None:
            continue
        if found > number:
            break
        if found == number:
            lines.append(text)
    return lines


def _text_of(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")
