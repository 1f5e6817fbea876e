"""The 169 classes of two hole cards: pairs, suited and offsuit hands, suits told apart no further.

>>> name_of(parse_cards("KhAh")), name_of(parse_cards("2c7d"))
('AKs', '72o')
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine import CARD_TEXTS, Card

__all__ = ["CLASSES", "CLASS_OF", "name_of"]

_RANKS: Final = [CARD_TEXTS[4 * rank][0] for rank in range(13)]


def _class_names() -> list[str]:
    """The names row by row of the usual square: aces first, suited hands right of the pairs, offsuit ones left."""
    names = []
    for row in range(12, -1, -1):
        for column in range(12, -1, -1):
            high, low = _RANKS[max(row, column)], _RANKS[min(row, column)]
            names.append(high + low + ("" if row == column else "s" if row > column else "o"))
    return names


CLASSES: Final = tuple(_class_names())
"""The names of the classes, row by row of the square: index 13 * row + column, both from the ace down."""


def _class_of(one: int, other: int) -> int:
    high, low = max(one >> 2, other >> 2), min(one >> 2, other >> 2)
    is_suited = one & 3 == other & 3
    row, column = (high, low) if is_suited else (low, high)
    return 13 * (12 - row) + 12 - column


CLASS_OF: Final = [[_class_of(one, other) for other in range(52)] for one in range(52)]
"""The index of the class of two cards."""


def name_of(hole_cards: Sequence[Card]) -> str:
    """The class of two hole cards."""
    one, other = hole_cards
    return CLASSES[CLASS_OF[one][other]]
