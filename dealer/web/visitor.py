"""Who asks: every request that passes the gate has a visitor."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from starlette.requests import HTTPConnection

from dealer.server.access import Person
from dealer.server.accounts import User

__all__ = ["KNOWN_KEY", "SCOPE_KEY", "Visitor", "form_key_of", "visitor_of"]

SCOPE_KEY: Final = "arena.visitor"
"""Under which the gate leaves the visitor in the scope of a request."""

KNOWN_KEY: Final = "arena.known"
"""In the scope of a request that came with a login or a token: its connection is not closed in favour of others."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks.

    Attributes:
        address: from which the request comes; behind a proxy that is trusted, the one that it tells.
        user: who has logged in; None for anybody else.
        cookie: the secret of this browser; empty for one that has none yet, and for programs.
        is_owner: whether everything may be seen and done: the person at this machine, on a local run's pages.
        is_secure: whether the way to the browser is encrypted.
    """

    address: str
    user: User | None = None
    cookie: str = ""
    is_owner: bool = False
    is_secure: bool = False

    @property
    def form_key(self) -> str:
        """What the forms of this visitor carry, so that no other page can send them."""
        return form_key_of(self.cookie)

    @property
    def person(self) -> Person:
        """Who asks, where a server decides who may see what."""
        return Person(self.user)


def form_key_of(cookie: str) -> str:
    """The key of the forms of a browser; it tells nothing of the cookie."""
    return hashlib.sha256(f"form {cookie}".encode()).hexdigest()


def visitor_of(request: HTTPConnection) -> Visitor:
    """Who asks."""
    visitor = request.scope[SCOPE_KEY]
    assert isinstance(visitor, Visitor)
    return visitor
