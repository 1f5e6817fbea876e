"""All output of the command line: results to standard output, everything else to standard error.

A command takes the `Terminal` from its context and hands it on; nothing prints in any other way:

    def games(context: typer.Context) -> None:
        terminal = context.ensure_object(Terminal)

A command that cannot continue calls `abort`, or lets an error of one of our packages or of the system through:
`dealer.cli.commands` prints it and ends the process.

A table is printed with its columns side by side where they fit the window, otherwise as a block of lines for each row;
nothing is cut or broken inside a word or a number.
"""

from __future__ import annotations

import contextlib
import json
import logging
import signal
import sys
import textwrap
from collections.abc import Callable, Collection, Coroutine, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel
from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dealer.cli.streams import EXIT_USAGE
from dealer.errors import CommandError
from logs.page.table import TableView
from logs.whole_file import write_whole

_Result = TypeVar("_Result")
_WIDTH_OF_FILES = 400
"""In files and pipes, tables need not fit a window."""
_LONGEST_WORDS = 40
"""A cell of more characters is a sentence."""


class Terminal:
    """The two consoles of a command: `out` for results, `err` for progress, warnings and errors."""

    def __init__(self) -> None:
        # A console without a fixed width asks the window whenever it prints.
        width = None if sys.stdout.isatty() else _WIDTH_OF_FILES
        self.out = Console(highlight=False, soft_wrap=True, width=width)
        self.err = Console(stderr=True, highlight=False, soft_wrap=True)

    def table(
        self, head: Sequence[str], rows: Sequence[Sequence[str | Text]], *, widest: int | None = None, **layout: Any
    ) -> None:
        """Print a table that fits the window, and `widest` characters; see `table_view`."""
        width = self.out.width if widest is None else min(self.out.width, widest)
        view = table_view(head, rows, width, **layout)
        if self.out.is_terminal:
            self.out.print(view, soft_wrap=False, width=width)
            return
        with self.out.capture() as printed:
            self.out.print(view, soft_wrap=False, width=width)
        for line in printed.get().splitlines():
            self.print(line.rstrip())

    def view(self, view: TableView) -> None:
        """Print a table that pages show as well; its long cells are sentences."""
        columns = range(len(view.columns))
        words = [at for at in columns if view.is_words(at)]
        texts = [at for at in columns[1:] if any(len(row[at]) > _LONGEST_WORDS for row in view.rows)]
        head = [name for name, _ in view.columns]
        self.table(head, view.rows, title=view.title or None, caption=view.note, left=words, texts=texts)

    def print(self, text: str = "", *, style: str | None = None, end: str = "\n") -> None:
        """Print a line of a result, exactly as it is."""
        self.out.print(text, markup=False, soft_wrap=True, style=style, end=end)

    def json(self, value: BaseModel | dict[str, Any] | list[Any], *, indent: int | None = 2) -> None:
        """Print a result as JSON; on one line where `indent` is None."""
        self.print(
            value.model_dump_json(indent=indent) if isinstance(value, BaseModel) else json.dumps(value, indent=indent)
        )

    def sentence(self, text: str) -> None:
        """Print a result in words; in a window, lines end between words."""
        self.print(_between_words(text, self.out))

    def note(self, text: str) -> None:
        """Print a sentence of progress to standard error; in a window, lines end between words."""
        self.err.print(_between_words(text, self.err), markup=False)

    def trace(self, text: str) -> None:
        """Print a line to standard error, exactly as it is."""
        self.err.print(text, markup=False)

    def show_log(self) -> None:
        """Print the log records of our packages to standard error."""
        handler = _LogHandler(self)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
        for package in ("dealer", "bots", "logs", "protocol", "engine"):
            logger = logging.getLogger(package)
            logger.setLevel(logging.INFO)
            logger.addHandler(handler)

    def error(self, text: str) -> None:
        """Print an error."""
        whole = _between_words(f"arena: {text}", self.err)
        self.err.print("[bold red]arena:[/] ", end="")
        self.trace(whole.removeprefix("arena: "))


def _between_words(text: str, console: Console) -> str:
    """A text wrapped for a window; words that are longer than a line, such as paths, stay whole."""
    if not console.is_terminal:
        return text
    lines = [
        line
        # Indented lines are quotations.
        if line.startswith(" ")
        else textwrap.fill(line, console.width, break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    ]
    return "\n".join(lines)


class _LogHandler(logging.Handler):
    def __init__(self, terminal: Terminal) -> None:
        super().__init__()
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        self._terminal.trace(self.format(record))


def abort(text: str, code: int = EXIT_USAGE) -> NoReturn:
    """End the command with an error message."""
    raise CommandError(text, code)


def on_stop(stop: Callable[[], object]) -> None:
    """Call `stop` at SIGINT and SIGTERM; on Windows Ctrl-C cancels the task of the event loop instead."""
    import asyncio

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, stop)


async def until_stopped(work: Coroutine[Any, Any, _Result]) -> _Result | None:
    """The result of a coroutine; None if SIGINT or SIGTERM stopped it."""
    import asyncio

    task = asyncio.ensure_future(work)
    on_stop(task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return None


def check_writable(path: Path | None) -> None:
    """End the command before its work if its output file could not be written."""
    if path is None:
        return
    try:
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        write_whole(path.with_name(f"{path.name}.try"), "")
        path.with_name(f"{path.name}.try").unlink()
    except OSError as error:
        abort(f"cannot write {path}: {error.strerror}")


def check_new_file(path: Path, force: bool) -> None:
    """As `check_writable`, also for a file that exists and may not be overwritten; creates its folder."""
    if path.exists() and not force:
        abort(f"{path} exists already: --force overwrites it, --out takes another name")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        abort(f"cannot write {path}: {error.strerror}")
    check_writable(path)


def write_file(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        abort(f"cannot write {path}: {error.strerror}")


_GAP = 3
"""Characters between two cells."""
_FEWEST_OF_TEXT = 20
"""The least width of a column of sentences."""


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
    """Each row as a block: its first cell, then a line for each other cell that is not empty."""
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
        # A number needs the name of its column.
        heading = f"{head[0]} {first}" if str(first).isdigit() else str(first)
        grid.add_row(Text(heading, style="bold"))
        grid.add_row(Padding(block, (0, 0, 1, 2)))
    if caption is not None:
        grid.add_row(Text(caption, style="dim"))
    return grid


def _text(cell: str | Text) -> Text:
    return Text(cell) if isinstance(cell, str) else cell
