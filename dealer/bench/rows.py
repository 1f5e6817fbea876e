"""The one shape in which every measurement is reported."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """How fast one program did one job.

    A program that is not installed has a row too, with rates of 0 and a note that says so.
    """

    group: str
    """The job: only rows of one group did the same."""
    who: str
    """The program, with its version where it has one."""
    rate_median: float
    """Median over the repeats, in `unit`."""
    rate_low: float
    """The slowest repeat."""
    rate_high: float
    """The fastest repeat."""
    unit: str
    ratio: float | None
    """Our rate divided by this program's: the median over the repeats, each of which timed both. None for ourselves."""
    note: str = ""
