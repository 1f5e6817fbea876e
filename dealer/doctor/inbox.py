"""What a bot has sent, line by line, with every length bounded.

A bot under examination may send anything: nothing, binary noise, ten megabytes without a line end, endless comments.
Beyond the current line, the inbox keeps at most what one read returns. It returns the beginning of an overlong line
once and drops the rest, and it reports a flood when too much arrives for one question.
"""

from __future__ import annotations

import enum
from typing import Final, Protocol

from dealer.errors import ConversationError
from protocol.framing import MAX_LINE_BYTES, LineReader

__all__ = ["MOST_BYTES", "MOST_LINES", "Ending", "Inbox", "Wire"]

MOST_LINES: Final = 1000
"""At most this many lines may arrive for one question."""

MOST_BYTES: Final = 1 << 20
"""At most this many bytes may arrive for one question."""


class Wire(Protocol):
    """A connection to a bot, with its clock; hides sockets and their like."""

    def send(self, data: bytes) -> None:
        """Send bytes as a segment of their own; a broken connection shows at the next read."""

    def receive(self, deadline_s: float) -> bytes | None:
        """Received bytes, at most 64 KiB; empty when the bot has closed, None when the deadline passes."""

    def pause(self, seconds: float) -> None:
        """Let time pass."""

    def now_s(self) -> float:
        """The time, in seconds from some start."""


class Ending(enum.Enum):
    """Why a conversation broke off."""

    SILENT = "silent"
    CLOSED = "closed"
    FLOOD = "flood"


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
        """Start a new question: reset the counts of lines and bytes."""
        self._lines = self._bytes = 0

    def next_line(self, deadline_s: float) -> bytes | None:
        """The next line with its end; what is left when the bot closes counts as a line. None when time is up.

        Raises:
            ConversationError: the bot has closed and all its lines were returned, or it floods.
        """
        while True:
            line = self._reader.pop()
            if line is not None:
                is_rest, self._drops_rest = self._drops_rest, self._is_cut(line)
                if not is_rest:
                    self._count(lines=1)
                    return line
            elif self._is_closed:
                raise ConversationError(Ending.CLOSED)
            elif not self._receive(deadline_s):
                return None

    def take_rest(self) -> bytes:
        """What has arrived of an unfinished line; read nothing afterwards."""
        if self._drops_rest:
            return b""
        self._reader.feed_eof()
        return self._reader.pop() or b""

    def line_from(self, text: bytes) -> bytes:
        """What has arrived of the line that begins with a text, read or unread; empty if nothing. Does not wait."""
        if self._reader.buffered_bytes < MAX_LINE_BYTES and not self._is_closed:
            self._receive(self._wire.now_s())
        start = self._last.find(text)
        return b"" if start < 0 else b"".join(self._last[start:].partition(b"\n")[:2])

    def _receive(self, deadline_s: float) -> bool:
        """Take what arrives; False when nothing does in time."""
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
            raise ConversationError(Ending.FLOOD)
