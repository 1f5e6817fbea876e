"""Tables that fit any window: side by side where there is room, and otherwise a block of lines for each row.

Nothing is cut or broken inside a word or a number, and no column is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_GAP = 3
"""Characters between two cells."""
_FEWEST_OF_TEXT = 20
"""A column of sentences is not made narrower than this many characters."""


def table_view(
    head: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    width: int,
    *,
    title: str | None = None,
    caption: str | None = None,
    left: Collection[int] = (0,),
    texts: Collection[int] = (),
) -> RenderableType:
    """Rows and columns as a table, or as a block of lines for each row where a table does not fit.

    Args:
        head: the names of the columns.
        rows: the cells, with styles where they have some.
        width: how many characters fit in a line.
        title: printed above.
        caption: printed below.
        left: the columns that are not aligned to the right.
        texts: the columns of sentences, which may be wrapped between words.
    """
    natural = [max(cell_len(str(row[at])) for row in (head, *rows)) for at in range(len(head))]
    least = [min(size, _FEWEST_OF_TEXT) if at in texts else size for at, size in enumerate(natural)]
    if sum(least) + _GAP * len(head) + 1 > width:
        return _blocks(head, rows, title, caption, width)
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", caption=caption)
    for at, name in enumerate(head):
        is_left = at in left or at in texts
        table.add_column(Text(name), justify="left" if is_left else "right", no_wrap=at not in texts)
    for row in rows:
        table.add_row(*map(_text, row))
    return table


def _blocks(
    head: Sequence[str], rows: Sequence[Sequence[str | Text]], title: str | None, caption: str | None, width: int
) -> RenderableType:
    """Each row as a block: its first cell, and a line for each other cell that is not empty."""
    grid = Table.grid()
    if title is not None:
        grid.add_row(Text(title, style="bold"))
    for first, *cells in rows:
        shown = [(name, cell) for name, cell in zip(head[1:], cells, strict=True) if cell]
        label = max((cell_len(name) for name, _ in shown), default=0)
        longest = max((cell_len(word) for _, cell in shown for word in str(cell).split()), default=0)
        block = Table.grid(padding=(0, 2, 0, 0))
        for name, cell in shown:
            if label + longest + 4 <= width:
                block.add_row(Text(name, style="dim"), _text(cell))
            else:
                block.add_row(Text.assemble(f"{name}\n  ", _text(cell)))
        # A number says nothing without the name of its column.
        heading = f"{head[0]} {first}" if str(first).isdigit() else str(first)
        grid.add_row(Text(heading, style="bold"))
        grid.add_row(Padding(block, (0, 0, 1, 2)))
    if caption is not None:
        grid.add_row(Text(caption, style="dim"))
    return grid


def _text(cell: str | Text) -> Text:
    return Text(cell) if isinstance(cell, str) else cell
