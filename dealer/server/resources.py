"""The server's folder: closed to others, with room on its disk, and without logs that are too old.

A disk that is full would fail one run of the queue after the other within seconds. So no run is begun and no request
taken while less than a bound is free, and a run that has failed meanwhile is resumed when there is room again.
Logs of a run that ended `keep_days` ago are removed; its result stays, in its folder and in the database.

How many files and connections may be open at a time: all that the system admits, reported where that is too few.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dealer.run.folder import RESULT_NAME
from dealer.server.db.store import Store
from dealer.server.server_settings import ServerSettings
from logs.whole_file import write_whole

_log = logging.getLogger(__name__)
_REMOVED_NAME = "logs-removed"
"""The file in the folder of a run whose logs were removed; it holds the date."""
_REMOVE_EVERY_S = 3600.0
_LOOK_AGAIN_S = 5.0
_LOOKS_LAST_S = 1.0


def make_private(folder: Path) -> None:
    """Close a folder to all but its owner: in it are seeds of matches that are played.

    Raises:
        OSError: it stays open to others.
    """
    if os.name == "nt" or not folder.stat().st_mode & 0o077:
        return
    folder.chmod(0o700)
    if folder.stat().st_mode & 0o077:
        raise OSError(errno.EPERM, "its file system keeps no permissions")


def free_bytes(folder: Path) -> int:
    """How much can still be written where a folder is.

    Raises:
        OSError: the system does not say.
    """
    return shutil.disk_usage(folder).free


class Disk:
    """The disk on which everything of a server is; `on_room` is called from time to time while there is no room."""

    def __init__(self, folder: Path, least_bytes: int, on_room: Callable[[], None]) -> None:
        self._folder = folder
        self._least_bytes = least_bytes
        self._on_room = on_room
        self._has_room = True
        self._looked_s = -_LOOKS_LAST_S
        self._again: asyncio.TimerHandle | None = None

    @property
    def has_space(self) -> bool:
        """Whether enough is free; where it is not, a look is due again soon."""
        now_s = time.monotonic()
        if self._least_bytes and now_s - self._looked_s >= _LOOKS_LAST_S:
            self._looked_s = now_s
            self._look()
        if not self._has_room and self._again is None:
            self._again = asyncio.get_running_loop().call_later(_LOOK_AGAIN_S, self._look_again)
        return self._has_room

    def _look(self) -> None:
        try:
            free = free_bytes(self._folder)
        except OSError as error:
            _log.error("the free space at %s cannot be determined: %s", self._folder, error.strerror)
            return
        had_room, self._has_room = self._has_room, free >= self._least_bytes
        if had_room and not self._has_room:
            _log.error(
                "%d MB are free at %s, and least_free_mb is %d: nothing is begun until there is room; remove or move "
                "folders of runs that have ended",
                free // 10**6,
                self._folder,
                self._least_bytes // 10**6,
            )
        elif self._has_room and not had_room:
            _log.warning("there is room at %s again: what waits is begun", self._folder)

    def _look_again(self) -> None:
        self._again = None
        self._on_room()

    def close(self) -> None:
        """Look no more."""
        if self._again is not None:
            self._again.cancel()


def removal_sentence(folder: Path) -> str | None:
    """When the logs of a run were removed, in a sentence; None if they were not."""
    try:
        date = (folder / _REMOVED_NAME).read_text("ascii").strip()
    except (OSError, ValueError):
        return None
    return f"The logs of this run were removed on {date}; its results are kept."


async def remove_old_logs(folder: Path, store: Store, keep_days: float) -> None:
    """Remove the logs of runs that ended some days ago, now and every hour, until cancelled.

    Args:
        keep_days: how long they stay; 0 for ever.
    """
    seen_s = 0.0
    while keep_days:
        before_s = time.time() - 86_400.0 * keep_days
        rows = store.read(
            "SELECT folder FROM runs WHERE state != 'running' AND ended_s >= ? AND ended_s < ?", seen_s, before_s
        )
        seen_s = before_s
        freed = [await asyncio.to_thread(_remove, folder / row["folder"]) for row in rows]
        if count := sum(size is not None for size in freed):
            size_mb = sum(size or 0 for size in freed) / 1e6
            _log.warning("keep_days = %g: the logs of %d runs were removed, %.1f MB", keep_days, count, size_mb)
        await asyncio.sleep(_REMOVE_EVERY_S)


def _remove(run: Path) -> int | None:
    """Remove everything but the result from the folder of a run; how many bytes, None if nothing was to be done."""
    if not run.is_dir() or removal_sentence(run) is not None:
        return None
    size = 0
    try:
        # First: what an interruption leaves is not taken for logs.
        write_whole(run / _REMOVED_NAME, f"{datetime.now(UTC).date()}\n")
        for path in run.iterdir():
            if path.name in (_REMOVED_NAME, RESULT_NAME):
                continue
            size += sum(one.lstat().st_size for one in (path, *path.rglob("*")) if one.is_file())
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    except OSError as error:
        _log.error("the logs in %s cannot be removed: %s", run, error)
    return size


_MOST = 65_536
_OTHERS = 200
"""Logs, the seats of matches and pipes of bots, besides the connections of clients."""
_SAY_AGAIN_S = 60.0
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def raise_limit() -> int | None:
    """Raise the limit of this process as far as it may; returns how many there may be, None where there is no limit."""
    try:
        import resource
    except ImportError:
        # Windows, where sockets are no files and have no limit of this kind.
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return None if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return soft
    return wanted


FILE_LIMIT_REMEDY = "raise the limit (ulimit -n, LimitNOFILE of a unit), or lower max_connections"
"""The remedy of `file_limit_problem`."""


def file_limit_problem(settings: ServerSettings, limit: int | None) -> str:
    """A sentence where a limit is less than what the settings admit; empty where it is not."""
    needed = settings.max_connections + settings.web.max_connections + _OTHERS
    if limit is None or limit >= needed:
        return ""
    return f"{limit:,} files and connections can be open at a time, and the configuration admits {needed:,}"


def new_exception_handler() -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """An exception handler for a loop: running out of connections is one sentence a minute."""
    next_s = 0.0

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal next_s
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _EXHAUSTED:
            loop.default_exception_handler(context)
        elif time.monotonic() >= next_s:
            next_s = time.monotonic() + _SAY_AGAIN_S
            _log.error("new connections have to wait: %s; raise the limit of open files (ulimit -n)", error.strerror)

    return handle
