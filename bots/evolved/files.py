"""Chromosomes as files (`bots.artifact`).

The first line has a record of the training. Behind it stand the two thresholds of gene 0, of gene 1, and so on, a
signed byte each.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bots.artifact import Kind, read_artifact, write_artifact
from bots.errors import ChromosomeError
from bots.evolved.chromosome import GENES, THRESHOLD, Odds

__all__ = ["CHAMPION", "Chromosome", "read_chromosome", "recorded_odds", "write_chromosome"]

CHAMPION: Final = os.path.join(os.path.dirname(__file__), "champion.chromosome")
"""The shipped one; its first line tells the commands, seeds and date of its training."""

_KIND: Final = Kind(
    "a chromosome of acpc-arena's evolved agent", 2, ChromosomeError, "`arena evolve` writes such files"
)


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
    write_artifact(path, _KIND, {"training": dict(record)}, thresholds)


def read_chromosome(path: str) -> Chromosome:
    """Read a file.

    Raises:
        ChromosomeError: there is no such file, it is no chromosome, of another version, or damaged.
    """
    found = read_artifact(path, _KIND)
    values = tuple(array("b", bytes(found.contents)))
    if len(values) != 2 * GENES:
        raise ChromosomeError(path, f"it has {len(values)} thresholds, not {2 * GENES}")
    if any(not -THRESHOLD <= value <= THRESHOLD for value in values):
        raise ChromosomeError(path, f"it has thresholds outside of -{THRESHOLD} to {THRESHOLD}")
    return Chromosome(values, json.dumps(found.header.get("training"), sort_keys=True))


def recorded_odds(chromosome: Chromosome) -> str:
    """The odds that a chromosome was trained with; ``reward``, the default, where its record says none."""
    record = json.loads(chromosome.record)
    settings = record.get("settings") if isinstance(record, dict) else None
    odds = settings.get("odds") if isinstance(settings, dict) else None
    return odds if isinstance(odds, str) else Odds.REWARD.value
