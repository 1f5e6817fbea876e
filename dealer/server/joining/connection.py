"""A client's connection to a server: what it asks, what it gets; with its settings, and its news as values."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

from dealer.errors import JoinError, ServerLostError
from dealer.table.listener import keep_alive
from dealer.table.players import Player
from protocol import RemoteProtocolError
from protocol.benchmark import BAD_LOGIN, LOGGED_IN, UNKNOWN
from protocol.joining import (
    Challenge,
    GameLine,
    Joined,
    JoiningRequest,
    Refused,
    RunOver,
    RunStands,
    SeatOffer,
    ServerMessage,
    ShowGame,
    format_message,
    read_server_message,
)

ALL_GAMES = "all"


@dataclass(frozen=True, slots=True)
class JoinSettings:
    """All about a client.

    Attributes:
        folder: for what the bot prints, and for games.
        games: that it plays; only `ALL_GAMES` for all that the server has.
        is_on_ladder: whether the server may have it play when there are no requests.
        challenges: that are asked for, each with a tag of its own; when all have ended, the client leaves.
        most_runs: after how many runs it leaves; None for any number.
        seed: for the chance decisions of a Python bot; None draws one for every seat.
        ca: the file of the certificates that are believed; None for those of the system.
        retry_s: how long to wait before the first try to connect again; twice as long before every other.
    """

    host: str
    port: int
    user: str
    token: str
    player: Player
    folder: Path
    version: str = "1"
    games: tuple[str, ...] = ("limit",)
    at_once: int = 1
    is_on_ladder: bool = False
    challenges: tuple[Challenge, ...] = ()
    most_runs: int | None = None
    seed: int | None = None
    uses_tls: bool = False
    ca: Path | None = None
    retry_s: float = 0.5
    most_retry_s: float = 30.0
    answer_s: float = 30.0

    @property
    def address(self) -> str:
        """Where the server is, as HOST:PORT."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class JoinedServer:
    """The server has taken the bot; `is_again` after a break."""

    bot: str
    games: tuple[str, ...]
    is_again: bool


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """The server is away; the next try is in so many seconds."""

    problem: str
    retry_s: float


@dataclass(frozen=True, slots=True)
class ChallengeRefused:
    """A challenge is not played."""

    tag: str
    reason: str


@dataclass(frozen=True, slots=True)
class BotFailed:
    """The bot has left a match that goes on."""

    match: str
    reason: str
    last_lines: tuple[str, ...]
    output: Path


News: TypeAlias = JoinedServer | ConnectionLost | ChallengeRefused | BotFailed | SeatOffer | RunStands | RunOver
_MOST_LINE_BYTES = 1 << 14
_END_OF_GAME = "END GAMEDEF"


async def connected(settings: JoinSettings) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the server.

    Raises:
        ServerLostError: the server does not answer.
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
        raise JoinError(f"{settings.address}: its certificate is not trusted: {error.verify_message}") from None
    except ssl.SSLError as error:
        raise JoinError(f"{settings.address} does not speak TLS ({error.reason})") from None
    except TimeoutError:
        raise ServerLostError(f"no answer from {settings.address}") from None
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
    line.send(Join(...))
    async for message in line.messages():
        ...
    """

    def __init__(self, settings: JoinSettings, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._settings = settings
        self._reader = reader
        self._writer = writer
        self._early: deque[ServerMessage] = deque()

    @classmethod
    async def open(cls, settings: JoinSettings) -> ServerLine:
        """Connect and log in.

        Raises:
            ServerLostError: the server does not answer, or the connection ends.
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
                raise JoinError(f"{settings.address} rejects this user and token")
            if answer != LOGGED_IN:
                raise JoinError(f"{settings.address} is not a server for bots: its answer was {answer[:60].strip()!r}")
        except BaseException:
            line.close()
            raise
        return line

    async def _line(self) -> str:
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

    def send(self, request: JoiningRequest) -> None:
        """Ask for something."""
        self._writer.write(format_message(request).encode("utf-8", "surrogateescape"))

    async def messages(self) -> AsyncIterator[ServerMessage]:
        """What the server sends, until the connection ends.

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

    def _read(self, line: str) -> ServerMessage | None:
        if line == UNKNOWN:
            raise JoinError(f"{self._settings.address} does not take bots that join: it is a server of another kind")
        try:
            return read_server_message(line)
        except RemoteProtocolError as error:
            raise JoinError(f"{self._settings.address} is a server of another version: {error}") from None

    async def answer(self) -> ServerMessage:
        """The next message of the server, in time.

        Raises:
            ServerLostError: the connection has ended, or nothing comes.
            JoinError: the server is of another kind.
        """
        while True:
            found = self._read(await self._line())
            if found is not None:
                return found

    async def joined(self, request: JoiningRequest) -> Joined:
        """Join; messages that come meanwhile are kept for later.

        Raises:
            JoinError: the server does not take the bot.
            ServerLostError: the connection has ended.
        """
        self.send(request)
        while True:
            message = await self.answer()
            if isinstance(message, Joined):
                return message
            if isinstance(message, Refused):
                raise JoinError(f"{self._settings.address} does not take the bot: {message.reason}")
            self._early.append(message)

    async def game(self, name: str) -> tuple[str, str]:
        """The canonical name on this server of the game meant, and its definition.

        Raises:
            ServerLostError: the connection has ended.
            JoinError: the server has no such game, or is of another kind.
        """
        self.send(ShowGame(name))
        lines: list[str] = []
        while True:
            message = await self.answer()
            if isinstance(message, GameLine):
                lines.append(message.line)
                if message.line.upper() == _END_OF_GAME:
                    return message.game, "\n".join(lines) + "\n"
            elif isinstance(message, Refused):
                raise JoinError(f"{self._settings.address}: {message.reason}")
            else:
                self._early.append(message)

    async def quit(self, cancelling: Sequence[str] = ()) -> None:
        """Cancel the requests with these tags, leave, and close."""
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
