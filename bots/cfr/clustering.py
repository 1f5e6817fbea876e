"""k-means clustering of vectors of bytes, in Euclidean distance.

k-means++ (Arthur & Vassilvitskii 2007) draws the first centres, Lloyd's steps move them. Points and centres are bytes
and all distances are integers, so every machine finds the same clusters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.kernels.jit import njit

Vectors = NDArray[np.uint8]
"""Shape (vectors, features)."""


def assign_clusters(points: Vectors, centres: Vectors) -> NDArray[np.uint16]:
    """Return the index of the centre nearest to each point, the lowest one if several are equally near."""
    nearest = np.empty(len(points), np.uint16)
    # Transposed, so that the inner loop of the kernel runs over adjacent memory.
    by_feature = np.ascontiguousarray(centres.T, np.int32)
    _find_nearest(points, by_feature, np.square(by_feature).sum(axis=0, dtype=np.int32), nearest)
    return nearest


@njit
def _find_nearest(
    points: Vectors, centres: NDArray[np.int32], squares: NDArray[np.int32], nearest: NDArray[np.uint16]
) -> None:
    """Write the index of the nearest centre of each point.

    Args:
        points: shape (points, features).
        centres: shape (features, centres).
        squares: squared norm of each centre, shape (centres,).
        nearest: output, shape (points,).
    """
    size = len(squares)
    distances = np.empty(size, np.int32)
    for number in range(len(points)):
        # |p - c|² = |p|² - 2 p·c + |c|². |p|² is the same for all centres and left out.
        for centre in range(size):
            distances[centre] = squares[centre]
        # Add -2 p·c, feature by feature.
        for feature in range(len(centres)):
            factor = np.int32(-2) * np.int32(points[number, feature])
            if factor:
                row = centres[feature]
                for centre in range(size):
                    distances[centre] += factor * row[centre]
        # Two passes instead of an argmin: the minimum alone is vectorised by the compiler.
        shortest = distances[0]
        for centre in range(size):
            shortest = min(shortest, distances[centre])
        index = 0
        while distances[index] != shortest:
            index += 1
        nearest[number] = index


def find_clusters(points: Vectors, count: int, seed: int, steps: int = 15) -> Vectors:
    """Return the centres of `count` clusters in ascending order, or fewer if there are fewer distinct points.

    Args:
        points: shape (points, features).
        seed: decides the draw of the first centres.
        steps: number of Lloyd's steps.
    """
    chance = np.random.Generator(np.random.PCG64(seed))
    values = points.astype(np.float32)
    squares = np.square(values).sum(axis=1)
    # Squared distance of each point from the nearest centre so far: the weight with which k-means++ draws it.
    distances = np.full(len(points), np.inf, np.float32)
    chosen = [int(chance.integers(len(points)))]
    while len(chosen) < count:
        last = values[chosen[-1]]
        # Exact in float32: sums of 16 products of bytes are integers below 2^24, also when doubled.
        np.minimum(distances, squares + np.square(last).sum() - 2 * (values @ last), out=distances)
        cumulative = distances.astype(np.int64).cumsum()
        if not cumulative[-1]:
            break
        chosen.append(int(np.searchsorted(cumulative, chance.integers(cumulative[-1]), "right")))
    centres = np.unique(points[chosen], axis=0)
    for _ in range(steps):
        nearest = assign_clusters(points, centres)
        counts = np.bincount(nearest, minlength=len(centres))
        by_feature = [np.bincount(nearest, column, len(centres)) for column in values.T]
        sums = np.stack(by_feature, axis=1).astype(np.int64)
        is_used = counts > 0
        used_counts = counts[is_used, None]
        # The mean, rounded half up in integers.
        moved = (2 * sums[is_used] + used_counts) // (2 * used_counts)
        centres = np.unique(moved.astype(np.uint8), axis=0)
    return centres
