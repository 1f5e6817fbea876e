"""Passwords of people, kept as scrypt hashes (RFC 7914) with their own salt and parameters.

A hash takes a good part of a second and 16 MB on purpose. It is computed in a thread, at most two at a time, and
whoever comes while many wait is asked to come back: a crowd that logs in delays nobody's match.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import sqlite3
from typing import Final, NamedTuple

from dealer.errors import WebError
from dealer.server.accounts import Accounts, GuessLimit, User
from dealer.server.store import Store

__all__ = ["LEAST_LETTERS", "MOST_LETTERS", "Passwords", "set_password"]

LEAST_LETTERS: Final = 8
MOST_LETTERS: Final = 256
_AT_A_TIME = 2
_MOST_WAITING = 20
_RETRY_S = 5
_BYTES = 32


class _Cost(NamedTuple):
    """The parameters of scrypt: block pairs, block size, lanes."""

    n: int
    r: int
    p: int


_COST: Final = _Cost(2**14, 8, 5)
"""16 MB: of the settings that are usually recommended, the one that needs least memory."""


def _hashed(password: str, salt: bytes, cost: _Cost) -> bytes:
    return hashlib.scrypt(
        password.encode("utf-8", "surrogateescape"),
        salt=salt,
        **cost._asdict(),
        maxmem=132 * cost.n * cost.r + 2**20 * cost.p,
        dklen=_BYTES,
    )


def set_password(db: sqlite3.Connection, user: int, password: str) -> None:
    """Give a user a password, in place of any other, and end the sessions of its browsers."""
    salt = secrets.token_bytes(16)
    _enter(db, user, _hashed(password, salt, _COST), salt)


def _enter(db: sqlite3.Connection, user: int, hashed: bytes, salt: bytes) -> None:
    db.execute(
        "INSERT OR REPLACE INTO passwords (user, hash, salt, n, r, p) VALUES (?, ?, ?, ?, ?, ?)",
        (user, hashed, salt, *_COST),
    )
    db.execute("DELETE FROM sessions WHERE user = ?", (user,))


class Passwords:
    """Lets people in, by password or token."""

    def __init__(self, store: Store, accounts: Accounts, guesses: GuessLimit) -> None:
        """Know the passwords of a store.

        Args:
            store: the database.
            accounts: knows the tokens, and the passwords of a configuration.
            guesses: how often logins may fail.
        """
        self._store = store
        self._accounts = accounts
        self._guesses = guesses
        self._slots = asyncio.Semaphore(_AT_A_TIME)
        self._waiting = 0

    async def log_in(self, name: str, secret: str, address: str) -> User | None:
        """The user of this name, if the secret is its password or one of its tokens; a failure is counted.

        Raises:
            WebError: this address, or with a password this name, has failed too often, or too many are logging in.
        """
        wait_s, name_wait_s = self._guesses.wait_s(address), self._guesses.name_wait_s(address, name)
        user = None
        if not wait_s and len(secret) <= MOST_LETTERS:
            user = self._accounts.find(name, secret, by_token_only=name_wait_s > 0)
            if user is None and not name_wait_s:
                user = await self._find(name, secret)
        if user is not None:
            self._guesses.note_login(address, name)
            return user
        self._guesses.note_failure(address, name)
        if wait_s := wait_s or name_wait_s:
            raise WebError(429, f"There were too many attempts; try again in {wait_s} seconds.", "login", wait_s)
        return None

    async def _find(self, name: str, secret: str) -> User | None:
        rows = self._store.read(
            "SELECT users.id, users.name, hash, salt, n, r, p FROM passwords "
            "JOIN users ON users.id = passwords.user WHERE users.name = ?",
            name,
        )
        row = rows[0] if rows else None
        # The time of the answer does not tell whether there is such a user, or one with a password.
        salt, cost = (row["salt"], _Cost(row["n"], row["r"], row["p"])) if row else (bytes(16), _COST)
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
        await self._store.write(lambda db: _enter(db, user.id, hashed, salt))

    async def _hash(self, secret: str, salt: bytes, cost: _Cost) -> bytes:
        if self._waiting >= _MOST_WAITING:
            raise WebError(503, "Many people are logging in just now; try again in some seconds.", wait_s=_RETRY_S)
        self._waiting += 1
        try:
            async with self._slots:
                return await asyncio.to_thread(_hashed, secret, salt, cost)
        finally:
            self._waiting -= 1
