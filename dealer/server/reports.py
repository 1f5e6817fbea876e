"""What is kept of a run that has been played: its result, its faults, and the score of every duplicate."""

from __future__ import annotations

import contextlib
from array import array
from dataclasses import replace
from pathlib import Path

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
    is_kept = result.outcome.is_complete or (is_comparable and result.duplicates > 0)
    if is_kept:
        # Also of what was broken off: whoever did that may have had a reason in the scores.
        scores = [array("d", column) for column in zip(*contest.scores.in_order(), strict=True)]
        seats = tuple(replace(seat, mbb_by_duplicate=column) for seat, column in zip(seats, scores, strict=True))
    state, reason = RunState.FINISHED, result.reason
    if not result.outcome.is_complete:
        state = RunState.CANCELLED if cancelled else RunState.FAILED
        reason = f"{cancelled}." if cancelled else reason
    return RunReport(state, reason, result.duplicates if is_kept else None, seats, matches, faults, is_comparable)


def _faults(path: Path) -> list[Fault]:
    """The faults in a file, as far as it can be read; a run that has none leaves none."""
    faults = []
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text("utf-8").splitlines():
            faults.append(parse_fault(line))
    return faults
