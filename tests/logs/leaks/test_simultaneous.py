"""Simultaneous intervals compared with enumeration of all signs, and their error rate."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from logs.leaks.search import simultaneous_intervals


def test_the_bound_is_that_of_all_signs() -> None:
    """Nine deals have 512 signs; both values of a deal keep the same sign."""
    generator = np.random.default_rng(3)
    values = generator.normal(0.3, 2.0, 10).round(2)
    cells = generator.integers(0, 4, (10, 2))
    cells[:, 1] = np.where(cells[:, 1] == cells[:, 0], 3, cells[:, 1])
    of_deal = np.array([0, 1, 2, 3, 4, 4, 5, 6, 7, 8])
    deals = 12
    table = np.zeros((deals, 4))
    for value, places, deal in zip(values, cells, of_deal, strict=True):
        for place in places:
            table[deal, place] += value
    table = table[:, :3]
    highest = []
    for signs in itertools.product((-1.0, 1.0), repeat=9):
        of_cell = np.array([*signs, 1, 1, 1])[:, np.newaxis] * table
        highest.append(max(abs(of_cell.sum(axis=0)) / (of_cell.std(axis=0, ddof=1) * deals**0.5)))
    sums, half_widths, bound = simultaneous_intervals(values, cells, of_deal, 3, deals, tail=0.2)
    assert sums == pytest.approx(table.sum(axis=0))
    low, high = np.quantile(highest, (0.77, 0.83))
    assert low - 1e-5 <= bound <= high + 1e-5  # Draws are rounded to six digits.
    assert half_widths == pytest.approx(bound * table.std(axis=0, ddof=1) * deals**0.5)


def test_the_bound_among_three_is_that_of_all_roles() -> None:
    """Seven deals of three players have 2,187 assignments of roles."""
    generator = np.random.default_rng(5)
    deals, players, count = 7, 3, 3
    of_deal = np.repeat(np.arange(deals), 3)
    sides = np.array([generator.permutation(3)[:2] for _ in of_deal])
    sides[::5, 1] = -1
    values = generator.normal(0.2, 3.0, len(of_deal)).round(2)
    cells = np.array([generator.permutation(4)[:2] for _ in of_deal])
    tables = np.zeros((players, deals, count + 1))
    for value, (who, whom), places, deal in zip(values, sides, cells, of_deal, strict=True):
        for place in places:
            tables[who, deal, place] += value
            if whom >= 0:
                tables[whom, deal, place] -= value
    highest = []
    for roles in itertools.product(range(players), repeat=deals):
        of_cell = tables[roles, range(deals), :count]
        highest.append(max(abs(of_cell.sum(axis=0)) / (of_cell.std(axis=0, ddof=1) * deals**0.5)))
    sums, half_widths, bound = simultaneous_intervals(
        values, cells, of_deal, count, deals, sides=sides, players=players, tail=0.2
    )
    own = tables[0, :, :count]
    assert sums == pytest.approx(own.sum(axis=0))
    low, high = np.quantile(highest, (0.77, 0.83))
    assert low - 1e-5 <= bound <= high + 1e-5
    assert half_widths == pytest.approx(bound * own.std(axis=0, ddof=1) * deals**0.5)


@pytest.mark.slow
@pytest.mark.parametrize("spread", ["normal", "heavy", "few chips"])
def test_family_wise_error_rate_is_at_most_5_percent(spread: str) -> None:
    """With equal players, at most 5 % of 1,000 matches show any difference, up to chance."""
    generator = np.random.default_rng(8)
    wrong = 0
    for _ in range(1000):
        values = {
            "normal": generator.normal(size=150),
            "heavy": generator.standard_t(2, 150),
            "few chips": generator.choice((-40.0, -10.0, 10.0, 40.0), 150, p=(0.05, 0.45, 0.45, 0.05)),
        }[spread]
        first = generator.integers(0, 3, 150)
        second = 3 + generator.integers(0, 4, 150)
        sums, half_widths, _ = simultaneous_intervals(
            values, np.column_stack((first, second, np.full(150, 7))), np.arange(150), 8, 300
        )
        wrong += bool((np.abs(sums) > half_widths).any())
    # Binomial(1000, 0.05) exceeds 73 in one of a thousand cases; uncorrected 95 % intervals would show some 250.
    assert wrong <= 73
    assert wrong >= 20, "the intervals are much wider than they need be"
