"""The folder of a run: a new one that never overwrites anything, a lock, and files that are whole or not there.

run.toml       what was asked for: `arena play --config run.toml` repeats it
result.json    what came out, once it ended
...            the files of the matches
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

__all__ = ["FolderError", "RunLock", "new_folder", "write_whole"]

CONFIG_NAME = "run.toml"
RESULT_NAME = "result.json"
_LOCK_NAME = "run.lock"


class FolderError(RuntimeError):
    """A folder cannot be used; the sentence says why, and what to do."""


def new_folder(asked: Path | None, names: Sequence[str]) -> Path:
    """The folder for a run's files: as asked, or a new one below ``runs``.

    Raises:
        FolderError: it holds something already, or cannot be made.
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
            hint = f" ('arena resume {asked}' goes on with the run in it)" if (asked / CONFIG_NAME).exists() else ""
            raise FolderError(
                f"{asked} is not empty{hint}; name another folder with --out, nothing is ever overwritten"
            )
        asked.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FolderError(f"cannot make the folder {asked}: {error.strerror}") from None
    return asked


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all, also when the machine stops in between.

    Raises:
        OSError: it cannot be written; a former file is as it was.
    """
    beside = path.with_name(path.name + ".new")
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


class RunLock:
    """Keeps a second process out of a run's folder; a process that dies gives it up by dying."""

    def __init__(self, folder: Path) -> None:
        """Take the lock.

        Raises:
            FolderError: another process has it, or the folder cannot be written.
        """
        self._path = folder / _LOCK_NAME
        try:
            self._file: IO[bytes] = self._path.open("ab")
        except OSError as error:
            raise FolderError(f"cannot write to {folder}: {error.strerror}") from None
        try:
            _lock(self._file)
        except OSError:
            self._file.close()
            raise FolderError(f"the run in {folder} is still going on in another process") from None

    def release(self) -> None:
        """Give the lock up."""
        self._file.close()
        with contextlib.suppress(OSError):
            # Whoever has just taken it keeps it; who comes later makes a file anew.
            self._path.unlink()

    def __enter__(self) -> RunLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
