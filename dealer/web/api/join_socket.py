"""Where clients bring bots: a WebSocket with the messages of `protocol.joining`, for callers with a token."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Final, cast

from starlette.requests import Request
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from dealer.errors import RefusedError, WebError
from dealer.server.accounts import Scope
from dealer.server.hosting import Hosting, Line
from dealer.server.server import ServerParts
from dealer.web.api.calls import PREFIX, Callers, bearer
from dealer.web.serving import Channel, channel_of
from dealer.web.site import Site, error_answer
from dealer.web.visitor import visitor_of
from protocol import RemoteProtocolError
from protocol.joining import Refused, SeatText, ServerMessage, encode, read_request

PATH: Final = f"{PREFIX}/join"
_LEFT: Final = 1000
"""The code with which a client closes that leaves; any other is a break."""
_REFUSED: Final = 1008


def routes(site: Site, parts: ServerParts) -> list[BaseRoute]:
    """The addresses of this room."""
    hosting, callers = Hosting(parts.service), Callers(parts)

    async def join(websocket: WebSocket) -> None:
        try:
            token = callers.token_of(websocket, await bearer(cast(Request, websocket)), Scope.PLAY)
        except WebError as error:
            await websocket.send_denial_response(error_answer(site, websocket, error))
            return
        await websocket.accept()
        channel = channel_of(websocket)
        line = Line(hosting, token.user, visitor_of(websocket).address, partial(_send, channel), channel.end)
        channel.on_text = partial(_receive, line)
        is_for_good = False
        try:
            while (message := await websocket.receive())["type"] != "websocket.disconnect":
                await line.answer(read_request(message.get("text") or message.get("bytes") or ""))
            is_for_good = message.get("code") == _LEFT
        except (RefusedError, RemoteProtocolError) as error:
            line.send(Refused(str(error)))
        finally:
            channel.on_text = None
            line.left(for_good=is_for_good)
        with contextlib.suppress(WebSocketDisconnect):
            await websocket.close(_REFUSED)

    return [WebSocketRoute(PATH, join)]


def _send(channel: Channel, message: ServerMessage) -> None:
    channel.send_text(encode(message))


def _receive(line: Line, text: bytes) -> bool:
    """Hand on what a bot says, at once; leave everything else, and what is wrong, to the endpoint."""
    try:
        message = read_request(text)
        if line.host is None or not isinstance(message, SeatText):
            return False
        line.receive(message)
    except RemoteProtocolError:
        return False
    return True
