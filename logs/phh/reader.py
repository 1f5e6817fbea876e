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
from logs.money import MOST_DECIMALS, Scale
from logs.phh.hand import read_hand
from logs.record import HandRecord
from logs.text import is_text

_TABLE: Final = re.compile(r"\[[^\[\]]+\][ \t]*(#.*)?")
_TOML_PLACE: Final = re.compile(r" \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)$")
_KEY: Final = re.compile(r"[ \t]*([A-Za-z_]+)[ \t]*=")
_FRACTION: Final = re.compile(r"[0-9]\.([0-9]+)")
_AMOUNTS: Final = {
    **dict.fromkeys(("antes", "blinds_or_straddles", "min_bet", "small_bet", "big_bet", "starting_stacks"), _FRACTION),
    "actions": re.compile(r" cbr [0-9]*\.([0-9]+)"),
}
"""Finds the decimals of the amounts of chips in the lines of a field."""
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
            if not is_text(text) and not any(map(_KEY.match, text.splitlines())):
                raise LogError(problems.path, "it is not text, and PHH is") from None
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


def _find_chip_value(lines: Iterator[str]) -> Decimal:
    """The smallest unit of all amounts: 1 where they are whole, a cent or less where they have decimals.

    What is left of a pot split into parts of a chip, in the stacks at the end, is no amount of chips.
    """
    decimals, key = 0, ""
    for line in lines:
        if found := _KEY.match(line):
            key = found[1]
        if "." in line and key in _AMOUNTS:
            for fraction in _AMOUNTS[key].findall(line):
                decimals = max(decimals, len(fraction.rstrip("0")))
    return Decimal(1).scaleb(-min(max(2, decimals), MOST_DECIMALS)) if decimals else Decimal(1)


read_phh: Final = HandReader(_read, _MOST_CHARACTERS, Decimal(1), _find_chip_value)
"""Reads PHH. A deal has no hole cards of players who never showed them, and the board only as far as the hand went."""
