"""An evolution on disk: one file (`bots.artifact`), whole after any accident."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from bots.artifact import Kind, as_arrays, read_artifact, write_artifact
from bots.errors import CheckpointError
from bots.evolution.evaluation import Evaluation
from bots.evolution.evolution import Generation, State

__all__ = ["load_checkpoint", "save_checkpoint"]

_KIND: Final = Kind(
    "a checkpoint of acpc-arena's evolution", 2, CheckpointError, "take another folder, or delete it to begin again"
)


def save_checkpoint(path: str | Path, state: State, about: dict[str, Any]) -> None:
    """Write a state in place of the file; the old file stands until the new one is on the disk.

    Args:
        path: of the file.
        state: what to write.
        about: what else has to be known to go on, such as settings; JSON must be able to say it.

    Raises:
        CheckpointError: the file cannot be written.
    """
    facts = {
        "about": about,
        "seed": state.seed,
        "champion_generations": state.champion_generations,
        "history": [asdict(generation) for generation in state.history],
    }
    arrays = {
        "facts": np.frombuffer(json.dumps(facts).encode(), np.uint8),
        "population": state.population,
        "opponents": state.opponents,
        "champions": state.champions,
        "fitness": state.evaluation.fitness,
        "used": state.evaluation.used,
        "against": state.evaluation.against,
        "totals": state.evaluation.totals,
    }
    write_artifact(path, _KIND, *as_arrays(arrays, is_compressed=True))


def load_checkpoint(path: str | Path) -> tuple[State, dict[str, Any]]:
    """The state and what else was written with it.

    Raises:
        CheckpointError: there is no such file, it is not a checkpoint, of another version, or damaged.
    """
    found = read_artifact(path, _KIND)
    arrays = {name: array.copy() for name, array in found.arrays().items()}
    with found.parsing():
        facts = json.loads(arrays["facts"].tobytes())
        evaluation = Evaluation(arrays["fitness"], arrays.get("used"), arrays.get("against"), arrays.get("totals"))
        state = State(
            seed=facts["seed"],
            population=arrays["population"],
            evaluation=evaluation,
            opponents=arrays.get("opponents"),
            champions=arrays["champions"],
            champion_generations=tuple(facts["champion_generations"]),
            history=tuple([Generation(**generation) for generation in facts["history"]]),
        )
        about: dict[str, Any] = facts["about"]
    return state, about
