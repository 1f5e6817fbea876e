"""Run the code of bots in this process: interrupt it when it does not return, and capture its output.

    with interrupting_bot_code(give_up), bot_code(), captured_output(receive):
        bot.act(view)

While a bot runs, the event loop does not, so it cannot deliver an interrupt. SIGINT and SIGTERM therefore raise
`BotInterrupt` in the bot, and end the process if the bot catches that. Extension code that never returns to Python
cannot be interrupted.
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

_GRACE_S: Final = 0.75
"""Time from a signal to the first interrupt of a bot."""
_RETRY_S: Final = 0.25
"""Time between further interrupts, of a bot that catches them or of the next bot at the end of its match."""
_began_s: float | None = None
"""Start of the bot code that is running, on the monotonic clock; None while none is running."""


@contextlib.contextmanager
def bot_code() -> Iterator[None]:
    """Run the code of bots in the main thread, to its end or until it is interrupted."""
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
    """Interrupt bots at SIGINT and SIGTERM, in addition to the handlers of the event loop.

    Args:
        give_up: ends the process when a bot catches its interrupt.
    """
    # Windows has no such timer. There, the second Ctrl-C interrupts the bot.
    if not hasattr(signal, "setitimer"):
        yield
        return

    interrupted_s: float | None = None

    def on_alarm(number: int, frame: object) -> None:
        nonlocal interrupted_s
        # A bot that began only now gets its time first.
        if _began_s is None or time.monotonic() - _began_s < 0.9 * _RETRY_S:
            return
        if interrupted_s == _began_s:
            give_up()
        interrupted_s = _began_s
        raise BotInterrupt

    def on_stop(number: int, frame: object) -> None:
        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_REAL, _GRACE_S, _RETRY_S)

    for number in (signal.SIGINT, signal.SIGTERM):
        # This replaces the Python handler alone. The loop learns of signals through its wake-up file descriptor.
        signal.signal(number, on_stop)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


# ---- output
Receive: TypeAlias = Callable[[str, str], None]
"""Receiver of output, called with ``stdout`` or ``stderr`` and the text."""

_STREAMS: Final = ("stdout", "stderr")
_lock = threading.Lock()
_local = threading.local()
_active = 0


class _Stream:
    """Standard stream that passes the text of a thread with a receiver to that receiver."""

    def __init__(self, name: str, stream: TextIO) -> None:
        self._name = name
        self._stream = stream

    def write(self, text: str) -> int:
        receive: Receive | None = getattr(_local, "receive", None)
        if receive is None:
            return self._stream.write(text)
        # The receiver may print, and that is not output of the bot.
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
    """Pass text that this thread writes to the standard streams to `receive`, which may write to them itself."""
    global _active
    with _lock:
        # Several threads may capture output at a time. The first one replaces the streams, the last one restores them.
        if not _active:
            for name in _STREAMS:
                stream = getattr(sys, name)
                if stream is not None and not isinstance(stream, _Stream):
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
                for name in _STREAMS:
                    stream = getattr(sys, name)
                    if isinstance(stream, _Stream):
                        setattr(sys, name, stream._stream)
