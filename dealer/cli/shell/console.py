"""Output of the commands: results go to standard output, everything else to standard error.

A command takes the `Terminal` as a parameter and prints only through it:

    def games(terminal: Terminal) -> None: ...

A command that cannot continue calls `abort`, or raises an error of one of our packages or of the system, which
`dealer.cli.shell.commands` prints. Paragraphs and tables are separated by one blank line. In a window they fit its
width; in a pipe or a file each sentence and row is one line.
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
_FILE_WIDTH = 400
"""Columns of drawings in files and pipes, which need not fit a window."""


class Terminal:
    """Consoles of a command.

    Attributes:
        command: the command line as typed.
        out: console of results.
        err: console of progress, warnings and errors.
    """

    def __init__(self, command: str = "arena") -> None:
        self.command = command
        # Without a fixed width, a console reads the width of the window at each print.
        width = None if sys.stdout.isatty() else _FILE_WIDTH
        self.out = Console(highlight=False, soft_wrap=True, width=width)
        self.err = Console(stderr=True, highlight=False, soft_wrap=True)
        # A blank line is printed just before the next line, so that none ends the output.
        self._can_separate = False
        self._is_blank_due = False

    def write_results_to(self, stream: TextIO) -> None:
        """Print results to a stream, for the time in which `sys.stdout` is another one."""
        self.out.file = stream

    def table(self, view: Table, *, paint: Callable[[str], Text] = Text) -> None:
        """Print a table as a paragraph.

        Args:
            paint: makes the text of a cell, for example a coloured one.
        """
        self.heading(view.title)
        width = self.out.width if self.out.is_terminal else None
        self.lines(table_lines(view, width, is_ascii=self.out.options.ascii_only, paint=paint), view.note)

    def lines(self, lines: Iterable[Text], note: str = "") -> None:
        """Print lines that are laid out already, then a note, and end the paragraph."""
        for line in lines:
            self.draw(line)
        if note:
            self.print(_between_words(note, self.out), style="dim")
        self.blank()

    def heading(self, text: str, style: str = "bold") -> None:
        """Begin a paragraph with a title, which may be empty."""
        self.blank()
        if text:
            self.print(_between_words(text, self.out), style=style)
            self._can_separate = False

    def blank(self) -> None:
        """End a paragraph: separate it by one blank line from any following output."""
        self._is_blank_due = self._can_separate

    def draw(self, drawing: RenderableType, **layout: Any) -> None:
        """Print a renderable of rich that is laid out already."""
        self._begin_line()
        self.out.print(drawing, **layout)

    def print(self, text: str, *, style: str | None = None, end: str = "\n") -> None:
        """Print a line of a result without wrapping and markup."""
        self._begin_line()
        self.out.print(text, markup=False, soft_wrap=True, style=style, end=end)

    def _begin_line(self) -> None:
        if self._is_blank_due:
            self.out.print()
        self._can_separate = True
        self._is_blank_due = False

    def sentence(self, text: str) -> None:
        """Print a sentence of a result, wrapped in a window."""
        self.print(_between_words(text, self.out))

    def note(self, text: str) -> None:
        """Print a warning or a sentence of progress to standard error, wrapped in a window."""
        self.err.print(_between_words(text, self.err), markup=False)

    def trace(self, text: str) -> None:
        """Print a line to standard error without wrapping and markup."""
        self.err.print(text, markup=False)

    def show_log(self, level: int = logging.INFO) -> None:
        """Print log records to standard error: ours from `level` on, warnings of other packages."""
        handler = _LogHandler(self)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
        for package in ("dealer", "bots", "logs", "protocol", "engine"):
            logging.getLogger(package).setLevel(level)
        logging.getLogger().addHandler(handler)

    def error(self, text: str) -> None:
        """Print the message of an error to standard error."""
        # Wrapped together with its prefix, which is printed in colour.
        message = _between_words(f"arena: {text}", self.err)
        self.err.print("[bold red]arena:[/] ", end="")
        self.trace(message.removeprefix("arena: "))


def _between_words(text: str, console: Console) -> str:
    """Wrap a text between words if the console is a window; words longer than a line stay whole."""
    if not console.is_terminal:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        # Indented lines are quotations, such as tracebacks.
        if line.startswith(" "):
            lines.append(line)
        else:
            lines += wrapped(line, console.width)
    return "\n".join(lines)


class _LogHandler(logging.Handler):
    def __init__(self, terminal: Terminal) -> None:
        super().__init__()
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        self._terminal.trace(self.format(record))


def abort(text: str, code: int = EXIT_USAGE) -> NoReturn:
    """End the command with an error message.

    Raises:
        CommandError: always; the application prints it and exits with the code.
    """
    raise CommandError(text, code)


def on_stop(stop: Callable[[], object]) -> None:
    """Call `stop` on SIGINT and SIGTERM; on Windows, Ctrl-C cancels the main task instead."""
    import asyncio

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, stop)


async def until_stopped(work: Coroutine[Any, Any, _Result]) -> _Result | None:
    """Run a coroutine until its end or a SIGINT or SIGTERM, which make the result None."""
    import asyncio

    task = asyncio.ensure_future(work)
    on_stop(task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return None


def check_writable(path: Path | None) -> None:
    """Abort the command before its work if an output file cannot be written."""
    if path is None:
        return
    try:
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        trial = path.with_name(f"{path.name}.try")
        write_whole(trial, "")
        trial.unlink()
    except OSError as error:
        abort(f"cannot write {path}: {error.strerror}")


def check_new_file(path: Path | None, force: bool) -> None:
    """Create the folder of an output file, and abort the command if the file is not new."""
    if path is None:
        return
    if path.exists() and not force:
        abort(f"{path} exists already; overwrite it with --force, or choose another name with --out")
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
