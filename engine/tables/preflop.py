"""The chances of hole cards before the flop, and how they are laid out in their file.

`preflop_equity.bin` is written by `engine.generators.preflop` and read here, without numpy. Everything in it is
little-endian:

    8 bytes               magic
    169 * 9 * 3 doubles   by class of hole cards, by opponents (1 to 9): win, tie and equity of `engine.equity.Equity`

The classes are those of `engine.starting_hands`, in their order.

Against one opponent the numbers are exact: all its hands with all boards. Against more they are sampled,
`TRIALS` showdowns each, so that the standard error is at most 0.0005.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from os.path import dirname, join
from typing import Final

from engine.errors import TableError

__all__ = ["MOST_OPPONENTS", "PREFLOP_PATH", "PREFLOP_SHA256", "TRIALS", "load", "read", "write"]

MOST_OPPONENTS: Final = 9
TRIALS: Final = 1_000_000
"""Showdowns behind each number against two or more opponents."""

PREFLOP_PATH: Final = join(dirname(__file__), "preflop_equity.bin")
PREFLOP_SHA256: Final = "445f733c15a3a32fa0feb96a1369606d8b063372536e3c9242c63d2342c315dc"
"""Checksum of the file."""

_MAGIC: Final = b"ACPCPE01"
_LAYOUT: Final = struct.Struct(f"<{169 * MOST_OPPONENTS * 3}d")


def write(numbers: Sequence[float]) -> bytes:
    """The bytes of the file for these numbers: class by class, opponents by opponents, win, tie, equity."""
    return _MAGIC + _LAYOUT.pack(*numbers)


def load() -> tuple[float, ...]:
    """Read the packaged file (37 KB, 0.2 ms).

    Raises:
        OSError: the file is missing from the installation.
        TableError: the file is not the one that belongs to this version.
    """
    with open(PREFLOP_PATH, "rb") as file:
        return read(file.read())


def read(data: bytes) -> tuple[float, ...]:
    """The numbers written by `write`; those of class c against n opponents begin at ``3 * (9 * c + n - 1)``.

    Raises:
        TableError: these bytes are not the file that belongs to this version.
    """
    if not data.startswith(_MAGIC) or hashlib.sha256(data).hexdigest() != PREFLOP_SHA256:
        raise TableError("the table of chances before the flop is damaged or of another version; reinstall it")
    numbers: tuple[float, ...] = _LAYOUT.unpack_from(data, len(_MAGIC))
    return numbers
