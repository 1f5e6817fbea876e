"""Code of bots in this process: interrupt it where it does not return, and take what it writes.

While the code of a bot runs in this process, nothing else does: the event loop cannot deliver an interrupt of the run.
`interrupting_bot_code` therefore has SIGINT and SIGTERM raise an exception in the code of a bot that has not returned
in the meantime, and end the process if the bot catches that. Lines of files are whole after either, as after a kill.
Code that does not return to Python cannot be interrupted at all.

    with captured_output(receive):
        bot.act(view)

`receive` gets the text that the code of this thread writes to ``sys.stdout`` and ``sys.stderr`` meanwhile. Other
threads write as before.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn, TextIO, TypeAlias, cast

from bots.errors import BotInterrupt

_PATIENCE_S: Final = 0.75
_LAST_PATIENCE_S: Final = 0.25
"""For code that catches the exception, and for what bots do at the end of their matches."""


_began_s: float | None = None
"""When the code of a bot that is running began, on the monotonic clock."""


@contextlib.contextmanager
def bot_code() -> Iterator[None]:
    """Run code of bots, in the main thread, to its end or to its interruption."""
    global _began_s
    try:
        _began_s = time.monotonic()
        yield
    except BotInterrupt:
        pass
    finally:
        _began_s = None


@contextlib.contextmanager
def interrupting_bot_code(give_up: Callable[[], NoReturn]) -> Iterator[None]:
    """Have SIGINT and SIGTERM interrupt the code of bots, besides what the event loop does at them.

    On Windows, where there is no such timer, the second Ctrl-C interrupts it.

    Args:
        give_up: ends the process when a bot cannot be interrupted.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    interrupted_s: float | None = None

    def on_alarm(number: int, frame: object) -> None:
        nonlocal interrupted_s
        if _began_s is None or time.monotonic() - _began_s < 0.9 * _LAST_PATIENCE_S:
            return
        if interrupted_s == _began_s:
            give_up()
        interrupted_s = _began_s
        raise BotInterrupt

    def on_stop(number: int, frame: object) -> None:
        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_REAL, _PATIENCE_S, _LAST_PATIENCE_S)

    for number in (signal.SIGINT, signal.SIGTERM):
        # The loop has its own way to learn of a signal, and keeps it.
        signal.signal(number, on_stop)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


# ---- output
Receive: TypeAlias = Callable[[str, str], None]
"""Called with ``stdout`` or ``stderr``, and the text."""

STREAMS: Final = ("stdout", "stderr")
_lock = threading.Lock()
_local = threading.local()
_active = 0


class _Stream:
    """A standard stream; what a thread with a receiver writes goes to that instead."""

    def __init__(self, name: str, stream: TextIO) -> None:
        self._name = name
        self._stream = stream

    def write(self, text: str) -> int:
        receive: Receive | None = getattr(_local, "receive", None)
        if receive is None:
            return self._stream.write(text)
        # What the receiver itself writes is not output of a bot.
        _local.receive = None
        try:
            receive(self._name, text)
        finally:
            _local.receive = receive
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def captured_output(receive: Receive) -> Iterator[None]:
    """Give what this thread writes to the standard streams to `receive`, which may write to them itself."""
    global _active
    with _lock:
        # Several runs may play in threads: the first puts the streams in place, and the last takes them away.
        if not _active:
            for name in STREAMS:
                if (stream := getattr(sys, name)) is not None and not isinstance(stream, _Stream):
                    setattr(sys, name, cast(TextIO, _Stream(name, stream)))
        _active += 1
    _local.receive = receive
    try:
        yield
    finally:
        _local.receive = None
        with _lock:
            _active -= 1
            if not _active:
                for name in STREAMS:
                    if isinstance(stream := getattr(sys, name), _Stream):
                        setattr(sys, name, stream._stream)
