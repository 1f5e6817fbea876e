"""What every page needs: its title, its template, the server if there is one; and the application of all pages.

A site with a server has accounts, sessions and an interface for programs; one without, for runs on this machine, has
one visitor, the person who started it, who may see everything. Page modules take a site and return routes; what they
need of a server they take from `Site.server`.

Whatever raises `WebError` answers with its status: in a page for browsers, as a problem (RFC 9457) below ``/api``.
Every request passes the middleware of `dealer.web.security`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from http import HTTPStatus
from itertools import islice
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import ChoiceLoader, Environment, FunctionLoader, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from bots.errors import WorkersError
from dealer.errors import RefusedError, StoreError, WebError
from dealer.server.server import ServerParts
from dealer.server.server_settings import ServerGame, WebSettings
from dealer.server.table_manager import TableManager
from dealer.uploads.intake import Intake
from dealer.web.security import SecurityMiddleware, as_web_error
from dealer.web.visitor import Sessions, get_visitor
from engine.text import duration, shown
from logs.document import Document, Link, Value, text_of
from logs.document.page import add_filters, template_text
from protocol.game_definition import short_name


@dataclass(frozen=True)
class Site:
    """What every page is given.

    Attributes:
        name: in the head and the title of every page.
        server: behind the pages: its store, service, accounts; None where they show runs of this machine.
        sessions: who has logged in; None without a server.
        table_manager: the tables at which people sit; None without tables.
        intake: takes uploads; None without a server.
        links: the navigation, in its order.
        private_links: the rest of it, for those who have logged in.
        organiser_links: what organisers have besides.
    """

    name: str = "acpc-arena"
    server: ServerParts | None = None
    sessions: Sessions | None = None
    table_manager: TableManager | None = None
    intake: Intake | None = None
    links: tuple[Link, ...] = ()
    private_links: tuple[Link, ...] = ()
    organiser_links: tuple[Link, ...] = ()

    def page(self, request: HTTPConnection, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """An answer from a template.

        A template extends ``base.html.jinja`` and fills the blocks `title`, `main` and, for files under ``/static``,
        `scripts`. It finds `site`, `visitor`, `links`, `path` and the values given here. A form that changes something
        begins with ``{{ form.key(visitor) }}`` (``{% import "form.html.jinja" as form %}``), and is read by
        `dealer.web.security.read_form`. ``{{ word | segment }}`` makes a part of a path of a hostile word.

        Args:
            request: to be answered.
            template: the name of a file in ``dealer/web/templates``.
            status: of the answer.
            values: for the template.
        """
        visitor = get_visitor(request)
        is_known = visitor.user is not None or visitor.is_owner
        more = self.organiser_links if visitor.is_organiser else ()
        links = (*self.links, *(self.private_links if is_known else ()), *more)
        text = (
            templates()
            .get_template(template)
            .render(site=self, visitor=visitor, links=links, path=request.url.path, **values)
        )
        return HTMLResponse(text, status)

    def document(
        self,
        request: Request,
        document: Document,
        template: str = "document.html.jinja",
        *,
        crumbs: Sequence[Value] = (),
        tabs: Sequence[Link] = (),
        pages: Sequence[Value] = (),
        problems: Sequence[str] = (),
        layout: str = "",
        status: int = 200,
        **values: Any,
    ) -> HTMLResponse:
        """An answer that shows a document.

        Args:
            template: extends ``document.html.jinja``.
            crumbs: above the title, the pages that this one belongs to.
            tabs: pages of the same kind, this one among them.
            pages: of the list that this is a page of.
            problems: what could not be read.
            layout: ``broad`` for the width of the window, and ``paired`` for two sections side by side.
        """
        return self.page(
            request,
            template,
            status=status,
            document=document,
            crumbs=crumbs,
            tabs=tabs,
            pages=pages,
            problems=problems,
            layout=layout,
            **values,
        )


def find_server_game(server: ServerParts, name: str) -> ServerGame:
    """A game that an address names.

    Raises:
        WebError: there is none.
    """
    try:
        return server.settings.resolve_game(name)
    except RefusedError as error:
        raise WebError.of(error, 404) from None


def next_page_links(request: Request, following: str) -> list[Link]:
    """The first page of a list and the next one, whose address has `following` as ``after``; none without it."""
    query = {name: word for name, word in request.query_params.items() if name != "after" and word}
    first = [Link("First page", f"?{urlencode(query)}")] if request.query_params.get("after") else []
    return [*first, *([Link("Next page", f"?{urlencode({**query, 'after': following})}")] if following else [])]


def download(texts: Iterable[str], name: str, media_type: str = "text/plain; charset=utf-8") -> Response:
    """An answer to be kept as a file, sent as the texts are made."""

    def pieces() -> Iterator[bytes]:
        waiting = iter(texts)
        while piece := "".join(islice(waiting, _TEXTS_AT_ONCE)):
            yield piece.encode("utf-8", "surrogateescape")

    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(pieces(), media_type=media_type, headers=headers)


@cache
def templates() -> Environment:
    """The engine of all pages, one a process; it escapes what people and programs wrote."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=ChoiceLoader([PackageLoader("dealer.web"), FunctionLoader(template_text)]),
    )
    add_filters(environment)
    environment.filters |= {"shown": shown, "game": short_name, "duration": duration, "text": text_of}
    environment.filters["segment"] = lambda text: quote(str(text), safe="")
    return environment


def compile_templates() -> None:
    """Compile all templates, which pages would otherwise do at the first visit, while players wait."""
    engine = templates()
    assert isinstance(engine.loader, ChoiceLoader)
    for name in (*engine.loader.loaders[0].list_templates(), *_SHARED_TEMPLATES):
        if name.endswith(".jinja"):
            engine.get_template(name)


def document_part(macro: str, *values: object) -> str:
    """What a macro of ``document.html.jinja`` makes of values, for a piece of a page."""
    parts = templates().get_template(_DOCUMENT_TEMPLATE).module
    return str(getattr(parts, macro)(*values))


_API = "/api/"
_DOCUMENT_TEMPLATE = "logs.document/document.html.jinja"
_SHARED_TEMPLATES = (_DOCUMENT_TEMPLATE, "logs.poker_table/table.html.jinja")
_TEXTS_AT_ONCE = 100
_STATIC: list[str | tuple[str, str]] = [
    ("dealer.web", "static"),
    ("logs.document", "static"),
    ("logs.poker_table", "static"),
]
_HEADINGS = {
    400: "This request cannot be read",
    401: "Log in to see this",
    403: "Not allowed",
    404: "Page not found",
    405: "Not possible here",
    409: "Not possible now",
    410: "No longer available",
    413: "Too large",
    429: "Too many requests",
    500: "The server failed",
    503: "Try again later",
}
_SENTENCES = {
    404: "There is nothing at this address: check its spelling.",
    405: "This address does not take that method.",
}


def make_app(
    site: Site, routes: Sequence[BaseRoute], settings: WebSettings | None = None, *, is_loopback: bool = True
) -> ASGIApp:
    """The application of a site.

    Args:
        site: what every page is given.
        routes: of the page rooms, asked in this order.
        settings: bounds, names and proxies.
        is_loopback: whether only this machine is listened to.
    """

    app = Starlette(
        routes=[
            *routes,
            # Pages are not compressed: the length of one would reveal the key of its forms.
            Mount("/static", GZipMiddleware(StaticFiles(packages=_STATIC)), name="static"),
        ],
        exception_handlers=error_handlers(site),
    )
    on_error = partial(error_response, site)
    settings = settings or WebSettings()
    most = 0 if site.intake is None or site.intake.settings is None else site.intake.settings.archive_mb * 10**6
    secured = SecurityMiddleware(
        app, settings, on_error, sessions=site.sessions, is_loopback=is_loopback, max_upload_bytes=most
    )
    return ProxyHeadersMiddleware(secured, list(settings.proxies))  # type: ignore[arg-type,return-value]


def error_handlers(site: Site) -> dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]]:
    """What answers where something is raised, for an application of a site."""

    async def on_error(request: Request, error: Exception) -> Response:
        return error_response(site, request, as_web_error(error))

    async def on_http_error(request: Request, error: HTTPException) -> Response:
        sentence = _SENTENCES.get(error.status_code, f"{error.detail}.")
        answer = error_response(site, request, WebError(error.status_code, sentence))
        answer.headers.update(error.headers or {})
        if error.status_code == 405:
            answer.headers["allow"] = ", ".join(_methods(request))
        return answer

    return {
        HTTPException: on_http_error,
        WebError: on_error,
        RefusedError: on_error,
        StoreError: on_error,
        WorkersError: on_error,
        Exception: on_error,
    }


def _methods(request: Request) -> list[str]:
    """What an address takes, by all of its routes."""
    here = [route for route in request.app.routes if isinstance(route, Route)]
    fitting = [route for route in here if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in fitting for method in route.methods or ()})


def error_response(site: Site, request: HTTPConnection, error: WebError) -> Response:
    """The answer to an error: for programs a problem, for people a page."""
    heading = HTTPStatus(error.status).phrase
    headers = {"Retry-After": str(math.ceil(error.wait_s))} if error.wait_s else {}
    answer: Response
    if request.url.path.startswith(_API):
        problem: dict[str, object] = {"title": heading, "status": error.status, "detail": error.sentence}
        if error.limit:
            problem["ratelimit"] = {"key": error.limit, "seconds": error.wait_s}
        answer = JSONResponse(problem, error.status, media_type="application/problem+json")
    else:
        heading = _HEADINGS.get(error.status, heading)
        answer = site.page(request, "error.html.jinja", status=error.status, heading=heading, error=error)
    answer.headers.update(headers)
    return answer
