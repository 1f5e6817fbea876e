"""Compute all-in adjusted winnings from the logs of finished runs.

Only no-limit hold'em has them, because there players can be all-in before the last card. Worker processes compute one
run at a time. The next start computes what an earlier one left.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from bots.errors import WorkersError
from dealer.errors import StoreError
from dealer.server.computing import Computing
from dealer.server.db.store import Store
from dealer.server.server_settings import ServerGame
from engine.holdem import has_usual_blinds
from logs.errors import LogsError

_log = logging.getLogger(__name__)
_MAX_EARLIER_RUNS = 1000
"""Limit on the runs of earlier starts that are computed."""


class Adjusting:
    """Queue of finished runs whose all-in adjusted winnings are to be computed."""

    def __init__(self, games: Sequence[ServerGame], folder: Path, store: Store, computing: Computing) -> None:
        self._games = {game.name for game in games if has_usual_blinds(game.game) and not game.game.is_limit}
        self._folder = folder
        self._store = store
        self._computing = computing
        self._waiting: asyncio.Queue[tuple[int, str]] = asyncio.Queue()
        for row in store.read(
            "SELECT id, folder, game FROM runs WHERE duplicates > 0 AND NOT EXISTS "
            "(SELECT 1 FROM seats WHERE run = runs.id AND adjusted_mbb IS NOT NULL) ORDER BY id DESC LIMIT ?",
            _MAX_EARLIER_RUNS,
        ):
            self.note(row["game"], row["id"], row["folder"])

    def note(self, game: str, run: int, folder: str) -> None:
        """Add a finished run, if its game has all-in adjusted winnings."""
        if game in self._games:
            self._waiting.put_nowait((run, folder))

    async def run(self) -> None:
        """Compute the runs in the queue until cancelled."""
        while True:
            run, folder = await self._waiting.get()
            logs = sorted((self._folder / folder).glob("match*.log"))
            winnings = await self._compute(logs)
            try:
                await self._store.write(partial(_write, run=run, winnings=winnings))
            except StoreError as error:
                _log.error("the all-in adjusted winnings of run %d cannot be stored: %s", run, error)

    async def _compute(self, logs: Sequence[Path]) -> dict[str, tuple[float, float | None]]:
        """Adjusted mbb/g and half width by player; empty after an error."""
        try:
            return await self._computing.run(_adjusted, [str(path) for path in logs])
        except WorkersError:
            return {}
        except (LogsError, OSError) as error:
            _log.error("all-in adjusted winnings cannot be computed: %s", error)
            return {}


def _write(db: sqlite3.Connection, run: int, winnings: Mapping[str, tuple[float, float | None]]) -> None:
    db.executemany(
        "UPDATE seats SET adjusted_mbb = ?, adjusted_half_width_95 = ? WHERE run = ? AND name = ?",
        [(mbb, half_width, run, name) for name, (mbb, half_width) in winnings.items()],
    )


def _adjusted(paths: Sequence[str]) -> dict[str, tuple[float, float | None]]:
    from logs.hand_source import find
    from logs.tracker.many_files import count_hands
    from logs.tracker.statistics import statistics_of

    bots = statistics_of(count_hands(find(paths), big_pots=0)).bots
    won = {bot.name: bot.adjusted.mbb_per_game for bot in bots if bot.adjusted is not None}
    return {name: (estimate.mean, estimate.half_width) for name, estimate in won.items()}
