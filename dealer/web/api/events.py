"""What happens on a server, as server-sent events (`dealer.server.queue.feed`).

A program that comes back says the number of the last event it has seen (``Last-Event-ID``) and gets what it has missed;
`lost` tells it that something it has missed is no longer known. A comment now and then keeps proxies from closing the
connection, and finds out who has gone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated, TypeAlias

from fastapi import Header
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from dealer.errors import WebError
from dealer.server.queue.feed import Feed, FeedEvent
from dealer.web.api.calls import Parts, Reader, new_router

__all__ = ["Listeners", "event_text", "router"]

_QUIET_S = 15.0
_MOST_PER_USER = 20


def event_text(number: int, event: FeedEvent) -> str:
    """An event as a browser reads it: its number, its kind in small letters, and its fields."""
    name = "".join(f"-{char.lower()}" if char.isupper() else char for char in type(event).__name__).lstrip("-")
    return f"id: {number}\nevent: {name}\ndata: {json.dumps(asdict(event))}\n\n"


class Listeners:
    """Who listens, by user."""

    def __init__(self) -> None:
        """Start without any."""
        self._open: Counter[int] = Counter()

    def check(self, user: int) -> None:
        """Refuse a user who listens too often.

        Raises:
            WebError: it is so.
        """
        if self._open[user] >= _MOST_PER_USER:
            raise WebError(429, f"You listen {_MOST_PER_USER} times already.", "streams", int(_QUIET_S))

    async def stream(self, feed: Feed, user: int, last: int | None) -> AsyncIterator[str]:
        """The events after a number, as text."""
        self._open[user] += 1
        at = feed.last if last is None else last
        try:
            yield f": events after {at}\nretry: 2000\n\n"
            while True:
                for number, event in feed.after(at):
                    yield event_text(number, event)
                    at = number
                if not await feed.wait(at, _QUIET_S):
                    yield ": \n\n"
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]


router = new_router()
_Last: TypeAlias = Annotated[str, Header(description="the number of the last event that you have seen")]


@router.get(
    "/events",
    summary="What happens, as server-sent events, as long as you listen",
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(request: Request, caller: Reader, parts: Parts, last_event_id: _Last = "") -> Response:
    """Events; nothing in them is secret."""
    if last_event_id and not (last_event_id.isascii() and last_event_id.isdecimal() and len(last_event_id) < 20):
        raise WebError(422, "Last-Event-ID is the number of an event.")
    listeners: Listeners = request.app.state.listeners
    listeners.check(caller.user.id)
    return StreamingResponse(
        listeners.stream(parts.service.feed, caller.user.id, int(last_event_id) if last_event_id else None),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )
