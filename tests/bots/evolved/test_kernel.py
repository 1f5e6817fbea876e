"""Compiled hands of the training compared with the rules, and its tables with other counts."""

from __future__ import annotations

import numpy as np
import pytest

from bots.evolved import kernel
from bots.evolved.chromosome import GENES, ODDS, Odds
from bots.evolved.training import GENOME, DealSet, TableEvaluator, make_deals
from engine.equity import exact_equity, sampled_equity
from tests.bots.evolved.slow_play import played_slowly

pytestmark = pytest.mark.slow  # numba compiles for some seconds

TRIALS = 400


@pytest.fixture(scope="module")
def deals() -> DealSet:
    return make_deals(12, 3, TRIALS)


@pytest.mark.parametrize("odds", ODDS)
@pytest.mark.parametrize("rake", [False, True])
def test_hands_as_by_the_rule_book(deals: DealSet, odds: Odds, rake: bool) -> None:
    chromosomes = GENOME.random(10, np.random.default_rng(5))
    evaluator = TableEvaluator(len(deals.cards), 3, TRIALS, odds, rake)
    result = evaluator(chromosomes[:1], np.zeros(1, np.uint64), chromosomes[1:])
    slow = played_slowly(deals, chromosomes, [odds] * 10, rake)
    assert len(slow.flops) == 10 * len(deals.flops)
    assert result.against is not None
    assert [result.fitness[0], *result.against[0]] == pytest.approx(slow.won, abs=1e-6)
    assert result.used is not None
    assert set(np.flatnonzero(result.used[0]).tolist()) == slow.used
    assert sum(slow.won) == pytest.approx(0, abs=1e-6) if not rake else sum(slow.won) < 0


def test_each_deal_sees_a_flop_and_no_card_twice(deals: DealSet) -> None:
    assert set(deals.flops[:, 0]) == set(range(len(deals.cards)))
    assert all(len(set(cards)) == 25 for cards in deals.cards.tolist())
    assert deals.hands == 1200
    again = make_deals(12, 3, TRIALS)
    assert (again.cards == deals.cards).all()
    assert (again.weights == deals.weights).all()
    assert not (make_deals(12, 4, 1).cards == deals.cards).all()


def test_deals_without_a_flop_are_left_out_and_no_others() -> None:
    """Deals without a flop in any rotation are dropped: the mean share of flops of the others agrees."""
    spent = np.empty(10, np.int64)
    random = np.random.default_rng(1)
    shares = []
    for _ in range(2000):
        cards = random.permutation(52)[:25].astype(np.uint8)
        seen = [kernel.preflop(cards, rotation, spent)[0] for rotation in range(10)]
        shares.append(np.mean([in_pot & (in_pot - 1) > 0 for in_pot in seen]))
    kept = len(make_deals(2000, 9, 1).flops) / 20_000
    assert kept == pytest.approx(np.mean([share for share in shares if share]), abs=0.02)


def test_weights_are_chances_not_to_lose(deals: DealSet) -> None:
    errors = []
    for number in range(4):
        cards = deals.cards[number].tolist()
        for pair in range(0, 10, 3):
            hole = cards[2 * pair : 2 * pair + 2]
            for board in (3, 4, 5):
                for opponents in (1, 2, 5, 9):
                    seen = cards[20 : 20 + board]
                    result = (
                        exact_equity(hole, seen)
                        if opponents == 1
                        else sampled_equity(hole, seen, opponents, trials=20_000)
                    )
                    chance = result.win + result.tie
                    error = max(np.sqrt(chance * (1 - chance) / TRIALS), 1 / TRIALS)
                    errors.append((deals.weights[number, pair, board - 3, opponents - 1] - chance) / error)
    assert np.abs(errors).max() < 4.5
    assert np.mean(errors) == pytest.approx(0, abs=0.3)
    assert np.std(errors) == pytest.approx(1, abs=0.3)


def test_opponents_must_be_nine() -> None:
    evaluator = TableEvaluator(2, 3, 1, "reward", False)
    for opponents, count in ((None, 0), (np.zeros((8, GENES, 2), np.int16), 8)):
        with pytest.raises(ValueError, match=f"a table needs 9 opponents, not {count}"):
            evaluator(np.zeros((1, GENES, 2), np.int16), np.zeros(1, np.uint64), opponents)
