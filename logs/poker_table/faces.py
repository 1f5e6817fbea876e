"""Faces of cards, and the template filters that the drawing of a table needs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from engine.cards import RANKS, SUITS
from logs.estimation.mean import chips_in_words, chips_text

SYMBOLS: Final = "♣♦♥♠"
_SUITS: Final = ("clubs", "diamonds", "hearts", "spades")
_RANK_WORDS: Final = (
    *("two", "three", "four", "five", "six", "seven", "eight"),
    *("nine", "ten", "jack", "queen", "king", "ace"),
)
# A card is a word of its own, so that "As" within a name stays.
_CARD: Final = re.compile(rf"(?<!\S)([{RANKS}])([{SUITS}])(?=,*(?:\s|$))")


class CardFace(NamedTuple):
    """Face of a card; symbol and suit are empty for a deck of one suit.

    Attributes:
        words: rank and suit for screen readers, such as ``ace of spades``.
        suit: name of the suit, which is also the class of its colour in style sheets.
    """

    rank: str
    symbol: str
    words: str
    suit: str


def card_face(card: str) -> CardFace:
    """Return the face of a card, given in the form of `Game.shown_cards`."""
    words = _RANK_WORDS[RANKS.index(card[0])]
    if len(card) == 1:
        return CardFace(card, "", words, "")
    suit = SUITS.index(card[1])
    return CardFace(card[0], SYMBOLS[suit], f"{words} of {_SUITS[suit]}", _SUITS[suit])


def with_symbols(text: str) -> str:
    """Replace the suits of cards in a sentence by symbols."""
    return _CARD.sub(_card_with_symbol, text)


def _card_with_symbol(match: re.Match[str]) -> str:
    rank, suit = match.groups()
    return f"{rank}{SYMBOLS[SUITS.index(suit)]}"


TABLE_FILTERS: Final[dict[str, Callable[..., Any]]] = {"card": card_face, "chips": chips_text, "whole": chips_in_words}
"""Filters of ``table.html.jinja``."""
