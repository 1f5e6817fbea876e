"""Whole evolutions: results, interruption, and division into workers."""

from __future__ import annotations

import ast
import doctest
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from itertools import islice, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bots.evolution
from bots.errors import BotFileError, EvolutionError
from bots.evolution import evolution as evolution_run
from bots.evolution.breeding import (
    Breeding,
    Evaluation,
    Genome,
    reset_mutation,
    shift_mutation,
    some_genes,
    tournament_selection,
)
from bots.evolution.evolution import (
    Evolution,
    Opposition,
    State,
    StopRule,
    load_checkpoint,
    save_checkpoint,
)

GENOME = Genome.alike(6, 0, 1)


def near(chromosomes: Any, seeds: Any, opponents: Any) -> Evaluation:
    """Score genes by their distance to 0.3; only the first four genes count."""
    used = np.zeros(chromosomes.shape[:2], bool)
    used[:, :4] = True
    return Evaluation(-((chromosomes[:, :4, 0] - 0.3) ** 2).sum(axis=1), used)


def noisy(chromosomes: Any, seeds: Any, opponents: Any) -> Evaluation:
    noise = [np.random.default_rng(int(seed)).normal() for seed in seeds]
    return Evaluation(near(chromosomes, seeds, opponents).fitness + 0.1 * np.array(noise))


def taller(chromosomes: Any, seeds: Any, opponents: Any) -> Evaluation:
    """Score the mean margin of an individual's sum over the opponents' sums."""
    margins = chromosomes.sum(axis=(1, 2))[:, None] - opponents.sum(axis=(1, 2))[None, :]
    return Evaluation(margins.mean(axis=1), None, -margins)


def pennies(chromosomes: Any, seeds: Any, opponents: Any) -> Evaluation:
    """Return the exact expectation in matching pennies with one gene, the probability of heads."""
    own, opposing = chromosomes[:, 0, 0][:, None], opponents[:, 0, 0][None, :]
    won = (2 * own - 1) * (2 * opposing - 1)
    return Evaluation(won.mean(axis=1), None, -won)


def taller_in_sum(chromosomes: Any, seeds: Any, opponents: Any) -> Evaluation:
    """Score as `taller`, in integers; `totals` are each opponent's results against all individuals."""
    margins = np.rint(100 * chromosomes.sum(axis=(1, 2)))[:, None] - np.rint(100 * opponents.sum(axis=(1, 2)))[None, :]
    return Evaluation(margins.mean(axis=1), None, totals=-margins.sum(axis=0))


def make(evaluator: Any = near, breeding: Breeding | None = None, **options: Any) -> Evolution:
    return Evolution(GENOME, evaluator, breeding or Breeding(), **{"population": 30, "seed": 5, **options})


def same(one: State | None, other: State | None) -> bool:
    assert one is not None
    assert other is not None
    return (
        one.history == other.history
        and one.champion_generations == other.champion_generations
        and np.array_equal(one.population, other.population)
        and np.array_equal(one.evaluation.fitness, other.evaluation.fitness)
        and np.array_equal(one.champions, other.champions)
        and (one.opponents is None or np.array_equal(one.opponents, np.asarray(other.opponents)))
    )


def run(evolution: Evolution, generations: int) -> Evolution:
    for _ in islice(evolution.generations(StopRule()), generations):
        pass
    return evolution


def opponents(count: int = 3) -> Any:
    return GENOME.random(count, np.random.default_rng(9))


VARIANTS: dict[str, dict[str, Any]] = {
    "children": {},
    "elite": {"breeding": Breeding(elite=3)},
    "best": {"breeding": Breeding(keeps_best=True, crossover=some_genes(2, of_used=True), mutation=shift_mutation(2))},
    "noisy": {"evaluator": noisy, "is_noisy": True, "breeding": Breeding(keeps_best=True)},
    "challengers": {"evaluator": taller, "opponents": opponents(), "opposition": "challengers"},
    "challenged best": {
        "evaluator": taller,
        "opponents": opponents(),
        "opposition": "challengers",
        "breeding": Breeding(keeps_best=True),
    },
    "rivals": {
        "evaluator": taller,
        "opponents": opponents(30),
        "opposition": "rivals",
        "breeding": Breeding(elite=2),
    },
    "rivals with a hall of fame": {
        "evaluator": taller_in_sum,
        "opponents": opponents(20),
        "opposition": "rivals",
        "hall": 4,
        "breeding": Breeding(elite=2, is_unique=True),
    },
}


@pytest.mark.parametrize("name", VARIANTS)
def test_interruption_and_division_of_the_work_change_nothing(name: str, tmp_path: Path) -> None:
    whole = run(make(**VARIANTS[name]), 9)
    divided = run(make(**VARIANTS[name], parts=7), 9)
    assert same(whole.state, divided.state)
    resumed = make(**VARIANTS[name])
    for _ in range(3):
        run(resumed, 3)
        save_checkpoint(tmp_path / "x.checkpoint", resumed.state, {"name": name})
        state, about = load_checkpoint(tmp_path / "x.checkpoint")
        assert about == {"name": name}
        options = {key: value for key, value in VARIANTS[name].items() if key != "opponents"}
        resumed = make(**options, state=state, seed=77)
    assert same(whole.state, resumed.state)
    assert not same(whole.state, run(make(**{**VARIANTS[name], "seed": 6}), 9).state)


def test_processes_change_nothing() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        spread = run(make(noisy, over=lambda *arguments: list(executor.map(*arguments)), parts=4), 3)
    assert same(spread.state, run(make(noisy), 3).state)


@pytest.mark.parametrize(
    "breeding",
    [
        Breeding(keeps_best=True),
        Breeding(elite=1, mutation_rate=0.3, is_unique=True),
    ],
)
def test_fittest_is_found(breeding: Breeding) -> None:
    evolution = run(make(breeding=breeding, population=60), 60)
    assert evolution.champion[:4, 0] == pytest.approx([0.3] * 4, abs=0.1)
    history = evolution.state.history
    assert all(earlier.best <= later.best for earlier, later in pairwise(history))
    assert history[0].used_share == pytest.approx(4 / 6)
    assert history[0].diversity == pytest.approx(1, abs=0.2)
    assert history[-1].diversity < 0.6
    assert history[-1].best_opponent is None


def test_champions_are_better_than_all_before() -> None:
    evolution = run(make(breeding=Breeding(elite=1)), 30)
    bests = [generation.best for generation in evolution.state.history]
    expected = tuple(number for number, best in enumerate(bests) if best > max(bests[:number], default=-np.inf))
    assert evolution.state.champion_generations == expected
    assert near(evolution.state.champions, None, None).fitness == pytest.approx([bests[number] for number in expected])


def test_lucky_individuals_do_not_survive_noise() -> None:
    settled = run(make(noisy, Breeding(keeps_best=True), is_noisy=True), 40)
    believed = run(make(noisy, Breeding(keeps_best=True)), 40)
    assert believed.state.history[-1].mean > 0.05
    assert believed.state.history[-1].mean - settled.state.history[-1].mean > 0.02


def test_challenger_replaces_the_worst_opponent() -> None:
    evolution = make(taller, opponents=opponents(), opposition="challengers")
    before = opponents()
    for generation in islice(evolution.generations(StopRule()), 20):
        state = evolution.state
        assert state.opponents is not None
        best = int(np.argmax(state.evaluation.fitness))
        assert state.evaluation.against is not None
        against = state.evaluation.against[best]
        if generation.best > max(0, against.max()):
            before[int(np.argmin(against))] = state.population[best]
            assert generation.since_renewal == 0
            assert np.array_equal(state.champions[-1], state.population[best])
        assert np.array_equal(state.opponents, before)
        assert generation.best_opponent == against.max()
    assert generation.renewals == len(state.champions) > 1


def test_rivals_reach_an_equilibrium_on_average() -> None:
    genome = Genome.alike(1, 0, 1)
    breeding = Breeding(selection=tournament_selection(2), mutation=reset_mutation(), mutation_rate=0.1)
    first, second = (genome.random(100, np.random.default_rng(seed)) for seed in (1, 2))
    evolution = Evolution(genome, pennies, breeding, population=first, opponents=second, opposition="rivals", seed=3)
    heads = []
    for _ in islice(evolution.generations(StopRule()), 150):
        assert evolution.state.opponents is not None
        heads.append((evolution.state.population.mean(), evolution.state.opponents.mean()))
    assert np.mean(heads[30:], axis=0) == pytest.approx([0.5, 0.5], abs=0.15)
    assert np.mean([generation.mean for generation in evolution.state.history[30:]]) == pytest.approx(0, abs=0.05)


def test_totals_of_rivals_equal_single_results() -> None:
    def single(chromosomes: Any, seeds: Any, opponents: Any) -> Evaluation:
        evaluation = taller_in_sum(chromosomes, seeds, opponents)
        against = evaluation.fitness[:, None] * 0 + taller(chromosomes, seeds, opponents).against
        return Evaluation(evaluation.fitness, None, np.rint(100 * opponents.sum(axis=(1, 2))) + 0 * against)

    def together(chromosomes: Any, seeds: Any, opponents: Any) -> Evaluation:
        evaluation = single(chromosomes, seeds, opponents)
        assert evaluation.against is not None
        return Evaluation(evaluation.fitness, totals=evaluation.against.sum(axis=0))

    options: dict[str, Any] = {"opponents": opponents(20), "opposition": "rivals"}
    from_single, from_totals = run(make(single, **options), 5), run(make(together, **options), 5)
    assert np.array_equal(from_single.state.population, from_totals.state.population)
    assert np.array_equal(np.asarray(from_single.state.opponents), np.asarray(from_totals.state.opponents))
    best_of_single = [row.rivals_best for row in from_single.state.history]
    best_of_totals = [row.rivals_best for row in from_totals.state.history]
    assert best_of_single == best_of_totals


def test_each_side_plays_against_the_others_hall_of_fame() -> None:
    met: list[tuple[Any, Any]] = []

    def evaluate(chromosomes: Any, seeds: Any, opponents: Any) -> Evaluation:
        met.append((chromosomes.copy(), opponents.copy()))
        return taller_in_sum(chromosomes, seeds, opponents)

    evolution = run(make(evaluate, opponents=opponents(20), opposition="rivals", hall=2), 4)
    sizes = [(len(chromosomes), len(others)) for chromosomes, others in met]
    assert sizes == [(30, 20), (30, 21), (1, 21), (30, 22), (2, 22), (30, 22), (2, 22)]
    fittest = np.rint(100 * met[0][1].sum(axis=(1, 2))).argmax()
    assert np.array_equal(met[1][1][20], met[0][1][fittest])
    assert np.array_equal(met[3][1][20], met[0][1][fittest])
    assert np.array_equal(met[4][0], evolution.state.champions[:2])
    assert np.array_equal(met[6][0], evolution.state.champions[1:3])
    assert len(evolution.state.opponents if evolution.state.opponents is not None else ()) == 22


@pytest.mark.parametrize(
    ("rule", "options", "reason"),
    [
        (StopRule(generations=4), {}, "all generations were bred"),
        (StopRule(patience=3), {}, "no better opponent was found"),
        (StopRule(opponents=2), VARIANTS["challengers"], "all opponents were found"),
    ],
)
def test_stop_rules(rule: StopRule, options: dict[str, Any], reason: str) -> None:
    evolution = make(**options)
    reasons = [rule.reason(generation) for generation in evolution.generations(rule)]
    assert reasons[-1] == reason
    assert set(reasons[:-1]) <= {None}
    assert list(evolution.generations(rule)) == []
    if reason == "all generations were bred":
        assert len(reasons) == 5


def test_remaining_generations_are_bounded() -> None:
    rule = StopRule(generations=400, patience=5, opponents=7)
    evolution = make(**VARIANTS["challengers"])
    bounds = [rule.max_remaining(generation) for generation in evolution.generations(rule)]
    assert bounds[-1] == 0
    for number, bound in enumerate(bounds):
        assert bound is not None
        assert bound >= len(bounds) - 1 - number
    assert all(later is not None and later < bound for bound, later in pairwise(bounds) if bound is not None)
    state = evolution.state
    assert StopRule(generations=400).max_remaining(state.history[3]) == 397
    assert StopRule(patience=9).max_remaining(state.history[3]) is None


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"population": 1}, "a population needs at least 2 individuals, not 1"),
            ({"breeding": Breeding(elite=30)}, "an elite of 30 leaves no room for children in a population of 30"),
            ({"seed": -1}, "a seed is 0 or more"),
            ({"parts": 0}, "there is at least 1 task"),
            (
                {"population": np.zeros((9, 5, 1))},
                "the population have chromosomes of 5 x 1 values, the genome has 6 x 1",
            ),
            ({"opposition": "challengers"}, "there are no opponents that could change"),
            (
                {"opponents": opponents(), "opposition": "rivals", "breeding": Breeding(keeps_best=True)},
                "rivals are judged by the children they meet",
            ),
        ],
    )
    def test_at_the_start(self, options: dict[str, Any], sentence: str) -> None:
        with pytest.raises(EvolutionError, match=sentence):
            make(**options)

    @pytest.mark.parametrize("fitness", [np.array([1.0]), np.full(30, np.nan)])
    def test_an_evaluation_without_a_number_for_each(self, fitness: Any) -> None:
        with pytest.raises(EvolutionError, match="the evaluation of 30 individuals did not find a number for each"):
            make(lambda *_: Evaluation(fitness)).step()

    @pytest.mark.parametrize("opposition", ["challengers", "rivals"])
    def test_opponents_without_results(self, opposition: Opposition) -> None:
        with pytest.raises(EvolutionError, match="has no winnings of the opponents"):
            make(near, opponents=opponents(), opposition=opposition).step()

    def test_no_champion_yet(self) -> None:
        with pytest.raises(EvolutionError, match="no state before the first generation"):
            _ = make().champion


class TestCheckpoints:
    def test_truncated_checkpoint_is_refused(self, tmp_path: Path) -> None:
        state = run(make(), 2).state
        save_checkpoint(tmp_path / "whole.checkpoint", state, {})
        data = (tmp_path / "whole.checkpoint").read_bytes()
        cut = tmp_path / "cut.checkpoint"
        for size in range(0, len(data), 397):
            cut.write_bytes(data[:size])
            with pytest.raises(BotFileError, match=r"cut\.checkpoint: it (is damaged|does not begin with a line)"):
                load_checkpoint(cut)

    def test_flipped_byte_is_refused_or_harmless(self, tmp_path: Path) -> None:
        state = run(make(), 2).state
        save_checkpoint(tmp_path / "whole.checkpoint", state, {})
        data = bytearray((tmp_path / "whole.checkpoint").read_bytes())
        for at in range(0, len(data), 211):
            data[at] ^= 255
            (tmp_path / "x.checkpoint").write_bytes(data)
            data[at] ^= 255
            with suppress(BotFileError):
                assert same(load_checkpoint(tmp_path / "x.checkpoint")[0], state)

    def test_other_version_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        state = run(make(), 2).state
        monkeypatch.setattr("bots.evolution.evolution._KIND", evolution_run._KIND._replace(version=7))
        save_checkpoint(tmp_path / "x.checkpoint", state, {})
        monkeypatch.undo()
        with pytest.raises(BotFileError, match="it is of version 7; this program reads version 2: update acpc-arena"):
            load_checkpoint(tmp_path / "x.checkpoint")

    def test_failed_save_leaves_the_old_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        evolution = run(make(), 2)
        old = evolution.state
        save_checkpoint(tmp_path / "x.checkpoint", old, {})
        run(evolution, 2)

        def fail(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("logs.whole_file.sync_to_disk", fail)
        with pytest.raises(BotFileError, match=r"x\.checkpoint: it cannot be written: No space left on device"):
            save_checkpoint(tmp_path / "x.checkpoint", evolution.state, {})
        assert same(load_checkpoint(tmp_path / "x.checkpoint")[0], old)
        assert [path.name for path in tmp_path.iterdir()] == ["x.checkpoint"]

    def test_missing_checkpoint_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(BotFileError, match=r"none\.checkpoint: it cannot be read: No such file or directory"):
            load_checkpoint(tmp_path / "none.checkpoint")


def test_example_of_the_package() -> None:
    results = doctest.testmod(bots.evolution)
    assert results.attempted
    assert not results.failed


def test_package_imports_no_poker() -> None:
    allowed = {"numpy", "bots.artifact", "bots.errors", "bots.evolution", *sys.stdlib_module_names}
    for path in Path(bots.evolution.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert any(f"{name}.".startswith(f"{package}.") for package in allowed), f"{path.name} imports {name}"
