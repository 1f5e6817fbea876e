"""Error rates and length of the sequential test for better or not better."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logs.estimation import BetterTest, Verdict, expected_units
from tests.logs.estimation.populations import MAKERS, Population, population

RATE = 0.05
Z_90 = 1.644854
"""One-sided 95 % point of the normal distribution."""


def wald_units(sd: float, delta: float) -> float:
    """Mean length of Wald's test between two normal means, if either is true (error rates `RATE`)."""
    information = (delta / sd) ** 2 / 2
    return ((1 - RATE) * math.log((1 - RATE) / RATE) + RATE * math.log(RATE / (1 - RATE))) / information


def fixed_units(sd: float, delta: float) -> float:
    """Length of a test with one look, for the same error rates and normal means."""
    return (2 * Z_90 * sd / delta) ** 2


def edge_of(source: Population, units: int) -> float:
    """Return HIGH - LOW for which Wald's test takes `units` units on average."""
    return source.sd * math.sqrt(wald_units(1, 1) / units)


def verdicts(
    source: Population, mean: float, delta: float, runs: int, max_units: int
) -> tuple[Counter[Verdict | None], float]:
    """Return verdicts and mean length of matches with a true mean, checked after every unit (LOW is 0)."""
    bounds = source.reach(abs(mean))
    ends: Counter[Verdict | None] = Counter()
    units = 0
    for seed in range(runs):
        chance = random.Random(seed)
        test = BetterTest(0, delta, **bounds)
        while test.verdict is None and test.units < max_units:
            for score in chance.choices(source.scores, k=200):
                test.add(score + mean)
                if test.verdict is not None:
                    break
        ends[test.verdict] += 1
        units += test.units
    return ends, units / runs


def max_errors(runs: int) -> float:
    """Bound that an error rate of `RATE` exceeds once in 4000 times (3.5 standard errors)."""
    return runs * RATE + 3.5 * math.sqrt(runs * RATE * (1 - RATE))


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_error_rates_hold_with_a_check_after_every_unit(name: str) -> None:
    runs, wald, max_units, decided = 1000, 600, 20_000, 0.9
    source = population(name)
    delta = edge_of(source, wald)
    at_low, _ = verdicts(source, 0, delta, runs, max_units)
    at_high, _ = verdicts(source, delta, delta, runs, max_units)
    assert at_low[Verdict.BETTER] <= max_errors(runs)
    assert at_high[Verdict.NOT_BETTER] <= max_errors(runs)
    # A test that never decides would pass the assertion above.
    assert at_low[Verdict.NOT_BETTER] >= decided * runs
    assert at_high[Verdict.BETTER] >= decided * runs


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "limit, raising against tight",
        "leduc no-limit, careless against calling",
        pytest.param("no-limit duplicates, tight against calling", marks=pytest.mark.slow),
    ],
)
def test_length_is_near_walds_test_and_below_a_fixed_sample(name: str) -> None:
    source = population(name)
    delta = edge_of(source, 2000) if "duplicates" not in name else edge_of(source, 6000)
    wald = wald_units(source.sd, delta)
    for mean in (0, delta):
        ends, units = verdicts(source, mean, delta, 60, 40 * round(wald))
        assert ends[None] == 0
        assert units < 1.4 * wald
        assert units < fixed_units(source.sd, delta)


@pytest.mark.slow
def test_a_lopsided_match_stops_early() -> None:
    source = population("limit, raising against tight")
    delta = edge_of(source, 2000)
    for multiple, share in ((5, 0.2), (20, 0.04)):
        for mean, verdict in ((multiple * delta, Verdict.BETTER), ((1 - multiple) * delta, Verdict.NOT_BETTER)):
            ends, units = verdicts(source, mean, delta, 30, 2000)
            assert ends[verdict] >= 29
            assert units < share * 2000


# ---- bets are fair and depend on earlier scores alone

SCORES = st.lists(st.floats(-1000, 3000), max_size=40)


@given(SCORES)
def test_wealth_is_fair_in_every_unit(scores: list[float]) -> None:
    """Wealth is linear in the next score, fair at LOW and HIGH, and positive at both bounds.

    Linear means that the bet does not depend on the score; fair means that it tests the mean.

    """

    def after(*more: float) -> tuple[float, float]:
        test = BetterTest(0, 100, lowest=-1000, highest=3000, alpha=1e-9, beta=1e-9)
        for score in [*scores, *more]:
            test.add(score)
        return test._optimist.wealth, test._pessimist.wealth

    before = after()
    at_lowest, at_middle, at_highest = after(-1000), after(1000), after(3000)
    assert after(0)[0] == pytest.approx(before[0])
    assert after(100)[1] == pytest.approx(before[1])
    for side in (0, 1):
        assert at_middle[side] == pytest.approx((at_lowest[side] + at_highest[side]) / 2)
        assert min(at_lowest[side], at_highest[side]) > 0
    assert at_lowest[0] <= before[0] <= at_highest[0]
    assert at_lowest[1] >= before[1] >= at_highest[1]


def test_worst_score_after_a_long_match_leaves_wealth() -> None:
    """A long quiet match raises bets to their maximum; the worst score must still leave wealth."""
    test = BetterTest(0, 10, lowest=-1000, highest=3000, alpha=1e-9, beta=1e-9)
    for _ in range(2000):
        test.add(5)
    assert test.verdict is None
    before = list(test._optimist._stakes)
    test.add(-1000)
    left = [after / stake for after, stake in zip(test._optimist._stakes, before, strict=True)]
    assert left == pytest.approx([1 / 2, 1 / 3, 1 / 5, 1 / 9, 1 / 17])


@given(SCORES)
def test_the_two_sides_mirror_each_other(scores: list[float]) -> None:
    one = BetterTest(-100, 200, lowest=-3000, highest=3000)
    other = BetterTest(-200, 100, lowest=-3000, highest=3000)
    for score in scores:
        one.add(score)
        other.add(-score)
    swap = {Verdict.BETTER: Verdict.NOT_BETTER, Verdict.NOT_BETTER: Verdict.BETTER, None: None}
    assert one.verdict is swap[other.verdict]
    assert one.expected_more() == other.expected_more()


# ---- verdicts and refusals


def test_a_verdict_stays() -> None:
    test = BetterTest(0, 30, lowest=-1000, highest=1000)
    while test.verdict is None:
        test.add(500)
    decided_after = test.units
    assert test.verdict is Verdict.BETTER
    assert test.expected_more() == 0
    for _ in range(10 * decided_after):
        test.add(-1000)
    assert test.verdict is Verdict.BETTER
    assert test.units == 11 * decided_after
    assert test.scores.mean < -800


def test_scores_out_of_bounds_are_refused() -> None:
    test = BetterTest(0, 30, lowest=-1000, highest=2000)
    test.add(-1000)
    test.add(2000 + 1e-7)
    for score in (-1001, 2001, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"^a score of .* mbb is out of bounds: -1000 to 2000$"):
            test.add(score)
    assert test.units == 2


@pytest.mark.parametrize(
    ("low", "high", "alpha", "beta", "problem"),
    [
        (30, 0, 0.05, 0.05, r"^a test needs lowest < low < high < highest, not -1000, 30, 0, 1000$"),
        (0, 1000, 0.05, 0.05, "needs lowest < low < high < highest"),
        (0, 30, 0.0, 0.05, r"^error rates must be above 0 and at most 0.5, not 0 and 0.05$"),
        (0, 30, 0.05, 0.6, "not 0.05 and 0.6"),
    ],
)
def test_impossible_bounds_and_rates_are_refused(
    low: float, high: float, alpha: float, beta: float, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        BetterTest(low, high, alpha=alpha, beta=beta, lowest=-1000, highest=1000)


def test_ruined_bets_are_removed() -> None:
    """With level scores the bold bets lose everything, and the others remain."""
    test = BetterTest(0, 30, lowest=-10_000, highest=10_000, alpha=1e-9, beta=1e-9)
    # The state after hundreds of thousands of scores.
    test._optimist._stakes[-1] *= 1e-295
    for _ in range(4000):
        test.add(6015)
        test.add(-5985)
    assert test.verdict is None
    assert test._optimist._stakes[-1] < 1e-300
    assert 0 < test._optimist.wealth < 1e9
    more = test.expected_more()
    assert more is not None
    assert more > 1000


# ---- expected length


@pytest.mark.slow
@pytest.mark.parametrize("mean_in_deltas", [-3.0, 0.0, 0.5, 1.0, 5.0])
def test_the_estimate_up_front(mean_in_deltas: float) -> None:
    source = population("limit, raising against tight")
    delta = edge_of(source, 600)
    mean = mean_in_deltas * delta
    _, units = verdicts(source, mean, delta, 150, 50_000)
    expected = expected_units(source.sd, low=0, high=delta, alpha=RATE, beta=RATE, mean=mean, **source.reach(abs(mean)))
    assert expected == pytest.approx(units, rel=0.35)


@pytest.mark.slow
def test_estimate_accounts_for_wide_bounds() -> None:
    source = population("no-limit duplicates, tight against calling")
    delta = edge_of(source, 300)
    _, units = verdicts(source, delta, delta, 60, 50_000)
    near = expected_units(source.sd, low=0, high=delta, alpha=RATE, beta=RATE, mean=delta)
    expected = expected_units(source.sd, low=0, high=delta, alpha=RATE, beta=RATE, mean=delta, **source.reach(delta))
    assert near < 0.7 * units
    assert expected == pytest.approx(units, rel=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("mean_in_deltas", [0.0, 1.0])
def test_forecast_during_a_match(mean_in_deltas: float) -> None:
    """Averaged over undecided matches, the forecast is near the units that they still take."""
    source = population("limit, raising against tight")
    delta = edge_of(source, 1000)
    mean = mean_in_deltas * delta
    forecast = taken = 0
    for seed in range(150):
        chance = random.Random(seed)
        test = BetterTest(0, delta, **source.reach(abs(mean)))
        while test.units < 400 and test.verdict is None:
            test.add(chance.choice(source.scores) + mean)
        more = test.expected_more()
        assert more is not None
        if test.verdict is None:
            forecast += more
            while test.verdict is None:
                test.add(chance.choice(source.scores) + mean)
            taken += test.units - 400
    assert forecast == pytest.approx(taken, rel=0.3)
