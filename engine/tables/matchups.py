"""How often each class of hole cards beats each other one, and how the numbers are laid out in their file.

`matchups.bin` is written by `engine.generators.matchups` and read here. Everything in it is little-endian:

    8 bytes              magic
    169 * 169 uint32     by class and by class of the opponent, in the order of `engine.starting_hands`: the showdowns
                         won, summed over the pairs of holdings without a common card and all boards beside them

Losses are the wins of the opponent, and the other showdowns are tied (`engine.matchups.counts`).
"""

from __future__ import annotations

import hashlib
from os.path import dirname, join
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import TableError

__all__ = ["MATCHUPS_PATH", "MATCHUPS_SHA256", "load", "read", "write"]

MATCHUPS_PATH: Final = join(dirname(__file__), "matchups.bin")
MATCHUPS_SHA256: Final = "5f207532851f5bed6a33ae08a8ff5402d5ea5fcfe15053e5d3d59e31b60279fc"
"""Checksum of the file."""

_MAGIC: Final = b"ACPCMU01"
_CLASSES: Final = 169


def write(wins: NDArray[np.int64]) -> bytes:
    """The bytes of the file for the showdowns won, shape (169, 169)."""
    return _MAGIC + wins.astype("<u4").tobytes()


def load() -> NDArray[np.int64]:
    """Read the packaged file (114 KB).

    Raises:
        OSError: the file is missing from the installation.
        TableError: the file is not the one that belongs to this version.
    """
    with open(MATCHUPS_PATH, "rb") as file:
        return read(file.read())


def read(data: bytes) -> NDArray[np.int64]:
    """The showdowns won, shape (169, 169), as `write` was given them.

    Raises:
        TableError: these bytes are not the file that belongs to this version.
    """
    if not data.startswith(_MAGIC) or hashlib.sha256(data).hexdigest() != MATCHUPS_SHA256:
        raise TableError("the table of all matchups before the flop is damaged or of another version; reinstall it")
    return np.frombuffer(data, "<u4", offset=len(_MAGIC)).reshape(_CLASSES, _CLASSES).astype(np.int64)
