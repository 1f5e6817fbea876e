"""Measured figures, as the studies store and judge them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from math import hypot, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from scipy.special import stdtrit


class Measured(NamedTuple):
    """A mean, half its 95 % interval, and the number of runs, deals or hands behind it; both 0 for exact figures."""

    mean: float
    half_width: float = 0.0
    units: int = 0

    @classmethod
    def over(cls, values: Sequence[float]) -> Measured:
        """The mean of independent runs, with the interval of Student's t."""
        count = len(values)
        half_width = stdtrit(count - 1, 0.975) * stdev(values) / sqrt(count)
        return cls(fmean(values), float(half_width), count)

    def times(self, factor: float) -> Measured:
        return Measured(self.mean * factor, self.half_width * factor, self.units)

    def minus(self, other: Measured) -> Measured:
        """The difference to an independent figure."""
        half_width = hypot(self.half_width, other.half_width)
        return Measured(self.mean - other.mean, half_width, min(self.units, other.units))


_COLUMNS = ("figure", "mean", "half_width_95", "units")


def read_figures(path: Path) -> dict[str, Measured]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = [[row[column] for column in _COLUMNS] for row in csv.DictReader(file)]
    return {name: Measured(float(mean), float(half), int(units)) for name, mean, half, units in rows}


def write_figures(path: Path, figures: Mapping[str, Measured]) -> None:
    rows = [(name, f"{one.mean:.6g}", f"{one.half_width:.4g}", one.units) for name, one in figures.items()]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([_COLUMNS, *rows])
