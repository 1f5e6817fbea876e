"""Chance-corrected single hands: the estimator's terms, its bounds, hands in any order."""

from __future__ import annotations

import numpy as np
import pytest

from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from logs.record import HandRecord
from logs.variance.correction import (
    ChanceCorrection,
    corrected_bounds,
    fitted_scores,
)
from logs.variance.reduction import Reduction
from protocol import find_game
from tests.logs.variance.small_games import all_hands, random_strategy, small_game


@pytest.mark.parametrize(("name", "players"), [("kuhn", 2), ("leduc", 2), ("kuhn.limit.3p", 3)])
def test_corrected_values_of_all_hands(name: str, players: int) -> None:
    """Corrected values keep the expectation, vary less, sum to 0 and stay within the bounds."""
    game = small_game(name)
    hands = all_hands(game, tuple(random_strategy(seed) for seed in range(players)))
    chances = np.array([hand.probability for hand in hands])
    raw = np.array([hand.record.values for hand in hands])
    corrected = np.array(ChanceCorrection(game).values([hand.record for hand in hands]))
    assert chances @ corrected == pytest.approx(chances @ raw, abs=1e-12)
    assert np.abs(corrected.sum(axis=1)).max() < 1e-12
    spread = chances @ (raw - chances @ raw) ** 2
    assert (chances @ (corrected - chances @ corrected) ** 2 < spread).all()
    low, high = np.array(corrected_bounds(game)) * game.big_blind / 1000
    assert low <= corrected.min()
    assert corrected.max() <= high


def test_corrected_bounds_add_the_largest_pot() -> None:
    """Kuhn has 2 chips and a pot of 4; with three players 2 chips each and a pot of 6 in the only round."""
    assert corrected_bounds(small_game("kuhn")) == (-6000, 6000)
    assert corrected_bounds(small_game("kuhn.limit.3p")) == (-8000, 10_000)
    # Hold'em: 24 big blinds and a pot of 48.
    assert corrected_bounds(find_game("holdem.limit.2p")[1]) == (-72_000, 72_000)


@pytest.mark.slow  # numba compiles
@pytest.mark.parametrize("name", ["holdem.limit.2p", "holdem.nolimit.3p", "leduc"])
def test_corrected_values_are_those_of_the_estimator(name: str) -> None:
    game = find_game(name)[1]
    records = _hands(name, 200)
    correction = ChanceCorrection(game)
    corrected = np.array(correction.values(records))
    reduction = Reduction()
    for record in records:
        reduction.add(record)
    estimates = reduction.estimates().games[0]
    by_name: dict[str, list[float]] = {}
    for record, values in zip(records, corrected, strict=True):
        for who, value in zip(record.names, values, strict=True):
            by_name.setdefault(who, []).append(value)
    for player in estimates.players:
        one = next(one for one in player.estimates if one.estimator == "chance-corrected" and not one.is_fitted)
        # Before the flop, boards are sampled with different random numbers.
        within = 0 if name == "leduc" else 4 * (one.standard_error or 0.0)
        mean = 1000 * np.mean(by_name[player.player]) / game.big_blind
        assert mean == pytest.approx(one.mbb_per_game, abs=1e-9 + within)
    one_by_one = np.array([correction.values([record])[0] for record in records])
    assert (one_by_one == corrected).all(), "however many are corrected together"
    low, high = np.array(corrected_bounds(game)) * game.big_blind / 1000
    assert low <= corrected.min()
    assert corrected.max() <= high


def test_fitted_weights_are_listed_only_where_they_are_better() -> None:
    listings = []
    for seed in range(8):
        reduction = Reduction()
        for record in _hands("leduc", 100, seed):
            reduction.add(record)
        [player, _] = reduction.estimates().games[0].players
        errors = [
            estimate.standard_error or 0.0 for estimate in player.estimates if estimate.estimator == "chance-corrected"
        ]
        assert errors == sorted(errors, reverse=True), "the fitted one is the last one"
        listings.append(len(errors))
    assert set(listings) == {1, 2}, "better for some cards only"


def _hands(name: str, hands: int, seed: int = 8) -> list[HandRecord]:
    game = find_game(name)[1]
    bots = [make_bot("random", seed=seat) for seat in range(game.num_players)]
    return list(self_play(game, bots, deals=hands, seed=seed, seating="single", names="ABC"[: game.num_players]))


# ---- a weight fitted on other deals


@pytest.mark.parametrize("players", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_fitted_scores_are_unbiased_and_vary_less(players: int) -> None:
    rng = np.random.default_rng(players)
    runs, deals = 400, 120
    means, raw_means = [], []
    for _ in range(runs):
        luck = rng.exponential(size=(deals, players)) - 1
        raw = 30 + 100 * luck + 40 * luck**2 + rng.normal(size=(deals, players))
        fitted = fitted_scores(raw, raw - 60 * luck)
        assert fitted is not None
        means.append(fitted.mean(axis=0))
        raw_means.append(raw.mean(axis=0))
    error = np.std(means, axis=0) / runs**0.5
    assert (abs(np.mean(means, axis=0) - 70) < 4.5 * error).all()
    assert (np.std(means, axis=0) < 0.7 * np.std(raw_means, axis=0)).all()


def test_equal_scores_are_not_corrected() -> None:
    rng = np.random.default_rng(1)
    luck = rng.normal(size=(200, 3))
    raw = np.column_stack([np.full(200, -750.0), 375 + 500 * luck[:, 0], 375 - 500 * luck[:, 0]])
    fitted = fitted_scores(raw, raw - 400 * luck[:, [1, 0, 0]] * [1, 1, -1])
    assert fitted is not None
    assert fitted[:, 0].tolist() == pytest.approx([-750.0] * 200)
    assert fitted[:, 1].std() < 0.1 * raw[:, 1].std()


def test_few_or_equal_scores_are_not_fitted() -> None:
    raw = np.random.default_rng(1).normal(size=(79, 2))
    assert fitted_scores(raw, raw + 1) is None
    assert fitted_scores(np.tile(raw, (2, 1)), np.tile(raw, (2, 1)) + 1e-14) is None
