"""Clusters of vectors of whole numbers, by k-means in Euclidean distance.

The first centres are drawn by k-means++ (Arthur & Vassilvitskii 2007), then Lloyd's steps move them. Coordinates are
bytes, centres included, and all distances whole numbers, so the clusters are the same on every machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.kernels.jit import njit

Vectors = NDArray[np.uint8]
"""Shape (vectors, features)."""


def nearest(points: Vectors, centres: Vectors) -> NDArray[np.uint16]:
    """The number of the nearest centre of each point, the first one of several."""
    found = np.empty(len(points), np.uint16)
    by_feature = np.ascontiguousarray(centres.T, np.int32)
    _nearest(points, by_feature, np.square(by_feature).sum(axis=0, dtype=np.int32), found)
    return found


@njit
def _nearest(
    points: Vectors, centres: NDArray[np.int32], squares: NDArray[np.int32], found: NDArray[np.uint16]
) -> None:
    """Write the nearest centre of each point; shape of the centres (features, centres)."""
    size = len(squares)
    apart = np.empty(size, np.int32)
    for number in range(len(points)):
        # The square of the point itself is the same for all centres, so it is left out.
        for at in range(size):
            apart[at] = squares[at]
        for feature in range(len(centres)):
            factor = np.int32(-2) * np.int32(points[number, feature])
            if factor:
                row = centres[feature]
                for at in range(size):
                    apart[at] += factor * row[at]
        least = apart[0]
        for at in range(size):
            least = min(least, apart[at])
        nearest_at = 0
        while apart[nearest_at] != least:
            nearest_at += 1
        found[number] = nearest_at


def clusters(points: Vectors, count: int, seed: int, steps: int = 15) -> Vectors:
    """The centres of so many clusters of points, in ascending order; fewer where there are fewer distinct points.

    Args:
        seed: of the first centres.
        steps: of Lloyd.
    """
    chance = np.random.Generator(np.random.PCG64(seed))
    values = points.astype(np.float32)
    squares = np.square(values).sum(axis=1)
    apart = np.full(len(points), np.inf, np.float32)
    chosen = [int(chance.integers(len(points)))]
    while len(chosen) < count:
        last = values[chosen[-1]]
        np.minimum(apart, squares + np.square(last).sum() - 2 * (values @ last), out=apart)
        up_to = apart.astype(np.int64).cumsum()
        if not up_to[-1]:
            break
        chosen.append(int(np.searchsorted(up_to, chance.integers(up_to[-1]), "right")))
    centres = np.unique(points[chosen], axis=0)
    for _ in range(steps):
        found = nearest(points, centres)
        counts = np.bincount(found, minlength=len(centres))
        sums = np.stack([np.bincount(found, column, len(centres)) for column in values.T], axis=1).astype(np.int64)
        is_used = counts > 0
        moved = (2 * sums[is_used] + counts[is_used, None]) // (2 * counts[is_used, None])
        centres = np.unique(moved.astype(np.uint8), axis=0)
    return centres
