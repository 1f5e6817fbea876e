"""What goes on, as it goes on: server-sent events with the table of a match and the scores of its contest.

    /runs/RUN/matches/MATCH/events        the table, as a piece of the page, whenever it has changed
    /runs/RUN/contest/CONTEST/events      the scores, the same way

An event holds the whole of what it shows, so one that comes back after a break needs none of those it has missed; its
``Last-Event-ID`` only says whether there is anything new. A reader that takes its time gets fewer events, each the
newest: the next is made when the last has been taken. Cards are left out here, before anything is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute, Route

from dealer.errors import WebError
from dealer.watching import WatchedContest, WatchedMatch
from dealer.web.library import Counting, Library, ShownRun
from dealer.web.site import Site, templates
from dealer.web.views import contest_view, match_of, open_run
from dealer.web.visitor import visitor_of
from engine import Deal
from logs.view import HandView, views_of

_LOOK_S: Final = 0.25
_SCORES_S: Final = 1.0
_KEPT_ALIVE_S: Final = 15.0


def routes(site: Site, library: Library, counting: Counting) -> list[BaseRoute]:
    """The streams of a library of runs."""

    def stream(
        request: Request, every_s: float, make: Callable[[ShownRun], tuple[str, str]], *, counted: bool
    ) -> StreamingResponse:
        """Events with what `make` gives: what tells one state from another, and a piece of HTML."""
        visitor, run = visitor_of(request), request.path_params["run"]
        last = request.headers.get("last-event-id", "")

        def read() -> tuple[str, str, bool]:
            found = open_run(library, run, visitor)
            if counted:
                counting.ask(found.run)
            with found.run.lock:
                state, text = make(found)
                return state, text, found.run.is_over

        async def events() -> AsyncIterator[str]:
            seen, quiet_s = last, 0.0
            yield "retry: 2000\n\n"
            while True:
                state, text, is_over = await run_in_threadpool(read)
                if state != seen:
                    seen, quiet_s = state, 0.0
                    yield _event("state", state, text)
                if is_over:
                    yield _event("over", state, "")
                    return
                await asyncio.sleep(every_s)
                quiet_s += every_s
                if quiet_s >= _KEPT_ALIVE_S:
                    quiet_s = 0.0
                    yield ": still here\n\n"

        return StreamingResponse(events(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    async def table(request: Request) -> StreamingResponse:
        template = templates().get_template("live_table.html.jinja")
        key = request.path_params["match"]

        def make(found: ShownRun) -> tuple[str, str]:
            contest, match = match_of(found, key)
            state, number, scenes = table_now(found, contest, match)
            if not scenes:
                return state, ""
            said = [scene.words for scene in scenes]
            return state, template.render(
                scene=scenes[-1],
                said=said,
                number=number,
                is_public=not found.sees_cards,
                clocks=_clocks(found, contest, match),
            )

        await run_in_threadpool(
            lambda: match_of(open_run(library, request.path_params["run"], visitor_of(request)), key)
        )
        return stream(request, _LOOK_S, make, counted=False)

    async def scores(request: Request) -> StreamingResponse:
        template = templates().get_template("scores.html.jinja")
        key = request.path_params["contest"]

        def make(found: ShownRun) -> tuple[str, str]:
            contest = found.run.contest(key)
            if contest is None:
                raise WebError(404, "The run has no such contest.")
            view = contest_view(found, contest)
            text = template.render(contest=view, run=found.run.key)
            return f"{view.deals}-{len(view.faults)}-{view.is_over}", text

        found = await run_in_threadpool(open_run, library, request.path_params["run"], visitor_of(request))
        if found.run.contest(key) is None:
            raise WebError(404, "The run has no such contest.")
        return stream(request, _SCORES_S, make, counted=True)

    return [
        Route("/runs/{run}/matches/{match:path}/events", table),
        Route("/runs/{run}/contest-events/{contest:path}", scores),
    ]


def table_now(found: ShownRun, contest: WatchedContest, match: WatchedMatch) -> tuple[str, int, tuple[HandView, ...]]:
    """The newest moment of a match, as far as it may be seen: what tells it from others, the hand, its scenes so far.

    Where only the files tell of the match, it is the last finished hand.
    """
    moment = None
    if found.tables is not None:
        moment = found.tables.moment(contest.game_name, contest.players, match.name)
    if moment is not None:
        scenes = moment.scenes(with_cards=found.sees_cards)
        return f"{moment.hand_number}-{moment.version}", moment.hand_number, scenes
    count = match.hands.count
    if not count:
        return "0", 0, ()
    number = match.hands.page(count - 1, 1)[0]
    record = match.hands.hand(number)
    if not found.sees_cards:
        record = replace(record, deal=Deal(((),) * len(record.names), ()), comments=())
    return f"{number}-{count}", number, views_of(record)


def _clocks(found: ShownRun, contest: WatchedContest, match: WatchedMatch) -> list[tuple[str, str]]:
    """How long each player has thought in the match, in words; none where only files tell of it."""
    if found.tables is None:
        return []
    moment = found.tables.moment(contest.game_name, contest.players, match.name)
    if moment is None or not moment.used_us:
        return []
    by_position = zip(moment.names, moment.seats, strict=True)
    return [(name, f"{moment.used_us[seat] / 1e6:,.3f} s") for name, seat in by_position]


def _event(kind: str, number: str, text: str) -> str:
    """One event; its text has no line that could be taken for another field."""
    lines = "".join(f"data: {line}\n" for line in text.splitlines())
    return f"event: {kind}\nid: {number}\n{lines or 'data:'}{'' if lines else chr(10)}\n"
