"""The experiments of the thesis on Kuhn poker, many runs of each, kept in a folder.

What the thesis prints is in ``kuhn_printed.json``, by model and seat, in chips per hand; a chip is its dollar. ``best``
is the "fittest strategy across all generations"; of the game with sizes and a raise the thesis says "average winnings",
which are figures of the same kind. ``genes`` is what strategies converged to, as symbols, three to a row: 0, 1, ``v``
small, ``^`` large, ``~`` not converged. The tables for the Bluffer of the game with sizes and a raise have 13 rows,
one of three ``~`` too many in the middle; it is left out. ``selection`` is the average fitness against Rational after
100 generations, with tournaments and with ranks, ``roulette`` with a roulette wheel after 500; ``coevolved`` the first
player's average fitness in co-evolution, ``mixed`` where it plays against Rational, too; their ``genes`` are the
fittest in the later generations. ``won`` is what the co-evolved first and second player and the mixed first player win
from the models, "on average", ``up_to`` the same, "up to"; ``coevolved_symbols`` what co-evolution converged to in the
larger games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from bots.artifact import Journal
from bots.kuhn.evolution import CrossoverKind, Fitness, KuhnSettings, OppositionKind, SelectionKind, Start
from bots.kuhn.games import CONJECTURED_BLUFFER, Genes, Variant, model
from bots.kuhn.runs import KuhnResult, run_seed
from bots.workers import Workers

FOUR_MODELS: Final = ("shy", "safe", "rational", "bluffer")
FIXED: Final = 100
"""Generations against a model."""
_STUDY: Final = 500
"""Generations of the thesis's comparison of selections."""
_COEVOLUTION: Final = 1000
_LONGEST: Final = 20


@dataclass(frozen=True, slots=True)
class Experiment:
    """Runs that differ in their seeds only; `settings` are those of the run with seed 1.

    One of `share` seeds is run: long runs are repeated less often.
    """

    name: str
    settings: KuhnSettings
    generations: int
    share: int

    def seeds(self, count: int) -> int:
        """How many seeds of those asked for are run; two at least, but for the longest runs."""
        return max(count // self.share, 1 if self.share >= _LONGEST else min(count, 2))

    def settings_of(self, seed: int) -> KuhnSettings:
        return replace(self.settings, seed=seed)


@cache
def experiments() -> tuple[Experiment, ...]:
    return tuple(_experiments())


def _experiments() -> Iterator[Experiment]:
    for variant in Variant:
        for name in FOUR_MODELS:
            for seat in (1, 2):
                yield _against(variant, name, seat)
        if variant is Variant.CLASSIC:
            yield _against(variant, "folder", 1)
            yield _against(variant, "caller", 1)
        if variant is Variant.BREADTH:
            for name, seat in (("rational", 1), ("rational", 2), ("bluffer", 2)):
                yield _against(variant, name, seat, "tens-as-twos", tens_as_twos=True)
        if variant is Variant.BOTH:
            for seat in (1, 2):
                yield _against(variant, "bluffer", seat, "conjectured", genes=CONJECTURED_BLUFFER)
    for name in FOUR_MODELS:
        for selection in SelectionKind:
            yield _against(Variant.CLASSIC, name, 1, selection.value, generations=_STUDY, share=5, selection=selection)
        one_point = CrossoverKind.ONE_POINT
        yield _against(Variant.CLASSIC, name, 1, one_point.value, crossover=one_point)
        yield _against(Variant.CLASSIC, name, 1, "random-start", start=Start.RANDOM)
    listed = SelectionKind.RANK
    yield _against(Variant.CLASSIC, "rational", 1, "rank-as-listed", selection=listed, as_published=True)
    yield _against(Variant.CLASSIC, "rational", 2, "as-listed", as_published=True)
    yield _against(Variant.CLASSIC, "rational", 1, "exact", fitness=Fitness.EXACT)
    coevolution = OppositionKind.COEVOLUTION
    yield _rivals("coevolution-classic", coevolution, 5)
    rational = model("rational", Variant.CLASSIC)
    yield _rivals("mixed-classic", OppositionKind.MIXED, 5, model=rational)
    yield _rivals("mixed-classic-as-listed", OppositionKind.MIXED, 20, model=rational, as_published=True)
    yield _rivals("coevolution-classic-exact", coevolution, 20, fitness=Fitness.EXACT)
    yield _rivals("coevolution-classic-hall", OppositionKind.HALL_OF_FAME, 20)
    for variant in (Variant.BREADTH, Variant.DEPTH, Variant.BOTH):
        yield _rivals(f"coevolution-{variant.value}", coevolution, 20, game=variant)


def _against(
    variant: Variant,
    name: str,
    seat: int,
    about: str = "",
    *,
    generations: int = FIXED,
    share: int = 1,
    genes: Genes | None = None,
    **options: Any,
) -> Experiment:
    settings = KuhnSettings(game=variant, model=genes or model(name, variant), seat=seat, **options)
    words = (variant.value, name, str(seat), about)
    return Experiment("-".join(word for word in words if word), settings, generations, share)


def _rivals(name: str, opposition: OppositionKind, share: int, **options: Any) -> Experiment:
    return Experiment(name, KuhnSettings(opposition=opposition, **options), _COEVOLUTION, share)


ExperimentResults = Mapping[str, Sequence[KuhnResult]]
"""The results of each experiment by its name, in the order of their seeds."""
_PASSES: Final = (2, 5, 10, 25, 50)
"""Seeds after which every experiment has had its turn: what is cut short is a whole report with fewer seeds."""


def run_experiments(
    folder: Path,
    experiments: Sequence[Experiment],
    seeds: int,
    *,
    workers: Workers | None = None,
    show: Callable[[float], None] = lambda part: None,
) -> None:
    """Do all runs that the folder does not hold yet; `seeds` counts them before `Experiment.seeds`."""
    over: Any = map if workers is None else workers.each
    with ExitStack() as stack:
        journals = {one.name: stack.enter_context(_journal(folder, one)) for one in experiments}
        done = {name: {result.seed for result in _results(journal)} for name, journal in journals.items()}
        tasks = [(one, seed) for one, seed in _tasks(experiments, seeds) if seed not in done[one.name]]
        left = work = sum(_cost(one) for one, _ in tasks)
        settings, generations = [one.settings_of(seed) for one, seed in tasks], [one.generations for one, _ in tasks]
        for (one, _), result in zip(tasks, over(run_seed, settings, generations), strict=True):
            journals[one.name].add(result.as_data())
            left -= _cost(one)
            show(1 - left / work)


def read_results(folder: Path, experiments: Sequence[Experiment], seeds: int) -> ExperimentResults:
    found = {}
    for experiment in experiments:
        with _journal(folder, experiment) as journal:
            results = sorted(_results(journal), key=lambda result: result.seed)
        found[experiment.name] = [result for result in results if result.seed <= experiment.seeds(seeds)]
    return found


def _tasks(experiments: Sequence[Experiment], seeds: int) -> Iterator[tuple[Experiment, int]]:
    before = 0
    for until in (*(count for count in _PASSES if count < seeds), seeds):
        for experiment in experiments:
            first = experiment.seeds(before) if before else 0
            for seed in range(first + 1, experiment.seeds(until) + 1):
                yield experiment, seed
        before = until


def _cost(experiment: Experiment) -> float:
    is_against_all = experiment.settings.model == () or experiment.name.startswith("mixed")
    return experiment.generations * (4 if is_against_all else 1) * (1 + len(experiment.settings.genome.ranges) / 12)


def _journal(folder: Path, experiment: Experiment) -> Journal:
    settings = {name: value for name, value in experiment.settings.as_data().items() if name != "seed"}
    return Journal(folder / f"{experiment.name}.jsonl", {"settings": settings, "generations": experiment.generations})


def _results(journal: Journal) -> list[KuhnResult]:
    try:
        return [KuhnResult.from_data(row) for row in journal.rows]
    except (TypeError, AttributeError) as error:
        raise journal.damaged() from error
