"""Cards as small integers, and the 169 starting hands of hold'em.

A card is ``rank * 4 + suit``: ranks 2..A are 0..12, suits c d h s are 0..3. This is the numbering of the ACPC reference
(its generator deals these numbers), and the one every table of this package is indexed by.

The starting hands are pairs and two ranks suited or offsuit, numbered as ``13 * row + column`` of the usual square,
deuces first: the row is the higher rank of a suited hand, the lower rank of an offsuit one. So ``22`` is 0 and ``AA``
is 168. Every table of this project is indexed by these numbers.

>>> starting_hand_name(parse_cards("KhAh")), starting_hand_name(parse_cards("2c7d"))
('AKs', '72o')
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, TypeAlias

from engine.errors import CardError, quoted

Card: TypeAlias = int
RANKS = "23456789TJQKA"
SUITS = "cdhs"
CARD_TEXTS: tuple[str, ...] = tuple(rank + suit for rank in RANKS for suit in SUITS)
_CARD_OF_TEXT = {text: card for card, text in enumerate(CARD_TEXTS)}


def rank_of(card: Card) -> int:
    """The card's rank, 0 (deuce) to 12 (ace)."""
    return card >> 2


def suit_of(card: Card) -> int:
    """The card's suit: 0 clubs, 1 diamonds, 2 hearts, 3 spades."""
    return card & 3


def format_cards(cards: Iterable[Card]) -> str:
    """Write cards one after the other, ``AhKs``, in the order given."""
    return "".join([CARD_TEXTS[card] for card in cards])


def parse_cards(text: str) -> tuple[Card, ...]:
    """Read cards written one after the other, ``AhKs``.

    Raises:
        CardError: a pair of characters is not a card; the message names it.
    """
    if len(text) % 2:
        raise CardError(
            f"{quoted(text)} is not a run of cards: write each as a rank of {RANKS} and a suit of {SUITS}, such as AhTd"
        )
    try:
        return tuple([_CARD_OF_TEXT[text[i : i + 2]] for i in range(0, len(text), 2)])
    except KeyError as error:
        raise CardError(
            f"{error.args[0]!r} in {quoted(text)} is not a card: write a rank of {RANKS} and a suit of {SUITS}"
        ) from None


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
    if one & 3 == other & 3:
        return 13 * high + low
    return 13 * low + high


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
    if row > column:
        return (4 * row, 4 * column)
    return (4 * column, 4 * row + 1)


def holdings_of(number: int) -> tuple[tuple[Card, Card], ...]:
    """All holdings of a starting hand, lower card first."""
    one, other = sorted(divmod(number, 13))
    cards = [(4 * one + suit, 4 * other + second) for suit in range(4) for second in range(4)]
    return tuple([hole for hole in cards if hole[0] < hole[1] and starting_hand(hole) == number])
