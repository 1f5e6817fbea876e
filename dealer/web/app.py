"""The application: the routes of the page rooms, the files of the pages, and one way to say what is wrong.

Whatever raises `WebError` answers with its status: in a page for browsers, as a problem (RFC 9457) below ``/api``.
All of it passes its middleware (`dealer.web.security`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from dealer.errors import StoreError, WebError
from dealer.server.settings import WebSettings
from dealer.web.security import SecurityMiddleware, as_web_error
from dealer.web.site import Site

_API = "/api/"


_SENTENCES = {
    404: "There is nothing here.",
    405: "This address does not take that method.",
}


def make_app(
    site: Site, routes: Sequence[BaseRoute], settings: WebSettings | None = None, *, is_loopback: bool = True
) -> ASGIApp:
    """The application of a site.

    Args:
        site: what every page knows.
        routes: of the page rooms, asked in this order.
        settings: bounds, names and proxies.
        is_loopback: whether only this machine is listened to.
    """

    app = Starlette(
        routes=[*routes, Mount("/static", StaticFiles(packages=[("dealer.web", "static")]), name="static")],
        exception_handlers=error_handlers(site),
    )
    on_error = partial(error_answer, site)
    return SecurityMiddleware(app, settings or WebSettings(), on_error, sessions=site.sessions, is_loopback=is_loopback)


def error_handlers(site: Site) -> dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]]:
    """What answers where something is raised, for an application of a site."""

    async def on_web_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, WebError)
        return error_answer(site, request, error)

    async def on_http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        sentence = _SENTENCES.get(error.status_code, f"{error.detail}.")
        answer = error_answer(site, request, WebError(error.status_code, sentence))
        answer.headers.update(error.headers or {})
        if error.status_code == 405:
            answer.headers["allow"] = ", ".join(_methods(request))
        return answer

    async def on_our_error(request: Request, error: Exception) -> Response:
        return error_answer(site, request, as_web_error(error))

    return {
        WebError: on_web_error,
        HTTPException: on_http_error,
        StoreError: on_our_error,
        Exception: on_our_error,
    }


def _methods(request: Request) -> list[str]:
    """What an address takes, by all of its routes."""
    here = [route for route in request.app.routes if isinstance(route, Route)]
    fitting = [route for route in here if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in fitting for method in route.methods or ()})


def error_answer(site: Site, request: Request, error: WebError) -> Response:
    """What is said of an error: to programs as a problem, to people on a page."""
    headers = {"Retry-After": str(math.ceil(error.wait_s))} if error.wait_s else {}
    answer: Response
    if request.url.path.startswith(_API):
        title = HTTPStatus(error.status).phrase
        problem: dict[str, object] = {"title": title, "status": error.status, "detail": error.sentence}
        # As it was before there was a standard for it.
        problem["error"] = error.sentence
        if error.limit:
            problem["ratelimit"] = {"key": error.limit, "seconds": error.wait_s}
        answer = JSONResponse(problem, error.status, media_type="application/problem+json")
    else:
        answer = site.page(request, "error.html.jinja", status=error.status, sentence=error.sentence)
    answer.headers.update(headers)
    return answer
