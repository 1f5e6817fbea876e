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
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from dealer.errors import RefusedError, StoreError
from dealer.server.db.bot_registry import bot_owner, last_seen, name_owner, record_seen, register_user_bot
from dealer.server.db.store import Store
from dealer.server.db.users import User
from dealer.server.queue.feed import Feed
from dealer.server.queue.jobs import RunEnded, SeatOpen
from dealer.server.server_settings import ServerGame, resolve_game
from dealer.table.loop import Changes
from dealer.table.players import NAME_RULE, is_name
from engine.text import listed, printable
from protocol.benchmark import OWN_SEAT
from protocol.game_definition import short_name
from protocol.joining import Join, RunStanding

_MOST_LABEL_LETTERS = 64
_SEEN_EVERY_S = 30.0
_SEEN_WITHIN_S = 120.0
"""What was there when the server ended was seen so long before the last that was seen, or later."""


HostEvent: TypeAlias = SeatOpen | RunStanding | RunEnded


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


class Presence:
    """The bots of users that are connected, and their seats at tables with people."""

    def __init__(
        self,
        games: Sequence[ServerGame],
        own_versions: Mapping[tuple[str, str], int],
        store: Store,
        feed: Feed,
        changes: Changes,
        *,
        reconnect_timeout_s: float,
        on_missing: Callable[[str], None],
    ) -> None:
        """Prepare for bots to connect.

        Args:
            own_versions: numbers of the server's own bots, by the names of game and bot.
            changes: notified when a bot can play that could not before.
            reconnect_timeout_s: time that is waited for a bot that has left.
            on_missing: receives the name of a bot that has not come back in this time.
        """
        self._games = games
        self._own_versions = own_versions
        self._store = store
        self._feed = feed
        self._changes = changes
        self._reconnect_timeout_s = reconnect_timeout_s
        self._on_missing = on_missing
        self._bots: dict[str, ConnectedBot] = {}
        self._awaited = set(last_seen(store, _SEEN_WITHIN_S))
        self._awaited_until_s = time.monotonic() + reconnect_timeout_s
        self._left_s: dict[str, float] = {}
        self._at_tables: Counter[str] = Counter()
        """Tables with people at which a user's bot sits: each counts as a run of the bot."""
        self._writing: set[asyncio.Task[None]] = set()
        self._is_closing = False

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
        if bot_owner(self._store, game, name) is not None:
            return f"the bot {shown} is not connected now"
        own = list(resolve_game(self._games, game).bots)
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
        self._left_s.pop(offer.bot, None)
        self._publish(connected, is_online=True)
        self._changes.notify()
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
        games = [resolve_game(self._games, name) for name in offer.games] or self._games
        if any(offer.bot in game.bots for game in games):
            raise RefusedError(f"the bot {offer.bot} is one of the server's own bots; give yours another name")
        return tuple(dict.fromkeys(game.name for game in games))

    def _entered(self, db: sqlite3.Connection, user: User, offer: Join, games: tuple[str, ...]) -> dict[str, int]:
        owner = name_owner(db, offer.bot)
        if owner is not None and owner != user.id:
            raise RefusedError(f"the bot {offer.bot} belongs to another user; give yours another name")
        return {game: register_user_bot(db, user.id, game, offer.bot, offer.version) for game in games}

    async def run(self) -> None:
        """Write from time to time which bots are there: a server that was killed reads it when it starts again."""
        while True:
            await asyncio.sleep(_SEEN_EVERY_S)
            await self.record_seen(self.bots)

    async def record_seen(self, bots: Sequence[ConnectedBot]) -> None:
        """Write that bots are there, or were until now; where it cannot be written, it is left out."""
        names = [connected.name for connected in bots]
        if names:
            with contextlib.suppress(StoreError):
                await self._store.write(lambda db: record_seen(db, names))

    def leave(self, host: BotHost) -> None:
        """Disconnect a host's bots. Jobs that wait for them are given up after `reconnect_timeout_s`."""
        gone = [connected for connected in self._bots.values() if connected.host is host]
        for connected in gone:
            del self._bots[connected.name]
        if not self._is_closing:
            task = asyncio.create_task(self.record_seen(gone))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)
        for connected in gone:
            self._left_s[connected.name] = time.monotonic()
            self._publish(connected, is_online=False)
            asyncio.get_running_loop().call_later(self._reconnect_timeout_s, self._miss, connected.name)

    def _miss(self, name: str) -> None:
        now_s = time.monotonic()
        if not self._is_closing and now_s - self._left_s.get(name, now_s) >= self._reconnect_timeout_s:
            self._on_missing(name)

    def has_left(self, name: str) -> bool:
        """Whether a bot was connected since the start, and has left."""
        return name in self._left_s

    def _publish(self, connected: ConnectedBot, *, is_online: bool) -> None:
        for game, version in connected.versions.items():
            self._feed.publish("bot-changed", game=game, bot=connected.name, version=version, is_online=is_online)

    def version(self, game: str, player: str) -> int | None:
        """The number of a player's present version; None for a client's own agent."""
        connected = self.find(game, player)
        return self._own_versions.get((game, player)) if connected is None else connected.versions[game]

    # ---- tables with people

    def has_free_seat(self, name: str, runs: int) -> bool:
        """Whether a user's bot is connected and takes one more match besides `runs` and its tables."""
        connected = self._bots.get(name)
        return connected is not None and runs + self._at_tables[name] < connected.offer.at_once

    def occupy_seats(self, names: Collection[str]) -> None:
        """Seat users' bots at a table with people, until `release_seats`."""
        self._at_tables.update(names)

    def release_seats(self, names: Collection[str]) -> None:
        self._at_tables.subtract(names)
        self._changes.notify()

    async def close(self) -> None:
        """Write that the connected bots were seen until now."""
        self._is_closing = True
        await self.record_seen(self.bots)
        while self._writing:
            await asyncio.wait(self._writing)
