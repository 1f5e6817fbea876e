"""How long a player's answers took: a histogram fine enough for medians and 99th percentiles, of bounded size.

Times below 64 microseconds are counted exactly, longer ones in 32 classes per power of two, an error of at most 1.6 %.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["ResponseTimes"]

_EXACT_BITS = 6


@dataclass(slots=True)
class ResponseTimes:
    """Times of answers in microseconds, equal when they hold the same counts.

    Attributes:
        count: number of answers.
        total_us: their sum.
    """

    count: int = 0
    total_us: int = 0
    _classes: Counter[int] = field(default_factory=Counter)

    def add(self, time_us: int) -> None:
        """Count one answer; a negative time counts as zero."""
        time_us = max(0, time_us)
        self.count += 1
        self.total_us += time_us
        shift = time_us.bit_length() - _EXACT_BITS
        self._classes[time_us if shift <= 0 else (shift << _EXACT_BITS) + (time_us >> shift)] += 1

    def include(self, others: ResponseTimes) -> None:
        """Add everything that another histogram holds."""
        self.count += others.count
        self.total_us += others.total_us
        self._classes.update(others._classes)

    def quantile_us(self, share: float) -> float | None:
        """The time that a given share of the answers did not exceed; None if there are no answers.

        Args:
            share: between 0 and 1, such as 0.5 for the median.
        """
        if not self.count:
            return None
        to_pass = share * self.count
        for index in sorted(self._classes):
            to_pass -= self._classes[index]
            if to_pass <= 0:
                return _middle_us(index)
        return _middle_us(max(self._classes))


def _middle_us(index: int) -> float:
    """The middle of a class."""
    shift = index >> _EXACT_BITS
    if shift == 0:
        return float(index)
    return float((index & ((1 << _EXACT_BITS) - 1)) << shift) + ((1 << shift) - 1) / 2
