"""Who may use the server: users, their tokens and passwords, and how often a password may be guessed.

A token is a random text, shown once and kept as its hash, with its scopes: what it is good for. The users of a
benchmark-server configuration have passwords instead, which stay in that file: they are compared in memory and never
written anywhere.

Passwords of people are kept as scrypt hashes (RFC 7914) with their own salt and parameters. A hash takes a good part of
a second and 16 MB on purpose. It is computed in a thread, at most two at a time, and a login that comes while many wait
is asked to come back: a crowd that logs in delays no match.
"""

from __future__ import annotations

import asyncio
import enum
import hashlib
import hmac
import math
import secrets
import sqlite3
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from dealer.errors import WebError
from dealer.server.db.audit import record_change, with_audit
from dealer.server.db.store import Store
from dealer.server.db.users import User
from engine.text import count_of

_MOST_NAME_LETTERS: Final = 64
"""Characters of a tried name that are kept."""


class Scope(enum.StrEnum):
    """What a token is good for."""

    READ = "read"
    """Seeing what its user may see."""
    PLAY = "play"
    """Having matches played, cancelling one's own, bringing bots."""
    ADMIN = "admin"
    """Seeing everything, and cancelling all users' requests."""


_USUAL_SCOPES: Final = frozenset((Scope.READ, Scope.PLAY))


@dataclass(frozen=True, slots=True)
class Token:
    """A token that has not been revoked, without its text, which is not kept."""

    id: int
    user: User
    scopes: frozenset[Scope]
    label: str
    created_s: float


def add_token(db: sqlite3.Connection, user: int, scopes: Collection[Scope] = _USUAL_SCOPES, label: str = "") -> str:
    """A new token of a user: the only time that it is seen."""
    token = secrets.token_urlsafe(24)
    db.execute(
        "INSERT INTO tokens (user, hash, created_s, scopes, label) VALUES (?, ?, ?, ?, ?)",
        (user, hash_secret(token), time.time(), " ".join(sorted(scopes)), label),
    )
    return token


def revoke_token(db: sqlite3.Connection, user: int, token: int) -> bool:
    """Revoke one token of a user, by its number; False if the user has no such token."""
    revoke = "UPDATE tokens SET revoked_s = ? WHERE revoked_s IS NULL AND id = ? AND user = ?"
    return db.execute(revoke, (time.time(), token, user)).rowcount == 1


_TOKENS = (
    "SELECT tokens.id, tokens.user, users.name, tokens.scopes, tokens.label, tokens.created_s FROM tokens "
    "JOIN users ON users.id = tokens.user WHERE tokens.revoked_s IS NULL AND users.disabled_s IS NULL "
)


def _token_of(row: sqlite3.Row) -> Token:
    scopes = frozenset(map(Scope, row["scopes"].split()))
    return Token(row["id"], User(row["user"], row["name"]), scopes, row["label"], row["created_s"])


def read_tokens(store: Store, user: int) -> tuple[Token, ...]:
    """The tokens of a user, the newest first."""
    return tuple(map(_token_of, store.read(_TOKENS + "AND tokens.user = ? ORDER BY tokens.id DESC", user)))


def revoke_tokens(db: sqlite3.Connection, name: str) -> int:
    """Revoke all tokens of the user of this name; returns how many there were."""
    found = db.execute(
        "UPDATE tokens SET revoked_s = ? WHERE revoked_s IS NULL AND user = (SELECT id FROM users WHERE name = ?)",
        (time.time(), name),
    )
    return found.rowcount


def read_accounts(store: Store) -> list[sqlite3.Row]:
    """All users who can log in, or could, by name, for who runs the server.

    Each with `name`, `created_s`, `has_password`, how many good `tokens`, whether an invitation waits to be used
    (`is_invited`), `is_disabled`, and the names of the `bots` over all games, separated by commas.
    """
    return store.read(
        "SELECT name, created_s, EXISTS (SELECT 1 FROM passwords WHERE user = users.id) AS has_password, "
        "(SELECT count(*) FROM tokens WHERE user = users.id AND revoked_s IS NULL) AS tokens, "
        "EXISTS (SELECT 1 FROM invitations WHERE user = users.id AND expires_s > ?) AS is_invited, "
        "disabled_s IS NOT NULL AS is_disabled, (SELECT group_concat(name, ', ') FROM "
        "(SELECT DISTINCT name FROM bots WHERE owner = users.id ORDER BY name)) AS bots "
        # Others are guests, removed users, and the server itself.
        "FROM users WHERE name NOT LIKE '% %' AND name NOT LIKE '(%' ORDER BY name",
        time.time(),
    )


def add_invitation(db: sqlite3.Connection, user: int, lasting_s: float) -> str:
    """A new invitation of a user, in place of an earlier one: the only time that it is seen."""
    secret = secrets.token_urlsafe(24)
    db.execute(
        "INSERT OR REPLACE INTO invitations (hash, user, expires_s) VALUES (?, ?, ?)",
        (hash_secret(secret), user, time.time() + lasting_s),
    )
    return secret


_INVITED: Final = (
    "SELECT users.id, users.name FROM invitations JOIN users ON users.id = invitations.user "
    "WHERE hash = ? AND expires_s > ? AND disabled_s IS NULL"
)


def find_invited_user(store: Store, invitation: str) -> User | None:
    """Who has this invitation, if it can still be used."""
    rows = store.read(_INVITED, hash_secret(invitation), time.time())
    return User(rows[0]["id"], rows[0]["name"]) if rows else None


def disable_user(db: sqlite3.Connection, name: str, *, is_disabled: bool) -> int:
    """Take no login of a user, or take them again; returns how many users there are of this name."""
    disabled_s = time.time() if is_disabled else None
    return db.execute("UPDATE users SET disabled_s = ? WHERE name = ?", (disabled_s, name)).rowcount


def remove_user(db: sqlite3.Connection, name: str) -> int:
    """Remove the name and all logins of a user, whose bots and results stay; returns how many there were."""
    row = db.execute("SELECT id FROM users WHERE name = ?", (name,)).fetchone()
    if row is None:
        return 0
    for table in ("tokens", "passwords", "sessions", "invitations"):
        db.execute(f"DELETE FROM {table} WHERE user = ?", (row["id"],))
    # Names in parentheses are the server's.
    db.execute("UPDATE users SET name = ? WHERE id = ?", (f"(removed-{row['id']})", row["id"]))
    return 1


def hash_secret(secret: str) -> bytes:
    """The hash as which a random secret is kept; a slow one would protect nothing, and slow every request."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


class RateLimit:
    """How often a client may do something: a bucket for each, which fills at a steady rate."""

    def __init__(
        self,
        per_minute: float,
        burst: float | None = None,
        *,
        max_keys: int = 10_000,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start with full buckets.

        Args:
            burst: how often at once; None for what comes in ten seconds.
            max_keys: how many buckets are kept; the one that was not used for longest is forgotten.
        """
        self._per_minute = per_minute
        self._rate = per_minute / 60.0
        self._burst = max(1.0, self._rate * 10.0 if burst is None else burst)
        self._most_keys = max_keys
        self._clock_s = clock_s
        self._buckets: dict[str, tuple[float, float]] = {}

    def _left(self, key: str) -> float:
        left, then_s = self._buckets.get(key, (self._burst, 0.0))
        return min(self._burst, left + self._rate * (self._clock_s() - then_s))

    def wait_s(self, key: str) -> int:
        """The whole seconds until a bucket has something; 0 if it has now."""
        left = self._left(key)
        return 0 if left >= 1.0 else max(1, math.ceil((1.0 - left) / self._rate))

    def take(self, key: str) -> int:
        """Take one out of a bucket; returns what `wait_s` returned before, and takes nothing where that is not 0."""
        wait_s, left = self.wait_s(key), self._left(key)
        self._buckets.pop(key, None)
        self._buckets[key] = (left if wait_s else left - 1.0, self._clock_s())
        if len(self._buckets) > self._most_keys:
            del self._buckets[next(iter(self._buckets))]
        return wait_s

    def count(self, key: str) -> None:
        """Take one out of a bucket for a request.

        Raises:
            WebError: nothing is in it.
        """
        if wait_s := self.take(key):
            raise WebError(429, f"The limit is {count_of(self._per_minute, 'request')} a minute.", "requests", wait_s)


class GuessLimit:
    """How often logins may fail, at all ports together: by address, and by name from whatever address.

    An address that has failed too often waits, whatever it tries. A name that many addresses have tried is open only
    to its tokens, which are too long to be guessed, and to addresses from which its user has logged in before: no
    client can lock a user out.
    """

    def __init__(
        self,
        *,
        max_failures: int = 30,
        max_by_name: int = 100,
        within_s: float = 60.0,
        max_keys: int = 10_000,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start without any failure.

        Args:
            max_failures: of one address.
            max_by_name: with one name; more than one address can cause.
            max_keys: addresses, names and logins remembered at a time; the oldest are forgotten first.
        """
        per_minute = 60.0 / within_s
        self._addresses, self._names = (
            RateLimit(most * per_minute, most, max_keys=max_keys, clock_s=clock_s)
            for most in (max_failures, max_by_name)
        )
        self._most_keys = max_keys
        self._known: dict[tuple[str, str], None] = {}

    def wait_s(self, address: str) -> int:
        """How long an address has to wait before it may try again; 0 if it need not."""
        return self._addresses.wait_s(address)

    def name_wait_s(self, address: str, name: str) -> int:
        """How long an address has to wait before it may try a password of this name; 0 if it need not."""
        return 0 if (address, name) in self._known else self._names.wait_s(name[:_MOST_NAME_LETTERS])

    def record_failure(self, address: str, name: str = "") -> None:
        """An address has failed to log in, with this name if it gave one; while it has to wait, nothing more counts."""
        if not self._addresses.take(address) and name:
            self._names.take(name[:_MOST_NAME_LETTERS])

    def record_login(self, address: str, name: str) -> None:
        """The user of this name has logged in."""
        self._known.pop((address, name), None)
        self._known[address, name] = None
        if len(self._known) > self._most_keys:
            del self._known[next(iter(self._known))]


MIN_PASSWORD_LENGTH: Final = 8
MAX_PASSWORD_LENGTH: Final = 256
_AT_A_TIME = 2
_MOST_WAITING = 20
_RETRY_S = 5
_BYTES = 32


_COST: Final = {"n": 2**14, "r": 8, "p": 5}
"""16 MB: of the settings that are usually recommended, the one that needs least memory."""


def _hashed(password: str, salt: bytes, cost: Mapping[str, int]) -> bytes:
    return hashlib.scrypt(
        password.encode("utf-8", "surrogateescape"),
        salt=salt,
        **cost,
        maxmem=132 * cost["n"] * cost["r"] + 2**20 * cost["p"],
        dklen=_BYTES,
    )


def set_password(db: sqlite3.Connection, user: int, password: str) -> None:
    """Give a user a password, in place of any other, and end the sessions of its browsers."""
    salt = secrets.token_bytes(16)
    _enter(db, user, _hashed(password, salt, _COST), salt)


def _enter(db: sqlite3.Connection, user: int, hashed: bytes, salt: bytes) -> None:
    db.execute(
        "INSERT OR REPLACE INTO passwords (user, hash, salt, n, r, p) VALUES (?, ?, ?, ?, ?, ?)",
        (user, hashed, salt, *_COST.values()),
    )
    db.execute("DELETE FROM sessions WHERE user = ?", (user,))


class Accounts:
    """Lets users in: by token, by password, or by the password of a configuration file, whose users have no tokens.

    Attributes:
        guesses: how often an address may fail to log in, on all ways in together.
    """

    def __init__(
        self, store: Store, passwords: Mapping[str, str] | None = None, guesses: GuessLimit | None = None
    ) -> None:
        self.guesses = guesses or GuessLimit()
        self._store = store
        self._passwords = {
            name: password.encode("utf-8", "surrogateescape") for name, password in (passwords or {}).items()
        }
        self._slots = asyncio.Semaphore(_AT_A_TIME)
        self._waiting = 0

    def find(self, name: str, secret: str, *, by_token_only: bool = False) -> User | None:
        """The user of this name, if the secret is a token that may play or the password of a configuration file."""
        given = secret.encode("utf-8", "surrogateescape")
        if "\ufffd" in name or not name.isprintable():
            return None
        password = self._passwords.get(name)
        if password is not None:
            if by_token_only:
                return None
            rows = self._store.read("SELECT id FROM users WHERE name = ? AND disabled_s IS NULL", name)
            return User(rows[0]["id"], name) if hmac.compare_digest(password, given) and rows else None
        token = self.find_token(secret)
        return token.user if token is not None and token.user.name == name and Scope.PLAY in token.scopes else None

    async def log_in(
        self, name: str, secret: str, address: str, *, has_passwords: bool = False
    ) -> tuple[User | None, int]:
        """The user that `find` finds, and how many seconds the address has to wait; a failure is counted.

        Args:
            has_passwords: whether a password that the user has chosen will do, too.

        Raises:
            WebError: too many are logging in with such passwords just now.
        """
        wait_s, name_wait_s = self.guesses.wait_s(address), self.guesses.name_wait_s(address, name)
        user = None if wait_s else self.find(name, secret, by_token_only=name_wait_s > 0)
        if user is None and has_passwords and not wait_s and not name_wait_s:
            user = await self._find_by_password(name, secret)
        if user is not None:
            self.guesses.record_login(address, name)
            return user, 0
        self.guesses.record_failure(address, name)
        return None, wait_s or name_wait_s

    async def log_in_person(self, name: str, secret: str, address: str) -> User | None:
        """The user of this name, if the secret is its password or one of its tokens; a failure is counted.

        Raises:
            WebError: this address, or with a password this name, has failed too often, or too many are logging in.
        """
        user, wait_s = await self.log_in(name, secret, address, has_passwords=True)
        if wait_s:
            raise WebError(
                429, f"There were too many attempts; try again in {count_of(wait_s, 'second')}.", "login", wait_s
            )
        return user

    def find_token(self, text: str) -> Token | None:
        """The token with this text, unless it has been revoked."""
        rows = self._store.read(_TOKENS + "AND tokens.hash = ?", hash_secret(text))
        return _token_of(rows[0]) if rows else None

    async def _find_by_password(self, name: str, secret: str) -> User | None:
        if len(secret) > MAX_PASSWORD_LENGTH:
            return None
        rows = self._store.read(
            "SELECT users.id, users.name, hash, salt, n, r, p FROM passwords "
            "JOIN users ON users.id = passwords.user WHERE users.name = ? AND users.disabled_s IS NULL",
            name,
        )
        row = rows[0] if rows else None
        # The time of the answer does not reveal whether there is such a user, or one with a password.
        salt, cost = (row["salt"], {name: row[name] for name in _COST}) if row else (bytes(16), _COST)
        given = await self._hash(secret, salt, cost)
        if row is None or not hmac.compare_digest(given, row["hash"]):
            return None
        return User(row["id"], row["name"])

    async def change(self, user: User, password: str) -> None:
        """Give a user a password as `set_password` does; others have matches written meanwhile.

        Raises:
            WebError: too many are logging in just now.
            StoreError: it cannot be written.
        """
        salt = secrets.token_bytes(16)
        hashed = await self._hash(password, salt, _COST)
        change = with_audit(user.name, "changed the own password", lambda db: _enter(db, user.id, hashed, salt))
        await self._store.write(change)

    async def accept(self, invitation: str, password: str) -> tuple[User, str] | None:
        """Give who was invited a password and a token; returns the token, and None if the invitation is not good.

        Raises:
            WebError: too many are logging in just now.
            StoreError: it cannot be written.
        """
        salt = secrets.token_bytes(16)
        hashed = await self._hash(password, salt, _COST)

        def change(db: sqlite3.Connection) -> tuple[User, str] | None:
            row = db.execute(_INVITED, (hash_secret(invitation), time.time())).fetchone()
            if row is None:
                return None
            db.execute("DELETE FROM invitations WHERE user = ?", (row["id"],))
            _enter(db, row["id"], hashed, salt)
            record_change(db, row["name"], "accepted an invitation")
            return User(row["id"], row["name"]), add_token(db, row["id"], label="of the invitation")

        return await self._store.write(change)

    async def _hash(self, secret: str, salt: bytes, cost: Mapping[str, int]) -> bytes:
        if self._waiting >= _MOST_WAITING:
            raise WebError(503, "Many people are logging in just now; try again in some seconds.", wait_s=_RETRY_S)
        self._waiting += 1
        try:
            async with self._slots:
                return await asyncio.to_thread(_hashed, secret, salt, cost)
        finally:
            self._waiting -= 1
