"""The application: the routes of the page rooms, the files of the pages, and one way to say what is wrong.

Whatever raises `WebError` answers with its status: in a page for browsers, as JSON below ``/api``. All of it stands
behind the gate (`dealer.web.gate`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from dealer.errors import StoreError, WebError
from dealer.server.settings import WebSettings
from dealer.web.gate import Gate, told
from dealer.web.site import Site

__all__ = ["make_app"]

API = "/api/"


class _Number(IntegerConvertor):
    """A number in an address: no longer than those of databases."""

    regex = "[0-9]{1,18}"


register_url_convertor("int", _Number())
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

    def on_error(request: Request, error: WebError) -> Response:
        return _error_answer(site, request, error)

    def on_web_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, WebError)
        return on_error(request, error)

    def on_http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        sentence = _SENTENCES.get(error.status_code, f"{error.detail}.")
        answer = on_error(request, WebError(error.status_code, sentence))
        answer.headers.update(error.headers or {})
        return answer

    def on_our_error(request: Request, error: Exception) -> Response:
        return on_error(request, told(error))

    app = Starlette(
        routes=[*routes, Mount("/static", StaticFiles(packages=[("dealer.web", "static")]), name="static")],
        exception_handlers={
            WebError: on_web_error,
            HTTPException: on_http_error,
            StoreError: on_our_error,
            Exception: on_our_error,
        },
    )
    return Gate(app, settings or WebSettings(), on_error, sessions=site.sessions, is_loopback=is_loopback)


def _error_answer(site: Site, request: Request, error: WebError) -> Response:
    headers = {"Retry-After": str(math.ceil(error.wait_s))} if error.wait_s else {}
    answer: Response
    if request.url.path.startswith(API):
        told: dict[str, object] = {"error": error.sentence}
        if error.limit:
            told["ratelimit"] = {"key": error.limit, "seconds": error.wait_s}
        answer = JSONResponse(told, error.status)
    else:
        answer = site.page(request, "error.html.jinja", status=error.status, sentence=error.sentence)
    answer.headers.update(headers)
    return answer
