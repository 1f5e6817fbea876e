"""Keeps the ratings up to date: after each run that is counted, those of its game are made anew, one game at a time."""

from __future__ import annotations

import asyncio
import logging

from dealer.errors import StoreError
from dealer.server import lineups
from dealer.server.feed import Feed, StandingsChanged
from dealer.server.settings import ServerSettings
from dealer.server.store import Store
from dealer.table.loop import Changes
from logs.estimation import score_bounds

__all__ = ["Standings"]

_log = logging.getLogger(__name__)


class Standings:
    """Makes the ratings of games in which something has been counted."""

    def __init__(self, settings: ServerSettings, store: Store, feed: Feed) -> None:
        self._settings = settings
        self._store = store
        self._feed = feed
        # What was counted last may have been counted in the moment when an earlier server ended.
        self._stale = [game.name for game in settings.games]
        self._changes = Changes()

    def note(self, game: str) -> None:
        """Something was counted in a game."""
        if game not in self._stale:
            self._stale.append(game)
            self._changes.notify()

    async def run(self) -> None:
        """Make ratings whenever something was counted, until cancelled."""
        while True:
            await self._changes.wait_for(lambda: bool(self._stale))
            await self.refit(self._stale.pop(0))

    async def refit(self, name: str) -> None:
        """Make the ratings of a game."""
        game = self._settings.game(name)
        if game is None:
            return
        try:
            tables = lineups.table_scores(self._store, name)
            if not tables:
                return
            ratings = await asyncio.to_thread(lineups.fitted, tables, score_bounds(game.game))
            await self._store.write(lambda db: lineups.write_ratings(db, name, ratings))
        except StoreError as error:
            # They are made anew after the next run, or at the next start.
            _log.error("the ratings of %s cannot be kept: %s", name, error)
        else:
            self._feed.publish(StandingsChanged(name))
