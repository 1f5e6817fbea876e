"""The folder of a run: new or empty when a run starts, locked while it lasts, its files either whole or absent.

run.toml       the configuration: `arena play --config run.toml` repeats the run
result.json    the result, once the run has ended
...            the files of the matches
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from dealer.errors import FolderBusyError, FolderTakenError, LaunchError
from logs.line_file import sync_to_disk

__all__ = ["RunLock", "empty_folder", "is_busy", "new_folder", "write_whole"]

CONFIG_NAME = "run.toml"
RESULT_NAME = "result.json"
_LOCK_NAME = "run.lock"
IS_WINDOWS = os.name == "nt"
PAUSES_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def new_folder(asked: Path | None, names: Sequence[str]) -> Path:
    """Make the folder for a run's files: the one asked for, or a new one in ``runs``.

    Raises:
        FolderTakenError: it is not empty.
        LaunchError: it cannot be made.
    """
    if asked is None:
        label = re.sub(r"[^A-Za-z0-9.+-]+", "_", "-vs-".join(names))[:60]
        stamp = time.strftime("%Y%m%d-%H%M%S")
        asked = Path("runs") / f"{stamp}-{label}"
        for attempt in range(2, 1000):
            if not asked.exists():
                break
            asked = Path("runs") / f"{stamp}-{label}-{attempt}"
    try:
        if asked.is_dir() and any(asked.iterdir()):
            raise FolderTakenError(asked, (asked / CONFIG_NAME).exists())
        asked.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LaunchError(f"make the folder {asked}", error.strerror) from None
    return asked


def empty_folder(folder: Path, *, is_removed: bool) -> None:
    """Take back a new folder in which nothing was played, as far as the system lets us.

    Args:
        folder: a folder that was empty or made by `new_folder`: everything in it is the run's.
        is_removed: whether the folder itself goes, too.
    """
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if is_removed:
            folder.rmdir()


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8, so that it is there whole or not at all, even if the machine stops in between.

    Raises:
        OSError: it cannot be written; an earlier file is left as it was.
    """
    new = path.with_name(path.name + ".new")
    try:
        with new.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            sync_to_disk(file.fileno())
        _replace(new, path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    if not IS_WINDOWS:
        # The new name is on the disk when the folder is; some file systems know no such thing.
        with contextlib.suppress(OSError):
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                sync_to_disk(folder)
            finally:
                os.close(folder)


def _replace(new: Path, path: Path) -> None:
    """Put a file in the place of another; Windows refuses that while somebody, such as a virus scanner, reads it."""
    for pause_s in PAUSES_S if IS_WINDOWS else ():
        with contextlib.suppress(PermissionError):
            new.replace(path)
            return
        time.sleep(pause_s)
    new.replace(path)


class RunLock:
    """Keeps a second process out of a run's folder until it is closed, or until the process that has it ends."""

    def __init__(self, folder: Path) -> None:
        """Take the lock.

        Raises:
            FolderBusyError: another process has it.
            LaunchError: the folder cannot be written to.
        """
        self._path = folder / _LOCK_NAME
        try:
            self._file: IO[bytes] = self._path.open("ab")
        except OSError as error:
            raise LaunchError(f"write to {folder}", error.strerror) from None
        try:
            _lock(self._file)
        except OSError:
            self._file.close()
            raise FolderBusyError(folder) from None

    def close(self) -> None:
        """Release the lock."""
        self._file.close()
        with contextlib.suppress(OSError):
            # A process that has just taken it keeps it; one that comes later makes a new file.
            self._path.unlink()


def is_busy(folder: Path) -> bool:
    """Whether another process is running in a folder; False where that cannot be told."""
    try:
        RunLock(folder).close()
    except FolderBusyError:
        return True
    except LaunchError:
        pass
    return False


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
