"""Intervals of many means that hold all together, from few deals and without an assumption about their spread.

If all players of a deal play alike, it could as well have been any of them about whom is asked: to exchange their names
changes nothing else. So for each deal a player is drawn, and in each draw the cell that stands out most is taken. What
95 % of the draws stay below is the bound of all cells at once: the one-step maximum statistic of Westfall & Young
(1993, "Resampling-Based Multiple Testing", chapter 2). Between two players a draw changes the sign of a deal or leaves
it, as in Romano & Wolf (2005, "Exact and approximate stepdown methods for multiple hypothesis testing"). Cells may
overlap: their dependence is in the draws.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

DRAWS: Final = 1999
"""Of players; the players as they are make one more."""

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
    sides: NDArray[np.int64] | None = None,
    players: int = 2,
    tail: float = 0.05,
) -> Sums:
    """The sums of cells of player 0 with simultaneous intervals.

    Args:
        values: shape (n,): what one player made beyond another one.
        cells: shape (n, k): the cells that each counts in, numbers below `count`, or `count` itself for none.
        of_deal: shape (n,), ascending: the deal of each; values of the same deal stay together.
        count: how many cells there are.
        deals: how many deals, those without a value included; 2 or more.
        sides: shape (n, 2): whose value it is, and who has the same with the other sign, -1 for nobody; the player who
            is asked about is 0. By default 0 and 1.
        players: how many play in each deal.
        tail: 1 less the confidence.
    """
    if sides is None:
        sides = np.tile((0, 1), (len(values), 1))
    sums, squares = np.zeros(count), np.zeros(count)
    drawn = np.zeros((DRAWS, count), dtype=np.float32)
    drawn_squares = np.zeros((DRAWS, count), dtype=np.float32)
    generator = np.random.default_rng(_SEED)
    found, rows = np.unique(of_deal, return_inverse=True)
    for first in range(0, len(found), _DEALS_AT_A_TIME):
        size = min(_DEALS_AT_A_TIME, len(found) - first)
        part = slice(*np.searchsorted(rows, (first, first + size)))
        tables = np.zeros((players, size, count + 1))
        for side, sign in enumerate((1.0, -1.0)):
            who = sides[part, side]
            has = who >= 0
            at = who[has, np.newaxis], (rows[part] - first)[has, np.newaxis], cells[part][has]
            np.add.at(tables, at, sign * values[part][has, np.newaxis])
        of_cells = tables[:, :, :count]
        sums += of_cells[0].sum(axis=0)
        squares += (of_cells[0] ** 2).sum(axis=0)
        roles = generator.integers(0, players, (DRAWS, size), dtype=np.int8)
        for role, table in enumerate(of_cells):
            is_drawn = (roles == role).astype(np.float32)
            drawn += is_drawn @ table.astype(np.float32)
            drawn_squares += is_drawn @ (table**2).astype(np.float32)
    highest = np.append(_normed(drawn, drawn_squares), _normed(sums[np.newaxis], squares[np.newaxis]))
    # The players as they are belong to the draws: that makes the test exact with finitely many of them.
    place = int(np.ceil((1 - tail) * (DRAWS + 1))) - 1
    bound = _studentised(float(np.sort(highest)[place]), deals)
    spread = np.sqrt(np.maximum(0.0, squares - sums**2 / deals) * deals / (deals - 1))
    return Sums(sums, bound * spread, bound)


def _normed(sums: NDArray[np.floating], squares: NDArray[np.floating]) -> NDArray[np.floating]:
    """By draw, the sum of a cell over the root of its squares where that is highest."""
    found: NDArray[np.floating] = np.abs(sums / np.sqrt(np.where(squares > 0, squares, 1.0))).max(axis=1, initial=0.0)
    return found


def _studentised(normed: float, deals: int) -> float:
    """A sum over the root of its squares as the statistic of Student with the same order."""
    return normed * float(np.sqrt((deals - 1) / max(deals - normed**2, 1e-9)))
