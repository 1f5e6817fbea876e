"""Hands of a training for charts and trackers, compared with the rules and the kernel."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bots.evolved.training import GENOME, TableEvaluator
from bots.evolved.training_hands import training_hands, winnings_curve, write_hands
from logs.pokerstars import read_pokerstars
from tests.bots.evolved.slow_play import NAMES, played_slowly

pytestmark = pytest.mark.slow  # numba compiles for some seconds

CHROMOSOMES = GENOME.random(10, np.random.default_rng(9))
EVALUATOR = TableEvaluator(deals=6, seed=2, trials=50, odds="reward", rake=True)


def test_hands_as_by_the_rule_book() -> None:
    deals = EVALUATOR.deal_set
    slow = played_slowly(deals, CHROMOSOMES, ["reward"] * 10, rake=False).records
    hands = list(training_hands(deals, CHROMOSOMES, ["reward"] * 10, NAMES))
    assert len(hands) == deals.hands
    for hand, record in zip(hands, slow, strict=True):
        assert (hand.seats, hand.deal, hand.betting.rounds) == (record.seats, record.deal, record.betting.rounds)
        assert hand.values == pytest.approx(record.values)


def _winnings(rake: bool) -> list[float]:
    """Winnings of the ten players by the kernel, in dollars."""
    evaluator = replace(EVALUATOR, rake=rake)
    result = evaluator(CHROMOSOMES[:1], np.zeros(1, np.uint64), CHROMOSOMES[1:])
    assert result.against is not None
    return [float(result.fitness[0]), *result.against[0].tolist()]


def test_written_hands_have_the_winnings_of_the_training(tmp_path: Path) -> None:
    hands = training_hands(EVALUATOR.deal_set, CHROMOSOMES, ["reward"] * 10, NAMES)
    (path,) = write_hands(tmp_path, hands, hero="0", rake=True)
    dollars = dict.fromkeys(NAMES, 0.0)
    for record in read_pokerstars(path, chip_value=1, strict=True):
        assert record.game.raise_sizes == (2, 2, 4, 4)
        for name, value in zip(record.names, record.values, strict=True):
            dollars[name] += value
    # A record has no rake, but its text has.
    assert list(dollars.values()) == pytest.approx(_winnings(rake=False), abs=0.1)
    taken = sum(map(float, re.findall(r"\| Rake \$([0-9.]+)", path.read_text("utf-8"))))
    # The training takes rake of uncalled bets, too.
    in_training = -sum(_winnings(rake=True))
    assert 0.95 * in_training < taken < in_training


def test_curve_ends_at_the_winnings_with_a_flop() -> None:
    curve = winnings_curve(EVALUATOR.deal_set, CHROMOSOMES[0], CHROMOSOMES[1:], "reward", rake=True)
    assert len(curve.at_showdown) == 10 * len(EVALUATOR.deal_set.flops)
    # Hands without a flop sum to 0 for every player.
    assert curve.at_showdown[-1] + curve.without_showdown[-1] == pytest.approx(_winnings(rake=True)[0])
