"""The formulas, with each number computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bots.formula.formulas import (
    Decision,
    Observation,
    decision_of,
    mfs_decision,
    mfs_relation,
    rh_decision,
    rh_relation,
)

SMALL_BLIND = Observation(50.0, 15, 3.0, 5, 0, 2, 1, 0, 2, 10)
"""Two players, blinds 5 and 10: 5 own, 10 of the other, 5 to call."""

RAISED_FLOP = Observation(40.0, 90, 2.25, 10, 4, 2, 0, 1, 2, 10)
"""40 own, 50 of the other, 10 to call, four raises."""

FIRST_OF_TEN = Observation(10.0, 15, 0.0, 10, 0, 10, 9, 0, 10, 10)
"""Nothing put in, all to follow."""

CHECKED_TO = Observation(40.0, 900, 3.0, 0, 1, 3, 1, 1, 3, 100)
"""300 own, 600 of the others, nothing to call."""

ALL_IN = Observation(20.0, 20100, 201.0, 19900, 1, 2, 0, 0, 2, 100)
"""100 own, 20000 of the other, 19900 to call."""


@pytest.mark.parametrize(
    ("seen", "relation"),
    [
        (SMALL_BLIND, 1.0),  # 50 * 10 / (50 * 10)
        (replace(SMALL_BLIND, chance_percent=75.0), 3.0),  # 75 * 10 / (25 * 10)
        (replace(SMALL_BLIND, chance_percent=0.0), 0.0),
        (replace(SMALL_BLIND, chance_percent=100.0), math.inf),
        (RAISED_FLOP, 2000 / 3000),  # 40 * 50 / (60 * 50)
        (CHECKED_TO, 24000 / 18000),  # 40 * 600 / (60 * 300)
        (ALL_IN, 0.25),  # 20 * 20000 / (80 * 20000)
        (FIRST_OF_TEN, 150 / 900),  # 10 * 15 / (90 * 10)
        (replace(SMALL_BLIND, pot_chips=5, odds=1.0), 0.0),  # nothing to gain
        (replace(SMALL_BLIND, pot_chips=5, odds=1.0, chance_percent=100.0), 0.0),
    ],
)
def test_mfs(seen: Observation, relation: float) -> None:
    assert mfs_relation(seen) == pytest.approx(relation, rel=1e-15)


def test_mfs_is_exact_where_it_is_fair() -> None:
    """A fair price has a relation of exactly 1; rounding down would give less."""
    for own in range(1, 200):
        for price in range(0, 200, 7):
            pot = 2 * own + price
            seen = replace(SMALL_BLIND, pot_chips=pot, odds=pot / own, raise_chips=price)
            assert mfs_relation(seen) == 1.0
            assert mfs_decision(seen, 2) is Decision.CALL


@pytest.mark.parametrize(
    ("seen", "decisions"),
    [
        (SMALL_BLIND, {0.25: 1, 1: 1, 1.99: 1, 2: 2, 2.99: 2, 3: 3, 4: 4, 5: 5, 8: 5, 1e6: 5}),
        (RAISED_FLOP, {2: 1, 3.01: 2}),
        (CHECKED_TO, {2: 2, 4: 5}),
        (ALL_IN, {8: 2}),
        (replace(SMALL_BLIND, chance_percent=0.0), {1e6: 1}),
        (replace(SMALL_BLIND, chance_percent=100.0), {1e-6: 5}),
        # at the start of a game the player enters with any cards, price and k
        (FIRST_OF_TEN, {0.25: 2, 1e6: 2}),
        (replace(FIRST_OF_TEN, chance_percent=0.0, raise_chips=19900), {2: 2}),
        (replace(FIRST_OF_TEN, raise_chips=0), {2: 2}),
    ],
)
def test_mfs_decisions(seen: Observation, decisions: dict[float, int]) -> None:
    assert {k: mfs_decision(seen, k) for k in decisions} == decisions


def test_mfs_refuses_missing_quantities() -> None:
    with pytest.raises(ValueError, match="needs CHANCE"):
        mfs_relation(replace(SMALL_BLIND, chance_percent=None))
    with pytest.raises(ValueError, match="needs a stake"):
        mfs_relation(replace(FIRST_OF_TEN, raise_chips=0))


@pytest.mark.parametrize(
    ("seen", "relation"),
    [
        (SMALL_BLIND, 0.25),  # 1.5 / (1 * 2 * 2 * 1.5)
        (RAISED_FLOP, 0.45),  # 9 / (5 * 1 * 2 * 2)
        (FIRST_OF_TEN, 0.0075),  # 1.5 / (1 * 10 * 10 * 2)
        (CHECKED_TO, 0.75),  # 9 / (2 * 2 * 3 * 1)
        (ALL_IN, 0.25125),  # 201 / (2 * 1 * 2 * 200)
        (Observation(None, 20, 2.0, 0, 0, 2, 0, 0, 2, 10), 1.0),  # 2 / (1 * 1 * 2 * 1)
    ],
)
def test_rh(seen: Observation, relation: float) -> None:
    assert rh_relation(seen) == pytest.approx(relation, rel=1e-15)
    assert rh_relation(replace(seen, chance_percent=None)) == rh_relation(seen), "it looks at no card"


@pytest.mark.parametrize(
    ("seen", "decisions"),
    [
        (SMALL_BLIND, {1: 1, 7.99: 1, 8: 2, 12: 3, 16: 4, 20: 5}),
        (FIRST_OF_TEN, {8: 1}),
        (CHECKED_TO, {4: 3}),
        (ALL_IN, {8: 2}),
        (Observation(None, 20, 2.0, 0, 0, 2, 0, 0, 2, 10), {2: 2}),
    ],
)
def test_rh_decisions(seen: Observation, decisions: dict[float, int]) -> None:
    assert {k: rh_decision(seen, k) for k in decisions} == decisions


@pytest.mark.parametrize(
    ("value", "decision"),
    [(-1, 1), (0, 1), (0.99, 1), (1, 1), (1.99, 1), (2, 2), (2.99, 2), (3, 3), (4, 4), (5, 5), (5.99, 5), (6, 5)],
)
def test_rounding_and_bounds(value: float, decision: int) -> None:
    assert decision_of(value) is Decision(decision)
    assert decision_of(math.inf) is Decision.LARGE_RAISE
