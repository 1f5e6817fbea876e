"""Experiments of the thesis on Kuhn poker: runs of the genetic algorithm, and what is exact.

An experiment is named by game, model and seat, such as ``classic-shy-1``, or by opposition and game, such as
``coevolution-classic``; what differs from the thesis follows, such as ``-roulette``. Its figures are means over runs
with different seeds, in chips per hand:

- ``mean N``: the mean fitness of the population in generation N; ``later`` from generation 200 on
- ``record``: the highest fitness of all generations; ``value`` what the strategy that had it wins, exactly
- ``converged``: the generation in which the mean has 95 % of its gain; ``settled``: that from which means over 100
  generations stay near the value of the game
- ``gene NAME``: the mean of a gene in the last population, in the larger games over `GENE_SEEDS` seeds
- ``spread``: the standard deviation of the mean fitness between generations 200 and 400
- ``ahead``: the share of the generations in which the second player's mean is the higher one
- ``fittest``, ``average``: exploitability of the fittest first player of the last generation, and of the mean of all in
  the later half; ``fittest-rival``, ``average-rival`` of second players; ``guaranteed`` what the average first player
  wins at least
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from math import prod, sqrt
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from bots.kuhn.fitness import KuhnSettings
from bots.kuhn.games import CARDS, CONJECTURED_BLUFFER, Genes, KuhnGame, Variant, model
from bots.kuhn.runs import (
    KuhnResult,
    best_answer,
    evolve,
    expected_value,
    exploitability_of,
    game_value,
)
from bots.studies.measured import Measured, Task

SEEDS: Final = 25
GENE_SEEDS: Final = 5
"""Of the genes in the larger games."""
LONG_SEEDS: Final = 10
"""Of runs of more generations than `SHORT`."""
SHORT: Final = 100
_RIVAL_GENERATIONS: Final = 1000
_LUCK: Final = 4.3
"""Standard errors by which the highest of about 101,000 means lies above what is possible."""
_SETTLED: Final = 200
_SPREAD_END: Final = 400
_SPREAD_SEEDS: Final = 4
_WINDOW: Final = 100
_NEAR: Final = 0.005
_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "tens-as-twos": {"tens_as_twos": True},
    "conjectured": {"model": CONJECTURED_BLUFFER},
    "rank": {"selection": "rank"},
    "rank-as-listed": {"selection": "rank", "as_published": True},
    "roulette": {"selection": "roulette"},
    "one-point": {"crossover": "one-point"},
    "random-start": {"start": "random"},
    "as-listed": {"as_published": True},
    "exact": {"fitness": "exact"},
    "hall": {"opposition": "hall-of-fame"},
}


def answers_chance(genes: Sequence[float], answers: Sequence[tuple[int, bool]], card: int) -> float:
    """The probability that a strategy with the card gives these answers, which are rows and whether yes."""
    chances = [genes[row * len(CARDS) + card] for row, _ in answers]
    return prod(chance if yes else 1 - chance for chance, (_, yes) in zip(chances, answers, strict=True))


def payoffs(game: KuhnGame, first: Sequence[float], second: Sequence[float]) -> Mapping[int, float]:
    """The probability of each amount of chips that the first player can win in a hand."""
    first, second = game.require_genes(first), game.require_genes(second)
    found: dict[int, float] = {}
    deals = list(permutations(range(len(CARDS)), 2))
    for _, answers, chips, is_showdown in game.lines():
        for one, other in deals:
            chance = answers_chance(first, answers[0], one) * answers_chance(second, answers[1], other) / len(deals)
            won = -chips if is_showdown and one < other else chips
            if chance:
                found[won] = found.get(won, 0.0) + chance
    return dict(sorted(found.items()))


def standard_deviation(game: KuhnGame, first: Sequence[float], second: Sequence[float]) -> float:
    """Standard deviation of the first player's winnings in a hand."""
    chances = payoffs(game, first, second)
    mean = sum(won * chance for won, chance in chances.items())
    return sqrt(sum((won - mean) ** 2 * chance for won, chance in chances.items()))


def settings_of(name: str) -> tuple[KuhnSettings, int]:
    """The settings of an experiment, and its generations."""
    first, second, *more = name.split("-")
    if first in ("coevolution", "mixed"):
        game, opposition = Variant(second), first
        genes = model("rational", game) if first == "mixed" else ()
        options: dict[str, Any] = {"opposition": opposition, "game": game, "model": genes}
        return KuhnSettings(**options | _OPTIONS.get("-".join(more), {})), _RIVAL_GENERATIONS
    game, about = Variant(first), "-".join(more[1:])
    options = {"game": game, "model": model(second, game), "seat": int(more[0])}
    return KuhnSettings(**options | _OPTIONS.get(about, {})), 500 if about == "roulette" else SHORT


def tasks(figures: Iterable[str], _: Path) -> Iterator[Task]:
    yield from dict.fromkeys(map(task_of, figures))


def task_of(figure: str) -> Task:
    kind, *_, name = figure.split()
    if kind == "spread":
        return Task(figure, measure_spread, (name,), is_long=True)
    if kind == "gene" and not name.startswith(Variant.CLASSIC.value):
        return Task(f"genes {name}", measure_genes, (name,))
    return Task(name, measure, (name,), is_long=settings_of(name)[1] > SHORT)


def measure(name: str, seeds: int = 0) -> dict[str, Measured]:
    """The figures of an experiment."""
    settings, generations = settings_of(name)
    count = seeds or (SEEDS if generations <= SHORT else LONG_SEEDS)
    results = [run(replace(settings, seed=seed), generations) for seed in range(1, count + 1)]
    of_model = settings.opposition == "model"
    values = {f"mean {at}": [one.mean[at] for one in results] for at in (20, 100, 500) if at <= generations}
    values |= (_of_model if of_model else _of_rivals)(settings.rules, results)
    return {f"{what} {name}": Measured.over(of_seeds) for what, of_seeds in values.items()}


def measure_genes(name: str) -> dict[str, Measured]:
    """Measure the genes of the last populations in a larger game, over `GENE_SEEDS` seeds."""
    settings, generations = settings_of(name)
    results = [run(replace(settings, seed=seed), generations) for seed in range(1, GENE_SEEDS + 1)]
    return _gene_figures(settings.rules, results, name)


def _gene_figures(game: KuhnGame, results: Sequence[KuhnResult], name: str) -> dict[str, Measured]:
    columns = zip(*[result.genes for result in results], strict=True)
    return {f"gene {gene} {name}": Measured.over(column) for gene, column in zip(game.gene_names, columns, strict=True)}


def measure_spread(name: str) -> dict[str, Measured]:
    """Measure the movement of the mean fitness in co-evolution."""
    settings, _ = settings_of(name)
    curves = [run(replace(settings, seed=seed), _SPREAD_END).mean for seed in range(1, _SPREAD_SEEDS + 1)]
    return {f"spread {name}": Measured.over([stdev(curve[_SETTLED:]) for curve in curves])}


def run(settings: KuhnSettings, generations: int) -> KuhnResult:
    with TemporaryDirectory() as folder:
        return evolve(Path(folder), settings, generations)


def _of_model(game: KuhnGame, results: Sequence[KuhnResult]) -> dict[str, list[float]]:
    genes = zip(*[one.genes for one in results], strict=True)
    return {
        "record": [one.record for one in results],
        "value": [one.record_value or 0.0 for one in results],
        "converged": [_converged(one.mean) for one in results],
        **{f"gene {name}": list(column) for name, column in zip(game.gene_names, genes, strict=True)},
    }


def _of_rivals(game: KuhnGame, results: Sequence[KuhnResult]) -> dict[str, list[float]]:
    value = game_value(game)
    return {
        "later": [fmean(one.mean[_SETTLED:]) for one in results],
        "settled": [_settled(one.mean, value) for one in results],
        "ahead": [fmean(mean < 0 for mean in one.mean[_SETTLED:]) for one in results],
        "fittest": [exploitability_of(game, 0, one.fittest) for one in results],
        "fittest-rival": [exploitability_of(game, 1, one.fittest_rival) for one in results],
        "average": [exploitability_of(game, 0, one.average) for one in results],
        "average-rival": [exploitability_of(game, 1, one.rival_average) for one in results],
        "guaranteed": [-best_answer(game, 1, one.average).value for one in results],
    }


def _converged(means: Sequence[float]) -> float:
    curve = np.array(means)
    return float(np.argmax(curve >= curve[0] + 0.95 * (curve[-1] - curve[0])))


def _settled(means: Sequence[float], value: float) -> float:
    """The generation from which on means over `_WINDOW` generations stay within `_NEAR` of a value, or the last."""
    moving = np.convolve(means, np.full(_WINDOW, 1 / _WINDOW), mode="valid")
    far = np.flatnonzero(np.abs(moving - value) > _NEAR)
    return float(far[-1] + 1 if len(far) else 0)


# ---- exact


def possible(name: str) -> float:
    """Winnings of the best response to the model of an experiment."""
    settings, _ = settings_of(name)
    return best_answer(settings.rules, settings.seat - 1, settings.model).value


def luckiest(name: str) -> float:
    """The expected maximum of all fitness values in an experiment if every strategy were the best response."""
    settings, _ = settings_of(name)
    answer = best_answer(settings.rules, settings.seat - 1, settings.model)
    players = (answer.genes, settings.model) if settings.seat == 1 else (settings.model, answer.genes)
    return answer.value + _LUCK * standard_deviation(settings.rules, *players) / sqrt(settings.games)


def fitness_noise(name: str) -> float:
    """Half the 95 % interval of a fitness of the best response in an experiment."""
    return 1.96 * (luckiest(name) - possible(name)) / _LUCK


def won(genes: Genes, seat: int, other: str) -> float:
    """Winnings of a strategy from a model in the classic game."""
    return expected_value(KuhnGame(), *_seated(genes, seat, other)) * (1 if seat == 1 else -1)


def noise(genes: Genes, seat: int, other: str, hands: int) -> float:
    """Half the 95 % interval of a strategy's winnings from a model in some hands."""
    return 1.96 * standard_deviation(KuhnGame(), *_seated(genes, seat, other)) / sqrt(hands)


def _seated(genes: Genes, seat: int, other: str) -> tuple[Genes, Genes]:
    genes_of_model = model(other, Variant.CLASSIC)
    return (genes, genes_of_model) if seat == 1 else (genes_of_model, genes)


def loses(genes: Genes, seat: int) -> float:
    """Winnings of a best response to a strategy of the classic game beyond the value of the game."""
    return exploitability_of(KuhnGame(), seat - 1, genes)


def with_card(other: str, card: str, genes: Genes) -> float:
    """Winnings of a first player with a card of the classic game from a model."""
    second, own, total = model(other, Variant.CLASSIC), CARDS.index(card), 0.0
    for at in set(range(len(CARDS))) - {own}:
        for _, answers, chips, is_showdown in KuhnGame().lines():
            chance = answers_chance(genes, answers[0], own) * answers_chance(second, answers[1], at)
            total += chance * (-chips if is_showdown and own < at else chips)
    return total / (len(CARDS) - 1)


def king_behind_a_check(other: str) -> float:
    """Winnings of the second player from betting a king after a model has checked."""
    genes = model(other, Variant.CLASSIC)
    checks, calls = [1 - gene for gene in genes[:2]], genes[3:5]
    return sum(check * (1 + call) for check, call in zip(checks, calls, strict=True)) / sum(checks)


def farthest(name: str, printed: str, measured: Callable[[str], Measured]) -> Measured:
    """Return the largest distance of a mean gene of an experiment from its printed 0 or 1.

    Args:
        printed: a symbol for each gene, row by row; others than 0 and 1 claim nothing.
        measured: returns a figure by its name.
    """
    names = settings_of(name)[0].rules.gene_names
    distances = []
    for gene_name, symbol in zip(names, printed.replace(" ", ""), strict=True):
        if symbol in "01":
            gene = measured(f"gene {gene_name} {name}")
            distances.append(Measured(abs(gene.mean - int(symbol)), gene.half_width, gene.units))
    return max(distances)


def between(name: str, other: str) -> float:
    """Return a model's winnings from another one, as the mean of both seats of the classic game."""
    genes, others = model(name, Variant.CLASSIC), model(other, Variant.CLASSIC)
    return (won(genes, 1, other) - won(others, 1, name)) / 2
