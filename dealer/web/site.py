"""`Site`, which renders the pages, and the application made from the routes of the page modules.

A site with a server has accounts, sessions and an interface for programs. A site without one shows runs of this machine
to one visitor, who may see everything. A page module takes a site and returns routes.

A `WebError` becomes a page for browsers, and a problem document (RFC 9457) below ``/api``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from http import HTTPStatus
from itertools import islice
from typing import Any, TypeVar
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
from dealer.web.security import SecurityMiddleware, as_web_error, parse_number
from dealer.web.visitor import Sessions, get_visitor
from engine.text import duration, shown
from logs.document import Document, Link, Value, text_of
from logs.document.page import add_filters, template_text
from logs.document.paging import ROWS_ON_PAGE, document_page, page_count, row_count
from protocol.game_definition import short_name

_Row = TypeVar("_Row")


@dataclass(frozen=True)
class Site:
    """Services and navigation that all pages share.

    Attributes:
        name: shown in the head and the title of every page.
        server: store, service and accounts of the server; None for runs of this machine.
        sessions: logins; None without a server.
        table_manager: tables with human players; None without tables.
        intake: accepts uploads; None without a server.
        links: navigation for everyone.
        private_links: additional navigation for users who have logged in.
        organiser_links: additional navigation for organisers.
    """

    name: str = "acpc-arena"
    server: ServerParts | None = None
    sessions: Sessions | None = None
    table_manager: TableManager | None = None
    intake: Intake | None = None
    links: tuple[Link, ...] = ()
    private_links: tuple[Link, ...] = ()
    organiser_links: tuple[Link, ...] = ()

    def address(self, request: HTTPConnection) -> str:
        """Return the address of the pages, as configured or as the visitor has typed it, without a slash at its end."""
        if self.server is not None and self.server.settings.web.address:
            return self.server.settings.web.address
        return str(request.base_url).rstrip("/")

    def page(self, request: HTTPConnection, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Render a template.

        A template extends ``base.html.jinja`` and fills the blocks `title`, `main` and, for files under ``/static``,
        `scripts`. Its variables are `site`, `visitor`, `links`, `path`, `address` and `values`. A form that changes
        something begins with ``{{ form.key(visitor) }}`` (``{% import "form.html.jinja" as form %}``) and is read by
        `dealer.web.security.read_form`. The filter `segment` quotes a text as one segment of a path.

        Args:
            template: name of a file in ``dealer/web/templates``.
            status: HTTP status of the response.
            values: variables of the template.
        """
        visitor = get_visitor(request)
        links = [*self.links]
        if visitor.user is not None or visitor.is_owner:
            links += self.private_links
        if visitor.is_organiser:
            links += self.organiser_links
        variables = {"site": self, "visitor": visitor, "links": links, "path": request.url.path}
        variables |= {"address": self.address(request), **values}
        return HTMLResponse(templates().get_template(template).render(variables), status)

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
        """Render a document.

        Args:
            template: extends ``document.html.jinja``.
            crumbs: parent pages, shown above the title.
            tabs: pages of the same kind, including this one.
            pages: links to other pages of a list.
            problems: sentences about data that cannot be read.
            layout: ``broad`` for the width of the window, ``paired`` for two sections side by side.
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
    """Look up a game of the server by the name in a path.

    Raises:
        WebError: the server has no such game (status 404).
    """
    try:
        return server.settings.resolve_game(name)
    except RefusedError as error:
        raise WebError.of(error, 404) from None


def page_links(page: int, last: int) -> tuple[Value, ...]:
    """Make links to the other pages of a numbered list; none if it has one page."""
    links: list[Value] = [f"page {page} of {last}"]
    if page > 1:
        links = [Link("First", "?page=1"), Link("Earlier", f"?page={page - 1}"), *links]
    if page < last:
        links += [Link("Later", f"?page={page + 1}"), Link("Last", f"?page={last}")]
    return tuple(links) if last > 1 else ()


def read_page(request: Request, count: int, rows_on_page: int = ROWS_ON_PAGE) -> tuple[int, int]:
    """Return the number of the page that a request asks for, the last at most, and the number of pages."""
    last = page_count(count, rows_on_page)
    return min(max(parse_number(request.query_params.get("page", "")) or 1, 1), last), last


def page_of(request: Request, document: Document) -> tuple[Document, tuple[Value, ...]]:
    """Return a page of a document with long tables, as `document_page` makes it, and links to the others."""
    page, last = read_page(request, row_count(document))
    return document_page(document, page), page_links(page, last)


def read_rows(read: Callable[[int], Sequence[_Row]], number_of: Callable[[_Row], int]) -> tuple[Sequence[_Row], str]:
    """Read the rows of a page of a list that grows, whose pages begin after the last row of the one before.

    Args:
        read: returns at most a given number of rows.
        number_of: returns the value of ``after`` with which the list continues after a row.

    Returns:
        The rows, and the value of ``after`` for the next page, empty on the last.
    """
    # One more than the page shows, to learn whether there is another page.
    rows = read(ROWS_ON_PAGE + 1)
    page = rows[:ROWS_ON_PAGE]
    return page, str(number_of(page[-1])) if len(rows) > len(page) else ""


def next_page_links(request: Request, following: str) -> list[Link]:
    """Make links to the first and the next page of a list.

    Args:
        following: query parameter ``after`` of the next page; empty on the last page.
    """
    query = {name: value for name, value in request.query_params.items() if name != "after" and value}
    links = []
    if request.query_params.get("after"):
        links.append(Link("First page", f"?{urlencode(query)}"))
    if following:
        links.append(Link("Next page", f"?{urlencode({**query, 'after': following})}"))
    return links


def download(texts: Iterable[str], name: str, media_type: str = "text/plain; charset=utf-8") -> Response:
    """Send texts as a file, in pieces, while they are produced."""

    def encode_pieces() -> Iterator[bytes]:
        remaining = iter(texts)
        while piece := "".join(islice(remaining, _TEXTS_PER_PIECE)):
            yield piece.encode("utf-8", "surrogateescape")

    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(encode_pieces(), media_type=media_type, headers=headers)


@cache
def templates() -> Environment:
    """Return the environment of all templates; it escapes every text."""
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
    """Compile all templates at the start, so that no first visit delays players."""
    engine = templates()
    assert isinstance(engine.loader, ChoiceLoader)
    for name in (*engine.loader.loaders[0].list_templates(), *_SHARED_TEMPLATES):
        if name.endswith(".jinja"):
            engine.get_template(name)


def document_part(macro: str, *values: object) -> str:
    """Render a macro of ``document.html.jinja`` for a part of a page."""
    parts = templates().get_template(_DOCUMENT_TEMPLATE).module
    return str(getattr(parts, macro)(*values))


_API = "/api/"
_DOCUMENT_TEMPLATE = "logs.document/document.html.jinja"
_SHARED_TEMPLATES = (_DOCUMENT_TEMPLATE, "logs.poker_table/table.html.jinja")
_TEXTS_PER_PIECE = 100
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
    404: "There is no page at this address. Check its spelling.",
    405: "This address does not accept this method.",
}


def make_app(
    site: Site, routes: Sequence[BaseRoute], settings: WebSettings | None = None, *, is_loopback: bool = True
) -> ASGIApp:
    """Make the application of a site.

    Args:
        routes: in order of precedence.
        settings: limits, host names and proxies.
        is_loopback: whether the server listens on loopback addresses only.
    """

    app = Starlette(
        routes=[
            *routes,
            # Only files are compressed: the length of a compressed page would leak the key of its forms (BREACH).
            Mount("/static", GZipMiddleware(StaticFiles(packages=_STATIC)), name="static"),
        ],
        exception_handlers=error_handlers(site),
    )
    settings = settings or WebSettings()
    max_upload_bytes = 0
    if site.intake is not None and site.intake.settings is not None:
        max_upload_bytes = site.intake.settings.archive_mb * 10**6
    secured = SecurityMiddleware(
        app,
        settings,
        partial(error_response, site),
        sessions=site.sessions,
        is_loopback=is_loopback,
        max_upload_bytes=max_upload_bytes,
    )
    return ProxyHeadersMiddleware(secured, list(settings.proxies))  # type: ignore[arg-type,return-value]


def error_handlers(site: Site) -> dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]]:
    """Return exception handlers for an application of a site."""

    async def on_error(request: Request, error: Exception) -> Response:
        return error_response(site, request, as_web_error(error))

    async def on_http_error(request: Request, error: HTTPException) -> Response:
        sentence = _SENTENCES.get(error.status_code, f"{error.detail}.")
        response = error_response(site, request, WebError(error.status_code, sentence))
        response.headers.update(error.headers or {})
        if error.status_code == 405:
            response.headers["allow"] = ", ".join(_find_methods(request))
        return response

    return {
        HTTPException: on_http_error,
        WebError: on_error,
        RefusedError: on_error,
        StoreError: on_error,
        WorkersError: on_error,
        Exception: on_error,
    }


def _find_methods(request: Request) -> list[str]:
    """Return the methods of all routes that match the path, as RFC 9110 requires with status 405."""
    methods: set[str] = set()
    for route in request.app.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            methods.update(route.methods or ())
    return sorted(methods)


def error_response(site: Site, request: HTTPConnection, error: WebError) -> Response:
    """Make the response to an error: a problem document for programs, a page for people."""
    heading = HTTPStatus(error.status).phrase
    response: Response
    if request.url.path.startswith(_API):
        problem: dict[str, object] = {"title": heading, "status": error.status, "detail": error.sentence}
        if error.limit:
            problem["ratelimit"] = {"key": error.limit, "seconds": error.wait_s}
        response = JSONResponse(problem, error.status, media_type="application/problem+json")
    else:
        heading = _HEADINGS.get(error.status, heading)
        response = site.page(request, "error.html.jinja", status=error.status, heading=heading, error=error)
    if error.wait_s:
        response.headers["Retry-After"] = str(math.ceil(error.wait_s))
    return response
