"""Reading PHH: ``.phh`` files of one hand and ``.phhs`` files of many.

A file is cut at its table headers, ``[1]`` alone in a line, and read hand by hand: it may be larger than memory, and
what is wrong with one hand does not touch the others. Every hand is played again by the rules, so what a record holds
is legal and its values are those the cards give. Defaults fill what PHH leaves open: a hand without a number counts as
its place in the file, players without seats sit in the order of the positions.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from logs.errors import HandError, LogError, ProblemKind, ProblemReporter
from logs.files import stem
from logs.formats import HandReader
from logs.money import Scale
from logs.phh.hand import read_hand
from logs.record import HandRecord

__all__ = ["read_phh"]

_TABLE: Final = re.compile(r"\[[^\[\]]+\][ \t]*(#.*)?")
_TOML_PLACE: Final = re.compile(r" \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)$")
_MOST_CHARACTERS: Final = 1 << 20
"""Of one hand."""


def _read(lines: Iterator[str], problems: ProblemReporter, scale: Scale) -> Iterator[HandRecord]:
    match_name = os.path.basename(stem(problems.path))
    count = 0
    for start, text in _hands(lines):
        count += 1
        try:
            record, doubt = read_hand(_parse(text), scale, match_name=match_name, place=count - 1)
        except HandError as error:
            # Only the last hand of a file can lack the end of its last line.
            is_cut = error.__cause__ is not None and not text.endswith("\n")
            kind = ProblemKind.HALF_WRITTEN if is_cut else ProblemKind.SKIPPED
            problems.report(start + error.line, error.column, error.problem, kind)
            continue
        if doubt:
            problems.report(start, None, doubt, ProblemKind.NOTED)
        yield record
    if not count:
        raise LogError(problems.path, "there is no hand in it")


def _hands(lines: Iterator[str]) -> Iterator[tuple[int, str]]:
    """The text of each hand, without its table header, and the number of the line where it begins."""
    start, held, size = 1, list[str](), 0
    for line_number, line in enumerate(lines, 1):
        if _TABLE.fullmatch(line.rstrip("\r\n")):
            if any(map(_says_something, held)):
                yield start, "".join(held)
            start, held, size = line_number + 1, [], 0
        elif size <= _MOST_CHARACTERS:
            # A hand beyond the bound is cut there, and then no longer TOML.
            held.append(line)
            size += len(line)
    if any(map(_says_something, held)):
        yield start, "".join(held)


def _says_something(line: str) -> bool:
    line = line.strip()
    return bool(line) and not line.startswith("#")


def _parse(text: str) -> dict[str, Any]:
    """The fields of a hand.

    Raises:
        HandError: the text is not TOML; its cause is what `tomllib` says.
    """
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        message = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        where = _TOML_PLACE.search(message)
        plain = message[: where.start()] if where else message
        at_end = " at the end of the hand" if where and not where.group(1) else ""
        line = int(where.group(1) or 1) - 1 if where else 0
        column = int(where.group(2)) if where and where.group(2) else None
        raise HandError(f"this is not TOML: {plain[:1].lower()}{plain[1:]}{at_end}", line, column) from error


read_phh: Final = HandReader(_read, _MOST_CHARACTERS, Decimal(1))
"""Reads PHH. A deal has no hole cards of players who never showed them, and the board only as far as the hand went."""
