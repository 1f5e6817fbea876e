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

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from bots.artifact import locked_run
from bots.errors import CheckpointError
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
    """All of them, in the order of the report."""
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
_AT_ONCE: Final = 4
"""Runs that are given to each worker at a time."""


@dataclass(frozen=True, slots=True)
class ExperimentProgress:
    """`name` is the experiment of the last finished run; `left_s` is None before anything was finished."""

    name: str
    done: int
    runs: int
    left_s: float | None


def run_experiments(
    folder: Path,
    experiments: Sequence[Experiment],
    seeds: int,
    *,
    workers: Workers | None = None,
    show: Callable[[ExperimentProgress], None] = lambda _: None,
) -> None:
    """Do all runs that the folder does not hold yet; `seeds` counts them before `Experiment.seeds`."""
    with locked_run(folder, "claims"):
        _run_missing(folder, experiments, seeds, workers, show)


def _run_missing(
    folder: Path,
    experiments: Sequence[Experiment],
    seeds: int,
    workers: Workers | None,
    show: Callable[[ExperimentProgress], None],
) -> None:
    there = {experiment.name: set(_read(folder, experiment)) for experiment in experiments}
    tasks = [task for task in _tasks(experiments, seeds) if task[1] not in there[task[0].name]]
    runs = sum(experiment.seeds(seeds) for experiment in experiments)
    began_s, work = time.monotonic(), sum(_cost(experiment) for experiment, _ in tasks)
    count = _AT_ONCE * workers.count if workers is not None else 1
    over: Callable[..., Sequence[KuhnResult]] = (
        workers.map if workers is not None else lambda *arguments: list(map(*arguments))
    )
    did = 0.0
    for start in range(0, len(tasks), count):
        batch = tasks[start : start + count]
        results = over(
            run_seed,
            [experiment.settings_of(seed) for experiment, seed in batch],
            [experiment.generations for experiment, _ in batch],
        )
        for (experiment, _), result in zip(batch, results, strict=True):
            _write(folder, experiment, result)
            did += _cost(experiment)
        left_s = (time.monotonic() - began_s) * (work / did - 1)
        done = runs - len(tasks) + start + len(batch)
        show(ExperimentProgress(batch[-1][0].name, done, runs, left_s))


def read_results(folder: Path, experiments: Sequence[Experiment], seeds: int) -> ExperimentResults:
    """What the folder holds of these experiments, up to so many seeds."""
    found = {}
    for experiment in experiments:
        results = _read(folder, experiment)
        found[experiment.name] = [results[seed] for seed in sorted(results) if seed <= experiment.seeds(seeds)]
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


def _header(experiment: Experiment) -> dict[str, Any]:
    settings = dict(experiment.settings.as_data())
    del settings["seed"]
    return {"settings": settings, "generations": experiment.generations}


def _read(folder: Path, experiment: Experiment) -> dict[int, KuhnResult]:
    path = folder / f"{experiment.name}.jsonl"
    if not path.exists():
        return {}
    try:
        head, *lines = path.read_text("utf-8").splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        results = [KuhnResult.from_data(json.loads(line)) for line in whole]
        header = json.loads(head)
    except OSError as error:
        raise CheckpointError(str(path), f"it cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise CheckpointError(str(path), "it does not hold results of an experiment, or is damaged") from error
    if header != _header(experiment):
        raise CheckpointError(str(path), "it was made with other settings: take another folder")
    return {result.seed: result for result in results}


def _write(folder: Path, experiment: Experiment, result: KuhnResult) -> None:
    path = folder / f"{experiment.name}.jsonl"
    try:
        is_new = not path.exists()
        text = "" if is_new else path.read_text("utf-8")
        if not is_new and not text.endswith("\n"):
            path.write_text(text[: text.rfind("\n") + 1], "utf-8")
        with path.open("a", encoding="utf-8") as file:
            if is_new:
                file.write(json.dumps(_header(experiment)) + "\n")
            file.write(json.dumps(result.as_data()) + "\n")
    except OSError as error:
        raise CheckpointError(str(path), f"it cannot be written: {error.strerror or error}") from error
