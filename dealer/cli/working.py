"""What a long computation shows meanwhile: how far it has come, and the time left."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from rich.live import Live
from rich.text import Text

from dealer.cli.console import Terminal

_QUIET_S = 0.5
_REDRAW_S = 0.1
_PLAIN_EVERY_S = 10.0


class Show(Protocol):
    """Is told how far the work has come."""

    def __call__(self, part: float | None, so_far: str = "") -> None:
        """Which part of it is done, 0 to 1, or None where nobody can say; and what it has come to, in words."""


@contextlib.contextmanager
def working(terminal: Terminal, what: str) -> Iterator[Show]:
    """Gives a function that is told how far the work has come.

    On a terminal a line is redrawn, and gone at the end; elsewhere one is printed every ten seconds. What takes less
    than half a second shows nothing.
    """
    began_s = time.monotonic()
    live = (
        Live(Text(""), console=terminal.err, auto_refresh=False, transient=True) if terminal.err.is_terminal else None
    )
    next_s = began_s + (_QUIET_S if live else _PLAIN_EVERY_S)

    def show(part: float | None, so_far: str = "") -> None:
        nonlocal next_s
        now_s = time.monotonic()
        if now_s < next_s or part == 0:
            return
        gone_s = now_s - began_s
        line = f"{what}: {duration(gone_s)} so far"
        if part is not None:
            line = f"{what}: {part:.0%}, {duration(gone_s * (1 / part - 1))} left"
        if so_far:
            line += f", {so_far}"
        if live is None:
            terminal.say(line)
        else:
            if not live.is_started:
                live.start()
            live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)
        next_s = now_s + (_REDRAW_S if live else _PLAIN_EVERY_S)

    try:
        yield show
    finally:
        if live is not None:
            live.stop()


@contextlib.contextmanager
def live_line(terminal: Terminal) -> Iterator[Callable[[str], None]]:
    """Gives a function that is told how far the work has come: one line, redrawn on a terminal, gone at the end.

    Elsewhere a line is printed every ten seconds.
    """
    live = None
    if terminal.err.is_terminal:
        live = Live(Text(""), console=terminal.err, auto_refresh=False, transient=True)
        live.start()
    next_s = time.monotonic() + _PLAIN_EVERY_S

    def show(line: str) -> None:
        nonlocal next_s
        if live is not None:
            live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)
        elif time.monotonic() >= next_s:
            terminal.say(line)
            next_s = time.monotonic() + _PLAIN_EVERY_S

    try:
        yield show
    finally:
        if live is not None:
            live.stop()


def duration(seconds: float) -> str:
    """A time in words."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
