"""Coverage of the intervals, compared with research/tables/intervals.md."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from numpy.typing import NDArray

from logs.estimation import MIN_UNITS, Z_95, AnyTimeMean, IntervalWidth, Monitor, RunningMean, mean
from tests.logs.estimation.populations import MAKERS, chance_error, population
from tests.programs import ROOT

UNITS = (100, 1000, 3000)


def draw_scores(name: str, runs: int, units: int, seed: int = 1) -> NDArray[np.float64]:
    """Draw the scores of many matches, of shape (runs, units), with a true mean of 0."""
    return np.random.default_rng(seed).choice(np.array(population(name).scores), (runs, units))


def coverage(name: str, runs: int, units: int, seed: int = 1) -> tuple[float, float, float]:
    """Return the coverage of the interval and of the normal one, and the ratio of their widths."""
    source = population(name)
    ours, normal, wider = [], [], []
    for start in range(0, runs, 500):
        for scores in draw_scores(name, min(500, runs - start), units, seed + start):
            running = RunningMean(bounds=(source.lowest, source.highest))
            # Running means as a match has them, computed for all runs together.
            running.count, running.mean = units, float(scores.mean())
            running.squares = float(((scores - running.mean) ** 2).sum())
            half_width = running.guaranteed_half_width()
            assert half_width is not None
            plain = Z_95 * math.sqrt(running.squares / (units - 1) / units)
            ours.append(abs(running.mean) <= half_width)
            normal.append(abs(running.mean) <= plain)
            wider.append(half_width / plain if plain > 1e-6 else math.inf)
    return sum(ours) / runs, sum(normal) / runs, float(np.median(wider))


def table_of(text: str) -> dict[str, list[float]]:
    """Return the rows of a page's table that start with the name of a population."""
    rows = {}
    for line in text.splitlines():
        name = next((name for name in MAKERS if line.strip().startswith(name + "  ")), None)
        if name is not None:
            rows[name] = [float(word.strip("()x")) for word in line.strip()[len(name) :].split()]
    return rows


PAGE = (ROOT / "research/tables/intervals.md").read_text("utf-8")
COVERAGE = table_of(PAGE.partition("## Coverage of the guaranteed interval")[2])


def row_of_coverage(name: str, runs: int) -> list[float]:
    return [figure for units in UNITS for figure in coverage(name, runs, units)]


@pytest.mark.sampled
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("units", UNITS[:2])
def test_the_interval_holds_19_times_in_20_also_where_big_losses_are_rare(name: str, units: int) -> None:
    runs = 100
    ours, normal, _ = coverage(name, runs, units)
    assert ours >= 0.95 - chance_error(0.95, runs, 3.0)
    documented = COVERAGE[name][3 * UNITS.index(units) :][:2]
    assert (ours, normal) == pytest.approx(documented, abs=chance_error(documented[1], runs))


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_coverage_is_as_documented(name: str) -> None:
    runs = 20_000
    for at, (figure, documented) in enumerate(zip(row_of_coverage(name, runs), COVERAGE[name], strict=True)):
        if at % 3 == 2:
            assert figure == pytest.approx(documented, rel=0.02), name
        else:
            assert figure == pytest.approx(documented, abs=chance_error(documented, runs) + 0.0005), name
            assert at % 3 or figure >= 0.95 - chance_error(0.95, runs)


# ---- at any time


def share_missed(name: str, runs: int, units: int, *, seed: int = 1) -> float:
    """Share of runs in which the any-time interval excludes the true mean after any unit."""
    source = population(name)
    scale = source.highest - source.lowest
    # The interval excludes the true mean once the wealth of a gambler who bets against it reaches 40.
    missed = np.zeros(runs, dtype=bool)
    for start in range(0, runs, 100):
        scores = draw_scores(name, min(100, runs - start), units, seed + start)
        richest = 0.0
        for distance, mean_distance in (
            (scores - source.lowest, -source.lowest),
            (source.highest - scores, source.highest),
        ):
            wealth = np.zeros(scores.shape)
            for bet in mean.BETS:
                steps = np.log1p(bet * distance / scale) - math.log1p(bet * mean_distance / scale)
                wealth += np.exp(np.minimum(steps.cumsum(axis=1), 50)) / len(mean.BETS)
            missed[start : start + len(scores)] |= (wealth[:, MIN_UNITS - 1 :] >= 40).any(axis=1)
            richest = max(richest, float(wealth[0, -1]))
        running = AnyTimeMean(scores[0].tolist(), (source.lowest, source.highest))
        assert running.half_width() is not None
        # Both sides are as wide as the wider one, so the interval can hold a mean that a gambler has refuted.
        assert richest > 39.99 or abs(running.mean) <= running.half_width()
    return float(missed.mean())


@pytest.mark.sampled
@pytest.mark.parametrize("name", MAKERS)
def test_any_time_interval_holds_with_a_check_after_every_unit(name: str) -> None:
    assert share_missed(name, 100, 1000) <= 0.05 + chance_error(0.05, 100, 3.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_the_any_time_interval_over_long_matches(name: str) -> None:
    assert share_missed(name, 600, 10_000) <= 0.05 + chance_error(0.05, 600, 3.0)


# ---- a width as the stop rule

AT_STOP = table_of(PAGE.partition("## Measured error rates")[2].partition("How often `better:`")[0])


def coverage_at_stop(name: str, units: int, runs: int) -> float:
    """Coverage of the interval when a width stops the match after about `units` units."""
    source = population(name)
    rule = IntervalWidth(Z_95 * source.sd / units**0.5)
    hits = 0
    for seed in range(runs):
        chance = random.Random(seed)
        monitor = Monitor(rule, (source.lowest, source.highest))
        while not monitor.is_decided:
            for score in chance.choices(source.scores, k=100):
                monitor.add(score)
                if monitor.is_decided:
                    break
        half_width = monitor.scores.guaranteed_half_width()
        assert half_width is not None
        assert half_width <= rule.half_width_mbb
        hits += abs(monitor.scores.mean) <= half_width
    return hits / runs


@pytest.mark.parametrize("name", ["normal", "rare loss"])
def test_the_interval_still_holds_when_its_width_stops_the_match(name: str) -> None:
    assert coverage_at_stop(name, 1100, 30) >= 0.95 - chance_error(0.95, 30, 3.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", AT_STOP)
def test_coverage_at_the_stop_is_as_documented(name: str) -> None:
    (documented,) = AT_STOP[name]
    assert coverage_at_stop(name, 5000, 400) == pytest.approx(documented, abs=chance_error(documented, 400) + 0.0005)


# ---- other bounds
