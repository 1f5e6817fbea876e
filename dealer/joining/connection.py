"""A client's connection to a server, with the client's settings."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.frames import Frame, Opcode
from websockets.protocol import Event, State

from bots.sdk.options import Interval, Wording
from dealer.errors import JoinError, ServerLostError
from dealer.table.loop import SharedBufferProtocol
from dealer.table.players import Player
from protocol import RemoteProtocolError
from protocol.joining import Challenge, JoiningRequest, ServerMessage, encode, read_server_message

ALL_GAMES = "all"
_PATH = "/api/v1/join"
_SCHEMES = {"http": "ws", "https": "wss"}
_CLOSE_S = 2.0
_DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)
_TEMPORARY = (429, 502, 503, 504)
"""Answers of a server that is busy, or of a proxy whose server is being started."""


@dataclass(frozen=True, slots=True)
class JoinSettings:
    """All about a client.

    Attributes:
        address: of the server's pages: ``http://`` or ``https://``, a host, a port.
        folder: for what the bot prints, and for games.
        challenges: that are asked for, each with a tag of its own; when all have ended, the client leaves.
        retry_s: how long to wait before the first try to connect again; twice as long before every other.
    """

    address: str
    token: str
    player: Player
    folder: Path
    version: Annotated[str, "the bot's version; each has results of its own", Wording(flags="--bot-version")] = "1"
    games: Annotated[tuple[str, ...], f"games that it plays, separated by commas; '{ALL_GAMES}': all the server's"] = (
        "limit",
    )
    at_once: Annotated[int, "contests to play at a time", Interval(1, 1000), Wording("N", flags="--parallel")] = 1
    is_on_ladder: Annotated[
        bool, "also play background matches while the server is idle", Wording(flags="--ladder")
    ] = False
    challenges: tuple[Challenge, ...] = ()
    max_runs: Annotated[
        int | None, "leave after N contests", Interval(1), Wording(flags="--contests", otherwise="stay")
    ] = None
    seed: Annotated[
        int | None, "seed of a Python bot's own draws", Interval(0, 2**32 - 1), Wording(otherwise="random")
    ] = None
    ca: Annotated[
        Path | None,
        "with https, trust the certificates in this file: not the system's",
        Wording("FILE", group="Login"),
    ] = None
    retry_s: float = 0.5
    max_retry_s: float = 30.0
    answer_s: float = 30.0


class ServerConnection(ClientConnection, SharedBufferProtocol):
    """A connection whose messages are handed on and sent without a task, as a bot is waiting for them.

    Attributes:
        on_message: called with every message.
        problem: why it was closed by this side; empty if it was not.
    """

    on_message: Callable[[ServerMessage], None]
    problem = ""
    _parts: bytes = b""

    def process_event(self, event: Event) -> None:
        """Take a frame."""
        if not isinstance(event, Frame) or event.opcode not in _DATA:
            super().process_event(event)
            return
        self._parts += event.data
        if event.fin:
            text = self._parts
            self._parts = b""
            try:
                self.on_message(read_server_message(text))
            except RemoteProtocolError as error:
                self.problem = f"it is a server of another version: {error}"
                self.transport.abort()

    def tell(self, message: JoiningRequest) -> None:
        """Send a message, unless the connection has ended."""
        if self.protocol.state is State.OPEN:
            self.protocol.send_text(encode(message))
            self.send_data()


async def connected(settings: JoinSettings) -> ServerConnection:
    """A connection to the server, which has accepted the token.

    Raises:
        ServerLostError: the server does not answer, or not now.
        JoinError: it does not let this client in, its certificate is not believed, or it is no such server.
    """
    address = settings.address.rstrip("/")
    scheme, rest = address.split("://", 1)
    options: dict[str, Any] = {}
    if settings.ca is not None:
        try:
            options["ssl"] = ssl.create_default_context(cafile=str(settings.ca))
        except OSError as error:
            raise JoinError(f"{settings.ca}: {error.strerror or error}") from None
    try:
        connection = await connect(
            f"{_SCHEMES[scheme]}://{rest}{_PATH}",
            additional_headers={"Authorization": f"Bearer {settings.token}"},
            compression=None,
            close_timeout=_CLOSE_S,
            open_timeout=settings.answer_s,
            create_connection=ServerConnection,
            **options,
        )
    except ssl.SSLCertVerificationError as error:
        raise JoinError(f"{address}: its certificate is not trusted: {error.verify_message}") from None
    except ssl.SSLError as error:
        raise JoinError(f"{address} does not speak TLS ({error.reason})") from None
    except TimeoutError:
        raise ServerLostError(f"no answer from {address}") from None
    except OSError as error:
        reason: object = error.strerror or error
        if error.errno and error.errno > 0:
            # The text of asyncio names the address once more.
            reason = os.strerror(error.errno)
        raise ServerLostError(f"cannot connect to {address}: {reason}") from None
    except InvalidStatus as error:
        status = error.response.status_code
        sentence = _detail(error.response.body) or f"no bot can join here (status {status})"
        if status in _TEMPORARY:
            raise ServerLostError(f"{address}: {sentence}") from None
        raise JoinError(f"{address}: {sentence}") from None
    except (WebSocketException, ImportError) as error:
        # Also where a proxy is not as it should be, or its kind needs a package more.
        raise ServerLostError(
            f"{address} is not the address of a server's pages, which it reports when it starts: {error}"
        ) from None
    assert isinstance(connection, ServerConnection)
    return connection


def _detail(body: bytes | bytearray) -> str:
    """The sentence of a problem that a server answers with; empty for any other answer."""
    try:
        detail = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        return ""
    return str(detail).rstrip(".")
