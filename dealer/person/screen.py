"""Print lines of the window's width to a terminal, with coloured suits."""

from __future__ import annotations

import textwrap
from typing import Final

from rich.console import Console
from rich.text import Text

from logs.document import Table
from logs.document.terminal import table_lines
from logs.poker_table.faces import SYMBOLS, with_symbols

_PIPE_WIDTH: Final = 80
_MIN_WIDTH: Final = 36
_MAX_WIDTH: Final = 120
_TWO_COLOURS: Final = ("bold", "bold bright_red", "bold bright_red", "bold")
_FOUR_COLOURS: Final = ("bold green", "bold bright_blue", "bold bright_red", "bold")


class Screen:
    """Prints lines to a console, which decides about colours (``NO_COLOR``, ``TERM=dumb``, a pipe).

    If the encoding has no symbols for suits, cards are printed as ``As``.
    """

    def __init__(self, console: Console, *, has_four_colours: bool = False) -> None:
        self.console = console
        self._colours = _TWO_COLOURS
        if has_four_colours:
            self._colours = _FOUR_COLOURS

    @property
    def width(self) -> int:
        """Width of a line in characters."""
        if not self.console.is_terminal:
            return _PIPE_WIDTH
        return min(max(self.console.width, _MIN_WIDTH), _MAX_WIDTH)

    def say(self, text: str, indent: str = "", style: str = "") -> None:
        """Print sentences, wrapped between words."""
        for line in textwrap.wrap(text, self.width - len(indent), break_on_hyphens=False):
            painted = self.painted(indent + line)
            painted.stylize(style)
            self.draw(painted)

    def table(self, table: Table) -> None:
        is_ascii = self.console.options.ascii_only
        for line in table_lines(table, self.width, is_ascii=is_ascii, paint=self.painted):
            self.draw(line)

    def draw(self, line: Text) -> None:
        self.console.print(line, soft_wrap=True, highlight=False, markup=False)

    def painted(self, text: str) -> Text:
        """Colour the cards in a text."""
        if self.console.options.ascii_only:
            return Text(text.replace("±", "+/-").encode("ascii", "replace").decode())
        line = Text(with_symbols(text))
        for suit, symbol in enumerate(SYMBOLS):
            line.highlight_regex(f"[2-9TJQKA]{symbol}", self._colours[suit])
        return line
