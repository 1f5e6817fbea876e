"""The folder of a run: new or empty when a run starts, locked while it lasts, its files either whole or absent.

run.toml       the configuration: `arena play --config run.toml` repeats the run
result.json    the result, once the run has ended
...            the files of the matches
"""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from dealer.errors import FolderBusyError, FolderTakenError, LaunchError
from logs.whole_file import FileLock

CONFIG_NAME = "run.toml"
RESULT_NAME = "result.json"
_LOCK_NAME = "run.lock"
_NEW = ".new"
"""The ending of a file that `write_whole` has not finished."""


@contextlib.contextmanager
def launching(action: str) -> Iterator[None]:
    """Raise `LaunchError` for an error of the system; the action completes "cannot"."""
    try:
        yield
    except OSError as error:
        raise LaunchError(action, error.strerror) from None


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
    with launching(f"make the folder {asked}"):
        if asked.is_dir() and not _is_unused(asked):
            raise FolderTakenError(asked, (asked / CONFIG_NAME).exists())
        asked.mkdir(parents=True, exist_ok=True)
    return asked


def _is_unused(folder: Path) -> bool:
    """Whether a folder is empty, or holds only what a process left that was killed before it wrote `CONFIG_NAME`."""
    names = {path.name for path in folder.iterdir()}
    if _LOCK_NAME in names:
        # The games are written under the lock.
        names = {name for name in names if not name.endswith(".game")}
    return names <= {_LOCK_NAME, CONFIG_NAME + _NEW}


def clear_unfinished(folder: Path) -> None:
    """Remove the files that a process was writing when it was killed, unless another process is running there."""
    unfinished = [path for path in folder.glob(f"*{_NEW}") if _is_of_run(path.name.removesuffix(_NEW))]
    if not unfinished:
        return
    with contextlib.suppress(FolderBusyError, LaunchError, OSError), contextlib.closing(lock_run(folder)):
        for path in unfinished:
            path.unlink(missing_ok=True)


def _is_of_run(name: str) -> bool:
    return name in (CONFIG_NAME, RESULT_NAME) or name.endswith((".log", ".faults", ".memory"))


def empty_folder(folder: Path, *, is_removed: bool) -> None:
    """Take back a new folder in which nothing was played, as far as the system lets us.

    Args:
        folder: a folder that was empty or made by `new_folder`: everything in it is the run's.
    """
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if is_removed:
            folder.rmdir()


def lock_run(folder: Path, patience_s: float = 0.0) -> FileLock:
    """Keep a second process out of a run's folder until the lock is closed, or the process that has it ends.

    Args:
        patience_s: how long to wait for another process to end.

    Raises:
        FolderBusyError: another process has it.
        LaunchError: the folder cannot be written to.
    """
    with launching(f"write to {folder}"):
        try:
            return FileLock(folder / _LOCK_NAME, patience_s)
        except BlockingIOError:
            raise FolderBusyError(folder) from None


def is_busy(folder: Path) -> bool:
    """Whether another process is running in a folder; False where that is unknown."""
    try:
        lock_run(folder).close()
    except FolderBusyError:
        return True
    except LaunchError:
        pass
    return False
