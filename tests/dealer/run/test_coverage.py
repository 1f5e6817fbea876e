"""Coverage of the printed intervals, with 2, 3 and 8 players and the same cards in all contests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from dealer.run.results.result_sentences import contest_sentence
from dealer.run.results.summary import player_winnings, standings_of
from logs.estimation import (
    AnyTimeMean,
    Estimate,
    RankedContest,
    Ranking,
    Rate,
    RunningMean,
    bootstrap,
    mean_of_contests,
    ranked,
)
from tests.dealer import results_of
from tests.logs.estimation.populations import chance_error

BOUNDS = (-24_000.0, 24_000.0)
"""Bounds of a score in limit hold'em, in mbb/g."""

SD = 4000.0
"""Standard deviation of a score in mbb/g."""


def tournament(
    bots: int,
    seats: int,
    deals: int,
    chance: np.random.Generator,
    strengths: Sequence[float] = (),
    *,
    only_bot: int | None = None,
) -> list[RankedContest]:
    """Draw contests between all bots, or those of `only_bot`; a bot's scores in a deal are correlated."""
    bot_scores = chance.normal(0, SD, (deals, bots)) + (np.array(strengths) if len(strengths) else 0.0)
    contests = []
    for players in combinations(range(bots), seats):
        if only_bot is not None and only_bot not in players:
            continue
        scores = bot_scores[:, players] + chance.normal(0, SD / 2, (deals, seats))
        contests.append(RankedContest(players, (scores - scores.mean(axis=1, keepdims=True)).clip(*BOUNDS)))
    return contests


SIZES = [(2, 2), (3, 2), (8, 2), (3, 3), (8, 3), (8, 8)]


def coverage(bots: int, seats: int, runs: int, deals: int = 200) -> tuple[float, float]:
    """Coverage of the true mean, 0, by intervals of a mean over contests and of a cell of the crosstable."""
    mean_hits = cell_hits = 0
    for seed in range(runs):
        contests = tournament(bots, seats, deals, np.random.default_rng(seed), only_bot=0)
        cell_contests = [contest for contest in contests if 1 in contest.players]
        mean_hits += contains_zero(mean_of_contests(contests, 0, BOUNDS))
        cell_hits += contains_zero(mean_of_contests(cell_contests, 0, BOUNDS))
    return mean_hits / runs, cell_hits / runs


def contains_zero(estimate: Estimate) -> bool:
    assert estimate.half_width is not None
    return abs(estimate.mean) <= estimate.half_width


@pytest.mark.slow
@pytest.mark.parametrize(("bots", "seats"), SIZES)
def test_intervals_of_means_and_cells_cover_the_truth(bots: int, seats: int) -> None:
    for share in coverage(bots, seats, 300):
        assert share >= 0.95 - chance_error(0.95, 300, 3.0)


@pytest.mark.slow
@pytest.mark.parametrize(("bots", "seats"), SIZES)
def test_coverage_is_close_to_95_percent_with_many_deals(bots: int, seats: int) -> None:
    """The allowance for unseen large losses adds about 1 % of coverage with 4,000 deals."""
    for share in coverage(bots, seats, 1500, deals=4000):
        assert 0.95 - chance_error(0.95, 1500, 3.0) <= share <= 0.98


def test_standings_use_these_means() -> None:
    contests = tournament(4, 2, 150, np.random.default_rng(1))
    standings = standings_of("limit", contests, ["A", "B", "C", "D"], BOUNDS, seatings=2)
    mean = mean_of_contests(contests[:3], 0, BOUNDS)
    assert standings.won["A"].raw == mean
    (cell,) = [cell for cell in standings.crosstable if (cell.player, cell.opponent) == ("C", "B")]
    pair_contests = [contest for contest in contests if contest.players == (1, 2)]
    won = mean_of_contests(pair_contests, 2, BOUNDS)
    assert cell.rate == Rate.from_estimate(won, "C", "B")
    assert cell.hands == 300


# ---- first place


def stated_and_true_share(runs: int, samples: int, spread: float = 250.0) -> tuple[float, float]:
    """Mean bootstrap share of the first places, and the share of runs in which the strongest of eight is first."""
    stated = 0.0
    correct = 0
    for seed in range(runs):
        chance = np.random.default_rng(seed)
        strengths = chance.normal(0, spread, 8)
        contests = tournament(8, 2, 200, chance, strengths)
        first = ranked(contests, 8, Ranking.TOTAL_BANKROLL)[0][1]
        stated += float(bootstrap(contests, 8, Ranking.TOTAL_BANKROLL, samples=samples, seed=seed)[0, first])
        correct += first == int(strengths.argmax())
    return stated / runs, correct / runs


@pytest.mark.slow
@pytest.mark.parametrize("spread", [100.0, 250.0, 1000.0])
def test_first_places_match_their_stated_probability(spread: float) -> None:
    stated, true = stated_and_true_share(1000, 200, spread)
    assert stated == pytest.approx(true, abs=chance_error(true, 1000, 3.0) + 0.03)


# ---- one contest


def sentences(players: int, runs: int, deals: int, chance: np.random.Generator) -> Iterator[str]:
    """Sentences of contests between equal players."""
    for _ in range(runs):
        scores: NDArray[np.float64] = chance.normal(0, SD, (deals, players))
        scores -= scores.mean(axis=1, keepdims=True)
        means = [RunningMean(bounds=BOUNDS) for _ in range(players)]
        for mean, column in zip(means, scores.T, strict=True):
            mean.count = deals
            mean.mean = float(column.mean())
            mean.squares = float(column.var() * deals)
        player_results = [
            results_of.player(name, chips=mean.mean, won=player_winnings(mean, None, players))
            for name, mean in zip("ABCDEFGHIJ", means, strict=False)
        ]
        yield contest_sentence(results_of.contest(*player_results, duplicates=deals))


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 6, 8, 10])
def test_best_of_equal_players_beats_the_table_at_most_once_in_twenty_contests(players: int) -> None:
    wins = sum(" beats " in sentence for sentence in sentences(players, 5000, 2000, np.random.default_rng(players)))
    assert 0.02 <= wins / 5000 <= 0.05 + chance_error(0.05, 5000, 3.0)


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 8])
def test_any_time_interval_covers_the_truth_at_all_looks(players: int) -> None:
    """In at most 1 of 20 runs the interval ever excludes the true mean."""
    runs = 40
    deals = 400
    exclusions = 0
    for seed in range(runs):
        scores = np.random.default_rng(seed).normal(0, SD, (deals, players))
        column = (scores - scores.mean(axis=1, keepdims=True))[:, 0].clip(*BOUNDS)
        mean = AnyTimeMean(column[:99].tolist(), BOUNDS)
        for look in range(99, deals, 50):
            for score in column[mean.count : look + 1].tolist():
                mean.add(score)
            half_width = mean.half_width()
            if half_width is not None and abs(mean.mean) > half_width:
                exclusions += 1
                break
    assert exclusions / runs <= 0.05 + chance_error(0.05, runs, 3.0)
