"""What happens on a server, as server-sent events (`dealer.server.feed`).

A program that comes back says the number of the last event it has seen (``Last-Event-ID``) and gets what it has missed;
`lost` tells it that something it has missed is no longer known. A comment now and then keeps proxies from closing the
connection, and finds out who has gone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import asdict

from starlette.responses import Response, StreamingResponse

from dealer.errors import WebError
from dealer.server.accounts import Scope
from dealer.server.feed import Feed, FeedEvent
from dealer.server.server import ServerParts
from dealer.web.api.operations import Call, Operation

__all__ = ["EventStreams", "event_text"]

_QUIET_S = 15.0
_MOST_PER_USER = 20


def event_text(number: int, event: FeedEvent) -> str:
    """An event as a browser reads it: its number, its kind in small letters, and its fields."""
    name = "".join(f"-{char.lower()}" if char.isupper() else char for char in type(event).__name__).lstrip("-")
    return f"id: {number}\nevent: {name}\ndata: {json.dumps(asdict(event))}\n\n"


class EventStreams:
    """The operation that tells what happens."""

    def __init__(self, parts: ServerParts) -> None:
        """Tell what happens on a server."""
        self._feed: Feed = parts.service.feed
        self._open: Counter[int] = Counter()

    def operations(self) -> list[Operation]:
        """The only one."""
        return [
            Operation(
                *("GET", "/events", "events", "What happens, as server-sent events, as long as you listen"),
                *(Scope.READ, "text/event-stream", self._events),
                headers=(("Last-Event-ID", "the number of the last event that you have seen"),),
            )
        ]

    async def _events(self, call: Call) -> Response:
        text = call.request.headers.get("last-event-id", "")
        if text and not (text.isascii() and text.isdecimal() and len(text) < 20):
            raise WebError(422, "Last-Event-ID is the number of an event.")
        user = call.caller.user.id
        if self._open[user] >= _MOST_PER_USER:
            raise WebError(429, f"You listen {_MOST_PER_USER} times already.", "streams", int(_QUIET_S))
        return StreamingResponse(
            self._stream(user, int(text) if text else None),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def _stream(self, user: int, last: int | None) -> AsyncIterator[str]:
        self._open[user] += 1
        at = self._feed.last if last is None else last
        try:
            yield f": events after {at}\nretry: 2000\n\n"
            while True:
                for number, event in self._feed.after(at):
                    yield event_text(number, event)
                    at = number
                if not await self._feed.wait(at, _QUIET_S):
                    yield ": \n\n"
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]
