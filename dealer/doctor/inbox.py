"""What a bot has sent, line by line, with every length bounded.

A bot under examination may send anything: nothing, binary noise, ten megabytes without a line end, comments for ever.
The inbox keeps at most one read's worth of bytes beyond the line being looked at, shows the beginning of a line that is
too long once and drops the rest of it, and calls it a flood when too much comes for one question.
"""

from __future__ import annotations

import enum
from typing import Final, Protocol

from protocol.framing import MAX_LINE_BYTES, LineReader

__all__ = ["MOST_BYTES", "MOST_LINES", "Broken", "Ending", "Inbox", "Wire"]

MOST_LINES: Final = 1000
"""So many lines may come for one question."""

MOST_BYTES: Final = 1 << 20
"""So many bytes may come for one question."""


class Wire(Protocol):
    """A connection to a bot, with its clock: sockets and their like stay behind it."""

    def send(self, data: bytes) -> None:
        """Send bytes as a segment of their own; a broken connection shows when it is read."""

    def receive(self, deadline_s: float) -> bytes | None:
        """Bytes that came, at most 64 KiB; empty when the bot has closed, None when nothing comes before the time."""

    def pause(self, seconds: float) -> None:
        """Let time pass."""

    def now_s(self) -> float:
        """The time, in seconds from some start."""


class Ending(enum.Enum):
    """Why a conversation broke off."""

    SILENT = "silent"
    CLOSED = "closed"
    FLOOD = "flood"


class Broken(Exception):
    """The conversation cannot go on."""

    def __init__(self, ending: Ending) -> None:
        self.ending = ending
        super().__init__(ending.value)


class Inbox:
    """The lines of one bot."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._reader = LineReader()
        self._last = b""
        self._lines = 0
        self._bytes = 0
        self._drops_rest = False
        self._is_closed = False

    def allow_more(self) -> None:
        """A new question: the counts of lines and bytes begin anew."""
        self._lines = self._bytes = 0

    def next_line(self, deadline_s: float) -> bytes | None:
        """The next line with its end; what is left when the bot closes counts as a line. None when the time is up.

        Raises:
            Broken: the bot has closed and all its lines are out, or it floods.
        """
        while True:
            line = self._reader.pop()
            if line is not None:
                is_rest, self._drops_rest = self._drops_rest, self._is_cut(line)
                if not is_rest:
                    self._count(lines=1)
                    return line
            elif self._is_closed:
                raise Broken(Ending.CLOSED)
            elif not self._receive(deadline_s):
                return None

    def take_rest(self) -> bytes:
        """What has come of a line whose end has not; nothing may be read afterwards."""
        if self._drops_rest:
            return b""
        self._reader.feed_eof()
        return self._reader.pop() or b""

    def line_from(self, text: bytes) -> bytes:
        """What has come of the line that begins with this text, read or not; empty if none has. Waits for nothing."""
        if self._reader.buffered_bytes < MAX_LINE_BYTES and not self._is_closed:
            self._receive(self._wire.now_s())
        start = self._last.find(text)
        return b"" if start < 0 else b"".join(self._last[start:].partition(b"\n")[:2])

    def _receive(self, deadline_s: float) -> bool:
        """Take what comes; False when nothing does in time."""
        data = self._wire.receive(deadline_s)
        if data is None:
            return False
        if data:
            self._count(bytes_=len(data))
            self._reader.feed(data)
            self._last = (self._last + data)[-2 * MAX_LINE_BYTES :]
        else:
            self._is_closed = True
            self._reader.feed_eof()
        return True

    def _is_cut(self, line: bytes) -> bool:
        """Whether the rest of this line is still to come, as another line."""
        return not line.endswith(b"\n") and not (self._is_closed and len(line) < MAX_LINE_BYTES)

    def _count(self, *, lines: int = 0, bytes_: int = 0) -> None:
        self._lines += lines
        self._bytes += bytes_
        if self._lines > MOST_LINES or self._bytes > MOST_BYTES:
            raise Broken(Ending.FLOOD)
