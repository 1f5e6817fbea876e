"""A training on disk: one file, whole after any accident.

The first line is JSON: what the file is, its layout's version, the settings of the training, how far it is, and the
checksum of what follows: the regrets, then the averages, as numbers of eight bytes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.errors import CheckpointError
from logs.whole_file import write_whole

__all__ = ["Checkpoint", "checkpoint_bytes", "load_checkpoint", "save_checkpoint"]

_WHAT: Final = "a checkpoint of acpc-arena's regret minimisation"
_VERSION: Final = 1
_LONGEST_LINE: Final = 1_000_000
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
    contents = found.regrets.astype(_NUMBERS).tobytes() + found.averages.astype(_NUMBERS).tobytes()
    header = {
        "what": _WHAT,
        "version": _VERSION,
        "settings": dict(found.settings),
        "iteration": found.iteration,
        "seconds": found.seconds,
        "history": [dict(row) for row in found.history],
        "size": len(found.regrets),
        "crc32": zlib.crc32(contents),
    }
    try:
        write_whole(path, json.dumps(header).encode() + b"\n" + contents)
    except OSError as error:
        raise CheckpointError(str(path), f"it cannot be written: {error.strerror or error}") from error


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        CheckpointError: there is no such file, it is not a checkpoint, of another version, or damaged.
    """
    try:
        with path.open("rb") as file:
            line, contents = file.readline(_LONGEST_LINE), file.read()
    except OSError as error:
        raise CheckpointError(str(path), f"it cannot be read: {error.strerror or error}") from error
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("what") != _WHAT:
        raise CheckpointError(str(path), f"it does not begin with a line that says it is {_WHAT}")
    if header.get("version") != _VERSION:
        raise CheckpointError(
            str(path), f"it is of version {header.get('version')}; this program reads version {_VERSION}"
        )
    try:
        size = int(header["size"])
        if len(contents) != checkpoint_bytes(size) or zlib.crc32(contents) != header["crc32"]:
            raise ValueError("damaged")
        numbers = np.frombuffer(contents, _NUMBERS)
        return Checkpoint(
            header["settings"],
            int(header["iteration"]),
            float(header["seconds"]),
            tuple(header["history"]),
            numbers[:size].astype(np.float64),
            numbers[size:].astype(np.float64),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(str(path), "it is damaged: begin anew in another folder, or delete it") from error
