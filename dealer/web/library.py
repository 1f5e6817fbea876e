"""The runs whose pages are shown: of this machine, by the paths that a command was given.

A visitor names a run by its key, which is looked up here. What takes long, counting the hands of a big run, is done by
one thread behind the pages; they show how far it has come.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from dealer.run.folder import CONFIG_NAME
from dealer.server.access import Access
from dealer.watching import LiveTables, WatchedRun
from dealer.web.visitor import Visitor
from logs.hand_source import HandSource, find

RUNS_OF_A_PAGE: Final = 100
_MOST_OPEN: Final = 32
_PATIENCE_S: Final = 0.03
"""How long a page waits for figures that are being counted."""


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run as one visitor is shown it.

    Attributes:
        run: the run.
        access: what the visitor may see of it.
        tables: the tables where it goes on; None where only its files tell of it.
        reason: why it failed or was cancelled, as the server keeps it; empty for all others.
    """

    run: WatchedRun
    access: Access
    tables: LiveTables | None = None
    reason: str = ""

    @property
    def sentence(self) -> str:
        """How the run ended; empty while it goes on."""
        return self.access.words(self.reason if self.run.result is None else self.run.result.sentence)

    @property
    def sees_cards(self) -> bool:
        """Whether no card of it is kept back."""
        return self.access.sees_cards


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run in a list.

    Attributes:
        key: of the run. words: what it was, in a sentence.
    """

    key: str
    words: str


class Library(Protocol):
    """Where pages find runs."""

    def runs(self, visitor: Visitor, after: str = "", most: int = RUNS_OF_A_PAGE) -> Sequence[RunEntry]:
        """The runs to choose from, so many of them: from the first on, or from the one after a key."""

    def open(self, key: str, visitor: Visitor) -> ShownRun | None:
        """A run by its key, with new hands taken in; None where there is none, or none that can be read."""


class Counting:
    """Counts the hands of runs, one run after the other, in a thread of its own."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "counting")
        self._pending: dict[int, Future[None]] = {}
        self._is_closed = False

    def ask(self, run: WatchedRun) -> None:
        """Have a run counted; wait for a moment, which is enough for small ones."""
        with run.lock:
            if not run.waiting():
                return
            pending = self._pending.get(id(run))
            if pending is None or pending.done():
                pending = self._pending[id(run)] = self._thread.submit(self._count, run)
        wait_for([pending], _PATIENCE_S)

    def _count(self, run: WatchedRun) -> None:
        has_more = True
        while has_more and not self._is_closed:
            with run.lock:
                has_more = run.count()
            # Others have their turn with the run.
            time.sleep(0.001)

    def close(self) -> None:
        """End; what was counted stays."""
        self._is_closed = True
        self._thread.shutdown(cancel_futures=True)


class LocalLibrary:
    """Runs of this machine: everything may be seen."""

    def __init__(
        self, paths: Sequence[Path], *, find: Callable[..., HandSource] = find, tables: LiveTables | None = None
    ) -> None:
        """Find the runs.

        Args:
            paths: folders of runs, logs, or folders that hold runs.
            find: makes sources of hands of the paths.
            tables: where the run at the first path goes on.
        """
        self._paths = list(paths)
        self._find = find
        self._tables = tables
        self._open: OrderedDict[str, WatchedRun] = OrderedDict()
        self._lock = threading.Lock()

    def _found(self) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for path in self._paths:
            inner = [] if (path / CONFIG_NAME).is_file() else sorted(path.glob(f"*/{CONFIG_NAME}"), reverse=True)
            for one in [inside.parent for inside in inner] or [path]:
                key = base = one.absolute().name or "run"
                number = 1
                while key in found:
                    number += 1
                    key = f"{base}-{number}"
                found[key] = one
        return found

    def keys(self) -> list[str]:
        """The keys of all runs."""
        return list(self._found())

    def runs(self, visitor: Visitor, after: str = "", most: int = RUNS_OF_A_PAGE) -> list[RunEntry]:
        """The runs to choose from, so many of them: from the first on, or from the one after a key."""
        found = self._found()
        keys = list(found)
        if after:
            keys = keys[keys.index(after) + 1 :] if after in found else []
        return [RunEntry(key, str(found[key])) for key in keys[:most]]

    def open(self, key: str, visitor: Visitor) -> ShownRun | None:
        """A run by its key.

        Raises:
            LogsError: it cannot be read.
            OSError: it cannot be read.
        """
        with self._lock:
            run = self._open.get(key)
            if run is None:
                path = self._found().get(key)
                if path is None:
                    return None
                run = self._open[key] = WatchedRun(path, key, self._find)
                while len(self._open) > _MOST_OPEN:
                    self._open.popitem(last=False)
            self._open.move_to_end(key)
        with run.lock:
            run.look()
        return ShownRun(run, Access(), self._tables)
