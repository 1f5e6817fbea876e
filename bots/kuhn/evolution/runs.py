"""Runs in a folder: a checkpoint while one goes on, its result when it ends, by seed.

A folder holds ``seed-1.checkpoint`` and ``seed-1.json``, and so on. What is there is gone on with, never begun again:
with the same settings the end is the same to the bit, whatever happened in between.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from bots.artifact import locked_run
from bots.errors import CheckpointError
from bots.evolution.evolution import Evolution, Generation, StopRule, load_checkpoint, save_checkpoint
from bots.kuhn.evolution.evaluators import OfRivals
from bots.kuhn.evolution.results import KuhnResult, Trace, follow, result_of, run_seed, value_against
from bots.kuhn.evolution.settings import KuhnSettings, OppositionKind, kuhn_evolution
from bots.kuhn.games import Genes, KuhnGame, sequence_form_of
from bots.kuhn.values import best_answer
from bots.solving.equilibria import LinearProgram
from bots.workers import Workers
from logs.whole_file import write_whole

__all__ = ["Progress", "SeedsDone", "evolve", "evolve_seeds", "exploitability_of", "game_value"]

_SAVE_EVERY_S: Final = 10.0
_SHOW_EVERY_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Progress:
    """How a run stands after a generation.

    Attributes:
        seed: of the run.
        number: of the run among those of the command, from 1.
        runs: of the command.
        generation: the last one.
        most: generations of the run.
        seconds: that a generation takes, by the clock; None at first.
        exact: what the fittest individual wins on average, exactly, from the model, or from the rivals it met.
        possible: what the best answer wins from the model; None without one.
        exploitability: what the fittest individual's worst opponent wins more than in an equilibrium.
    """

    seed: int
    number: int
    runs: int
    generation: Generation
    most: int
    seconds: float | None
    exact: float
    possible: float | None
    exploitability: float

    @property
    def left_s(self) -> float | None:
        """How long the run will take, in seconds; None if that is not known."""
        return None if self.seconds is None else (self.most - self.generation.number) * self.seconds


@dataclass(frozen=True, slots=True)
class SeedsDone:
    """How runs that others do stand.

    Attributes:
        done: runs that are finished.
        runs: all of them.
        left_s: how long the rest will take, in seconds.
    """

    done: int
    runs: int
    left_s: float


@lru_cache(maxsize=8)
def game_value(game: KuhnGame) -> float:
    """What the first player wins on average in an equilibrium."""
    return LinearProgram(sequence_form_of(game)).solve().value


def exploitability_of(game: KuhnGame, seat: int, genes: Genes) -> float:
    """What the best answer wins from a strategy in the seat 0 or 1 more than in an equilibrium."""
    value = game_value(game)
    return best_answer(game, 1 - seat, genes).value - (value if seat else -value)


def evolve(
    folder: Path,
    settings: KuhnSettings,
    generations: int,
    *,
    place: tuple[int, int] = (1, 1),
    show: Callable[[Progress], None] = lambda _: None,
) -> KuhnResult:
    """One run, with checkpoints.

    Args:
        folder: of the run; made if it is not there.
        settings: of the run.
        generations: when it ends.
        place: of the run among those of the command, and how many those are.
        show: told some times a second.

    Raises:
        CheckpointError: a file of the folder cannot be read or written, or stems from other settings.
        EvolutionError: settings that cannot be, or what the listing makes of them cannot go on.
    """
    if (finished := _finished(folder, settings, generations)) is not None:
        return finished
    with locked_run(folder, f"seed-{settings.seed}"):
        return _evolve(folder, settings, generations, place, show)


def _evolve(
    folder: Path,
    settings: KuhnSettings,
    generations: int,
    place: tuple[int, int],
    show: Callable[[Progress], None],
) -> KuhnResult:
    path = folder / f"seed-{settings.seed}.checkpoint"
    about = {"settings": settings.as_data()}
    state, trace = None, Trace()
    if path.exists():
        state, found = load_checkpoint(path)
        _require_same(path, settings, found.get("settings", {}))
        trace = Trace(found.get("trace"))
    evolution = kuhn_evolution(settings, state=state)
    begun_with, written_s, shown_s = state, time.monotonic(), 0.0
    first, began_s = -1, 0.0

    def save() -> None:
        if evolution.state is not None and evolution.state is not begun_with:
            save_checkpoint(path, evolution.state, {**about, "trace": trace.as_data()})

    def told(generation: Generation) -> None:
        nonlocal written_s, shown_s, first, began_s
        now_s = time.monotonic()
        # The first generation waits for compiled code: it tells nothing about the others.
        seconds = None
        if first < 0:
            first, began_s = generation.number, now_s
        else:
            seconds = (now_s - began_s) / (generation.number - first)
        if now_s - shown_s >= _SHOW_EVERY_S:
            shown_s = now_s
            exact, possible, lost = _standing(settings, evolution)
            show(Progress(settings.seed, *place, generation, generations, seconds, exact, possible, lost))
        if now_s - written_s >= _SAVE_EVERY_S:
            save()
            written_s = now_s

    try:
        follow(settings, evolution, StopRule(generations=generations), trace, told)
    finally:
        save()
    result = result_of(settings, evolution, trace)
    _write(folder, settings, generations, result)
    return result


def evolve_seeds(
    folder: Path,
    settings: KuhnSettings,
    generations: int,
    repeat: int,
    *,
    workers: Workers | None = None,
    show: Callable[[Progress | SeedsDone], None] = lambda _: None,
) -> list[KuhnResult]:
    """Runs with consecutive seeds, from that of the settings on; those that are finished are not done again.

    Args:
        folder: of the runs; made if it is not there.
        settings: of the first.
        generations: of each.
        repeat: how many.
        workers: who does them, each a whole run; by default this process does, with checkpoints.
        show: told how they stand.

    Raises:
        CheckpointError: as `evolve`.
        EvolutionError: as `evolve`.
        WorkersError: the workers are gone.
    """
    runs = [replace(settings, seed=settings.seed + number) for number in range(repeat)]
    if workers is None:
        return [
            evolve(folder, run, generations, place=(number, repeat), show=show) for number, run in enumerate(runs, 1)
        ]
    results = {run.seed: _finished(folder, run, generations) for run in runs}
    left = [run for run in runs if results[run.seed] is None]
    began_s, before = time.monotonic(), repeat - len(left)
    with ExitStack() as locks:
        for run in left:
            locks.enter_context(locked_run(folder, f"seed-{run.seed}"))
        for start in range(0, len(left), workers.count):
            batch = left[start : start + workers.count]
            for run, result in zip(batch, workers.map(run_seed, batch, [generations] * len(batch)), strict=True):
                _write(folder, run, generations, result)
                results[run.seed] = result
            done = start + len(batch)
            show(SeedsDone(before + done, repeat, (time.monotonic() - began_s) * (len(left) / done - 1)))
    return [result for result in results.values() if result is not None]


def _standing(settings: KuhnSettings, evolution: Evolution) -> tuple[float, float | None, float]:
    """What the fittest individual wins exactly, what is possible, and what it can lose to its worst opponent."""
    genes = tuple(evolution.champion.ravel().tolist())
    state = evolution.state
    assert state is not None
    game, seat = settings.rules, settings.seat - 1
    lost = exploitability_of(game, seat, genes)
    if settings.opposition is OppositionKind.MODEL:
        return value_against(settings, genes), best_answer(game, seat, settings.model).value, lost
    met = OfRivals(game, is_exact=True)(evolution.champion[None], np.zeros(1, np.uint64), state.opponents)
    return float(met.fitness[0]), None, lost


def _finished(folder: Path, settings: KuhnSettings, generations: int) -> KuhnResult | None:
    """The result of a run that the folder holds; None if it is not there, or of fewer or more generations."""
    path = folder / f"seed-{settings.seed}.json"
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text("utf-8"))
        result, their_settings, bred = KuhnResult.from_data(found["result"]), found["settings"], found["generations"]
    except OSError as error:
        raise CheckpointError(str(path), f"it cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CheckpointError(str(path), "it is not the result of such a run, or a damaged one") from error
    _require_same(path, settings, their_settings)
    if bred > generations:
        raise CheckpointError(
            str(path),
            f"it is the result of {bred} generations, more than the {generations} asked for: take another folder",
        )
    return result if bred == generations else None


def _write(folder: Path, settings: KuhnSettings, generations: int, result: KuhnResult) -> None:
    path = folder / f"seed-{settings.seed}.json"
    data = {
        "acpc-arena": version("acpc-arena"),
        "settings": settings.as_data(),
        "generations": generations,
        "result": result.as_data(),
    }
    try:
        write_whole(path, json.dumps(data) + "\n")
    except OSError as error:
        raise CheckpointError(str(path), f"it cannot be written: {error.strerror or error}") from error


def _require_same(path: Path, settings: KuhnSettings, theirs: Mapping[str, Any]) -> None:
    ours = settings.as_data()
    names = [name for name, value in ours.items() if theirs.get(name) != value]
    if names:
        raise CheckpointError(
            str(path),
            f"it was made with {_in_words(names, theirs)}, not {_in_words(names, ours)}: "
            "take another folder, or the same settings to go on",
        )


def _in_words(names: Sequence[str], settings: Mapping[str, Any]) -> str:
    def said(value: Any) -> str:
        return " ".join(f"{gene:g}" for gene in value) if isinstance(value, list) else str(value)

    return ", ".join(f"{name} {said(settings.get(name))}" for name in names)
