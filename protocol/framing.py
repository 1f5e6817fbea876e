"""Bytes to lines, with every length bounded.

A line ends at LF. As in the reference, a line longer than its 4096-byte buffer is cut and the rest becomes the next
line, and what is left when the peer closes counts as a line. Lines keep their ends, so nothing is lost.
"""

from __future__ import annotations

MAX_LINE_BYTES = 4095
"""The longest line in bytes, its LF included."""


class LineReader:
    """Collects bytes and hands out lines. `is_empty`: every byte received has been handed out."""

    __slots__ = ("_at", "_data", "_eof", "_max_line_bytes", "_more", "is_empty")

    def __init__(self, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._data = b""
        """Lines are cut from it as long as it holds one: mostly it is what has come last."""
        self._at = 0
        """Up to where it has been handed out."""
        self._more = bytearray()
        """What has come since; not joined to it before that is needed, as a peer may send byte by byte."""
        self._max_line_bytes = max_line_bytes
        self._eof = False
        self.is_empty = True

    @property
    def buffered_bytes(self) -> int:
        """Bytes received and not yet handed out: the caller stops reading when this grows beyond a bound."""
        return len(self._data) - self._at + len(self._more)

    @property
    def at_eof(self) -> bool:
        """Whether the peer has closed and every line has been handed out."""
        return self._eof and self.is_empty

    def feed(self, data: bytes) -> None:
        if self.is_empty:
            self._data = data
            self._at = 0
            self.is_empty = not data
        else:
            self._more += data

    def feed_eof(self) -> None:
        self._eof = True

    def take_rest(self) -> bytes:
        """Everything that has not been handed out, whole lines or not."""
        rest = self._data[self._at :] + self._more
        self._data = b""
        self._at = 0
        self._more.clear()
        self.is_empty = True
        return rest

    def pop(self) -> bytes | None:
        """The next line with its end, or None when more bytes are needed (or all lines are out and the peer closed)."""
        data = self._data
        at = self._at
        end = data.find(b"\n", at, at + self._max_line_bytes) + 1
        if not end:
            if self._more:
                data = self.take_rest()
                at = 0
                self.feed(data)
                end = data.find(b"\n", 0, self._max_line_bytes) + 1
            if not end:
                if len(data) - at >= self._max_line_bytes:
                    end = at + self._max_line_bytes
                elif self._eof and not self.is_empty:
                    end = len(data)
                else:
                    return None
        self._at = end
        self.is_empty = end == len(data) and not self._more
        return data[at:end]
