"""The events of a server.

/events                 all events, the latest first; organisers announce others here
/events/NAME            an event: its state, its standings, its contests
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

_EVENTS_OF_A_PAGE = 50


def event_path(event: ScheduledEvent) -> str:
    """The address of an event."""
    return f"/events/{quote(event.name, safe='')}"


def routes(site: Site, parts: ServerParts) -> list[BaseRoute]:
    """The addresses of these pages."""

    async def show(request: Request, given: Mapping[str, str] | None = None, problem: str = "") -> Response:
        before = parse_number(request.query_params.get("after", ""))
        found = event_records.events(parts.store, before=before, limit=_EVENTS_OF_A_PAGE + 1)
        following = str(found[_EVENTS_OF_A_PAGE - 1].id) if len(found) > _EVENTS_OF_A_PAGE else ""
        table = events_table("All events", found[:_EVENTS_OF_A_PAGE], event_path)
        sentences = () if found else ("No event is announced.",)
        document = Document("Events", sentences, (), (Section(table.title, (table,)),) if found else ())
        return site.document(
            request,
            document,
            "events.html.jinja",
            pages=next_page_links(request, following),
            problems=[problem] if problem else [],
            status=422 if problem else 200,
            given=defaultdict(str, given or {}),
        )

    async def announce(request: Request) -> Response:
        visitor = get_visitor(request)
        if visitor.user is None or not visitor.is_organiser:
            raise WebError(403, "Organisers announce events: log in with a token for admins in place of the password.")
        form = await read_form(request)
        try:
            game, settings = find_server_game(parts, form.get("game", "")), _settings_of(form)
            await parts.store.write(partial(add_event, who=visitor.user.name, settings=settings, game=game.name))
        except (RefusedError, WebError) as error:
            return await show(request, form, as_web_error(error).sentence)
        return RedirectResponse(f"/events/{quote(form['name'].strip(), safe='')}", SEE_OTHER)

    async def event(request: Request) -> Response:
        name = request.path_params["name"]
        found = event_records.event(parts.store, name)
        if found is None:
            raise WebError(404, f"There is no event {shown(name)}.")
        document = await run_in_threadpool(_document, parts, found)
        return site.document(request, document, crumbs=(Link("Events", "/events"),), layout="broad")

    return [
        Route("/events", show, methods=["GET"]),
        Route("/events", announce, methods=["POST"]),
        Route("/events/{name}", event),
    ]


def _settings_of(form: Mapping[str, str]) -> EventSettings:
    """An event as a form describes it, whose times are in UTC.

    Raises:
        WebError: it cannot be announced; the sentence names the fields.
    """
    given = {name: text.strip() for name, text in form.items() if text.strip()}
    fields: dict[str, object] = {name: given[name] for name in ("name", "game", "deals") if name in given}
    fields |= {name: f"{given[name]}Z" for name in ("opens", "closes") if name in given}
    if "entrants" in given:
        fields["entrants"] = [name.strip() for name in given["entrants"].split(",")]
    try:
        return EventSettings.model_validate(fields)
    except ValidationError as error:
        problems = [problem_in_words(problem) for problem in error.errors(include_url=False)]
        text = "; ".join(f"{where}: {text}" if where else text for where, text in problems)
        raise WebError(422, f"{capitalized(text)}.") from None


def _document(parts: ServerParts, event: ScheduledEvent) -> Document:
    detail = event_detail(parts.store, event, parts.service.computing.wait)
    document = event_document(parts.store, detail, lambda run: run_path(str(run.id)))
    as_json = Fact("as JSON", Link("event", f"/api/v1/scheduled-events/{quote(event.name, safe='')}"))
    return replace(document, facts=(*document.facts, as_json))
