"""A training on disk: a file (`bots.artifact`) of its settings, how far it is, the regrets and the averages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.artifact import Kind, as_arrays, read_artifact, write_artifact
from bots.errors import CheckpointError

__all__ = ["Checkpoint", "checkpoint_bytes", "load_checkpoint", "save_checkpoint"]

_KIND: Final = Kind(
    "a checkpoint of acpc-arena's regret minimisation",
    2,
    CheckpointError,
    "take another folder, or delete it to begin again",
)
_NUMBERS: Final = np.dtype("<f8")


class Checkpoint(NamedTuple):
    """What a training has come to.

    Attributes:
        settings: it was begun with; JSON can say them.
        iteration: how many have been done.
        seconds: how long they took.
        history: what was measured on the way, as JSON has it.
        regrets: of each action.
        averages: of each action.
    """

    settings: Mapping[str, Any]
    iteration: int
    seconds: float
    history: tuple[Mapping[str, Any], ...]
    regrets: NDArray[np.float64]
    averages: NDArray[np.float64]


def checkpoint_bytes(size: int) -> int:
    """About how large a file is, by how many actions there are."""
    return 2 * _NUMBERS.itemsize * size


def save_checkpoint(path: Path, found: Checkpoint) -> None:
    """Write a checkpoint in place of the file; the old file stands until the new one is on the disk.

    Raises:
        CheckpointError: the file cannot be written.
    """
    of_arrays, contents = as_arrays(
        {"regrets": found.regrets.astype(_NUMBERS), "averages": found.averages.astype(_NUMBERS)}
    )
    header = {
        **of_arrays,
        "settings": dict(found.settings),
        "iteration": found.iteration,
        "seconds": found.seconds,
        "history": [dict(row) for row in found.history],
    }
    write_artifact(path, _KIND, header, contents)


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        CheckpointError: there is no such file, it is not a checkpoint, of another version, or damaged.
    """
    found = read_artifact(path, _KIND)
    header, arrays = found.header, found.arrays()
    with found.parsing():
        return Checkpoint(
            header["settings"],
            int(header["iteration"]),
            float(header["seconds"]),
            tuple(header["history"]),
            arrays["regrets"].astype(np.float64),
            arrays["averages"].astype(np.float64),
        )
