"""WebSocket for clients that host bots (`arena join`).

A client needs a token with the scope `play`. The messages are those of `protocol.joining`.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final, cast

from starlette.requests import Request
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from dealer.errors import RefusedError, WebError
from dealer.server.accounts import Scope
from dealer.server.hosting import Hosting, Line
from dealer.server.server import ServerParts
from dealer.server.textport.port import MAX_UNSENT_BYTES
from dealer.web.api.calls import PREFIX, Callers, bearer
from dealer.web.site import Site, error_response
from dealer.web.visitor import get_visitor
from protocol import RemoteProtocolError
from protocol.joining import Refused, ServerMessage, encode, read_request

PATH: Final = f"{PREFIX}/join"
_LEFT: Final = 1000
"""Close code of a client that leaves for good; any other code means a broken connection."""
_REFUSED: Final = 1008


def routes(site: Site, parts: ServerParts) -> list[BaseRoute]:
    hosting, callers = Hosting(parts.service), Callers(parts)

    async def join(websocket: WebSocket) -> None:
        try:
            token = callers.authenticate(websocket, await bearer(cast(Request, websocket)), Scope.PLAY)
        except WebError as error:
            await websocket.send_denial_response(error_response(site, websocket, error))
            return
        await websocket.accept()
        outbox = _Outbox(websocket)

        def close() -> None:
            answerer.cancel()

        line = Line(hosting, token.account, get_visitor(websocket).address, outbox.put, close)
        answerer = asyncio.create_task(_answer_all(websocket, line))
        is_for_good = False
        try:
            await asyncio.wait({answerer, outbox.sending}, return_when=asyncio.FIRST_COMPLETED)
            if answerer.done() and not answerer.cancelled():
                is_for_good = answerer.result()
        finally:
            answerer.cancel()
            line.disconnect(for_good=is_for_good)
            await outbox.close()

    return [WebSocketRoute(PATH, join)]


async def _answer_all(websocket: WebSocket, line: Line) -> bool:
    """Answer messages until the client is gone or refused; return whether it has left for good."""
    try:
        while (message := await websocket.receive())["type"] != "websocket.disconnect":
            await line.answer(read_request(message.get("text") or message.get("bytes") or ""))
        return message.get("code") == _LEFT
    except (RefusedError, RemoteProtocolError) as error:
        line.send(Refused(str(error)))
        return False


class _Outbox:
    """Messages for a client, sent in order.

    Attributes:
        sending: the task that sends them. It ends when the client is gone or does not read.
    """

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket
        self._texts: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._unsent_bytes = 0
        self.sending = asyncio.create_task(self._send_all())

    def put(self, message: ServerMessage) -> None:
        text = encode(message)
        self._unsent_bytes += len(text)
        if self._unsent_bytes > MAX_UNSENT_BYTES:
            self.sending.cancel()
        self._texts.put_nowait(text)

    async def close(self) -> None:
        """Send the rest and close the WebSocket."""
        self._texts.put_nowait(None)
        try:
            await asyncio.wait({self.sending})
        finally:
            self.sending.cancel()

    async def _send_all(self) -> None:
        # A RuntimeError: the connection has been closed for a breach of the protocol.
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while (text := await self._texts.get()) is not None:
                await self._websocket.send_text(text.decode())
                self._unsent_bytes -= len(text)
            await self._websocket.close(_REFUSED)
