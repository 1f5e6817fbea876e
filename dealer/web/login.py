"""Logging in and out: the pages, and what slows down who guesses.

Failures count by address and by name, shared with the text port: see `dealer.server.accounts.GuessLimit`.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dealer.errors import WebError
from dealer.server.accounts import Passwords
from dealer.server.server import ServerParts
from dealer.web.forms import read_form
from dealer.web.gate import set_cookie
from dealer.web.sessions import Sessions
from dealer.web.site import Site
from dealer.web.visitor import visitor_of

__all__ = ["need_login", "routes"]

_SEE_OTHER = 303


def routes(site: Site) -> list[BaseRoute]:
    """The pages of this room; none for a site without a server."""
    if site.server is None or site.sessions is None:
        return []
    door = _Door(site, site.server, site.sessions)
    return [
        Route("/login", door.show, methods=["GET"]),
        Route("/login", door.log_in, methods=["POST"]),
        Route("/logout", door.log_out, methods=["POST"]),
    ]


def need_login(request: Request) -> None:
    """Refuse who has not logged in.

    Raises:
        WebError: nobody has.
    """
    visitor = visitor_of(request)
    if visitor.user is None and not visitor.is_owner:
        raise WebError(401, "Log in to see this page.")


class _Door:
    def __init__(self, site: Site, server: ServerParts, sessions: Sessions) -> None:
        self._site = site
        self._server = server
        self._sessions = sessions
        self._passwords = Passwords(server.store, server.accounts, server.guesses)

    async def show(self, request: Request) -> Response:
        return self._site.page(request, "login.html.jinja", next=_own_path(request.query_params.get("next", "")))

    async def log_in(self, request: Request) -> Response:
        form = await read_form(request)
        visitor = visitor_of(request)
        name, secret = form.get("name", "").strip(), form.get("secret", "").strip()
        user = await self._passwords.log_in(name, secret, visitor.address)
        target = _own_path(form.get("next", ""))
        if user is None:
            return self._site.page(request, "login.html.jinja", status=403, next=target, name=name, problem=True)
        await self._sessions.end(visitor.cookie)
        answer = RedirectResponse(target, _SEE_OTHER)
        set_cookie(request, answer, visitor, await self._sessions.begin(user))
        return answer

    async def log_out(self, request: Request) -> Response:
        await read_form(request)
        await self._sessions.end(visitor_of(request).cookie)
        answer = RedirectResponse("/", _SEE_OTHER)
        set_cookie(request, answer, visitor_of(request), "")
        return answer


def _own_path(text: str) -> str:
    """A path of this site to go to; the first page in place of anything else."""
    is_path = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isprintable() and "\\" not in text
    return text if is_path else "/"
