"""SplitMix64, the generator of all random numbers except the cards of a match.

A counter grows by a fixed odd step, and each of its values is mixed (Steele, Lea & Flood 2014, "Fast splittable
pseudorandom number generators"). The numbers are the same on every machine. A stream can start anywhere, so random
decisions in a hand can depend on the seed and the hand number alone.
"""

from __future__ import annotations

from typing import Final

MASK_64: Final = (1 << 64) - 1
STEP: Final = 0x9E3779B97F4A7C15
"""Fraction of the golden ratio in 64 bits."""

SHIFTS: Final = (30, 27, 31)
FACTORS: Final = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""Constants of `mixed`, for implementations on arrays."""


def mixed(word: int) -> int:
    """Mix 64 bits one to one, so that each bit of the result depends on all of them."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK_64
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK_64
    return word ^ word >> 31
