"""Room on the disk: while there is too little, nothing is begun, and nothing that fails for want of it is over.

A disk that is full would fail one run of the queue after the other within seconds. So no run is begun and no request
taken while less than a bound is free, and a run that has failed meanwhile is gone on with when there is room again.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["Disk", "free_bytes", "make_private"]

_log = logging.getLogger(__name__)

_LOOK_AGAIN_S = 5.0
_LOOKS_LAST_S = 1.0


def make_private(folder: Path) -> None:
    """Make a folder that only its owner may enter, or have it be one: in it are seeds of matches that are played.

    Raises:
        OSError: it cannot be made, or stays open to others.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
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
    """The disk on which everything of a server is."""

    def __init__(self, folder: Path, least_bytes: int, on_room: Callable[[], None]) -> None:
        """Nothing is looked at.

        Args:
            folder: on the disk.
            least_bytes: that have to be free; 0 for any number.
            on_room: called from time to time, while there is no room, to look again.
        """
        self._folder = folder
        self._least_bytes = least_bytes
        self._on_room = on_room
        self._has_room = True
        self._looked_s = -_LOOKS_LAST_S
        self._again: asyncio.TimerHandle | None = None

    @property
    def has_room(self) -> bool:
        """Whether enough is free; where it is not, somebody is told to look again soon."""
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
            _log.error("nobody knows how much room there is at %s: %s", self._folder, error.strerror)
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
        """Tell nobody any more."""
        if self._again is not None:
            self._again.cancel()
