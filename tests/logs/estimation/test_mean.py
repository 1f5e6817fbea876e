"""Means and their intervals, compared with hand calculations and other formulas."""

from __future__ import annotations

import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logs.estimation import MIN_UNITS, Z_95, AnyTimeMean, RunningMean, interval_half_width
from logs.estimation.mean import skewed_half_width, units_for_half_width
from tests.logs.estimation.populations import chance_error


@given(st.lists(st.floats(-1e6, 1e6), min_size=2))
def test_running_mean_agrees_with_the_plain_formulas(values: list[float]) -> None:
    running = RunningMean(values)
    assert running.count == len(values)
    assert running.mean == pytest.approx(statistics.fmean(values), abs=1e-6)
    variance, deviation = running.variance, running.standard_deviation
    assert variance is not None
    assert deviation is not None
    assert variance == pytest.approx(statistics.variance(values), rel=1e-9, abs=1e-6)
    assert deviation == pytest.approx(math.sqrt(variance))
    distances = np.array(values) - statistics.fmean(values)
    # Both means are rounded, so differences of equal numbers need not be 0.
    rounding = 1e-6 + 1e-6 * (np.abs(distances) ** 3).sum()
    assert running.cubes == pytest.approx((distances**3).sum(), rel=1e-6, abs=rounding)


def test_skewness_is_that_of_the_plain_formula() -> None:
    scores = np.random.default_rng(1).exponential(size=500) * 3000 - 7000
    distances = scores - scores.mean()
    expected = (distances**3).mean() / (distances**2).mean() ** 1.5
    assert RunningMean(scores.tolist()).skewness == pytest.approx(expected)
    mirrored = RunningMean((-scores).tolist())
    assert mirrored.skewness == pytest.approx(-expected)
    moments = RunningMean.from_moments(500, mirrored.mean, mirrored.squares, mirrored.cubes)
    assert moments.half_width() == pytest.approx(mirrored.half_width())
    assert RunningMean([5.0] * 500).skewness is None
    assert RunningMean.from_moments(500, 1.0, 2.0).half_width() is None, "without a third moment"


def test_large_numbers_far_from_zero_do_not_cancel() -> None:
    running = RunningMean(1e9 + offset for offset in (4.0, 7.0, 13.0, 16.0))
    assert running.mean == 1e9 + 10
    assert running.variance == 30


def test_too_few_scores_have_no_interval() -> None:
    running = RunningMean()
    assert (running.count, running.mean, running.variance, running.standard_deviation) == (0, 0.0, None, None)
    running.add(5)
    assert (running.count, running.mean, running.variance, running.standard_deviation) == (1, 5.0, None, None)
    while running.count < MIN_UNITS - 1:
        running.add(running.count % 2)
    assert running.half_width() is None
    running.add(1)
    assert running.half_width() is not None
    any_time = AnyTimeMean([0.0, 1.0] * 49, (0, 1))
    assert any_time.half_width() is None
    any_time.add(1)
    any_time.add(1)
    assert any_time.half_width() is not None


def test_the_half_width_is_a_point_of_a_normal_and_an_exponential_variable() -> None:
    chance = np.random.default_rng(1)
    normal, exponential = chance.standard_normal(400_000), chance.standard_exponential(400_000)
    for error, unseen in [(1, 0), (1, 0.01), (1, 0.1), (1, 0.5), (1, 2), (1, 20), (1, 1000), (0, 1)]:
        for tail in (0.025, 0.005):
            half_width = interval_half_width(error, unseen, tail)
            above = float((error * normal + unseen * exponential > half_width).mean())
            assert above == pytest.approx(tail, abs=4 * math.sqrt(tail / 400_000))


def test_the_half_width_is_where_the_upper_tail_is_that_of_the_interval() -> None:
    """Compare with bisection, which needs no derivative."""
    chance = random.Random(1)
    for _ in range(300):
        unseen, tail = 10 ** chance.uniform(-1.5, 5.9), chance.choice([0.025, 10 ** chance.uniform(-6, -0.4)])
        low, high = 0.0, 10 + unseen * 20
        for _ in range(60):
            middle = (low + high) / 2
            shifted = math.exp((0.5 / unseen - middle) / unseen) * math.erfc((1 / unseen - middle) / math.sqrt(2)) / 2
            above = math.erfc(middle / math.sqrt(2)) / 2 + shifted
            low, high = (middle, high) if above > tail else (low, middle)
        assert interval_half_width(1, unseen, tail) == pytest.approx(high, rel=1e-8)


def test_the_half_width_grows_evenly() -> None:
    unseen = np.geomspace(1e-4, 1e7, 2000)
    widths = np.array([interval_half_width(1, float(one)) for one in unseen])
    assert (np.diff(widths) > 0).all()
    assert (np.diff(widths) < 3.7 * np.diff(unseen) + 1e-4).all()
    assert interval_half_width(3.0) == pytest.approx(3 * Z_95)


def test_the_half_width_of_scores_without_skewness_is_that_of_students_distribution() -> None:
    # 97.5 % points of Student's distribution with 99 and 999 degrees of freedom.
    assert skewed_half_width(2.0, 0.0, 100) == pytest.approx(2 * 1.98422, rel=5e-4)
    assert skewed_half_width(2.0, 0.0, 1000) == pytest.approx(2 * 1.96234, rel=1e-5)


def test_the_half_width_allows_for_skewness() -> None:
    """In this population one score in 25 is a large loss, and the normal interval is too narrow."""
    chance = np.random.default_rng(1)
    runs, units = 2000, 100
    samples = np.where(chance.random((runs, units)) < 0.04, -96.0, 4.0)
    held = normal_held = 0
    for scores in samples:
        running = RunningMean.from_moments(
            units, scores.mean(), ((scores - scores.mean()) ** 2).sum(), ((scores - scores.mean()) ** 3).sum()
        )
        half_width, error = running.half_width(), running.standard_error
        held += half_width is not None and abs(running.mean) <= half_width
        normal_held += error is not None and abs(running.mean) <= Z_95 * error
    assert held / runs >= 0.95 - chance_error(0.95, runs)
    assert normal_held / runs < 0.92


def test_no_interval_is_wider_than_the_guaranteed_one() -> None:
    scores = [-1.0, *[0.01] * 99]
    without_bounds = RunningMean(scores).half_width()
    running = RunningMean(scores, (-1, 1))
    assert without_bounds is not None
    assert running.half_width() == min(without_bounds, running.guaranteed_half_width())
    assert RunningMean(scores, (-9, 9)).half_width() == without_bounds


@pytest.mark.parametrize(("half_width", "sd", "farther"), [(230, 1600, 24_000), (20, 0, 24_000), (3, 900, 2_000)])
def test_the_units_that_an_interval_takes(half_width: float, sd: float, farther: float) -> None:
    units = units_for_half_width(half_width, sd, farther)
    widths = [interval_half_width(sd / math.sqrt(count), farther / count) for count in (units - 1, units)]
    assert widths[1] <= half_width < widths[0]


def test_scores_that_were_all_equal_are_not_certain() -> None:
    """Unseen scores can still occur in 3.7 / n of the deals."""
    equal = RunningMean([-750.0] * 1000, (-24_000, 24_000))
    assert equal.guaranteed_half_width() == pytest.approx(24_750 * 3.689 / 1000, rel=1e-3)
    assert equal.half_width() is None
    assert RunningMean([-750.0] * 1000).guaranteed_half_width() is None


def test_no_interval_is_wider_than_the_bounds() -> None:
    few = RunningMean([-2.0, 2.0] * 50, (-2, 2))
    assert few.guaranteed_half_width() == pytest.approx(Z_95 * 0.2, rel=0.2)
    assert RunningMean([2.0] * 100, (-2, 2)).guaranteed_half_width(1e-50) == 4.0


def any_time_errors(count: int, bounds: tuple[float, float]) -> float:
    """The any-time half width in standard errors."""
    running = AnyTimeMean([-1.0, 1.0] * (count // 2), bounds)
    half_width = running.half_width()
    assert half_width is not None
    assert running.standard_deviation is not None
    return half_width / running.standard_deviation * math.sqrt(count)


@pytest.mark.parametrize(("count", "bounds", "errors"), [(1000, (-1, 1), 3.6), (10_000, (-30, 30), 3.2)])
def test_width_of_the_any_time_interval(count: int, bounds: tuple[float, float], errors: float) -> None:
    assert any_time_errors(count, bounds) == pytest.approx(errors, abs=0.3)


def test_equal_scores_at_any_time() -> None:
    equal = AnyTimeMean([0.0] * 1000, (-24_000, 24_000))
    assert equal.half_width() == pytest.approx(5 * 24_000 / 1000, rel=0.1)
    with pytest.raises(ValueError, match="a score of 24001 mbb is out of bounds: -24000 to 24000"):
        equal.add(24_001)


@given(st.integers(0, 2**32), st.integers(MIN_UNITS, MIN_UNITS + 50))
def test_intervals_do_not_depend_on_the_side_they_are_seen_from(seed: int, count: int) -> None:
    chance = random.Random(seed)
    scores = [chance.choice([-10.0, 0.0, 10.0, chance.uniform(-10, 10)]) for _ in range(count)]
    for kind in (RunningMean, AnyTimeMean):
        ours, theirs = kind(scores, (-10, 20)), kind([-score for score in scores], (-20, 10))
        assert ours.half_width() == pytest.approx(theirs.half_width(), rel=1e-6)
        assert ours.guaranteed_half_width() == pytest.approx(theirs.guaranteed_half_width(), rel=1e-6)


# ---- sums


def mean_of(numbers: list[float]) -> RunningMean:
    """Compute a mean from plain sums, as databases keep them."""
    total, squares = sum(numbers), sum(number * number for number in numbers)
    return RunningMean.from_moments(len(numbers), total / len(numbers), squares - total * total / len(numbers))


@pytest.mark.parametrize("number", [-50, 0.1, 1 / 3, 20000])
def test_equal_numbers_give_no_estimate_of_spread(number: float) -> None:
    assert mean_of([number] * 1000).half_width() is None


def test_variance_of_a_million_all_ins_is_exact() -> None:
    """Compare the variance from plain sums with that of integers."""
    chance = random.Random(3)
    numbers = [chance.choice([-20000, 20000, -50, 100]) for _ in range(20_000)]
    exact = statistics.pvariance(numbers) * len(numbers) / (len(numbers) - 1)
    running = mean_of([float(number) for number in numbers] * 50)
    width = Z_95 * math.sqrt(exact * (1 - 1 / 20_000) / (1 - 1e-6) / 1_000_000)
    error = running.standard_error
    assert error is not None
    assert Z_95 * error == pytest.approx(width, rel=1e-10)
