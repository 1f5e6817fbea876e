"""Checks of every request, headers of every response, and forms.

`SecurityMiddleware` identifies the visitor by address and cookie. `ProxyHeadersMiddleware` has already replaced the
address and the scheme by those that a trusted proxy reports. A request for another host name is rejected, because a
site could otherwise reach a loopback server under a name of its own. Bodies and page requests are limited.

`read_form` and `read_file` read forms that our own pages sent. Such a form has a key derived from the browser's cookie.
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
"""Headers of every response."""
_NO_PAGES: Final = ("/api/", "/slumbot/", "/static/")
"""Paths without a page limit: interfaces for programs, which have limits of their own, and static files."""
_UPLOADS_SUFFIX: Final = "/uploads"
"""Ending of the paths that receive archives of bots."""
_FORM_BYTES: Final = 10_000
"""Bytes that a multipart form may have besides its file."""
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_MAX_COOKIE_CHARACTERS = 100
_RETRY_S = 5


def _cookie_name(request: HTTPConnection, visitor: Visitor) -> str:
    """Return the name of our cookie."""
    # Browsers share the cookies of a host among all of its ports: two servers of one machine need two names.
    server = request.scope.get("server")
    port = server[1] if server else 0
    # Browsers accept the prefix on encrypted connections only.
    prefix = "__Host-" if visitor.is_secure else ""
    return f"{prefix}arena-{port}"


def set_cookie(request: HTTPConnection, response: Response, visitor: Visitor, value: str) -> None:
    """Set a browser's cookie, hidden from scripts and from forms of other sites."""
    response.set_cookie(
        _cookie_name(request, visitor), value, path="/", secure=visitor.is_secure, httponly=True, samesite="lax"
    )


def as_web_error(error: Exception) -> WebError:
    """Convert an exception to the error that the client sees; details stay in the log."""
    if isinstance(error, WebError):
        return error
    if isinstance(error, RefusedError):
        return WebError.of(error, 422)
    if isinstance(error, StoreError):
        _log.error("%s", error)
        return WebError(503, "The server cannot access its data. Try again later.", wait_s=_RETRY_S)
    if isinstance(error, WorkersError):
        return WebError(503, "The computation is not possible now. Try again later.", wait_s=_RETRY_S)
    return WebError(500, "The server had an internal error. Its log has the details.")


class SecurityMiddleware:
    """ASGI middleware that identifies the visitor, checks the request and adds headers to the response."""

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
            app: application to wrap.
            settings: limits and host names of the server.
            on_error: makes the response to an error.
            sessions: sessions of users; None if the only visitor is the owner of the machine.
            is_loopback: whether the server listens on loopback addresses only.
            max_upload_bytes: size of an archive; other bodies have a smaller limit.
        """
        self._app = app
        self._max_upload_bytes = max_upload_bytes
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
        visitor = self._identify(request)
        is_new = not visitor.cookie
        if is_new:
            visitor = replace(visitor, cookie=secrets.token_urlsafe(24))
        scope[SCOPE_KEY] = visitor
        scope[KNOWN_KEY] = visitor.user is not None or visitor.is_owner
        if scope["type"] == "websocket":
            await self._answer_websocket(request, scope, receive, send)
        else:
            await self._answer_request(request, visitor, _Sender(request, visitor, send, sets_cookie=is_new), receive)

    async def _answer_websocket(self, request: HTTPConnection, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check(request)
        except WebError as error:
            await WebSocket(scope, receive, send).send_denial_response(self._on_error(request, error))
            return
        await self._app(scope, receive, send)

    async def _answer_request(
        self, request: HTTPConnection, visitor: Visitor, sender: _Sender, receive: Receive
    ) -> None:
        scope = request.scope
        try:
            self._check(request)
            self._count_page(request, visitor)
            if self._sessions is not None and visitor.user is not None:
                await self._sessions.touch(visitor.cookie)
            await self._app(scope, self._limit_body(request, receive), sender.send)
        except WebError as error:
            if not sender.has_started:
                refusal = self._on_error(request, error)
                if error.status in (400, 408, 413):
                    # The unread rest of the body must not be parsed as the next request.
                    refusal.headers["connection"] = "close"
                await refusal(scope, receive, sender.send)
        except ClientDisconnect:
            # The client left in the middle of its request or of the response.
            pass
        except Exception as error:
            if sender.is_disconnected:
                return
            _log.exception("%s %s", scope["method"], request.url.path)
            if not sender.has_started:
                await self._on_error(request, as_web_error(error))(scope, receive, sender.send)

    def _count_page(self, request: HTTPConnection, visitor: Visitor) -> None:
        if visitor.is_owner or request.url.path.startswith(_NO_PAGES):
            return
        key = visitor.address if visitor.user is None else f"user {visitor.user.id}"
        self._page_limit.count(key)

    def _check(self, request: HTTPConnection) -> None:
        host = _host_of(request.headers.get("host", ""))
        if self._names and host not in self._names:
            raise WebError(421, "The server has another host name. Its operator can add names under [web] names.")
        # h11 has already rejected a length that is not a number.
        length = int(request.headers.get("content-length", "0"))
        max_bytes = self._max_body_bytes(request.url.path)
        if length > max_bytes:
            raise _too_long(max_bytes)
        if "content-length" in request.headers and "transfer-encoding" in request.headers:
            # A proxy that trusts the other header would pass the end of this body as a request of another client.
            raise WebError(400, "The request has both Content-Length and Transfer-Encoding. Send one of them.")

    def _max_body_bytes(self, path: str) -> int:
        max_bytes = self._settings.max_body_bytes
        if path.endswith(_UPLOADS_SUFFIX):
            return max(max_bytes, self._max_upload_bytes + _FORM_BYTES)
        return max_bytes

    def _limit_body(self, request: HTTPConnection, receive: Receive) -> Receive:
        """Wrap `receive` so that a body that is too long or too slow raises a `WebError`."""
        count = 0
        max_bytes = self._max_body_bytes(request.url.path)
        is_complete = False
        deadline_s = asyncio.get_running_loop().time() + self._settings.header_timeout_s

        async def receive_limited() -> Message:
            nonlocal count, is_complete
            if is_complete:
                return await receive()
            try:
                async with asyncio.timeout_at(deadline_s):
                    message = await receive()
            except TimeoutError:
                raise WebError(408, "The body of the request did not arrive in time.") from None
            count += len(message.get("body", b""))
            is_complete = not message.get("more_body", False)
            if count > max_bytes:
                raise _too_long(max_bytes)
            return message

        return receive_limited

    def _identify(self, request: HTTPConnection) -> Visitor:
        visitor = Visitor(
            request.client.host if request.client else "",
            is_owner=self._sessions is None,
            is_secure=request.url.scheme == "https",
        )
        cookie = request.cookies.get(_cookie_name(request, visitor), "")
        if not cookie.isascii() or len(cookie) > _MAX_COOKIE_CHARACTERS:
            return visitor
        person = Person()
        if cookie and self._sessions is not None:
            person = self._sessions.find(cookie)
        account = None
        if self._sessions is not None and person.user is not None:
            account = self._sessions.account_of(person.user)
        return replace(visitor, cookie=cookie, user=person.user, account=account, is_organiser=person.is_admin)


class _Sender:
    """Sends the messages of one response, with our headers.

    Attributes:
        has_started: the status has been sent, so that no other response is possible.
        is_disconnected: the client closed the connection.
    """

    def __init__(self, request: HTTPConnection, visitor: Visitor, send: Send, *, sets_cookie: bool) -> None:
        self._request = request
        self._visitor = visitor
        self._send = send
        self._sets_cookie = sets_cookie
        self.has_started = False
        self.is_disconnected = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_started = True
            self._add_headers(message)
        try:
            await self._send(message)
        except OSError:
            self.is_disconnected = True
            raise

    def _add_headers(self, message: Message) -> None:
        headers = MutableHeaders(scope=message)
        if message["status"] == 408:
            headers["Connection"] = "close"
        for name, value in HEADERS.items():
            headers.setdefault(name, value)
        is_file = self._request.url.path.startswith("/static/")
        headers.setdefault("Cache-Control", "no-cache" if is_file else "no-store")
        is_page = headers.get("content-type", "").startswith("text/html")
        if is_page and self._sets_cookie and "set-cookie" not in headers:
            cookie = Response()
            set_cookie(self._request, cookie, self._visitor, self._visitor.cookie)
            headers.append("set-cookie", cookie.headers["set-cookie"])


def _too_long(max_bytes: int) -> WebError:
    return WebError(413, f"The body of the request is longer than {max_bytes:,} bytes.")


def _host_of(text: str) -> str:
    """Extract the host of a Host header, in lower case and without its port."""
    name = text[1:].partition("]")[0] if text.startswith("[") else text.partition(":")[0]
    # A full host name may end with the dot of the root.
    return name.lower().rstrip(".")


_FORM_KEY = "form_key"
"""Field with the key of a form; scripts may send the key as the header ``X-Form-Key`` instead."""
_MAX_FIELDS = 200
_MAX_DIGITS = 12


async def read_form(request: Request) -> Mapping[str, str]:
    """Read a form that one of our pages sent; of fields with the same name, the last one counts.

    Raises:
        WebError: the form was sent by another site, or the body is not a form.
    """
    _check_origin(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/x-www-form-urlencoded", ""):
        raise WebError(415, "Send the form as application/x-www-form-urlencoded.")
    text = (await request.body()).decode("utf-8", "replace")
    try:
        fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS))
    except ValueError:
        raise WebError(400, f"The form has more than {_MAX_FIELDS} fields.") from None
    _check_key(request, fields.pop(_FORM_KEY, "") or request.headers.get("x-form-key", ""))
    return fields


async def read_file(request: Request, name: str) -> bytes:
    """Read the file in a field of a ``multipart/form-data`` form that one of our pages sent.

    Raises:
        WebError: the form was sent by another site, the body is not such a form, or it has no file.
    """
    _check_origin(request)
    head = EmailMessage()
    head["content-type"] = request.headers.get("content-type", "")
    boundary = head.get_boundary()
    if head.get_content_type() != "multipart/form-data" or not boundary:
        raise WebError(415, "Send the form and its file as multipart/form-data.")
    # So that the first boundary, too, is preceded by a line end.
    body = b"\r\n" + await request.body()
    fields: dict[str, bytes] = {}
    # The sender chooses a boundary that occurs in no part.
    for part in body.split(b"\r\n--" + boundary.encode())[1:-1]:
        part_headers, _, data = part.partition(b"\r\n\r\n")
        match = re.search(rb'(?i)\bname="([^"]*)"', part_headers)
        if match is not None:
            fields[match[1].decode("utf-8", "replace")] = data
    _check_key(request, fields.get(_FORM_KEY, b"").decode("utf-8", "replace"))
    if not fields.get(name):
        raise WebError(422, "Choose a file.")
    return fields[name]


def _check_origin(request: Request) -> None:
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host", ""):
        raise WebError(403, "This form was sent from a page of another site.")


def _check_key(request: Request, key: str) -> None:
    expected_key = get_visitor(request).form_key
    if not hmac.compare_digest(key.encode("utf-8", "replace"), expected_key.encode()):
        raise WebError(403, "This form is out of date. Go back, reload the page and send it again.")


def parse_number(text: str) -> int | None:
    """Parse a whole number of a path, a query or a form; return None for any other text."""
    is_number = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    return int(text) if is_number else None


def parse_form_number(form: Mapping[str, str], name: str, minimum: int, maximum: int, label: str = "") -> int | None:
    """Parse the number in a field of a form; return None for an empty field.

    Args:
        label: name of the field in messages; without it, `name` with a capital.

    Raises:
        WebError: the field is not a whole number from `minimum` to `maximum`.
    """
    text = form.get(name, "").strip()
    number = parse_number(text)
    if text and (number is None or not minimum <= number <= maximum):
        label = label or name.capitalize()
        raise WebError(422, f"{label} must be a whole number from {minimum:,} to {maximum:,}, or empty.")
    return number
