"""Pages of a server's events.

/events                 all events, upcoming ones first, and the form of organisers
/events/NAME            state, entrants, standings and contests of an event, and forms of organisers
    /edit               replaces its settings
    /disqualify         excludes a bot
    /withdraw           withdraws it
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import RefusedError, WebError
from dealer.server.db import event_records, records
from dealer.server.db.event_records import (
    EventState,
    ScheduledEvent,
    add_event,
    disqualify,
    edit_event,
    withdraw_event,
)
from dealer.server.db.series_records import series_names, series_of
from dealer.server.db.texts import TextName, read_text
from dealer.server.db.users import User
from dealer.server.event_results import event_detail, event_document, events_table
from dealer.server.server import ServerParts
from dealer.web.pages.event_forms import event_form_values, organiser_name, read_event_form
from dealer.web.pages.shown_runs import bot_path, run_path
from dealer.web.security import as_web_error, read_form
from dealer.web.site import Site, find_server_game, page_links, page_of, read_page
from dealer.web.visitor import SEE_OTHER, get_visitor
from engine.text import listed, shown
from logs.document import Document, Fact, Link, Section
from logs.document.paging import ROWS_ON_PAGE


def event_path(event: ScheduledEvent) -> str:
    return f"/events/{quote(event.name, safe='')}"


def series_path(name: str) -> str:
    return f"/series/{quote(name, safe='')}"


def routes(site: Site, parts: ServerParts) -> list[BaseRoute]:
    """Return the routes of these pages."""
    pages = _Pages(site, parts)
    event = "/events/{name}"
    return [
        Route("/events", pages.show_events, methods=["GET"]),
        Route("/events", pages.announce, methods=["POST"]),
        Route(event, pages.show_event),
        Route(f"{event}/edit", pages.edit, methods=["POST"]),
        Route(f"{event}/disqualify", pages.exclude, methods=["POST"]),
        Route(f"{event}/withdraw", pages.withdraw, methods=["POST"]),
    ]


@dataclass(frozen=True)
class _Pages:
    site: Site
    parts: ServerParts

    async def show_events(self, request: Request, form: Mapping[str, str] | None = None, problem: str = "") -> Response:
        page, last = read_page(request, event_records.count_events(self.parts.store))
        events = event_records.events_by_time(self.parts.store, skip=(page - 1) * ROWS_ON_PAGE, limit=ROWS_ON_PAGE)
        document = Document("Events", ("No event is announced.",))
        if events:
            table = events_table("All events", events, event_path)
            document = Document("Events", sections=(Section(table.title, (table,)),))
        return self.site.document(
            request,
            document,
            "events.html.jinja",
            pages=page_links(page, last),
            problems=[problem] if problem else [],
            status=422 if problem else 200,
            form_values=defaultdict(str, form or {}),
            has_rules=bool(read_text(self.parts.store, TextName.RULES)),
            has_series=bool(series_names(self.parts.store)),
        )

    async def announce(self, request: Request) -> Response:
        who = organiser_name(request)
        form = await read_form(request)
        try:
            game = find_server_game(self.parts, form.get("game", ""))
            settings = read_event_form(form)
            await self.parts.store.write(partial(add_event, who=who, settings=settings, game=game.name))
        except (RefusedError, WebError) as error:
            return await self.show_events(request, form, as_web_error(error).sentence)
        return RedirectResponse(f"/events/{quote(form['name'].strip(), safe='')}", SEE_OTHER)

    def _find_event(self, request: Request) -> ScheduledEvent:
        name = request.path_params["name"]
        event = event_records.event(self.parts.store, name)
        if event is None:
            raise WebError(404, f"There is no event {shown(name)}.")
        return event

    async def show_event(self, request: Request, form: Mapping[str, str] | None = None, problem: str = "") -> Response:
        event = self._find_event(request)
        document, pages = page_of(request, await run_in_threadpool(_document, self.parts, event))
        user = get_visitor(request).account
        until_s, until_what = _next_time(event)
        is_open = event.state is EventState.OPEN
        return self.site.document(
            request,
            document,
            "event.html.jinja",
            crumbs=(Link("Events", "/events"),),
            pages=pages,
            layout="broad",
            problems=[problem] if problem else [],
            status=422 if problem else 200,
            event=event,
            path=event_path(event),
            until_s=until_s,
            until_what=until_what,
            entry="" if user is None else _describe_entry(self.parts, event, user),
            is_entry_possible=is_open and user is not None,
            can_be_edited=event.state in (EventState.ANNOUNCED, EventState.OPEN),
            can_be_withdrawn=event.state is not EventState.FINISHED,
            is_withdrawn=event.state is EventState.WITHDRAWN,
            form_values=defaultdict(str, form or event_form_values(event)),
        )

    async def edit(self, request: Request) -> Response:
        who = organiser_name(request)
        event = self._find_event(request)
        form = await read_form(request)
        try:
            game = find_server_game(self.parts, form.get("game", ""))
            settings = read_event_form(form)
            change = partial(edit_event, who=who, event=event, settings=settings, game=game.name)
            await self.parts.store.write(change)
        except (RefusedError, WebError) as error:
            return await self.show_event(request, form, as_web_error(error).sentence)
        return RedirectResponse(f"/events/{quote(settings.name, safe='')}", SEE_OTHER)

    async def exclude(self, request: Request) -> Response:
        who = organiser_name(request)
        event = self._find_event(request)
        form = await read_form(request)
        bot, reason = form.get("bot", "").strip(), form.get("reason", "").strip()
        try:
            if not reason:
                raise WebError(422, "A reason is needed; it is shown on this page.")
            await self.parts.store.write(partial(disqualify, who=who, event=event, bot=bot, reason=reason))
        except (RefusedError, WebError) as error:
            return await self.show_event(request, None, as_web_error(error).sentence)
        return RedirectResponse(event_path(event), SEE_OTHER)

    async def withdraw(self, request: Request) -> Response:
        who = organiser_name(request)
        event = self._find_event(request)
        form = await read_form(request)
        try:
            if form.get("again", "").strip() != event.name:
                raise WebError(422, f"Type {event.name} to withdraw the event.")
            await self.parts.store.write(partial(withdraw_event, who=who, event=event))
        except (RefusedError, WebError) as error:
            return await self.show_event(request, None, as_web_error(error).sentence)
        is_kept = event_records.event(self.parts.store, event.name) is not None
        return RedirectResponse(event_path(event) if is_kept else "/events", SEE_OTHER)


def _next_time(event: ScheduledEvent) -> tuple[float | None, str]:
    """Return the time of the next change of an upcoming event, and the beginning of a sentence about it."""
    if event.state is EventState.ANNOUNCED:
        return event.opens_s, "Opens"
    if event.state is EventState.OPEN:
        return event.closes_s, "Closes"
    return None, ""


def _describe_entry(parts: ServerParts, event: ScheduledEvent, user: User) -> str:
    """Say which bots of a user are in an event; empty if nothing can be said or done."""
    own = [bot for bot in records.bots_of_event(parts.store, event.id) if bot.owner == user]
    if own:
        bots = listed([f"{shown(bot.name)}, version {shown(bot.label or str(bot.number))}" for bot in own])
        return f"Your {'bot is' if len(own) == 1 else 'bots are'} in: {bots}."
    if event.state is EventState.OPEN:
        return "None of your bots is in. A bot of the game that is connected before the event closes enters."
    return ""


def _document(parts: ServerParts, event: ScheduledEvent) -> Document:
    detail = event_detail(parts.store, event, parts.service.computing.wait)
    bots = records.bots_of_event(parts.store, event.id)
    bot_paths = {bot.name: bot_path(bot) for bot in bots}
    document = event_document(parts.store, detail, lambda run: run_path(str(run.id)), bot_paths)
    facts = list(document.facts)
    series = series_of(parts.store, event)
    if series is not None:
        facts.append(Fact("series", Link(series.name, series_path(series.name))))
    facts.append(Fact("as JSON", Link("event", f"/api/v1/scheduled-events/{quote(event.name, safe='')}")))
    return replace(document, facts=tuple(facts))
