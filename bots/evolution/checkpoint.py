"""An evolution on disk: one file, whole after any accident."""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bots.errors import CheckpointError
from bots.evolution.evaluation import Evaluation
from bots.evolution.evolution import Generation, State

__all__ = ["load_checkpoint", "save_checkpoint"]

_VERSION: Final = 1
_ARRAYS: Final = ("population", "opponents", "champions", "fitness", "used", "against", "totals")

_DAMAGES: Final = (
    *(ValueError, KeyError, TypeError, AttributeError, EOFError, OverflowError, MemoryError),
    *(RuntimeError, zipfile.BadZipFile, zlib.error),
)
"""What numpy, zipfile and json raise for bytes that are no checkpoint; a damaged length may ask for any memory."""


def save_checkpoint(path: str | Path, state: State, about: dict[str, Any]) -> None:
    """Write a state in place of the file; the old file stands until the new one is on the disk.

    Args:
        path: of the file, a compressed archive of numpy arrays (.npz).
        state: what to write.
        about: what else has to be known to go on, such as settings; JSON must be able to say it.

    Raises:
        CheckpointError: the file cannot be written.
    """
    path = Path(path)
    arrays = {
        "population": state.population,
        "opponents": state.opponents,
        "champions": state.champions,
        "fitness": state.evaluation.fitness,
        "used": state.evaluation.used,
        "against": state.evaluation.against,
        "totals": state.evaluation.totals,
    }
    header = {
        "version": _VERSION,
        "about": about,
        "seed": state.seed,
        "champion_generations": state.champion_generations,
        "history": [asdict(generation) for generation in state.history],
    }
    new = path.with_name(f"{path.name}.new")
    try:
        with open(new, "wb") as file:
            found = {name: array for name, array in arrays.items() if array is not None}
            found["header"] = np.array(json.dumps(header))
            np.savez_compressed(file, allow_pickle=False, **found)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise CheckpointError(str(path), f"it cannot be written: {error.strerror or error}") from error


def load_checkpoint(path: str | Path) -> tuple[State, dict[str, Any]]:
    """The state and what else was written with it.

    Raises:
        CheckpointError: there is no such file, it is not a checkpoint, of another version, or damaged.
    """
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            header = json.loads(str(archive["header"]))
            arrays = {name: archive.get(name) for name in _ARRAYS}
    except OSError as error:
        raise CheckpointError(str(path), f"it cannot be read: {error.strerror or error}") from error
    except _DAMAGES as error:
        raise CheckpointError(str(path), "it is not a checkpoint of an evolution, or a damaged one") from error
    version = header.get("version") if isinstance(header, dict) else None
    if version != _VERSION:
        raise CheckpointError(str(path), f"it is of version {version}; this program reads version {_VERSION}")
    try:
        evaluation = Evaluation(_required(arrays["fitness"]), arrays["used"], arrays["against"], arrays["totals"])
        history = tuple([Generation(**generation) for generation in header["history"]])
        state = State(
            seed=header["seed"],
            population=_required(arrays["population"]),
            evaluation=evaluation,
            opponents=arrays["opponents"],
            champions=_required(arrays["champions"]),
            champion_generations=tuple(header["champion_generations"]),
            history=history,
        )
        about: dict[str, Any] = header["about"]
    except (KeyError, TypeError) as error:
        raise CheckpointError(str(path), "parts of it are missing") from error
    return state, about


def _required(array: NDArray[Any] | None) -> NDArray[Any]:
    if array is None:
        raise KeyError("an array")
    return array
