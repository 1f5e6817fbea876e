"""The running mean, and how often its intervals hold what they should."""

from __future__ import annotations

import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from logs.estimation import FEWEST_UNITS, Z_95, Moments, RunningMean
from tests.logs.estimation.populations import population


@given(st.lists(st.floats(-1e6, 1e6), min_size=2))
def test_it_agrees_with_the_plain_formulas(values: list[float]) -> None:
    running = RunningMean(values)
    assert running.count == len(values)
    assert running.mean == pytest.approx(statistics.fmean(values), abs=1e-6)
    variance, deviation = running.variance, running.standard_deviation
    assert variance is not None
    assert deviation is not None
    assert variance == pytest.approx(statistics.variance(values), rel=1e-9, abs=1e-6)
    assert deviation == pytest.approx(math.sqrt(variance))


def test_large_numbers_far_from_zero_do_not_cancel() -> None:
    running = RunningMean(1e9 + offset for offset in (4.0, 7.0, 13.0, 16.0))
    assert running.mean == 1e9 + 10
    assert running.variance == 30


def test_too_few_say_nothing() -> None:
    running = RunningMean()
    assert (running.count, running.mean, running.variance, running.standard_deviation) == (0, 0.0, None, None)
    running.add(5)
    assert (running.count, running.mean, running.variance, running.standard_deviation) == (1, 5.0, None, None)
    while running.count < FEWEST_UNITS - 1:
        running.add(running.count % 2)
    assert running.half_width_95 is None
    assert running.half_width_any_time() is None
    running.add(1)
    assert running.half_width_95 is not None
    assert running.half_width_any_time() is not None


def test_the_half_width_is_so_many_standard_errors() -> None:
    running = RunningMean([0.0, 10.0] * 200)
    error = math.sqrt(25 * 400 / 399 / 400)
    assert running.half_width_95 == pytest.approx(Z_95 * error)
    assert abs(Z_95 - statistics.NormalDist().inv_cdf(0.975)) < 1e-6


def errors_wide(count: int, alpha: float = 0.05) -> float:
    """The any-time half width in standard errors."""
    running = RunningMean([-1.0, 1.0] * (count // 2))
    half_width = running.half_width_any_time(alpha)
    assert half_width is not None
    assert running.standard_deviation is not None
    return half_width / running.standard_deviation * math.sqrt(count)


def test_the_any_time_interval_is_robbins_mixture_tuned_for_a_thousand_units() -> None:
    def width(count: int, rho: float, alpha: float) -> float:
        """As printed in the paper, for a standard deviation of 1, in standard errors."""
        tr = count * rho**2
        return math.sqrt(count) * math.sqrt(2 * (tr + 1) / (count**2 * rho**2) * math.log(math.sqrt(tr + 1) / alpha))

    for alpha in (0.05, 0.01):
        best = min((rho / 1000 for rho in range(10, 400)), key=lambda rho: width(1000, rho, alpha))
        for count in (100, 1000, 10_000):
            assert errors_wide(count, alpha) == pytest.approx(width(count, best, alpha), rel=5e-3)


@pytest.mark.parametrize(("count", "errors"), [(100, 3.8), (1000, 3.0), (10_000, 3.2), (100_000, 3.6)])
def test_what_looking_at_any_time_costs(count: int, errors: float) -> None:
    assert errors_wide(count) == pytest.approx(errors, abs=0.05)


# ---- sums


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
    numbers = [float(i % 7) for i in range(FEWEST_UNITS)]
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


# ---- coverage: many matches at once, as arrays


def drawn(name: str, runs: int, units: int, seed: int = 1) -> NDArray[np.float64]:
    """Scores of many matches, of shape (runs, units); the true mean is 0."""
    return np.random.default_rng(seed).choice(np.array(population(name).scores), (runs, units))


def coverage(scores: NDArray[np.float64]) -> float:
    """How often the usual interval holds the true mean, 0."""
    runs, units = scores.shape
    means, half_widths = scores.mean(axis=1), Z_95 * scores.std(axis=1, ddof=1) / math.sqrt(units)
    for run in range(0, runs, runs // 5):
        running = RunningMean(scores[run].tolist())
        assert (running.mean, running.half_width_95) == pytest.approx((means[run], half_widths[run]), abs=1e-6)
    return float((abs(means) <= half_widths).mean())


@pytest.mark.parametrize("units", [100, 1000])
@pytest.mark.parametrize(
    "name",
    ["normal", "no-limit duplicates, tight against calling", "limit, raising against tight"],
)
def test_the_interval_covers_19_times_in_20(name: str, units: int) -> None:
    assert coverage(drawn(name, 4000, units)) == pytest.approx(0.95, abs=0.012)


@pytest.mark.parametrize(
    ("name", "units", "measured"),
    [
        ("even all-ins", 100, 0.976),
        ("even all-ins", 1000, 0.948),
        ("no-limit, shoving against tight", 100, 0.802),
        ("no-limit, shoving against tight", 1000, 0.950),
        ("rare loss", 100, 0.634),
        ("rare loss", 300, 0.796),
        ("rare loss", 1000, 0.926),
        ("rare win", 300, 0.796),
        ("rarer loss", 300, 0.670),
        ("rarer loss", 1000, 0.877),
    ],
)
def test_the_interval_is_blind_to_what_is_rare_as_the_module_says(name: str, units: int, measured: float) -> None:
    assert coverage(drawn(name, 4000, units)) == pytest.approx(measured, abs=0.025)


def test_duplicates_cover_as_well_and_are_much_narrower() -> None:
    """Luck that falls to both sides alike cancels in the score of a duplicate. Taken as single hands, duplicates do not
    look any surer than hands with independent cards."""
    chance = np.random.default_rng(1)
    luck = chance.normal(0, 5000, (4000, 200))
    first, second = (side * luck + chance.normal(0, 1500, luck.shape) for side in (1, -1))
    scores, singles = (first + second) / 2, np.concatenate([first, second], axis=1)
    assert coverage(scores) == pytest.approx(0.95, abs=0.012)
    assert coverage(singles) == 1.0
    paired, single = (RunningMean(many[:10].ravel().tolist()).half_width_95 for many in (scores, singles))
    assert paired is not None
    assert single is not None
    assert paired < single / 3


def ever_missed(name: str, runs: int, units: int, *, first: int = FEWEST_UNITS) -> tuple[float, float]:
    """How often the true mean is ever outside while somebody looks after every unit: any-time interval, usual one."""
    counts = np.arange(first, units + 1)
    factors = np.empty((2, len(counts)))
    for at, count in enumerate(counts.tolist()):
        # Scores with a variance of 1: what is left is the number of standard deviations.
        running = RunningMean()
        running.count, running.squares = count, count - 1.0
        factors[:, at] = running.half_width_any_time(), running.half_width_95
    missed = np.zeros((2, 0), dtype=bool)
    for seed in range(0, runs, 100):
        scores = drawn(name, 100, units, seed)
        sums, squares = scores.cumsum(axis=1)[:, first - 1 :], (scores**2).cumsum(axis=1)[:, first - 1 :]
        means = sums / counts
        deviations = np.sqrt(np.maximum(0, squares - sums * means) / (counts - 1))
        out = [(abs(means) > factor * deviations).any(axis=1) for factor in factors]
        missed = np.concatenate([missed, out], axis=1)
    any_time, usual = missed.mean(axis=1)
    return float(any_time), float(usual)


@pytest.mark.parametrize("name", ["normal", "no-limit duplicates, tight against calling"])
def test_the_any_time_interval_may_be_looked_at_all_the_time(name: str) -> None:
    any_time, usual = ever_missed(name, 600, 2000)
    assert any_time <= 0.05 + 0.025
    assert usual > 0.25


LONG_MATCHES = [
    ("normal", 100, 0.05),
    ("no-limit duplicates, tight against calling", 100, 0.05),
    ("limit, raising against tight", 100, 0.05),
    ("even all-ins", 100, 0.05),
    ("no-limit, shoving against tight", 100, 0.22),
    ("no-limit, shoving against tight", 1000, 0.05),
    ("rare loss", 100, 0.45),
    ("rare loss", 1000, 0.09),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "first", "worst"), LONG_MATCHES)
def test_the_any_time_interval_over_long_matches(name: str, first: int, worst: float) -> None:
    any_time, usual = ever_missed(name, 2000, 10_000, first=first)
    assert any_time <= worst + 0.02
    assert usual > 0.25
