"""A table as a value, for pages and terminals alike: everything in it is text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ABSENT: Final = "-"
"""Shown where a figure makes no sense."""

_SENTENCE: Final = 4
"""Words that make a sentence; fewer that end in a digit are a figure with its name."""


@dataclass(frozen=True, slots=True)
class TableView:
    """A table.

    Attributes:
        title: above it.
        columns: the heads, each with a sentence that explains it; empty where none is needed.
        rows: texts; the first column is a name, the others are figures.
        note: a sentence below it.
        is_open: whether its rows are shown without a click.
        is_grouped: whether rows with the same first cell belong together.
        meanings: a sentence for each row, where the rows need it more than the columns.
    """

    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    is_open: bool = True
    is_grouped: bool = False
    meanings: tuple[str, ...] = ()

    def is_words(self, column: int) -> bool:
        """Whether a column holds words rather than figures."""
        cells = [row[column] for row in self.rows if row[column] not in ("", ABSENT)]
        return column == 0 or (bool(cells) and all(map(_is_words, cells)))


def _is_words(cell: str) -> bool:
    """Whether a cell is a word or a sentence, which may end in a figure."""
    return cell[0].isalpha() and (not cell[-1].isdigit() or len(cell.split()) >= _SENTENCE)
