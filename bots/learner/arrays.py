"""A memory as the arrays of `bots.kernels.hands`, and back."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Final

import numpy as np

from bots.learner.cells import Cell, level_counts
from bots.learner.constants import Constants
from bots.learner.memory import Memory, Results

if TYPE_CHECKING:
    from bots.kernels.players import CellGrid

__all__ = ["MemoryArrays"]

_LEAST_ROWS: Final = 1 << 13
_DECISIONS: Final = 5


class MemoryArrays:
    """The memory of a learner, and those of frozen ones at its tables.

    Attributes:
        known: the arrays.
        grid: of the learner.
    """

    def __init__(self, memory: Memory) -> None:
        from bots.kernels.hands import KnownCells

        self._constants = memory.constants
        self._others: dict[str, CellGrid] = {}
        self._other_rows = 0
        nothing = np.zeros(0, np.int64)
        self.known = KnownCells(
            np.zeros(0, np.int32), nothing, np.zeros((0, _DECISIONS, 4), np.int64), np.zeros(1, np.int64)
        )
        self.grid = self._add(memory)
        self.grow()

    @property
    def met(self) -> int:
        """How many cells the learner has met."""
        return int(self.known.used[0]) - self._other_rows

    def eyes_of(self, name: str, memory: Memory) -> CellGrid:
        """Those of a frozen learner, whose memory is added when its name is new."""
        if name not in self._others:
            self._others[name] = self._add(memory)
            self._other_rows += len(memory.cells)
        return self._others[name]

    def grow(self) -> None:
        """Make room for more cells: at least twice as many as there are."""
        rows = max(_LEAST_ROWS, 2 * len(self.known.cell))
        cell, results = np.zeros(rows, np.int64), np.zeros((rows, _DECISIONS, 4), np.int64)
        cell[: len(self.known.cell)] = self.known.cell
        results[: len(self.known.cell)] = self.known.results
        self.known = self.known._replace(cell=cell, results=results)

    def memory(self, hands: int, training: str) -> Memory:
        """The learner's memory as a value."""
        counts = level_counts(self._constants)
        cells = []
        for row in np.flatnonzero(self.known.cell[: self.known.used[0]] < self.grid.cells).tolist():
            rest, levels = int(self.known.cell[row]), []
            for count in reversed(counts):
                rest, level = divmod(rest, count)
                levels.append(level)
            fold, call, small, medium, large = [Results(*results) for results in self.known.results[row].tolist()]
            cells.append((Cell(*reversed(levels)), (fold, call, small, medium, large)))
        return Memory(self._constants, hands, tuple(sorted(cells)), training)

    def _add(self, memory: Memory) -> CellGrid:
        from bots.kernels.players import CellGrid

        *intervals, big, little = astuple(memory.constants)
        grid = CellGrid(tuple(intervals), big, little, len(self.known.row))
        first, count = int(self.known.used[0]), len(memory.cells)
        while first + count > len(self.known.cell):
            self.grow()
        row = np.concatenate([self.known.row, np.full(grid.cells, -1, np.int32)])
        for at, (cell, results) in enumerate(memory.cells, first):
            number = _number(cell, memory.constants) + grid.offset
            row[number], self.known.cell[at], self.known.results[at] = at, number, results
        self.known.used[0] = first + count
        self.known = self.known._replace(row=row)
        return grid


def _number(cell: Cell, constants: Constants) -> int:
    """The number of a cell: its levels as digits."""
    number = 0
    for level, count in zip(cell, level_counts(constants), strict=True):
        number = number * count + level
    return number
