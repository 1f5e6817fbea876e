"""Checks during a run: seating, schedule and stored results, without playing hands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bots.errors import EvolutionError
from bots.evolution.breeding import Evaluation
from bots.evolution.evolution import Generation, State
from bots.evolved.runs import CheckSettings, check_best
from bots.evolved.training import GENOME, OPPONENTS, EvolvedSettings, TableEvaluator
from bots.long_run import ResultJournal, result_journal

INDIVIDUALS = GENOME.random(14, np.random.default_rng(4))


def state(number: int, champions: int, best: int = 1) -> State:
    fitness = np.zeros(3)
    fitness[best] = 9.0
    generation = Generation(number, 9.0, 3.0, 1.0, 0.5, 1.0, champions, 0)
    return State(1, INDIVIDUALS[:3], Evaluation(fitness), None, INDIVIDUALS[3 : 3 + champions], (), (generation,))


class Tables:
    """Record the players at each table; each wins as much as its seat number."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.evaluators: list[TableEvaluator] = []

    def __call__(self, evaluator: Any, entrants: Any, seeds: Any, tables: Any) -> list[Evaluation]:
        self.evaluators.append(evaluator)
        for entrant, table in zip(entrants, tables, strict=True):
            assert (entrant == INDIVIDUALS[1]).all()
            self.seen.append(table)
        return [Evaluation(np.array([10.0 + place]), None, np.array([range(9)])) for place in range(len(tables))]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[ResultJournal]:
    with result_journal(tmp_path / "checks.jsonl", {}) as kept:
        yield kept


def test_tables_of_a_check(kept: ResultJournal) -> None:
    tables = Tables()
    for number, champions in ((0, 0), (2, 2), (4, 11), (3, 0)):
        check_best(kept, EvolvedSettings(), 7, state(number, champions), tables)
    alone, random, few, same, many = tables.seen
    assert alone.shape == (OPPONENTS, *INDIVIDUALS.shape[1:])
    assert (alone == random).all()
    assert (same == random).all()
    assert (few == INDIVIDUALS[[4, 3, 4, 3, 4, 3, 4, 3, 4]]).all()
    assert (many == INDIVIDUALS[range(13, 4, -1)]).all()
    first = {"random": 10.0, "best_random": 8.0}
    more = {**first, "earlier": 11.0, "best_earlier": 8.0}
    assert kept.rows == [
        {"generation": 0, "renewals": 0, **first},
        {"generation": 2, "renewals": 2, **more},
        {"generation": 4, "renewals": 11, **more},
    ]


def test_checks_use_other_deals_and_trainers_than_the_run(kept: ResultJournal) -> None:
    drawn = []
    for seed in range(4):
        tables = Tables()
        check_best(kept, EvolvedSettings(seed=seed, trials=33), 7, state(seed, champions=0), tables)
        (evaluator,) = tables.evaluators
        assert (evaluator.deals, evaluator.trials) == (7, 33)
        assert evaluator.seed not in range(1000)
        drawn.append((evaluator.seed, tables.seen[0].tobytes()))
        first_opponents = GENOME.random(OPPONENTS, np.random.default_rng([seed, OPPONENTS]))
        assert not (tables.seen[0] == first_opponents).all()
    assert len(set(drawn)) == 4


def test_best_does_not_meet_itself(kept: ResultJournal) -> None:
    tables = Tables()
    own = state(0, champions=0)
    own = State(1, own.population, own.evaluation, None, INDIVIDUALS[1:2], (0,), own.history)
    check_best(kept, EvolvedSettings(), 7, own, tables)
    assert len(tables.seen) == 1


def test_invalid_settings_are_refused() -> None:
    with pytest.raises(EvolutionError, match="check_every must be"):
        CheckSettings(check_every=-1)
