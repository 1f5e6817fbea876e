"""Tables, particulars and grids of starting hands as lines of text, fitted to the width of a window.

A table is always rows below a head. Where it is too wide, columns are left out, the most dispensable first; where even
the essential ones do not fit, their names and heads end in an ellipsis. A number is never shortened. Lines of a
conversation are cut around what is marked in them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from engine.cards import RANKS
from engine.text import count_of
from logs.document.values import (
    CODE,
    NAME,
    TEXT,
    Column,
    HandGrid,
    Marked,
    Particulars,
    Replay,
    Shares,
    Table,
    Tone,
    text_of,
    tone_of,
)

_WITHIN_FIGURES: Final = re.compile(r"(?<=\d) (?=±|%|mbb/g|[µm]?s\b)|(?<=±) | (?=0\.\d)")
_MARGIN: Final = 2
_GAP: Final = 2
"""Characters between two columns."""
_LEAST_TEXT: Final = 24
"""The least width of a column of sentences,"""
_LEAST_NAME: Final = 8
"""and of names."""
_NAMES: Final = 12
"""The column with the names of particulars,"""
_LEAST_ROOM: Final = 20
"""the least width of the column with their values,"""
_MOST_WIDTH: Final = 100
"""and the most of both: longer lines are hard to read."""
_CUT: Final = "..."
STYLES: Final = {
    None: "bold",
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
    for number, (row, cells) in enumerate(zip(table.rows, texts, strict=True)):
        painted = []
        for at, column, room in zip(kept, columns, widths, strict=True):
            parts = wrapped(cells[at], room) if column.format == TEXT else [cells[at]]
            tone = tone_of(row[at], table.format_of(number, column))
            found = [paint(_shortened(part, room, ellipsis)) for part in parts]
            for text in found:
                text.stylize("" if tone is None else STYLES[tone])
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
        line = Text()
        missing = _MARGIN
        for column, texts, width in zip(columns, cells, widths, strict=True):
            text = texts[number] if number < len(texts) else Text()
            blank = width - text.cell_len
            line.append(" " * (missing + blank * (not column.is_words)))
            line.append_text(text)
            missing = _GAP + blank * column.is_words
        line.rstrip()
        lines.append(line)
    return lines


def particulars_lines(part: Particulars, width: int | None) -> list[Text]:
    """The names and values of particulars, none of them wider than `width`."""
    room = max(_LEAST_ROOM, min(width or _MOST_WIDTH, _MOST_WIDTH) - _NAMES - 1)
    marked = [fact.value for fact in part.facts if isinstance(fact.value, Marked)]
    # A mark may stand behind the last character.
    longest = max(
        [*(len(fact.text) for fact in part.facts if fact.format == CODE), *(one.at + 1 for one in marked)], default=0
    )
    # Most of the room is for what comes before the mark, which two lines are compared by.
    start = max([one.at - room * 2 // 3 for one in marked], default=0) if longest > room else 0
    lines = []
    for fact in part.facts:
        if fact.format != CODE:
            several = fact.value if isinstance(fact.value, tuple) else (fact.value,)
            wholes = [text_of(one, fact.format) for one in several]
            texts = [text for whole in wholes for text in textwrap.wrap(whole, room, break_on_hyphens=False) or [""]]
        else:
            texts = [_cut(fact.text, start, room)]
            if isinstance(fact.value, Marked):
                texts.append(_mark(fact.value, start, room))
        for at, text in enumerate(texts):
            lines.append(Text.assemble((f"{'' if at else fact.name:>{_NAMES}}", "dim"), " ", text))
    return lines


def _cut(text: str, start: int, room: int) -> str:
    """The part of a text that begins at `start`, unless there is none, and fits."""
    begun = _CUT + text[start:] if 0 < start < len(text) else text
    if len(begun) <= room:
        return begun
    return begun[: room - len(_CUT)] + _CUT


def _mark(line: Marked, start: int, room: int) -> str:
    column = line.at if start <= 0 else line.at - start + len(_CUT)
    if column + len(line.label) + 2 <= room:
        return f"{' ' * column}^ {line.label}"
    return f"{line.label} ^".rjust(column + 1)


def replay_lines(part: Replay, width: int | None) -> list[Text]:
    """A hand step by step: the players with their cards and results, then what happened, none wider than `width`."""
    # Here, as few commands show hands, and reading them takes a tenth of a second to load.
    from logs.hand_view import views_of

    views = views_of(part.record)
    seats = views[-1].seats
    longest = max(len(seat.name) for seat in seats)
    lines = [
        (2, f"{seat.place:<4} {seat.name:<{longest}}  {' '.join(seat.cards) or '?':<5}  {seat.value:+,.10g}")
        for seat in seats
    ]
    for view in views:
        lines.append((2, f"{view.words} (pot {view.pot:,})") if view.begins_round else (4, view.words))
        lines += [(6, f"{name}: {text}") for name, text in view.comments]
    return [
        Text(" " * indent + line)
        for indent, text in lines
        for line in ([text] if width is None else wrapped(text, max(_LEAST_ROOM, width - indent)))
    ]


def grid_lines(grid: HandGrid, width: int | None, colours: str | None) -> list[Text]:
    """A square as wide as it needs to be; where the window is too narrow for the actions, their first letters.

    Args:
        colours: as of `rich.console.Console.color_system`.
    """
    words = [[grid.word(one) for _, one in row] for row in grid.rows]
    cell = 1 + max(len(word) for row in words for word in row)
    if width is not None and 2 + 13 * cell > width:
        words = [[word[0] + "*" * word.endswith("*") for word in row] for row in words]
        cell = 2
    ranks = RANKS[::-1]
    lines = [Text("  " + "".join(rank.ljust(cell) for rank in ranks).rstrip(), "dim")]
    for rank, row, texts in zip(ranks, grid.rows, words, strict=True):
        line = Text(f"{rank} ", "dim")
        for (_, hand), text in zip(row, texts, strict=True):
            line.append(text.ljust(cell), _ground(grid, hand, colours))
        if colours is None:
            line.rstrip()
        lines.append(line)
    return lines


def _ground(grid: HandGrid, hand: Shares, colours: str | None) -> Style:
    """The mean of the colours of the actions, by their shares; of few colours that of the likeliest."""
    if colours is None:
        return Style(dim=False)
    shares = {next(iter(hand)): 1.0} if colours in ("standard", "windows") else hand
    mean = [round(sum(share * grid.colours[action][part] for action, share in shares.items())) for part in range(3)]
    return Style(dim=False, color="black", bgcolor=f"rgb({','.join(map(str, mean))})")


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
