"""Ratings from margins, against an obvious fit, a bootstrap, and simulated coverage of the intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from dealer.server.ratings import MIN_UNITS_TO_RATE, FittedRating, TableScores, fit_ratings
from logs.estimation import Bounds, RunningMean

BOUNDS: Bounds = (-100_000.0, 100_000.0)


def table(players: Sequence[int], scores: NDArray[np.float64]) -> TableScores:
    """Create a table from scores of shape (units, players)."""
    return TableScores(tuple(players), tuple(RunningMean(column.tolist()) for column in scores.T))


def between_two(players: tuple[int, int], scores: NDArray[np.float64]) -> TableScores:
    return table(players, np.column_stack([scores, -scores]))


def least_squares_ratings(tables: Sequence[TableScores], n: int) -> NDArray[np.float64]:
    """Fit ratings by minimising the sum of squares directly, for tables of two with equal variances."""
    rows: list[NDArray[np.float64]] = []
    values: list[float] = []
    for result in tables:
        row = np.zeros(n)
        row[list(result.players)] = 1.0, -1.0
        rows.append(row * math.sqrt(result.units))
        values.append(result.scores[0].mean * math.sqrt(result.units))
    rows.append(np.ones(n))
    values.append(0.0)
    return np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0]


def test_two_players_are_rated_half_their_difference_from_their_average() -> None:
    scores = np.tile([300.0, -100.0], 1000)
    first, second = fit_ratings([between_two((3, 7), scores)], BOUNDS)
    assert (first.player, second.player, first.field, second.field) == (3, 7, 3, 3)
    assert first.won.mean == pytest.approx(50.0)
    assert second.won.mean == pytest.approx(-50.0)
    # The interval is halved like the difference of the means.
    width = RunningMean(scores.tolist(), BOUNDS).guaranteed_half_width()
    assert width is not None
    assert first.won.half_width == pytest.approx(width / 2, rel=0.01)
    assert not first.is_provisional


def test_fit_equals_least_squares() -> None:
    chance = np.random.default_rng(1)
    margins = {pair: float(chance.normal(0, 300)) for pair in itertools.combinations(range(5), 2)}
    # Scores of exactly equal variance, so that units alone are the weights.
    tables = []
    for (pair, mean), units in zip(margins.items(), range(1000, 3000, 200), strict=True):
        tables.append(between_two(pair, mean + 500.0 * np.tile([1.0, -1.0], units // 2) * math.sqrt(1 - 1 / units)))
    ratings = [rating.won.mean for rating in fit_ratings(tables, BOUNDS)]
    assert ratings == pytest.approx(least_squares_ratings(tables, 5), abs=1e-6)
    assert sum(ratings) == pytest.approx(0.0, abs=1e-9)
    assert fit_ratings(tables, BOUNDS) == fit_ratings(tables, BOUNDS)


def test_consistent_margins_are_fitted_exactly_and_precise_pairs_weigh_more() -> None:
    truth = [100.0, 20.0, -120.0]
    tables = [
        between_two((a, b), truth[a] - truth[b] + np.tile([200.0, -200.0], 1000))
        for a, b in itertools.combinations(range(3), 2)
    ]
    assert [rating.won.mean for rating in fit_ratings(tables, BOUNDS)] == pytest.approx(truth)
    # Scores of this pair contradict the others, but with a large variance.
    noisy = between_two((0, 2), np.tile([20_000.0, -20_000.0], 1000))
    ratings = fit_ratings([tables[0], noisy, tables[2]], BOUNDS)
    assert [rating.won.mean for rating in ratings] == pytest.approx(truth, abs=0.1)


def test_three_players_at_a_table_are_rated_by_their_winnings_from_the_others() -> None:
    # At a table of three, a player wins its rating minus the others' mean: 3/2 of its rating, as ratings sum to 0.
    truth = np.array([90.0, -30.0, -60.0])
    scores = 1.5 * truth + np.tile([[100.0, -50.0, -50.0], [-100.0, 50.0, 50.0]], (1000, 1))
    ratings = fit_ratings([table((4, 5, 6), scores)], BOUNDS)
    assert [rating.won.mean for rating in ratings] == pytest.approx(truth)


def test_players_without_a_connecting_result_are_in_separate_fields() -> None:
    scores = np.tile([100.0, -80.0], 500)
    ratings = fit_ratings(
        [between_two((1, 2), scores), between_two((8, 9), scores), between_two((2, 5), scores)], BOUNDS
    )
    assert {rating.player: rating.field for rating in ratings} == {1: 1, 2: 1, 5: 1, 8: 8, 9: 8}
    for field in (1, 8):
        assert sum(rating.won.mean for rating in ratings if rating.field == field) == pytest.approx(0.0, abs=1e-9)


def test_few_units_are_provisional_and_very_few_have_no_interval() -> None:
    for units, width, is_provisional in ((50, False, True), (500, True, True), (MIN_UNITS_TO_RATE, True, False)):
        (first, _) = fit_ratings([between_two((0, 1), np.tile([100.0, -80.0], units // 2))], BOUNDS)
        assert (first.won.half_width is not None, first.is_provisional) == (width, is_provisional)
    assert fit_ratings([], BOUNDS) == []


def test_equal_scores_have_an_interval() -> None:
    (first, _) = fit_ratings([between_two((0, 1), np.full(1000, 10.0))], BOUNDS)
    assert first.won.mean == pytest.approx(5.0)
    assert first.won.half_width is not None
    # The rule of three: 3.69 times the distance to the bound, divided by the units, and halved like the rating.
    assert first.won.half_width == pytest.approx(3.69 * 100_010 / 1000 / 2, rel=0.01)


def test_half_width_equals_that_of_a_bootstrap() -> None:
    """Resample the units of every pair, fit ratings again, and compare their spread with the intervals."""
    chance = np.random.default_rng(5)
    pairs = list(itertools.combinations(range(4), 2))
    samples = {pair: chance.normal(0, 1000.0, 1000 + 300 * index) for index, pair in enumerate(pairs)}
    tables = [between_two(pair, scores) for pair, scores in samples.items()]
    observed = fit_ratings(tables, (-1e-9, 1e-9))
    means = []
    for _ in range(40):
        resampled = [between_two(pair, chance.choice(scores, len(scores))) for pair, scores in samples.items()]
        means.append([rating.won.mean for rating in fit_ratings(resampled, (-1e-9, 1e-9))])
    deviations = np.std(means, axis=0)
    for rating, deviation in zip(observed, deviations, strict=True):
        assert rating.won.half_width is not None
        # 40 samples estimate a standard deviation to 11 %. The allowance for unseen scores is small: mean over units.
        assert rating.won.half_width == pytest.approx(1.96 * deviation, rel=0.3)


def is_within(rating: FittedRating, truth: float) -> bool:
    return rating.won.half_width is not None and abs(rating.won.mean - truth) <= rating.won.half_width


@pytest.mark.slow
@pytest.mark.parametrize("is_transitive", [True, False])
@pytest.mark.parametrize("population", ["normal", "rare loss"])
def test_intervals_have_their_coverage(*, is_transitive: bool, population: str) -> None:
    """In 500 simulated standings, at least 95 % of the ratings lie within their intervals, up to chance."""
    chance = np.random.default_rng(11)
    n, runs = 5, 500
    pairs = list(itertools.combinations(range(n), 2))
    covered = 0
    for _ in range(runs):
        strengths = chance.normal(0, 100, n)
        units = {pair: int(chance.integers(300, 3000)) for pair in pairs}
        margins: dict[tuple[int, int], float] = {}
        tables = []
        for a, b in pairs:
            mean = strengths[a] - strengths[b] + (0.0 if is_transitive else float(chance.normal(0, 100)))
            if population == "normal":
                scores = chance.normal(mean, 1000.0, units[a, b])
            else:
                # Small wins, and a loss of 100,000 once in a thousand units.
                lost = chance.random(units[a, b]) < 0.001
                scores = np.where(lost, -100_000.0, 100.0 + mean)
                mean = 0.999 * (100.0 + mean) - 100.0
            margins[a, b] = mean
            tables.append(between_two((a, b), scores))
        ratings = fit_ratings(tables, (-101_000.0, 101_000.0))
        # The true ratings are a fit with the same weights to the true margins.
        exact_tables = []
        for result in tables:
            first, second = result.scores
            margin = margins[result.players[0], result.players[1]]
            exact_tables.append(replace(result, scores=(shifted(first, margin), shifted(second, -margin))))
        truth = fit_ratings(exact_tables, (-101_000.0, 101_000.0))
        covered += sum(is_within(rating, true.won.mean) for rating, true in zip(ratings, truth, strict=True))
    share = covered / (runs * n)
    # The five ratings of one standing are dependent, so the error is that of the standings, not of the ratings.
    assert share >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs), share


def shifted(scores: RunningMean, mean: float) -> RunningMean:
    """Replace the mean of scores, and keep their variance."""
    return RunningMean.from_moments(scores.count, mean, scores.squares)
