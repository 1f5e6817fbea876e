"""Runs of the training in a folder: checkpoints while they run, chromosomes when they end.

A folder holds ``trainer-1`` to ``trainer-9`` and ``player``, each with a checkpoint, what it was checked against
(`bots.evolved.checks`) and, once it is finished, a chromosome. What is there is gone on with, never begun again: with
the same settings the end is the same to the bit, whatever happened in between.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from bots.artifact import locked_run
from bots.errors import CheckpointError, ChromosomeError
from bots.evolution.evolution import (
    Evolution,
    Generation,
    State,
    StopReason,
    StopRule,
    load_checkpoint,
    save_checkpoint,
)
from bots.evolution.genome import Chromosomes
from bots.evolved.checks import Checker, CheckSettings
from bots.evolved.chromosome import GENES
from bots.evolved.files import read_chromosome, write_chromosome
from bots.evolved.training import OPPONENTS, TrainingSettings, player_evolution, trainer_evolution
from bots.workers import Workers

__all__ = ["CHECKS", "Progress", "Run", "evolve_player", "evolve_trainers", "run_names"]

_SAVE_EVERY_S: Final = 10.0
CHECKS: Final = CheckSettings()


@dataclass(frozen=True, slots=True)
class Progress:
    """How a run stands after a generation.

    Attributes:
        name: of the run, such as ``trainer-3``.
        number: of the run among those of the command, from 1.
        runs: of the command.
        generation: the last one.
        left: the most generations that can follow; None where their number has no bound.
        is_exact: whether so many will follow, or fewer may.
        seconds: that a generation takes, by the clock; None after the command's first.
        hands: that the individuals together play in a generation.
    """

    name: str
    number: int
    runs: int
    generation: Generation
    left: int | None
    is_exact: bool
    seconds: float | None
    hands: int

    @property
    def left_s(self) -> float | None:
        """How long the generations left will take, in seconds; None if that is not known."""
        return None if self.left is None or self.seconds is None else self.left * self.seconds


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run.

    Attributes:
        name: of the run.
        path: of its chromosome.
        reason: why it ended.
        last: its last generation.
    """

    name: str
    path: Path
    reason: StopReason
    last: Generation


def run_names(trainers: int) -> list[str]:
    """The names of some trainers' runs."""
    return [f"trainer-{number}" for number in range(1, trainers + 1)]


def evolve_trainers(
    folder: Path,
    settings: TrainingSettings,
    rule: StopRule,
    *,
    count: int = OPPONENTS,
    checks: CheckSettings = CHECKS,
    workers: Workers | None = None,
    show: Callable[[Progress], None] = lambda _: None,
) -> list[Run]:
    """Evolve trainers one after another, each with deals, population and draws of its own.

    Args:
        folder: of the runs; made if it is not there.
        settings: the seed is that of the first; each of the others has the next.
        rule: when one is finished.
        count: how many.
        checks: when they meet opponents from whom they learn nothing.
        workers: who evaluates; this process by default.
        show: told after each generation.

    Raises:
        CheckpointError: a file of the folder cannot be read or written, or stems from other settings.
        EvolutionError: settings that cannot be.
        WorkersError: the workers are gone.
    """
    runs = []
    for number, name in enumerate(run_names(count)):
        own = replace(settings, seed=settings.seed + number)

        def make(state: State | None, own: TrainingSettings = own, **over: Any) -> Evolution:
            return trainer_evolution(own, state=state, **over)

        runs.append(_run(folder, name, (number + 1, count), own, {}, make, rule, checks, workers, show))
    return runs


def evolve_player(
    folder: Path,
    settings: TrainingSettings,
    rule: StopRule,
    *,
    checks: CheckSettings = CHECKS,
    workers: Workers | None = None,
    show: Callable[[Progress], None] = lambda _: None,
) -> Run:
    """Evolve a player against the nine trainers of a folder; see `evolve_trainers`.

    Raises:
        ChromosomeError: a trainer's chromosome is not there, or cannot be read.
        CheckpointError: as `evolve_trainers`.
        EvolutionError: settings that cannot be.
        WorkersError: the workers are gone.
    """
    paths = [folder / f"{name}.chromosome" for name in run_names(OPPONENTS)]
    for path in paths:
        if not path.is_file():
            raise ChromosomeError(str(path), f"it is not there; a player needs {OPPONENTS} trainers")
    trainers: Chromosomes = np.array([read_chromosome(str(path)).thresholds for path in paths], np.int16)
    trainers = trainers.reshape(OPPONENTS, GENES, 2)
    about = {"trainers": [sha256(trainer.astype(np.int8).tobytes()).hexdigest() for trainer in trainers]}

    def make(state: State | None, **over: Any) -> Evolution:
        return player_evolution(settings, trainers, state=state, **over)

    return _run(folder, "player", (1, 1), settings, about, make, rule, checks, workers, show)


def _run(
    folder: Path,
    name: str,
    place: tuple[int, int],
    settings: TrainingSettings,
    about: dict[str, Any],
    make: Callable[..., Evolution],
    rule: StopRule,
    checks: CheckSettings,
    workers: Workers | None,
    show: Callable[[Progress], None],
) -> Run:
    about = {"settings": json.loads(json.dumps(asdict(settings), default=lambda odds: odds.value)), **about}
    checkpoint = folder / f"{name}.checkpoint"
    over: dict[str, Any] = {} if workers is None else {"over": workers.map, "parts": 4 * workers.count}
    hands = 100 * settings.deals * settings.population
    with locked_run(folder, name):
        state = None
        if checkpoint.exists():
            state, found = load_checkpoint(checkpoint)
            if found != about:
                raise CheckpointError(str(checkpoint), _difference(about, found))
        evolution = make(state, **over)
        checker = Checker(folder, name, settings, checks, over.get("over"))
        with _saved(evolution, checkpoint, about) as save:
            # The first generation waits for compiled code and new workers: it tells nothing about the others.
            first, began_s = -1, 0.0
            for generation in evolution.generations(rule):
                seconds = None
                if first < 0:
                    first, began_s = generation.number, time.monotonic()
                else:
                    seconds = (time.monotonic() - began_s) / (generation.number - first)
                left, is_exact = rule.most_left(generation), rule.patience is None and rule.opponents is None
                show(Progress(name, *place, generation, left, is_exact, seconds, hands))
                save()
                assert evolution.state is not None
                checker.check(evolution.state, is_last=rule.reason(generation) is not None)
    assert evolution.state is not None
    last = evolution.state.history[-1]
    reason = rule.reason(last)
    assert reason is not None
    path = folder / f"{name}.chromosome"
    thresholds = evolution.champion.astype(np.int8).tobytes()
    if not _holds(path, thresholds):
        record = {
            **about,
            "run": name,
            "date": datetime.now(UTC).date().isoformat(),
            "acpc-arena": version("acpc-arena"),
            "generations": last.number,
            "renewals": last.renewals,
            "dollars": last.best,
        }
        write_chromosome(str(path), thresholds, record)
    return Run(name, path, reason, last)


def _holds(path: Path, thresholds: bytes) -> bool:
    """Whether a file is the chromosome with these thresholds, which then keeps its date."""
    try:
        return array("b", read_chromosome(str(path)).thresholds).tobytes() == thresholds
    except ChromosomeError:
        return False


@contextmanager
def _saved(evolution: Evolution, path: Path, about: dict[str, Any]) -> Iterator[Callable[[], None]]:
    """Write the state at the end, however that comes, and in between when the one on disk is some seconds old."""
    written = time.monotonic()

    def save() -> None:
        nonlocal written
        if time.monotonic() - written >= _SAVE_EVERY_S and evolution.state is not None:
            save_checkpoint(path, evolution.state, about)
            written = time.monotonic()

    begun_with = evolution.state
    try:
        yield save
    finally:
        if evolution.state is not None and evolution.state is not begun_with:
            with _undisturbed():
                save_checkpoint(path, evolution.state, about)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let no impatient second Ctrl-C end what the first one began."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _difference(wanted: dict[str, Any], found: dict[str, Any]) -> str:
    """What a checkpoint was made with, in place of what is asked for."""
    if wanted.get("trainers") != found.get("trainers"):
        return "it was made with other trainers; take another folder"
    theirs = found.get("settings", {})
    names = [name for name, value in wanted["settings"].items() if theirs.get(name) != value]
    were = ", ".join(f"{name} {theirs.get(name)}" for name in names)
    asked = ", ".join(f"{name} {wanted['settings'][name]}" for name in names)
    return f"it was made with {were}, not {asked}: take another folder, or the same settings to go on"
