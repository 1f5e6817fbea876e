"""What is kept of a run that has been played: its result, its faults, and the score of every duplicate."""

from __future__ import annotations

import contextlib
import math
from array import array
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from dealer.contest.plan import ContestPlan
from dealer.match.faults import Fault
from dealer.record.writers import parse_fault
from dealer.results.schema import ContestResult
from dealer.runs import AnyResult, Run
from dealer.server.ledger import RunReport, RunState, SeatReport
from engine import Seat

__all__ = ["report_of"]


def report_of(run: Run[AnyResult], result: AnyResult, cancelled: str) -> RunReport:
    """What is kept of a run.

    Args:
        run: as it was played.
        result: what came out of it.
        cancelled: why it was ended before its time; empty if nobody wanted that.
    """
    assert isinstance(result, ContestResult)
    (plan,) = run.plan.contests
    faults = tuple(
        # By player, who has another seat in every seating.
        (slot.name, fault._replace(seat=Seat(slot.players[fault.seat])))
        for slot in plan.slots
        for fault in _faults(plan.record.folder / f"{slot.name}.faults")
    )
    matches = tuple((match.name, f"{match.name}.log", match.first_hand, match.hands) for match in result.matches)
    seats = tuple(
        SeatReport(player.name, player.chips, player.mbb_per_game, player.half_width_95) for player in result.players
    )
    (contest,) = run.contests()
    is_comparable = plan.seatings > 1 and not plan.learners and not plan.is_sequential
    units, is_complete = list(contest.scores.in_order()), result.outcome.is_complete
    if is_comparable and plan.has_own_cards and not is_complete:
        # Nothing in the seatings to come could make up for the luck of a seating that was broken off.
        units = list(contest.scores.in_rounds())
        # Without a unit there are no columns, and the seats stay as they are.
        seats = tuple(map(partial(_seat, plan), plan.names, zip(*units, strict=True))) or seats
    is_kept = is_complete or (is_comparable and bool(units))
    if is_kept:
        # Also of what was broken off: whoever did that may have had a reason in the scores.
        scores = [array("d", column) for column in zip(*units, strict=True)]
        seats = tuple(replace(seat, mbb_by_duplicate=column) for seat, column in zip(seats, scores, strict=True))
    state, reason = RunState.FINISHED, result.reason
    if not is_complete:
        state = RunState.CANCELLED if cancelled else RunState.FAILED
        reason = f"{cancelled}." if cancelled else reason
    return RunReport(state, reason, len(units) if is_kept else None, seats, matches, faults, is_comparable)


def _seat(plan: ContestPlan, name: str, scores: Sequence[float]) -> SeatReport:
    mean = plan.new_mean()
    for score in scores:
        mean.add(score)
    chips = round(math.fsum(scores) * plan.seatings * plan.game.big_blind / 1000, 6)
    return SeatReport(name, chips, mean.mean, mean.half_width_95)


def _faults(path: Path) -> list[Fault]:
    """The faults in a file, as far as it can be read; a run that has none leaves none."""
    faults = []
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text("utf-8").splitlines():
            faults.append(parse_fault(line))
    return faults
