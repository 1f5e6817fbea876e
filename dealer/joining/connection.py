"""Connect to a server, and exchange messages over a WebSocket."""

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
"""Status codes of a server that is busy, or of a proxy whose server is starting."""


@dataclass(frozen=True, slots=True)
class JoinSettings:
    """Settings of a client. Annotated fields are options of ``arena join``.

    Attributes:
        address: URL of the server's pages, ``http://`` or ``https://`` with host and port.
        token: token of the user.
        player: the bot.
        folder: folder for the bot's output and for game definitions.
        challenges: challenges to request, with different tags. The client leaves when all of them have ended.
        retry_s: delay before connecting again, doubled after each failed attempt.
        max_retry_s: longest such delay.
        answer_timeout_s: time for the server to answer.
    """

    address: str
    token: str
    player: Player
    folder: Path
    version: Annotated[str, "the bot's version; each has results of its own", Wording(flags="--bot-version")] = "1"
    games: Annotated[
        tuple[str, ...], f"games that it plays, separated by commas; '{ALL_GAMES}' for all of the server"
    ] = ("limit",)
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
        "with https, trust the certificates of this file only",
        Wording("FILE", group="Login"),
    ] = None
    retry_s: float = 0.5
    max_retry_s: float = 30.0
    answer_timeout_s: float = 30.0


class ServerConnection(ClientConnection, SharedBufferProtocol):
    """WebSocket that passes messages on at once.

    Attributes:
        on_message: called for every message.
        problem: reason that this side closed the connection; empty otherwise.
    """

    # websockets would queue messages for a task. A bot is waiting, so frames are handled in the read callback.
    on_message: Callable[[ServerMessage], None]
    problem = ""
    _parts: bytes = b""

    def process_event(self, event: Event) -> None:
        """Handle a frame; websockets handles control frames."""
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
                # Without a closing handshake, during which further messages would arrive.
                self.transport.abort()

    def send_request(self, message: JoiningRequest) -> None:
        """Send a message, unless the connection has ended."""
        if self.protocol.state is State.OPEN:
            self.protocol.send_text(encode(message))
            self.send_data()


async def connect_to_server(settings: JoinSettings) -> ServerConnection:
    """Connect to the server with the user's token.

    Raises:
        ServerLostError: the server is unavailable, perhaps only for now.
        JoinError: the server rejects the client, or its certificate is not trusted.
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
            open_timeout=settings.answer_timeout_s,
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
            # asyncio's own text repeats the address.
            reason = os.strerror(error.errno)
        raise ServerLostError(f"cannot connect to {address}: {reason}") from None
    except InvalidStatus as error:
        status = error.response.status_code
        sentence = _detail(error.response.body) or f"no bot can join here (status {status})"
        if status in _TEMPORARY:
            raise ServerLostError(f"{address}: {sentence}") from None
        raise JoinError(f"{address}: {sentence}") from None
    except (WebSocketException, ImportError) as error:
        # Also raised for an invalid proxy setting, and for a SOCKS proxy without the package that it needs.
        raise ServerLostError(
            f"{address} is not the address of a server's pages, which it reports when it starts: {error}"
        ) from None
    assert isinstance(connection, ServerConnection)
    return connection


def _detail(body: bytes | bytearray) -> str:
    """Extract the sentence from a problem document (RFC 9457); return an empty text for any other body."""
    try:
        detail = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        return ""
    return str(detail).rstrip(".")
