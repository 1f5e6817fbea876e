"""A mean and how far it can be trusted.

There are two intervals, because they answer two questions. `half_width_95` is the usual normal one: right when the
number of units was settled before anybody looked. `RunningMean.half_width_any_time` may be looked at after every unit,
and the look may decide when to stop: with probability 95 % the mean lies within *all* the intervals it ever shows.
That freedom costs width, a factor of about 1.9 between 100 and a million units.

`RunningMean` takes one score after the other; `Moments` are plain sums, which can be added and scaled.

Both intervals go by the spread seen so far, so both are blind to what has not happened yet: a bot that wins a little in
every hand and loses 200 big blinds once in 270 hands looks like a sure winner until the first such loss. Measured on
the populations of the tests (20,000 runs each, fewer beyond 1000 units): how often `half_width_95` holds the true mean,
by number of units, and how often `half_width_any_time` ever misses it, looked at after each of 10,000 units (2000 runs)
from unit 100 or from unit 1000 on.

                                                       nominal 0.95               nominal 0.05
    scores                                      100    300   1000   3000       from 100   from 1000
    normal                                    0.950  0.951  0.950  0.951          0.035       0.026
    limit hold'em, raising against tight      0.949  0.951  0.948  0.950          0.033       0.021
    duplicates of no-limit hold'em            0.947  0.952  0.951  0.947          0.035       0.018
    Leduc without limit                       0.947  0.949  0.950  0.950          0.043       0.026
    even, 200 blinds at stake in 1 % of hands 0.976  0.974  0.948  0.953          0.021       0.018
    all-in in 5 % of hands, else folding      0.802  0.932  0.950  0.955          0.221       0.016
    loses 200 blinds in 1 % of hands          0.634  0.796  0.926  0.932          0.412       0.066
    loses 200 blinds in 0.37 % of hands       0.312  0.670  0.877  0.919          0.700       0.126

As a rule of thumb, whatever decides the mean should have happened some tens of times. Two better-founded intervals were
tried and dropped: Student's t instead of the normal point is worth 0.003 at 100 units and nothing at 300; Johnson's
correction for skewness (1978) mends none of the bad rows, since the skewness is exactly what has not been seen yet.
For error rates that hold whatever the scores are like, use `logs.estimation.sequential`, which knows how far scores can
reach.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from logs.estimation.rate import Rate

__all__ = ["FEWEST_UNITS", "Z_95", "Moments", "RunningMean"]

Z_95: Final = 1.959964
"""Two-sided 95 % point of the normal distribution."""

FEWEST_UNITS: Final = 100
"""No interval is given below this number of units: scores are far from normal, and the mean of a few says little."""

TUNED_UNITS: Final = 1000
"""The number of units at which the any-time interval is tightest. It costs little elsewhere: the half width in standard
errors is 3.8 after 100 units, 3.0 after 1000 (no other choice gives less), 3.2 after 10,000 and 3.6 after 100,000."""


class RunningMean:
    """Mean and variance of a stream of numbers in one pass (Welford 1962): no sum of large squares, nothing cancels.

    Attributes:
        count: how many numbers.
        mean: their mean; 0 without any.
        squares: the sum of their squared distances from the mean.
    """

    __slots__ = ("count", "mean", "squares")

    def __init__(self, values: Iterable[float] = ()) -> None:
        self.count = 0
        self.mean = 0.0
        self.squares = 0.0
        for value in values:
            self.add(value)

    def add(self, value: float) -> None:
        """Count a number in."""
        self.count += 1
        delta = value - self.mean
        self.mean += delta / self.count
        self.squares += delta * (value - self.mean)

    @property
    def variance(self) -> float | None:
        """The unbiased variance of the numbers; None for fewer than two."""
        return self.squares / (self.count - 1) if self.count > 1 else None

    @property
    def standard_deviation(self) -> float | None:
        """The root of the variance; None for fewer than two numbers."""
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else None

    @property
    def half_width_95(self) -> float | None:
        """Half the 95 % interval of the mean for a number of units settled beforehand; None below `FEWEST_UNITS`."""
        if self.count < FEWEST_UNITS:
            return None
        return Z_95 * math.sqrt(self.squares / (self.count - 1) / self.count)

    def half_width_any_time(self, alpha: float = 0.05) -> float | None:
        """Half an interval of the mean that holds at every moment from `FEWEST_UNITS` on; None below.

        The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), "Time-uniform
        central limit theory and asymptotic confidence sequences", Annals of Statistics 52: Robbins' normal mixture
        around the sample mean with the sample variance. After t units it is
        s * sqrt((v + 1) / (t v) * (log(v + 1) + 2 log(1 / alpha))) with v = t * rho**2; rho is chosen so that the
        interval is tightest at `TUNED_UNITS`.

        Like every interval by a limit theorem it is as good as the first looks are: see the head of this module for
        scores of which 100 units tell little.

        Args:
            alpha: the probability that the mean is ever outside.
        """
        if self.count < FEWEST_UNITS:
            return None
        v = self.count * _best_intensity(alpha) / TUNED_UNITS
        variance = self.squares / (self.count - 1)
        return math.sqrt(variance * (v + 1) / (self.count * v) * (math.log(v + 1) + 2 * math.log(1 / alpha)))

    def rate(self, player: str, opponent: str, *, any_time: bool = False) -> Rate | None:
        """The mean of scores in mbb per game as a `Rate`; None without any.

        Args:
            player: whose scores they are.
            opponent: who pays them.
            any_time: give the interval that holds at every moment instead of the usual one.
        """
        half_width = self.half_width_any_time() if any_time else self.half_width_95
        return Rate(self.mean, half_width, player, opponent) if self.count else None


class Moments(NamedTuple):
    """Sums over numbers, one per hand.

    Winnings are whole chips, or fractions of a split pot, and their mean is small against their spread: plain sums
    lose nothing that matters (a million hands for 20,000 chips each: the variance is right to 1e-10 of itself).

    Attributes:
        hands: how many numbers.
        total: their sum.
        squares: the sum of their squares.
    """

    hands: int = 0
    total: float = 0.0
    squares: float = 0.0

    def plus(self, other: Moments) -> Moments:
        """The sums over both sets of numbers."""
        return Moments(self.hands + other.hands, self.total + other.total, self.squares + other.squares)

    def times(self, factor: float) -> Moments:
        """The sums over the numbers in another unit."""
        return Moments(self.hands, self.total * factor, self.squares * factor * factor)

    @property
    def mean(self) -> float | None:
        """The mean; None without numbers."""
        return self.total / self.hands if self.hands else None

    @property
    def half_width_95(self) -> float | None:
        """Half the 95 % interval of the mean, as for `RunningMean`; None below `FEWEST_UNITS` hands."""
        if self.hands < FEWEST_UNITS:
            return None
        variance = max(0.0, self.squares - self.total * self.total / self.hands) / (self.hands - 1)
        return Z_95 * math.sqrt(variance / self.hands)


@lru_cache(maxsize=16)
def _best_intensity(alpha: float) -> float:
    """The v = t * rho**2 that makes the any-time interval after t units tightest: v = log(1 + v) + 2 log(1 / alpha).

    There the derivative of the width by v is zero. The right side is a contraction with a factor of 1 / (1 + v), and v
    is at least 2 log(1 / alpha).
    """
    v = twice = 2 * math.log(1 / alpha)
    for _ in range(60):
        v = twice + math.log1p(v)
    return v
