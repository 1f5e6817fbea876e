"""Where a client that somebody else starts is awaited: whoever begins with a version line is the bot.

Everybody else who connects (a port scan, a browser, a client that says nothing) is turned away and reported, as at the
door of a match (`dealer.table.door`). The beginning of the line is enough: whatever is wrong with the rest of it is a
finding.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from dealer.match.events import StrayConnection
from dealer.match.faults import QUOTED_BYTES, StrayProblem
from dealer.table.door import MOST_WAITING, PATIENCE_S, WOULD_BLOCK
from engine import Seat

__all__ = ["Arrival", "Lobby"]

_BEGINNING: Final = b"VERSION"


class Arrival(NamedTuple):
    """The bot.

    Attributes:
        connection: its connection.
        said: what was read of it already.
    """

    connection: socket.socket
    said: bytes


class _Visitor(NamedTuple):
    host: str
    said: bytearray
    since_s: float


class Lobby:
    """The visitors of a port until one of them is the bot. Call `close` at the end, or use it in a ``with`` block.

    Attributes:
        strays: how many were turned away.
    """

    def __init__(self, listener: socket.socket, on_stray: Callable[[StrayConnection], None]) -> None:
        """Open.

        Args:
            listener: the port; stays open.
            on_stray: told of everybody who is turned away.
        """
        self.strays = 0
        self._listener = listener
        self._on_stray = on_stray
        self._visitors: dict[socket.socket, _Visitor] = {}
        self._selector = selectors.DefaultSelector()
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ)

    def __enter__(self) -> Lobby:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait(self, timeout_s: float) -> Arrival | None:
        """The bot, if it comes within `timeout_s` seconds or so."""
        for key, _ in self._selector.select(timeout_s):
            sock = key.fileobj
            assert isinstance(sock, socket.socket)
            if sock is self._listener:
                self._accept()
            elif sock in self._visitors and self._hear(sock):
                visitor = self._leave(sock)
                sock.setblocking(True)
                return Arrival(sock, bytes(visitor.said))
        now_s = time.monotonic()
        for sock in [sock for sock, visitor in self._visitors.items() if now_s - visitor.since_s > PATIENCE_S]:
            self._turn_away(sock, StrayProblem.SILENT)
        return None

    def close(self) -> None:
        """Turn away everybody who still waits; a second call does nothing."""
        for sock in list(self._visitors):
            self._turn_away(sock, StrayProblem.SILENT)
        self._selector.close()

    def _accept(self) -> None:
        try:
            sock, address = self._listener.accept()
        except OSError:
            # Gone again already.
            return
        sock.setblocking(False)
        if len(self._visitors) >= MOST_WAITING:
            self._turn_away(next(iter(self._visitors)), StrayProblem.SILENT)
        self._visitors[sock] = _Visitor(address[0], bytearray(), time.monotonic())
        self._selector.register(sock, selectors.EVENT_READ)

    def _hear(self, sock: socket.socket) -> bool:
        """Read what a visitor says: whether it is the bot. Turns it away once it cannot be."""
        said = self._visitors[sock].said
        try:
            data = sock.recv(QUOTED_BYTES)
        except WOULD_BLOCK:
            return False
        except OSError:
            data = b""
        said += data
        beginning = bytes(said[: len(_BEGINNING)]).upper()
        if data and _BEGINNING.startswith(beginning):
            return beginning == _BEGINNING
        self._turn_away(sock, StrayProblem.NO_VERSION if said else StrayProblem.LEFT)
        return False

    def _leave(self, sock: socket.socket) -> _Visitor:
        self._selector.unregister(sock)
        return self._visitors.pop(sock)

    def _turn_away(self, sock: socket.socket, problem: StrayProblem) -> None:
        visitor = self._leave(sock)
        sock.close()
        self.strays += 1
        self._on_stray(StrayConnection(Seat(0), visitor.host, problem, bytes(visitor.said[:QUOTED_BYTES])))
