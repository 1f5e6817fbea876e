"""Limits on the connections of the port of the pages.

`ConnectionLimits` wraps both sides of the HTTP server. Below it, every connection is a `LimitedConnection`, an asyncio
protocol that forwards events to the server's own protocol. Above it, ASGI middleware reports the begin and the end of
each request.

A slow client delays no other client. When all connections are in use, a new one replaces the oldest that has neither a
login nor a token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from typing import Any, Final, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dealer.server.server_settings import WebSettings
from dealer.server.textport.port import CLOSING_TIMEOUT_S, MAX_CLOSING
from dealer.table.loop import SharedBufferProtocol
from dealer.web.visitor import KNOWN_KEY

_MAX_FIRST_LINE_BYTES: Final = 32_768
_UNAVAILABLE: Final = "503 Service Unavailable"


class ConnectionLimits:
    """Connections of a port and the limits on them.

    Args:
        settings: the limits, and the proxies to which the limit per address does not apply.
    """

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self._proxies = [ip_network(proxy) for proxy in settings.proxies]
        self._connections: dict[tuple[str, int], LimitedConnection] = {}
        self._leaving: set[LimitedConnection] = set()

    def limit_protocol(self, make_protocol: Callable[..., asyncio.Protocol]) -> Callable[..., asyncio.Protocol]:
        """Wrap a constructor of the HTTP server's protocols."""

        def make_limited(**arguments: Any) -> asyncio.BaseProtocol:
            return LimitedConnection(self, make_protocol(**arguments))

        return cast(Callable[..., asyncio.Protocol], make_limited)

    def limit_app(self, app: ASGIApp) -> ASGIApp:
        """Wrap the outermost application, whose clients have the addresses of the connections."""

        async def limited(scope: Scope, receive: Receive, send: Send) -> None:
            client = scope.get("client")
            if scope["type"] == "websocket" and client is None:
                # A connection without an address has been reset. uvicorn reports an error if the application answers.
                while (await receive())["type"] != "websocket.disconnect":
                    pass
                return
            connection = self._connections.get(client or ("", 0))
            if connection is None:
                await app(scope, receive, send)
            else:
                await connection.answer(app, scope, receive, send)

        return limited

    def admit(self, connection: LimitedConnection) -> str:
        """Register a new connection; return a sentence that refuses it, or an empty text."""
        host = connection.client[0]
        own_count = sum(client[0] == host for client in self._connections)
        # A proxy carries the requests of many clients and has to limit them itself.
        is_proxy = any(ip_address(host) in network for network in self._proxies)
        if own_count >= self.settings.max_connections_per_address and not is_proxy:
            return "Your address has too many connections to this server. Close some and try again."
        if len(self._connections) >= self.settings.max_connections:
            sentence = "The server has too many connections. Try again in a few seconds."
            # A dict keeps the order of arrival.
            unknown = (other for other in self._connections.values() if not other.is_known)
            oldest = next(unknown, None)
            if oldest is None:
                return sentence
            oldest.dismiss(_UNAVAILABLE, sentence)
        self._connections[connection.client] = connection
        return ""

    def start_closing(self, connection: LimitedConnection) -> bool:
        """Stop counting a connection that is being closed; return whether it may send a last response."""
        self.forget(connection)
        self._leaving.add(connection)
        return len(self._leaving) <= MAX_CLOSING

    def forget(self, connection: LimitedConnection) -> None:
        self._leaving.discard(connection)
        if self._connections.get(connection.client) is connection:
            del self._connections[connection.client]


class LimitedConnection(SharedBufferProtocol):
    """Connection in front of a protocol of the HTTP server.

    Attributes:
        client: IP address and port of the client.
    """

    def __init__(self, limits: ConnectionLimits, server_protocol: asyncio.Protocol) -> None:
        self.client = ("", 0)
        self._limits = limits
        self._settings = limits.settings
        self._protocol: asyncio.Protocol | None = server_protocol
        self._transport: asyncio.Transport
        self._lost = asyncio.Event()
        self._request_timer: asyncio.TimerHandle | None = None
        self._reading_timer: asyncio.TimerHandle | None = None
        self._first_line: bytes | None = b""
        self._requests = 0
        self._is_idle = False
        self._is_answering = False
        self._is_upgraded = False
        self._scope: Scope = {}

    @property
    def is_known(self) -> bool:
        """The last request had a login or a token, or opened a WebSocket."""
        return self._is_upgraded or bool(self._scope.get(KNOWN_KEY))

    @property
    def is_closing(self) -> bool:
        return self._protocol is None or self._transport.is_closing()

    # ---- below the HTTP server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Admit the connection or refuse it with a sentence."""
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        if peer is None:
            # The client has already disconnected.
            self._transport.abort()
            return
        self.client = (str(peer[0]), int(peer[1]))
        refusal = self._limits.admit(self)
        if refusal or self._protocol is None:
            self._protocol = None
            self._close_with(_UNAVAILABLE, refusal)
            return
        self._protocol.connection_made(cast(asyncio.Transport, _ServerTransport(self, self._transport)))
        self._limit_request(self._settings.header_timeout_s)

    def data_received(self, data: bytes) -> None:
        """Forward bytes to the server, or answer at once if they are not HTTP."""
        if self._protocol is None:
            return
        if self._is_idle:
            self._is_idle = False
            self._limit_request(self._settings.header_timeout_s)
        if self._first_line is not None:
            self._first_line += data[:_MAX_FIRST_LINE_BYTES]
            line, end, _ = self._first_line.partition(b"\n")
            if end or len(line) > _MAX_FIRST_LINE_BYTES:
                self._first_line = None
            if end and b" HTTP/" not in line:
                self.dismiss("400 Bad Request", "This port speaks HTTP only. The text protocol has a port of its own.")
                return
        self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        return None if self._protocol is None else self._protocol.eof_received()

    def pause_writing(self) -> None:
        """Limit the time in which the client must read."""
        self._limit_reading(self._settings.write_timeout_s)
        if self._protocol is not None:
            self._protocol.pause_writing()

    def resume_writing(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
        if self._protocol is not None:
            self._protocol.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost.set()
        self._limits.forget(self)
        for timer in (self._request_timer, self._reading_timer):
            if timer is not None:
                timer.cancel()
        if self._protocol is not None:
            self._protocol.connection_lost(exc)

    def switch_protocol(self, protocol: asyncio.Protocol) -> None:
        """Continue with the server's WebSocket protocol."""
        self._is_upgraded = True
        self._protocol = protocol
        if self._request_timer is not None:
            self._request_timer.cancel()

    def close(self) -> None:
        """Close the connection once the client has read the rest, within the time limit."""
        if self._protocol is not None and not self._lost.is_set():
            self._transport.close()
            self._limit_reading(self._settings.write_timeout_s)

    def dismiss(self, status: str, sentence: str) -> None:
        """Close the connection, with a last response if none has begun."""
        if self._protocol is not None:
            # Detach the server's protocol first, so that it writes nothing after the last response.
            protocol = self._protocol
            self._protocol = None
            protocol.connection_lost(ConnectionAbortedError())
        self._close_with(status, sentence)

    def _close_with(self, status: str, sentence: str) -> None:
        # The client would read a second response as part of the one that has begun.
        if not self._limits.start_closing(self) or self._is_answering:
            self._transport.abort()
            return
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(sentence) + 1}\r\n"
        if status == _UNAVAILABLE:
            head += "Retry-After: 5\r\n"
        self._transport.write(f"{head}Connection: close\r\n\r\n{sentence}\n".encode())
        if self._transport.can_write_eof():
            try:
                self._transport.write_eof()
            except OSError:
                # The client has reset the connection.
                self._transport.abort()
                return
        # An immediate close would answer bytes still on their way with a reset, which discards the sentence.
        self._limit_request(CLOSING_TIMEOUT_S)

    def _limit_request(self, time_s: float) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
        self._request_timer = asyncio.get_running_loop().call_later(time_s, self._transport.abort)

    def _limit_reading(self, time_s: float) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
        self._reading_timer = asyncio.get_running_loop().call_later(time_s, self._transport.abort)

    # ---- above the HTTP server

    async def answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of this connection with an application."""
        is_denied = False

        async def observe(message: Message) -> None:
            nonlocal is_denied
            if message["type"] == "http.response.start":
                self._is_answering = True
            elif message["type"] == "websocket.http.response.start":
                is_denied = True
            await send(message)

        if self._request_timer is not None and self._protocol is not None:
            self._request_timer.cancel()
        self._requests += 1
        self._is_idle = False
        self._scope = scope
        try:
            await app(scope, receive, observe)
        finally:
            self._requests -= 1
            if self._requests == 0 and not self.is_closing and not self._is_upgraded:
                self._is_answering = False
                self._is_idle = True
                # The server itself closes an idle connection after `keep_alive_s`. The additional time covers cases
                # that it does not see: an incomplete request, an unread body, a response that nobody reads.
                self._limit_request(self._settings.keep_alive_s + self._settings.header_timeout_s)
        if is_denied:
            # uvicorn reports an error if the application returns from a denied handshake before the connection ends.
            await self._lost.wait()


class _ServerTransport:
    """Transport of a connection as the HTTP server's protocols see it."""

    def __init__(self, connection: LimitedConnection, transport: asyncio.Transport) -> None:
        self._connection = connection
        self._transport = transport
        self.write = transport.write
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading

    def set_protocol(self, protocol: asyncio.Protocol) -> None:
        self._connection.switch_protocol(protocol)

    def close(self) -> None:
        self._connection.close()

    def is_closing(self) -> bool:
        return self._connection.is_closing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
