"""Finished runs of a folder, and everything that is none."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bots.errors import CheckpointError, ChromosomeError
from bots.evolution.breeding import Evaluation
from bots.evolution.evolution import Generation, State, save_checkpoint
from bots.evolved.chromosome import GENES, write_chromosome
from bots.evolved.runs import read_runs, recorded_settings
from bots.evolved.training import GENOME, EvolvedSettings

NAMES = (*(f"trainer-{number}" for number in range(1, 10)), "player")


def _settings(seed: int) -> dict[str, Any]:
    return {**asdict(EvolvedSettings(seed=seed)), "odds": "reward"}


def write_runs(folder: Path) -> Path:
    """Runs of no generations but the first, of random chromosomes."""
    for seed, name in enumerate(NAMES):
        population = GENOME.random(2, np.random.default_rng(seed))
        history = (Generation(0, 1.0, 0.5, 0.0, 0.1, 1.0, 0, 0),)
        state = State(seed, population, Evaluation(np.array([1.0, 0.0])), None, population[:0], (), history)
        about = {"settings": _settings(seed)}
        save_checkpoint(folder / f"{name}.checkpoint", state, about)
        write_chromosome(str(folder / f"{name}.chromosome"), population[0].astype(np.int8).tobytes(), about)
    return folder


def test_all_runs_are_read(tmp_path: Path) -> None:
    runs = read_runs(write_runs(tmp_path))
    assert [run.name for run in (*runs.trainers, runs.player)] == list(NAMES)
    assert runs.opponents.shape == (9, GENES, 2)
    assert (runs.player.chromosome == runs.player.state.population[0]).all()
    assert runs.seeds == frozenset(range(10))
    assert runs.player.settings == EvolvedSettings(seed=9)


def test_folders_that_hold_no_finished_runs(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="none: there is no such folder"):
        read_runs(tmp_path / "none")
    with pytest.raises(CheckpointError, match="it holds no runs: arena evolve trainers and arena evolve player make"):
        read_runs(tmp_path)
    write_runs(tmp_path)
    for name, command in (("player", "player"), ("trainer-3", "trainers")):
        checkpoint, chromosome = tmp_path / f"{name}.checkpoint", tmp_path / f"{name}.chromosome"
        whole = chromosome.read_bytes()
        chromosome.write_bytes(whole[:-1])
        with pytest.raises(ChromosomeError, match=f"{name}.chromosome: it is damaged"):
            read_runs(tmp_path)
        chromosome.unlink()
        with pytest.raises(
            CheckpointError, match=f"generation 0 is not the run's last: arena evolve {command} resumes"
        ):
            read_runs(tmp_path)
        chromosome.write_bytes(whole)
        kept = checkpoint.read_bytes()
        checkpoint.write_bytes(kept[: len(kept) // 2])
        with pytest.raises(CheckpointError, match=f"{name}.checkpoint: it is damaged"):
            read_runs(tmp_path)
        checkpoint.unlink()
        with pytest.raises(
            CheckpointError, match=f"{name}.checkpoint: it is not there yet: arena evolve {command} makes it"
        ):
            read_runs(tmp_path)
        checkpoint.write_bytes(kept)


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"settings": 3},
        {"settings": {"deals": 1}},
        {"settings": _settings(1) | {"odds": "good"}},
        {"settings": _settings(1) | {"deals": 0}},
        {"settings": _settings(1) | {"deals": "x"}},
    ],
)
def test_settings_that_cannot_be_are_none(record: dict[str, Any]) -> None:
    assert recorded_settings(record) is None
