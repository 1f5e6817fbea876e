"""The score that ends an ACPC log, and whether it is the sum of the hands.

SCORE:440|-440:Ann|Bob
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from logs.acpc_log.state_lines import NUMBER
from logs.acpc_log.writer import format_value

__all__ = ["Score", "is_same_score", "parse_score", "wrong_score"]

_TOLERANCE_CHIPS: Final = 1e-3


class Score(NamedTuple):
    """A score.

    Attributes:
        totals: chips by seat.
        names: by seat.
    """

    totals: tuple[float, ...]
    names: tuple[str, ...]


def parse_score(line: str) -> Score | None:
    """Read a score line; None for any other line."""
    values_text, _, names_text = line.rstrip("\r\n").removeprefix("SCORE:").partition(":")
    texts, names = values_text.split("|"), tuple(names_text.split("|"))
    if len(texts) != len(names) or not all(map(NUMBER.fullmatch, texts)):
        return None
    return Score(tuple(map(float, texts)), names)


def is_same_score(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether totals are equal, except for decimals that were lost in printing."""
    return all(abs(a - b) <= _TOLERANCE_CHIPS for a, b in zip(one, other, strict=True))


def wrong_score(totals: Sequence[float]) -> str:
    """The sentence about a score that differs from these sums."""
    shown = "|".join(map(format_value, totals))
    return f"the score is not the sum of the hands, {shown}: hands are missing, or some were added"
