"""Bytes to lines, with every length bounded.

A line ends at LF. As in the reference, a line longer than its 4096-byte buffer is cut and the rest becomes the next
line, and what is left when the peer closes counts as a line. Lines keep their ends, so nothing is lost.
"""

from __future__ import annotations

MAX_LINE_BYTES = 4095
"""The longest line in bytes, its LF included."""


class LineReader:
    """Collects bytes and hands out lines. `is_empty`: every byte received has been handed out."""

    __slots__ = ("_buffer", "_eof", "_max_line_bytes", "_whole", "is_empty")

    def __init__(self, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._buffer = bytearray()
        self._max_line_bytes = max_line_bytes
        self._eof = False
        self.is_empty = True
        self._whole: bytes | None = None
        """One whole line that came by itself, as nearly all do: it need not pass through the buffer."""

    @property
    def buffered_bytes(self) -> int:
        """Bytes received and not yet handed out: the caller stops reading when this grows beyond a bound."""
        return len(self._buffer) + (len(self._whole) if self._whole is not None else 0)

    @property
    def at_eof(self) -> bool:
        """Whether the peer has closed and every line has been handed out."""
        return self._eof and self.is_empty

    def feed(self, data: bytes) -> None:
        if self._whole is not None:
            self._buffer += self._whole
            self._whole = None
        elif not self._buffer and data.find(b"\n") == len(data) - 1 and 0 < len(data) <= self._max_line_bytes:
            self._whole = data
            self.is_empty = False
            return
        self._buffer += data
        self.is_empty = not self._buffer

    def feed_eof(self) -> None:
        self._eof = True

    def take_rest(self) -> bytes:
        """Everything that has not been handed out, whole lines or not."""
        rest = bytes(self._buffer) if self._whole is None else self._whole
        self._buffer.clear()
        self._whole = None
        self.is_empty = True
        return rest

    def pop(self) -> bytes | None:
        """The next line with its end, or None when more bytes are needed (or all lines are out and the peer closed)."""
        if self._whole is not None:
            line, self._whole = self._whole, None
            self.is_empty = True
            return line
        buffer = self._buffer
        if not buffer:
            return None
        end = buffer.find(b"\n", 0, self._max_line_bytes) + 1
        if not end:
            if len(buffer) >= self._max_line_bytes:
                end = self._max_line_bytes
            elif self._eof:
                end = len(buffer)
            else:
                return None
        line = bytes(buffer[:end])
        del buffer[:end]
        self.is_empty = not buffer
        return line
