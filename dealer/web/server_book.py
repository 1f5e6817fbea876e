"""What a server's store knows of the tables at which people sit."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from dealer.errors import DealerError
from dealer.library import Run, reopen
from dealer.results.reading import read_result
from dealer.seat.sitting import Sitting
from dealer.server.db.records import RunState
from dealer.server.db.runs import RunReport
from dealer.server.db.tables import TableRow, add_table, close_table, open_tables, see_table
from dealer.server.queue.playing import report_of
from dealer.server.server import ServerParts
from engine import Seed

__all__ = ["ServerBook"]

_log = logging.getLogger(__name__)


class ServerBook:
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
