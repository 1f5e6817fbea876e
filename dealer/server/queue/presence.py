"""Connected bots of users.

A bot registers by connecting, with its name, version and games. From then on any user may challenge it while it is
connected; after a restart of the server also before it has reconnected. Its client is a `BotHost`: it is notified of
open seats and connects the bot there. A new connection of a bot replaces the one before.
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
from dealer.server.db.bot_registry import (
    SEEN_INTERVAL_S,
    bot_owner,
    check_name,
    last_seen,
    record_seen,
    register_user_bot,
)
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
from protocol.joining import Join, LadderState, RunStanding

_MAX_LABEL_LENGTH = 64
_RECENT_S = 120.0
"""Bots seen within this time before the last one of all count as connected when the server stopped."""


@dataclass(frozen=True, slots=True)
class Expelled:
    """The bot has to leave, for a reason that its owner reads."""

    reason: str


HostEvent: TypeAlias = Expelled | SeatOpen | LadderState | RunStanding | RunEnded


class BotHost(Protocol):
    """Client of a connected bot."""

    def notify(self, event: HostEvent) -> None:
        """Receive an event; must not raise or block."""


@dataclass(frozen=True, slots=True, eq=False)
class ConnectedBot:
    """A connected bot.

    Attributes:
        versions: number of its version, by game.
    """

    owner: User
    offer: Join
    host: BotHost
    versions: Mapping[str, int]

    @property
    def name(self) -> str:
        """Its name, unique among the bots of all users."""
        return self.offer.bot


class Presence:
    """Connected bots of users, and their seats at tables with people."""

    def __init__(
        self,
        games: Sequence[ServerGame],
        own_versions: Mapping[tuple[str, str], int],
        store: Store,
        feed: Feed,
        changes: Changes,
        *,
        max_names: int,
        reconnect_timeout_s: float,
        on_missing: Callable[[str], None],
    ) -> None:
        """Read which bots were connected at the end of the last server.

        Args:
            own_versions: numbers of the versions of the server's own bots, by game and bot.
            changes: notified when another bot can play.
            max_names: of the bots of one user.
            reconnect_timeout_s: time that a disconnected bot has to reconnect.
            on_missing: receives the name of a bot that has not reconnected in this time.
        """
        self._games = games
        self._own_versions = own_versions
        self._store = store
        self._feed = feed
        self._changes = changes
        self._max_names = max_names
        self._reconnect_timeout_s = reconnect_timeout_s
        self._on_missing = on_missing
        self._bots: dict[str, ConnectedBot] = {}
        self._awaited = set(last_seen(store, _RECENT_S))
        self._awaited_until_s = time.monotonic() + reconnect_timeout_s
        self._left_at_s: dict[str, float] = {}
        self._at_tables: Counter[str] = Counter()
        """Number of tables with people at which a user's bot plays; each counts as a run of the bot."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closing = False

    @property
    def bots(self) -> tuple[ConnectedBot, ...]:
        """Connected bots in the order of their connections."""
        return tuple(self._bots.values())

    def find(self, game: str, name: str) -> ConnectedBot | None:
        """Find a connected bot that plays a game."""
        connected = self._bots.get(name)
        return connected if connected is not None and game in connected.versions else None

    def refusal(self, game: str, name: str) -> str:
        """Reason that no user's bot with this name can be challenged, as a clause; empty if it can."""
        is_awaited = (game, name) in self._awaited and time.monotonic() < self._awaited_until_s
        if is_awaited or self.find(game, name) is not None:
            return ""
        shown = printable(name, 60)
        if bot_owner(self._store, game, name) is not None:
            return f"the bot {shown} is not connected now"
        own = list(resolve_game(self._games, game).bots)
        return f"the game {short_name(game)} has no bot {shown}; the server's own are {listed(own) or 'none'}"

    async def enter(self, user: User, offer: Join, host: BotHost) -> ConnectedBot:
        """Register a bot as connected, until `leave`.

        Raises:
            RefusedError: the name belongs to another user, the user has too many names, or the bot plays no game of
                the server.
            StoreError: it cannot be written.
        """
        games = self.check(offer)
        versions = await self._store.write(lambda db: self._register(db, user, offer, games))
        connected = ConnectedBot(user, offer, host, versions)
        self._awaited = {(game, name) for game, name in self._awaited if name != offer.bot}
        # Removed first, so that the dict is in the order of the connections.
        self._bots.pop(offer.bot, None)
        self._bots[offer.bot] = connected
        self._left_at_s.pop(offer.bot, None)
        self._publish(connected, is_online=True)
        self._changes.notify()
        return connected

    def check(self, offer: Join) -> tuple[str, ...]:
        """Check the offer of a bot; return the full names of its games.

        Raises:
            RefusedError: a game is unknown, or the name is not valid or that of one of the server's own bots.
        """
        if not is_name(offer.bot) or offer.bot == OWN_SEAT:
            raise RefusedError(f"that cannot be a bot's name: {NAME_RULE}")
        if len(offer.version) > _MAX_LABEL_LENGTH or not offer.version.isprintable():
            raise RefusedError(f"a version has at most {_MAX_LABEL_LENGTH} printable characters")
        games = [resolve_game(self._games, name) for name in offer.games] or self._games
        if any(offer.bot in game.bots for game in games):
            raise RefusedError(f"the bot {offer.bot} is one of the server's own bots; give yours another name")
        return tuple(dict.fromkeys(game.name for game in games))

    def _register(self, db: sqlite3.Connection, user: User, offer: Join, games: tuple[str, ...]) -> dict[str, int]:
        check_name(db, user.id, offer.bot, self._max_names)
        return {game: register_user_bot(db, user.id, game, offer.bot, offer.version) for game in games}

    async def run(self) -> None:
        """Record the connected bots at intervals, until cancelled, for the case that the server is killed."""
        while True:
            await asyncio.sleep(SEEN_INTERVAL_S)
            await self.record_seen(self.bots)

    async def record_seen(self, bots: Sequence[ConnectedBot]) -> None:
        """Record that bots are connected now; errors of the database are ignored."""
        names = [connected.name for connected in bots]
        if names:
            with contextlib.suppress(StoreError):
                await self._store.write(lambda db: record_seen(db, names))

    def leave(self, host: BotHost) -> None:
        """Disconnect a host's bots. Jobs that wait for them end after `reconnect_timeout_s`."""
        # By host, not by name: the bot may be connected again by another one.
        disconnected = [connected for connected in self._bots.values() if connected.host is host]
        for connected in disconnected:
            del self._bots[connected.name]
        # At the end of the server, `close` records the bots that are connected.
        if not self._is_closing:
            task = asyncio.create_task(self.record_seen(disconnected))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        for connected in disconnected:
            self._left_at_s[connected.name] = time.monotonic()
            self._publish(connected, is_online=False)
            asyncio.get_running_loop().call_later(self._reconnect_timeout_s, self._report_missing, connected.name)

    def expel(self, user: User, reason: str) -> None:
        """Disconnect the bots of a user's clients."""
        for connected in self.bots:
            if connected.owner == user:
                connected.host.notify(Expelled(reason))

    def _report_missing(self, name: str) -> None:
        # The bot may have reconnected, and left again later.
        now_s = time.monotonic()
        if not self._is_closing and now_s - self._left_at_s.get(name, now_s) >= self._reconnect_timeout_s:
            self._on_missing(name)

    def has_left(self, name: str) -> bool:
        """Return whether a bot has been connected since the start of the server and has left."""
        return name in self._left_at_s

    def _publish(self, connected: ConnectedBot, *, is_online: bool) -> None:
        for game, version in connected.versions.items():
            self._feed.publish("bot-changed", game=game, bot=connected.name, version=version, is_online=is_online)

    def version(self, game: str, player: str) -> int | None:
        """Number of a player's current version; None for a client's own agent."""
        connected = self.find(game, player)
        return self._own_versions.get((game, player)) if connected is None else connected.versions[game]

    # ---- tables with people

    def has_free_seat(self, name: str, runs: int) -> bool:
        """Return whether a user's bot is connected and may play one more match besides `runs` and its tables."""
        connected = self._bots.get(name)
        return connected is not None and runs + self._at_tables[name] < connected.offer.at_once

    def occupy_seats(self, names: Collection[str]) -> None:
        """Count users' bots as playing at a table with people, until `release_seats`."""
        self._at_tables.update(names)

    def release_seats(self, names: Collection[str]) -> None:
        self._at_tables.subtract(names)
        self._changes.notify()

    async def close(self) -> None:
        """Record the connected bots for the next start."""
        self._is_closing = True
        await self.record_seen(self.bots)
        while self._tasks:
            await asyncio.wait(self._tasks)
