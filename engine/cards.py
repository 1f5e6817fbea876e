"""Cards as small integers.

A card is ``rank * 4 + suit``: ranks 2..A are 0..12, suits c d h s are 0..3. This is the numbering of the ACPC reference
(its generator deals these numbers), and the one every table of this package is indexed by.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

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
        raise CardError(f"{quoted(text)} is not a run of two-character cards")
    try:
        return tuple([_CARD_OF_TEXT[text[i : i + 2]] for i in range(0, len(text), 2)])
    except KeyError as error:
        raise CardError(
            f"{error.args[0]!r} in {quoted(text)} is not a card: write a rank of {RANKS} and a suit of {SUITS}"
        ) from None
