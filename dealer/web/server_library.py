"""The runs of a server, for its pages: found in the database, read from their folders, watched while they go on."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from dealer.errors import WebError
from dealer.server.access import access_to
from dealer.server.db import records
from dealer.server.db.records import Run, RunState
from dealer.server.resources import removed_on
from dealer.server.server import ServerParts
from dealer.watching import LiveTables, WatchedRun
from dealer.web.library import RUNS_OF_A_PAGE, RunEntry, ShownRun
from dealer.web.visitor import Visitor
from engine.text import shown

_MOST_OPEN: Final = 32
_MOST_DIGITS: Final = 12
_ENDED: Final = {RunState.FAILED: "has failed", RunState.CANCELLED: "was cancelled"}


def run_words(run: Run) -> str:
    """A run in a list: who played what."""
    return f"{run.game}: {' - '.join(shown(seat.name) for seat in run.seats)}"


def _number(key: str) -> int | None:
    """The number of a run by its key; None if it can be none."""
    return int(key) if key.isascii() and key.isdigit() and len(key) <= _MOST_DIGITS else None


class ServerLibrary:
    """The runs of a server."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._open: OrderedDict[str, WatchedRun] = OrderedDict()
        self._tables: dict[int, tuple[LiveTables, Callable[[], None]]] = {}
        self._lock = threading.Lock()

    def runs(self, visitor: Visitor, after: str = "", most: int = RUNS_OF_A_PAGE) -> list[RunEntry]:
        """The newest runs, or those older than the one of a key."""
        before = _number(after)
        if after and before is None:
            return []
        return [
            RunEntry(str(run.id), run_words(run)) for run in records.runs(self._parts.store, before=before, most=most)
        ]

    def open(self, key: str, visitor: Visitor) -> ShownRun | None:
        """A run by its number.

        Raises:
            LogsError: it cannot be read.
            OSError: it cannot be read.
            WebError: its files were removed, or there never were any; the sentence gives the reason.
        """
        number = _number(key)
        row = None if number is None else records.run(self._parts.store, number)
        job = None if row is None else records.job(self._parts.store, row.job)
        if row is None or job is None:
            return None
        access = access_to(self._parts.store, row, job, visitor.person)
        path = self._parts.folder / row.folder
        reason = f"The run {_ENDED[row.state]}: {row.reason}" if row.state in _ENDED else ""
        if date := removed_on(path):
            raise WebError(410, f"The logs of this run were removed on {date}; its results are kept.")
        if not path.is_dir():
            raise WebError(404, access.words(reason) or "The files of this run have been removed.")
        with self._lock:
            tables = self._tables_of(row)
            run = self._open.get(key)
            if run is None:
                run = self._open[key] = WatchedRun(path, key)
                while len(self._open) > _MOST_OPEN:
                    self._open.popitem(last=False)
            self._open.move_to_end(key)
        with run.lock:
            run.look()
        return ShownRun(run, access, tables, reason)

    def _tables_of(self, run: Run) -> LiveTables | None:
        """Where a run goes on; who asks for it first has it watched until its end."""
        found = self._tables.get(run.id)
        if run.state is not RunState.RUNNING:
            if found is not None:
                del self._tables[run.id]
                found[1]()
            return None
        if found is None:
            self._forget_ended()
            tables = LiveTables()
            found = self._tables[run.id] = (tables, self._parts.service.watchers.add(run.id, tables))
        return found[0]

    def _forget_ended(self) -> None:
        """Let go of runs that have ended while nobody looked."""
        watches = self._parts.service.watchers
        for number in [number for number in self._tables if not watches.is_open(number)]:
            self._tables.pop(number)[1]()
