"""Charts of a run, from its history and its checks, without playing hands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bots.evolution.breeding import Evaluation
from bots.evolution.evolution import Generation, State
from bots.evolved import report
from bots.evolved.report import runs_page
from bots.evolved.runs import EvolvedRun
from bots.evolved.training import GENOME, OPPONENTS, EvolvedSettings, TableEvaluator
from bots.evolved.training_hands import WinningsCurve
from logs.document import Chart

RENEWALS = (1, 1, 1, 2, 3, 3)
CHECKS = (
    {"generation": 0, "renewals": 1, "random": 5.0, "best_random": 7.0},
    {"generation": 5, "renewals": 3, "random": 9.0, "best_random": 6.0, "earlier": 2.0, "best_earlier": 1.0},
)


@pytest.fixture
def charts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Chart]:
    def curve(_: Any, player: Any, opponents: Any, *__: Any) -> WinningsCurve:
        assert (player == individuals[1]).all()
        assert opponents.shape == (OPPONENTS, *individuals.shape[1:])
        return WinningsCurve(np.arange(1000.0), np.ones(1000))

    monkeypatch.setattr(report, "winnings_curve", curve)
    monkeypatch.setattr(TableEvaluator, "deal_set", None)
    individuals = GENOME.random(11, np.random.default_rng(1))
    history = tuple(
        Generation(number, 10.0 * number, 3.0, number - 1.0, 0.5, 0.9, renewals, 0)
        for number, renewals in enumerate(RENEWALS)
    )
    best = Evaluation(np.array([1.0, 2.0]))
    state = State(1, individuals[:2], best, individuals[2:], individuals[:0], (), history)
    run = EvolvedRun("trainer-1", Path("runs/trainer-1.chromosome"), "done", EvolvedSettings(), state, CHECKS)
    _, section = runs_page([run]).sections
    assert section.title == "trainer-1"
    return {part.title: part for part in section.parts if isinstance(part, Chart)}


def test_a_run_has_the_charts_of_the_thesis(charts: dict[str, Chart]) -> None:
    assert list(charts) == [
        "Winnings by generation",
        "Winnings in the last generation",
        "Against random trainers",
        "Against earlier champions",
        "Cost of a better trainer",
        "Use of the genes",
        "Diversity",
    ]
    best = charts["Winnings by generation"].series[0]
    assert best.ys == (0.0, 10.0, 20.0, 30.0, 40.0, 50.0)


def test_checks_are_shown_at_their_generation(charts: dict[str, Chart]) -> None:
    random, earlier = charts["Against random trainers"], charts["Against earlier champions"]
    assert [line.ys for line in random.series] == [(5.0, 9.0), (7.0, 6.0)]
    assert [(line.xs, line.ys) for line in earlier.series] == [((5.0,), (2.0,)), ((5.0,), (1.0,))]


def test_cost_is_counted_from_one_better_trainer_to_the_next(charts: dict[str, Chart]) -> None:
    (costs,) = charts["Cost of a better trainer"].series
    assert (costs.xs, costs.ys) == ((1.0, 2.0), (3.0, 1.0))


def test_hands_of_a_generation_are_thinned(charts: dict[str, Chart]) -> None:
    everything = charts["Winnings in the last generation"].series[0]
    assert len(everything.xs) == 400
    assert (everything.xs[0], everything.ys[0]) == (1.0, 1.0)
    assert (everything.xs[-1], everything.ys[-1]) == (1000.0, 1000.0)
