"""The socket of one seat: reading is the owner's, writing holds lines back and never blocks."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field

from dealer.errors import UnreadLinesError
from dealer.table.door import WOULD_BLOCK
from dealer.table.loop import MatchLoop, Waiting
from engine import Seat

__all__ = ["Connection"]


@dataclass(slots=True, eq=False)
class Connection:
    """The socket of one seat; knows nothing of the match.

    Attributes:
        seat: whose it is. sock: the socket, not blocking. host: the address of the player.
        loop: where it is watched.
        queue: has this connection flushed later.
        max_unsent_bytes: how much may wait to be sent.
        on_broken: told of an error when flushing.
        on_drained: called when bytes that had to wait have been sent.
        recv: reads from the socket.
        eof: set when the player has closed its side; it is not read any more.
        is_read: whether the socket is watched for input.
    """

    seat: Seat
    sock: socket.socket
    host: str
    loop: MatchLoop
    queue: Callable[[Waiting], None]
    max_unsent_bytes: int
    on_broken: Callable[[Seat, OSError], None]
    on_drained: Callable[[], None]
    recv: Callable[[int], bytes] = field(init=False)
    eof: bool = False
    is_read: bool = False
    _send_some: Callable[[bytes], int] = field(init=False)
    _is_writing: bool = False
    _unsent: bytearray = field(default_factory=bytearray)
    _held: bytes = b""
    _is_queued: bool = False

    def __post_init__(self) -> None:
        self.recv, self._send_some = self.sock.recv, self.sock.send

    def start_reading(self, on_readable: Callable[[], None]) -> None:
        """Call back whenever there is something to read."""
        if not self.is_read and not self.eof:
            self.is_read = True
            self.loop.watch(self.sock, on_readable)

    def stop_reading(self) -> None:
        """Leave what comes in the socket."""
        if self.is_read:
            self.is_read = False
            self.loop.unwatch(self.sock)

    def write(self, data: bytes, is_asked: bool) -> None:
        """Send a question now; anything else soon, or with the next question when coalescing."""
        if is_asked:
            if self._held:
                data = self._held + data
                self._held = b""
            self._send(data)
        else:
            self._held += data
            if not self._is_queued:
                self._is_queued = True
                self.queue(self)

    def flush(self) -> None:
        """Send what is held back, unless it has gone out with a question."""
        self._is_queued = False
        if self._held:
            data, self._held = self._held, b""
            try:
                self._send(data)
            except OSError as error:
                self.on_broken(self.seat, error)

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
        if len(self._unsent) > self.max_unsent_bytes:
            raise UnreadLinesError
        if not self._is_writing:
            self._is_writing = True
            self.loop.add_writer(self.sock, self._on_writable)

    def _on_writable(self) -> None:
        try:
            sent = self.sock.send(self._unsent)
        except WOULD_BLOCK:
            return
        except OSError:
            sent = len(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._is_writing = False
            self.loop.remove_writer(self.sock)
            self.on_drained()

    @property
    def has_unsent(self) -> bool:
        """Whether the player has yet to take some of what was written."""
        return bool(self._unsent)

    def close(self) -> None:
        """Close so that what was sent still arrives; what is held back is dropped."""
        self._held = b""
        self.stop_reading()
        if self._is_writing:
            self.loop.remove_writer(self.sock)
        try:
            # Unread bytes would turn the close into a reset, and the player might lose the last state.
            self.sock.shutdown(socket.SHUT_WR)
            for _ in range(16):
                if not self.sock.recv(1 << 16):
                    break
        except OSError:
            pass
        self.sock.close()
