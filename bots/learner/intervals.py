"""Intervals over seeds: each seed is a training and a test of its own."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple

__all__ = ["Spread", "student_point"]


def student_point(freedom: int, tail: float = 0.025) -> float:
    """What a variable of Student's t exceeds with probability `tail`, to three digits from 4 degrees of freedom on.

    The expansion of Abramowitz and Stegun, 26.7.5.
    """
    z = NormalDist().inv_cdf(1 - tail)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * freedom**4)
    )


class Spread(NamedTuple):
    """A mean over seeds and half its 95 % interval.

    Attributes:
        mean: of the seeds.
        half_width: by Student's t, which takes the means of the seeds as normal.
    """

    mean: float
    half_width: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of at least two values, one for each seed."""
        return cls(fmean(values), student_point(len(values) - 1) * stdev(values) / sqrt(len(values)))

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half_width

    @property
    def words(self) -> str:
        """The mean with its interval, in whole numbers."""
        return f"{self.mean:+,.0f} ± {self.half_width:,.0f}"
