"""Checks along a run: who sits at which table, when, and what is kept; no hand is played here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bots.errors import CheckpointError, EvolutionError
from bots.evolution.breeding import Evaluation
from bots.evolution.evolution import Generation, State
from bots.evolved.runs import Check, Checker, Checks, CheckSettings, read_checks
from bots.evolved.training import GENOME, OPPONENTS, EvolvedSettings, TableEvaluator

INDIVIDUALS = GENOME.random(14, np.random.default_rng(4))


def state(number: int, champions: int, best: int = 1) -> State:
    fitness = np.zeros(3)
    fitness[best] = 9.0
    generation = Generation(number, 9.0, 3.0, 1.0, 0.5, 1.0, champions, 0)
    return State(1, INDIVIDUALS[:3], Evaluation(fitness), None, INDIVIDUALS[3 : 3 + champions], (), (generation,))


class Tables:
    """Keeps who sat at which table; everybody wins as much as its seat."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.evaluators: list[TableEvaluator] = []

    def __call__(self, evaluator: Any, entrants: Any, seeds: Any, tables: Any) -> list[Evaluation]:
        self.evaluators.append(evaluator)
        for entrant, table in zip(entrants, tables, strict=True):
            assert (entrant == INDIVIDUALS[1]).all()
            self.seen.append(table)
        return [Evaluation(np.array([10.0 + place]), None, np.array([range(9)])) for place in range(len(tables))]


def checker(folder: Path, tables: Tables, every: int = 2, deals: int = 7, **settings: Any) -> Checker:
    return Checker(folder, "player", EvolvedSettings(**settings), CheckSettings(every=every, deals=deals), tables)


def test_who_sits_at_the_tables(tmp_path: Path) -> None:
    tables = Tables()
    checking = checker(tmp_path, tables)
    checking.check(state(0, champions=0))
    checking.check(state(2, champions=2))
    checking.check(state(4, champions=11))
    alone, random, few, same, many = tables.seen
    assert alone.shape == (OPPONENTS, *INDIVIDUALS.shape[1:])
    assert (alone == random).all()
    assert (same == random).all()
    assert (few == INDIVIDUALS[[4, 3, 4, 3, 4, 3, 4, 3, 4]]).all()
    assert (many == INDIVIDUALS[range(13, 4, -1)]).all()
    assert checking.checks.checks == (
        Check(generation=0, renewals=0, random=10.0, best_random=8.0, earlier=None, best_earlier=None),
        Check(generation=2, renewals=2, random=10.0, best_random=8.0, earlier=11.0, best_earlier=8.0),
        Check(generation=4, renewals=11, random=10.0, best_random=8.0, earlier=11.0, best_earlier=8.0),
    )
    assert read_checks(tmp_path, "player") == checking.checks


def test_deals_and_random_trainers_are_no_others_of_the_run(tmp_path: Path) -> None:
    drawn = []
    for seed in range(20):
        tables = Tables()
        checker(tmp_path / "none", tables, seed=seed, trials=33)
        made = checker(tmp_path / str(seed), tables, seed=seed, trials=33)
        (tmp_path / str(seed)).mkdir()
        made.check(state(0, champions=0))
        (evaluator,) = tables.evaluators
        assert (evaluator.deals, evaluator.trials) == (7, 33)
        assert evaluator.seed not in range(1000)
        drawn.append((evaluator.seed, tables.seen[0].tobytes()))
        first_opponents = GENOME.random(OPPONENTS, np.random.default_rng([seed, OPPONENTS]))
        assert not (tables.seen[0] == first_opponents).all()
    assert len(set(drawn)) == 20


def test_when(tmp_path: Path) -> None:
    checking = checker(tmp_path, Tables(), every=3)
    for number in range(8):
        checking.check(state(number, champions=0), is_last=number == 7)
    assert [check.generation for check in checking.checks.checks] == [0, 3, 6, 7]
    again = checker(tmp_path, Tables(), every=3)
    for number in range(5, 11):
        again.check(state(number, champions=0))
    assert [check.generation for check in again.checks.checks] == [0, 3, 6, 7, 9]
    never = checker(tmp_path / "never", Tables(), every=0)
    never.check(state(0, champions=0), is_last=True)
    assert not (tmp_path / "never").exists()


def test_the_best_is_not_its_own_earlier_champion(tmp_path: Path) -> None:
    tables = Tables()
    own = state(0, champions=0)
    own = State(1, own.population, own.evaluation, None, INDIVIDUALS[1:2], (0,), own.history)
    checker(tmp_path, tables).check(own)
    assert len(tables.seen) == 1


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(EvolutionError, match="checks every -1 generations of 5 deals are not valid"):
        CheckSettings(every=-1, deals=5)
    with pytest.raises(CheckpointError, match=r"player\.checks\.json: it cannot be written: No such file or directory"):
        checker(tmp_path / "none", Tables()).check(state(0, champions=0))
    assert read_checks(tmp_path, "player") is None
    checker(tmp_path, Tables()).check(state(0, champions=0))
    whole = (tmp_path / "player.checks.json").read_bytes()
    for size in range(0, len(whole) - 2, 7):
        (tmp_path / "player.checks.json").write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match="no checks of a run, or damaged ones: remove the file"):
            read_checks(tmp_path, "player")
    assert Checks(7) == Checks(7, ())
