"""Tables and scores that are followed live, as server-sent events.

    /runs/RUN/matches/MATCH/events              the table of a match, whenever it has changed
    /runs/RUN/contest-events/CONTEST            the scores of a contest, likewise
    /live/runs?game=GAME&bot=BOT                the first page of a list of runs, likewise
    /live/home                                  what the first page shows of the runs being played

Each event holds a piece of a page as a whole, so a reader that comes back after a break needs none of those that it has
missed; its ``Last-Event-ID`` only shows whether there is anything new. A slow reader gets fewer events, each the
newest. Cards are left out before anything is sent.

Matches are dealt in the same process, so readers must not slow them down. A piece is made once for all who may see the
same, by the first of them that looks after it is due. All look less often when there are many: the server makes at most
25 pieces and sends at most 67 events a second.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final
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
    find_contest,
    find_match,
    hand_path,
    hero_position,
    read_visible_hand,
    scores_document,
    verdict,
)
from dealer.web.site import Site, document_part, templates
from dealer.web.visitor import Visitor, get_visitor
from engine.text import count_of
from logs.errors import LogsError
from logs.hand_view import views_of
from logs.record import HandRecord

QUIET_S: Final = 15.0
"""After this time without an event a comment is sent, which keeps proxies from closing the connection."""
_TABLE_S: Final = 0.25
_SCORES_S: Final = 1.0
_RUNS_S: Final = 2.0
_SEND_S: Final = 0.015
_MAKE_S: Final = 0.04
_TICK_S: Final = 0.05


class EventStreams:
    """Open streams of server-sent events, a limited number for each user or address."""

    def __init__(self, most: int, whose: str) -> None:
        """Begin without streams; `whose` they are is the subject of the refusal."""
        self._most = most
        self._whose = whose
        self._open: list[str] = []

    @property
    def count(self) -> int:
        return len(self._open)

    def response(self, key: str, events: AsyncGenerator[bytes]) -> Response:
        """Answer with events.

        Raises:
            WebError: the user or the address has too many streams.
        """
        if self._open.count(key) >= self._most:
            raise WebError(
                429,
                f"{self._whose} follows {count_of(self._most, 'stream')} of events already.",
                "streams",
                int(QUIET_S),
            )
        return _EventStream(self._open, key, events)


class _EventStream(StreamingResponse):
    def __init__(self, open_: list[str], key: str, events: AsyncGenerator[bytes]) -> None:
        # nginx keeps events back without the second header.
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
class _Piece:
    """A piece of a page for all who have the same access.

    Attributes:
        state: names what it shows.
        event: brings it.
        is_over: whether nothing more comes.
        made_s: when it was made; minus infinity before the first time.
    """

    access: Access
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    state: str = ""
    event: bytes = b""
    is_over: bool = False
    made_s: float = -math.inf


_Make = Callable[[ShownRun, str], tuple[str, str]]
_Read = Callable[[], tuple[Access, str, str, bool]]
"""Gives the access of who asks, and the state, the text and the end of a `_Piece`."""


class _Live:
    def __init__(self, library: Library, counting: HandCounter, streams: EventStreams) -> None:
        self._library = library
        self._counting = counting
        self._streams = streams
        self._pieces: WeakValueDictionary[tuple[Hashable, Access], _Piece] = WeakValueDictionary()
        """Those that are followed, by what they show and the access."""

    async def table(self, request: Request) -> Response:
        key = request.path_params["match"]
        return await self._follow_run(request, key, self._make_table, _TABLE_S)

    async def scores(self, request: Request) -> Response:
        key = request.path_params["contest"]
        return await self._follow_run(request, key, self._make_scores, _SCORES_S)

    async def runs(self, request: Request) -> Response:
        chosen = read_filters(request)

        def read() -> tuple[Access, str, str, bool]:
            table, _ = self._library.runs(chosen)
            text = document_part("sheet", table) if table.rows else ""
            return Access(), f"{crc32(text.encode()):x}", text, False

        return await self._follow(request, ("runs", *sorted(chosen.items())), read, Access(), _RUNS_S)

    async def home(self, request: Request) -> Response:
        library = self._library
        assert isinstance(library, ServerLibrary)

        def read() -> tuple[Access, str, str, bool]:
            # Its tables have no cards, whoever asks.
            text = templates().get_template("now.html.jinja").render(home_values(library, Visitor("")))
            return Access(), f"{crc32(text.encode()):x}", text, False

        return await self._follow(request, "home", read, Access(), _RUNS_S)

    async def _follow_run(self, request: Request, key: str, make: _Make, every_s: float) -> Response:
        run, visitor = request.path_params["run"], get_visitor(request)

        def read() -> tuple[Access, str, str, bool]:
            found = self._library.open(run, visitor)
            self._counting.ask(found.run)
            with found.run.lock:
                return found.access, *make(found, key), found.run.is_over

        found = await run_in_threadpool(self._library.open, run, visitor)
        return await self._follow(request, (make, run, key), read, found.access, every_s)

    async def _follow(self, request: Request, what: Hashable, read: _Read, access: Access, every_s: float) -> Response:
        last = request.headers.get("last-event-id", "")

        async def newest(access: Access) -> _Piece:
            """The piece for who has this access, or has another one by now."""
            while True:
                piece = self._pieces.setdefault((what, access), _Piece(access))
                async with piece.lock:
                    age_s = time.monotonic() - piece.made_s
                    if age_s < pause_s(every_s, self._streams.count, len(self._pieces)):
                        return piece
                    access, state, text, is_over = await run_in_threadpool(read)
                    if access == piece.access:
                        piece.state, piece.event, piece.is_over = state, _event("state", state, text), is_over
                        piece.made_s = time.monotonic()
                        return piece

        async def events(piece: _Piece) -> AsyncGenerator[bytes]:
            seen, quiet_s = last, 0.0
            yield b"retry: 2000\n\n"
            while True:
                # Another reader may make it anew while this one is sent something.
                state, event, is_over = piece.state, piece.event, piece.is_over
                if state != seen:
                    seen, quiet_s = state, 0.0
                    yield event
                if is_over:
                    yield _event("over", state, "")
                    return
                wait_s = pause_s(every_s, self._streams.count, len(self._pieces))
                # Readers wake together: every wake interrupts the fast path of the loop, and with it the dealing.
                wait_s += -(time.monotonic() + wait_s) % _TICK_S
                await asyncio.sleep(wait_s)
                quiet_s += wait_s
                if quiet_s >= QUIET_S:
                    quiet_s = 0.0
                    yield b": still here\n\n"
                try:
                    piece = await newest(piece.access)
                except (WebError, LogsError, OSError):
                    # The browser connects again and is answered with the reason.
                    return

        return self._streams.response(get_visitor(request).address, events(await newest(access)))

    def _make_table(self, found: ShownRun, key: str) -> tuple[str, str]:
        contest, match = find_match(found, key)
        state, number, scenes = current_scenes(found, contest, match)
        if not scenes:
            return state, ""
        last = (
            read_visible_hand(found, contest, match)
            if not found.sees_cards and found.public_hands(contest, match)
            else None
        )
        template = templates().get_template("live_table.html.jinja")
        return f"{state}-{last and last.hand_number}", template.render(
            scene=scenes[-1],
            hero=hero_position(scenes[-1], match),
            holes=match.hands.game.num_hole_cards,
            history=[scene.words for scene in scenes],
            number=number,
            is_public=not found.sees_cards,
            last=None if last is None else _last(found, match, last),
            clocks=_clocks(found, contest, match),
            score=" ".join(verdict(found, contest)) if contest.scores.deals else "",
        )

    def _make_scores(self, found: ShownRun, key: str) -> tuple[str, str]:
        contest = find_contest(found, key)
        text = document_part("document", scores_document(found, contest), "scores")
        return f"{contest.scores.deals}-{len(contest.faults())}-{found.run.is_over}", text


def pause_s(every_s: float, streams: int, pieces: int) -> float:
    """The time between two looks of a reader that would look every `every_s` if it were alone."""
    return max(every_s, streams * _SEND_S + pieces * _MAKE_S)


def routes(site: Site, library: Library, counting: HandCounter) -> list[BaseRoute]:
    """The addresses of this room."""
    web = WebSettings() if site.server is None else site.server.settings.web
    live = _Live(library, counting, EventStreams(web.max_streams_per_address, "Your address"))
    return [
        Route("/runs/{run}/matches/{match:path}/events", live.table),
        Route("/runs/{run}/contest-events/{contest:path}", live.scores),
        *([] if site.server is None else [Route("/live/runs", live.runs), Route("/live/home", live.home)]),
    ]


def _last(found: ShownRun, match: WatchedMatch, record: HandRecord) -> dict[str, Any]:
    """The end of a hand, for a template."""
    scene, number = views_of(record)[-1], record.hand_number
    return {
        "scene": scene,
        "hero": hero_position(scene, match),
        "number": number,
        "path": hand_path(found.run.key, match.key, number),
    }


def _clocks(found: ShownRun, contest: WatchedContest, match: WatchedMatch) -> list[tuple[str, str]]:
    """How long each player has thought in the match, in words; none where only files are there."""
    if found.live is None:
        return []
    moment = found.live.moment(contest.game_name, contest.players, match.name)
    if moment is None or not moment.used_us:
        return []
    by_position = zip(moment.names, moment.seats, strict=True)
    return [(name, f"{moment.used_us[seat] / 1e6:,.3f} s") for name, seat in by_position]


def _event(kind: str, number: str, text: str) -> bytes:
    """One event; its text has no line that could be taken for another field."""
    lines = "".join(f"data: {line}\n" for line in text.splitlines())
    return f"event: {kind}\nid: {number}\n{lines or 'data:'}{'' if lines else chr(10)}\n".encode()
