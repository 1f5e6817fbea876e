"""All output of the command line: results to standard output, everything else to standard error.

A command takes the `Terminal` as a parameter and hands it on; nothing prints in any other way:

    def games(terminal: Terminal) -> None: ...

A command that cannot continue calls `abort`, or lets an error of one of our packages or of the system through:
`dealer.cli.shell.commands` prints it and ends the process.

Paragraphs, which tables are, too, have one blank line between them, and neither the first nor the last line is blank.
In a window sentences and tables fit its width; in a pipe or a file each sentence and row is one line.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any, NoReturn, TextIO, TypeVar

from rich.console import Console, RenderableType
from rich.text import Text

from dealer.cli.shell.streams import EXIT_USAGE
from dealer.errors import CommandError
from engine.text import clean
from logs.document import Table
from logs.document.terminal import table_lines, wrapped
from logs.whole_file import write_whole

_Result = TypeVar("_Result")
_WIDTH_OF_FILES = 400
"""Drawings in files and pipes need not fit a window."""


class Terminal:
    """The two consoles of a command: `out` for results, `err` for progress, warnings and errors.

    Args:
        command: as it was typed.
    """

    def __init__(self, command: str = "arena") -> None:
        self.command = command
        # A console without a fixed width asks the window whenever it prints.
        width = None if sys.stdout.isatty() else _WIDTH_OF_FILES
        self.out = Console(highlight=False, soft_wrap=True, width=width)
        self.err = Console(stderr=True, highlight=False, soft_wrap=True)
        self._takes_blank = self._is_blank_due = False

    def write_results_to(self, stream: TextIO) -> None:
        """Keep results on a stream while `sys.stdout` is another."""
        self.out.file = stream

    def table(self, view: Table, *, paint: Callable[[str], Text] = Text) -> None:
        """Print a table as a paragraph; `paint` makes its cells coloured texts."""
        self.heading(view.title)
        width = self.out.width if self.out.is_terminal else None
        self.lines(table_lines(view, width, is_ascii=self.out.options.ascii_only, paint=paint), view.note)

    def lines(self, lines: Iterable[Text], note: str = "") -> None:
        """Print lines that are laid out for the window, and a note below them, as the rest of a paragraph."""
        for line in lines:
            self.draw(line)
        if note:
            self.print(_between_words(note, self.out), style="dim")
        self.blank()

    def heading(self, text: str, style: str = "bold") -> None:
        """Begin a paragraph with its title, if it has one."""
        self.blank()
        if text:
            self.print(_between_words(text, self.out), style=style)
            self._takes_blank = False

    def blank(self) -> None:
        """Separate what was printed from what will be by one blank line."""
        self._is_blank_due = self._takes_blank

    def draw(self, drawing: RenderableType, **layout: Any) -> None:
        """Print something that is laid out for the window."""
        self._begin_line()
        self.out.print(drawing, **layout)

    def print(self, text: str, *, style: str | None = None, end: str = "\n") -> None:
        """Print a line of a result, exactly as it is."""
        self._begin_line()
        self.out.print(text, markup=False, soft_wrap=True, style=style, end=end)

    def _begin_line(self) -> None:
        if self._is_blank_due:
            self.out.print()
        self._takes_blank, self._is_blank_due = True, False

    def sentence(self, text: str) -> None:
        """Print a result in words; in a window, lines end between words."""
        self.print(_between_words(text, self.out))

    def note(self, text: str) -> None:
        """Print a sentence of progress to standard error; in a window, lines end between words."""
        self.err.print(_between_words(text, self.err), markup=False)

    def trace(self, text: str) -> None:
        """Print a line to standard error, exactly as it is."""
        self.err.print(text, markup=False)

    def show_log(self, level: int = logging.INFO) -> None:
        """Print log records to standard error: those of our packages from a level on, and warnings of others."""
        handler = _LogHandler(self)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
        for package in ("dealer", "bots", "logs", "protocol", "engine"):
            logging.getLogger(package).setLevel(level)
        logging.getLogger().addHandler(handler)

    def error(self, text: str) -> None:
        """Print an error."""
        whole = _between_words(f"arena: {text}", self.err)
        self.err.print("[bold red]arena:[/] ", end="")
        self.trace(whole.removeprefix("arena: "))


def _between_words(text: str, console: Console) -> str:
    """A text wrapped for a window; words that are longer than a line, such as paths, stay whole."""
    lines = text.split("\n")
    if console.is_terminal:
        # Indented lines are quotations.
        shown: list[str] = []
        for line in lines:
            if line.startswith(" "):
                shown.append(line)
            else:
                shown += wrapped(line, console.width)
        lines = shown
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


def check_new_file(path: Path | None, force: bool) -> None:
    """As `check_writable`, also for a file that exists and may not be overwritten; creates its folder."""
    if path is None:
        return
    if path.exists() and not force:
        abort(f"{path} exists already: --force overwrites it, --out takes another name")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        abort(f"cannot write {path}: {error.strerror}")
    check_writable(path)


def write_file(path: Path, text: str) -> None:
    try:
        write_whole(path, clean(text))
    except OSError as error:
        abort(f"cannot write {path}: {error.strerror}")
