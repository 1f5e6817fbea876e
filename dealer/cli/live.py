"""The line that lives while a match runs: on a terminal one line redrawn, elsewhere a plain line now and then."""

from __future__ import annotations

import asyncio
import time

from rich.live import Live
from rich.text import Text

from dealer.cli.console import err
from dealer.run import MatchRun

__all__ = ["watch"]

_REDRAW_S = 0.2
_PLAIN_EVERY_S = 10.0


async def watch(run: MatchRun) -> None:
    """Show how the match stands until cancelled."""
    if err.is_terminal:
        with Live(Text(""), console=err, auto_refresh=False, transient=True) as live:
            while True:
                live.update(Text(status_line(run), no_wrap=True, overflow="ellipsis"), refresh=True)
                await asyncio.sleep(_REDRAW_S)
    shown = ""
    while True:
        await asyncio.sleep(_PLAIN_EVERY_S)
        line = status_line(run)
        if line != shown:
            shown = line
            err.print(line, markup=False)


def status_line(run: MatchRun) -> str:
    """How the match stands, in one line."""
    tally, plan = run.tally, run.plan
    if run.started_s is None:
        return waiting_line(run)
    seconds = max(1e-9, time.monotonic() - run.started_s)
    rate = tally.hands / seconds
    parts = [f"{tally.hands:,}/{plan.hands:,} hands", f"{rate:,.0f} hands/s"]
    if tally.hands:
        leader = max(range(len(run.names)), key=lambda seat: tally.chips[seat])
        mbb = tally.mbb[leader]
        half = mbb.half_width_95
        spread = f" ± {half:,.0f}" if half is not None else ""
        over = f" over {run.names[1 - leader]}" if len(run.names) == 2 else ""
        parts.append(f"{run.names[leader]}{over} {mbb.mean:+,.0f}{spread} mbb/g")
        left = (plan.hands - tally.hands) / rate
        parts.append(f"{left:,.0f} s left")
    if tally.fault_count:
        parts.append(f"{tally.fault_count:,} faults")
    return " · ".join(parts)


def waiting_line(run: MatchRun) -> str:
    """Who is awaited, where, and for how long."""
    missing = run.waiting_for()
    if not missing:
        return "everybody is connected, waiting for the version lines"
    names = ", ".join(f"{name} at {address}" for name, address in missing)
    left = run.start_time_left_s
    return f"waiting for {names}" + (f", {left:.0f} s left" if left is not None else ", without limit")
