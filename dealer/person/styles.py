"""How cards and lines are drawn: which characters the terminal can show, and in which colours.

Whether colours come out at all is up to the console (``NO_COLOR``, ``TERM=dumb``, a pipe); every text has the same
content without them. Where the encoding has no suits, cards are written as everywhere else here: ``As``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.text import Text

from engine.cards import SUITS
from logs.poker_table.faces import SYMBOLS

_OTHERS: Final = "─│┌┐└┘·…"
_TWO_COLOURS: Final = ("bold", "bold bright_red", "bold bright_red", "bold")
_FOUR_COLOURS: Final = ("bold green", "bold bright_blue", "bold bright_red", "bold")
_WIDTH_OF_PIPES: Final = 80
_NARROWEST, _WIDEST = 30, 120


@dataclass(frozen=True, slots=True)
class Styles:
    """What can be drawn.

    Attributes:
        width: characters in a line.
        is_ascii: whether the terminal can show nothing but ASCII.
        has_four_colours: whether every suit has a colour of its own; else hearts and diamonds are red.
    """

    width: int
    is_ascii: bool = False
    has_four_colours: bool = False

    @property
    def dot(self) -> str:
        """What stands between two remarks."""
        return "-" if self.is_ascii else "·"

    @property
    def line(self) -> str:
        """What a horizontal line is made of."""
        return "-" if self.is_ascii else "─"

    @property
    def ellipsis(self) -> str:
        """What stands for the rest of a text that is too long."""
        return "~" if self.is_ascii else "…"

    def card_text(self, card: str) -> str:
        """A card of `Game.shown_cards` with the symbol of its suit."""
        return card if self.is_ascii else card[0] + "".join(SYMBOLS[SUITS.index(suit)] for suit in card[1:])

    def cards_text(self, cards: Sequence[str]) -> str:
        """Cards in one line, without colours."""
        return " ".join(map(self.card_text, cards))

    def coloured(self, text: str) -> Text:
        """A line with the cards in it, as `card_text` writes them, in their colours."""
        if self.is_ascii:
            return Text(text.replace("±", "+/-").encode("ascii", "replace").decode())
        line = Text(text)
        for suit, symbol in enumerate(SYMBOLS):
            line.highlight_regex(f"[2-9TJQKA]{symbol}", self._colours[suit])
        return line

    def cards(self, cards: Sequence[str]) -> Text:
        """Cards in one line."""
        return Text(" ").join(map(self._card, cards))

    def boxes(self, cards: Sequence[str]) -> list[Text]:
        """Cards drawn side by side, in three lines."""
        top, down, bottom = ("+--+", "|", "+--+") if self.is_ascii else ("┌──┐", "│", "└──┘")
        middle = [Text.assemble(down, self._card(card), " " * (2 - len(card)), down) for card in cards]
        return [Text(top * len(cards)), Text("").join(middle), Text(bottom * len(cards))]

    def _card(self, card: str) -> Text:
        return Text(self.card_text(card), self._colours[SUITS.index(card[1])] if card[1:] else "bold")

    @property
    def _colours(self) -> Sequence[str]:
        """By suit."""
        return _FOUR_COLOURS if self.has_four_colours else _TWO_COLOURS

    def cut(self, text: str, width: int) -> str:
        """A text that is not longer than this."""
        return text if len(text) <= width else text[: max(0, width - 1)] + self.ellipsis


def styles_of(console: Console, *, has_four_colours: bool = False) -> Styles:
    """What a console can draw now: its window may have another size than a moment ago."""
    width = console.width if console.is_terminal else _WIDTH_OF_PIPES
    try:
        (SYMBOLS + _OTHERS).encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        is_ascii = True
    else:
        is_ascii = False
    return Styles(min(max(width, _NARROWEST), _WIDEST), is_ascii, has_four_colours)
