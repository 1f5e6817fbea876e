"""Cutting a big log into parts that several processes can read.

A part is a stretch of the file from the start of a line to the start of another, with what its reader needs to know:
the header before it, the number of lines before it, and the number of the hand that should come first. Read one after
the other, the parts give the hands and the problems that the whole file gives, with one exception: a part alone does
not show whether the score is the sum of the hands. `only_score` gives the score to compare once all parts are read.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from logs.acpc_log.header import HEADER_START
from logs.acpc_log.state_lines import ScoreLine, parse_score

_BLOCK_BYTES = 1 << 20
_CUT_BYTES = 1 << 16
"""How far the end of a line is looked for; a hand has far fewer."""


class LogPart(NamedTuple):
    """A stretch of a log file, from byte `start` to before `end`.

    Attributes:
        lines_before: how many lines the file has before it.
        header: the last header line before it; empty where there is none, and for the first part.
        next_hand: the number of the hand that should come first; None if unknown.
    """

    start: int
    end: int
    lines_before: int = 0
    header: str = ""
    next_hand: int | None = None


def cut_log(path: str | os.PathLike[str], parts: int) -> list[LogPart]:
    """Cut a log into about equal parts, at most `parts`; fewer where the file has too few lines.

    Raises:
        OSError: the file cannot be read.
    """
    size = os.path.getsize(path)
    if parts < 2 or not size:
        return [LogPart(0, size)]
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        places = [size * i // parts for i in range(1, parts)]
        # Where no line ends in sight, there is none to cut at: the whole of a long line would be passed for each part.
        cuts = {data.find(b"\n", place, place + _CUT_BYTES) + 1 for place in places}
        return _parts(data, sorted(cuts - {0, size}))


def cut_logs(paths: Sequence[str | os.PathLike[str]], parts: int) -> list[list[LogPart]]:
    """Cut logs whose hands share their numbers at the same hands: of each log as many parts, some perhaps empty.

    Raises:
        OSError: a file cannot be read.
    """
    longest = max(paths, key=os.path.getsize)
    hands = [part.next_hand for part in cut_log(longest, parts)[1:]]
    numbers = sorted({number for number in hands if number is not None})
    found = []
    for path in paths:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found.append(_parts(data, [_start_of(data, number) for number in numbers]))
    return found


def _parts(data: mmap.mmap, cuts: list[int]) -> list[LogPart]:
    found = [LogPart(0, cuts[0] if cuts else len(data))]
    lines = 0
    for start, end in pairwise([*cuts, len(data)]):
        lines += _count_lines(data, found[-1].start, start)
        found.append(LogPart(start, end, lines, _header_before(data, start), _next_hand(data, start)))
    return found


def _start_of(data: mmap.mmap, hand_number: int) -> int:
    """The start of the line of a hand, or of the first one after it, in a log whose numbers rise; 0 to the end."""
    low = 0
    high = len(data)
    while low < high:
        middle = (low + high) // 2
        at = data.find(b"\nSTATE:", middle)
        number = None if at < 0 else _next_hand(data, data.find(b"\n", at + 1) + 1 or len(data))
        if number is not None and number <= hand_number:
            low = at + 1
        else:
            high = middle
    at = data.find(b"\nSTATE:", low)
    if at < 0:
        return len(data)
    return at + 1


def _count_lines(data: mmap.mmap, start: int, end: int) -> int:
    return sum(data[at : min(at + _BLOCK_BYTES, end)].count(b"\n") for at in range(start, end, _BLOCK_BYTES))


def _header_before(data: mmap.mmap, end: int) -> str:
    mark = HEADER_START.encode()
    at = data.rfind(b"\n" + mark, 0, end) + 1
    if not at and data[: len(mark)] != mark:
        return ""
    return data[at : data.find(b"\n", at) + 1].decode("utf-8", "surrogateescape")


def _next_hand(data: mmap.mmap, end: int) -> int | None:
    line = data[data.rfind(b"\n", 0, end - 1) + 1 : end]
    fields = line[: 1 << 6].split(b":")
    if fields[0] != b"STATE" or len(fields) < 3 or not fields[1].isdigit():
        return None
    return int(fields[1]) + 1


def only_score(path: str | os.PathLike[str]) -> tuple[int, ScoreLine] | None:
    """The score of a log that holds a single match, with the number of its line; None for any other log.

    Raises:
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(b"\nSCORE:") + 1
        if not at or data.find(b"\nSCORE:", at) >= 0 or data.find(b"\n" + HEADER_START.encode()) >= 0:
            return None
        line_number = 1 + _count_lines(data, 0, at)
        line = data[at : at + _BLOCK_BYTES].partition(b"\n")[0].decode("utf-8", "surrogateescape")
    score = parse_score(line)
    if score is None:
        return None
    return (line_number, score)
