"""Intervals of many means that hold all together, from few deals and without an assumption about their spread.

If two players play alike, what one makes of a deal beyond the other is as likely with one sign as with the other: to
exchange the players changes the sign and nothing else. So the signs of whole deals are drawn anew, and in each draw the
cell that stands out most is taken. What 95 % of the draws stay below is the bound of all cells at once: the one-step
maximum statistic of Westfall & Young (1993, "Resampling-Based Multiple Testing", chapter 2), by sign changes as in
Romano & Wolf (2005, "Exact and approximate stepdown methods for multiple hypothesis testing"). Cells may overlap: their
dependence is in the draws.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["DRAWS", "Sums", "simultaneous"]

DRAWS: Final = 1999
"""Of all signs; the signs as they are make one more."""

_DEALS_AT_A_TIME: Final = 4096
_SEED: Final = 17


class Sums(NamedTuple):
    """What cells hold.

    Attributes:
        sums: of each cell.
        half_widths: such that, with the confidence asked for, all intervals hold at once.
        bound: what the statistic of no cell exceeds; it takes the place of 1.96.
    """

    sums: NDArray[np.float64]
    half_widths: NDArray[np.float64]
    bound: float


def simultaneous(
    values: NDArray[np.float64],
    cells: NDArray[np.int64],
    of_deal: NDArray[np.int64],
    count: int,
    deals: int,
    *,
    tail: float = 0.05,
) -> Sums:
    """The sums of cells with simultaneous intervals.

    Args:
        values: shape (n,): what was won.
        cells: shape (n, k): the cells that each counts in, numbers below `count`, or `count` itself for none.
        of_deal: shape (n,), ascending: the deal of each; values of the same deal keep their signs together.
        count: how many cells there are.
        deals: how many deals, those without a value included; 2 or more.
        tail: 1 less the confidence.
    """
    sums, squares = np.zeros(count), np.zeros(count)
    drawn = np.zeros((DRAWS, count), dtype=np.float32)
    generator = np.random.default_rng(_SEED)
    found, rows = np.unique(of_deal, return_inverse=True)
    for first in range(0, len(found), _DEALS_AT_A_TIME):
        size = min(_DEALS_AT_A_TIME, len(found) - first)
        part = slice(*np.searchsorted(rows, (first, first + size)))
        table = np.zeros((size, count + 1))
        np.add.at(table, (rows[part, np.newaxis] - first, cells[part]), values[part, np.newaxis])
        of_cells = table[:, :count]
        sums += of_cells.sum(axis=0)
        squares += (of_cells**2).sum(axis=0)
        signs = 1 - 2 * generator.integers(0, 2, (DRAWS, size), dtype=np.int8).astype(np.float32)
        drawn += signs @ of_cells.astype(np.float32)
    norms = np.sqrt(np.where(squares > 0, squares, 1.0))
    highest = np.append(np.abs(drawn / norms), np.abs(sums / norms)[np.newaxis], axis=0).max(axis=1, initial=0.0)
    # The signs as they are belong to the draws: that makes the test exact with finitely many of them.
    place = int(np.ceil((1 - tail) * (DRAWS + 1))) - 1
    bound = _studentised(float(np.sort(highest)[place]), deals)
    spread = np.sqrt(np.maximum(0.0, squares - sums**2 / deals) * deals / (deals - 1))
    return Sums(sums, bound * spread, bound)


def _studentised(normed: float, deals: int) -> float:
    """A sum over the root of its squares as the statistic of Student with the same order."""
    return normed * float(np.sqrt((deals - 1) / max(deals - normed**2, 1e-9)))
