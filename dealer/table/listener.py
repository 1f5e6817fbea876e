"""The port where the player of a seat is awaited, and which connection is the player's.

In the reference dealer, the first to connect is the player. A listener that reads versions accepts the first that sends
a version line; every other client (a port scan, a browser, a client that sends nothing) is turned away, and the port
stays open. A listener with a key requires it first, as a line of its own. At most `MAX_CLIENTS` clients may wait at a
time, each for `CLIENT_TIMEOUT_S`.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hmac
import logging
import os
import socket
import time
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import Final, NamedTuple, TypeVar

from dealer.errors import ListenError
from dealer.match.faults import QUOTED_BYTES, StrayProblem
from engine import Seat
from protocol.framing import MAX_LINE_BYTES

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
LOOPBACK = "loopback"
"""The host that stands for all addresses of this machine, as far as no other machine can reach them."""
REACHABLE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Where programs of this machine find what listens on every address."""
WOULD_BLOCK = (BlockingIOError, InterruptedError)
"""What reading or writing raises where nothing can be read or written yet."""
MAX_SEATS = 240 if os.name == "nt" else None
"""How many seats a process can serve: on Windows, `select` watches 512 sockets, and a seat may take two of them."""
MAX_CLIENTS = 16
CLIENT_TIMEOUT_S = 30.0
ACCEPT_RETRY_S = 1.0
BUSY_PORT_S: Final = 10.0
"""Time that a server waits for its port, which another program or an earlier start may be about to leave."""
_BUSY_RETRY_S: Final = 0.1
_VERSION = b"VERSION:"
_ALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPALIVE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
"""A peer that has vanished without a word is noticed after a minute, wherever the system has that option."""
_QUICK_ACK: Final[int | None] = getattr(socket, "TCP_QUICKACK", None)


def reachable_at(host: str) -> tuple[str, ...]:
    """The addresses at which other machines find what listens on a host: those of all interfaces where it is each."""
    if host not in REACHABLE:
        return (host,)
    import psutil

    family = _family_of(host)
    running = psutil.net_if_stats()
    addresses = []
    for name, interface_addresses in psutil.net_if_addrs().items():
        if name not in running or not running[name].isup:
            continue
        for interface_address in interface_addresses:
            if interface_address.family != family:
                continue
            address = ip_address(interface_address.address.partition("%")[0])
            if not (address.is_loopback or address.is_link_local):
                addresses.append(str(address))
    return tuple(addresses) or (REACHABLE[host],)


def _family_of(host: str) -> socket.AddressFamily:
    if ":" in host:
        return socket.AF_INET6
    return socket.AF_INET


async def listen_patiently(listen: Callable[[], Awaitable[_T]], port: int, busy_s: float) -> _T:
    """Listen on a port; while it is in use, try again for some time.

    Raises:
        OSError: it is still in use, or it cannot be listened on for another reason.
    """
    until_s = time.monotonic() + busy_s
    is_told = False
    while True:
        try:
            return await listen()
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() >= until_s:
                raise
        if not is_told:
            _log.warning("port %d is in use; trying again for %g s", port, busy_s)
            is_told = True
        await asyncio.sleep(_BUSY_RETRY_S)


def keep_alive(sock: socket.socket) -> None:
    """Have the system notice within a minute or so that the other side has vanished."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _ALIVE:
        with contextlib.suppress(AttributeError, OSError):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def acknowledge(sock: socket.socket) -> None:
    """Acknowledge received bytes at once, where the system can (Linux).

    A client that sends a line in two calls sends the second part only once the first is acknowledged (Nagle's
    algorithm), and the system delays that by 40 ms. It forgets the option: set it again after each read.
    """
    if _QUICK_ACK is not None:
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, _QUICK_ACK, 1)


def _begins_as_version(received: bytes) -> bool:
    return received.startswith(_VERSION[: len(received)])


class _Client(NamedTuple):
    """A client that waits: its address, what it has sent, when it is given up, and whether the key is still needed."""

    address: tuple[str, int]
    received: bytearray
    timer: TimerHandle
    needs_key: bool


class Listener:
    """The port of one seat, listening.

    Attributes:
        port: its number. hosts: the addresses, or `LOOPBACK` for all of this machine's own. sockets: what listens.
    """

    def __init__(
        self,
        host: str,
        port: int,
        seat: Seat,
        *,
        is_version: Callable[[bytes], bool] | None = None,
        is_unfinished: Callable[[bytes], bool] | None = None,
        key: str | None = None,
    ) -> None:
        """Listen.

        Args:
            host: the address, or `LOOPBACK`.
            port: the port; 0 for a free one.
            is_version: whether a line names a version; None lets in the first to connect.
            is_unfinished: whether more of a line without its end has to arrive before that is known; all of it, if
                it begins as a version line does, unless given.
            key: the line that has to come before that; None for none.

        Raises:
            ListenError: the port cannot be had.
        """
        self.sockets: list[socket.socket] = []
        self.hosts: list[str] = []
        self._clients: dict[socket.socket, _Client] = {}
        self._loop: AbstractEventLoop | None = None
        try:
            self._listen(host, port)
        except (OSError, OverflowError) as error:
            self.close()
            raise ListenError(host, port, seat, getattr(error, "strerror", None) or error) from None
        self.port: int = self.sockets[0].getsockname()[1]
        self._is_version = is_version
        self._is_unfinished = is_unfinished or _begins_as_version
        self._key: bytes | None = None
        if key is not None:
            self._key = key.encode()
        self._on_player: Callable[[socket.socket, tuple[str, int], bytes], None]
        self._on_stray: Callable[[str, StrayProblem, bytes], None]

    def _listen(self, host: str, port: int) -> None:
        sock = socket.socket(_family_of(host), socket.SOCK_STREAM)
        self.sockets.append(sock)
        if port and os.name != "nt":
            # Makes the port of a dealer that has just ended usable again; on Windows it would share a port in use.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        address = host
        second_host = None
        if host == LOOPBACK:
            try:
                # Linux routes what this machine sends to any of its addresses over this device, and nothing else.
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
                address = "0.0.0.0"
            except (AttributeError, OSError):
                host = address = "127.0.0.1"
                # Debian's /etc/hosts has the name of the machine at this address.
                second_host = "127.0.1.1"
        sock.bind((address, port))
        sock.listen(8)
        sock.setblocking(False)
        self.hosts.append(host)
        if second_host is not None:
            with contextlib.suppress(OSError):
                self._listen(second_host, sock.getsockname()[1])

    def watch(
        self,
        loop: AbstractEventLoop,
        on_player: Callable[[socket.socket, tuple[str, int], bytes], None],
        on_stray: Callable[[str, StrayProblem, bytes], None],
    ) -> None:
        """Accept clients from now on.

        Args:
            on_player: given the connection of a player, its address, and what it has sent already.
            on_stray: called with a client that was turned away: its address, why, and how its words began.
        """
        self._loop = loop
        self._on_player = on_player
        self._on_stray = on_stray
        for sock in self.sockets:
            loop.add_reader(sock, self._accept, loop, sock)

    @property
    def has_client(self) -> bool:
        """Whether a client waits that may yet prove to be the player."""
        return bool(self._clients)

    def _accept(self, loop: AbstractEventLoop, listener: socket.socket) -> None:
        try:
            sock, address = listener.accept()
        except (*WOULD_BLOCK, ConnectionError):
            return
        except OSError as error:
            # Too many open files: connections wait for a moment, instead of failing again and again without a pause.
            _log.warning("port %d: cannot accept a connection: %s", self.port, error.strerror)
            loop.remove_reader(listener)
            loop.call_later(ACCEPT_RETRY_S, self._listen_again, loop, listener)
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._is_version is None:
            self._on_player(sock, address[:2], b"")
            return
        keep_alive(sock)
        if len(self._clients) >= MAX_CLIENTS:
            self._reject(loop, next(iter(self._clients)), StrayProblem.SILENT)
        timer = loop.call_later(CLIENT_TIMEOUT_S, self._reject, loop, sock, StrayProblem.SILENT)
        self._clients[sock] = _Client(address[:2], bytearray(), timer, self._key is not None)
        loop.add_reader(sock, self._hear, loop, sock)

    def _listen_again(self, loop: AbstractEventLoop, listener: socket.socket) -> None:
        if listener in self.sockets:
            loop.add_reader(listener, self._accept, loop, listener)

    def _hear(self, loop: AbstractEventLoop, sock: socket.socket) -> None:
        """Read a client's first lines as far as they are there; accept it or turn it away once that is certain."""
        client = self._clients[sock]
        received = client.received
        try:
            data = sock.recv(MAX_LINE_BYTES - len(received))
        except WOULD_BLOCK:
            return
        except OSError:
            data = b""
        received += data
        if client.needs_key and self._key is not None:
            line, end, rest = bytes(received).partition(b"\n")
            if not end and data and len(received) <= len(self._key):
                acknowledge(sock)
                return
            if not end or not hmac.compare_digest(line, self._key):
                self._reject_unknown(loop, sock, StrayProblem.NO_KEY)
                return
            received[:] = rest
            self._clients[sock] = client._replace(needs_key=False)
        line, end, _ = bytes(received).partition(b"\n")
        if data and not end and len(received) < MAX_LINE_BYTES and self._is_unfinished(bytes(received)):
            acknowledge(sock)
            return
        if self._is_version is not None and self._is_version(line):
            self._on_player(sock, self._leave(loop, sock).address, bytes(received))
        else:
            self._reject_unknown(loop, sock, StrayProblem.NO_VERSION)

    def _reject_unknown(self, loop: AbstractEventLoop, sock: socket.socket, problem: StrayProblem) -> None:
        """Reject a client that did not prove to be the player, or that left without a word."""
        if not self._clients[sock].received:
            problem = StrayProblem.LEFT
        self._reject(loop, sock, problem)

    def _leave(self, loop: AbstractEventLoop, sock: socket.socket) -> _Client:
        client = self._clients.pop(sock)
        client.timer.cancel()
        loop.remove_reader(sock)
        return client

    def _reject(self, loop: AbstractEventLoop, sock: socket.socket, problem: StrayProblem) -> None:
        client = self._leave(loop, sock)
        sock.close()
        self._on_stray(client.address[0], problem, bytes(client.received[:QUOTED_BYTES]))

    def unwatch(self) -> None:
        """Turn away all clients that wait, without a report; later ones wait until it is watched again."""
        if self._loop is not None:
            for sock in self.sockets:
                self._loop.remove_reader(sock)
            for sock in list(self._clients):
                self._leave(self._loop, sock)
                sock.close()
            self._loop = None

    def close(self) -> None:
        """Stop listening and turn away all clients, without a report; a second call does nothing."""
        self.unwatch()
        for sock in self.sockets:
            sock.close()
        self.sockets = []
