"""What the work prints, in chips per hand; a chip is its dollar.

Genes stand as symbols, three to a row: 0, 1, ``v`` small, ``^`` large, ``~`` not converged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bots.kuhn.games import Variant

__all__ = [
    "BEST",
    "COEVOLVED",
    "COEVOLVED_GENES",
    "COEVOLVED_SYMBOLS",
    "GENES",
    "MIXED",
    "MIXED_GENES",
    "ROULETTE",
    "SELECTION",
    "UP_TO",
    "WON",
]

BEST: Final[Mapping[Variant, Mapping[tuple[str, int], float]]] = {
    Variant.CLASSIC: {
        ("shy", 1): 0.34,
        ("shy", 2): 0.34,
        ("safe", 1): 0.34,
        ("safe", 2): 0.47,
        ("rational", 1): 0.23,
        ("rational", 2): 0.32,
        ("bluffer", 1): 0.33,
        ("bluffer", 2): 0.35,
        ("folder", 1): 1.0,
        ("caller", 1): 0.59,
    },
    Variant.BREADTH: {
        ("shy", 1): 0.33,
        ("shy", 2): 0.33,
        ("safe", 1): 0.33,
        ("safe", 2): 0.46,
        ("rational", 1): 1.24,
        ("rational", 2): 0.47,
        ("bluffer", 1): 2.06,
        ("bluffer", 2): 1.89,
    },
    Variant.DEPTH: {
        ("shy", 1): 0.32,
        ("shy", 2): 0.32,
        ("safe", 1): 0.34,
        ("safe", 2): 0.46,
        ("rational", 1): 0.28,
        ("rational", 2): 0.4,
        ("bluffer", 1): 0.46,
        ("bluffer", 2): 0.63,
    },
    Variant.BOTH: {
        ("shy", 1): 0.33,
        ("shy", 2): 0.33,
        ("safe", 1): 0.33,
        ("safe", 2): 0.44,
        ("rational", 1): 0.57,
        ("rational", 2): 0.59,
        ("bluffer", 1): 2.82,
        ("bluffer", 2): 3.82,
    },
}
"""The "fittest strategy across all generations", by model and seat. Of the game with sizes and a raise the work says
"average winnings"; they are figures of the same kind."""
GENES: Final[Mapping[Variant, Mapping[tuple[str, int], str]]] = {
    Variant.CLASSIC: {
        ("shy", 1): "10~ ~~~",
        ("shy", 2): "10~ ~~~",
        ("safe", 1): "10~ ~0~",
        ("safe", 2): "1~~ 00~",
        ("rational", 1): "001 001",
        ("rational", 2): "1~1 001",
        ("bluffer", 1): "000 011",
        ("bluffer", 2): "v~1 011",
        ("folder", 1): "11~ ~~~",
        ("caller", 1): "011 011",
    },
    Variant.BREADTH: {
        ("shy", 1): "10~ 0v~ 0v~ ~~~ ~~~ ~~~",
        ("shy", 2): "10v 0v^ 00~ ~~~ ^~~ v~~",
        ("safe", 1): "10~ 0v~ 0v~ ~~~ v~~ v0~",
        ("safe", 2): "1~^ v~~ ~~~ ~v~ ~0^ 0~v",
        ("rational", 1): "001 001 ~~1 0~~ 0~~ 00~",
        ("rational", 2): "~~~ ~~~ ~~~ 0v1 001 ~~~",
        ("bluffer", 1): "000 00~ ~~~ ~11 011 001",
        ("bluffer", 2): "~~~ ~~~ ~~~ ~11 001 ~~~",
    },
    Variant.DEPTH: {
        ("shy", 1): "10~ ~~~ ~~~ ~~~",
        ("shy", 2): "10~ ~~~ ~~~ ~~~",
        ("safe", 1): "10~ v0~ ~~~ 0v~",
        ("safe", 2): "1~~ 00~ vv~ ~~~",
        ("rational", 1): "001 001 ~~^ v~1",
        ("rational", 2): "1~1 001 vv1 0~1",
        ("bluffer", 1): "001 011 ~0~ v^1",
        ("bluffer", 2): "v11 011 ~01 v11",
    },
    Variant.BOTH: {
        ("shy", 1): "10~ 0v~ 0v~ ~~~ ~~~ ~~~ ~~~ ~~~ ~~~ ~~~ ~~~ ~~~",
        ("shy", 2): "10~ 0v~ 0v~ ~~~ ~~~ ~~~ ~~~ ~~~ ~~~ ~~~ ~~~ ~~~",
        ("safe", 1): "10v 0v~ 00~ ~v~ ~~~ 00~ ~~v ^~v v~^ 0~~ ~v~ v~~",
        ("safe", 2): "1v~ ^~^ ~~~ v~~ ~~~ 00~ ~0~ ~~~ ~~~ ~0~ ~~~ v~~",
        ("rational", 1): "000 0v0 000 0~1 0~1 00~ ~~1 1~1 ~0~ 0~1 0~1 ~~~",
        ("rational", 2): "~~~ ~~~ ~~~ 0~1 0~1 00~ ~~~ 1~1 ~~~ ~~~ ~~~ ~~~",
        ("bluffer", 1): "101 001 vv1 ~~~ ~~~ v0~ ~~~ ~~~ ~~~ 0~~ ~~~ ~~1",
        ("bluffer", 2): "111 011 v11 ~~~ ~~~ 00~ ~~~ ~~~ ~~~ ~~~ ~~~ ~~1",
    },
}
"""What strategies converged to, by model and seat. The tables for the Bluffer of the game with sizes and a raise have
13 rows, one of three ``~`` too many in the middle; it is left out."""
SELECTION: Final = 0.08
"""Average fitness against Rational after 100 generations, with tournaments and with ranks."""
ROULETTE: Final = 0.02
"""The same with a roulette wheel after 500."""
COEVOLVED: Final = -0.055
"""The first player's average fitness in co-evolution."""
MIXED: Final = -0.015
"""The same where it plays against Rational, too."""
COEVOLVED_GENES: Final[Mapping[int, tuple[float, ...]]] = {
    1: (0.1, 0.0, 0.43, 0.01, 0.56, 1.0),
    2: (0.44, 0.0, 1.0, 0.0027, 0.24, 1.0),
}
"""The fittest in the later generations, by seat."""
MIXED_GENES: Final = (0.00046, 0.0, 0.063, 0.0, 0.49, 1.0)
WON: Final[Mapping[str, tuple[float, float, float]]] = {
    "shy": (0.02, 0.07, 0.015),
    "safe": (-0.07, 0.10, -0.02),
    "rational": (-0.02, 0.10, 0.03),
    "bluffer": (0.03, 0.08, 0.03),
}
"""What those win from the models, "on average": the co-evolved first and second player, the mixed first player."""
UP_TO: Final[Mapping[str, tuple[float, float, float]]] = {
    "shy": (0.14, 0.22, 0.15),
    "safe": (0.07, 0.25, 0.12),
    "rational": (0.14, 0.28, 0.20),
    "bluffer": (0.20, 0.26, 0.23),
}
"""The same, "up to"."""
COEVOLVED_SYMBOLS: Final[Mapping[tuple[Variant, int], str]] = {
    (Variant.BREADTH, 1): "00~ ~0v 0~1 0^1 0~1 001",
    (Variant.BREADTH, 2): "^01 000 0~~ 0~1 001 ~v~",
    (Variant.DEPTH, 1): "~0^ 0~1 ~01 0v1",
    (Variant.DEPTH, 2): "~01 0~1 v01 0~1",
    (Variant.BOTH, 1): "v0^ v0^ 000 010 001 001 ~0~ ~01 v~^ 0v1 0~1 0~1",
    (Variant.BOTH, 2): "v0^ v0^ 000 0~0 001 001 ~~~ ~01 v~^ 011 0~1 v~1",
}
"""What co-evolution converged to in the larger games, by seat."""
