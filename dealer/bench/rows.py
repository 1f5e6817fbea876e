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
    user_us: float | None = None
    """Processor time of one unit of the job in user mode, in microseconds, start-up left out; the median."""
    system_us: float | None = None
    """The same in the kernel."""
    others_share: float | None = None
    """How busy other programs kept the machine meanwhile: their share of all its processor time, the median."""
