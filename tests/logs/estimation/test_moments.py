"""Sums, their mean and its interval."""

from __future__ import annotations

import math
import random
import statistics

import pytest

from logs.estimation.moments import FEWEST_HANDS, Z_95, Moments


def moments_of(numbers: list[float]) -> Moments:
    return Moments(len(numbers), sum(numbers), sum(number * number for number in numbers))


def test_mean_and_interval_are_the_textbooks() -> None:
    chance = random.Random(1)
    numbers = [chance.gauss(3, 200) for _ in range(1000)]
    found = moments_of(numbers)
    assert found.mean == pytest.approx(statistics.fmean(numbers))
    assert found.half_width_95 == pytest.approx(1.959964 * statistics.stdev(numbers) / math.sqrt(1000))


def test_sums_can_be_added_and_scaled() -> None:
    chance = random.Random(2)
    numbers = [chance.uniform(-20000, 20000) for _ in range(300)]
    joined = moments_of(numbers[:120]).plus(moments_of(numbers[120:])).times(10)
    whole = moments_of([10 * number for number in numbers])
    assert joined.hands == 300
    assert joined.mean == pytest.approx(whole.mean)
    assert joined.half_width_95 == pytest.approx(whole.half_width_95)


def test_few_numbers_have_no_interval() -> None:
    assert Moments().mean is None
    assert Moments().half_width_95 is None
    numbers = [float(i % 7) for i in range(FEWEST_HANDS)]
    assert moments_of(numbers[1:]).half_width_95 is None
    assert moments_of(numbers).half_width_95 == pytest.approx(Z_95 * statistics.stdev(numbers) / 10)


@pytest.mark.parametrize("number", [-50, 0.1, 1 / 3, 20000])
def test_numbers_that_are_all_the_same_have_no_spread(number: float) -> None:
    found = moments_of([number] * 1000)
    assert found.half_width_95 == pytest.approx(0, abs=1e-6 * abs(number))


def test_a_million_hands_for_all_chips_lose_nothing() -> None:
    """The variance of plain sums against that of whole numbers."""
    chance = random.Random(3)
    numbers = [chance.choice([-20000, 20000, -50, 100]) for _ in range(20_000)]
    exact = statistics.pvariance(numbers) * len(numbers) / (len(numbers) - 1)
    found = moments_of([float(number) for number in numbers] * 50)
    width = Z_95 * math.sqrt(exact * (1 - 1 / 20_000) / (1 - 1e-6) / 1_000_000)
    assert found.half_width_95 == pytest.approx(width, rel=1e-10)
