"""SplitMix64, the generator behind everything random here except the cards.

Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators": a counter goes up by a fixed odd step, and
each of its values is mixed. It takes a few lines, gives the same numbers on every machine, and a stream can begin
anywhere: what is drawn in a hand can depend on the seed and the hand alone.
"""

from __future__ import annotations

from typing import Final

MASK_64: Final = (1 << 64) - 1
STEP: Final = 0x9E3779B97F4A7C15
"""The golden ratio's fraction in 64 bits."""

SHIFTS: Final = (30, 27, 31)
FACTORS: Final = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""What `mixed` shifts and multiplies by, for those who mix in another way."""


def mixed(word: int) -> int:
    """The mixing of 64 bits: one to one, and every bit depends on every bit."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK_64
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK_64
    return word ^ word >> 31
