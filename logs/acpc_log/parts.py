"""Cut a large log into parts that several processes can read.

A part begins at the start of a line and ends at the start of another. Read one after the other, the parts give the
hands and the problems of the whole file, except that no part shows whether the score is the sum of all hands.
`only_score` returns the score to compare after all parts are read.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from logs.acpc_log.header import HEADER_START
from logs.acpc_log.state_lines import ScoreLine, parse_score

_BLOCK_BYTES: Final = 1 << 20
_MAX_LINE_BYTES: Final = 1 << 16
"""Bytes searched for the end of a line; a hand has far fewer."""


class LogPart(NamedTuple):
    """Part of a log file, from byte `start` to before `end`.

    Attributes:
        lines_before: number of lines before it in the file.
        header: the last header line before it; empty without one, and for the first part.
        next_hand: number of the hand that should come first; None if unknown.
    """

    start: int
    end: int
    lines_before: int = 0
    header: str = ""
    next_hand: int | None = None


def cut_log(path: str | os.PathLike[str], parts: int) -> list[LogPart]:
    """Cut a log into about equal parts, at most `parts`; fewer if the file has too few lines.

    Raises:
        OSError: the file cannot be read.
    """
    size = os.path.getsize(path)
    if parts < 2 or not size:
        return [LogPart(0, size)]
    cuts = set[int]()
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for index in range(1, parts):
            place = size * index // parts
            # The search is bounded. A file that is one long line would be searched to its end for each part.
            cuts.add(data.find(b"\n", place, place + _MAX_LINE_BYTES) + 1)
        # 0 is the place of a line whose end was not found.
        return _parts(data, sorted(cuts - {0, size}))


def cut_logs(paths: Sequence[str | os.PathLike[str]], parts: int) -> list[list[LogPart]]:
    """Cut logs whose hands share their numbers at the same hands.

    Returns:
        The parts of each log, the same number for all; some may be empty.

    Raises:
        OSError: a file cannot be read.
    """
    longest = max(paths, key=os.path.getsize)
    first_hands = set[int]()
    for part in cut_log(longest, parts)[1:]:
        if part.next_hand is not None:
            first_hands.add(part.next_hand)
    parts_by_log: list[list[LogPart]] = []
    for path in paths:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            cuts = [_start_of(data, number) for number in sorted(first_hands)]
            parts_by_log.append(_parts(data, cuts))
    return parts_by_log


def _parts(data: mmap.mmap, cuts: list[int]) -> list[LogPart]:
    first_end = cuts[0] if cuts else len(data)
    parts = [LogPart(0, first_end)]
    lines = 0
    for start, end in pairwise([*cuts, len(data)]):
        lines += _count_lines(data, parts[-1].start, start)
        parts.append(LogPart(start, end, lines, _header_before(data, start), _next_hand(data, start)))
    return parts


def _start_of(data: mmap.mmap, hand_number: int) -> int:
    """Return the start of the line of a hand, or of the next hand, in a log whose numbers rise.

    The end of the log is the place of hands behind its last one.
    """
    low = 0
    high = len(data)
    while low < high:
        middle = (low + high) // 2
        newline = data.find(b"\nSTATE:", middle)
        number: int | None = None
        if newline >= 0:
            line_end = data.find(b"\n", newline + 1) + 1 or len(data)
            number = _next_hand(data, line_end)
        # `number` is that of the hand after the line found, so the line itself is before the hand wanted.
        if number is not None and number <= hand_number:
            low = newline + 1
        else:
            high = middle
    newline = data.find(b"\nSTATE:", low)
    if newline < 0:
        return len(data)
    return newline + 1


def _count_lines(data: mmap.mmap, start: int, end: int) -> int:
    # In blocks: a slice of a map is a copy.
    count = 0
    for block_start in range(start, end, _BLOCK_BYTES):
        block_end = min(block_start + _BLOCK_BYTES, end)
        count += data[block_start:block_end].count(b"\n")
    return count


def _header_before(data: mmap.mmap, end: int) -> str:
    mark = HEADER_START.encode()
    start = data.rfind(b"\n" + mark, 0, end) + 1
    if not start and data[: len(mark)] != mark:
        return ""
    return data[start : data.find(b"\n", start) + 1].decode("utf-8", "surrogateescape")


def _next_hand(data: mmap.mmap, end: int) -> int | None:
    """Return the number after that of the hand whose line ends here; None if it is not the line of a hand."""
    line = data[data.rfind(b"\n", 0, end - 1) + 1 : end]
    fields = line[: 1 << 6].split(b":")
    if fields[0] != b"STATE" or len(fields) < 3 or not fields[1].isdigit():
        return None
    return int(fields[1]) + 1


def only_score(path: str | os.PathLike[str]) -> tuple[int, ScoreLine] | None:
    """Return the score of a log with a single match, and the number of its line; None for any other log.

    Raises:
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start = data.find(b"\nSCORE:") + 1
        if not start:
            return None
        if data.find(b"\nSCORE:", start) >= 0 or data.find(b"\n" + HEADER_START.encode()) >= 0:
            return None
        line_number = 1 + _count_lines(data, 0, start)
        line = data[start : start + _BLOCK_BYTES].partition(b"\n")[0].decode("utf-8", "surrogateescape")
    score = parse_score(line)
    if score is None:
        return None
    return (line_number, score)
