"""The 169 starting hands of hold'em: pairs, and two ranks suited or offsuit.

They are numbered as ``13 * row + column`` of the usual square, deuces first: the row is the higher rank of a suited
hand, the lower rank of an offsuit one. So ``22`` is 0 and ``AA`` is 168. Every table of this project is indexed by
these numbers.

>>> from engine.cards import parse_cards
>>> starting_hand_name(parse_cards("KhAh")), starting_hand_name(parse_cards("2c7d"))
('AKs', '72o')
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from engine.cards import RANKS, Card


def _name(number: int) -> str:
    row, column = divmod(number, 13)
    ending = "" if row == column else "s" if row > column else "o"
    return RANKS[max(row, column)] + RANKS[min(row, column)] + ending


STARTING_HANDS: Final = tuple([_name(number) for number in range(169)])
"""The names by number: ranks from high to low, then ``s`` for suited and ``o`` for offsuit."""


def starting_hand(hole_cards: Sequence[Card]) -> int:
    """The number of two hole cards."""
    one, other = hole_cards
    low, high = sorted((one >> 2, other >> 2))
    return 13 * high + low if one & 3 == other & 3 else 13 * low + high


@cache
def starting_hand_table() -> tuple[tuple[int, ...], ...]:
    """The number of two cards, for loops: ``table[one][other]``."""
    return tuple([tuple([starting_hand((one, other)) for other in range(52)]) for one in range(52)])


def starting_hand_name(hole_cards: Sequence[Card]) -> str:
    """The name of two hole cards, such as ``AKs``."""
    return STARTING_HANDS[starting_hand(hole_cards)]


def cards_of(number: int) -> tuple[Card, Card]:
    """Two cards of a starting hand, the higher rank first."""
    row, column = divmod(number, 13)
    return (4 * row, 4 * column) if row > column else (4 * column, 4 * row + 1)


def holdings_of(number: int) -> tuple[tuple[Card, Card], ...]:
    """All holdings of a starting hand, lower card first."""
    one, other = sorted(divmod(number, 13))
    cards = [(4 * one + suit, 4 * other + second) for suit in range(4) for second in range(4)]
    return tuple([hole for hole in cards if hole[0] < hole[1] and starting_hand(hole) == number])
