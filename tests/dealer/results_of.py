"""Results made up for tests: only what a test names differs from a plain contest of A and B."""

from __future__ import annotations

from typing import Any

from dealer.run.results import ContestResult, DealerReport, MatchSummary, PlayerResult


def player(name: str, **given: Any) -> PlayerResult:
    plain: dict[str, Any] = {
        "name": name,
        "player": "calling",
        "chips": 0.0,
        "mbb_per_game": 0.0,
        "half_width_95": 10.0,
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
    return PlayerResult(**plain | given)


def contest(*players: PlayerResult, **given: Any) -> ContestResult:
    plain: dict[str, Any] = {
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
    return ContestResult(**plain | given)
