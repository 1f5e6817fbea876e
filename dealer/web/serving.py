"""Answers on a port: uvicorn as a part of our own event loop, within bounds of its connections.

A client that sends the head of a request slowly, takes nothing of an answer or holds many connections costs its own
connection and nobody else's time: all three have bounds here, below the application.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from dealer.errors import ConfigError, ListenError, SettingProblem
from dealer.server.settings import WebSettings
from engine import Seat

__all__ = ["answering"]

_BACKLOG = 200
_MOST_HEAD_BYTES = 32_768
_GRACE_S = 1
"""At the end, answers that are being given have this long; events stop at once."""


class _Server(uvicorn.Server):
    """uvicorn without its handlers of signals: the program that it is a part of has its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Connection(H11Protocol):
    """A connection with bounds."""

    def __init__(self, *args: Any, bounds: WebSettings, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bounds = bounds
        self._deadline: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        same = sum(isinstance(one, _Connection) and (one.client or ("",))[0] == host for one in self.connections)
        if len(self.connections) > self._bounds.max_connections or same > self._bounds.max_connections_per_address:
            transport.abort()
            return
        self._expect_head()

    def _expect_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self._bounds.header_timeout_s, self._head_is_late)

    def _head_is_late(self) -> None:
        self._deadline = None
        self.transport.abort()

    def handle_events(self) -> None:
        """Take what has come; a head that is not whole has its time."""
        super().handle_events()
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._expect_head()
        elif self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def pause_writing(self) -> None:
        """The client takes nothing of what it is sent."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self._bounds.write_timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        """The client takes something."""
        super().resume_writing()
        self._clear()

    def timeout_keep_alive_handler(self) -> None:
        """Nothing more is asked for."""
        super().timeout_keep_alive_handler()
        self._stalled = self.loop.call_later(self._bounds.write_timeout_s, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._clear()
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _clear(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


@contextlib.asynccontextmanager
async def answering(app: ASGIApp, host: str, settings: WebSettings) -> AsyncIterator[str]:
    """Answer on a port until the end of the block; gives the address for browsers.

    Args:
        app: the application.
        host: the address to listen on.
        settings: with the port, the bounds and the certificate.

    Raises:
        ListenError: the port cannot be had.
        ConfigError: the certificate cannot be read.
    """
    config = uvicorn.Config(
        app,
        http=partial(_Connection, bounds=settings),  # type: ignore[arg-type]
        ws="none",
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
    listeners = _listeners(host, settings.port)
    server = _Server(config)
    task = asyncio.create_task(server.serve(listeners))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        if task.done():
            task.result()
        yield _address(host, listeners[0].getsockname()[1], is_secure=bool(settings.certificate))
    finally:
        server.should_exit = True
        await asyncio.wait([task])
        for sock in listeners:
            sock.close()


def _listeners(host: str, port: int) -> list[socket.socket]:
    try:
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        # asyncio has small answers sent at once (TCP_NODELAY) where a socket says that it is of TCP: 40 ms a call.
        sock = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ListenError(host, port, Seat(0), error.strerror or str(error)) from None
    try:
        if os.name != "nt":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(_BACKLOG)
    except OSError as error:
        sock.close()
        raise ListenError(host, port, Seat(0), error.strerror or str(error)) from None
    sock.setblocking(False)
    return [sock]


def _address(host: str, port: int, *, is_secure: bool) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"{'https' if is_secure else 'http'}://{shown}:{port}/"
