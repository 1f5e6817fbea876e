"""Links to players without a socket: this process passes their bytes in calls.

Players that join a server, and people in a browser, are connected by links.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable

from dealer.match.faults import StrayProblem

_OnPlayer = Callable[["PlayerLink", tuple[str, int], bytes], None]
_OnStray = Callable[[str, StrayProblem, bytes], None]


class PlayerLink:
    """Link to a player, with the methods of a socket that `dealer.table.connections.Connection` calls.

    Attributes:
        receive: passes bytes of the player to the dealer; empty bytes when it leaves. Set when the player is admitted.
    """

    def __init__(self, on_data: Callable[[bytes], None], on_closed: Callable[[], None]) -> None:
        """Initialise a link that is not connected yet.

        Args:
            on_data: called with bytes from the dealer; must not raise.
            on_closed: called when the link is closed.
        """
        self.receive: Callable[[bytes], None] = lambda data: None
        self._on_data = on_data
        self._on_closed = on_closed

    def send(self, data: bytes | bytearray) -> int:
        """Send all bytes; unlike a socket, a link never takes only a part."""
        self._on_data(bytes(data))
        return len(data)

    def fileno(self) -> int:
        """Return the number of a closed socket: no loop can watch a link."""
        return -1

    def recv(self, size: int) -> bytes:
        """Return the end of the stream. Bytes of the player arrive through `receive` instead."""
        return b""

    def shutdown(self, how: int) -> None:
        """Do nothing; `close` follows."""

    def close(self) -> None:
        """Close the link, and notify its owner."""
        self.receive = lambda data: None
        self._on_closed()


class OpenSeat:
    """Seat that awaits a `PlayerLink`, with the interface of a `dealer.table.listener.Listener`."""

    port = 0
    has_client = False

    def __init__(self) -> None:
        self.hosts: list[str] = []
        self._on_player: _OnPlayer | None = None
        self._on_stray: _OnStray | None = None

    def watch(self, loop: AbstractEventLoop, on_player: _OnPlayer, on_stray: _OnStray) -> None:
        """Start to admit players; see `Listener.watch`."""
        self._on_player = on_player
        self._on_stray = on_stray

    def take(self, link: PlayerLink) -> None:
        """Seat a player, or close the link if the seat awaits no player."""
        if self._on_player is None:
            link.close()
        else:
            # All links have the same empty host, so a player may replace its own link.
            self._on_player(link, ("", 0), b"")

    def give_up(self) -> None:
        """Report that the awaited player is not coming."""
        if self._on_stray is not None:
            self._on_stray("", StrayProblem.LEFT_EARLY, b"")

    def unwatch(self) -> None:
        """Stop admitting players."""
        self._on_player = self._on_stray = None
