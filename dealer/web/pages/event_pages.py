"""Pages of a server's events.

/events                 all events, the latest first, and the form of organisers
/events/NAME            state, standings and contests of an event
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import quote

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import RefusedError, WebError
from dealer.run.run_settings import problem_in_words
from dealer.server.db import event_records
from dealer.server.db.event_records import ScheduledEvent, add_event
from dealer.server.event_results import event_detail, event_document, events_table
from dealer.server.event_settings import EventSettings
from dealer.server.server import ServerParts
from dealer.web.pages.shown_runs import run_path
from dealer.web.security import as_web_error, parse_number, read_form
from dealer.web.site import Site, find_server_game, next_page_links
from dealer.web.visitor import SEE_OTHER, get_visitor
from engine.text import capitalized, shown
from logs.document import Document, Fact, Link, Section

_EVENTS_ON_PAGE = 50


def event_path(event: ScheduledEvent) -> str:
    return f"/events/{quote(event.name, safe='')}"


def routes(site: Site, parts: ServerParts) -> list[BaseRoute]:
    """Return the routes of these pages."""

    async def show_events(request: Request, form: Mapping[str, str] | None = None, problem: str = "") -> Response:
        before = parse_number(request.query_params.get("after", ""))
        # One more than the page shows, to learn whether there is another page.
        events = event_records.events(parts.store, before=before, limit=_EVENTS_ON_PAGE + 1)
        page = events[:_EVENTS_ON_PAGE]
        following = str(page[-1].id) if len(events) > len(page) else ""
        document = Document("Events", ("No event is announced.",))
        if page:
            table = events_table("All events", page, event_path)
            document = Document("Events", sections=(Section(table.title, (table,)),))
        return site.document(
            request,
            document,
            "events.html.jinja",
            pages=next_page_links(request, following),
            problems=[problem] if problem else [],
            status=422 if problem else 200,
            form_values=defaultdict(str, form or {}),
        )

    async def announce(request: Request) -> Response:
        visitor = get_visitor(request)
        if visitor.user is None or not visitor.is_organiser:
            raise WebError(403, "Only organisers announce events. Log in with an admin token instead of the password.")
        form = await read_form(request)
        try:
            game = find_server_game(parts, form.get("game", ""))
            settings = _read_settings(form)
            await parts.store.write(partial(add_event, who=visitor.user.name, settings=settings, game=game.name))
        except (RefusedError, WebError) as error:
            return await show_events(request, form, as_web_error(error).sentence)
        return RedirectResponse(f"/events/{quote(form['name'].strip(), safe='')}", SEE_OTHER)

    async def show_event(request: Request) -> Response:
        name = request.path_params["name"]
        event = event_records.event(parts.store, name)
        if event is None:
            raise WebError(404, f"There is no event {shown(name)}.")
        document = await run_in_threadpool(_document, parts, event)
        return site.document(request, document, crumbs=(Link("Events", "/events"),), layout="broad")

    return [
        Route("/events", show_events, methods=["GET"]),
        Route("/events", announce, methods=["POST"]),
        Route("/events/{name}", show_event),
    ]


def _read_settings(form: Mapping[str, str]) -> EventSettings:
    """Read the settings of an event from a form, whose times are in UTC.

    Raises:
        WebError: the settings are invalid; the sentence names the fields.
    """
    values = {name: text.strip() for name, text in form.items() if text.strip()}
    fields: dict[str, object] = {name: values[name] for name in ("name", "game", "deals") if name in values}
    for name in ("opens", "closes"):
        if name in values:
            # Browsers send local times without a zone.
            fields[name] = f"{values[name]}Z"
    if "entrants" in values:
        fields["entrants"] = [name.strip() for name in values["entrants"].split(",")]
    try:
        return EventSettings.model_validate(fields)
    except ValidationError as error:
        problems = []
        for problem in error.errors(include_url=False):
            setting, text = problem_in_words(problem)
            problems.append(f"{setting}: {text}" if setting else text)
        raise WebError(422, f"{capitalized('; '.join(problems))}.") from None


def _document(parts: ServerParts, event: ScheduledEvent) -> Document:
    detail = event_detail(parts.store, event, parts.service.computing.wait)
    document = event_document(parts.store, detail, lambda run: run_path(str(run.id)))
    json_link = Link("event", f"/api/v1/scheduled-events/{quote(event.name, safe='')}")
    return replace(document, facts=(*document.facts, Fact("as JSON", json_link)))
