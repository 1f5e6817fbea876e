"""What holdings win where a hand ends, for all of them at once, compiled. The kernels validate nothing.

Holdings are in the order of their ranks. Sums by card take out what shares a card with a holding, so an end costs a
pass or two over the holdings and not one over all pairs (Johanson et al. 2012, section 4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bots.cfr.arrays import Vector
from engine.kernels.jit import njit

__all__ = ["added", "fold", "show_down"]


@njit
def added(
    ones: NDArray[np.uint8],
    others: NDArray[np.uint8],
    reach: Vector,
    start: int | np.int64,
    end: int | np.int64,
    by_card: Vector,
    total: np.float32,
) -> np.float32:
    """Add some holdings to a total, which is returned, and to the sums by card."""
    for at in range(start, end):
        total += reach[at]
        by_card[ones[at]] += reach[at]
        by_card[others[at]] += reach[at]
    return total


@njit
def fold(
    ones: NDArray[np.uint8],
    others: NDArray[np.uint8],
    reach: Vector,
    by_card: Vector,
    chips: np.float32,
    values: Vector,
) -> None:
    """Write what each holding wins where a player has folded; chips below 0 are lost."""
    by_card[:] = 0
    total = added(ones, others, reach, 0, len(reach), by_card, reach[0] - reach[0])
    for at in range(len(reach)):
        values[at] = chips * (total - by_card[ones[at]] - by_card[others[at]] + reach[at])


@njit
def show_down(
    ones: NDArray[np.uint8],
    others: NDArray[np.uint8],
    ties: NDArray[np.uint16],
    reach: Vector,
    by_card: Vector,
    chips: np.float32,
    values: Vector,
) -> None:
    """Write what each holding wins at a showdown."""
    by_card[:] = 0
    total = reach[0] - reach[0]
    for at in range(len(reach)):
        total -= reach[at]
        by_card[ones[at]] -= reach[at]
        by_card[others[at]] -= reach[at]
    start = np.int64(0)
    while start < len(reach):
        end = np.int64(ties[start])
        # From above to tied, and from tied to below.
        total = added(ones, others, reach, start, end, by_card, total)
        for at in range(start, end):
            values[at] = chips * (total - by_card[ones[at]] - by_card[others[at]])
        total = added(ones, others, reach, start, end, by_card, total)
        start = end
