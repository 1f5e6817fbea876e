"""Finished runs of a folder (`bots.evolved.runs`), read back: nine trainers and the player they brought up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from bots.errors import CheckpointError, EvolutionError
from bots.evolution.evolution import State, load_checkpoint
from bots.evolution.genome import Chromosomes
from bots.evolved.checks import Checks, read_checks
from bots.evolved.chromosome import GENES, Odds
from bots.evolved.files import Chromosome, read_chromosome
from bots.evolved.runs import run_names
from bots.evolved.training import OPPONENTS, TrainingSettings

__all__ = ["FinishedRun", "FinishedRuns", "as_array", "read_runs", "recorded_settings"]


@dataclass(frozen=True, slots=True, eq=False)
class FinishedRun:
    """A finished run.

    Attributes:
        name: such as ``trainer-3``.
        settings: it was made with.
        state: after its last generation.
        chromosome: that it left, shape (5040, 2).
        record: of its training, as the chromosome's file has it.
        checks: made along it; None where there were none.
    """

    name: str
    settings: TrainingSettings
    state: State
    chromosome: Chromosomes
    record: Mapping[str, Any]
    checks: Checks | None = None

    @property
    def bests(self) -> Chromosomes:
        """Those that became trainers, of a player's run those better than all before; the last where there were none.

        Its shape is (individuals, 5040, 2).
        """
        return self.state.champions if len(self.state.champions) else self.chromosome[None]


@dataclass(frozen=True, slots=True, eq=False)
class FinishedRuns:
    """The runs of a folder.

    Attributes:
        folder: where they are.
        player: the last run.
        trainers: the nine others, the player's opponents.
    """

    folder: Path
    player: FinishedRun
    trainers: tuple[FinishedRun, ...]

    @property
    def opponents(self) -> Chromosomes:
        """The trainers' chromosomes, shape (9, 5040, 2)."""
        return np.array([trainer.chromosome for trainer in self.trainers])

    @property
    def seeds(self) -> frozenset[int]:
        """Of all deals that anything was trained on."""
        return frozenset(run.settings.seed for run in (self.player, *self.trainers))


def read_runs(folder: Path) -> FinishedRuns:
    """The runs of a folder.

    Raises:
        CheckpointError: it is not such a folder, a run is not finished, or a file is damaged or of another version.
        ChromosomeError: the same of a chromosome.
    """
    if not folder.is_dir():
        raise CheckpointError(str(folder), "there is no such folder")
    names = [*run_names(OPPONENTS), "player"]
    if not any((folder / f"{name}.checkpoint").exists() for name in names):
        raise CheckpointError(str(folder), "it holds no runs: arena evolve trainers and arena evolve player make them")
    runs = [_read_run(folder, name) for name in names]
    return FinishedRuns(folder, runs[-1], tuple(runs[:-1]))


def _read_run(folder: Path, name: str) -> FinishedRun:
    command = f"arena evolve {name.partition('-')[0]}{'s' if '-' in name else ''}"
    checkpoint, chromosome = folder / f"{name}.checkpoint", folder / f"{name}.chromosome"
    if not checkpoint.exists():
        raise CheckpointError(str(checkpoint), f"it is not there yet: {command} makes it")
    state, about = load_checkpoint(checkpoint)
    if not chromosome.exists():
        raise CheckpointError(
            str(checkpoint), f"generation {state.history[-1].number} is not the run's last: {command} goes on with it"
        )
    found = read_chromosome(str(chromosome))
    settings = recorded_settings(about)
    if settings is None:
        raise CheckpointError(str(checkpoint), "it does not tell settings that this program knows")
    return FinishedRun(name, settings, state, as_array(found), json.loads(found.record), read_checks(folder, name))


def recorded_settings(record: Mapping[str, Any]) -> TrainingSettings | None:
    """The settings of a record of a training; None where it holds none that can be."""
    names = {about.name for about in fields(TrainingSettings)}
    found = record.get("settings")
    if not isinstance(found, dict) or set(found) != names:
        return None
    try:
        return TrainingSettings(**{**found, "odds": Odds(found["odds"])})
    except (EvolutionError, ValueError, TypeError):
        return None


def as_array(chromosome: Chromosome) -> Chromosomes:
    """The thresholds of a file, shape (5040, 2)."""
    return np.array(chromosome.thresholds, np.int16).reshape(GENES, 2)
