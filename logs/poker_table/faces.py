"""Cards as pages show them, and the filters that the drawing of a table needs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from engine.cards import RANKS, SUITS
from logs.estimation.mean import chips_in_words, chips_text

SYMBOLS: Final = "♣♦♥♠"
_SUITS: Final = ("clubs", "diamonds", "hearts", "spades")
_RANK_WORDS: Final = [
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "jack",
    "queen",
    "king",
    "ace",
]


class CardFace(NamedTuple):
    """A card: its rank and the symbol of its suit, the same in words for screen readers, and the name of the suit.

    A card of a deck of one suit has none.
    """

    rank: str
    symbol: str
    words: str
    suit: str


def card_face(card: str) -> CardFace:
    """What a page shows of a card, which comes from `Game.shown_cards`."""
    words = _RANK_WORDS[RANKS.index(card[0])]
    if len(card) == 1:
        return CardFace(card, "", words, "")
    suit = SUITS.index(card[1])
    return CardFace(card[0], SYMBOLS[suit], f"{words} of {_SUITS[suit]}", _SUITS[suit])


_CARD: Final = re.compile(rf"(?<!\S)([{RANKS}])([{SUITS}])(?=,*(?:\s|$))")


def with_symbols(text: str) -> str:
    """A sentence of a view with the suits of its cards as symbols."""
    return _CARD.sub(lambda card: card[1] + SYMBOLS[SUITS.index(card[2])], text)


TABLE_FILTERS: Final[dict[str, Callable[..., Any]]] = {"card": card_face, "chips": chips_text, "whole": chips_in_words}
"""The filters that the template of the drawing needs."""
