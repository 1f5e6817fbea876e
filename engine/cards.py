"""Cards as small integers, and the 169 starting hands of hold'em.

A card is ``rank * 4 + suit`` with the ranks 2..A as 0..12 and the suits c d h s as 0..3. The reference dealer uses the
same numbers.

A starting hand is a pair, or two ranks suited or offsuit. Its number is ``13 * row + column`` in the usual square with
deuces first, where the row is the higher rank of a suited hand and the lower rank of an offsuit hand. So ``22`` is 0
and ``AA`` is 168. All tables of this project are indexed by these numbers.

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
_CARD_BY_TEXT = {text: card for card, text in enumerate(CARD_TEXTS)}


def rank_of(card: Card) -> int:
    """Return the rank of a card, 0 (deuce) to 12 (ace)."""
    return card >> 2


def suit_of(card: Card) -> int:
    """Return the suit of a card: 0 clubs, 1 diamonds, 2 hearts, 3 spades."""
    return card & 3


def format_cards(cards: Iterable[Card]) -> str:
    """Return the texts of cards joined, as in ``AhKs``."""
    return "".join([CARD_TEXTS[card] for card in cards])


def parse_cards(text: str) -> tuple[Card, ...]:
    """Read cards from a text such as ``AhKs``.

    Raises:
        CardError: two characters of the text are not a card.
    """
    if len(text) % 2:
        raise CardError(
            f"{quoted(text)} is not a run of cards: write each as a rank of {RANKS} and a suit of {SUITS}, such as AhTd"
        )
    try:
        return tuple([_CARD_BY_TEXT[text[i : i + 2]] for i in range(0, len(text), 2)])
    except KeyError as error:
        raise CardError(
            f"{error.args[0]!r} in {quoted(text)} is not a card: write a rank of {RANKS} and a suit of {SUITS}"
        ) from None


def _name(number: int) -> str:
    row, column = divmod(number, 13)
    ranks = RANKS[max(row, column)] + RANKS[min(row, column)]
    if row == column:
        return ranks
    if row > column:
        return f"{ranks}s"
    return f"{ranks}o"


STARTING_HANDS: Final = tuple([_name(number) for number in range(169)])
"""Names by number: the ranks from high to low, then ``s`` for suited or ``o`` for offsuit."""


def starting_hand(hole_cards: Sequence[Card]) -> int:
    """Return the number of the starting hand of two hole cards."""
    first, second = hole_cards
    low, high = sorted((first >> 2, second >> 2))
    if first & 3 == second & 3:
        return 13 * high + low
    return 13 * low + high


@cache
def starting_hand_table() -> tuple[tuple[int, ...], ...]:
    """Return the starting hands of all pairs of cards, indexed by both cards."""
    rows = []
    for first in range(52):
        rows.append(tuple([starting_hand((first, second)) for second in range(52)]))
    return tuple(rows)


def starting_hand_name(hole_cards: Sequence[Card]) -> str:
    """Return the name of the starting hand of two hole cards, such as ``AKs``."""
    return STARTING_HANDS[starting_hand(hole_cards)]


def cards_of(number: int) -> tuple[Card, Card]:
    """Return one holding of a starting hand, the higher rank first."""
    row, column = divmod(number, 13)
    if row > column:
        return (4 * row, 4 * column)
    return (4 * column, 4 * row + 1)


def holdings_of(number: int) -> tuple[tuple[Card, Card], ...]:
    """Return all holdings of a starting hand, each with the lower card first."""
    low, high = sorted(divmod(number, 13))
    holdings = []
    for low_suit in range(4):
        for high_suit in range(4):
            holding = (4 * low + low_suit, 4 * high + high_suit)
            # Both orders of the cards of a pair occur.
            if holding[0] < holding[1] and starting_hand(holding) == number:
                holdings.append(holding)
    return tuple(holdings)
