"""Tables of a server: their records, their settings, and users' bots at them."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dealer.errors import DealerError, WebError
from dealer.person.table_session import TableSession
from dealer.person.table_settings import table_config
from dealer.run.folder import CONFIG_NAME
from dealer.run.results import read_result
from dealer.run.run import Run, reopen
from dealer.run.run_settings import RunSettings
from dealer.server.db import records
from dealer.server.db.records import RunState
from dealer.server.db.run_changes import (
    GUEST_NAME,
    RunReport,
    TableRow,
    add_table,
    close_table,
    open_tables,
    record_visit,
)
from dealer.server.db.users import User
from dealer.server.queue.playing import SeatCaller, make_report
from dealer.server.server import ServerParts
from dealer.server.server_bots import process_environment, seated_bots, update_config
from dealer.server.server_settings import ServerGame, player_name
from dealer.server.table_manager import TableStore
from engine import Seed
from protocol.benchmark import OWN_SEAT
from protocol.joining import TABLE_TAG

_log = logging.getLogger(__name__)


class ServerTableStore(TableStore):
    """Tables of a server, in its database and cached in memory."""

    def __init__(self, parts: ServerParts) -> None:
        super().__init__(open_tables(parts.store, parts.folder))
        self._parts = parts
        self._seated: dict[str, frozenset[str]] = {}

    async def add(self, owner: str, game: str, players: tuple[str, ...], user: int | None, seed: Seed) -> TableRow:
        """Add a table, without creating its folder."""
        versions = [None, *(self._parts.service.presence.version(game, name) for name in players)]
        run = await self._parts.store.write(
            lambda db: add_table(db, owner, user, game, players=players, versions=versions, seed=seed)
        )
        folder = self._parts.folder / run.folder
        table = TableRow(str(run.id), owner, game, players, folder, time.time(), is_guests=user is None)
        self._tables[table.id] = table
        return table

    def reopened(self, table: TableRow) -> Run[Any]:
        """Open the run of a table to continue it within the present limits."""
        game = self._parts.settings.game(table.game)
        if game is not None:
            players, path = (OWN_SEAT, *table.players), table.folder / CONFIG_NAME
            update_config(self._parts.settings, game, players, path, process_environment(self._parts.folder))
        return super().reopened(table)

    async def record_visit(self, table: TableRow) -> None:
        """Record that a visitor opened the table."""
        if table.id in self._tables:
            await self._parts.store.write(lambda db: record_visit(db, int(table.id)))
            self._tables[table.id] = replace(table, seen_s=time.time())

    async def close(self, table: TableRow, reason: str) -> None:
        """Close the table and store its result."""
        if self._tables.pop(table.id, None) is not None:
            report = await self._parts.service.computing.run(_report, table.folder, reason)
            await self._parts.store.write(lambda db: close_table(db, int(table.id), report))

    def take_seats(self, table: TableRow, table_session: TableSession) -> None:
        """Call users' bots to a table that becomes active, and count them as busy."""
        game = self._parts.settings.game(table.game)
        is_called = any(player.is_linked for player in table_session.run.planned[0].players[1:])
        run = records.run(self._parts.store, int(table.id))
        if game is None or run is None or not is_called:
            return
        players = (OWN_SEAT, *table.players)
        table_session.caller = SeatCaller(
            table_session.run,
            run,
            players,
            game,
            self._parts.service.presence,
            hands=table_session.hands,
            match=f"{table_session.names[0]}.{TABLE_TAG}",
        )
        self._seated[table.id] = game.user_bots(players)
        self._parts.service.seat_bots(self._seated[table.id])

    def release_seats(self, table: TableRow) -> None:
        """Release users' bots from a table that is suspended or closed."""
        self._parts.service.presence.release_seats(self._seated.pop(table.id, frozenset()))


def _report(folder: Path, reason: str) -> RunReport:
    """Report of the run of a closed table, from its folder."""
    try:
        run: Run[Any] = reopen(folder)
        # The run is not resumed, so the scores in its logs are final.
        run.finished = read_result(folder)
        (contest,) = run.contests()
        return make_report(contest.plan, contest.scores, run.finished, reason, "a person sat at the table")
    except (DealerError, OSError) as error:
        # Only logged: it contains a path, and the reason of a run is public.
        _log.info("the table in %s has no result: %s", folder, error)
        return RunReport(RunState.CANCELLED, f"{reason}.")


def connected_bots_in(parts: ServerParts, game: ServerGame) -> tuple[tuple[str, str], ...]:
    """Names of the connected users' bots that play a game, with their owners' names."""
    connected = [bot for bot in parts.service.presence.bots if game.name in bot.versions]
    return tuple(sorted((bot.name, bot.owner.name) for bot in connected))


def table_settings(
    parts: ServerParts,
    game: ServerGame,
    bots: Sequence[str],
    user: User | None,
    seed: Seed,
    *,
    deals: int | None = None,
) -> RunSettings:
    """Settings of the run of a table.

    Args:
        bots: by seat, names of the server's bots or of connected users' bots.
        user: the player; None for a guest.
        deals: to play; None for no end before the person leaves.

    Raises:
        WebError: a user's bot is at its owner's limit of matches.
    """
    for bot in bots:
        if bot not in game.bots and not parts.service.can_join_table(bot):
            raise WebError(409, f"The bot {bot} is playing as many matches as its owner allows; try again later.")
    opponents = seated_bots(parts.settings, game, bots, process_environment(parts.folder))
    name = player_name(GUEST_NAME if user is None else user.name)
    directory = parts.settings.directory
    return table_config(game.path, opponents, name=name, deals=deals, seed=seed, directory=directory, export=[])
