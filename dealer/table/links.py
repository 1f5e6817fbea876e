"""Players that this process speaks for: their bytes pass in calls, and no socket is needed for them."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable

from dealer.match.faults import StrayProblem

OnPlayer = Callable[["PlayerLink", tuple[str, int], bytes], None]
OnStray = Callable[[str, StrayProblem, bytes], None]


class PlayerLink:
    """The bytes of a player, both ways: in place of a socket in a `dealer.table.connections.Connection`.

    Attributes:
        receive: takes what the player sends; nothing means that it leaves. Set when the player is admitted.
    """

    def __init__(self, on_data: Callable[[bytes], None], on_closed: Callable[[], None]) -> None:
        """Prepare a link.

        Args:
            on_data: gets what the dealer sends; must not raise.
            on_closed: called once nothing more is sent or received.
        """
        self.receive: Callable[[bytes], None] = lambda data: None
        self._on_data = on_data
        self._on_closed = on_closed

    def send(self, data: bytes | bytearray) -> int:
        """As of a socket; everything is taken."""
        self._on_data(bytes(data))
        return len(data)

    def fileno(self) -> int:
        """As of a socket that is closed."""
        return -1

    def recv(self, size: int) -> bytes:
        """As of a socket that has ended; `receive` is used instead."""
        return b""

    def shutdown(self, how: int) -> None:
        """As of a socket."""

    def close(self) -> None:
        """As of a socket."""
        self.receive = lambda data: None
        self._on_closed()


class OpenSeat:
    """A seat that awaits a `PlayerLink`: in place of a `dealer.table.listener.Listener`."""

    port = 0
    has_client = False

    def __init__(self) -> None:
        self.hosts: list[str] = []
        self._on_player: OnPlayer | None = None
        self._on_stray: OnStray | None = None

    def watch(self, loop: AbstractEventLoop, on_player: OnPlayer, on_stray: OnStray) -> None:
        """Admit players from now on."""
        self._on_player = on_player
        self._on_stray = on_stray

    def take(self, link: PlayerLink) -> None:
        """Seat a player; a seat that awaits none any more closes the link."""
        if self._on_player is None:
            link.close()
        else:
            self._on_player(link, ("", 0), b"")

    def give_up(self) -> None:
        """Report that the player that was called does not come."""
        if self._on_stray is not None:
            self._on_stray("", StrayProblem.LEFT_EARLY, b"")

    def unwatch(self) -> None:
        """Admit nobody until it is watched again."""
        self._on_player = self._on_stray = None
