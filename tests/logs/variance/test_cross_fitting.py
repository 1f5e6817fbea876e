"""Cross-fitted weights: unbiased, never worse than none, and intervals with correct coverage."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from engine import Game
from logs.estimation import RunningMean, score_bounds
from logs.variance.cross_fitting import CrossSums
from logs.variance.terms import Shares, chance_columns, chance_terms, term_values
from tests.logs.variance.small_games import all_hands, random_strategy, small_game


def sums_of(rows: np.ndarray) -> CrossSums:
    sums = CrossSums(rows.shape[1])
    sums.add(rows, np.arange(len(rows)) % 2)
    return sums


def test_weights_take_out_what_columns_explain() -> None:
    rng = np.random.default_rng(1)
    luck = rng.normal(size=(4000, 3))
    value = 0.25 + luck @ [2.0, -3.0, 0.0] + 0.1 * rng.normal(size=4000)
    rows = np.column_stack([np.ones(4000), np.ones(4000), value, luck])
    sums = sums_of(rows)
    assert sums.deals == sums.hands == 4000
    assert sums.mean(2).mean == pytest.approx(value.mean())
    assert sums.mean(2).variance == pytest.approx(value.var(ddof=1))
    assert sums.mean(2, [3]).mean == pytest.approx((value + luck[:, 0]).mean())
    fitted = sums.fitted_mean(2, [3, 4, 5], [3, 4, 5])
    assert fitted is not None
    assert fitted.variance == pytest.approx(0.01, rel=0.1)
    assert abs(fitted.mean - 0.25) < 5 * (0.01 / 4000) ** 0.5


def test_the_skewness_of_a_mean_is_that_of_its_scores() -> None:
    rng = np.random.default_rng(2)
    luck = rng.exponential(size=(400, 2)) * [3.0, -1.0]
    value = 5 + luck[:, 0] + rng.normal(size=400)
    rows = np.column_stack([np.ones(400), np.ones(400), value, luck])
    assert sums_of(rows).mean(2).skewness == pytest.approx(RunningMean(value.tolist()).skewness)
    scores = RunningMean((value + luck[:, 1]).tolist())
    assert sums_of(rows).mean(2, [4]).half_width() == pytest.approx(scores.half_width())
    fitted = sums_of(rows).fitted_mean(2, [3, 4], [3, 4])
    assert fitted is not None
    assert fitted.skewness == pytest.approx(0, abs=0.4), "what is left is normal"


def test_deals_of_different_sizes_have_the_skewness_of_their_linearised_scores() -> None:
    rng = np.random.default_rng(3)
    hands = rng.integers(1, 4, 200).astype(float)
    value = hands * 2 + rng.exponential(size=200)
    mean = sums_of(np.column_stack([np.ones(200), hands, value])).mean(2)
    residuals = value - mean.mean * hands
    assert mean.skewness == pytest.approx(RunningMean(residuals.tolist()).skewness)


def test_columns_of_rounding_have_no_weight() -> None:
    rng = np.random.default_rng(2)
    value = 0.5 + rng.normal(size=1000)
    rounding = np.where(rng.random(1000) < 0.5, 1e-16, 0.0)
    rows = np.column_stack([np.ones(1000), np.ones(1000), value, rounding, np.zeros(1000)])
    sums = sums_of(rows)
    fitted = sums.fitted_mean(2, [3, 4], [3, 4])
    assert fitted is not None
    assert fitted.mean == pytest.approx(value.mean(), abs=1e-9)


def test_deals_of_different_sizes_count_by_their_hands() -> None:
    rows = np.array([[1.0, 1.0, 3.0], [1.0, 3.0, 1.0], [1.0, 2.0, 2.0]])
    estimate = sums_of(rows).mean(2)
    assert (estimate.mean, estimate.count) == (1.0, 3)
    residuals = np.array([3 - 1, 1 - 3, 2 - 2])
    assert estimate.variance == pytest.approx(residuals.var(ddof=1) / 4)


def test_few_deals_have_one_weight_and_fewer_none() -> None:
    rng = np.random.default_rng(3)
    luck = rng.normal(size=(160, 4))
    value = luck @ [1.0, 1.0, 1.0, 3.0] + 0.1 * rng.normal(size=160)
    rows = np.column_stack([np.ones(160), np.ones(160), value, luck])
    assert not sums_of(rows[:79]).may_fit
    assert sums_of(rows[:79]).fitted_mean(2, [3, 4, 5, 6], [3, 4, 5]) is None
    single, separate = (sums_of(some).fitted_mean(2, [3, 4, 5, 6], [3, 4, 5]) for some in (rows[:80], rows[:160]))
    assert single is not None
    assert single.variance == pytest.approx(9, rel=0.5), "the fourth column has no weight of its own"
    assert separate is not None
    assert separate.variance == pytest.approx(9, rel=0.5)
    rows = np.concatenate([rows, rows])
    separate = sums_of(rows).fitted_mean(2, [3, 4, 5, 6], [3, 4, 5])
    assert separate is not None
    assert separate.variance < 0.02, "with 20 deals for each weight every column has one"


def test_equal_values_stay_unchanged() -> None:
    """Cards do not change the result of a player who always folds: correction without weights would add luck."""
    rng = np.random.default_rng(4)
    luck = rng.normal(size=(90, 3))
    rows = np.column_stack([np.ones(90), np.ones(90), np.full(90, -0.75), luck])
    fitted = sums_of(rows).fitted_mean(2, [3, 4, 5], [3, 4])
    assert fitted is not None
    assert (fitted.mean, fitted.variance) == (pytest.approx(-0.75, abs=1e-12), pytest.approx(0, abs=1e-20))
    assert sums_of(rows).mean(2, [3, 4]).variance > 1


@pytest.mark.parametrize("deals", [80, pytest.param(200, marks=pytest.mark.slow)])
def test_fitted_means_of_few_deals_are_unbiased(deals: int) -> None:
    """The mean over many samples is the true one, even if no weight captures how values depend on luck."""
    rng = np.random.default_rng(5)
    runs, means = 300, []
    for _ in range(runs):
        luck = rng.exponential(size=(deals, 3)) - 1
        value = luck[:, 0] ** 2 + luck @ [1.0, -2.0, 0.5] + rng.normal(size=deals)
        rows = np.column_stack([np.ones((deals, 2)), value, luck])
        fitted = sums_of(rows).fitted_mean(2, [3, 4, 5], [3, 4])
        assert fitted is not None
        means.append(fitted.mean)
    assert abs(np.mean(means) - 1) < 4 * np.std(means) / runs**0.5


def intervals_hold(game: Game, deals: int, runs: int) -> list[float]:
    """Return coverage of the intervals of three estimators: plain, corrected, fitted."""
    hands = all_hands(game, tuple([random_strategy(40 + at) for at in range(game.num_players)]))
    records = [hand.record for hand in hands]
    terms = term_values(
        Shares(game), [r.deal for r in records], [chance_terms(r.betting) for r in records], [0] * len(hands)
    )[:, 0]
    values = np.array([record.values[0] for record in records])
    rows = np.column_stack([np.ones((len(hands), 2)), values, terms]) / [1, 1, *[game.big_blind] * (terms.shape[1] + 1)]
    chances = np.array([hand.probability for hand in hands])
    chances /= chances.sum()
    exact = float(chances @ rows[:, 2])
    rng = np.random.default_rng(6)
    columns = list(range(3, 3 + chance_columns(game)))
    held = np.zeros(3)
    bounds = score_bounds(game)
    for _ in range(runs):
        sums = sums_of(rows[rng.choice(len(hands), deals, p=chances)])
        plain = columns[: len(columns) // 2]
        fitted = sums.fitted_mean(2, columns, plain)
        assert fitted is not None
        estimates = (sums.mean(2), sums.mean(2, plain), fitted)
        for at, mean in enumerate(estimates):
            unit = RunningMean(bounds=bounds)
            unit.count, unit.mean, unit.squares = deals, 1000 * mean.mean, 1e6 * mean.variance * (deals - 1)
            half = unit.half_width()
            assert half is not None
            held[at] += abs(1000 * (mean.mean - exact)) <= half
    return (held / runs).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn", "kuhn.limit.3p", "leduc", "leduc no-limit"])
@pytest.mark.parametrize("deals", [200, 1000])
def test_intervals_hold_the_truth(name: str, deals: int) -> None:
    runs = 500
    least = 0.95 - NormalDist().inv_cdf(1 - 1e-6) * (0.95 * 0.05 / runs) ** 0.5
    assert min(intervals_hold(small_game(name), deals, runs)) >= least
