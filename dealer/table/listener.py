"""Listen on the port of a seat, and recognise its player among the clients that connect.

With the reference dealer, the first client is the player. A listener that reads versions accepts the first client that
sends a version line, after a key if it has one. It rejects every other client, such as a port scan, a browser or a
client that sends nothing, and keeps the port open.
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
"""Host name for all addresses of this machine, which admits no other machine."""
REACHABLE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Address to connect to, on this machine, for each host name of every address."""
WOULD_BLOCK = (BlockingIOError, InterruptedError)
"""Exceptions of a non-blocking socket that cannot be read or written yet."""
MAX_SEATS = 240 if os.name == "nt" else None
"""Seats that a process can serve. `select` on Windows watches at most 512 sockets, and a seat may take two of them."""
MAX_CLIENTS = 16
"""Clients of a listener that may wait to be recognised."""
CLIENT_TIMEOUT_S = 30.0
"""Time for a client to send its version line."""
ACCEPT_RETRY_S = 1.0
"""Delay after `accept` failed."""
BUSY_PORT_S: Final = 10.0
"""Time to wait for a port in use, for example by a server that is being restarted."""
_BUSY_RETRY_S: Final = 0.1
_VERSION = b"VERSION:"
_KEEP_ALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPALIVE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
"""Probe after 30 s, then every 10 s, three times. macOS calls the first option TCP_KEEPALIVE."""
_QUICK_ACK: Final[int | None] = getattr(socket, "TCP_QUICKACK", None)


def reachable_at(host: str) -> tuple[str, ...]:
    """Return the addresses at which other machines reach a host, those of all interfaces for ``0.0.0.0`` or ``::``."""
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
    """Listen on a port, and try again for a while if it is in use.

    Args:
        listen: opens the port.
        port: its number, for the log.
        busy_s: time to try again.

    Raises:
        OSError: the port is still in use, or cannot be opened for another reason.
    """
    until_s = time.monotonic() + busy_s
    is_logged = False
    while True:
        try:
            return await listen()
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() >= until_s:
                raise
        if not is_logged:
            _log.warning("port %d is in use; trying again for %g s", port, busy_s)
            is_logged = True
        await asyncio.sleep(_BUSY_RETRY_S)


def keep_alive(sock: socket.socket) -> None:
    """Let the system detect within a minute that the peer has vanished without a FIN."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE:
        # Not every system has every option.
        with contextlib.suppress(AttributeError, OSError):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def acknowledge(sock: socket.socket) -> None:
    """Acknowledge received bytes at once, on Linux. Call it after every read, as the system resets the option.

    A client that writes a line in two calls, with Nagle's algorithm on, sends the second part only after the first is
    acknowledged. Linux delays acknowledgements by 40 ms in the hope of a reply to carry them.
    """
    if _QUICK_ACK is not None:
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, _QUICK_ACK, 1)


def _begins_as_version(received: bytes) -> bool:
    return received.startswith(_VERSION[: len(received)])


class _Client(NamedTuple):
    """Client that is not recognised yet.

    Attributes:
        address: host and port of the client.
        received: bytes that it has sent.
        timer: rejects it after `CLIENT_TIMEOUT_S`.
        needs_key: it has not sent the key yet.
    """

    address: tuple[str, int]
    received: bytearray
    timer: TimerHandle
    needs_key: bool


class Listener:
    """Listening port of one seat.

    Attributes:
        port: its number.
        hosts: addresses listened on; `LOOPBACK` for all of this machine's own.
        sockets: the listening sockets.
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
        """Open the port.

        Args:
            host: address to listen on, or `LOOPBACK`.
            port: port number; 0 for a free one.
            seat: the seat, for errors.
            is_version: returns whether a line is a version line; None to accept the first client.
            is_unfinished: returns whether the beginning of a line can still become a version line. The default
                compares it with ``VERSION:``.
            key: line that the client has to send before its version line; None for no key.

        Raises:
            ListenError: the port is unavailable.
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
            # Connections of an earlier dealer in TIME_WAIT would keep its port busy for a minute. On Windows, this
            # option would instead allow two processes to share a port.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        address = host
        second_host = None
        if host == LOOPBACK:
            try:
                # Linux routes packets of this machine to any of its own addresses over lo, and no others. Bots may thus
                # connect to whatever name the machine has.
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
                address = "0.0.0.0"
            except (AttributeError, OSError):
                host = address = "127.0.0.1"
                # Debian's /etc/hosts gives the machine's name this address.
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
        """Start to accept clients.

        Args:
            loop: the loop.
            on_player: called with the socket of the player, its address and the bytes already read.
            on_stray: called with the host of a rejected client, the reason and the first bytes that it sent.
        """
        self._loop = loop
        self._on_player = on_player
        self._on_stray = on_stray
        for sock in self.sockets:
            loop.add_reader(sock, self._accept, loop, sock)

    @property
    def has_client(self) -> bool:
        """A client is connected that is not recognised yet."""
        return bool(self._clients)

    def _accept(self, loop: AbstractEventLoop, listener: socket.socket) -> None:
        try:
            sock, address = listener.accept()
        except (*WOULD_BLOCK, ConnectionError):
            # The client has left between the event and this call.
            return
        except OSError as error:
            # Usually EMFILE. The connection stays in the queue and the socket readable, so the loop would spin.
            _log.warning("port %d: cannot accept a connection: %s", self.port, error.strerror)
            loop.remove_reader(listener)
            loop.call_later(ACCEPT_RETRY_S, self._listen_again, loop, listener)
            return
        sock.setblocking(False)
        # Lines are small, and none may wait for the acknowledgement of the one before.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._is_version is None:
            self._on_player(sock, address[:2], b"")
            return
        keep_alive(sock)
        if len(self._clients) >= MAX_CLIENTS:
            # The oldest: a flood of silent clients must not lock the player out.
            self._reject(loop, next(iter(self._clients)), StrayProblem.SILENT)
        timer = loop.call_later(CLIENT_TIMEOUT_S, self._reject, loop, sock, StrayProblem.SILENT)
        self._clients[sock] = _Client(address[:2], bytearray(), timer, self._key is not None)
        loop.add_reader(sock, self._read_first_lines, loop, sock)

    def _listen_again(self, loop: AbstractEventLoop, listener: socket.socket) -> None:
        if listener in self.sockets:
            loop.add_reader(listener, self._accept, loop, listener)

    def _read_first_lines(self, loop: AbstractEventLoop, sock: socket.socket) -> None:
        """Read a client's first lines, and accept or reject it as soon as they suffice."""
        client = self._clients[sock]
        received = client.received
        try:
            # Never 0 bytes, which would look like the end of the stream: a client with so many bytes is decided
            # already.
            data = sock.recv(MAX_LINE_BYTES - len(received))
        except WOULD_BLOCK:
            return
        except OSError:
            data = b""
        received += data
        if client.needs_key and self._key is not None:
            line, end, rest = bytes(received).partition(b"\n")
            # A longer line cannot be the key.
            if not end and data and len(received) <= len(self._key):
                acknowledge(sock)
                return
            # Compared in constant time, so that a client cannot find the key byte by byte.
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
            client = self._remove(loop, sock)
            self._on_player(sock, client.address, bytes(received))
        else:
            self._reject_unknown(loop, sock, StrayProblem.NO_VERSION)

    def _reject_unknown(self, loop: AbstractEventLoop, sock: socket.socket, problem: StrayProblem) -> None:
        """Reject a client that is not the player, or that left without sending anything."""
        if not self._clients[sock].received:
            problem = StrayProblem.LEFT
        self._reject(loop, sock, problem)

    def _remove(self, loop: AbstractEventLoop, sock: socket.socket) -> _Client:
        client = self._clients.pop(sock)
        client.timer.cancel()
        loop.remove_reader(sock)
        return client

    def _reject(self, loop: AbstractEventLoop, sock: socket.socket, problem: StrayProblem) -> None:
        client = self._remove(loop, sock)
        sock.close()
        self._on_stray(client.address[0], problem, bytes(client.received[:QUOTED_BYTES]))

    def unwatch(self) -> None:
        """Stop accepting clients, and silently reject those that wait. The port stays open."""
        if self._loop is not None:
            for sock in self.sockets:
                self._loop.remove_reader(sock)
            for sock in list(self._clients):
                self._remove(self._loop, sock)
                sock.close()
            self._loop = None

    def close(self) -> None:
        """Close the port, and silently reject the clients that wait. A second call has no effect."""
        self.unwatch()
        for sock in self.sockets:
            sock.close()
        self.sockets = []
