"""Files that are whole after any accident, and locks between processes.

A file is there whole or not at all (`write_whole`). In a file of lines (`LineFile`) every line goes to the operating
system in one write as soon as it is complete, so a killed process leaves whole lines. When a write fails half-way (a
full disk), what got through is cut off again before the error is passed on.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

IS_WINDOWS = os.name == "nt"
PAUSES_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_LOCK_PAUSE_S = 0.02


def write_whole(path: Path, content: str | bytes, *, is_synced: bool = True) -> None:
    """Write a file, text as UTF-8, so that it is there whole or not at all, even if the machine stops in between.

    Args:
        is_synced: whether to wait for the disk. Without, the file is whole whatever becomes of this process, but after
            a power cut it may be an earlier one, or damaged: for what is written often and can be done without.

    Raises:
        OSError: it cannot be written; an earlier file is left as it was.
    """
    new = path.with_name(path.name + ".new")
    try:
        with new.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            if is_synced:
                sync_to_disk(file.fileno())
        _replace(new, path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    if is_synced and not IS_WINDOWS:
        # The new name is on the disk when the folder is; some file systems know no such thing.
        with contextlib.suppress(OSError):
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                sync_to_disk(folder)
            finally:
                os.close(folder)


def _replace(new: Path, path: Path) -> None:
    # Windows refuses to put a file in the place of another while a program, such as a virus scanner, reads it.
    for pause_s in PAUSES_S if IS_WINDOWS else ():
        with contextlib.suppress(PermissionError):
            new.replace(path)
            return
        time.sleep(pause_s)
    new.replace(path)


class FileLock:
    """Held by one process at a time, until it is closed or the process ends."""

    def __init__(self, path: Path, patience_s: float = 0.0) -> None:
        """Take the lock.

        Args:
            path: of a file that exists for the lock alone, and only while it is held.
            patience_s: how long to wait for it, in seconds.

        Raises:
            BlockingIOError: another process, or another part of this one, has it and keeps it.
            OSError: the file cannot be made.
        """
        self._path = path
        until_s = time.monotonic() + patience_s
        while True:
            file = path.open("ab")
            try:
                _lock(file)
            except OSError as error:
                file.close()
                if time.monotonic() < until_s:
                    time.sleep(_LOCK_PAUSE_S)
                    continue
                raise BlockingIOError(error.errno, "another process has it", str(path)) from None
            if IS_WINDOWS or _is_still(path, file):
                self._file = file
                return
            # Its last holder has removed the file in between.
            file.close()

    def fileno(self) -> int:
        """File descriptor of the lock: a process that inherits it holds the lock, too."""
        return self._file.fileno()

    def close(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._file.closed:
            return
        if IS_WINDOWS:
            # Where a file that is open cannot be removed; nor can that of a process which has just taken it.
            self._file.close()
        with contextlib.suppress(OSError):
            self._path.unlink()
        self._file.close()


def _is_still(path: Path, file: IO[bytes]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def sync_to_disk(fd: int) -> None:
    """Wait until what was written is on the disk; on macOS, fsync waits for the drive's own memory only.

    Raises:
        OSError: the system does not support that for this file.
    """
    if sys.platform == "darwin":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
    os.fsync(fd)


class LineFile:
    def __init__(self, path: str | os.PathLike[str], *, append: bool = False) -> None:
        """Open the file; without `append` its content is lost.

        Raises:
            OSError: it cannot be opened.
        """
        self.path = os.fspath(path)
        # Appending also to a new file: after a failed write the next line then follows what was left, not a gap.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        self._fd = os.open(self.path, flags | (0 if append else os.O_TRUNC), 0o666)

    def write(self, text: str) -> None:
        """Write whole lines; `text` ends with LF. Bytes that came as surrogate escapes are written as they were.

        Raises:
            OSError: not everything could be written; nothing of `text` is left in the file.
        """
        self.write_bytes(text.encode("utf-8", "surrogateescape"))

    def write_bytes(self, data: bytes) -> None:
        """`write` for whole lines that are bytes already."""
        written = 0
        try:
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError as error:
            if written:
                self._cut_off(written)
            raise OSError(error.errno, error.strerror, self.path) from None

    def sync(self) -> None:
        """Wait until everything written is on the disk, where the system supports that."""
        with contextlib.suppress(OSError):
            sync_to_disk(self._fd)

    def _cut_off(self, count: int) -> None:
        try:
            os.ftruncate(self._fd, os.fstat(self._fd).st_size - count)
        except OSError:
            return

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> LineFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
