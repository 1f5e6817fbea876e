"""The line on standard error that shows the progress of a command."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from rich.live import Live
from rich.text import Text

from bots.long_run import ShowProgress
from dealer.cli.shell.console import Terminal
from engine.text import duration

_QUIET_S = 0.5
_REDRAW_S = 0.1
_PLAIN_EVERY_S = 10.0


class LiveLine:
    """A line of text that changes: redrawn in a window and removed at the end, elsewhere printed every ten seconds.

    A context manager that is called with the text; nothing is shown if it `is_silent`.
    """

    def __init__(self, terminal: Terminal, *, is_silent: bool = False) -> None:
        self._terminal = terminal
        self._is_silent = is_silent
        self._live = None
        if terminal.err.is_terminal and not is_silent:
            self._live = Live(Text(""), console=terminal.err, auto_refresh=False, transient=True)
        self._shown = ""
        self._next_s = time.monotonic() + _PLAIN_EVERY_S

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def width(self) -> int | None:
        """The number of characters that fit; None for any number."""
        return None if self._live is None else self._terminal.err.width

    def __call__(self, text: str) -> None:
        if self._live is not None:
            self._live.start()
            self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)
        elif not self._is_silent and time.monotonic() >= self._next_s and text != self._shown:
            self._shown = text
            self._next_s = time.monotonic() + _PLAIN_EVERY_S
            self._terminal.note(text)


@contextlib.contextmanager
def showing_progress(terminal: Terminal, what: str) -> Iterator[ShowProgress]:
    """A function that shows the progress of a computation, from half a second on, and the time left.

    The time follows from what was done since the first call: earlier work and the compilation do not count.
    """
    began_s = time.monotonic()
    next_s = began_s + _QUIET_S
    first: tuple[float, float] | None = None
    with LiveLine(terminal) as line:

        def show(part: float | None, so_far: str | Callable[[], str] = "") -> None:
            nonlocal next_s, first
            now_s = time.monotonic()
            if part is not None and first is None:
                first = part, now_s
            if now_s < next_s or part == 0:
                return
            next_s = now_s + _REDRAW_S
            if part is None:
                progress = f"{duration(now_s - began_s)} so far"
            else:
                progress = f"{part:.0%}"
                if first is not None and part > first[0]:
                    progress += f", {duration((now_s - first[1]) * (1 - part) / (part - first[0]))} left"
            words = so_far() if callable(so_far) else so_far
            line(f"{what}: {progress}{words and f', {words}'}")

        yield show
