"""Measured figures, as the studies compute, store and judge them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import atan, cos, hypot, pi, sin, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Final, NamedTuple

_STEPS: Final = 60
"""Of a bisection, which halve 100 to less than the precision of a float."""


class Measured(NamedTuple):
    """A mean, half its 95 % interval, and the number of runs, deals or hands behind it; both 0 for exact figures."""

    mean: float
    half_width: float = 0.0
    units: int = 0

    @classmethod
    def over(cls, values: Sequence[float]) -> Measured:
        """The mean of independent runs, with the interval of Student's t."""
        count = len(values)
        half_width = student_bound(count - 1) * stdev(values) / sqrt(count)
        return cls(fmean(values), half_width, count)

    def times(self, factor: float) -> Measured:
        return Measured(self.mean * factor, self.half_width * factor, self.units)

    def minus(self, other: Measured) -> Measured:
        """The difference to an independent figure."""
        half_width = hypot(self.half_width, other.half_width)
        return Measured(self.mean - other.mean, half_width, min(self.units, other.units))


class Task(NamedTuple):
    """Computation of some figures.

    Attributes:
        function: returns the figures by their names.
        is_long: it takes minutes.
    """

    name: str
    function: Callable[..., dict[str, Measured]]
    arguments: tuple[object, ...] = ()
    is_long: bool = False


@cache
def student_bound(freedom: int) -> float:
    """Return the value that the absolute of Student's t exceeds in 5 % of all cases.

    Args:
        freedom: degrees of freedom, 1 or more.
    """
    low, high = 0.0, 100.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _chance_within(middle, freedom) < 0.95:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _chance_within(bound: float, freedom: int) -> float:
    """Return the probability that the absolute of Student's t is below a bound.

    The series are exact: Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.
    """
    angle = atan(bound / sqrt(freedom))
    square = cos(angle) ** 2
    if freedom % 2:
        term, total = cos(angle), 0.0
        for number in range(1, freedom // 2 + 1):
            total += term
            term *= square * 2 * number / (2 * number + 1)
        return 2 / pi * (angle + sin(angle) * total)
    term, total = 1.0, 0.0
    for number in range(1, freedom // 2 + 1):
        total += term
        term *= square * (2 * number - 1) / (2 * number)
    return sin(angle) * total


_COLUMNS: Final = ("figure", "mean", "half_width_95", "units")
_DIGITS: Final = 6
_EXACT_DIGITS: Final = 12


def read_figures(path: Path) -> dict[str, Measured]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = [[row[column] for column in _COLUMNS] for row in csv.DictReader(file)]
    return {name: Measured(float(mean), float(half), int(units)) for name, mean, half, units in rows}


def write_figures(path: Path, figures: Mapping[str, Measured]) -> None:
    rows = []
    for name, figure in figures.items():
        digits = _DIGITS if figure.units else _EXACT_DIGITS
        rows.append((name, f"{figure.mean:.{digits}g}", f"{figure.half_width:.6g}", figure.units))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([_COLUMNS, *rows])
