"""What a bet means that the tree does not have: the sizes beside it, each with a chance.

Sizes are fractions of the pot, as it is after a call. Between two sizes of the tree a bet is read as the lower one with
the chance of the pseudo-harmonic mapping (Ganzfried & Sandholm 2013, "Action translation in extensive-form games with
large action spaces"): the mapping that keeps a bettor indifferent between a bluff and a give-up in a one-street game
with these two sizes, whatever they are. A bet below the smallest size lies between it and no bet at all, size 0; what
is above the largest is read as the largest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

__all__ = ["NO_BET", "lower_chance", "readings"]

NO_BET: Final = -1
"""In place of the number of a size: the bet is read as a call or a check."""


def lower_chance(size: float, lower: float, upper: float) -> float:
    """The chance that a size between two others is read as the lower one: (B - x)(1 + A) / ((B - A)(1 + x)).

    Args:
        size: x, from `lower` to `upper`.
        lower: A, at least 0.
        upper: B, above A; may be infinite.
    """
    if upper == float("inf"):
        return (1 + lower) / (1 + size)
    return (upper - size) * (1 + lower) / ((upper - lower) * (1 + size))


def readings(size: float, known: Sequence[float]) -> list[tuple[int, float]]:
    """What a bet is read as: numbers of known sizes, or `NO_BET`, with chances above 0 that sum to 1.

    Args:
        size: of the bet, above 0.
        known: the sizes of the tree, ascending and above 0; there may be none.
    """
    at = bisect_left(known, size)
    if at == len(known):
        return [(at - 1, 1.0)]  # With no size at all that is `NO_BET`.
    chance = lower_chance(size, known[at - 1] if at else 0.0, known[at])
    return [(number, found) for number, found in ((at - 1, chance), (at, 1 - chance)) if found > 0]
