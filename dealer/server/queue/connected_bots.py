"""The bots of users that are connected: each plays on its owner's machine and comes when it is called.

A bot is registered by connecting: its owner says what it is called, which version it is and which games it plays. From
then on anybody may challenge it while it is connected; one that was there when the server ended may be challenged
before it has come back, for as long as requests wait for it. Who brings it is a `BotHost`: told that a seat waits, it
connects the bot there. A bot that connects again takes the place of the connection before it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from dealer.errors import RefusedError, StoreError
from dealer.server.accounts import User
from dealer.server.db.bot_registry import enter_guest, last_seen, note_seen, owner_of, owner_of_name
from dealer.server.db.store import Store
from dealer.server.queue.jobs import ActiveJob, RunEnded, SeatOpen
from dealer.server.settings import ServerSettings
from dealer.table.players import NAME_RULE
from protocol.benchmark import OWN_SEAT

__all__ = [
    "BotHost",
    "BotOffer",
    "Guest",
    "HostEvent",
    "Lobby",
    "Replaced",
    "RunProgress",
    "TableSeats",
]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_MOST_LABEL_LETTERS = 64
_SEEN_EVERY_S = 30.0
_SEEN_WITHIN_S = 120.0
"""What was there when the server ended was seen so long before the last that was seen, or later."""


@dataclass(frozen=True, slots=True)
class BotOffer:
    """A bot that a user brings.

    Attributes:
        name: one word, as players are called.
        label: which version its owner says it is; results of different versions are never put together.
        games: the names of the games that it plays; empty for all.
        most_runs: how many runs it plays at a time.
        is_on_ladder: whether the server may have it play while no request waits.
    """

    name: str
    label: str = ""
    games: tuple[str, ...] = ()
    most_runs: int = 1
    is_on_ladder: bool = False


@dataclass(frozen=True, slots=True)
class Replaced:
    """The bot is there from another connection, and nothing more is asked of this one."""

    bot: str


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How a run stands in which the bot plays.

    Attributes:
        match: a user, a dot and the tag of a job.
        hands: finished in all matches. planned: the most there can be.
        rate: what the bot has won so far, or the first player where more than two play, in words; empty before there
            is something to say.
    """

    match: str
    hands: int
    planned: int
    rate: str


HostEvent: TypeAlias = SeatOpen | Replaced | RunProgress | RunEnded


class BotHost(Protocol):
    """Who brings a bot, over connections that know the server's key."""

    def tell(self, event: HostEvent) -> None:
        """Take note; must not raise, and must not wait."""


@dataclass(frozen=True, slots=True, eq=False)
class Guest:
    """A bot that is connected.

    Attributes:
        owner: whose it is.
        offer: what it said.
        host: who brings it.
        versions: the numbers of its version, by game.
    """

    owner: User
    offer: BotOffer
    host: BotHost
    versions: Mapping[str, int]


class Lobby:
    """The bots of users that are connected."""

    def __init__(self, settings: ServerSettings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._guests: dict[str, Guest] = {}
        self._awaited = set(last_seen(store, _SEEN_WITHIN_S))
        self._awaited_until_s = time.monotonic() + settings.own_seat_patience_s

    @property
    def guests(self) -> tuple[Guest, ...]:
        """Who is there, in the order in which they came."""
        return tuple(self._guests.values())

    def find(self, game: str, name: str) -> Guest | None:
        """The bot of this name, if it is there and plays the game."""
        guest = self._guests.get(name)
        return guest if guest is not None and game in guest.versions else None

    def refusal(self, game: str, name: str) -> str:
        """Why nobody of this name can be challenged, as a clause; empty if a bot of a user can."""
        is_awaited = (game, name) in self._awaited and time.monotonic() < self._awaited_until_s
        if is_awaited or self.find(game, name) is not None:
            return ""
        shown = "".join(char if char.isprintable() else "?" for char in name[:60])
        if owner_of(self._store, game, name) is not None:
            return f"{shown} is not connected now"
        return f"{game} has no bot {shown}; GAMES lists those there are"

    async def enter(self, user: User, offer: BotOffer, host: BotHost) -> Guest:
        """Register a bot, and have it there until `leave`; it is on disk when this returns.

        Raises:
            RefusedError: the name is somebody else's, or no game is here that it plays; the sentence says why.
            StoreError: it cannot be written.
        """
        games = self._checked(offer)
        versions = await self._store.write(lambda db: self._entered(db, user, offer, games))
        guest = Guest(user, offer, host, versions)
        self._awaited = {one for one in self._awaited if one[1] != offer.name}
        before = self._guests.pop(offer.name, None)
        self._guests[offer.name] = guest
        if before is not None and before.host is not host:
            before.host.tell(Replaced(offer.name))
        return guest

    def _checked(self, offer: BotOffer) -> tuple[str, ...]:
        """The games that a bot is entered for.

        Raises:
            RefusedError: it cannot be.
        """
        if not _NAME.fullmatch(offer.name) or not re.search("[A-Za-z0-9]", offer.name) or offer.name == OWN_SEAT:
            raise RefusedError(f"that cannot be a bot's name: {NAME_RULE}")
        if len(offer.label) > _MOST_LABEL_LETTERS or not offer.label.isprintable():
            raise RefusedError(f"a version has at most {_MOST_LABEL_LETTERS} letters that can be printed")
        games = offer.games or tuple(game.name for game in self._settings.games)
        for name in games:
            game = self._settings.game(name)
            if game is None:
                raise RefusedError(f"there is no game {name[:60]!r} here")
            if game.bot(offer.name) is not None:
                raise RefusedError(f"{offer.name} is one of the server's own bots; give yours another name")
        return tuple(dict.fromkeys(games))

    def _entered(self, db: sqlite3.Connection, user: User, offer: BotOffer, games: tuple[str, ...]) -> dict[str, int]:
        owner = owner_of_name(db, offer.name)
        if owner is not None and owner != user.id:
            raise RefusedError(f"{offer.name} is a bot of somebody else; give yours another name")
        return {game: enter_guest(db, user.id, game, offer.name, offer.label) for game in games}

    async def run(self) -> None:
        """Write from time to time which bots are there: a server that was killed reads it when it starts again."""
        while True:
            await asyncio.sleep(_SEEN_EVERY_S)
            await self.note_seen(self.guests)

    async def note_seen(self, guests: Sequence[Guest]) -> None:
        """Write that bots are there, or were until now; where it cannot be written, it is left out."""
        names = [guest.offer.name for guest in guests]
        if names:
            with contextlib.suppress(StoreError):
                await self._store.write(lambda db: note_seen(db, names))

    def leave(self, host: BotHost) -> list[Guest]:
        """A host has gone, and its bots with it; returns them."""
        gone = [guest for guest in self._guests.values() if guest.host is host]
        for guest in gone:
            del self._guests[guest.offer.name]
        return gone


class TableSeats:
    """Who sits at tables."""

    def __init__(self, lobby: Lobby, active: Callable[[], Sequence[ActiveJob]], on_left: Callable[[], None]) -> None:
        """Start without anybody.

        Args:
            lobby: the bots of users.
            active: gives the jobs of which something is left.
            on_left: called when a bot may play something else.
        """
        self._lobby = lobby
        self._active = active
        self._on_left = on_left
        self._tables: Counter[str] = Counter()

    def count(self, name: str) -> int:
        """At how many tables a user's bot sits."""
        return self._tables[name]

    def has_room(self, name: str) -> bool:
        """Whether a user's bot is there and may play one run more."""
        guest = next((one for one in self._lobby.guests if one.offer.name == name), None)
        runs = sum(job.is_running and name in job.guests and not job.slot.is_idle for job in self._active())
        return guest is not None and runs + self._tables[name] < guest.offer.most_runs

    def take(self, names: Collection[str]) -> None:
        """Bots sit down, until `leave`."""
        self._tables.update(names)
        for job in self._active():
            if job.slot.is_idle and job.guests & set(names):
                job.make_room()

    def leave(self, names: Collection[str]) -> None:
        """Bots play other runs."""
        self._tables.subtract(names)
        self._on_left()
