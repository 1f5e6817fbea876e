"""Render tables, particulars and grids of starting hands as lines of text, fitted to the width of a window.

If a table is too wide, columns are left out, those of the highest rank first. If the essential columns do not fit
either, their names and headings end in an ellipsis. Figures are never shortened.
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

# Blanks within a figure, its interval and its unit, or before the share of an action.
_WITHIN_FIGURES: Final = re.compile(r"(?<=\d) (?=±|%|mbb/g|[µm]?s\b)|(?<=±) | (?=0\.\d)")
_MARGIN: Final = 2
_GAP: Final = 2
"""Characters between two columns of a table."""
_MIN_TEXT_WIDTH: Final = 24
"""Minimum width of a column of sentences."""
_MIN_NAME_WIDTH: Final = 8
"""Minimum width of a column of names."""
_NAMES_WIDTH: Final = 12
"""Width of the names of particulars."""
_MIN_VALUES_WIDTH: Final = 20
"""Minimum width of the values of particulars."""
_MAX_WIDTH: Final = 100
"""Maximum width of particulars; longer lines are hard to read."""
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
    """Return the lines of a table below its title.

    Args:
        width: maximum width of a line; None shows all columns, as wide as needed.
        is_ascii: the window can only show ASCII.
        paint: colours the text of a cell.
    """
    ellipsis = "~" if is_ascii else "…"
    stroke = "-" if is_ascii else "─"
    texts = table.texts
    kept, widths = _fitted(table.columns, texts, width)
    columns = [table.columns[index] for index in kept]
    headings: list[list[Text]] = []
    for column, column_width in zip(columns, widths, strict=True):
        headings.append([Text(_shortened(column.heading, column_width, ellipsis))])
    (head,) = _row_lines(columns, headings, widths)
    head.stylize("bold")
    lines = [head, Text(" " * _MARGIN + stroke * (sum(widths) + _GAP * (len(widths) - 1)))]
    for number, row in enumerate(table.rows):
        cells: list[list[Text]] = []
        for index, column, column_width in zip(kept, columns, widths, strict=True):
            cell_lines = [texts[number][index]]
            if column.format == TEXT:
                cell_lines = wrapped(cell_lines[0], column_width)
            tone = tone_of(row[index], table.format_of(number, column))
            style = "" if tone is None else STYLES[tone]
            painted = [paint(_shortened(line, column_width, ellipsis)) for line in cell_lines]
            for text in painted:
                text.stylize(style)
            cells.append(painted)
        lines += _row_lines(columns, cells, widths)
    hidden = len(table.columns) - len(kept)
    if hidden:
        lines.append(Text(f"  {count_of(hidden, 'more column')} in a wider window", "dim"))
    return lines


def _fitted(
    columns: Sequence[Column], texts: Sequence[Sequence[str]], width: int | None
) -> tuple[list[int], list[int]]:
    """Return the indices of the columns that fit, and their widths."""
    kept = list(range(len(columns)))
    full_widths: list[int] = []
    # Widths with sentences wrapped, and with names and headings shortened as well.
    wrapped_widths: list[int] = []
    min_widths: list[int] = []
    for index, column in enumerate(columns):
        cells_width = max((cell_len(row[index]) for row in texts), default=0)
        full_width = max(cell_len(column.heading), cells_width)
        full_widths.append(full_width)
        wrapped_widths.append(min(full_width, _MIN_TEXT_WIDTH) if column.format == TEXT else full_width)
        if column.format in (TEXT, NAME):
            min_widths.append(min(full_width, _MIN_NAME_WIDTH))
        else:
            min_widths.append(max(1, cells_width))
    if width is None:
        return kept, full_widths

    def room(widths: Sequence[int]) -> int:
        return width - _MARGIN - _GAP * (len(kept) - 1) - sum(widths[index] for index in kept)

    for rank in sorted({column.rank for column in columns if column.rank}, reverse=True):
        if room(wrapped_widths) >= 0:
            break
        kept = [index for index in kept if columns[index].rank != rank]
    # The first column names the rows.
    while room(min_widths) < 0 and len(kept) > 1:
        kept.pop()
    widths = list(wrapped_widths)
    if room(wrapped_widths) < 0:
        widths = list(min_widths)
    # Give the room that is left to the narrowest column that can use it, one character after the other.
    for goals in (wrapped_widths, full_widths):
        for _ in range(room(widths)):
            growing = [index for index in kept if widths[index] < goals[index]]
            if not growing:
                break
            narrowest = min(growing, key=widths.__getitem__)
            widths[narrowest] += 1
    return kept, [widths[index] for index in kept]


def _row_lines(columns: Sequence[Column], cells: Sequence[Sequence[Text]], widths: Sequence[int]) -> list[Text]:
    """Return the lines of a row, whose cells may have several."""
    lines: list[Text] = []
    for number in range(max(map(len, cells))):
        line = Text()
        # Blanks before the next cell. Those behind the last one are never written.
        blanks = _MARGIN
        for column, texts, width in zip(columns, cells, widths, strict=True):
            text = texts[number] if number < len(texts) else Text()
            padding = width - text.cell_len
            if column.is_words:
                line.append(" " * blanks)
                blanks = _GAP + padding
            else:
                line.append(" " * (blanks + padding))
                blanks = _GAP
            line.append_text(text)
        line.rstrip()
        lines.append(line)
    return lines


def particulars_lines(part: Particulars, width: int | None) -> list[Text]:
    """Return the names and values of particulars, in lines of at most `width`."""
    max_width = min(width or _MAX_WIDTH, _MAX_WIDTH)
    room = max(_MIN_VALUES_WIDTH, max_width - _NAMES_WIDTH - 1)
    start = _cut_start(part, room)
    lines: list[Text] = []
    for fact in part.facts:
        texts: list[str] = []
        if fact.format == CODE:
            texts.append(_cut(fact.text, start, room))
            if isinstance(fact.value, Marked):
                texts.append(_mark(fact.value, start, room))
        else:
            values = fact.value if isinstance(fact.value, tuple) else (fact.value,)
            for value in values:
                text = text_of(value, fact.format)
                texts += textwrap.wrap(text, room, break_on_hyphens=False) or [""]
        name = fact.name
        for text in texts:
            lines.append(Text.assemble((f"{name:>{_NAMES_WIDTH}}", "dim"), " ", text))
            name = ""
    return lines


def _cut_start(part: Particulars, room: int) -> int:
    """Return the index at which all lines of a conversation begin, so that marked characters are shown."""
    longest = 0
    start = 0
    for fact in part.facts:
        if fact.format == CODE:
            longest = max(longest, len(fact.text))
        if isinstance(fact.value, Marked):
            # A mark may be behind the last character.
            longest = max(longest, fact.value.column + 1)
            # Most of the room is for the text before the mark, by which two lines are compared.
            start = max(start, fact.value.column - room * 2 // 3)
    if longest <= room:
        return 0
    return start


def _cut(text: str, start: int, room: int) -> str:
    """Return the part of a text from `start` on that fits; all of it if nothing would be left."""
    if 0 < start < len(text):
        text = _CUT + text[start:]
    if len(text) <= room:
        return text
    return text[: room - len(_CUT)] + _CUT


def _mark(line: Marked, start: int, room: int) -> str:
    column = line.column
    if start > 0:
        column += len(_CUT) - start
    if column + len(line.label) + 2 <= room:
        return f"{' ' * column}^ {line.label}"
    return f"{line.label} ^".rjust(column + 1)


def replay_lines(part: Replay, width: int | None) -> list[Text]:
    """Return the players of a hand with their cards and results, and its steps, in lines of at most `width`."""
    # Imported here, as few commands show hands and the reader of hands takes a tenth of a second to load.
    from logs.hand_view import views_of

    views = views_of(part.record)
    seats = views[-1].seats
    longest = max(len(seat.name) for seat in seats)
    # Indents and texts.
    paragraphs: list[tuple[int, str]] = []
    for seat in seats:
        cards = " ".join(seat.cards) or "?"
        paragraphs.append((2, f"{seat.place:<4} {seat.name:<{longest}}  {cards:<5}  {seat.value:+,.10g}"))
    for view in views:
        if view.begins_round:
            paragraphs.append((2, f"{view.words} (pot {view.pot:,})"))
        else:
            paragraphs.append((4, view.words))
        for name, comment in view.comments:
            paragraphs.append((6, f"{name}: {comment}"))
    lines: list[Text] = []
    for indent, text in paragraphs:
        texts = [text]
        if width is not None:
            texts = wrapped(text, max(_MIN_VALUES_WIDTH, width - indent))
        lines += [Text(" " * indent + line) for line in texts]
    return lines


def grid_lines(grid: HandGrid, width: int | None, colours: str | None) -> list[Text]:
    """Return a square of the likeliest actions, or of their first letters if the window is too narrow.

    Args:
        colours: colours of the terminal, as `rich.console.Console.color_system` names them; None for no colours.
    """
    rows: list[list[str]] = []
    for row in grid.rows:
        rows.append([grid.word(hand) for _, hand in row])
    cell_width = 1 + max(len(word) for row in rows for word in row)
    if width is not None and 2 + 13 * cell_width > width:
        rows = [[_initial(word) for word in row] for row in rows]
        cell_width = 2
    ranks = RANKS[::-1]
    heading = "".join(rank.ljust(cell_width) for rank in ranks)
    lines = [Text(f"  {heading.rstrip()}", "dim")]
    for rank, row, words in zip(ranks, grid.rows, rows, strict=True):
        line = Text(f"{rank} ", "dim")
        for (_, hand), word in zip(row, words, strict=True):
            line.append(word.ljust(cell_width), _hand_style(grid, hand, colours))
        # Without a background, blanks at the end are not seen.
        if colours is None:
            line.rstrip()
        lines.append(line)
    return lines


def _initial(word: str) -> str:
    if word.endswith("*"):
        return f"{word[0]}*"
    return word[0]


def _hand_style(grid: HandGrid, hand: Shares, colours: str | None) -> Style:
    """Return the mean of the actions' colours as background; that of the likeliest action if there are few colours."""
    if colours is None:
        return Style(dim=False)
    shares = hand
    if colours in ("standard", "windows"):
        shares = {next(iter(hand)): 1.0}
    channels: list[str] = []
    for channel in range(3):
        mean = sum(share * grid.colours[action][channel] for action, share in shares.items())
        channels.append(str(round(mean)))
    return Style(dim=False, color="black", bgcolor=f"rgb({','.join(channels)})")


def wrapped(text: str, width: int) -> list[str]:
    """Wrap a text between words. Figures stay with their intervals and units, and longer words are not broken."""
    lines: list[str] = []
    for word in _WITHIN_FIGURES.sub("\xa0", text).split(" "):
        if not lines:
            lines.append(word)
            continue
        longer = f"{lines[-1]} {word}"
        if cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return [line.replace("\xa0", " ") for line in lines]


def _shortened(text: str, width: int, ellipsis: str) -> str:
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - cell_len(ellipsis)).rstrip() + ellipsis
