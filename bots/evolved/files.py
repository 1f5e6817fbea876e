"""Chromosomes as files: one line that says what it is, then its thresholds.

The first line is JSON: what the file is, its layout's version, the checksum of the rest, and a record of the training
that gave it. Behind it stand the two thresholds of gene 0, of gene 1, and so on, a signed byte each.
"""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bots.errors import ChromosomeError
from bots.evolved.chromosome import GENES, THRESHOLD, Odds

__all__ = ["CHAMPION", "Chromosome", "read_chromosome", "recorded_odds", "write_chromosome"]

CHAMPION: Final = os.path.join(os.path.dirname(__file__), "champion.chromosome")
"""The shipped one; its first line tells the commands, seeds and date of its training."""

_WHAT: Final = "a chromosome of acpc-arena's evolved agent"
_VERSION: Final = 1
_LONGEST_LINE: Final = 100_000


@dataclass(frozen=True, slots=True)
class Chromosome:
    """An agent.

    Attributes:
        thresholds: two for each gene, first that above which it raises, then that above which it calls.
        record: of its training, as JSON: settings, seeds, date, results.
    """

    thresholds: tuple[int, ...]
    record: str


def write_chromosome(path: str, thresholds: bytes, record: Mapping[str, Any]) -> None:
    """Write a file.

    Args:
        path: of the file.
        thresholds: a signed byte each, see above.
        record: of the training; JSON must be able to say it.

    Raises:
        ChromosomeError: the file cannot be written.
    """
    # A bot that plays needs neither.
    from pathlib import Path

    from logs.whole_file import write_whole

    checksum = hashlib.sha256(thresholds).hexdigest()
    header = {"what": _WHAT, "version": _VERSION, "sha256": checksum, "training": dict(record)}
    try:
        write_whole(Path(path), json.dumps(header).encode() + b"\n" + thresholds)
    except OSError as error:
        raise ChromosomeError(path, f"it cannot be written: {error.strerror or error}") from error


def read_chromosome(path: str) -> Chromosome:
    """Read a file.

    Raises:
        ChromosomeError: there is no such file, it is no chromosome, of another version, or damaged.
    """
    try:
        with open(path, "rb") as file:
            line, thresholds = file.readline(_LONGEST_LINE), file.read(2 * GENES + 1)
    except OSError as error:
        raise ChromosomeError(path, f"it cannot be read: {error.strerror or error}") from error
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("what") != _WHAT:
        raise ChromosomeError(path, f"it does not begin with a line that says it is {_WHAT}")
    if header.get("version") != _VERSION:
        raise ChromosomeError(path, f"it is of version {header.get('version')}; this program reads version {_VERSION}")
    if len(thresholds) != 2 * GENES or hashlib.sha256(thresholds).hexdigest() != header.get("sha256"):
        raise ChromosomeError(path, f"it is damaged: {2 * GENES} bytes with the checksum of its first line must follow")
    values = tuple(array("b", thresholds))
    if any(not -THRESHOLD <= value <= THRESHOLD for value in values):
        raise ChromosomeError(path, f"it has thresholds outside of -{THRESHOLD} to {THRESHOLD}")
    return Chromosome(values, json.dumps(header.get("training"), sort_keys=True))


def recorded_odds(chromosome: Chromosome) -> str:
    """The odds that a chromosome was trained with; ``reward``, the default, where its record says none."""
    record = json.loads(chromosome.record)
    settings = record.get("settings") if isinstance(record, dict) else None
    odds = settings.get("odds") if isinstance(settings, dict) else None
    return odds if isinstance(odds, str) else Odds.REWARD.value
