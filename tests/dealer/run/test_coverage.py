"""How often what is printed with ± holds, with 2, 3 and 8 players and the same cards in all contests."""

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
"""Of limit hold'em."""

SD = 4000.0


def tournament(
    bots: int, seats: int, deals: int, chance: np.random.Generator, strengths: Sequence[float] = (), *, of: int = -1
) -> list[RankedContest]:
    """Contests between all bots, or those of one: what a bot makes of its cards is the same in all its contests."""
    made = chance.normal(0, SD, (deals, bots)) + (np.array(strengths) if len(strengths) else 0.0)
    contests = []
    for players in combinations(range(bots), seats):
        if of >= 0 and of not in players:
            continue
        scores = made[:, players] + chance.normal(0, SD / 2, (deals, seats))
        contests.append(RankedContest(players, (scores - scores.mean(axis=1, keepdims=True)).clip(*BOUNDS)))
    return contests


SIZES = [(2, 2), (3, 2), (8, 2), (3, 3), (8, 3), (8, 8)]


def held(bots: int, seats: int, runs: int, deals: int = 200) -> tuple[float, float]:
    """How often the interval of a mean over contests, and that of a cell of the crosstable, hold the true mean, 0."""
    means: list[bool] = []
    cells: list[bool] = []
    for seed in range(runs):
        own = tournament(bots, seats, deals, np.random.default_rng(seed), of=0)
        shared = [contest for contest in own if 1 in contest.players]
        for among, hits in ((own, means), (shared, cells)):
            mean = mean_of_contests(among, 0, BOUNDS)
            assert mean.half_width is not None
            hits.append(abs(mean.mean) <= mean.half_width)
    return sum(means) / runs, sum(cells) / runs


@pytest.mark.slow
@pytest.mark.parametrize(("bots", "seats"), SIZES)
def test_means_and_cells_hold(bots: int, seats: int) -> None:
    for share in held(bots, seats, 300):
        assert share >= 0.95 - chance_error(0.95, 300, 3.0)


@pytest.mark.slow
@pytest.mark.parametrize(("bots", "seats"), SIZES)
def test_means_and_cells_hold_to_a_hundredth(bots: int, seats: int) -> None:
    """And are little wider than that takes: with 4,000 deals, what was never seen is worth about a hundredth."""
    for share in held(bots, seats, 1500, deals=4000):
        assert 0.95 - chance_error(0.95, 1500, 3.0) <= share <= 0.98


def test_standings_are_made_of_these_means() -> None:
    contests = tournament(4, 2, 150, np.random.default_rng(1))
    standings = standings_of("limit", contests, ["A", "B", "C", "D"], BOUNDS, seatings=2)
    mean = mean_of_contests(contests[:3], 0, BOUNDS)
    assert standings.won["A"].raw == mean
    (cell,) = [cell for cell in standings.crosstable if (cell.player, cell.opponent) == ("C", "B")]
    of_two = [contest for contest in contests if contest.players == (1, 2)]
    won = mean_of_contests(of_two, 2, BOUNDS)
    assert cell.rate == Rate.from_estimate(won, "C", "B")
    assert cell.hands == 300


# ---- the first place


def said_and_right(runs: int, samples: int, spread: float = 250.0) -> tuple[float, float]:
    """The mean of the bootstrap shares behind the first places, and how often the first was the strongest of eight."""
    said, right = 0.0, 0
    for seed in range(runs):
        chance = np.random.default_rng(seed)
        strengths = chance.normal(0, spread, 8)
        contests = tournament(8, 2, 200, chance, strengths)
        first = ranked(contests, 8, Ranking.TOTAL_BANKROLL)[0][1]
        said += float(bootstrap(contests, 8, Ranking.TOTAL_BANKROLL, samples=samples, seed=seed)[0, first])
        right += first == int(strengths.argmax())
    return said / runs, right / runs


@pytest.mark.slow
@pytest.mark.parametrize("spread", [100.0, 250.0, 1000.0])
def test_first_places_match_their_stated_probability(spread: float) -> None:
    said, right = said_and_right(1000, 200, spread)
    assert said == pytest.approx(right, abs=chance_error(right, 1000, 3.0) + 0.03)


# ---- one contest


def sentences(players: int, runs: int, deals: int, chance: np.random.Generator) -> Iterator[str]:
    """What is said of contests between equals."""
    for _ in range(runs):
        scores: NDArray[np.float64] = chance.normal(0, SD, (deals, players))
        scores -= scores.mean(axis=1, keepdims=True)
        means = [RunningMean(bounds=BOUNDS) for _ in range(players)]
        for mean, column in zip(means, scores.T, strict=True):
            mean.count, mean.mean, mean.squares = deals, float(column.mean()), float(column.var() * deals)
        yield contest_sentence(
            results_of.contest(
                *(
                    results_of.player(
                        "ABCDEFGHIJ"[at],
                        chips=mean.mean,
                        won=player_winnings(mean, None, players),
                    )
                    for at, mean in enumerate(means)
                ),
                duplicates=deals,
            )
        )


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 6, 8, 10])
def test_the_best_of_equals_beats_the_table_once_in_twenty(players: int) -> None:
    said = [" beats " in sentence for sentence in sentences(players, 5000, 2000, np.random.default_rng(players))]
    assert 0.02 <= sum(said) / 5000 <= 0.05 + chance_error(0.05, 5000, 3.0)


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 8])
def test_a_contest_ended_by_a_test_holds_what_it_prints(players: int) -> None:
    """It ends as soon as its interval excludes the truth, if ever; 19 times in 20 it never does."""
    runs, deals, ends = 40, 400, 0
    for seed in range(runs):
        scores = np.random.default_rng(seed).normal(0, SD, (deals, players))
        column = (scores - scores.mean(axis=1, keepdims=True))[:, 0].clip(*BOUNDS)
        mean = AnyTimeMean(column[:99].tolist(), BOUNDS)
        for at in range(99, deals, 50):
            for score in column[mean.count : at + 1].tolist():
                mean.add(score)
            half_width = mean.half_width()
            if half_width is not None and abs(mean.mean) > half_width:
                ends += 1
                break
    assert ends / runs <= 0.05 + chance_error(0.05, runs, 3.0)
