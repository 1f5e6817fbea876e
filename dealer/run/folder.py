"""Folder of a run: create, lock and clean it.

    run.toml       settings, with which `arena play --config run.toml` repeats the run
    result.json    result of a run that has ended
    ...            files of the matches

The folder of a new run is new or empty. It is locked during the run.
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
"""Suffix of a file that `write_whole` has not finished."""


@contextlib.contextmanager
def launching(action: str) -> Iterator[None]:
    """Convert `OSError` to `LaunchError`.

    Args:
        action: completes the sentence "cannot ...".
    """
    try:
        yield
    except OSError as error:
        raise LaunchError(action, error.strerror) from None


def new_folder(folder: Path | None, names: Sequence[str]) -> Path:
    """Create the folder of a new run.

    Args:
        folder: None for a new folder in ``runs``, named after the time and the players.
        names: names of the players.

    Raises:
        FolderTakenError: the folder is not empty.
        LaunchError: the folder cannot be created.
    """
    if folder is None:
        folder = unused_folder(names)
    with launching(f"make the folder {folder}"):
        if folder.is_dir() and not _is_unused(folder):
            raise FolderTakenError(folder, (folder / CONFIG_NAME).exists())
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def unused_folder(names: Sequence[str], runs: Path = Path("runs")) -> Path:
    """Return the path of a folder that does not exist, named after the time and the players.

    Args:
        runs: folder of the runs.
    """
    label = re.sub(r"[^A-Za-z0-9.+-]+", "_", "-vs-".join(names))[:60]
    stamp = time.strftime("%Y%m%d-%H%M%S")
    folder = runs / f"{stamp}-{label}"
    # Runs of the same players may start in the same second.
    for attempt in range(2, 1000):
        if not folder.exists():
            break
        folder = runs / f"{stamp}-{label}-{attempt}"
    return folder


def _is_unused(folder: Path) -> bool:
    """Return whether a folder has no files, apart from those of a process killed before it wrote `CONFIG_NAME`."""
    names = {path.name for path in folder.iterdir()}
    if _LOCK_NAME in names:
        # A process writes game definitions after it has locked the folder, and before `CONFIG_NAME`.
        names = {name for name in names if not name.endswith(".game")}
    return names <= {_LOCK_NAME, CONFIG_NAME + _NEW}


def clear_unfinished(folder: Path) -> None:
    """Remove the temporary files of a process that was killed, unless the run is in progress."""
    unfinished = [path for path in folder.glob(f"*{_NEW}") if _is_of_run(path.name.removesuffix(_NEW))]
    if not unfinished:
        return
    # In a run that is in progress, such a file is about to be renamed.
    with contextlib.suppress(FolderBusyError, LaunchError, OSError), contextlib.closing(lock_run(folder)):
        for path in unfinished:
            path.unlink(missing_ok=True)


def _is_of_run(name: str) -> bool:
    return name in (CONFIG_NAME, RESULT_NAME) or name.endswith((".log", ".faults", ".memory"))


def empty_folder(folder: Path, *, is_removed: bool) -> None:
    """Empty the folder of a new run in which nothing was played. Errors are ignored.

    Args:
        folder: folder from `new_folder`, in which everything belongs to the run.
        is_removed: whether to remove the folder itself.
    """
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if is_removed:
            folder.rmdir()


def lock_run(folder: Path, patience_s: float = 0.0) -> FileLock:
    """Lock the folder of a run. The lock is released when it is closed or its process ends.

    Args:
        patience_s: time to wait for the lock of another process.

    Raises:
        FolderBusyError: another process holds the lock.
        LaunchError: the folder cannot be written.
    """
    with launching(f"write to {folder}"):
        try:
            return FileLock(folder / _LOCK_NAME, patience_s)
        except BlockingIOError:
            raise FolderBusyError(folder) from None


def is_busy(folder: Path) -> bool:
    """Return whether another process runs in a folder; False if that cannot be determined."""
    try:
        lock_run(folder).close()
    except FolderBusyError:
        return True
    except LaunchError:
        pass
    return False
