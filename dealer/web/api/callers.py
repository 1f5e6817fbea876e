"""Programs that call: who they are by their token, and how often they may.

`Authorization: Bearer TOKEN` says who calls. Every token has a bucket of requests that fills at a steady rate; wrong
tokens count against the address they come from, as wrong logins do.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from dealer.errors import WebError
from dealer.server.access import Person
from dealer.server.accounts import RateLimit, Scope, Token, User
from dealer.server.server import ServerParts
from dealer.web.visitor import KNOWN_KEY, visitor_of

__all__ = ["Caller", "Callers", "bearer_of"]


def bearer_of(request: Request) -> str:
    """The token that a request carries; empty if it carries none."""
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    return text.strip() if kind.lower() == "bearer" else ""


@dataclass(frozen=True, slots=True)
class Caller:
    """A program, and for whom it calls.

    Attributes:
        user: for whom.
        scopes: what it may do.
    """

    user: User
    scopes: frozenset[Scope]

    @property
    def person(self) -> Person:
        """Who asks, where the server decides who may see what."""
        return Person(self.user, Scope.ADMIN in self.scopes)


class Callers:
    """Finds out who calls."""

    def __init__(self, parts: ServerParts) -> None:
        """Know the tokens of a server."""
        self._parts = parts
        self._limit = RateLimit(parts.settings.web.requests_per_minute)

    def caller_of(self, request: Request, scope: Scope) -> Caller:
        """Who calls.

        Raises:
            WebError: nobody who is known, or whose token is good for this, or too often.
        """
        address = visitor_of(request).address
        if wait_s := self._parts.guesses.wait_s(address):
            raise WebError(429, "Too many wrong tokens came from your address.", "login", wait_s)
        text = bearer_of(request)
        if not text:
            raise WebError(401, "This needs a token: Authorization: Bearer TOKEN.")
        token = self._parts.accounts.find_token(text)
        if token is None:
            self._parts.guesses.note_failure(address)
            raise WebError(401, "This token is unknown or has been revoked.")
        request.scope[KNOWN_KEY] = True
        self.count(f"token {token.id}")
        self._check_scope(token, scope)
        return Caller(token.user, token.scopes)

    def count(self, key: str) -> None:
        """Count a request of a token or an address.

        Raises:
            WebError: there were too many.
        """
        if wait_s := self._limit.take(key):
            most = self._parts.settings.web.requests_per_minute
            raise WebError(429, f"There may be {most} requests a minute.", "requests", wait_s)

    @staticmethod
    def _check_scope(token: Token, scope: Scope) -> None:
        if scope not in token.scopes and Scope.ADMIN not in token.scopes:
            raise WebError(403, f"This token has no scope '{scope}'; its user can get one that has.")
