"""Fitness of strategies, exact and sampled, compared with single hands and exact probabilities."""

from __future__ import annotations

from itertools import permutations
from math import comb
from typing import Any

import numpy as np
import pytest

from bots.errors import EvolutionError
from bots.kuhn import kernel
from bots.kuhn.fitness import (
    KuhnSettings,
    against_both,
    against_model,
    against_rivals,
    kuhn_evolution,
    payments,
    payoff_chances,
)
from bots.kuhn.games import KuhnGame, Variant, model
from bots.kuhn.runs import expected_value
from bots.studies.measure_kuhn import payoffs
from engine.splitmix import MASK_64, STEP, mixed

GAMES = [*(KuhnGame(variant) for variant in Variant), KuhnGame(Variant.BREADTH, tens_as_twos=True)]
SEEDS = np.arange(1, 9, dtype=np.uint64) * np.uint64(0xABCDEF)


def strategies(game: KuhnGame, count: int, seed: int = 1) -> Any:
    """Random strategies, with some genes exactly 0 or 1."""
    return np.clip(np.random.default_rng(seed).uniform(-0.3, 1.3, (count, 3 * len(game.rows), 1)), 0, 1)


def genes(chromosome: Any) -> tuple[float, ...]:
    return tuple(chromosome.ravel().tolist())


def chance(chromosome: Any, answers: Any, card: int) -> float:
    product = 1.0
    for row, yes in answers:
        gene = chromosome[3 * row + card, 0]
        product *= gene if yes else 1 - gene
    return product


def hand(game: KuhnGame, first: Any, second: Any, word: int) -> int:
    """Return the winnings of the first player in the hand that a random word decides."""
    deal, point = divmod((word >> 11) * (2.0**-53 * 6), 1.0)
    one, other = list(permutations(range(3), 2))[int(deal)]
    end, won = 0.0, 0
    for line in game.lines():
        end += chance(first, line.answers[0], one) * chance(second, line.answers[1], other)
        won = -line.chips if line.is_showdown and one < other else line.chips
        if point < end:
            break
    return won


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_chances_of_all_payoffs(game: KuhnGame) -> None:
    first, second = strategies(game, 1), strategies(game, 1, seed=2)
    expected = payoffs(game, genes(first), genes(second))
    for seat, own, other in ((0, first, second), (1, second, first)):
        won, by_end = payoff_chances(game, seat, genes(other))
        from bots.kuhn.fitness import contributions

        outcome = contributions(game, seat, own).reshape(len(by_end), -1).T @ by_end
        sign = -1 if seat else 1
        assert {sign * int(amount): share for amount, share in zip(won, outcome[0], strict=True) if share} == (
            pytest.approx(expected)
        )


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_exact_fitness_is_the_expected_value(game: KuhnGame) -> None:
    first, second = strategies(game, 5), strategies(game, 7, seed=2)
    values = np.array([[expected_value(game, genes(one), genes(other)) for other in second] for one in first])
    outcome = against_model(game, 0, genes(second[0]), None, False, first, SEEDS[:5])
    assert outcome.fitness == pytest.approx(values[:, 0])
    outcome = against_model(game, 1, genes(first[0]), None, False, second, SEEDS[:7])
    assert outcome.fitness == pytest.approx(-values[0])
    outcome = against_rivals(game, True, first, SEEDS[:5], second)
    assert outcome.fitness == pytest.approx(values.mean(axis=1))
    assert outcome.totals == pytest.approx(-values.sum(axis=0))
    outcome = against_both(game, genes(second[0]), None, False, first, SEEDS[:5], second)
    assert outcome.fitness == pytest.approx((values.mean(axis=1) + values[:, 0]) / 2)
    assert outcome.totals == pytest.approx(-values.sum(axis=0))


@pytest.mark.parametrize(("trials", "share"), [(1, 0.3), (7, 0.5), (40, 0.93), (1010, 0.01), (1010, 0.4)])
def test_binomial_numbers_have_their_probabilities(trials: int, share: float) -> None:
    binomial: Any = kernel.binomial
    points = 4_000
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials + 1)))])
    outcome = [binomial.py_func(trials, share, (at + 0.5) / points, logs) for at in range(points)]
    counts = np.bincount(outcome, minlength=trials + 1) / points
    exact = [comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(trials + 1)]
    assert counts == pytest.approx(exact, abs=1.01 / points)
    assert [binomial.py_func(trials, edge, 0.5, logs) for edge in (0.0, 1.0)] == [0, trials]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"model": (0.5,) * 5}, "a strategy for the game classic has 6 genes, 2 rows of 3, not 5"),
        ({"model": (0.5,) * 5 + (1.5,)}, "the gene C K is 1.5: a gene is a probability, 0 to 1"),
        ({"games": 0}, "games must be 1 or more, not 0"),
        ({"seat": 3}, "seat must be 1 to 2, not 3"),
        ({"tournament": 0}, "tournament must be 1 or more, not 0"),
        ({"offset": float("nan")}, "offset must be -1,000,000 to 1,000,000, not nan"),
        ({"share": 1.5}, "share must be 0 to 1, not 1.5"),
        ({"mutated": 0}, "mutated must be 1 or more, not 0"),
        ({"mutation_rate": 1.01}, "mutation_rate must be 0 to 1, not 1.01"),
        ({"elite": -1}, "elite must be 0 or more, not -1"),
        ({"opposition": "mixed", "seat": 2}, "only against a model there is one seat to evolve"),
        ({"population": 1000}, "1000 chromosomes cannot have each of 101 values equally often"),
        ({"tens_as_twos": True}, "a bet of 10 is answered as one of 2 in the game breadth only, not in classic"),
        ({"opposition": "coevolution"}, "with coevolution there is no model to play against"),
    ],
)
def test_invalid_settings_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(EvolutionError, match=sentence):
        kuhn_evolution(KuhnSettings(**{"model": model("rational", Variant.CLASSIC), **options}))


def test_uniform_start_has_every_allele_ten_times() -> None:
    first = KuhnSettings(model=model("shy", Variant.CLASSIC)).first(0)
    assert first.shape == (1010, 6, 1)
    for gene in range(6):
        values, counts = np.unique(first[:, gene, 0], return_counts=True)
        assert values == pytest.approx(np.arange(101) / 100)
        assert set(counts.tolist()) == {10}
    drawn = KuhnSettings(model=model("shy", Variant.CLASSIC), start="random").first(0)
    assert len(np.unique(drawn[:, 0, 0])) == 1010


def test_exact_fitness_finds_the_best_response() -> None:
    rational = model("rational", Variant.CLASSIC)
    settings = KuhnSettings(model=rational, fitness="exact", population=202, elite=1, seed=4)
    evolution = kuhn_evolution(settings)
    for _ in range(30):
        evolution.step()
    assert evolution.state.history[-1].best == pytest.approx(1 / 12, abs=0.02)
    assert evolution.state.history[-1].best <= 1 / 12


class TestAsPublished:
    """Effects of the mistakes in the listing."""

    def test_second_player_is_paid_the_winnings_of_the_model(self) -> None:
        rational = model("rational", Variant.CLASSIC)
        options: dict[str, Any] = {"model": rational, "seat": 2, "fitness": "exact", "population": 202}
        right, wrong = (kuhn_evolution(KuhnSettings(**options, as_published=wrong)) for wrong in (False, True))
        for _ in range(20):
            right.step()
            wrong.step()
        game = KuhnGame(Variant.CLASSIC)
        assert expected_value(game, rational, genes(right.champion)) < -0.15
        assert expected_value(game, rational, genes(wrong.champion)) > 0.5, "it has bred the worst losers"

    def test_wheel_without_an_offset_does_not_turn(self) -> None:
        rational = model("rational", Variant.CLASSIC)
        settings = KuhnSettings(model=rational, fitness="exact", selection="roulette", as_published=True)
        evolution = kuhn_evolution(settings)
        evolution.step()
        with pytest.raises(EvolutionError, match="a roulette wheel without an offset cannot turn"):
            evolution.step()

    def test_rank_wheel_misses_the_fittest_and_evolves_as_far(self) -> None:
        rational = model("rational", Variant.CLASSIC)
        means = []
        for wrong in (False, True):
            settings = KuhnSettings(
                model=rational, fitness="exact", selection="rank", as_published=wrong, population=202
            )
            evolution = kuhn_evolution(settings)
            fitness = np.arange(10.0)
            drawn = settings.breeding.selection(fitness, 5000, np.random.default_rng(1))
            assert (9 in drawn) is not wrong
            for _ in range(20):
                evolution.step()
            means.append(evolution.state.history[-1].mean)
        assert means[0] == pytest.approx(means[1], abs=0.03)

    def test_first_of_the_population_wins_a_tournament_of_losers(self) -> None:
        for wrong, winners in ((False, {1, 2, 3}), (True, {0})):
            settings = KuhnSettings(model=model("shy", Variant.CLASSIC), as_published=wrong)
            fitness = np.array([-5.0, -1.0, -1.5, -2.0])
            drawn = settings.breeding.selection(fitness, 1000, np.random.default_rng(1))
            assert set(drawn.tolist()) - {0} == winners - {0}


@pytest.mark.slow  # numba compiles
class TestHands:
    @pytest.mark.parametrize("game", GAMES, ids=str)
    def test_hands_equal_their_slow_twins(self, game: KuhnGame) -> None:
        first, second = strategies(game, 6), strategies(game, 50, seed=2)
        outcome = against_rivals(game, False, first, SEEDS[:6], second)
        won = [
            [hand(game, one, other, mixed((int(seed) + (at + 1) * STEP) & MASK_64)) for at, other in enumerate(second)]
            for one, seed in zip(first, SEEDS, strict=False)
        ]
        assert outcome.fitness.tolist() == [sum(row) / 50 for row in won]
        assert outcome.totals is not None
        assert outcome.totals.tolist() == [-sum(column) for column in zip(*won, strict=True)]

    def test_sums_are_halved_as_in_the_listing(self) -> None:
        game = KuhnGame(Variant.DEPTH)
        first, second = strategies(game, 4), strategies(game, 9, seed=2)
        rational = np.array(model("rational", Variant.DEPTH))[:, None]
        outcome = against_both(game, genes(rational), 9, True, first, SEEDS[:4], second)
        won, paid = [0.0] * 4, [0.0] * 9
        for i, (one, seed) in enumerate(zip(first, SEEDS.tolist(), strict=False)):
            for j, other in enumerate(second):
                result = hand(game, one, other, mixed((seed + (j + 1) * STEP) & MASK_64))
                of_model = hand(game, one, rational, mixed(((seed ^ MASK_64) + (j + 1) * STEP) & MASK_64))
                won[i] = (won[i] + result + of_model) / 2
                paid[j] = (paid[j] - result - of_model) / 2
        assert outcome.fitness == pytest.approx(np.array(won) / 9)
        assert outcome.totals is not None
        assert outcome.totals / 4 == pytest.approx(np.array(paid) / 9)

    def test_numbers_of_payoffs_drawn_are_distributed_as_hands_are(self) -> None:
        """Compare the sum of a few hands with its exact distribution, for sampled numbers and sampled hands."""
        game, games, players = KuhnGame(Variant.BOTH), 3, 60_000
        one, other = strategies(game, 1, seed=5), genes(strategies(game, 1, seed=6))
        single = payoffs(game, genes(one), other)
        exact = {0: 1.0}
        for _ in range(games):
            after: dict[int, float] = {}
            for total, share in exact.items():
                for won, part in single.items():
                    after[total + won] = after.get(total + won, 0.0) + share * part
            exact = after
        seeds = np.random.default_rng(3).integers(0, 1 << 64, players, np.uint64)
        many = np.repeat(one, players, axis=0)
        sums = np.rint(against_model(game, 0, other, games, False, many, seeds).fitness * games)
        again = np.repeat(np.array(other)[None, :, None], games, axis=0)
        hands = np.rint(against_rivals(game, False, many, seeds, again).fitness * games)
        likely = {total: share for total, share in exact.items() if share * players >= 10}
        rest = players * (1 - sum(likely.values()))
        for outcome in (sums, hands):
            counts = np.array([(outcome == total).sum() for total in likely] + [0])
            counts[-1] = players - counts.sum()
            expected = np.array([share * players for share in likely.values()] + [max(rest, 1e-9)])
            chi_square = ((counts - expected) ** 2 / expected)[: -1 if rest < 10 else None].sum()
            freedom = len(likely) - 1
            assert chi_square < freedom + 4 * (2 * freedom) ** 0.5

    def test_a_sure_win_is_won_in_every_hand(self) -> None:
        game = KuhnGame(Variant.CLASSIC)
        folder = model("folder", Variant.CLASSIC)
        bets = np.ones((3, 6, 1))
        for pays_model, mean in ((False, 1.0), (True, -1.0)):
            outcome = against_model(game, 0, folder, 1010, pays_model, bets, SEEDS[:3])
            assert outcome.fitness.tolist() == [mean] * 3

    @pytest.mark.parametrize("game", GAMES, ids=str)
    def test_ends_come_four_at_a_time(self, game: KuhnGame) -> None:
        assert (len(payments(game)[0]) - 1) % kernel.ENDS_AT_ONCE == 0
