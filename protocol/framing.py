"""Split received bytes into lines of bounded length.

A line ends at LF, and keeps its end so that logs and resumed matches can hold the exact bytes. Two rules follow the
reference dealer. A line longer than its 4096-byte buffer is cut, and the rest is read as the next line. When the peer
closes, any bytes after the last LF count as a line.
"""

from __future__ import annotations

MAX_LINE_BYTES = 4095
"""Longest line in bytes, its LF included: the reference's buffer of 4096 without its terminating NUL."""


class LineReader:
    """Buffer that takes bytes in pieces of any size and returns them line by line.

    Attributes:
        is_empty: every byte fed has been returned.
    """

    __slots__ = ("_data", "_eof", "_max_line_bytes", "_pending", "_start", "is_empty")

    def __init__(self, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        # Most reads of a socket hold exactly one line. Lines are therefore sliced from the bytes object that arrived,
        # and only bytes that arrive before it is used up are collected in a buffer of their own.
        self._data = b""
        self._start = 0
        self._pending = bytearray()
        self._max_line_bytes = max_line_bytes
        self._eof = False
        self.is_empty = True

    @property
    def buffered_bytes(self) -> int:
        """Bytes fed but not returned yet. Stop reading the socket while this is above a limit."""
        return len(self._data) - self._start + len(self._pending)

    @property
    def at_eof(self) -> bool:
        """The peer has closed, and `pop` has returned every line."""
        return self._eof and self.is_empty

    def feed(self, data: bytes) -> None:
        if self.is_empty:
            self._data = data
            self._start = 0
            self.is_empty = not data
        else:
            self._pending += data

    def feed_eof(self) -> None:
        self._eof = True

    def take_rest(self) -> bytes:
        """Remove and return all buffered bytes, including an incomplete line."""
        rest = self._data[self._start :] + self._pending
        self._data = b""
        self._start = 0
        self._pending.clear()
        self.is_empty = True
        return rest

    def pop(self) -> bytes | None:
        """Return the next line with its end, or None if no line is complete."""
        data = self._data
        start = self._start
        end = data.find(b"\n", start, start + self._max_line_bytes) + 1
        if not end:
            if self._pending:
                # Join only now: a peer that sends byte by byte would otherwise cost a copy per byte.
                data = self.take_rest()
                start = 0
                self.feed(data)
                end = data.find(b"\n", 0, self._max_line_bytes) + 1
            if not end:
                if len(data) - start >= self._max_line_bytes:
                    end = start + self._max_line_bytes
                elif self._eof and not self.is_empty:
                    end = len(data)
                else:
                    return None
        self._start = end
        self.is_empty = end == len(data) and not self._pending
        return data[start:end]
