"""Progress of a command, as a line on standard error."""

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

# Short computations show no progress.
_QUIET_S = 0.5
_REDRAW_S = 0.1
_PLAIN_EVERY_S = 10.0


class LiveLine:
    """Line of text that changes: call it with each new text, inside a `with` block.

    A window redraws the line and removes it at the end of the block. Elsewhere it is printed every ten seconds. A
    silent line shows nothing.
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
        """Number of characters that fit in the window; None without one."""
        if self._live is None:
            return None
        return self._terminal.err.width

    def __call__(self, text: str) -> None:
        if self._live is not None:
            self._live.start()
            self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)
        elif not self._is_silent and time.monotonic() >= self._next_s and text != self._shown:
            self._shown = text
            self._next_s = time.monotonic() + _PLAIN_EVERY_S
            self._terminal.note(text)


@contextlib.contextmanager
def showing_progress(terminal: Terminal, activity: str) -> Iterator[ShowProgress]:
    """Yield a function that shows the progress of a computation and its remaining time.

    Args:
        activity: the computation in a few words.
    """
    start_s = time.monotonic()
    next_s = start_s + _QUIET_S
    # The remaining time follows from the work since the first call: neither the work of earlier runs nor compilation
    # counts.
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
                progress = f"{duration(now_s - start_s)} so far"
            else:
                progress = f"{part:.0%}"
                if first is not None and part > first[0]:
                    first_part, first_s = first
                    remaining_s = (now_s - first_s) * (1 - part) / (part - first_part)
                    progress += f", {duration(remaining_s)} left"
            detail = so_far() if callable(so_far) else so_far
            if detail:
                progress += f", {detail}"
            line(f"{activity}: {progress}")

        yield show
