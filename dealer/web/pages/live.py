"""Live tables, scores and lists of runs, as server-sent events.

    /runs/RUN/matches/MATCH/events              table of a match
    /runs/RUN/contest-events/CONTEST            scores of a contest
    /live/runs?game=GAME&bot=BOT                first page of a list of runs
    /live/home                                  running runs on the first page

Each event replaces a whole part of a page. A client that reconnects needs no missed events, and a slow one receives
only the newest. Clients with the same access share a part, which the first of them renders when it is due.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, Self
from weakref import WeakValueDictionary
from zlib import crc32

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from dealer.errors import WebError
from dealer.server.access import Access
from dealer.server.server_settings import WebSettings
from dealer.watching import WatchedContest, WatchedMatch
from dealer.web.pages.shown_runs import HandCounter, Library, ServerLibrary, ShownRun, read_filters
from dealer.web.pages.standings import home_values
from dealer.web.pages.views import (
    current_scenes,
    describe_score,
    find_contest,
    find_match,
    hand_path,
    hero_position,
    read_visible_hand,
    scores_document,
)
from dealer.web.site import Site, document_part, templates
from dealer.web.visitor import Visitor, get_visitor
from engine.text import count_of
from logs.errors import LogsError
from logs.hand_view import views_of
from logs.record import HandRecord

QUIET_S: Final = 15.0
"""Time without an event after which a comment is sent, so that proxies keep the connection."""
_TABLE_S: Final = 0.25
_SCORES_S: Final = 1.0
_RUNS_S: Final = 2.0
# Matches run in the same process. These keep it at 67 events and 25 rendered parts a second, whoever watches.
_SEND_S: Final = 0.015
_RENDER_S: Final = 0.04
_TICK_S: Final = 0.05


class EventStreams:
    """Open streams of server-sent events, limited per user or address.

    Args:
        max_per_key: largest number for a user or an address.
        subject: subject of the sentence that refuses another stream.
    """

    def __init__(self, max_per_key: int, subject: str) -> None:
        self._max_per_key = max_per_key
        self._subject = subject
        self._open: list[str] = []

    @property
    def count(self) -> int:
        return len(self._open)

    def response(self, key: str, events: AsyncGenerator[bytes]) -> Response:
        """Make the response that sends events.

        Raises:
            WebError: the user or the address has too many streams.
        """
        if self._open.count(key) >= self._max_per_key:
            number = count_of(self._max_per_key, "stream")
            raise WebError(429, f"{self._subject} already follows {number} of events.", "streams", int(QUIET_S))
        return _EventStream(self._open, key, events)


class _EventStream(StreamingResponse):
    def __init__(self, open_: list[str], key: str, events: AsyncGenerator[bytes]) -> None:
        # The second header makes nginx forward events at once.
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._open = open_
        self._key = key
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._open.append(self._key)
        try:
            async with aclosing(self._events):
                await super().__call__(scope, receive, send)
        finally:
            self._open.remove(self._key)


@dataclass(eq=False)
class _Part:
    """A part of a page, for all clients that have the same access.

    Attributes:
        state: short text that changes with the content.
        event: event with the content.
        is_over: the content will not change again.
        rendered_s: monotonic time of the last rendering; minus infinity before the first.
    """

    access: Access
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    state: str = ""
    event: bytes = b""
    is_over: bool = False
    rendered_s: float = -math.inf


@dataclass(frozen=True)
class _Content:
    """Content of a part, with the access of the client for which it was rendered."""

    access: Access
    state: str
    text: str
    is_over: bool = False

    @classmethod
    def public(cls, text: str) -> Self:
        """Make the content of a part without cards, which is the same for everyone."""
        return cls(Access(), f"{crc32(text.encode()):x}", text)


_Render = Callable[[ShownRun, str], tuple[str, str]]
"""Renders a part of a run for the key of a match or contest, and returns its state and text."""


class _Live:
    def __init__(self, library: Library, counter: HandCounter, streams: EventStreams) -> None:
        self._library = library
        self._counter = counter
        self._streams = streams
        # Parts that are followed, by subject and access; a part without clients is dropped.
        self._parts: WeakValueDictionary[tuple[Hashable, Access], _Part] = WeakValueDictionary()

    async def table(self, request: Request) -> Response:
        key = request.path_params["match"]
        return await self._follow_run(request, key, self._render_table, _TABLE_S)

    async def scores(self, request: Request) -> Response:
        key = request.path_params["contest"]
        return await self._follow_run(request, key, self._render_scores, _SCORES_S)

    async def runs(self, request: Request) -> Response:
        filters = read_filters(request)

        def read() -> _Content:
            table, _ = self._library.runs(filters)
            return _Content.public(document_part("sheet", table) if table.rows else "")

        return await self._follow(request, ("runs", *sorted(filters.items())), read, Access(), _RUNS_S)

    async def home(self, request: Request) -> Response:
        library = self._library
        assert isinstance(library, ServerLibrary)

        def read() -> _Content:
            values = home_values(library, Visitor(""))
            return _Content.public(templates().get_template("now.html.jinja").render(values))

        return await self._follow(request, "home", read, Access(), _RUNS_S)

    async def _follow_run(self, request: Request, key: str, render: _Render, every_s: float) -> Response:
        run = request.path_params["run"]
        visitor = get_visitor(request)

        def read() -> _Content:
            shown_run = self._library.open(run, visitor)
            self._counter.start(shown_run.run)
            with shown_run.run.lock:
                state, text = render(shown_run, key)
                return _Content(shown_run.access, state, text, shown_run.run.is_over)

        shown_run = await run_in_threadpool(self._library.open, run, visitor)
        return await self._follow(request, (render, run, key), read, shown_run.access, every_s)

    async def _follow(
        self, request: Request, subject: Hashable, read: Callable[[], _Content], access: Access, every_s: float
    ) -> Response:
        part = await self._update(subject, access, read, every_s)
        last_state = request.headers.get("last-event-id", "")
        events = self._stream(subject, part, read, every_s, last_state)
        return self._streams.response(get_visitor(request).address, events)

    async def _update(self, subject: Hashable, access: Access, read: Callable[[], _Content], every_s: float) -> _Part:
        """Return the part for an access, rendered if it is due."""
        while True:
            part = self._parts.setdefault((subject, access), _Part(access))
            async with part.lock:
                age_s = time.monotonic() - part.rendered_s
                if age_s < self._pause_s(every_s):
                    return part
                content = await run_in_threadpool(read)
                if content.access == part.access:
                    part.state = content.state
                    part.event = _format_event("state", content.state, content.text)
                    part.is_over = content.is_over
                    part.rendered_s = time.monotonic()
                    return part
                # The visitor's access has changed, for example at the end of the run.
                access = content.access

    async def _stream(
        self, subject: Hashable, part: _Part, read: Callable[[], _Content], every_s: float, last_state: str
    ) -> AsyncGenerator[bytes]:
        quiet_s = 0.0
        yield b"retry: 2000\n\n"
        while True:
            # Copied, because another client may update the part while this one sends.
            state = part.state
            event = part.event
            is_over = part.is_over
            if state != last_state:
                last_state = state
                quiet_s = 0.0
                yield event
            if is_over:
                yield _format_event("over", state, "")
                return
            wait_s = self._pause_s(every_s)
            # Clients wake at the same ticks, because every wake-up interrupts the fast path of the event loop.
            wait_s += -(time.monotonic() + wait_s) % _TICK_S
            await asyncio.sleep(wait_s)
            quiet_s += wait_s
            if quiet_s >= QUIET_S:
                quiet_s = 0.0
                yield b": still here\n\n"
            try:
                part = await self._update(subject, part.access, read, every_s)
            except (WebError, LogsError, OSError):
                # The browser reconnects and receives the reason.
                return

    def _pause_s(self, every_s: float) -> float:
        return pause_s(every_s, self._streams.count, len(self._parts))

    def _render_table(self, shown_run: ShownRun, key: str) -> tuple[str, str]:
        contest, match = find_match(shown_run, key)
        state, number, scenes = current_scenes(shown_run, contest, match)
        if not scenes:
            return state, ""
        last_hand = None
        if not shown_run.sees_cards and shown_run.public_hands(contest, match):
            last_hand = read_visible_hand(shown_run, contest, match)
        text = (
            templates()
            .get_template("live_table.html.jinja")
            .render(
                scene=scenes[-1],
                hero=hero_position(scenes[-1], match),
                holes=match.hands.game.num_hole_cards,
                history=[scene.words for scene in scenes],
                number=number,
                is_public=not shown_run.sees_cards,
                last=None if last_hand is None else _last_hand_values(shown_run, match, last_hand),
                clocks=_format_clocks(shown_run, contest, match),
                score=" ".join(describe_score(shown_run, contest)) if contest.scores.deals else "",
            )
        )
        last_number = None if last_hand is None else last_hand.hand_number
        return f"{state}-{last_number}", text

    def _render_scores(self, shown_run: ShownRun, key: str) -> tuple[str, str]:
        contest = find_contest(shown_run, key)
        text = document_part("document", scores_document(shown_run, contest), "scores")
        return f"{contest.scores.deals}-{len(contest.faults())}-{shown_run.run.is_over}", text


def pause_s(every_s: float, streams: int, parts: int) -> float:
    """Return the time after which a client looks again, `every_s` or more if there are many streams and parts."""
    return max(every_s, streams * _SEND_S + parts * _RENDER_S)


def routes(site: Site, library: Library, counter: HandCounter) -> list[BaseRoute]:
    """Return the routes of the streams."""
    web = WebSettings() if site.server is None else site.server.settings.web
    live = _Live(library, counter, EventStreams(web.max_streams_per_address, "Your address"))
    of_runs = [
        Route("/runs/{run}/matches/{match:path}/events", live.table),
        Route("/runs/{run}/contest-events/{contest:path}", live.scores),
    ]
    if site.server is None:
        return [*of_runs]
    return [*of_runs, Route("/live/runs", live.runs), Route("/live/home", live.home)]


def _last_hand_values(shown_run: ShownRun, match: WatchedMatch, record: HandRecord) -> dict[str, Any]:
    scene = views_of(record)[-1]
    return {
        "scene": scene,
        "hero": hero_position(scene, match),
        "number": record.hand_number,
        "path": hand_path(shown_run.run.key, match.key, record.hand_number),
    }


def _format_clocks(shown_run: ShownRun, contest: WatchedContest, match: WatchedMatch) -> list[tuple[str, str]]:
    """Return the time that each player has used in a live match."""
    if shown_run.live is None:
        return []
    moment = shown_run.live.moment(contest.game_name, contest.players, match.name)
    if moment is None or not moment.used_us:
        return []
    players = zip(moment.names, moment.seats, strict=True)
    return [(name, f"{moment.used_us[seat] / 1e6:,.3f} s") for name, seat in players]


def _format_event(kind: str, number: str, text: str) -> bytes:
    # Each line of the text gets its field, so that none can be read as another field.
    lines = [f"data: {line}" for line in text.splitlines()] or ["data:"]
    return "\n".join([f"event: {kind}", f"id: {number}", *lines, "", ""]).encode()
