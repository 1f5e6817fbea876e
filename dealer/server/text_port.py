"""The text port: the ACPC's benchmark protocol (`protocol.benchmark`) over TCP, in front of a `Service`.

Every connection has a task of its own and bounds of its own: for a line, for what waits to be read by the client, for
the time to log in, to read and to say nothing. Nothing that one client does or leaves undone is felt by another: when
all connections are taken, the oldest that has not logged in makes room for the new one. What the reference does not say
stands in lines that begin with ``# ``.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections import Counter
from typing import cast

from dealer.errors import ListenError
from dealer.server.accounts import Accounts, GuessLimit, User
from dealer.server.hosting import Hosting
from dealer.server.service import Service
from dealer.server.text_client import Connection
from dealer.server.tls import tls_context
from dealer.table.door import keep_alive
from engine import Seat
from protocol.benchmark import BAD_LOGIN, Login, remark
from protocol.joining import Refused, SeatClaim, format_message

__all__ = ["TextPort"]

_log = logging.getLogger(__name__)

_READ_BYTES = 4096
_LAST_WORDS_S = 1.0
"""A client whose connection is closed has so long to read why."""
_MOST_LEAVING = 100
_FULL = "too many connections; try again later"


class TextPort:
    """Listens, and speaks with every client.

    Attributes:
        addresses: where it listens, once started: addresses and ports.
    """

    def __init__(self, service: Service, accounts: Accounts, guesses: GuessLimit | None = None) -> None:
        """Prepare the port; see `start`."""
        self.addresses: list[tuple[str, int]] = []
        self._service = service
        self._accounts = accounts
        self._guesses = GuessLimit() if guesses is None else guesses
        self._hosting = Hosting(service)
        self._server: asyncio.Server | None = None
        self._by_address: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._strangers: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._is_closing = False

    async def start(self) -> None:
        """Listen.

        Raises:
            ListenError: the port cannot be had.
            ConfigError: the certificate cannot be used.
        """
        settings = self._service.settings
        tls = None if not settings.certificate else tls_context(settings.certificate, settings.key)
        try:
            self._server = await asyncio.start_server(
                self._accept,
                settings.host,
                settings.port,
                limit=_READ_BYTES,
                backlog=100,
                ssl=tls,
                ssl_handshake_timeout=None if tls is None else settings.login_timeout_s,
            )
        except (OSError, OverflowError) as error:
            raise ListenError(
                settings.host, settings.port, Seat(0), getattr(error, "strerror", None) or error
            ) from None
        self.addresses = [sock.getsockname()[:2] for sock in self._server.sockets]

    async def close(self) -> None:
        """Stop listening and close every connection, also of clients that have yet to read something."""
        self._is_closing = True
        if self._server is not None:
            self._server.close()
        tasks = self._tasks | self._leaving
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = str((writer.get_extra_info("peername") or ["?"])[0])
        settings = self._service.settings
        is_full = len(self._tasks - self._leaving) >= settings.max_connections
        if self._by_address[address] >= settings.max_connections_per_address or (is_full and not self._displace()):
            self._refuse(reader, writer)
            return
        with contextlib.suppress(OSError):
            keep_alive(cast(socket.socket, writer.get_extra_info("socket")))
        self._by_address[address] += 1
        task = asyncio.create_task(self._serve(address, reader, writer))
        self._tasks.add(task)
        self._strangers[task] = writer

        def on_done(task: asyncio.Task[None]) -> None:
            # Also where it was cancelled before its first step.
            writer.close()
            self._tasks.discard(task)
            self._leaving.discard(task)
            self._strangers.pop(task, None)
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.error("connection from %s", address, exc_info=error)

        task.add_done_callback(on_done)

    def _displace(self) -> bool:
        """Close the oldest connection that has not logged in; False if there is none."""
        if not self._strangers:
            return False
        task = next(iter(self._strangers))
        self._strangers.pop(task).write(remark(_FULL).encode())
        self._leaving.add(task)
        task.cancel()
        return True

    def _refuse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Close a connection for which there is no room."""
        if len(self._leaving) >= _MOST_LEAVING:
            writer.transport.abort()
            return

        async def close() -> None:
            try:
                async with asyncio.timeout(_LAST_WORDS_S):
                    writer.write(remark(_FULL).encode())
                    if writer.can_write_eof():
                        writer.write_eof()
                    # Closed at once, it would be reset by what the client sends meanwhile, and the sentence lost.
                    while await reader.read(_READ_BYTES):
                        pass
            except (OSError, TimeoutError):
                pass
            finally:
                writer.transport.abort()

        task = asyncio.create_task(close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _serve(self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(self._service, self._hosting, address, reader, writer)
        try:
            async with asyncio.timeout(self._service.settings.login_timeout_s):
                first = await connection.first_event()
            task = asyncio.current_task()
            assert task is not None
            self._strangers.pop(task, None)
            if isinstance(first, SeatClaim):
                await self._seat(address, connection, first)
            elif first is not None and (user := self._logged_in(address, connection, first)) is not None:
                await connection.serve(user)
        except (OSError, TimeoutError):
            writer.transport.abort()
        finally:
            self._hosting.left(connection, for_good=connection.has_quit)
            self._service.leave(connection)
            writer.close()
            if not self._is_closing:
                with contextlib.suppress(OSError, TimeoutError):
                    is_leaving = asyncio.current_task() in self._leaving
                    async with asyncio.timeout(_LAST_WORDS_S if is_leaving else self._service.settings.write_timeout_s):
                        await writer.wait_closed()
            writer.transport.abort()

    async def _seat(self, address: str, connection: Connection, claim: SeatClaim) -> None:
        """Carry the bytes of a seat, if the claim is good."""
        if self._guesses.wait_s(address) or not await connection.carry(claim):
            self._guesses.note_failure(address)
            _log.info("a connection from %s has claimed a seat in vain", address)
            connection.write(format_message(Refused("SEAT", None, "the secret is not good, or not any more")))

    def _logged_in(self, address: str, connection: Connection, login: Login) -> User | None:
        """The user who logs in; None if it is not known."""
        wait_s, name_wait_s = self._guesses.wait_s(address), self._guesses.name_wait_s(address, login.name)
        user = None
        if not wait_s:
            user = self._accounts.find(login.name, login.password, by_token_only=name_wait_s > 0)
        if user is None:
            self._guesses.note_failure(address, login.name)
            _log.info("a connection from %s has failed to log in", address)
            connection.write(BAD_LOGIN)
            if wait_s := wait_s or name_wait_s:
                connection.write(remark(f"too many failures to log in; wait {wait_s} s"))
            return None
        self._guesses.note_login(address, login.name)
        return user
