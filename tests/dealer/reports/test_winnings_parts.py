"""Winnings by street and by position, which sum to the win rate."""

from __future__ import annotations

import numpy as np
import pytest

from dealer.reports.winnings_parts import WinningsBreakdown
from tests.logs.hands import random_hands

GAME = "nolimit"
DEALS = 60


def test_parts_equal_sums_over_all_hands() -> None:
    first = random_hands(GAME, DEALS, seed=5, names=("A", "B"))
    second = random_hands(GAME, DEALS, seed=6, names=("B", "A"))
    game = first[0].game
    chance = np.random.default_rng(1)
    breakdown = WinningsBreakdown(game, "A")
    streets = np.zeros((2, 4))
    positions = np.zeros((2, 2))
    total = np.zeros(2)
    for pair in zip(first, second, strict=True):
        for record in pair:
            position = record.names.index("A")
            gains = chance.normal(size=len(record.betting.rounds)) * 100
            breakdown.add(record, gains.tolist())
            last = max(round_ for round_, actions in enumerate(record.betting.rounds) if actions)
            won = record.values[position]
            streets[0, last] += won
            streets[1, : len(gains)] += gains
            positions[:, position] += won, gains.sum()
            total += won, gains.sum()
    to_mbb = 1000 / game.big_blind
    by_street = breakdown.streets()
    assert [part.name for part in by_street] == ["preflop", "flop", "turn", "river"]
    assert [part.raw.mean for part in by_street] == pytest.approx(streets[0] * to_mbb / (2 * DEALS))
    assert [part.corrected.mean for part in by_street if part.corrected] == pytest.approx(
        streets[1] * to_mbb / (2 * DEALS)
    )
    assert sum(part.corrected.mean for part in by_street if part.corrected) == pytest.approx(
        total[1] * to_mbb / (2 * DEALS)
    )
    by_position = breakdown.positions()
    assert [(part.name, part.hands) for part in by_position] == [("BB", DEALS), ("SB", DEALS)]
    assert [part.raw.mean for part in by_position] == pytest.approx(positions[0] * to_mbb / DEALS)
    assert [part.corrected.mean for part in by_position if part.corrected] == pytest.approx(
        positions[1] * to_mbb / DEALS
    )


def test_parts_are_not_corrected_if_a_hand_has_no_estimate() -> None:
    records = random_hands(GAME, 2, names=("A", "B"))
    breakdown = WinningsBreakdown(records[0].game, "A")
    breakdown.add(records[0], [0.0])
    breakdown.add(records[1])
    assert [part.corrected for part in (*breakdown.streets(), *breakdown.positions())] == [None] * 6
