"""Who may use the server: users and their tokens, and how often somebody may guess.

A token is a random text, shown once and kept as its hash, with its scopes: what who has it may do. The users of a
benchmark-server configuration have passwords instead, which stay in that file: they are compared in memory and never
written anywhere.
"""

from __future__ import annotations

import enum
import hashlib
import hmac
import secrets
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from dealer.server.store import Store

__all__ = [
    "USUAL_SCOPES",
    "Accounts",
    "GuessLimit",
    "Scope",
    "Token",
    "User",
    "add_token",
    "add_user",
    "revoke_token",
    "revoke_tokens",
    "tokens_of",
]


class Scope(enum.StrEnum):
    """What a token is good for."""

    READ = "read"
    """Seeing what its user may see."""
    PLAY = "play"
    """Having matches played, cancelling one's own, bringing bots."""
    ADMIN = "admin"
    """Seeing everything, and cancelling everybody's requests."""


USUAL_SCOPES: Final = frozenset((Scope.READ, Scope.PLAY))


@dataclass(frozen=True, slots=True)
class User:
    """A user who is known."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Token:
    """A token that has not been revoked, without its text, which nobody knows.

    Attributes:
        id: its number.
        user: whose it is.
        scopes: what it is good for.
        label: what it was made for, in the user's words.
        created_s: when it was made, in seconds since 1970.
    """

    id: int
    user: User
    scopes: frozenset[Scope]
    label: str
    created_s: float


def add_user(db: sqlite3.Connection, name: str) -> int:
    """The number of the user of this name, made if it is new."""
    db.execute("INSERT INTO users (name, created_s) VALUES (?, ?) ON CONFLICT DO NOTHING", (name, time.time()))
    (number,) = db.execute("SELECT id FROM users WHERE name = ?", (name,)).fetchone()
    return int(number)


def add_token(db: sqlite3.Connection, user: int, scopes: Collection[Scope] = USUAL_SCOPES, label: str = "") -> str:
    """A new token of a user: the only time that it is seen."""
    token = secrets.token_urlsafe(24)
    db.execute(
        "INSERT INTO tokens (user, hash, created_s, scopes, label) VALUES (?, ?, ?, ?, ?)",
        (user, _hash_of(token), time.time(), " ".join(sorted(scopes)), label),
    )
    return token


def revoke_token(db: sqlite3.Connection, user: int, token: int) -> bool:
    """Revoke one token of a user, by its number; False if the user has no such token."""
    found = db.execute(
        "UPDATE tokens SET revoked_s = ? WHERE revoked_s IS NULL AND id = ? AND user = ?", (time.time(), token, user)
    )
    return found.rowcount == 1


_TOKENS = (
    "SELECT tokens.id, tokens.user, users.name, tokens.scopes, tokens.label, tokens.created_s FROM tokens "
    "JOIN users ON users.id = tokens.user WHERE tokens.revoked_s IS NULL "
)


def _token_of(row: sqlite3.Row) -> Token:
    scopes = frozenset(map(Scope, row["scopes"].split()))
    return Token(row["id"], User(row["user"], row["name"]), scopes, row["label"], row["created_s"])


def tokens_of(store: Store, user: int) -> tuple[Token, ...]:
    """The tokens of a user, the newest first."""
    return tuple(map(_token_of, store.read(_TOKENS + "AND tokens.user = ? ORDER BY tokens.id DESC", user)))


def revoke_tokens(db: sqlite3.Connection, name: str) -> int:
    """Revoke all tokens of the user of this name; returns how many there were."""
    found = db.execute(
        "UPDATE tokens SET revoked_s = ? WHERE revoked_s IS NULL AND user = (SELECT id FROM users WHERE name = ?)",
        (time.time(), name),
    )
    return found.rowcount


def _hash_of(token: str) -> bytes:
    # As random as the hash itself is: a slow hash would protect nothing, and slow everybody.
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


class Accounts:
    """Lets users in."""

    def __init__(self, store: Store, passwords: Mapping[str, str] | None = None) -> None:
        """Know the users of a store.

        Args:
            store: the database.
            passwords: by name, of users of a configuration file; these users have no tokens.
        """
        self._store = store
        self._passwords = {
            name: password.encode("utf-8", "surrogateescape") for name, password in (passwords or {}).items()
        }

    def find(self, name: str, secret: str) -> User | None:
        """The user of this name, if the secret is its password or a token that may play and has not been revoked."""
        given = secret.encode("utf-8", "surrogateescape")
        if "\ufffd" in name or not name.isprintable():
            return None
        password = self._passwords.get(name)
        if password is not None:
            rows = self._store.read("SELECT id FROM users WHERE name = ?", name)
            return User(rows[0]["id"], name) if hmac.compare_digest(password, given) and rows else None
        token = self.find_token(secret)
        return token.user if token is not None and token.user.name == name and Scope.PLAY in token.scopes else None

    def find_token(self, text: str) -> Token | None:
        """The token with this text, unless it has been revoked."""
        rows = self._store.read(_TOKENS + "AND tokens.hash = ?", _hash_of(text))
        return _token_of(rows[0]) if rows else None


class GuessLimit:
    """How often an address may fail to log in, within a time, before it has to wait."""

    def __init__(
        self,
        *,
        most_failures: int = 30,
        within_s: float = 60.0,
        most_addresses: int = 10_000,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start without any failure.

        Args:
            most_failures: of one address.
            within_s: the time in which they count.
            most_addresses: remembered at a time; those that failed longest ago are forgotten first.
            clock_s: tells the time.
        """
        self._most = most_failures
        self._within_s = within_s
        self._most_addresses = most_addresses
        self._clock_s = clock_s
        self._failures: dict[str, deque[float]] = {}

    def wait_s(self, address: str) -> float:
        """How long an address has to wait before it may try again; 0 if it need not."""
        failures = self._failures.get(address)
        if failures is None or len(failures) < self._most:
            return 0.0
        return max(0.0, failures[0] + self._within_s - self._clock_s())

    def note_failure(self, address: str) -> None:
        """An address has failed to log in."""
        failures = self._failures.pop(address, None) or deque(maxlen=self._most)
        failures.append(self._clock_s())
        self._failures[address] = failures
        if len(self._failures) > self._most_addresses:
            del self._failures[next(iter(self._failures))]
