"""Output of bots in this process, as a dealer over TCP has it from their processes.

    with captured_output(receive):
        bot.act(view)

`receive` gets the text that the code of this thread writes to ``sys.stdout`` and ``sys.stderr`` meanwhile. Other
threads write as before.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, TextIO, TypeAlias, cast

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
