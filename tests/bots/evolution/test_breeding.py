"""Selection, crossover and mutation, compared with their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.errors import EvolutionError
from bots.evolution.breeding import (
    Breeding,
    Crossover,
    Genome,
    Selection,
    half_of_used_genes,
    one_of,
    one_point_crossover,
    rank_selection,
    reset_mutation,
    roulette_selection,
    shift_mutation,
    signed_roulette_selection,
    some_genes,
    tournament_selection,
    uniform_crossover,
)

FITNESS = np.array([3.0, -1.0, 3.0, 0.5, 2.0])
DRAWS = 50_000


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def shares(selection: Selection, fitness: Any = FITNESS) -> Any:
    return np.bincount(selection(fitness, DRAWS, generator()), minlength=len(fitness)) / DRAWS


def tournament_shares(size: int) -> Any:
    """Compute shares from all possible draws; the first of equals wins."""
    chances = np.zeros(len(FITNESS))
    for drawn in np.ndindex(*[len(FITNESS)] * size):
        chances[max(drawn, key=lambda index: FITNESS[index])] += 1
    return chances / chances.sum()


@pytest.mark.parametrize("size", [1, 3])
def test_tournament(size: int) -> None:
    assert shares(tournament_selection(size)) == pytest.approx(tournament_shares(size), abs=0.01)


@pytest.mark.parametrize("size", [2])
def test_tournament_with_a_floor(size: int) -> None:
    chances = np.zeros(len(FITNESS))
    for drawn in np.ndindex(*[len(FITNESS)] * size):
        best, winner = 2.0, 0
        for index in drawn:
            if FITNESS[index] > best:
                best, winner = FITNESS[index], index
        chances[winner] += 1
    assert shares(tournament_selection(size, floor=2.0)) == pytest.approx(chances / chances.sum(), abs=0.01)


def test_roulette() -> None:
    assert shares(roulette_selection(offset=1.0)) == pytest.approx((FITNESS + 1) / (FITNESS + 1).sum(), abs=0.01)
    assert shares(roulette_selection())[1] == 0
    assert shares(roulette_selection(), FITNESS - 5) == pytest.approx([0.2] * 5, abs=0.01)


def test_signed_wheel_walks_back_over_negative_numbers() -> None:
    frequencies = np.zeros(len(FITNESS))
    for point in (np.arange(DRAWS) + 0.5) / DRAWS * FITNESS.sum():
        left, at = point, -1
        while left > 0:
            at += 1
            left -= FITNESS[at]
        frequencies[at] += 1 / DRAWS
    assert frequencies[1] == 0
    assert shares(signed_roulette_selection) == pytest.approx(frequencies, abs=0.01)
    with pytest.raises(EvolutionError, match="cannot turn: the fitness of all sums to -2, and it has to be above 0"):
        signed_roulette_selection(np.array([1.0, -3.0]), 1, generator())


def test_rank_draws_the_fittest_most() -> None:
    assert shares(rank_selection()) == pytest.approx(np.array([4, 1, 5, 2, 3]) / 15, abs=0.01)
    assert shares(rank_selection(skips_best=True)) == pytest.approx(np.array([4, 1, 0, 2, 3]) / 10, abs=0.01)


def test_rank_with_the_largest_possible_draw() -> None:
    class Last(np.random.Generator):
        def random(self, size: Any) -> Any:  # type: ignore[override]
            return np.full(size, np.nextafter(1.0, 0.0))

    assert rank_selection()(FITNESS, 3, Last(np.random.PCG64(1))).tolist() == [4, 4, 4]


CROSSOVERS: dict[str, Crossover] = {
    "one point": one_point_crossover,
    "uniform": uniform_crossover(0.3),
    "half of used": half_of_used_genes,
    "4 genes": some_genes(4),
    "3 used": some_genes(3, of_used=True),
}


@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 2**32), st.sampled_from([*CROSSOVERS]))
def test_masks(genes: int, pairs: int, seed: int, name: str) -> None:
    used = generator(seed).random((pairs, genes)) < 0.5
    masks = CROSSOVERS[name](used, generator(seed + 1))
    assert masks.shape == used.shape
    assert masks.dtype == bool
    for mask, asked in zip(masks.tolist(), used.tolist(), strict=True):
        match name:
            case "one point":
                assert mask == sorted(mask)
                assert genes == 1 or 1 <= sum(mask) < genes
            case "half of used":
                assert mask == sorted(mask)
                before = sum(one for one, goes in zip(asked, mask, strict=True) if not goes)
                assert before == sum(asked) // 2
                assert any(asked) or not any(mask)
            case "4 genes":
                assert sum(mask) == min(4, genes)
            case "3 used":
                assert sum(mask) == min(3, sum(asked))
                assert all(one for one, goes in zip(asked, mask, strict=True) if goes)


@pytest.mark.parametrize(
    "crossover", [one_point_crossover, uniform_crossover(0.3), some_genes(3), some_genes(3, of_used=True)]
)
def test_every_gene_has_its_chance(crossover: Crossover) -> None:
    used = np.ones((DRAWS // 10, 10), bool)
    frequencies = crossover(used, generator()).mean(axis=0)
    expected = np.arange(10) / 9 if crossover is one_point_crossover else [0.3] * 10
    assert frequencies == pytest.approx(expected, abs=0.02)


def test_one_operator_for_a_whole_generation() -> None:
    operator = one_of(some_genes(1), some_genes(6))
    used = np.ones((20, 10), bool)
    sums = [operator(used, generator(seed)).sum(axis=1) for seed in range(30)]
    assert all(len(set(of_one.tolist())) == 1 for of_one in sums)
    assert {int(of_one[0]) for of_one in sums} == {1, 6}


GENOME = Genome(((-100, 100, True), (0, 1, False), (5, 9, False)), values=2)
WHOLE = Genome.alike(50, -100, 100, is_whole=True, values=2)


def test_random_values_fill_their_ranges() -> None:
    chromosomes = GENOME.random(DRAWS // 4, generator())
    assert set(np.unique(chromosomes[:, 0])) == set(range(-100, 101))
    counts = np.unique(chromosomes[:, 0], return_counts=True)[1]
    assert counts == pytest.approx([DRAWS / 2 / 201] * 201, rel=0.4)
    assert chromosomes[:, 1:].mean(axis=(0, 2)) == pytest.approx([0.5, 7.0], abs=0.02)
    assert chromosomes[:, 2].min() >= 5
    assert chromosomes[:, 2].max() <= 9
    assert GENOME.dtype == np.float64
    assert WHOLE.dtype == np.int16


def test_spread_start_has_every_level_equally_often() -> None:
    chromosomes = Genome.alike(6, 0, 1).spread(1010, 101, generator())
    for gene in range(6):
        values, counts = np.unique(chromosomes[:, gene], return_counts=True)
        assert values == pytest.approx(np.arange(101) / 100)
        assert set(counts) == {10}
    assert not np.array_equal(chromosomes[:, 0], chromosomes[:, 1])
    with pytest.raises(EvolutionError, match="1000 chromosomes cannot have each of 101 values equally often"):
        Genome.alike(6, 0, 1).spread(1000, 101, generator())


def test_shift_moves_used_genes_by_their_part() -> None:
    chromosomes = WHOLE.random(40, generator())
    used = generator(2).random((40, 50)) < 0.5
    moved = shift_mutation(10, 0.1)(chromosomes, used, WHOLE, generator(3))
    steps = moved.astype(int) - chromosomes
    assert moved.dtype == np.int16
    assert np.abs(moved).max() <= 100
    assert not steps[~used].any()
    assert (steps.any(axis=2).sum(axis=1) <= 10).all()
    free = steps[(np.abs(chromosomes) <= 80) & steps.any(axis=2)[:, :, None]]
    assert set(np.abs(free)) == {20}
    assert (free > 0).any()
    assert (free < 0).any()


def test_new_values_reset_as_many_genes_as_asked() -> None:
    chromosomes = np.full((30, 50, 2), 999, np.int16)
    changed = reset_mutation(3)(chromosomes, np.zeros((30, 50), bool), WHOLE, generator())
    assert (changed != 999).all(axis=2).sum(axis=1).tolist() == [3] * 30
    assert ((changed != 999).any(axis=2) == (changed != 999).all(axis=2)).all()


def test_children_take_whole_genes_of_their_parents() -> None:
    parents = np.arange(6 * 50 * 2, dtype=np.int16).reshape(6, 50, 2)
    used = generator().random((6, 50)) < 0.5
    used_by_parents = np.zeros_like(used)

    def note(chromosomes: Any, used_by_parent: Any, *_: object) -> Any:
        used_by_parents[:] = used_by_parent
        return chromosomes

    children = Breeding(mutation=note).offspring(WHOLE, parents, used, np.arange(6.0), generator())
    assert children.shape == parents.shape
    for child, of_parent in zip(children, used_by_parents, strict=True):
        owners = child[:, 0] // 100
        assert (child == parents[owners, np.arange(50)]).all()
        assert (of_parent == used[owners, np.arange(50)]).all()
        assert len(set(owners.tolist())) <= 2


def test_rates() -> None:
    parents = WHOLE.random(200, generator())
    used = np.ones((200, 50), bool)
    known = {parent.tobytes() for parent in parents}
    for crossover_rate, mutation_rate, expected in ((0, 0, 1.0), (0, 0.25, 0.75), (0.5, 0, 0.5)):
        breeding = Breeding(
            selection=tournament_selection(1),
            crossover_rate=crossover_rate,
            mutation_rate=mutation_rate,
            mutation=shift_mutation(50),
        )
        children = breeding.offspring(WHOLE, parents, used, np.zeros(200), generator())
        same = np.mean([child.tobytes() in known for child in children])
        assert same == pytest.approx(expected, abs=0.12)


def test_unique_children_are_all_different_as_long_as_that_is_possible() -> None:
    parents = Genome.alike(2, 0, 1, is_whole=True).random(40, generator())
    breeding = Breeding(is_unique=True, mutation=reset_mutation(2))
    children = breeding.offspring(
        Genome.alike(2, 0, 1, is_whole=True), parents, np.ones((40, 2), bool), np.zeros(40), generator()
    )
    assert len(children) == 40
    assert len(np.unique(children[:4], axis=0)) == 4
    wide = Genome.alike(2, 0, 10_000, is_whole=True)
    parents = np.repeat(wide.random(1, generator()), 40, axis=0)
    children = breeding.offspring(wide, parents, np.ones((40, 2), bool), np.zeros(40), generator())
    assert len(np.unique(children, axis=0)) == 40


def test_unique_children_equal_neither_the_elite_nor_each_other() -> None:
    genome = Genome.alike(2, 0, 12, is_whole=True)
    parents, fitness = genome.random(40, generator()), np.arange(40.0)
    breeding = Breeding(is_unique=True, elite=3, crossover_rate=0.5, mutation_rate=0.1)
    children = breeding.offspring(genome, parents, np.ones((40, 2), bool), fitness, generator()).tolist()
    elite = parents[:-4:-1].tolist()
    assert len(children) == 37
    assert all(child not in (*elite, *children[:at]) for at, child in enumerate(children))


def test_elite_needs_a_population_of_children() -> None:
    with pytest.raises(EvolutionError, match="an elite is for populations of children"):
        Breeding(elite=1, keeps_best=True)
