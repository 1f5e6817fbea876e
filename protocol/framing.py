"""Bytes to lines, with every length bounded.

A line ends at LF. Like the reference, a line longer than its 4096-byte buffer is cut and the rest becomes the next
line, and what is left when the peer closes counts as a line. Lines keep their ends, so nothing is lost.
"""

from __future__ import annotations

__all__ = ["MAX_LINE_BYTES", "LineReader"]

MAX_LINE_BYTES = 4095
"""The longest line in bytes, its LF included."""


class LineReader:
    """Collects bytes and hands out lines."""

    __slots__ = ("_buffer", "_eof", "_max_line_bytes")

    def __init__(self, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._buffer = bytearray()
        self._max_line_bytes = max_line_bytes
        self._eof = False

    @property
    def buffered_bytes(self) -> int:
        """Bytes received and not yet handed out: the caller stops reading when this grows beyond his bound."""
        return len(self._buffer)

    @property
    def at_eof(self) -> bool:
        """Whether the peer has closed and every line has been handed out."""
        return self._eof and not self._buffer

    def feed(self, data: bytes) -> None:
        """Take bytes from the peer."""
        self._buffer += data

    def feed_eof(self) -> None:
        """The peer will send nothing more."""
        self._eof = True

    def pop(self) -> bytes | None:
        """The next line with its end, or None when more bytes are needed (or all lines are out and the peer closed)."""
        buffer = self._buffer
        end = buffer.find(b"\n", 0, self._max_line_bytes) + 1
        if not end:
            if len(buffer) >= self._max_line_bytes:
                end = self._max_line_bytes
            elif self._eof and buffer:
                end = len(buffer)
            else:
                return None
        line = bytes(buffer[:end])
        del buffer[:end]
        return line
