"""The tables at which people sit in a server's store, and the bots of users that join them.

Such a bot is called to its seat while a table is awake, and is busy for as long.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from dealer.errors import DealerError, WebError
from dealer.library import Run, reopen
from dealer.person.sitting import Sitting
from dealer.run.results import read_result
from dealer.run.settings import BotSettings
from dealer.server.db import records
from dealer.server.db.records import RunState
from dealer.server.db.runs import RunReport
from dealer.server.db.tables import TAG, TableRow, add_table, close_table, open_tables, see_table
from dealer.server.queue.playing import report_of, seat_notifier
from dealer.server.server import ServerParts
from dealer.server.settings import ServerGame, player_name
from engine import Seed
from protocol.benchmark import OWN_SEAT

_log = logging.getLogger(__name__)


class ServerTableStore:
    """The tables of a server: in the store, and for quick answers here."""

    def __init__(self, parts: ServerParts) -> None:
        """Know what the store knows."""
        self._store = parts.store
        self._service = parts.service
        self._folder = parts.folder
        self._tables = {table.id: table for table in open_tables(parts.store, parts.folder)}

    async def add(self, owner: str, game: str, players: tuple[str, ...], user: int | None, seed: Seed) -> TableRow:
        """Enter a table; its folder is not made."""
        versions = [None, *(self._service.version(game, name) for name in players)]
        run = await self._store.write(
            lambda db: add_table(db, owner, user, game, players=players, versions=versions, seed=seed)
        )
        folder = self._folder / run.folder
        table = TableRow(str(run.id), owner, game, players, folder, time.time(), run=run.id, is_guests=user is None)
        self._tables[table.id] = table
        return table

    async def see(self, table: TableRow) -> None:
        """Somebody looks at a table."""
        if table.id in self._tables and table.run is not None:
            run = table.run
            await self._store.write(lambda db: see_table(db, run))
            self._tables[table.id] = replace(table, seen_s=time.time())

    async def close(self, table: TableRow, sitting: Sitting | None, reason: str) -> None:
        """Nobody will play there any more: what was played is counted."""
        if self._tables.pop(table.id, None) is None or table.run is None:
            return
        run = table.run
        report = await asyncio.to_thread(_report, table.folder, reason)
        await self._store.write(lambda db: close_table(db, run, report))

    def find(self, number: str) -> TableRow | None:
        """An open table."""
        return self._tables.get(number)

    def of(self, owner: str | None) -> list[TableRow]:
        """The open tables of a person, or all, the oldest first."""
        return [table for table in self._tables.values() if owner is None or table.owner == owner]


def _report(folder: Path, reason: str) -> RunReport:
    """How the run of a table ended, from its folder."""
    try:
        run: Run[Any] = reopen(folder)
        # Nothing more will be played: the scores are those of its logs.
        run.finished = read_result(folder)
        return report_of(run, run.finished, reason)
    except (DealerError, OSError) as error:
        # Pages show the reason to everybody; a path of this machine is nobody's business.
        _log.info("the table in %s has no result: %s", folder, error)
        return RunReport(RunState.CANCELLED, f"{reason}.")


def guests_in(parts: ServerParts, game: ServerGame) -> tuple[tuple[str, str], ...]:
    """The bots of users that are connected and play a game: names, and those of their owners."""
    there = [guest for guest in parts.service.connected_bots.bots if game.name in guest.versions]
    return tuple(sorted((guest.name, guest.owner.name) for guest in there))


def guest_settings(parts: ServerParts, name: str, key: str) -> BotSettings:
    """What a table asks for to have a user's bot there.

    Args:
        parts: the server.
        name: of the bot, which is connected.
        key: that has to be said for its seat.

    Raises:
        WebError: it plays as much as its owner lets it.
    """
    if not parts.service.table_seats.has_room(name):
        raise WebError(409, f"{name} plays elsewhere, as much as its owner lets it at a time; try again later.")
    return BotSettings(bot=f"{player_name(name)}=tcp", key=key)


class TableGuests:
    """The bots of users at the tables of a server that are awake."""

    def __init__(self, parts: ServerParts) -> None:
        """Know the server."""
        self._parts = parts
        self._seated: dict[str, frozenset[str]] = {}

    def seat(self, table: TableRow, sitting: Sitting) -> None:
        """A table is about to be played at: call the bots of users that sit there, whenever they are awaited."""
        game = self._parts.settings.game(table.game)
        contest = sitting.run.planned[0]
        keys = [player.key for player in contest.players[1:] if player.key]
        run = None if table.run is None else records.run(self._parts.store, table.run)
        if game is None or run is None or not keys:
            return
        players = (OWN_SEAT, *table.players)
        sitting.on_progress = seat_notifier(
            sitting.run,
            game,
            players,
            self._parts.service.connected_bots,
            number=run.id,
            match=f"{sitting.names[0]}.{TAG}",
            hands=sitting.hands,
            versions=[seat.version for seat in run.seats],
            key=keys[0],
        )
        self._seated[table.id] = game.users_bots(players)
        self._parts.service.table_seats.take(self._seated[table.id])

    def leave(self, table: TableRow) -> None:
        """Nothing is played at a table any more, or for a while."""
        self._parts.service.table_seats.leave(self._seated.pop(table.id, frozenset()))
