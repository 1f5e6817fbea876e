"""Rankings compared with hand calculations, and their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logs.estimation import (
    AnyTimeMean,
    Estimate,
    RankedContest,
    Ranking,
    RunningMean,
    bootstrap,
    mean_of_contests,
    ranked,
)

A, B, C, D = range(4)


def contest(players: Sequence[int], *units: Sequence[float]) -> RankedContest:
    return RankedContest(tuple(players), np.array(units, dtype=float))


def pair(first: int, second: int, won: float, *more: float) -> RankedContest:
    """Contest of two from the first player's point of view."""
    return contest((first, second), *((value, -value) for value in (won, *more)))


def total_bankroll(contests: Sequence[RankedContest], n: int) -> list[tuple[int, int]]:
    return ranked(contests, n, Ranking.TOTAL_BANKROLL)


def instant_runoff(contests: Sequence[RankedContest], n: int) -> list[tuple[int, int]]:
    return ranked(contests, n, Ranking.INSTANT_RUNOFF)


def test_every_contest_counts_alike_however_long() -> None:
    contests = [pair(A, B, *[10.0] * 100), pair(A, C, -20.0), pair(B, C, 0.0)]
    assert total_bankroll(contests, 3) == [(1, C), (2, A), (2, B)]


A_MILKS_THE_WEAK = [
    pair(A, D, 300),
    pair(B, D, 10),
    pair(C, D, 10),
    pair(B, A, 40),
    pair(C, A, 30),
    pair(B, C, 5),
]
"""A wins most from the weakest and loses to all others."""


@pytest.mark.parametrize(
    ("contests", "by_bankroll", "by_runoff"),
    [
        pytest.param(
            A_MILKS_THE_WEAK,
            [(1, A), (2, B), (3, C), (4, D)],
            [(1, B), (2, C), (3, A), (4, D)],
            id="the strong do not milk the weak",
        ),
        # Total bankroll decides who is removed, then the remaining pair decides.
        pytest.param(
            [pair(A, B, 10), pair(B, C, 30), pair(C, A, 15)],
            [(1, B), (2, A), (3, C)],
            [(1, A), (2, B), (3, C)],
            id="a circle",
        ),
        pytest.param(
            [pair(B, A, 0), pair(C, A, 0), pair(C, B, 0)],
            [(1, A), (1, B), (1, C)],
            [(1, A), (1, B), (1, C)],
            id="equals share a place",
        ),
        # The order of the sums differs by player, and so can the last digit.
        pytest.param(
            [pair(A, B, 0.0), pair(A, C, 0.1), pair(B, C, 0.1), pair(A, D, 0.7), pair(B, D, 0.7), pair(C, D, 0.7)],
            [(1, A), (1, B), (3, C), (4, D)],
            [(1, A), (1, B), (3, C), (4, D)],
            id="nobody is first alone",
        ),
    ],
)
def test_the_two_rankings(
    contests: list[RankedContest], by_bankroll: list[tuple[int, int]], by_runoff: list[tuple[int, int]]
) -> None:
    assert total_bankroll(contests, len(by_runoff)) == by_bankroll
    assert instant_runoff(contests, len(by_runoff)) == by_runoff


def test_tables_of_three() -> None:
    """With fewer players left than seats, the last table's own contest orders them."""
    contests = [
        contest((A, B, C), (5, 1, -6)),
        contest((A, B, D), (30, 20, -50)),
        contest((A, C, D), (-10, 40, -30)),
        contest((B, C, D), (10, -4, -6)),
    ]
    assert total_bankroll(contests, 4) == [(1, B), (2, C), (3, A), (4, D)]
    assert instant_runoff(contests, 4) == [(1, A), (2, B), (3, C), (4, D)]


def test_contests_that_failed() -> None:
    """B played only one contest, D none."""
    contests = [pair(A, B, 10), pair(A, C, -30)]
    assert total_bankroll(contests, 4) == [(1, C), (2, A), (2, B)]
    assert instant_runoff(contests, 4) == [(1, C), (2, A), (2, B)]
    matrix = bootstrap(contests, 4, Ranking.INSTANT_RUNOFF, samples=20)
    assert matrix[3].tolist() == [0, 0, 0, 1]


def test_a_player_without_a_contest_among_the_remaining_keeps_its_bankroll() -> None:
    """The contest of A and B failed, so their results against C and D decide between the last two."""
    contests = [pair(A, C, 10), pair(A, D, 50), pair(B, C, 12), pair(B, D, 20), pair(C, D, 1)]
    # D is removed first; among A, B and C, B has won more.
    assert instant_runoff(contests, 4) == [(1, B), (2, A), (3, C), (4, D)]


@given(st.data(), st.integers(2, 5))
def test_runoff_equals_its_definition(data: st.DataObject, n: int) -> None:
    values = st.integers(-50, 50)
    contests = [pair(a, b, data.draw(values), data.draw(values)) for a, b in combinations(range(n), 2)]
    left = set(range(n))
    expected: list[tuple[int, int]] = []
    while left:
        # Sums of these numbers are exact.
        won = {
            player: sum(
                float(one.means[one.players.index(player)]) for one in contests if {player} <= {*one.players} <= left
            )
            for player in left
        }
        lowest = [player for player in sorted(left) if won[player] == min(won.values())]
        left -= set(lowest)
        expected = [(len(left) + 1, player) for player in lowest] + expected
    assert instant_runoff(contests, n) == expected


# ---- contests


BOUNDS = (-20_000.0, 20_000.0)


def test_the_mean_of_one_contest_is_that_of_its_scores() -> None:
    chance = np.random.default_rng(1)
    won = chance.normal(5, 100, 400)
    played = RankedContest((C, A), np.column_stack([won, -won]))
    plain, any_time = RunningMean((-won).tolist(), BOUNDS), AnyTimeMean((-won).tolist(), BOUNDS)
    mean = mean_of_contests([played], A, BOUNDS)
    assert mean.mean == pytest.approx(-won.mean())
    assert mean.error == pytest.approx(won.std(ddof=1) / 400**0.5)
    assert mean.half_width == pytest.approx(plain.half_width(), rel=1e-5)
    assert mean.guaranteed_half_width == pytest.approx(plain.guaranteed_half_width())
    assert played.means.tolist() == pytest.approx([won.mean(), -won.mean()])
    sequential = mean_of_contests([played], A, BOUNDS, is_sequential=True)
    assert (sequential.mean, sequential.error) == (mean.mean, mean.error)
    assert sequential.half_width == pytest.approx(any_time.half_width())
    with pytest.raises(ValueError):
        mean_of_contests([played], B, BOUNDS)


def test_contests_with_the_same_deals_are_not_independent() -> None:
    """A repeated contest adds no information; with its mirror image only sampling of deals remains."""
    won = np.random.default_rng(1).normal(5, 100, 400)
    contests = [
        RankedContest((A, B), np.column_stack([won, -won])),
        RankedContest((A, C), np.column_stack([won, -won])),
    ]
    once = RunningMean(won.tolist(), BOUNDS)
    assert mean_of_contests(contests, A, BOUNDS).half_width == pytest.approx(once.estimate.half_width)
    mirror = RankedContest((A, D), np.column_stack([-won, won]))
    level = mean_of_contests([contests[0], mirror], A, BOUNDS)
    assert level.half_width is None
    assert level.guaranteed_half_width == pytest.approx(3.689 * 20_000 / 400, rel=1e-3)


def test_contests_of_different_length_share_what_they_can() -> None:
    won = np.random.default_rng(2).normal(0, 1000, 2000)
    longer = RankedContest((A, B), np.column_stack([won, -won]))
    shorter = RankedContest((A, C), np.column_stack([won[:500], -won[:500]]))
    # Each deal of the shorter contest moves the mean by half of 1/500 of its score, of the longer by half of 1/2000.
    error = 1000 * ((500 * (1 / 500 + 1 / 2000) ** 2 + 1500 / 2000**2) ** 0.5) / 2
    half_width = mean_of_contests([longer, shorter], A, (-100.0, 100.0)).half_width
    assert half_width == pytest.approx(1.96 * error, rel=0.05)


def test_too_few_deals_have_no_interval() -> None:
    contests = [pair(A, B, *[1.0, -1.0] * 100), pair(A, C, *[3.0] * 99)]
    assert mean_of_contests(contests, A, BOUNDS) == Estimate(1.5, None, pytest.approx(0.5 / 199**0.5))


@pytest.mark.parametrize(
    ("players", "scores", "problem"),
    [
        ((A, A), [[1, 2]], r"^a player plays against itself: \(0, 0\)$"),
        ((A, B), [[1, 2, 3]], r"^scores of shape \(1, 3\) do not fit 2 players$"),
        ((A, B), [1, 2], r"^scores of shape \(2,\) do not fit 2 players$"),
        ((A, B), np.zeros((0, 2)), "^a contest without a unit has no mean: leave it out$"),
        ((A, B), [[1, np.nan]], "^a score is not a finite number$"),
    ],
)
def test_impossible_contest_is_refused(players: tuple[int, ...], scores: object, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        RankedContest(players, np.array(scores, dtype=float))


# ---- the bootstrap


def noisy_pair(first: int, second: int, mean: float, units: int, seed: int) -> RankedContest:
    won = np.random.default_rng(seed).normal(0, 1000, units)
    won += mean - won.mean()
    return RankedContest((first, second), np.column_stack([won, -won]))


@pytest.mark.parametrize("ranking", Ranking)
def test_clear_winner_has_a_certain_rank(ranking: Ranking) -> None:
    contests = [noisy_pair(A, B, 500, 300, 1), noisy_pair(A, C, 500, 300, 2), noisy_pair(B, C, 0, 300, 3)]
    matrix = bootstrap(contests, 3, ranking, samples=500, seed=1)
    assert matrix[0, A] == 1.0
    assert matrix[1, B] == pytest.approx(0.5, abs=0.08)
    assert matrix[2, B] == pytest.approx(0.5, abs=0.08)


def test_samples_give_a_deal_the_same_weight_in_all_contests() -> None:
    """A and B win the same from C in every deal: with separate weights one would lead by luck."""
    won = np.random.default_rng(1).normal(0, 1000, 300)
    both = [RankedContest((player, C), np.column_stack([won, -won])) for player in (A, B)]
    shares = bootstrap(both, 3, Ranking.TOTAL_BANKROLL, samples=200)
    assert shares[:, A].tolist() == shares[:, B].tolist()


def test_the_same_seed_gives_the_same_result() -> None:
    contests = [noisy_pair(A, B, 20, 200, 1)]
    first, same, other = (bootstrap(contests, 2, Ranking.TOTAL_BANKROLL, samples=500, seed=seed) for seed in (1, 1, 2))
    assert (first == same).all()
    assert (first != other).any()


@pytest.mark.parametrize("units", [400, 20_000])
def test_the_probability_is_that_of_the_normal_distribution(units: int) -> None:
    """A lead of two standard errors, a quarter of it by chance, leaves 3**0.5: a share of 0.958.

    Long contests are weighted in blocks, uneven ones too.

    """
    error = 2 * 1000 / units**0.5
    matrix = bootstrap([noisy_pair(A, B, error, units, 5)], 2, Ranking.TOTAL_BANKROLL, samples=4000, seed=1)
    assert matrix[0, A] == pytest.approx(0.958, abs=0.02)


def test_blocks_keep_units_that_depend_on_their_neighbours_together() -> None:
    """A unit repeated 50 times counts as one unit."""
    once = np.random.default_rng(2).normal(0, 1000, 1000)
    once += 2 * 1000 / 1000**0.5 - once.mean()
    won = np.repeat(once, 50)
    repeated = RankedContest((A, B), np.column_stack([won, -won]))
    matrix = bootstrap([repeated], 2, Ranking.TOTAL_BANKROLL, samples=4000, seed=1)
    assert matrix[0, A] == pytest.approx(0.958, abs=0.02)


def test_contests_of_any_length_count_alike_in_a_sample_too() -> None:
    """With scores that do not vary, every sample has the ranking of the whole."""
    contests = [pair(A, B, *[10.0] * 5300), pair(C, A, *[20.0] * 10), pair(C, B, *[1.0] * 1001)]
    order = [player for _, player in total_bankroll(contests, 3)]
    assert order == [C, A, B]
    matrix = bootstrap(contests, 3, Ranking.TOTAL_BANKROLL, samples=50)
    assert [matrix[place, player] for place, player in enumerate(order)] == [1.0, 1.0, 1.0]
