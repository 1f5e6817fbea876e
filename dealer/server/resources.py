"""Resources of a server's machine: permissions of its folder, disk space, old logs, open files.

On a full disk, one run of the queue after the other would fail within seconds. So no run starts and no request is
accepted while less than a limit is free, and a run that failed on a full disk is resumed when there is space again.
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
_REMOVAL_NAME = "logs-removed"
"""File in the folder of a run whose logs were removed, with the date."""
_REMOVAL_INTERVAL_S = 3600.0
_RECHECK_S = 5.0
_CHECK_INTERVAL_S = 1.0


def make_private(folder: Path) -> None:
    """Remove the permissions of other users for a folder, which contains seeds of running matches.

    Raises:
        OSError: others can still read it.
    """
    if os.name == "nt" or not folder.stat().st_mode & 0o077:
        return
    folder.chmod(0o700)
    if folder.stat().st_mode & 0o077:
        raise OSError(errno.EPERM, "its file system keeps no permissions")


def free_bytes(folder: Path) -> int:
    """Free space of the disk of a folder.

    Raises:
        OSError: it cannot be determined.
    """
    return shutil.disk_usage(folder).free


class Disk:
    """The disk of a server's folder."""

    def __init__(self, folder: Path, min_bytes: int, on_recheck: Callable[[], None]) -> None:
        """Watch the free space of a disk.

        Args:
            min_bytes: free space that runs need; 0 for no check.
            on_recheck: called every few seconds while there is less.
        """
        self._folder = folder
        self._min_bytes = min_bytes
        self._on_recheck = on_recheck
        self._has_space = True
        self._checked_s = -_CHECK_INTERVAL_S
        self._timer: asyncio.TimerHandle | None = None

    @property
    def has_space(self) -> bool:
        """Check the free space; if it is not enough, `on_recheck` will be called."""
        now_s = time.monotonic()
        if self._min_bytes and now_s - self._checked_s >= _CHECK_INTERVAL_S:
            self._checked_s = now_s
            self._check()
        if not self._has_space and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_RECHECK_S, self._recheck)
        return self._has_space

    def _check(self) -> None:
        try:
            free = free_bytes(self._folder)
        except OSError as error:
            _log.error("the free space at %s cannot be determined: %s", self._folder, error.strerror)
            return
        had_space = self._has_space
        self._has_space = free >= self._min_bytes
        if had_space and not self._has_space:
            _log.error(
                "only %d MB are free at %s, and least_free_mb is %d, so no run starts; remove or move folders of "
                "finished runs",
                free // 10**6,
                self._folder,
                self._min_bytes // 10**6,
            )
        elif self._has_space and not had_space:
            _log.warning("enough space is free at %s again, and waiting runs start", self._folder)

    def _recheck(self) -> None:
        self._timer = None
        self._on_recheck()

    def close(self) -> None:
        """Cancel the pending call of `on_recheck`."""
        if self._timer is not None:
            self._timer.cancel()


def removal_sentence(folder: Path) -> str | None:
    """Sentence about the removal of a run's logs; None if they were not removed."""
    try:
        date = (folder / _REMOVAL_NAME).read_text("ascii").strip()
    except (OSError, ValueError):
        return None
    return f"The logs of this run were removed on {date}; its results are kept."


async def remove_old_logs(folder: Path, store: Store, keep_days: float) -> None:
    """Remove the logs of old runs, now and every hour, until cancelled; results are kept.

    Args:
        keep_days: age in days; 0 to keep all logs.
    """
    seen_s = 0.0
    while keep_days:
        before_s = time.time() - 86_400.0 * keep_days
        rows = store.read(
            "SELECT folder FROM runs WHERE state != 'running' AND ended_s >= ? AND ended_s < ?", seen_s, before_s
        )
        seen_s = before_s
        sizes = []
        for row in rows:
            size = await asyncio.to_thread(_remove_logs, folder / row["folder"])
            if size is not None:
                sizes.append(size)
        if sizes:
            size_mb = sum(sizes) / 1e6
            _log.warning("the logs of %d runs were removed, %.1f MB (keep_days = %g)", len(sizes), size_mb, keep_days)
        await asyncio.sleep(_REMOVAL_INTERVAL_S)


def _remove_logs(run: Path) -> int | None:
    """Remove all but the result from the folder of a run; return the bytes freed, or None if it was done before."""
    if not run.is_dir() or removal_sentence(run) is not None:
        return None
    size = 0
    try:
        # First, so that nobody takes the remains of an interrupted removal for complete logs.
        write_whole(run / _REMOVAL_NAME, f"{datetime.now(UTC).date()}\n")
        for path in run.iterdir():
            if path.name in (_REMOVAL_NAME, RESULT_NAME):
                continue
            size += sum(file.lstat().st_size for file in (path, *path.rglob("*")) if file.is_file())
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    except OSError as error:
        _log.error("the logs in %s cannot be removed: %s", run, error)
    return size


_MAX_OPEN_FILES = 65_536
_OTHER_FILES = 200
"""Files besides the connections of clients: logs, seats of matches, pipes of bots."""
_LOG_INTERVAL_S = 60.0
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def raise_limit() -> int | None:
    """Raise the limit of open files of this process as far as allowed; return it, or None for no limit."""
    try:
        import resource
    except ImportError:
        # Windows has no such limit on sockets.
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return None
    wanted = _MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_OPEN_FILES)
    if soft >= wanted:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return soft
    return wanted


FILE_LIMIT_REMEDY = "raise the limit (ulimit -n, LimitNOFILE of a unit), or lower max_connections"
"""Remedy for `file_limit_problem`."""


def file_limit_problem(settings: ServerSettings, limit: int | None) -> str:
    """Sentence if a limit of open files is too low for the settings; empty if it is not."""
    needed = settings.max_connections + settings.web.max_connections + _OTHER_FILES
    if limit is None or limit >= needed:
        return ""
    return f"{limit:,} files and connections can be open at a time, and the configuration needs {needed:,}"


def new_exception_handler() -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Make an exception handler for an event loop that reports exhausted connections once a minute."""
    next_s = 0.0

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal next_s
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _EXHAUSTED:
            loop.default_exception_handler(context)
        elif time.monotonic() >= next_s:
            next_s = time.monotonic() + _LOG_INTERVAL_S
            _log.error("no connection can be accepted: %s; raise the limit of open files (ulimit -n)", error.strerror)

    return handle
