"""Serve an application on a port: uvicorn in our event loop, within `dealer.web.connection_limits`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Iterator
from functools import partial
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from dealer.errors import ConfigError, ListenError, SettingProblem
from dealer.server.server_settings import ServerSettings, WebSettings
from dealer.table.listener import REACHABLE, listen_patiently, reachable_at
from dealer.web.connection_limits import ConnectionLimits
from engine import Seat
from protocol.joining import MAX_MESSAGE_BYTES

_BACKLOG = 200
_MAX_HEAD_BYTES = 32_768
_GRACE_S = 1
"""Time for responses to complete when the server stops; event streams end at once."""


class _Server(uvicorn.Server):
    """uvicorn without signal handlers; the program installs its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serve_app(app: ASGIApp, host: str, settings: WebSettings, *, busy_s: float = 0.0) -> AsyncIterator[str]:
    """Serve an application until the end of the block; yield the address for browsers.

    Args:
        host: address to listen on.
        settings: port, limits and certificate.
        busy_s: time to wait for a port that is in use.

    Raises:
        ListenError: the port is unavailable.
        ConfigError: the certificate cannot be read.
    """
    limits = ConnectionLimits(settings)
    config = uvicorn.Config(
        limits.limit_app(app),
        http=limits.limit_protocol(H11Protocol),  # type: ignore[arg-type]
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        # Warnings would report every client that does not speak HTTP.
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=max(1, round(settings.keep_alive_s)),
        timeout_graceful_shutdown=_GRACE_S,
        h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
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
        # uvicorn has a flag for its start, but no event.
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
        # asyncio sets TCP_NODELAY only on sockets created with IPPROTO_TCP; without it a small response takes 40 ms.
        sock = stack.enter_context(socket.socket(family, kind, protocol))
        if os.name != "nt":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(_BACKLOG)
        sock.setblocking(False)
        stack.pop_all()
    return sock


def page_address(host: str, port: int, *, is_secure: bool) -> str:
    """Return the URL of the first page."""
    name = REACHABLE.get(host, host)
    if ":" in name:
        name = f"[{name}]"
    scheme = "https" if is_secure else "http"
    return f"{scheme}://{name}:{port}/"


def public_addresses(settings: ServerSettings, page: str) -> tuple[str, ...]:
    """Return the addresses of the pages for other machines, each with a slash at its end.

    Args:
        page: address for this machine.
    """
    if settings.web.address:
        return (f"{settings.web.address}/",)
    hosts = reachable_at(settings.host)
    if hosts != (settings.host,) and settings.web.names:
        # The server answers requests for these host names only.
        hosts = settings.web.names
    port = urlsplit(page).port or 0
    return tuple(page_address(host, port, is_secure=bool(settings.web.certificate)) for host in hosts)
