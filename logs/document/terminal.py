"""Tables as lines of text, fitted to the width of a window.

A table is always rows below a head. Where it is too wide, columns are left out, the most dispensable first; where even
the essential ones do not fit, their names and heads end in an ellipsis. A number is never shortened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from engine.text import count_of
from logs.document.values import NAME, TEXT, Column, Table, Tone, tone_of

_WITHIN_FIGURES: Final = re.compile(r"(?<=\d) (?=±|%|mbb/g|[µm]?s\b)|(?<=±) | (?=0\.\d)")
_MARGIN: Final = 2
_GAP: Final = 2
"""Characters between two columns."""
_LEAST_TEXT: Final = 24
"""The least width of a column of sentences,"""
_LEAST_NAME: Final = 8
"""and of names."""
_STYLES: Final = {
    Tone.GOOD: "bold green",
    Tone.DOUBTFUL: "bold yellow",
    Tone.BAD: "red",
    Tone.FAINT: "dim",
}


def table_lines(
    table: Table, width: int | None, *, is_ascii: bool = False, paint: Callable[[str], Text] = Text
) -> list[Text]:
    """The lines of a table below its title, none wider than `width`; without one all columns, as wide as needed.

    Args:
        is_ascii: whether the window can show nothing else.
        paint: makes a cell a coloured text.
    """
    ellipsis, stroke = ("~", "-") if is_ascii else ("…", "─")
    texts = table.texts
    kept, widths = _fitted(table.columns, texts, width)
    columns = [table.columns[at] for at in kept]
    titles = [[Text(_shortened(one.heading, room, ellipsis))] for one, room in zip(columns, widths, strict=True)]
    (head,) = _row_lines(columns, titles, widths)
    head.stylize("bold")
    lines = [head, Text(" " * _MARGIN + stroke * (sum(widths) + _GAP * (len(widths) - 1)))]
    for row, cells in zip(table.rows, texts, strict=True):
        painted = []
        for at, column, room in zip(kept, columns, widths, strict=True):
            parts = wrapped(cells[at], room) if column.format == TEXT else [cells[at]]
            tone = tone_of(row[at], column.format)
            found = [paint(_shortened(part, room, ellipsis)) for part in parts]
            for text in found:
                text.stylize("" if tone is None else _STYLES[tone])
            painted.append(found)
        lines += _row_lines(columns, painted, widths)
    left_out = len(table.columns) - len(kept)
    return [*lines, *([Text(f"  {count_of(left_out, 'more column')} in a wider window", "dim")] if left_out else [])]


def _fitted(
    columns: Sequence[Column], texts: Sequence[Sequence[str]], width: int | None
) -> tuple[list[int], list[int]]:
    """The columns that fit, and their widths."""
    kept = list(range(len(columns)))
    cells = [max((cell_len(row[at]) for row in texts), default=0) for at in kept]
    whole = [max(cell_len(column.heading), size) for column, size in zip(columns, cells, strict=True)]
    if width is None:
        return kept, whole
    tight = [
        min(size, _LEAST_TEXT) if column.format == TEXT else size for size, column in zip(whole, columns, strict=True)
    ]
    least = [
        min(size, _LEAST_NAME) if column.format in (TEXT, NAME) else max(1, cell)
        for column, size, cell in zip(columns, whole, cells, strict=True)
    ]

    def room(widths: Sequence[int]) -> int:
        return width - _MARGIN - _GAP * (len(kept) - 1) - sum(widths[at] for at in kept)

    for rank in sorted({column.rank for column in columns if column.rank}, reverse=True):
        if room(tight) >= 0:
            break
        kept = [at for at in kept if columns[at].rank != rank]
    # The first column names the rows.
    while room(least) < 0 and len(kept) > 1:
        kept.pop()
    widths = list(least if room(tight) < 0 else tight)
    for goals in (tight, whole):
        for _ in range(room(widths)):
            growing = [at for at in kept if widths[at] < goals[at]]
            if not growing:
                break
            widths[min(growing, key=widths.__getitem__)] += 1
    return kept, [widths[at] for at in kept]


def _row_lines(columns: Sequence[Column], cells: Sequence[Sequence[Text]], widths: Sequence[int]) -> list[Text]:
    """A row of cells of one or more lines."""
    lines = []
    for number in range(max(map(len, cells))):
        line, missing = Text(), _MARGIN
        for column, texts, width in zip(columns, cells, widths, strict=True):
            text = texts[number] if number < len(texts) else Text()
            blank = width - text.cell_len
            line.append(" " * (missing + blank * (not column.is_words)))
            line.append_text(text)
            missing = _GAP + blank * column.is_words
        line.rstrip()
        lines.append(line)
    return lines


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines that end between words; figures stay with their intervals and units, longer words whole."""
    lines: list[str] = []
    for word in _WITHIN_FIGURES.sub("\xa0", text).split(" "):
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return [line.replace("\xa0", " ") for line in lines]


def _shortened(text: str, width: int, ellipsis: str) -> str:
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - cell_len(ellipsis)).rstrip() + ellipsis
