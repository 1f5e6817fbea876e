"""The socket of one seat: reading is the owner's, writing holds lines back and never blocks."""

from __future__ import annotations

import socket
from collections.abc import Callable

from dealer.errors import UnreadLinesError
from dealer.table.door import WOULD_BLOCK
from dealer.table.loop import MatchLoop, Waiting
from engine import Seat

__all__ = ["Connection"]


class Connection:
    """The socket of one seat; knows nothing of the match.

    Attributes:
        seat: whose it is. host: the address of the player.
        recv: reads from the socket.
        eof: set when the player has closed its side; it is not read any more.
        is_read: whether the socket is watched for input.
    """

    __slots__ = (
        "_held",
        "_is_queued",
        "_is_writing",
        "_loop",
        "_max_unsent_bytes",
        "_on_broken",
        "_on_drained",
        "_queue",
        "_send_some",
        "_sock",
        "_unsent",
        "eof",
        "host",
        "is_read",
        "recv",
        "seat",
    )

    def __init__(
        self,
        seat: Seat,
        sock: socket.socket,
        host: str,
        loop: MatchLoop,
        queue: Callable[[Waiting], None],
        max_unsent_bytes: int,
        on_broken: Callable[[Seat, OSError], None],
        on_drained: Callable[[], None],
    ) -> None:
        """Take a connected socket.

        Args:
            seat: whose it is.
            sock: the socket, not blocking.
            host: the address of the player.
            loop: where it is watched.
            queue: has this connection flushed later.
            max_unsent_bytes: how much may wait to be sent.
            on_broken: told of an error when flushing.
            on_drained: called when bytes that had to wait have been sent.
        """
        self.seat = seat
        self.host = host
        self.recv = sock.recv
        self.eof = False
        self.is_read = False
        self._sock = sock
        self._send_some = sock.send
        self._loop = loop
        self._queue = queue
        self._max_unsent_bytes = max_unsent_bytes
        self._on_broken = on_broken
        self._on_drained = on_drained
        self._is_writing = False
        self._unsent = bytearray()
        self._held = b""
        self._is_queued = False

    def start_reading(self, on_readable: Callable[[], None]) -> None:
        """Call back whenever there is something to read."""
        if not self.is_read and not self.eof:
            self.is_read = True
            self._loop.watch(self._sock, on_readable)

    def stop_reading(self) -> None:
        """Leave what comes in the socket."""
        if self.is_read:
            self.is_read = False
            self._loop.unwatch(self._sock)

    def write(self, data: bytes, is_asked: bool) -> None:
        """Send a question now; anything else soon, or with the next question when coalescing."""
        if is_asked:
            if self._held:
                data = self._held + data
                self._held = b""
            self._send(data)
        elif self._held:
            self._held += data
        else:
            self._held = data
            if not self._is_queued:
                self._is_queued = True
                self._queue(self)

    def flush(self) -> None:
        """Send what is held back, unless it has gone out with a question."""
        self._is_queued = False
        if self._held:
            data, self._held = self._held, b""
            try:
                self._send(data)
            except OSError as error:
                self._on_broken(self.seat, error)

    def _send(self, data: bytes) -> None:
        if not self._unsent:
            try:
                sent = self._send_some(data)
            except WOULD_BLOCK:
                sent = 0
            if sent == len(data):
                return
            data = data[sent:]
        self._unsent += data
        if len(self._unsent) > self._max_unsent_bytes:
            raise UnreadLinesError
        if not self._is_writing:
            self._is_writing = True
            self._loop.add_writer(self._sock, self._on_writable)

    def _on_writable(self) -> None:
        try:
            sent = self._sock.send(self._unsent)
        except WOULD_BLOCK:
            return
        except OSError:
            sent = len(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._is_writing = False
            self._loop.remove_writer(self._sock)
            self._on_drained()

    @property
    def has_unsent(self) -> bool:
        """Whether the player has yet to take some of what was written."""
        return bool(self._unsent)

    def close(self) -> None:
        """Close so that what was sent still arrives; what is held back is dropped."""
        self._held = b""
        self.stop_reading()
        if self._is_writing:
            self._loop.remove_writer(self._sock)
        try:
            # Unread bytes would turn the close into a reset, and the player might lose the last state.
            self._sock.shutdown(socket.SHUT_WR)
            for _ in range(16):
                if not self._sock.recv(1 << 16):
                    break
        except OSError:
            pass
        self._sock.close()
