"""A memory as a file (`bots.artifact`) of a line for each cell.

The first line has the constants, the number of hands and of cells, and a record of the training if there is one. A
cell is its nine levels, a digit each, and for each decision
that was taken its number, the number and sum of its profits, and the number and sum of its losses, in thousandths of a
big blind:

    305101012 2:12,18400,9,9000 3:1,2500,0,0

The same memory is always written as the same bytes.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from bots.artifact import Artifact, Kind, artifact_bytes, read_artifact, write_file
from bots.errors import LearnerFileError
from bots.learner.memory import NOTHING, Cell, Constants, Memory, Results, Row
from engine import Game
from engine.errors import quoted
from logs.whole_file import FileLock
from protocol import find_game

_KIND: Final = Kind(
    "a memory of acpc-arena's learner", 2, LearnerFileError, "`arena train learner` and the bot write such files"
)
_ITEM: Final = re.compile(r"([1-5]):([0-9]{1,18}),([0-9]{1,18}),([0-9]{1,18}),([0-9]{1,18})", re.ASCII)


def memory_bytes(memory: Memory) -> bytes:
    """The file of a memory."""
    body = "".join(
        [f"{cell.text}{''.join(_items(row))}\n" for cell, row in memory.cells],
    ).encode("ascii")
    header: dict[str, Any] = {
        "constants": asdict(memory.constants),
        "hands": memory.hands,
        "cells": len(memory.cells),
    }
    if memory.training:
        header["training"] = json.loads(memory.training)
    return artifact_bytes(_KIND, header, body)


def _items(row: Row) -> list[str]:
    return [
        f" {decision}:{','.join(map(str, results))}" for decision, results in enumerate(row, 1) if results != NOTHING
    ]


def write_memory(path: str | os.PathLike[str], memory: Memory) -> None:
    """Write a memory in place of the file; the old file stands until the new one is on the disk.

    Raises:
        LearnerFileError: the file cannot be written.
    """
    write_file(path, memory_bytes(memory), LearnerFileError)


def read_memory(path: str | os.PathLike[str], constants: Constants | None = None) -> Memory:
    """Read a memory.

    Args:
        path: of the file.
        constants: those that it must have; None takes any.

    Raises:
        LearnerFileError: there is no such file, it is no memory, of another version, damaged, or was learnt with other
            constants.
    """
    found = read_artifact(path, _KIND)
    with found.parsing():
        memory = _parse(found)
    if constants is not None and (differing := constants.differences(memory.constants)):
        options = ",".join(f"{name}={value:g}" for name, value in differing.items())
        raise LearnerFileError(os.fspath(path), f"it was learnt with other constants: add the options {options}")
    return memory


def _parse(found: Artifact) -> Memory:
    header = found.header
    hands, count, values, training = header["hands"], header["cells"], header["constants"], header.get("training")
    if {*values} != {one.name for one in fields(Constants)} or type(hands) is not int:
        raise ValueError("a constant or the number of hands is missing or unknown")
    lines = str(found.contents, "ascii").splitlines()
    cells = tuple([_parse_cell(number, text) for number, text in enumerate(lines, 2)])
    if len(cells) != count:
        raise ValueError(f"it has {len(cells)} cells, not {count}")
    return Memory(Constants(**values), hands, cells, json.dumps(training, sort_keys=True) if training else "")


def _parse_cell(number: int, text: str) -> tuple[Cell, Row]:
    digits, *items = text.split(" ")
    row = [NOTHING] * 5
    for item in items:
        found = _ITEM.fullmatch(item)
        if found is None:
            raise ValueError(f"line {number} has {quoted(item)} where results are expected")
        decision, *sums = map(int, found.groups())
        row[decision - 1] = Results(*sums)
    fold, call, small, medium, large = row
    return Cell.parse(digits), (fold, call, small, medium, large)


class MemoryFile:
    """A memory on disk that one learner at a time goes on writing.

    Attributes:
        path: of the file.
        start: what it held when it was opened; an empty memory where there was no file.
    """

    def __init__(self, path: str | os.PathLike[str], constants: Constants) -> None:
        """Take the lock and read the file.

        Raises:
            LearnerFileError: another process has it, or as `read_memory`.
        """
        self.path = Path(path)
        try:
            self._lock = FileLock(self.path.with_name(f"{self.path.name}.lock"))
        except BlockingIOError:
            raise LearnerFileError(str(path), "another learner is writing it; give each a file of its own") from None
        except OSError as error:
            raise LearnerFileError(str(path), f"it cannot be written: {error.strerror or error}") from error
        try:
            self.start = read_memory(path, constants) if self.path.exists() else Memory(constants)
        except LearnerFileError:
            self._lock.close()
            raise

    def write(self, memory: Memory) -> None:
        """Write what is remembered by now.

        Raises:
            LearnerFileError: the file cannot be written.
        """
        write_memory(self.path, memory)

    def close(self) -> None:
        """Let others have the file; a second call does nothing."""
        self._lock.close()


SHIPPED: Final = ("limit", "nolimit", "limit3", "nolimit3", "limit6", "nolimit6", "limit10", "nolimit10")
"""The games, by their short names. In any other, of other stakes or between another number of players, nothing has been
measured, and a learner starts from nothing."""
_FOLDER: Final = os.path.join(os.path.dirname(__file__), "memories")


def shipped_memory(game: Game, constants: Constants) -> Memory:
    """The memory for a game; an empty one for other games, and for constants that it was not trained with."""
    for name in SHIPPED:
        if find_game(name)[1] == game and (memory := _read(name)).constants == constants:
            return memory
    return Memory(constants)


@cache
def _read(name: str) -> Memory:
    return read_memory(os.path.join(_FOLDER, f"{name}.memory"))
