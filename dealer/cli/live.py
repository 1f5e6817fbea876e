"""The line that lives while a run goes on: on a terminal one line redrawn, elsewhere a plain line now and then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from rich.live import Live
from rich.text import Text

from dealer.cli.console import Terminal
from dealer.contest.contest import Contest
from dealer.contest.tournament import Tournament
from dealer.results.sentences import count_of, rounded_up
from dealer.results.typical_spread import typical_spread_mbb
from dealer.table.players import PlayerKind

__all__ = ["expectation", "status_line", "waiting_line", "watch"]

_REDRAW_S = 0.2
_PLAIN_EVERY_S = 10.0


async def watch(terminal: Terminal, tournament: Tournament) -> None:
    """Show how the run stands until cancelled."""
    if terminal.err.is_terminal:
        with Live(Text(""), console=terminal.err, auto_refresh=False, transient=True) as live:
            while True:
                live.update(Text(status_line(tournament), no_wrap=True, overflow="ellipsis"), refresh=True)
                await asyncio.sleep(_REDRAW_S)
    shown = ""
    while True:
        await asyncio.sleep(_PLAIN_EVERY_S)
        line = status_line(tournament)
        if line != shown:
            shown = line
            terminal.say(line)


def expectation(tournament: Tournament) -> Iterator[str]:
    """What can be said before the first hand: how many hands a stop rule is likely to need."""
    plan = tournament.plan.contests[0]
    contest = tournament.contests[0]
    if contest.monitor is None:
        return
    spread = typical_spread_mbb(plan.game, contest.seatings)
    deals = rounded_up(contest.monitor.likely_units(spread))
    of_them = f", more than the {plan.hands:,} that will be played" if deals > plan.hands else ""
    yield (
        f"--stop {plan.stop}: likely to need up to {count_of(deals, 'deal')}{of_them}, if a deal scatters by "
        f"{spread:,.0f} mbb as between simple bots; how many really is told while it runs."
    )


def status_line(tournament: Tournament) -> str:
    """How the run stands, in one line."""
    contests = tournament.contests
    if len(contests) > 1:
        return _tournament_line(tournament)
    contest = contests[0]
    waiting = waiting_line(tournament)
    if waiting and not contest.scores.hands_played:
        return waiting
    played, asked = contest.scores.hands_played, contest.hands_to_play
    rate = _rate(contest)
    parts = [f"{played:,}/{asked:,} hands", f"{rate:,.0f} hands/s"]
    if played:
        parts.append(_standing(contest))
    monitor = contest.monitor
    left = asked - played
    if monitor is not None:
        more = monitor.expected_more()
        if more is not None:
            left = min(left, more * contest.seatings)
            parts.append(f"about {rounded_up(left):,} more hands needed" if left else "enough is known")
        else:
            parts.append("hands needed: too early to say")
    if rate:
        parts.append(f"{_duration(left / rate)} left")
    faults = sum(run.tally.fault_count for run in contest.runs)
    if faults:
        parts.append(count_of(faults, "fault"))
    if waiting:
        parts.append(waiting)
    return " · ".join(parts)


def _tournament_line(tournament: Tournament) -> str:
    contests = tournament.contests
    ended = sum(contest.ending is not None for contest in contests)
    played = sum(contest.scores.hands_played for contest in contests)
    asked = sum(contest.hands_to_play for contest in contests)
    elapsed = max(1e-9, time.monotonic() - tournament.started_s)
    rate = sum(contest.scores.hands_played - contest.hands_before for contest in contests) / elapsed
    parts = [f"{ended}/{len(contests)} contests", f"{played:,}/{asked:,} hands", f"{rate:,.0f} hands/s"]
    if rate:
        parts.append(f"{_duration((asked - played) / rate)} left")
    faults = sum(run.tally.fault_count for contest in contests for run in contest.runs)
    if faults:
        parts.append(count_of(faults, "fault"))
    return " · ".join(parts)


def _rate(contest: Contest) -> float:
    begun = [run.started_s for run in contest.runs if run.started_s is not None]
    if not begun:
        return 0.0
    seconds = max(1e-9, time.monotonic() - min(begun))
    return (contest.scores.hands_played - contest.hands_before) / seconds


def _standing(contest: Contest) -> str:
    """The first player's score and its interval."""
    names, scores = contest.plan.names, contest.scores
    over = f"over {names[1]}" if len(names) == 2 else "over the table"
    mean = scores.live[0]
    if not mean.count:
        # Rotations are played one after the other: until the last one begins, no deal is whole.
        return f"{names[0]} {over}: no deal played in every seating yet"
    half = mean.half_width_any_time() if contest.plan.is_sequential else mean.half_width_95
    spread = f" ± {half:,.0f}" if half is not None else ""
    return f"{names[0]} {over} {mean.mean:+,.0f}{spread} mbb/g"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def waiting_line(tournament: Tournament, *, is_remote: bool = False) -> str:
    """Who is awaited, where, and for how long; empty when everybody is there.

    Args:
        tournament: what is run.
        is_remote: only players whom somebody else has to start.
    """
    for contest in tournament.contests:
        plan = contest.plan
        remote = {name for name, player in zip(plan.names, plan.players, strict=True) if player.kind is PlayerKind.TCP}
        for run in contest.runs:
            missing = [(name, address) for name, address in run.waiting_for() if not is_remote or name in remote]
            if missing:
                names = " and ".join(f"{name} at {address}" for name, address in missing)
                left = run.start_time_left_s
                limit = f"{left:.0f} s left" if left is not None else "without limit"
                return f"waiting for {names}, {limit}"
    return ""
