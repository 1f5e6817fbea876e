"""Users, tokens and passwords, and the rate limits that protect them.

A token is a random text with scopes. It is shown once and stored as a hash. Passwords of people are stored as scrypt
hashes (RFC 7914). A hash takes a good part of a second and 16 MB on purpose, so it is computed in a thread, at most two
at a time, and further logins are refused while many wait. Users of a benchmark-server configuration have their
passwords in that file only.
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
from dealer.server.db.teams import leave_team
from dealer.server.db.users import User
from engine.text import count_of

_MAX_NAME_LENGTH: Final = 64
"""Limit on the length of names that `GuessLimit` keeps."""


class Scope(enum.StrEnum):
    """Permission of a token."""

    READ = "read"
    """See everything that its user may see."""
    PLAY = "play"
    """Submit and cancel the user's own requests, and connect bots."""
    ADMIN = "admin"
    """See everything, and cancel requests of all users."""


DEFAULT_SCOPES: Final = frozenset((Scope.READ, Scope.PLAY))
"""Of a token for programs."""


@dataclass(frozen=True, slots=True)
class Token:
    """A valid token, without its text, which is not stored.

    Attributes:
        account: for which the user acts, see `dealer.server.db.teams`.
    """

    id: int
    user: User
    account: User
    scopes: frozenset[Scope]
    label: str
    created_s: float


def add_token(db: sqlite3.Connection, user: int, scopes: Collection[Scope] = DEFAULT_SCOPES, label: str = "") -> str:
    """Add a token to a user and return its text, which cannot be read again."""
    token = secrets.token_urlsafe(24)
    db.execute(
        "INSERT INTO tokens (user, hash, created_s, scopes, label) VALUES (?, ?, ?, ?, ?)",
        (user, hash_secret(token), time.time(), " ".join(sorted(scopes)), label),
    )
    return token


def revoke_token(db: sqlite3.Connection, user: int, token: int) -> bool:
    """Revoke a token by its number; return False if the user has no such token."""
    revoke = "UPDATE tokens SET revoked_s = ? WHERE revoked_s IS NULL AND id = ? AND user = ?"
    return db.execute(revoke, (time.time(), token, user)).rowcount == 1


_TOKENS = (
    "SELECT tokens.id, tokens.user, users.name, tokens.scopes, tokens.label, tokens.created_s, "
    "accounts.id AS account, accounts.name AS account_name FROM tokens JOIN users ON users.id = tokens.user "
    "JOIN users AS accounts ON accounts.id = coalesce(users.team, users.id) "
    "WHERE tokens.revoked_s IS NULL AND users.disabled_s IS NULL "
)


def _token(row: sqlite3.Row) -> Token:
    scopes = frozenset(map(Scope, row["scopes"].split()))
    user = User(row["user"], row["name"])
    account = User(row["account"], row["account_name"])
    return Token(row["id"], user, account, scopes, row["label"], row["created_s"])


def read_tokens(store: Store, user: int) -> tuple[Token, ...]:
    """Valid tokens of a user, the newest first."""
    return tuple(map(_token, store.read(_TOKENS + "AND tokens.user = ? ORDER BY tokens.id DESC", user)))


def revoke_tokens(db: sqlite3.Connection, name: str) -> int:
    """Revoke all tokens of a user; return their number."""
    revoked = db.execute(
        "UPDATE tokens SET revoked_s = ? WHERE revoked_s IS NULL AND user = (SELECT id FROM users WHERE name = ?)",
        (time.time(), name),
    )
    return revoked.rowcount


def read_accounts(store: Store) -> list[sqlite3.Row]:
    """Read all users with accounts, in the order of their names.

    Columns: `id`, `name`, `person` (name in a roster or empty), `created_s`, `has_password`, number of valid `tokens`,
    `is_organiser` (one of them is for admins), `is_invited` (an invitation is open), `is_disabled`, and the names of
    the `bots` in all games, separated by commas.
    """
    return store.read(
        "SELECT id, name, person, created_s, EXISTS (SELECT 1 FROM tokens WHERE user = users.id AND revoked_s IS NULL "
        "AND ' ' || scopes || ' ' LIKE '% admin %') AS is_organiser, "
        "EXISTS (SELECT 1 FROM passwords WHERE user = users.id) AS has_password, "
        "(SELECT count(*) FROM tokens WHERE user = users.id AND revoked_s IS NULL) AS tokens, "
        "EXISTS (SELECT 1 FROM invitations WHERE user = users.id AND expires_s > ?) AS is_invited, "
        "disabled_s IS NOT NULL AS is_disabled, (SELECT group_concat(name, ', ') FROM "
        "(SELECT DISTINCT name FROM bots WHERE owner = users.id AND freed_s IS NULL ORDER BY name)) AS bots "
        # Without guests, removed users, teams and the server's own.
        "FROM users WHERE name NOT LIKE '% %' AND name NOT LIKE '(%' AND id NOT IN (SELECT account FROM teams) "
        "ORDER BY name",
        time.time(),
    )


def describe_logins(account: sqlite3.Row) -> str:
    """List the means by which the user of an account can log in; `account` is a row of `read_accounts`."""
    if account["is_disabled"]:
        return "nothing: disabled"
    means = []
    if account["has_password"]:
        means.append("password")
    if account["tokens"] > 0:
        means.append("token")
    if account["is_invited"]:
        means.append("a link, not used yet")
    return ", ".join(means)


def add_invitation(
    db: sqlite3.Connection, user: int, lasting_s: float, scopes: Collection[Scope] = DEFAULT_SCOPES
) -> str:
    """Replace a user's invitation and return its text, which cannot be read again.

    Args:
        scopes: of the token that the user gets.
    """
    secret = secrets.token_urlsafe(24)
    db.execute(
        "INSERT OR REPLACE INTO invitations (hash, user, expires_s, scopes) VALUES (?, ?, ?, ?)",
        (hash_secret(secret), user, time.time() + lasting_s, " ".join(sorted(scopes))),
    )
    return secret


_INVITED: Final = (
    "SELECT users.id, users.name, invitations.scopes FROM invitations JOIN users ON users.id = invitations.user "
    "WHERE hash = ? AND expires_s > ? AND disabled_s IS NULL"
)


def find_invited_user(store: Store, invitation: str) -> User | None:
    """Find the user of an invitation that is still valid."""
    rows = store.read(_INVITED, hash_secret(invitation), time.time())
    return User(rows[0]["id"], rows[0]["name"]) if rows else None


def disable_user(db: sqlite3.Connection, name: str, *, is_disabled: bool) -> int:
    """Disable or enable the logins of a user; return the number of users with this name, 0 or 1."""
    disabled_s = time.time() if is_disabled else None
    return db.execute("UPDATE users SET disabled_s = ? WHERE name = ?", (disabled_s, name)).rowcount


def remove_user(db: sqlite3.Connection, name: str) -> int:
    """Remove the name and all logins of a user, but keep bots and results; return the number of users, 0 or 1."""
    row = db.execute("SELECT id, team FROM users WHERE name = ?", (name,)).fetchone()
    if row is None:
        return 0
    if row["team"] is not None:
        leave_team(db, name, User(row["id"], name))
    for table in ("tokens", "passwords", "sessions", "invitations"):
        db.execute(f"DELETE FROM {table} WHERE user = ?", (row["id"],))
    # Users cannot have a name in parentheses.
    db.execute("UPDATE users SET name = ? WHERE id = ?", (f"(removed-{row['id']})", row["id"]))
    return 1


def hash_secret(secret: str) -> bytes:
    """Hash a random secret for storage.

    A slow hash would protect nothing, because a random secret cannot be guessed, and it would slow every request.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


class RateLimit:
    """Rate limit per client: a token bucket for every key."""

    def __init__(
        self,
        per_minute: float,
        burst: float | None = None,
        *,
        max_keys: int = 10_000,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the limit; buckets are full at first.

        Args:
            per_minute: rate at which a bucket fills.
            burst: size of a bucket; None for the calls of ten seconds.
            max_keys: number of buckets to keep; the least recently used is dropped first.
        """
        self._per_minute = per_minute
        self._rate = per_minute / 60.0
        self._burst = max(1.0, self._rate * 10.0 if burst is None else burst)
        self._max_keys = max_keys
        self._clock_s = clock_s
        self._buckets: dict[str, tuple[float, float]] = {}

    def _level(self, key: str) -> float:
        level, time_s = self._buckets.get(key, (self._burst, 0.0))
        return min(self._burst, level + self._rate * (self._clock_s() - time_s))

    def wait_s(self, key: str) -> int:
        """Return the whole seconds until the next request is allowed; 0 if it is allowed now."""
        level = self._level(key)
        return 0 if level >= 1.0 else max(1, math.ceil((1.0 - level) / self._rate))

    def take(self, key: str) -> int:
        """Take one unit of a bucket if it has one; return what `wait_s` returned before."""
        wait_s, level = self.wait_s(key), self._level(key)
        # Removed first, so that the order of the dict is that of the last use.
        self._buckets.pop(key, None)
        self._buckets[key] = (level if wait_s else level - 1.0, self._clock_s())
        if len(self._buckets) > self._max_keys:
            del self._buckets[next(iter(self._buckets))]
        return wait_s

    def count(self, key: str) -> None:
        """Take one unit for a request.

        Raises:
            WebError: the bucket is empty.
        """
        if wait_s := self.take(key):
            raise WebError(429, f"The limit is {count_of(self._per_minute, 'request')} a minute.", "requests", wait_s)


class GuessLimit:
    """Rate limit for failed logins, per address and per name, shared by all ports.

    An address that failed too often has to wait before it tries anything. A name that failed too often, from many
    addresses, accepts only tokens, which are too long to guess, and addresses from which its user logged in before. So
    no attacker can lock a user out.
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
        """Create the limits.

        Args:
            max_failures: of one address.
            max_by_name: with one name; more than one address can cause.
            max_keys: number of addresses, of names and of logins to remember; the oldest are dropped first.
        """
        windows_per_minute = 60.0 / within_s
        self._addresses = RateLimit(max_failures * windows_per_minute, max_failures, max_keys=max_keys, clock_s=clock_s)
        self._names = RateLimit(max_by_name * windows_per_minute, max_by_name, max_keys=max_keys, clock_s=clock_s)
        self._max_keys = max_keys
        self._known: dict[tuple[str, str], None] = {}

    def wait_s(self, address: str) -> int:
        """Return the seconds until an address may try again; 0 for now."""
        return self._addresses.wait_s(address)

    def name_wait_s(self, address: str, name: str) -> int:
        """Return the seconds until an address may try a password of a name; 0 for now."""
        return 0 if (address, name) in self._known else self._names.wait_s(name[:_MAX_NAME_LENGTH])

    def record_failure(self, address: str, name: str = "") -> None:
        """Count a failed login of an address, and against the name unless the address has to wait already."""
        if not self._addresses.take(address) and name:
            self._names.take(name[:_MAX_NAME_LENGTH])

    def record_login(self, address: str, name: str) -> None:
        """Remember that a user logged in from an address."""
        self._known.pop((address, name), None)
        self._known[address, name] = None
        if len(self._known) > self._max_keys:
            del self._known[next(iter(self._known))]


MIN_PASSWORD_LENGTH: Final = 8
MAX_PASSWORD_LENGTH: Final = 256
_MAX_HASHES_AT_ONCE = 2
_MAX_WAITING_LOGINS = 20
_RETRY_S = 5
_HASH_BYTES = 32
_COST: Final = {"n": 2**14, "r": 8, "p": 5}
"""Of the usually recommended parameters of scrypt, those that need the least memory: 16 MB."""


def _scrypt(password: str, salt: bytes, cost: Mapping[str, int]) -> bytes:
    return hashlib.scrypt(
        password.encode("utf-8", "surrogateescape"),
        salt=salt,
        **cost,
        maxmem=132 * cost["n"] * cost["r"] + 2**20 * cost["p"],
        dklen=_HASH_BYTES,
    )


def set_password(db: sqlite3.Connection, user: int, password: str) -> None:
    """Set the password of a user and end the user's sessions in browsers."""
    salt = secrets.token_bytes(16)
    _store_password(db, user, _scrypt(password, salt, _COST), salt)


def _store_password(db: sqlite3.Connection, user: int, hashed: bytes, salt: bytes) -> None:
    db.execute(
        "INSERT OR REPLACE INTO passwords (user, hash, salt, n, r, p) VALUES (?, ?, ?, ?, ?, ?)",
        (user, hashed, salt, *_COST.values()),
    )
    db.execute("DELETE FROM sessions WHERE user = ?", (user,))


class Accounts:
    """Log users in by token, password, or the password of a configuration file, whose users have no tokens.

    Attributes:
        guesses: limit on failed logins at all ports.
    """

    def __init__(
        self, store: Store, passwords: Mapping[str, str] | None = None, guesses: GuessLimit | None = None
    ) -> None:
        self.guesses = guesses or GuessLimit()
        self._store = store
        self._passwords = {
            name: password.encode("utf-8", "surrogateescape") for name, password in (passwords or {}).items()
        }
        self._hash_slots = asyncio.Semaphore(_MAX_HASHES_AT_ONCE)
        self._waiting = 0

    def find(self, name: str, secret: str, *, by_token_only: bool = False) -> User | None:
        """Find a user by name, and by a token that may play or the password of a configuration file."""
        secret_bytes = secret.encode("utf-8", "surrogateescape")
        if "\ufffd" in name or not name.isprintable():
            return None
        password = self._passwords.get(name)
        if password is not None:
            if by_token_only or not hmac.compare_digest(password, secret_bytes):
                return None
            rows = self._store.read("SELECT id FROM users WHERE name = ? AND disabled_s IS NULL", name)
            return User(rows[0]["id"], name) if rows else None
        token = self.find_token(secret)
        if token is None or token.user.name != name or Scope.PLAY not in token.scopes:
            return None
        return token.user

    async def log_in(
        self, name: str, secret: str, address: str, *, has_passwords: bool = False
    ) -> tuple[User | None, int]:
        """Log a user in, and count a failure.

        Args:
            has_passwords: also accept a password that the user has chosen.

        Returns:
            the user or None, and the seconds that the address has to wait.

        Raises:
            WebError: too many logins with passwords are in progress.
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
        """Log a person in by password or token, and count a failure.

        Raises:
            WebError: the address or the name has failed too often, or too many logins are in progress.
        """
        user, wait_s = await self.log_in(name, secret, address, has_passwords=True)
        if wait_s:
            sentence = f"There were too many attempts; try again in {count_of(wait_s, 'second')}."
            raise WebError(429, sentence, "login", wait_s)
        return user

    def find_token(self, text: str) -> Token | None:
        """Find the valid token with this text."""
        rows = self._store.read(_TOKENS + "AND tokens.hash = ?", hash_secret(text))
        return _token(rows[0]) if rows else None

    async def _find_by_password(self, name: str, secret: str) -> User | None:
        if len(secret) > MAX_PASSWORD_LENGTH:
            return None
        rows = self._store.read(
            "SELECT users.id, users.name, hash, salt, n, r, p FROM passwords "
            "JOIN users ON users.id = passwords.user WHERE users.name = ? AND users.disabled_s IS NULL",
            name,
        )
        row = rows[0] if rows else None
        if row is None:
            # Takes as long as for a known user, so that the time does not reveal whether the name exists.
            await self._hash(secret, bytes(16), _COST)
            return None
        hashed = await self._hash(secret, row["salt"], {name: row[name] for name in _COST})
        if not hmac.compare_digest(hashed, row["hash"]):
            return None
        return User(row["id"], row["name"])

    async def change(self, user: User, password: str) -> None:
        """Set the password of a user without blocking the database while it is hashed.

        Raises:
            WebError: too many logins are in progress.
            StoreError: it cannot be written.
        """
        salt = secrets.token_bytes(16)
        hashed = await self._hash(password, salt, _COST)
        change = with_audit(
            user.name, "changed the own password", lambda db: _store_password(db, user.id, hashed, salt)
        )
        await self._store.write(change)

    async def accept(self, invitation: str, password: str) -> tuple[User, str] | None:
        """Accept an invitation: set the password of its user and add a token.

        Returns:
            the user and the text of the token; None if the invitation is not valid.

        Raises:
            WebError: too many logins are in progress.
            StoreError: it cannot be written.
        """
        salt = secrets.token_bytes(16)
        hashed = await self._hash(password, salt, _COST)

        def change(db: sqlite3.Connection) -> tuple[User, str] | None:
            row = db.execute(_INVITED, (hash_secret(invitation), time.time())).fetchone()
            if row is None:
                return None
            db.execute("DELETE FROM invitations WHERE user = ?", (row["id"],))
            _store_password(db, row["id"], hashed, salt)
            record_change(db, row["name"], "accepted an invitation")
            scopes = frozenset(map(Scope, row["scopes"].split()))
            return User(row["id"], row["name"]), add_token(db, row["id"], scopes, "of the invitation")

        return await self._store.write(change)

    async def _hash(self, secret: str, salt: bytes, cost: Mapping[str, int]) -> bytes:
        if self._waiting >= _MAX_WAITING_LOGINS:
            raise WebError(503, "Many people are logging in just now; try again in some seconds.", wait_s=_RETRY_S)
        self._waiting += 1
        try:
            async with self._hash_slots:
                return await asyncio.to_thread(_scrypt, secret, salt, cost)
        finally:
            self._waiting -= 1
