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
from logs.page.table import ColumnKind, TableView, Tone

_WITHIN_FIGURES: Final = re.compile(r"(?<=\d) (?=±|%|mbb/g|[µm]?s\b)|(?<=±) | (?=0\.\d)")
_MARGIN: Final = 2
_GAP: Final = 2
"""Characters between two columns."""
_LEAST_TEXT: Final = 24
"""The least width of a column of sentences,"""
_LEAST_NAME: Final = 8
"""and of names."""
_STYLES: Final = {
    Tone.PLAIN: "",
    Tone.GOOD: "bold green",
    Tone.DOUBTFUL: "bold yellow",
    Tone.BAD: "red",
    Tone.FAINT: "dim",
}


def table_lines(
    view: TableView, width: int | None, *, is_ascii: bool = False, paint: Callable[[str], Text] = Text
) -> list[Text]:
    """The lines of a table below its title, none wider than `width`; without one all columns, as wide as needed.

    Args:
        is_ascii: whether the window can show nothing else.
        paint: makes a cell a coloured text.
    """
    ellipsis, stroke = ("~", "-") if is_ascii else ("…", "─")
    fitted, widths = _fitted(view, width)
    left_out = len(view.columns) - len(fitted.columns)
    size = sum(widths) + _GAP * (len(widths) - 1)
    titles = [[_shortened(column.title, room, ellipsis)] for column, room in zip(fitted.columns, widths, strict=True)]
    (head,) = _row_lines(fitted, titles, widths, Text)
    head.stylize("bold")
    tones = fitted.tones or [Tone.PLAIN] * len(fitted.rows)
    return [
        head,
        Text(" " * _MARGIN + stroke * size),
        *(
            line
            for row, tone in zip(fitted.rows, tones, strict=True)
            for line in _row_lines(fitted, _parts(fitted, row, widths, ellipsis), widths, paint, tone)
        ),
        *([Text(f"  {count_of(left_out, 'more column')} in a wider window", "dim")] if left_out else []),
    ]


def _fitted(view: TableView, width: int | None) -> tuple[TableView, list[int]]:
    """The table with the columns that fit, and their widths."""
    cells = [max((cell_len(row[at]) for row in view.rows), default=0) for at in range(len(view.columns))]
    whole = [max(cell_len(column.title), size) for column, size in zip(view.columns, cells, strict=True)]
    if width is None:
        return view, whole
    texts = [column.kind is ColumnKind.TEXT for column in view.columns]
    tight = [min(size, _LEAST_TEXT) if is_text else size for size, is_text in zip(whole, texts, strict=True)]
    least = [
        min(size, _LEAST_NAME) if column.kind in (ColumnKind.TEXT, ColumnKind.NAME) else max(1, cell)
        for column, size, cell in zip(view.columns, whole, cells, strict=True)
    ]
    kept = list(range(len(view.columns)))

    def room(widths: Sequence[int]) -> int:
        return width - _MARGIN - _GAP * (len(kept) - 1) - sum(widths[at] for at in kept)

    for rank in sorted({column.rank for column in view.columns if column.rank}, reverse=True):
        if room(tight) >= 0:
            break
        kept = [at for at in kept if view.columns[at].rank != rank]
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
    return view.with_columns(kept), [widths[at] for at in kept]


def _parts(view: TableView, row: Sequence[str], widths: Sequence[int], ellipsis: str) -> list[list[str]]:
    """The lines of each cell of a row."""
    found = []
    for column, cell, width in zip(view.columns, row, widths, strict=True):
        lines = wrapped(cell, width) if column.kind is ColumnKind.TEXT else [cell]
        found.append([_shortened(line, width, ellipsis) for line in lines])
    return found


def _row_lines(
    view: TableView,
    cells: Sequence[Sequence[str]],
    widths: Sequence[int],
    paint: Callable[[str], Text],
    tone: Tone = Tone.PLAIN,
) -> list[Text]:
    """A row of cells of one or more lines."""
    lines = []
    for number in range(max(map(len, cells))):
        line, missing = Text(), _MARGIN
        for column, texts, width in zip(view.columns, cells, widths, strict=True):
            text = texts[number] if number < len(texts) else ""
            blank = width - cell_len(text)
            line.append(" " * (missing + blank * column.is_right))
            painted = paint(text)
            if column.is_toned:
                painted.stylize(_STYLES[tone])
            line.append_text(painted)
            missing = _GAP + blank * (not column.is_right)
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
