"""Pages of series of events.

/series                 all series, the latest first, and the form of organisers
/series/NAME            table and events of a series, and the form of organisers
    /withdraw           withdraws its events that are not finished
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import RefusedError, WebError
from dealer.server.db.series_records import (
    Series,
    add_series,
    all_series,
    find_series,
    series_names,
    withdraw_series,
)
from dealer.server.series_results import series_document, series_table
from dealer.server.server import ServerParts
from dealer.web.pages.event_forms import organiser_name, read_series_form
from dealer.web.pages.event_pages import event_path, series_path
from dealer.web.security import as_web_error, read_form
from dealer.web.site import Site, find_server_game, page_links, page_of, read_page
from dealer.web.visitor import SEE_OTHER
from engine.text import shown
from logs.document import Document, Fact, Link, Section
from logs.document.paging import ROWS_ON_PAGE

_EVENTS = Link("Events", "/events")
_SERIES = Link("Series", "/series")


def routes(site: Site, parts: ServerParts) -> list[BaseRoute]:
    """Return the routes of these pages."""

    async def show_all(request: Request, form: Mapping[str, str] | None = None, problem: str = "") -> Response:
        page, last = read_page(request, len(series_names(parts.store)))
        skip = (page - 1) * ROWS_ON_PAGE
        rows = await run_in_threadpool(partial(all_series, parts.store, skip=skip, limit=ROWS_ON_PAGE))
        document = Document("Series", ("No series is announced.",))
        if rows:
            table = series_table(rows, lambda series: series_path(series.name))
            document = Document("Series", sections=(Section(table.title, (table,)),))
        return site.document(
            request,
            document,
            "all_series.html.jinja",
            crumbs=(_EVENTS,),
            pages=page_links(page, last),
            problems=[problem] if problem else [],
            status=422 if problem else 200,
            form_values=defaultdict(str, form or {}),
        )

    async def announce(request: Request) -> Response:
        who = organiser_name(request)
        form = await read_form(request)
        try:
            game = find_server_game(parts, form.get("game", ""))
            settings = read_series_form(form)
            await parts.store.write(partial(add_series, who=who, settings=settings, game=game.name))
        except (RefusedError, WebError) as error:
            return await show_all(request, form, as_web_error(error).sentence)
        return RedirectResponse(series_path(settings.name), SEE_OTHER)

    def find(request: Request) -> Series:
        name = request.path_params["name"]
        series = find_series(parts.store, name)
        if series is None:
            raise WebError(404, f"There is no series {shown(name)}.")
        return series

    async def show(request: Request, problem: str = "") -> Response:
        series = find(request)
        document, pages = page_of(request, await run_in_threadpool(series_document, series, event_path))
        json_link = Fact("as JSON", Link("series", f"/api/v1{series_path(series.name)}"))
        return site.document(
            request,
            replace(document, facts=(*document.facts, json_link)),
            "series.html.jinja",
            crumbs=(_EVENTS, _SERIES),
            pages=pages,
            layout="broad",
            problems=[problem] if problem else [],
            status=422 if problem else 200,
            series=series,
            path=series_path(series.name),
        )

    async def withdraw(request: Request) -> Response:
        who = organiser_name(request)
        series = find(request)
        form = await read_form(request)
        if form.get("again", "").strip() != series.name:
            return await show(request, f"Type {series.name} to withdraw the series.")
        await parts.store.write(partial(withdraw_series, who=who, series=series))
        is_kept = find_series(parts.store, series.name) is not None
        return RedirectResponse(series_path(series.name) if is_kept else "/series", SEE_OTHER)

    return [
        Route("/series", show_all, methods=["GET"]),
        Route("/series", announce, methods=["POST"]),
        Route("/series/{name}", show, methods=["GET"]),
        Route("/series/{name}/withdraw", withdraw, methods=["POST"]),
    ]
