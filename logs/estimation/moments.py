"""The mean of many hands and how far it can be trusted, from sums that can be added.

The interval is the usual normal one over hands, as the arena's results give it over what they count: right when the
number of hands was settled before anybody looked, and not given below `FEWEST_HANDS`. Cards that are played again with
the seats rotated even luck out; here each such hand counts for itself, so that the interval is wider than it need be.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

__all__ = ["FEWEST_HANDS", "Z_95", "Moments"]

Z_95: Final = 1.959964
"""Two-sided 95 % point of the normal distribution."""

FEWEST_HANDS: Final = 100
"""Below so many hands no interval is given: winnings are far from normal and a mean of few says little."""


class Moments(NamedTuple):
    """Sums over numbers, one a hand.

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
        """Half the 95 % interval of the mean; None below `FEWEST_HANDS`."""
        if self.hands < FEWEST_HANDS:
            return None
        variance = max(0.0, self.squares - self.total * self.total / self.hands) / (self.hands - 1)
        return Z_95 * math.sqrt(variance / self.hands)
