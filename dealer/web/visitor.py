"""Who asks: every request that passes `dealer.web.security` has a visitor, who may have logged in.

Logins are sessions, kept in the database by the hashes of their cookies. A session begins with a new cookie, so that
no visitor can be made to use one that another client knows; it ends at the logout, when it has not been used for some
time, or with the user's passwords (`end_all`).
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request

from dealer.server.access import Person
from dealer.server.accounts import Scope, Token, hash_secret
from dealer.server.db.store import Store
from dealer.server.db.users import User

SEE_OTHER: Final = 303
SCOPE_KEY: Final = "arena.visitor"
"""Under which the security middleware leaves the visitor in the scope of a request."""
KNOWN_KEY: Final = "arena.known"
"""In the scope of a request that came with a login or a token: its connection is not closed in favour of others."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks.

    Attributes:
        address: from which the request comes; behind a proxy that is trusted, the one that it reports.
        user: who has logged in; None without a login.
        cookie: the secret of this browser; empty for one that has none yet, and for programs.
        is_owner: whether everything may be seen and done: the person at this machine, on a local run's pages.
        is_secure: whether the way to the browser is encrypted.
        is_organiser: whether the login was with a token for admins, which is still good.
    """

    address: str
    user: User | None = None
    cookie: str = ""
    is_owner: bool = False
    is_secure: bool = False
    is_organiser: bool = False

    @property
    def form_key(self) -> str:
        """What the forms of this visitor carry, so that no other page can send them."""
        # A hash: it reveals nothing of the cookie.
        return hashlib.sha256(f"form {self.cookie}".encode()).hexdigest()

    @property
    def person(self) -> Person:
        """Who asks, where a server decides who may see what."""
        return Person(self.user)


def get_visitor(request: HTTPConnection) -> Visitor:
    """Who asks."""
    visitor = request.scope[SCOPE_KEY]
    assert isinstance(visitor, Visitor)
    return visitor


def _login_redirect(request: Request) -> HTTPException:
    """Sends a visitor who wants to see a page to the login, and back afterwards; others are refused."""
    if request.method == "POST":
        return HTTPException(401, "Log in first")
    here = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    return HTTPException(SEE_OTHER, headers={"Location": f"/login?next={quote(here)}"})


def require_user(request: Request) -> User:
    """Who has logged in; who has not is sent to the login."""
    user = get_visitor(request).user
    if user is None:
        raise _login_redirect(request)
    return user


_TOUCH_S = 300.0
"""That a session is used is written no more often than this."""
_MOST_PER_USER = 50


class Sessions:
    """The sessions of a server."""

    def __init__(self, store: Store, lasting_s: float, *, clock_s: Callable[[], float] = time.time) -> None:
        """Know the sessions of a store.

        Args:
            store: the database.
            lasting_s: a session that is not used for so long has ended.
            clock_s: the time, in seconds since 1970.
        """
        self._store = store
        self._lasting_s = lasting_s
        self._clock_s = clock_s

    async def begin(self, user: User, token: Token | None = None) -> str:
        """Log a user in; returns the cookie.

        Args:
            token: with which the user has logged in; None for a password.

        Raises:
            StoreError: it cannot be written.
        """
        cookie = secrets.token_urlsafe(24)
        now_s = self._clock_s()

        def change(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM sessions WHERE used_s < ?", (now_s - self._lasting_s,))
            db.execute(
                "DELETE FROM sessions WHERE user = ?1 AND hash NOT IN "
                "(SELECT hash FROM sessions WHERE user = ?1 ORDER BY used_s DESC LIMIT ?2)",
                (user.id, _MOST_PER_USER - 1),
            )
            db.execute(
                "INSERT INTO sessions (hash, user, created_s, used_s, token) VALUES (?, ?, ?, ?, ?)",
                (hash_secret(cookie), user.id, now_s, now_s, None if token is None else token.id),
            )

        await self._store.write(change)
        return cookie

    def find(self, cookie: str) -> Person:
        """Whose session this is, if it has not ended."""
        now_s = self._clock_s()
        rows = self._store.read(
            "SELECT users.id, users.name, coalesce(tokens.scopes, '') AS scopes FROM sessions "
            "JOIN users ON users.id = sessions.user "
            "LEFT JOIN tokens ON tokens.id = sessions.token AND tokens.user = users.id AND tokens.revoked_s IS NULL "
            "WHERE sessions.hash = ? AND sessions.used_s >= ? AND users.disabled_s IS NULL",
            hash_secret(cookie),
            now_s - self._lasting_s,
        )
        if not rows:
            return Person()
        return Person(User(rows[0]["id"], rows[0]["name"]), Scope.ADMIN in rows[0]["scopes"].split())

    async def touch(self, cookie: str) -> None:
        """A session is used: it lasts from now."""
        now_s = self._clock_s()
        stale = self._store.read(
            "SELECT 1 FROM sessions WHERE hash = ? AND used_s < ?", hash_secret(cookie), now_s - _TOUCH_S
        )
        if stale:
            await self._store.write(
                lambda db: db.execute("UPDATE sessions SET used_s = ? WHERE hash = ?", (now_s, hash_secret(cookie)))
            )

    async def end(self, cookie: str) -> None:
        """Log out."""
        await self._store.write(lambda db: db.execute("DELETE FROM sessions WHERE hash = ?", (hash_secret(cookie),)))
