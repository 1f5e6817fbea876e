"""The runs of the experiments in a folder: a file of lines for each, one line for each seed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bots.errors import CheckpointError
from bots.kuhn.claims.experiments import Experiment
from bots.kuhn.evolution.results import KuhnResult, run_seed
from bots.run_folder import locked_run
from bots.workers import Workers

__all__ = ["Gathered", "Standing", "gather", "gathered"]

Gathered = Mapping[str, Sequence[KuhnResult]]
"""The results of each experiment by its name, in the order of their seeds."""

_PASSES: Final = (2, 5, 10, 25, 50)
"""Seeds after which every experiment has had its turn: what is cut short is a whole report with fewer seeds."""
_AT_ONCE: Final = 4
"""Runs that are given to each worker at a time."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How the work stands.

    Attributes:
        name: of the experiment whose run was finished last.
        done: runs that are finished.
        runs: all of them.
        left_s: how long the rest will take, in seconds; None before anything was finished.
    """

    name: str
    done: int
    runs: int
    left_s: float | None


def gather(
    folder: Path,
    experiments: Sequence[Experiment],
    seeds: int,
    *,
    workers: Workers | None = None,
    show: Callable[[Standing], None] = lambda _: None,
) -> None:
    """Do all runs that the folder does not hold yet.

    Args:
        folder: of the results; made if it is not there.
        experiments: whose runs.
        seeds: how many, before `Experiment.seeds`.
        workers: who runs them; this process by default.
        show: told after each run, or after some.

    Raises:
        CheckpointError: a file of the folder cannot be read or written, or stems from other settings.
        WorkersError: the workers are gone.
    """
    with locked_run(folder, "claims"):
        _gather(folder, experiments, seeds, workers, show)


def _gather(
    folder: Path,
    experiments: Sequence[Experiment],
    seeds: int,
    workers: Workers | None,
    show: Callable[[Standing], None],
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
        show(Standing(batch[-1][0].name, done, runs, left_s))


def gathered(folder: Path, experiments: Sequence[Experiment], seeds: int) -> Gathered:
    """What the folder holds of these experiments, up to so many seeds.

    Raises:
        CheckpointError: a file cannot be read, or stems from other settings.
    """
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
    """About how long a run takes, in any unit."""
    is_against_all = experiment.settings.model == () or experiment.name.startswith("mixed")
    return experiment.generations * (4 if is_against_all else 1) * (1 + len(experiment.settings.genome.ranges) / 12)


def _path(folder: Path, experiment: Experiment) -> Path:
    return folder / f"{experiment.name}.jsonl"


def _header(experiment: Experiment) -> dict[str, Any]:
    settings = dict(experiment.settings.as_data())
    del settings["seed"]
    return {"settings": settings, "generations": experiment.generations}


def _read(folder: Path, experiment: Experiment) -> dict[int, KuhnResult]:
    """The results of an experiment by seed; a last line that was cut short does not count."""
    path = _path(folder, experiment)
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
    path = _path(folder, experiment)
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
