"""All-in adjusted winnings next to those of record: counted from the logs when a run has ended.

Only games in which players can be all-in before the last card have them: no-limit hold'em. One run is counted at a
time, by a process that computes for the server. What an earlier start left uncounted is counted by the next.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from bots.errors import WorkersError
from dealer.errors import StoreError
from dealer.server.computing import Computing
from dealer.server.db.store import Store
from dealer.server.server_settings import ServerGame
from engine.holdem import has_usual_blinds
from logs.errors import LogsError

_log = logging.getLogger(__name__)
_MOST_OF_EARLIER_STARTS = 1000


class Adjusting:
    """Counts runs that have ended."""

    def __init__(self, games: Sequence[ServerGame], folder: Path, store: Store, computing: Computing) -> None:
        self._games = {game.name for game in games if has_usual_blinds(game.game) and not game.game.is_limit}
        self._folder = folder
        self._store = store
        self._computing = computing
        self._waiting: asyncio.Queue[tuple[int, str]] = asyncio.Queue()
        for row in store.read(
            "SELECT id, folder, game FROM runs WHERE duplicates > 0 AND NOT EXISTS "
            "(SELECT 1 FROM seats WHERE run = runs.id AND adjusted_mbb IS NOT NULL) ORDER BY id DESC LIMIT ?",
            _MOST_OF_EARLIER_STARTS,
        ):
            self.note(row["game"], row["id"], row["folder"])

    def note(self, game: str, run: int, folder: str) -> None:
        """A run has ended."""
        if game in self._games:
            self._waiting.put_nowait((run, folder))

    async def run(self) -> None:
        """Count what waits, until cancelled."""
        while True:
            run, folder = await self._waiting.get()
            found = await self._counted(sorted((self._folder / folder).glob("match*.log")))
            try:
                await self._store.write(lambda db, run=run, found=found: _write(db, run, found))  # type: ignore[misc]
            except StoreError as error:
                _log.error("run %d: its all-in adjusted winnings cannot be kept: %s", run, error)

    async def _counted(self, logs: Sequence[Path]) -> dict[str, tuple[float, float | None]]:
        """Count the hands of logs; nothing if that fails."""
        try:
            return await self._computing.run(_adjusted, [str(path) for path in logs])
        except WorkersError:
            return {}
        except (LogsError, OSError) as error:
            _log.error("all-in hands cannot be counted: %s", error)
            return {}


def _write(db: sqlite3.Connection, run: int, found: Mapping[str, tuple[float, float | None]]) -> None:
    db.executemany(
        "UPDATE seats SET adjusted_mbb = ?, adjusted_half_width_95 = ? WHERE run = ? AND name = ?",
        [(mbb, half_width, run, name) for name, (mbb, half_width) in found.items()],
    )


def _adjusted(paths: Sequence[str]) -> dict[str, tuple[float, float | None]]:
    """By player: mbb/g, and half the 95 % interval."""
    from logs.hand_source import find
    from logs.tracker.many_files import count_hands
    from logs.tracker.statistics import statistics_of

    bots = statistics_of(count_hands(find(paths), big_pots=0)).bots
    found = {bot.name: bot.adjusted.mbb_per_game for bot in bots if bot.adjusted is not None}
    return {name: (won.mean, won.half_width) for name, won in found.items()}
