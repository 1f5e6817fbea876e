"""The events of a server.

/events                 all events, the latest first
/events/NAME            an event: its state, its standings, its contests
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dealer.errors import WebError
from dealer.server.db import event_records
from dealer.server.db.event_records import ScheduledEvent
from dealer.server.event_results import event_detail, event_document, events_table
from dealer.server.server import ServerParts
from dealer.web.pages.shown_runs import run_path
from dealer.web.security import whole_number
from dealer.web.site import Site, next_pages
from engine.text import shown
from logs.document import Document, Fact, Link, Section

_EVENTS_OF_A_PAGE = 50


def event_path(event: ScheduledEvent) -> str:
    """The address of an event."""
    return f"/events/{quote(event.name, safe='')}"


def routes(site: Site, parts: ServerParts) -> list[BaseRoute]:
    """The addresses of these pages."""

    async def events(request: Request) -> Response:
        before = whole_number(request.query_params.get("after", ""))
        found = event_records.events(parts.store, before=before, most=_EVENTS_OF_A_PAGE + 1)
        following = str(found[_EVENTS_OF_A_PAGE - 1].id) if len(found) > _EVENTS_OF_A_PAGE else ""
        table = events_table("All events", found[:_EVENTS_OF_A_PAGE], event_path)
        sentences = () if found else ("No event is announced.",)
        document = Document("Events", sentences, (), (Section(table.title, (table,)),) if found else ())
        return site.document(request, document, pages=next_pages(request, following))

    async def event(request: Request) -> Response:
        name = request.path_params["name"]
        found = event_records.event(parts.store, name)
        if found is None:
            raise WebError(404, f"There is no event {shown(name)}.")
        document = await run_in_threadpool(_document, parts, found)
        return site.document(request, document, crumbs=(Link("Events", "/events"),), layout="broad")

    return [Route("/events", events), Route("/events/{name}", event)]


def _document(parts: ServerParts, event: ScheduledEvent) -> Document:
    detail = event_detail(parts.store, event)
    document = event_document(parts.store, detail, lambda run: run_path(str(run.id)))
    as_json = Fact("as JSON", Link("event", f"/api/v1/scheduled-events/{quote(event.name, safe='')}"))
    return replace(document, facts=(*document.facts, as_json))
