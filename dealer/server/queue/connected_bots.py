"""The bots of users that are connected: each plays on its owner's machine and comes when it is called.

A bot is registered by connecting: with its name, its version and the games that it plays. From
then on any user may challenge it while it is connected; one that was there when the server ended may be challenged
before it has come back, for as long as requests wait for it. The client that brings it is a `BotHost`: notified
that a seat waits, it connects the bot there. A bot that connects again takes the place of the connection before it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from dealer.errors import RefusedError, StoreError
from dealer.server.accounts import User
from dealer.server.db.bot_registry import enter_users_bot, last_seen, note_seen, owner_of, owner_of_name
from dealer.server.db.store import Store
from dealer.server.queue.jobs import RunEnded, SeatOpen
from dealer.server.server_settings import ServerSettings
from dealer.table.players import NAME_RULE, is_name
from engine.text import listed, printable
from protocol.benchmark import OWN_SEAT
from protocol.game_definition import short_name
from protocol.joining import Join, RunStands

_MOST_LABEL_LETTERS = 64
_SEEN_EVERY_S = 30.0
_SEEN_WITHIN_S = 120.0
"""What was there when the server ended was seen so long before the last that was seen, or later."""


HostEvent: TypeAlias = SeatOpen | RunStands | RunEnded


class BotHost(Protocol):
    """Who brings a bot, over connections that have the server's key."""

    def notify(self, event: HostEvent) -> None:
        """Take note; must not raise, and must not wait."""


@dataclass(frozen=True, slots=True, eq=False)
class ConnectedBot:
    """A bot that is connected.

    Attributes:
        versions: the numbers of its version, by game.
    """

    owner: User
    offer: Join
    host: BotHost
    versions: Mapping[str, int]

    @property
    def name(self) -> str:
        """Its own, which no other user's bot has."""
        return self.offer.bot


class ConnectedBots:
    """The bots of users that are connected."""

    def __init__(self, settings: ServerSettings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._bots: dict[str, ConnectedBot] = {}
        self._awaited = set(last_seen(store, _SEEN_WITHIN_S))
        self._awaited_until_s = time.monotonic() + settings.own_seat_patience_s

    @property
    def bots(self) -> tuple[ConnectedBot, ...]:
        """Who is there, in the order in which they came."""
        return tuple(self._bots.values())

    def find(self, game: str, name: str) -> ConnectedBot | None:
        """The bot of this name, if it is there and plays the game."""
        connected = self._bots.get(name)
        return connected if connected is not None and game in connected.versions else None

    def refusal(self, game: str, name: str) -> str:
        """Why no bot of this name can be challenged, as a clause; empty if a bot of a user can."""
        is_awaited = (game, name) in self._awaited and time.monotonic() < self._awaited_until_s
        if is_awaited or self.find(game, name) is not None:
            return ""
        shown = printable(name, 60)
        if owner_of(self._store, game, name) is not None:
            return f"the bot {shown} is not connected now"
        own = list(self._settings.resolve_game(game).bots)
        return f"the game {short_name(game)} has no bot {shown}; the server's own are {listed(own) or 'none'}"

    async def enter(self, user: User, offer: Join, host: BotHost) -> ConnectedBot:
        """Register a bot, and have it there until `leave`; it is on disk when this returns.

        Raises:
            RefusedError: the name belongs to another user, or the bot plays no game of the server.
            StoreError: it cannot be written.
        """
        games = self.checked(offer)
        versions = await self._store.write(lambda db: self._entered(db, user, offer, games))
        connected = ConnectedBot(user, offer, host, versions)
        self._awaited = {one for one in self._awaited if one[1] != offer.bot}
        self._bots.pop(offer.bot, None)
        self._bots[offer.bot] = connected
        return connected

    def checked(self, offer: Join) -> tuple[str, ...]:
        """The full names of the games that a bot is offered for.

        Raises:
            RefusedError: the server has no such game, or such a bot itself, or it is no name.
        """
        if not is_name(offer.bot) or offer.bot == OWN_SEAT:
            raise RefusedError(f"that cannot be a bot's name: {NAME_RULE}")
        if len(offer.version) > _MOST_LABEL_LETTERS or not offer.version.isprintable():
            raise RefusedError(f"a version has at most {_MOST_LABEL_LETTERS} letters that can be printed")
        games = [self._settings.resolve_game(name) for name in offer.games] or self._settings.games
        if any(offer.bot in game.bots for game in games):
            raise RefusedError(f"the bot {offer.bot} is one of the server's own bots; give yours another name")
        return tuple(dict.fromkeys(game.name for game in games))

    def _entered(self, db: sqlite3.Connection, user: User, offer: Join, games: tuple[str, ...]) -> dict[str, int]:
        owner = owner_of_name(db, offer.bot)
        if owner is not None and owner != user.id:
            raise RefusedError(f"the bot {offer.bot} belongs to another user; give yours another name")
        return {game: enter_users_bot(db, user.id, game, offer.bot, offer.version) for game in games}

    async def run(self) -> None:
        """Write from time to time which bots are there: a server that was killed reads it when it starts again."""
        while True:
            await asyncio.sleep(_SEEN_EVERY_S)
            await self.note_seen(self.bots)

    async def note_seen(self, bots: Sequence[ConnectedBot]) -> None:
        """Write that bots are there, or were until now; where it cannot be written, it is left out."""
        names = [connected.name for connected in bots]
        if names:
            with contextlib.suppress(StoreError):
                await self._store.write(lambda db: note_seen(db, names))

    def leave(self, host: BotHost) -> list[ConnectedBot]:
        """A host has gone, and its bots with it; returns them."""
        gone = [connected for connected in self._bots.values() if connected.host is host]
        for connected in gone:
            del self._bots[connected.name]
        return gone
