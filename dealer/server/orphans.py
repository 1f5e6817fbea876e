"""Bots that a server has left behind when it was killed: found by a variable in their environment, and ended."""

from __future__ import annotations

import contextlib

import psutil

__all__ = ["MARK", "end_orphans"]

MARK = "ARENA_SERVER"
"""The variable that every bot of a server has; its value names the server's folder, the same after every start."""


def end_orphans(value: str) -> int:
    """Kill every process that has this value of `MARK`; returns how many there were."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == value:
                process.kill()
                found.append(process)
    psutil.wait_procs(found, 5.0)
    return len(found)
