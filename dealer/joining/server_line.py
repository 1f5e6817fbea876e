"""The connection to a server over which a client gives commands and is told what happens."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import cast

from dealer.errors import JoinError, ServerLostError
from dealer.joining.settings import JoinSettings
from dealer.table.door import keep_alive
from protocol import RemoteProtocolError
from protocol.benchmark import BAD_LOGIN, LOGGED_IN, UNKNOWN
from protocol.joining import (
    GameLine,
    Joined,
    JoiningRequest,
    JoiningTold,
    Refused,
    ShowGame,
    format_message,
    read_told,
)

__all__ = ["ServerLine", "connected"]

_MOST_LINE_BYTES = 1 << 14
_END_OF_GAME = "END GAMEDEF"


async def connected(settings: JoinSettings) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the server.

    Raises:
        ServerLostError: nobody answers there.
        JoinError: the server's certificate is not believed, or it does not speak TLS.
    """
    context = None
    if settings.uses_tls:
        try:
            context = ssl.create_default_context(cafile=None if settings.ca is None else str(settings.ca))
        except OSError as error:
            raise JoinError(f"{settings.ca}: {error.strerror or error}") from None
    try:
        async with asyncio.timeout(settings.answer_s):
            reader, writer = await asyncio.open_connection(
                settings.host, settings.port, limit=_MOST_LINE_BYTES, ssl=context
            )
    except ssl.SSLCertVerificationError as error:
        raise JoinError(f"{settings.address}: its certificate is not believed: {error.verify_message}") from None
    except ssl.SSLError as error:
        raise JoinError(f"{settings.address} does not speak TLS ({error.reason})") from None
    except TimeoutError:
        raise ServerLostError(f"nobody answers at {settings.address}") from None
    except OSError as error:
        # Asyncio has words of its own, which name the address once more.
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
        raise ServerLostError(f"cannot connect to {settings.address}: {reason}") from None
    with contextlib.suppress(OSError):
        keep_alive(cast(socket.socket, writer.get_extra_info("socket")))
    return reader, writer


class ServerLine:
    """A connection on which a client has logged in.

    line = await ServerLine.open(settings)
    line.say(Join(...))
    async for told in line.told():
        ...
    """

    def __init__(self, settings: JoinSettings, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a connection; see `open`."""
        self._settings = settings
        self._reader = reader
        self._writer = writer
        self._early: deque[JoiningTold] = deque()

    @classmethod
    async def open(cls, settings: JoinSettings) -> ServerLine:
        """Connect and log in.

        Raises:
            ServerLostError: nobody answers, or the connection ends.
            JoinError: the server does not let this user in, or is not one.
        """
        line = cls(settings, *await connected(settings))
        try:
            line._writer.write(f"{settings.user} {settings.token}\n".encode("utf-8", "surrogateescape"))
            answer = await line._line()
            while answer.startswith("# "):
                raise ServerLostError(f"{settings.address}: {answer[2:].strip()}")
            if answer.startswith("HTTP/"):
                raise JoinError(
                    f"{settings.address} is a port for browsers: name the server's text port, which it reports when it "
                    "starts; 54000 unless it is configured otherwise"
                )
            if answer == BAD_LOGIN:
                raise JoinError(f"{settings.address} does not know this user and token")
            if answer != LOGGED_IN:
                raise JoinError(f"{settings.address} is not a server for bots: it said {answer[:60].strip()!r}")
        except BaseException:
            line.close()
            raise
        return line

    async def _line(self) -> str:
        """The next line.

        Raises:
            ServerLostError: the connection has ended, or nothing comes in time.
            JoinError: what comes is no line.
        """
        try:
            async with asyncio.timeout(self._settings.answer_s):
                return await self._next_line()
        except TimeoutError:
            raise ServerLostError(f"{self._settings.address} does not answer") from None

    async def _next_line(self) -> str:
        try:
            line = await self._reader.readline()
        except OSError as error:
            raise ServerLostError(f"the connection has broken: {error.strerror or error}") from None
        except ValueError:
            raise JoinError(f"{self._settings.address} is not a server for bots: it sends endless lines") from None
        if not line.endswith(b"\n"):
            raise ServerLostError("the server has closed the connection")
        return line.decode("utf-8", "replace")

    def say(self, request: JoiningRequest) -> None:
        """Ask for something."""
        self._writer.write(format_message(request).encode("utf-8", "surrogateescape"))

    async def told(self) -> AsyncIterator[JoiningTold]:
        """What the server tells, until the connection ends.

        Raises:
            ServerLostError: it has ended.
            JoinError: what comes are no lines.
        """
        while True:
            if self._early:
                yield self._early.popleft()
                continue
            found = self._read(await self._next_line())
            if found is not None:
                yield found

    def _read(self, line: str) -> JoiningTold | None:
        if line == UNKNOWN:
            raise JoinError(f"{self._settings.address} does not take bots that join: it is a server of another kind")
        try:
            return read_told(line)
        except RemoteProtocolError as error:
            raise JoinError(f"{self._settings.address} is a server of another version: {error}") from None

    async def answer(self) -> JoiningTold:
        """The next thing that the server tells, in time.

        Raises:
            ServerLostError: the connection has ended, or nothing comes.
            JoinError: the server is of another kind.
        """
        while True:
            found = self._read(await self._line())
            if found is not None:
                return found

    async def joined(self, request: JoiningRequest) -> Joined:
        """Join; what is told meanwhile is told later.

        Raises:
            JoinError: the server does not take the bot.
            ServerLostError: the connection has ended.
        """
        self.say(request)
        while True:
            told = await self.answer()
            if isinstance(told, Joined):
                return told
            if isinstance(told, Refused):
                raise JoinError(f"{self._settings.address} does not take the bot: {told.reason}")
            self._early.append(told)

    async def game(self, name: str) -> str | None:
        """The definition of a game; None if the server has none of this name.

        Raises:
            ServerLostError: the connection has ended.
            JoinError: the server is of another kind.
        """
        self.say(ShowGame(name))
        lines: list[str] = []
        while True:
            told = await self.answer()
            if isinstance(told, GameLine):
                lines.append(told.line)
                if told.line.upper() == _END_OF_GAME:
                    return "\n".join(lines) + "\n"
            elif isinstance(told, Refused):
                return None
            else:
                self._early.append(told)

    async def quit(self, cancelling: Sequence[str] = ()) -> None:
        """Cancel the requests with these tags, say that the client leaves, and close."""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(2.0):
                self._writer.write("".join([*(f"CANCEL {tag}\n" for tag in cancelling), "QUIT\n"]).encode())
                await self._writer.drain()
                # The server closes when it has done what there is to do.
                while await self._reader.read(1 << 14):
                    pass
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()
