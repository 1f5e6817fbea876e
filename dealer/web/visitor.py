"""Visitors and their sessions.

Every request that passes `dealer.web.security` has a `Visitor`. A login is a session, stored under the hash of its
cookie. It ends at logout, after a time without use, or when the user's passwords are revoked.
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

from dealer.errors import WebError
from dealer.server.access import Person
from dealer.server.accounts import Scope, Token, hash_secret
from dealer.server.db.store import Store
from dealer.server.db.teams import account_of
from dealer.server.db.users import User

SEE_OTHER: Final = 303
SCOPE_KEY: Final = "arena.visitor"
"""Key of the visitor in the scope of a request."""
KNOWN_KEY: Final = "arena.known"
"""Key of a bool in the scope of a request: the connection has a login or a token, and is not closed for new ones."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Sender of a request.

    Attributes:
        address: IP address of the client, as reported by a trusted proxy or else of the connection.
        user: None without a login.
        account: for which the user acts, see `dealer.server.db.teams`.
        cookie: secret of the browser; empty for programs and for browsers that have none yet.
        is_owner: the visitor started this program and may see and do everything.
        is_secure: the connection to the browser is encrypted.
        is_organiser: the login used an admin token that is still valid.
    """

    address: str
    user: User | None = None
    cookie: str = ""
    is_owner: bool = False
    is_secure: bool = False
    is_organiser: bool = False
    account: User | None = None

    @property
    def form_key(self) -> str:
        """Key that the forms of this visitor carry, so that no other site can send them."""
        # A hash, because pages contain the key and must not reveal the cookie.
        return hashlib.sha256(f"form {self.cookie}".encode()).hexdigest()

    @property
    def person(self) -> Person:
        """The visitor as `dealer.server.access` checks permissions."""
        return Person(self.account)


def get_visitor(request: HTTPConnection) -> Visitor:
    visitor = request.scope[SCOPE_KEY]
    assert isinstance(visitor, Visitor)
    return visitor


def _login_redirect(request: Request) -> HTTPException:
    """Make the exception that redirects to the login and back; a request to change something is refused."""
    if request.method == "POST":
        return HTTPException(401, "Log in first")
    target = request.url.path
    if request.url.query:
        target = f"{target}?{request.url.query}"
    return HTTPException(SEE_OTHER, headers={"Location": f"/login?next={quote(target)}"})


def require_user(request: Request) -> User:
    """Return the user who has logged in, or redirect the visitor to the login."""
    user = get_visitor(request).user
    if user is None:
        raise _login_redirect(request)
    return user


def require_organiser(request: Request) -> User:
    """Return the organiser who has logged in, or redirect the visitor to the login.

    Raises:
        WebError: the visitor is no organiser.
    """
    user = require_user(request)
    if not get_visitor(request).is_organiser:
        raise WebError(403, "Only organisers see this page. Log in with an admin token instead of the password.")
    return user


def require_account(request: Request) -> User:
    """Return the account of the user who has logged in, or redirect the visitor to the login."""
    require_user(request)
    account = get_visitor(request).account
    assert account is not None
    return account


_TOUCH_S = 300.0
"""Minimum time between two writes of a session's last use."""
_MAX_SESSIONS_PER_USER = 50


class Sessions:
    """Sessions of a server's users.

    Args:
        store: the server's database.
        lasting_s: time without use after which a session ends.
        clock_s: returns the time in seconds since 1970.
    """

    def __init__(self, store: Store, lasting_s: float, *, clock_s: Callable[[], float] = time.time) -> None:
        self._store = store
        self._lasting_s = lasting_s
        self._clock_s = clock_s

    async def begin(self, user: User, token: Token | None = None) -> str:
        """Log a user in and return the new cookie.

        Args:
            token: token of the login; None for a login by password.

        Raises:
            StoreError: the database cannot be written.
        """
        # A new cookie: an attacker who planted one in this browser must not share its login (session fixation).
        cookie = secrets.token_urlsafe(24)
        now_s = self._clock_s()
        token_id = None if token is None else token.id

        def change(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM sessions WHERE used_s < ?", (now_s - self._lasting_s,))
            db.execute(
                "DELETE FROM sessions WHERE user = ?1 AND hash NOT IN "
                "(SELECT hash FROM sessions WHERE user = ?1 ORDER BY used_s DESC LIMIT ?2)",
                (user.id, _MAX_SESSIONS_PER_USER - 1),
            )
            db.execute(
                "INSERT INTO sessions (hash, user, created_s, used_s, token) VALUES (?, ?, ?, ?, ?)",
                (hash_secret(cookie), user.id, now_s, now_s, token_id),
            )

        await self._store.write(change)
        return cookie

    def find(self, cookie: str) -> Person:
        """Look up the user, not the account, of a session; return a person without a user if it has ended."""
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
        row = rows[0]
        return Person(User(row["id"], row["name"]), Scope.ADMIN in row["scopes"].split())

    def account_of(self, user: User) -> User:
        """Return the account for which a user acts."""
        return account_of(self._store, user)

    async def touch(self, cookie: str) -> None:
        """Extend a session that is in use."""
        now_s = self._clock_s()
        stale = self._store.read(
            "SELECT 1 FROM sessions WHERE hash = ? AND used_s < ?", hash_secret(cookie), now_s - _TOUCH_S
        )
        if stale:
            await self._store.write(
                lambda db: db.execute("UPDATE sessions SET used_s = ? WHERE hash = ?", (now_s, hash_secret(cookie)))
            )

    async def end(self, cookie: str) -> None:
        """End a session at logout."""
        await self._store.write(lambda db: db.execute("DELETE FROM sessions WHERE hash = ?", (hash_secret(cookie),)))
