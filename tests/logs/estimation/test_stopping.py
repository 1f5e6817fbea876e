"""Stop rules, and the monitor that applies them."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logs.estimation import (
    MIN_UNITS_FOR_WIDTH,
    Better,
    BetterTest,
    FixedDeals,
    IntervalWidth,
    Monitor,
    StopRule,
    StopRuleError,
    Verdict,
    expected_units,
    parse_stop_rule,
)

ACCEPTED = (
    "; a stop rule is a number of deals (10000), ci=WIDTH in mbb/g (ci=20) "
    "or better:LOW,HIGH[,ALPHA[,BETA]] in mbb/g (better:0,30)"
)


@pytest.mark.parametrize(
    ("text", "rule", "again"),
    [
        ("10000", FixedDeals(10_000), "10000"),
        (" 0010 ", FixedDeals(10), "10"),
        ("ci=20", IntervalWidth(20), "ci=20"),
        ("better:0,30", Better(0, 30), "better:0,30"),
        ("better:-30, 0", Better(-30, 0), "better:-30,0"),
        ("better:0,30,0.01", Better(0, 30, 0.01, 0.05), "better:0,30,0.01,0.05"),
        ("better:0,30,.01,.1", Better(0, 30, 0.01, 0.1), "better:0,30,0.01,0.1"),
    ],
)
def test_rules_are_parsed_and_written(text: str, rule: StopRule, again: str) -> None:
    assert parse_stop_rule(text) == rule
    assert str(rule) == again


NO_RULES = {
    "": "'' is not a stop rule",
    "10k": "'10k' is not a stop rule",
    "1" * 30: f"'{'1' * 30}' is not a stop rule",
    "0": "0 is not a number of deals above 0",
    "ci=wide": "'ci=wide' contains something that is not a number",
    "ci=1,2": "'ci=1,2' needs one number and has 2",
    "ci=0": "the width must be above 0, not 0",
    "ci=nan": "the width must be above 0, not nan",
    "better:0,1,2,3,4": "'better:0,1,2,3,4' needs 2 to 4 numbers with commas between them and has 5",
    "better:30,0": "LOW must be below HIGH: 30 is not below 0",
    "better:nan,5": "LOW must be below HIGH: nan is not below 5",
    "better:0,30,0": "an error rate must be between 1e-09 and 0.5, not 0",
    "better:0,30,0.05,0.7": "an error rate must be between 1e-09 and 0.5, not 0.7",
    "better:0,30,nan": "an error rate must be between 1e-09 and 0.5, not nan",
}


@pytest.mark.parametrize(("text", "problem"), NO_RULES.items())
def test_other_texts_are_refused_with_the_rules(text: str, problem: str) -> None:
    with pytest.raises(StopRuleError) as caught:
        parse_stop_rule(text)
    assert str(caught.value) == problem + ACCEPTED


FINITE = st.floats(allow_nan=False, allow_infinity=False)
RATES = st.floats(1e-9, 0.5)


@given(
    st.one_of(
        st.builds(FixedDeals, st.integers(1, 10**18 - 1)),
        st.builds(IntervalWidth, st.floats(0, exclude_min=True, allow_infinity=False)),
        st.tuples(FINITE, FINITE, RATES, RATES).filter(lambda four: four[0] < four[1]).map(lambda four: Better(*four)),
    )
)
def test_rules_read_back(rule: StopRule) -> None:
    assert parse_stop_rule(str(rule)) == rule


@given(st.text(max_size=30) | st.from_regex(r"(ci=|better:)[-0-9.,einfa ]{0,12}", fullmatch=True))
def test_any_text_is_a_rule_or_refused(text: str) -> None:
    try:
        rule = parse_stop_rule(text)
    except StopRuleError as error:
        problem = str(error)
    else:
        problem = ACCEPTED
        assert parse_stop_rule(str(rule)) == rule
    assert problem.endswith(ACCEPTED)


# ---- the monitor


def monitor_of(text: str) -> Monitor:
    return Monitor(parse_stop_rule(text), (-20_000, 20_000))


def test_a_number_of_deals() -> None:
    monitor = monitor_of("4")
    assert monitor.likely_units(1000) == 4
    for left in (4, 3, 2, 1):
        assert not monitor.is_decided
        assert monitor.expected_more() == left
        monitor.add(5)
    assert monitor.is_decided
    assert monitor.expected_more() == 0
    assert monitor.verdict is None
    assert monitor.scores.count == 4
    monitor.add(5)
    assert monitor.is_decided


def test_a_narrow_interval_stops_the_match() -> None:
    monitor = monitor_of("ci=50")
    # An unseen score may be a loss of 20,000: the interval allows 3.7 of them when scores hardly vary.
    assert monitor.likely_units(1) == 1476
    assert monitor.likely_units(0, mean=10_000) == math.ceil(3.6889 * 30_000 / 50)
    assert monitor_of("ci=5000").likely_units(1) == MIN_UNITS_FOR_WIDTH
    chance = random.Random(1)
    while not monitor.is_decided:
        monitor.add(chance.gauss(0, 1000))
        half_width = monitor.scores.guaranteed_half_width()
        if monitor.scores.count < 100:
            assert monitor.expected_more() is None
        else:
            assert half_width is not None
            assert (half_width <= 50) == monitor.is_decided
    assert monitor.is_decided
    assert monitor.expected_more() == 0
    assert monitor.verdict is None
    assert monitor.scores.count == pytest.approx(monitor.likely_units(1000), rel=0.05)


def test_a_width_waits_for_enough_units() -> None:
    monitor = monitor_of("ci=100")
    for _ in range(MIN_UNITS_FOR_WIDTH - 1):
        monitor.add(0)
        assert not monitor.is_decided
    assert monitor.expected_more() == 1
    monitor.add(0)
    assert monitor.is_decided


def test_a_verdict_stops_the_match() -> None:
    monitor = monitor_of("better:0,1000")
    test = BetterTest(0, 1000, lowest=-20_000, highest=20_000)
    chance = random.Random(2)
    while not monitor.is_decided:
        score = chance.gauss(1000, 2000)
        monitor.add(score)
        test.add(score)
        assert monitor.verdict is test.verdict
        assert monitor.expected_more() == test.expected_more()
    assert monitor.is_decided
    assert monitor.verdict is Verdict.BETTER
    assert monitor.scores.count == test.units


def test_better_up_front() -> None:
    monitor = Monitor(Better(0, 30), (-200_000, 400_000))
    bounds = {"lowest": -200_000.0, "highest": 400_000.0}
    at_low, at_high = (
        expected_units(2000, low=0, high=30, alpha=0.05, beta=0.05, mean=mean, **bounds) for mean in (0, 30)
    )
    assert at_low != at_high
    assert monitor.likely_units(2000) == max(at_low, at_high)


@pytest.mark.parametrize("text", ["better:0,20000", "better:-20000,0", "better:30000,40000"])
def test_bounds_beyond_the_game_are_refused(text: str) -> None:
    with pytest.raises(StopRuleError) as caught:
        monitor_of(text)
    assert str(caught.value) == (
        f"{text} is out of reach: all scores of this game are between -20,000 and 20,000 mbb/g" + ACCEPTED
    )
