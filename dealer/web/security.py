"""Security of the pages and the HTTP interface: checks on every request, headers on every answer, forms.

`SecurityMiddleware` identifies the visitor by the address and by the login of the browser's cookie. The address and
the scheme are the client's: `ProxyHeadersMiddleware` has taken them from a trusted proxy's headers. A request for
another host name is rejected, since another site could otherwise reach a loopback server under a name of its own;
bodies that are too long or too slow are rejected, and so are too many requests for pages. The headers of every answer
forbid scripts and resources from other origins, frames, guessed types, and referrers to other sites.

`read_form` reads a form of bounded size that one of our own pages sent: it carries a key derived from the browser's
cookie, and its ``Origin``, if present, is ours. Forms are ``application/x-www-form-urlencoded``, or
``multipart/form-data`` with a file (`read_file`).
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from email.message import EmailMessage
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from bots.errors import WorkersError
from dealer.errors import RefusedError, StoreError, WebError
from dealer.server.access import Person
from dealer.server.accounts import RateLimit
from dealer.server.server_settings import WebSettings
from dealer.web.visitor import KNOWN_KEY, SCOPE_KEY, Sessions, Visitor, get_visitor

_log = logging.getLogger(__name__)
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""On every answer."""
_NO_PAGES: Final = ("/api/", "/slumbot/", "/static/")
"""Addresses of programs, which have their own limits, and of files."""
_UPLOADS_SUFFIX: Final = "/uploads"
"""How the addresses end to which archives of bots are sent."""
_FORM_BYTES: Final = 10_000
"""Of a form around its file."""
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_MOST_COOKIE_LETTERS = 100
_RETRY_S = 5


def _cookie_name(request: HTTPConnection, visitor: Visitor) -> str:
    """The name of our cookie: browsers keep those of all ports of a machine together."""
    server = request.scope.get("server")
    name = f"arena-{server[1] if server else 0}"
    return f"__Host-{name}" if visitor.is_secure else name


def set_cookie(request: HTTPConnection, response: Response, visitor: Visitor, value: str) -> None:
    """Give a browser its cookie; no script sees it, and no other site's form sends it."""
    response.set_cookie(
        _cookie_name(request, visitor), value, path="/", secure=visitor.is_secure, httponly=True, samesite="lax"
    )


def as_web_error(error: Exception) -> WebError:
    """The answer to an error, without what belongs in the log only."""
    if isinstance(error, WebError):
        return error
    if isinstance(error, RefusedError):
        return WebError.of(error, 422)
    if isinstance(error, StoreError):
        _log.error("%s", error)
        return WebError(503, "The server cannot read or write what it keeps; try again later.", wait_s=_RETRY_S)
    if isinstance(error, WorkersError):
        return WebError(503, "This cannot be computed now; try again later.", wait_s=_RETRY_S)
    return WebError(500, "An internal error of the server; its log has the details.")


class SecurityMiddleware:
    """An ASGI application around another."""

    def __init__(
        self,
        app: ASGIApp,
        settings: WebSettings,
        on_error: Callable[[HTTPConnection, WebError], Response],
        *,
        sessions: Sessions | None,
        is_loopback: bool,
        max_upload_bytes: int = 0,
    ) -> None:
        """Wrap an application.

        Args:
            app: whose requests these are.
            settings: with the bounds and the names.
            on_error: makes the answer where something is wrong.
            sessions: of those who have logged in; None where the only visitor is the owner of everything.
            is_loopback: whether only this machine is listened to.
            max_upload_bytes: of an archive, for which other bounds hold than for other bodies.
        """
        self._app = app
        self._most_upload_bytes = max_upload_bytes
        self._settings = settings
        self._on_error = on_error
        self._sessions = sessions
        self._names = settings.names or (_LOOPBACK if is_loopback else ())
        self._page_limit = RateLimit(settings.page_requests_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        visitor = self._visitor(request)
        is_new = not visitor.cookie
        if is_new:
            visitor = replace(visitor, cookie=secrets.token_urlsafe(24))
        scope[SCOPE_KEY] = visitor
        scope[KNOWN_KEY] = visitor.user is not None or visitor.is_owner
        if scope["type"] == "websocket":
            try:
                self._check(request)
            except WebError as error:
                await WebSocket(scope, receive, send).send_denial_response(self._on_error(request, error))
            else:
                await self._app(scope, receive, send)
            return
        is_started = has_left = False

        async def answer(message: Message) -> None:
            nonlocal is_started, has_left
            if message["type"] == "http.response.start":
                is_started = True
                headers = MutableHeaders(scope=message)
                if message["status"] == 408:
                    headers["Connection"] = "close"
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                is_page = headers.get("content-type", "").startswith("text/html")
                is_file = request.url.path.startswith("/static/")
                headers.setdefault("Cache-Control", "no-cache" if is_file else "no-store")
                if is_page and is_new and "set-cookie" not in headers:
                    cookie = Response()
                    set_cookie(request, cookie, visitor, visitor.cookie)
                    headers.append("set-cookie", cookie.headers["set-cookie"])
            try:
                await send(message)
            except OSError:
                has_left = True
                raise

        try:
            self._check(request)
            if not visitor.is_owner and not request.url.path.startswith(_NO_PAGES):
                self._page_limit.count(visitor.address if visitor.user is None else f"user {visitor.user.id}")
            if self._sessions is not None and visitor.user is not None:
                await self._sessions.touch(visitor.cookie)
            await self._app(scope, self._bounded(request, receive), answer)
        except WebError as error:
            if not is_started:
                refusal = self._on_error(request, error)
                if error.status in (400, 408, 413):
                    # What is left of the body must not be taken for the next request.
                    refusal.headers["connection"] = "close"
                await refusal(scope, receive, answer)
        except ClientDisconnect:
            # In the middle of what it sent, or of what it was sent.
            pass
        except Exception as error:
            if has_left:
                return
            _log.exception("%s %s", scope["method"], request.url.path)
            if not is_started:
                await self._on_error(request, as_web_error(error))(scope, receive, answer)

    def _check(self, request: HTTPConnection) -> None:
        host = _host_of(request.headers.get("host", ""))
        if self._names and host not in self._names:
            raise WebError(421, "This name is not one of this server; its configuration lists them under [web] names.")
        # h11 has refused what is no number.
        if int(request.headers.get("content-length", "0")) > (most := self._most_bytes(request.url.path)):
            raise _too_long(most)
        if "content-length" in request.headers and "transfer-encoding" in request.headers:
            # A proxy that goes by the other of the two takes a part of the body for a request of another client.
            raise WebError(400, "The request has Content-Length and Transfer-Encoding: one of them is wrong.")

    def _most_bytes(self, path: str) -> int:
        most = self._settings.max_body_bytes
        return max(most, self._most_upload_bytes + _FORM_BYTES) if path.endswith(_UPLOADS_SUFFIX) else most

    def _bounded(self, request: HTTPConnection, receive: Receive) -> Receive:
        """The body of a request, within its bounds."""
        count, most = 0, self._most_bytes(request.url.path)
        is_whole = False
        deadline_s = asyncio.get_running_loop().time() + self._settings.header_timeout_s

        async def next_piece() -> Message:
            nonlocal count, is_whole
            if is_whole:
                return await receive()
            try:
                async with asyncio.timeout_at(deadline_s):
                    message = await receive()
            except TimeoutError:
                raise WebError(408, "The body of the request did not come in time.") from None
            count += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if count > most:
                raise _too_long(most)
            return message

        return next_piece

    def _visitor(self, request: HTTPConnection) -> Visitor:
        found = Visitor(
            request.client.host if request.client else "",
            is_owner=self._sessions is None,
            is_secure=request.url.scheme == "https",
        )
        cookie = request.cookies.get(_cookie_name(request, found), "")
        if not cookie.isascii() or len(cookie) > _MOST_COOKIE_LETTERS:
            return found
        person = Person() if self._sessions is None or not cookie else self._sessions.find(cookie)
        return replace(found, cookie=cookie, user=person.user, is_organiser=person.is_admin)


def _too_long(most: int) -> WebError:
    return WebError(413, f"The body of a request may have {most:,} bytes, no more.")


def _host_of(text: str) -> str:
    """A host without its port, in small letters."""
    name = text[1:].partition("]")[0] if text.startswith("[") else text.partition(":")[0]
    return name.lower().rstrip(".")


_FORM_KEY = "form_key"
"""The name of the field that holds the key; scripts may send it as the header ``X-Form-Key`` instead."""
_MOST_FIELDS = 200
_MOST_DIGITS = 12


async def read_form(request: Request) -> Mapping[str, str]:
    """The fields of a form that one of our pages has sent; of several with one name, the last.

    Raises:
        WebError: it comes from elsewhere, or is not a form.
    """
    _check_origin(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/x-www-form-urlencoded", ""):
        raise WebError(415, "A form is sent as application/x-www-form-urlencoded.")
    text = (await request.body()).decode("utf-8", "replace")
    try:
        fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise WebError(400, f"A form has {_MOST_FIELDS} fields, no more.") from None
    _check_key(request, fields.pop(_FORM_KEY, "") or request.headers.get("x-form-key", ""))
    return fields


async def read_file(request: Request, name: str) -> bytes:
    """The file in a field of a form that one of our pages has sent as ``multipart/form-data``.

    Raises:
        WebError: it comes from elsewhere, is not such a form, or has no file.
    """
    _check_origin(request)
    head = EmailMessage()
    head["content-type"] = request.headers.get("content-type", "")
    boundary = head.get_boundary()
    if head.get_content_type() != "multipart/form-data" or not boundary:
        raise WebError(415, "A form with a file is sent as multipart/form-data.")
    fields: dict[str, bytes] = {}
    # A boundary is in no part.
    for part in (b"\r\n" + await request.body()).split(b"\r\n--" + boundary.encode())[1:-1]:
        about, _, data = part.partition(b"\r\n\r\n")
        if (found := re.search(rb'(?i)\bname="([^"]*)"', about)) is not None:
            fields[found[1].decode("utf-8", "replace")] = data
    _check_key(request, fields.get(_FORM_KEY, b"").decode("utf-8", "replace"))
    if not fields.get(name):
        raise WebError(422, "Choose a file.")
    return fields[name]


def _check_origin(request: Request) -> None:
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host", ""):
        raise WebError(403, "This form was sent from a page of another site.")


def _check_key(request: Request, given: str) -> None:
    if not hmac.compare_digest(given.encode("utf-8", "replace"), get_visitor(request).form_key.encode()):
        raise WebError(403, "This form is out of date: go back, reload the page and send it again.")


def whole_number(text: str) -> int | None:
    """A number of an address, a query or a form; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def form_number(form: Mapping[str, str], name: str, least: int, most: int, what: str = "") -> int | None:
    """A number in a field of a form; None where it is empty.

    Raises:
        WebError: it is none from `least` to `most`.
    """
    text = form.get(name, "").strip()
    number = whole_number(text)
    if text and (number is None or not least <= number <= most):
        raise WebError(422, f"{what or name.capitalize()}: a whole number from {least:,} to {most:,}, or nothing.")
    return number
