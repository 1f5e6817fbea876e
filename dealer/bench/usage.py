"""Processor time of processes and of the whole machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import psutil


class Spent(NamedTuple):
    """Processor time in seconds."""

    user_s: float
    system_s: float


def spent_by(process: psutil.Process) -> Spent:
    """What a process has used itself, without its children; nothing where it has ended."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return Spent(0.0, 0.0)
    return Spent(times.user, times.system)


def spent_by_all(processes: Iterable[psutil.Process]) -> float:
    """What processes have used together, in seconds."""
    return sum(sum(spent_by(process)) for process in processes)


def machine_s() -> tuple[float, float]:
    """Processor seconds of the whole machine since it was started: used, and used or idle."""
    times = psutil.cpu_times()
    whole = sum(times[:8])
    return whole - times.idle - getattr(times, "iowait", 0.0), whole
