"""Results for tests: a plain contest of A and B, with fields replaced by keyword."""

from __future__ import annotations

from typing import Any

from dealer.run.results import ContestResult, DealerReport, MatchSummary, PlayerResult, PlayerWinnings
from logs.estimation import Estimate


def winnings(
    raw: Estimate,
    corrected: Estimate | None = None,
    *,
    best: Estimate | None = None,
    corrected_best: Estimate | None = None,
) -> PlayerWinnings:
    """Winnings with the same intervals for claims about the winner as for claims about any player."""
    return PlayerWinnings(raw=raw, corrected=corrected, best=best or raw, corrected_best=corrected_best or corrected)


def won_by(player: PlayerResult) -> PlayerWinnings:
    """Winnings of a player with at least one complete deal."""
    assert player.won is not None
    return player.won


def player(name: str, **changes: Any) -> PlayerResult:
    fields: dict[str, Any] = {
        "name": name,
        "player": "calling",
        "chips": 0.0,
        "won": winnings(Estimate(0.0, 10.0)),
        "standard_deviation": 500.0,
        "faults": {},
        "first_fault": None,
        "restarts": 0,
        "actions": 100,
        "thinking_s": 1.0,
        "median_us": 50.0,
        "p99_us": 90.0,
        "exit_code": None,
    }
    return PlayerResult(**fields | changes)


def contest(*players: PlayerResult, **changes: Any) -> ContestResult:
    fields: dict[str, Any] = {
        "game": "holdem.limit.2p",
        "seed": 1,
        "seating": "rotations",
        "seatings": 2,
        "deals_asked": 1000,
        "duplicates": 1000,
        "hands_counted": 2000,
        "hands_played": 2000,
        "outcome": "finished",
        "reason": "all deals were played.",
        "stop": "1000",
        "verdict": None,
        "interval": "fixed",
        "seconds": 2.0,
        "hands_per_second": 1000.0,
        "folder": "runs/x",
        "resume": None,
        "players": list(players or (player("A"), player("B"))),
        "matches": [MatchSummary(name="match.a", seats=["A", "B"], first_hand=0, hands=1000, chips=[0.0, 0.0])],
        "dealer": DealerReport(actions=200, us_per_action=40.0, timeouts_per_million_actions=0.0),
        "sentence": "A and B are level.",
    }
    return ContestResult(**fields | changes)
