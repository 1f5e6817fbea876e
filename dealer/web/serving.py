"""Answers on a port: uvicorn as a part of our own event loop, within bounds of its connections.

A client that sends a request slowly, takes nothing of an answer or holds many connections costs its own connection and
no other client's time: all three have bounds here, below the application. When all connections are taken, the oldest
that has shown neither a login nor a token makes room for the new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

import h11
import uvicorn
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request
from websockets.protocol import State

from dealer.errors import ConfigError, ListenError, SettingProblem
from dealer.server.server_settings import WebSettings
from dealer.server.textport.port import LAST_WORDS_S, MOST_LEAVING, MOST_UNSENT_BYTES
from dealer.table.listener import REACHABLE, listen_patiently
from dealer.table.loop import SmallReads
from dealer.web.visitor import KNOWN_KEY
from engine import Seat
from protocol.joining import MOST_MESSAGE_BYTES

_BACKLOG = 200
_MOST_HEAD_BYTES = 32_768
_CHANNEL_KEY = "arena.channel"
_GRACE_S = 1
"""At the end, answers that are being given have this long; events stop at once."""


_clients_log = logging.getLogger("uvicorn.error.clients")
# What clients send that is not HTTP is answered, and cannot be mended by the operator.
_clients_log.setLevel(logging.ERROR)


class _Server(uvicorn.Server):
    """uvicorn without its handlers of signals: the program that it is a part of has its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Channel(WebSocketsSansIOProtocol, SmallReads):
    """A WebSocket whose texts can be taken and sent without a task: a match would wait for it.

    Private in uvicorn, like `H11Protocol`.

    Attributes:
        on_text: called with every text; returns whether it has taken it. What it leaves is for the application.
    """

    on_text: Callable[[bytes], bool] | None = None
    _is_leaving = False

    def handle_connect(self, event: Request) -> None:
        """Begin to answer a request for a WebSocket."""
        super().handle_connect(event)
        if not self.handshake_complete:
            self.scope[_CHANNEL_KEY] = self  # type: ignore[literal-required]

    async def send(self, message: Any) -> None:
        """Send what the application says; a refusal ends the handshake, which uvicorn takes for a mistake.

        Raises:
            ClientDisconnected: the connection is closed, or about to be.
        """
        if self.close_sent:
            # The client's own close has been answered, or it has broken the protocol: no mistake of the application.
            raise ClientDisconnected
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True

    def send_receive_event_to_app(self) -> None:
        """Hand on a message."""
        if self.on_text is not None and self.curr_msg_data_type == "text" and self.on_text(b"".join(self.frames)):
            self.frames = []
        else:
            super().send_receive_event_to_app()

    def send_text(self, text: bytes) -> None:
        """Send a text at once; a client that leaves too much unread is let go."""
        if self.conn.state is not State.OPEN or self.transport.is_closing():
            return
        self.conn.send_text(text)
        self.transport.write(b"".join(self.conn.data_to_send()))
        if self.transport.get_write_buffer_size() > MOST_UNSENT_BYTES:
            self.transport.abort()

    def end(self) -> None:
        """Have the application see the end of the connection."""
        self.queue.put_nowait({"type": "websocket.disconnect", "code": 1008})


def channel_of(connection: HTTPConnection) -> Channel:
    """The WebSocket of a connection."""
    channel = connection.scope[_CHANNEL_KEY]
    assert isinstance(channel, Channel)
    return channel


class _Connection(H11Protocol):
    """A connection with bounds.

    uvicorn has no public place for them, and `H11Protocol` is private: `pyproject.toml` bounds its version from above.
    """

    def __init__(self, *args: Any, bounds: WebSettings, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bounds = bounds
        self._limits: dict[str, asyncio.TimerHandle] = {}
        """What the client has to do, and when the connection is aborted otherwise."""
        self._made_s = self.loop.time()
        self._is_leaving = False
        self.logger = _clients_log

    @property
    def _is_known(self) -> bool:
        return self.scope is not None and bool(self.scope.get(KNOWN_KEY))

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        there = [one for one in self.connections if isinstance(one, _Connection | Channel) and not one._is_leaving]
        host = self.client[0] if self.client else ""
        self._limit("send", self._bounds.header_timeout_s)
        if sum((one.client or ("",))[0] == host for one in there) > self._bounds.max_connections_per_address:
            self._dismiss("Your address has too many connections to this server; close some, and try again.")
        elif len(there) > self._bounds.max_connections:
            strangers = [one for one in there if isinstance(one, _Connection) and one is not self and not one._is_known]
            last = min(strangers, key=lambda one: one._made_s, default=self)
            last._dismiss("The server has too many connections; try again in some seconds.")

    def _dismiss(self, sentence: str) -> None:
        """Close the connection, after a sentence if no answer has begun."""
        self._is_leaving = True
        self._unset_keepalive_if_required()
        self._unlimit("send")
        is_answered = self.cycle is None or self.cycle.response_complete
        if not is_answered:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        leaving = sum(isinstance(one, _Connection) and one._is_leaving for one in self.connections)
        if leaving > MOST_LEAVING or not (is_answered or not self.cycle.response_started):
            self.transport.abort()
            return
        head = (
            f"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: {len(sentence) + 1}\r\n"
        )
        self.transport.write(f"{head}Retry-After: 5\r\nConnection: close\r\n\r\n{sentence}\n".encode())
        if self.transport.can_write_eof():
            self.transport.write_eof()
        # Closed at once, it would be reset by what the client sends meanwhile, and the sentence lost.
        self._limit("send", LAST_WORDS_S)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Leave the connection to a `Channel`."""
        self._unlimit("send")
        super().handle_websocket_upgrade(event)

    def data_received(self, data: bytes) -> None:
        """Take what comes, unless the connection is about to be closed."""
        if not self._is_leaving:
            super().data_received(data)

    def _limit(self, what: str, time_s: float) -> None:
        """Abort the connection if the client has not done something after some time."""
        if what not in self._limits:
            self._limits[what] = self.loop.call_later(time_s, self.transport.abort)

    def _unlimit(self, what: str) -> None:
        if what in self._limits:
            self._limits.pop(what).cancel()

    def _set_deadline(self) -> None:
        """A head that is not whole has its time, and the rest of a body that is already answered."""
        ours, theirs = self.conn.our_state, self.conn.their_state
        if (theirs is h11.IDLE and self.conn.trailing_data[0]) or (theirs is h11.SEND_BODY and ours is h11.DONE):
            self._limit("send", self._bounds.header_timeout_s)
        else:
            self._unlimit("send")

    def handle_events(self) -> None:
        """Take what has come; a first line that is not of HTTP is answered before a second has come."""
        super().handle_events()
        line, end, _ = self.conn.trailing_data[0].partition(b"\n")
        if self.conn.their_state is h11.IDLE and end and b" HTTP/" not in line:
            self.send_400_response("This is not HTTP. The server's text port is another one.")
            return
        self._set_deadline()

    def on_response_complete(self) -> None:
        """An answer is sent."""
        super().on_response_complete()
        self._set_deadline()

    def pause_writing(self) -> None:
        """The client takes nothing of what it is sent."""
        super().pause_writing()
        self._limit("read", self._bounds.write_timeout_s)

    def resume_writing(self) -> None:
        """The client takes something."""
        super().resume_writing()
        self._unlimit("read")

    def timeout_keep_alive_handler(self) -> None:
        """Nothing more is asked for."""
        super().timeout_keep_alive_handler()
        self._limit("read", self._bounds.write_timeout_s)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unlimit("read")
        self._unlimit("send")


@contextlib.asynccontextmanager
async def answering(app: ASGIApp, host: str, settings: WebSettings, *, busy_s: float = 0.0) -> AsyncIterator[str]:
    """Answer on a port until the end of the block; gives the address for browsers.

    Args:
        app: the application.
        host: the address to listen on.
        settings: with the port, the bounds and the certificate.
        busy_s: time to wait for a port that is in use.

    Raises:
        ListenError: the port cannot be had.
        ConfigError: the certificate cannot be read.
    """
    config = uvicorn.Config(
        app,
        http=partial(_Connection, bounds=settings),  # type: ignore[arg-type]
        ws=Channel,
        ws_max_size=MOST_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=max(1, round(settings.keep_alive_s)),
        timeout_graceful_shutdown=_GRACE_S,
        h11_max_incomplete_event_size=_MOST_HEAD_BYTES,
        ssl_certfile=settings.certificate or None,
        ssl_keyfile=settings.key or None,
    )
    try:
        config.load()
    except OSError as error:
        raise ConfigError(
            SettingProblem("web.certificate", f"{settings.certificate}: {error.strerror or error}")
        ) from None
    try:
        listener = await listen_patiently(partial(_listen, host, settings.port), settings.port, busy_s)
    except OSError as error:
        raise ListenError(host, settings.port, Seat(0), error.strerror or str(error)) from None
    server = _Server(config)
    task = asyncio.create_task(server.serve([listener]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        if task.done():
            task.result()
        yield page_address(host, listener.getsockname()[1], is_secure=bool(settings.certificate))
    finally:
        server.should_exit = True
        await asyncio.wait([task])
        listener.close()


async def _listen(host: str, port: int) -> socket.socket:
    with contextlib.ExitStack() as stack:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )[0]
        # asyncio has small answers sent at once (TCP_NODELAY) where a socket is marked as TCP: 40 ms a call.
        sock = stack.enter_context(socket.socket(family, kind, protocol))
        if os.name != "nt":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(_BACKLOG)
        sock.setblocking(False)
        stack.pop_all()
    return sock


def page_address(host: str, port: int, *, is_secure: bool) -> str:
    """The address of the first page, as a browser on this machine or on another takes it."""
    here = REACHABLE.get(host, host)
    shown = f"[{here}]" if ":" in here else here
    return f"{'https' if is_secure else 'http'}://{shown}:{port}/"
