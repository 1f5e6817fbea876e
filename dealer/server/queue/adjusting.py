"""All-in adjusted winnings next to those of record: counted from the logs when a run has ended, in a process of its
own.

Only games in which players can be all-in before the last card have them: no-limit hold'em. One run is counted at a
time, at the lowest priority. What an earlier start left uncounted is counted by the next.

    python -m dealer.server.queue.adjusting LOG...        prints JSON by player: mbb/g, and half the 95 % interval
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from dealer.errors import StoreError
from dealer.server.db.store import Store
from dealer.server.server_settings import ServerSettings
from engine.holdem import has_usual_blinds

_log = logging.getLogger(__name__)
_MOST_OF_EARLIER_STARTS = 1000


class Adjusting:
    """Counts runs that have ended."""

    def __init__(self, settings: ServerSettings, folder: Path, store: Store, environment: Mapping[str, str]) -> None:
        self._games = {game.name for game in settings.games if has_usual_blinds(game.game) and not game.game.is_limit}
        self._folder = folder
        self._store = store
        self._environment = {**os.environ, **environment}
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
        """What a process counts in logs; nothing if it fails."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dealer.server.queue.adjusting", *map(str, logs)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
        )
        communicating = asyncio.ensure_future(asyncio.to_thread(process.communicate))
        try:
            # Also one that is cancelled before its thread has begun is waited for, and its pipes are closed.
            out, err = await asyncio.shield(communicating)
        except asyncio.CancelledError:
            process.kill()
            await communicating
            raise
        if process.returncode:
            _log.error("all-in hands cannot be counted: %s", err.decode("utf-8", "replace").strip()[-500:])
            return {}
        return {name: (mbb, half_width) for name, (mbb, half_width) in json.loads(out).items()}


def _write(db: sqlite3.Connection, run: int, found: Mapping[str, tuple[float, float | None]]) -> None:
    db.executemany(
        "UPDATE seats SET adjusted_mbb = ?, adjusted_half_width_95 = ? WHERE run = ? AND name = ?",
        [(mbb, half_width, run, name) for name, (mbb, half_width) in found.items()],
    )


def _main(paths: Sequence[str]) -> None:
    from logs.hand_source import find
    from logs.tracker.many_files import count_hands
    from logs.tracker.statistics import statistics_of

    if hasattr(os, "nice"):
        os.nice(19)
    bots = statistics_of(count_hands(find(paths), big_pots=0)).bots
    found = {bot.name: bot.adjusted.mbb_per_game for bot in bots if bot.adjusted is not None}
    print(json.dumps({name: (won.mean, won.half_width) for name, won in found.items()}))


if __name__ == "__main__":
    _main(sys.argv[1:])
