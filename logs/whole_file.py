"""Files that are complete after any crash, and locks between processes.

`write_whole` replaces a file at once or not at all. `LineFile` passes each line to the operating system in one write,
so that a killed process leaves whole lines. If a write fails half-way, as on a full disk, the written part is removed
before the error is raised.
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
    """Replace a file, text in UTF-8, so that it has its old or its new content whenever the machine stops.

    Args:
        is_synced: whether to wait for the disk. Without it, the file survives the end of this process, but after a
            power cut it can have the old content or be damaged. Use that for files that are written often and can be
            lost.

    Raises:
        OSError: it cannot be written; an earlier file is unchanged.
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
        # The new name is on the disk once its folder is. Some file systems cannot sync a folder.
        with contextlib.suppress(OSError):
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                sync_to_disk(folder)
            finally:
                os.close(folder)


def _replace(new: Path, path: Path) -> None:
    # On Windows a file cannot be replaced while another program, such as a virus scanner, reads it.
    for pause_s in PAUSES_S if IS_WINDOWS else ():
        with contextlib.suppress(PermissionError):
            new.replace(path)
            return
        time.sleep(pause_s)
    new.replace(path)


class FileLock:
    """A lock that one process holds at a time, until it is closed or the process ends."""

    def __init__(self, path: Path, timeout_s: float = 0.0) -> None:
        """Acquire the lock.

        Args:
            path: path of a file that exists only while the lock is held.
            timeout_s: time to wait for the lock, in seconds.

        Raises:
            BlockingIOError: another process, or another part of this one, still holds it.
            OSError: the file cannot be created.
        """
        self._path = path
        deadline_s = time.monotonic() + timeout_s
        while True:
            file = path.open("ab")
            try:
                _lock(file)
            except OSError as error:
                file.close()
                if time.monotonic() < deadline_s:
                    time.sleep(_LOCK_PAUSE_S)
                    continue
                raise BlockingIOError(error.errno, "another process has it", str(path)) from None
            if IS_WINDOWS or _is_at_path(path, file):
                self._file = file
                return
            # The last holder has removed the file after it was opened here.
            file.close()

    def fileno(self) -> int:
        """Return the file descriptor; a process that inherits it holds the lock, too."""
        return self._file.fileno()

    def close(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._file.closed:
            return
        if IS_WINDOWS:
            # An open file cannot be removed on Windows. Once another process has taken the lock, it stays.
            self._file.close()
        with contextlib.suppress(OSError):
            self._path.unlink()
        self._file.close()


def _is_at_path(path: Path, file: IO[bytes]) -> bool:
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
    """Wait until a file is on the disk.

    Raises:
        OSError: the system does not support that for this file.
    """
    # On macOS, fsync waits only until the data is in the drive's memory.
    if sys.platform == "darwin":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
    os.fsync(fd)


class LineFile:
    """A file to which whole lines are written; see the module."""

    def __init__(self, path: str | os.PathLike[str], *, append: bool = False) -> None:
        """Open the file, and truncate it unless `append` is set.

        Raises:
            OSError: it cannot be opened.
        """
        self.path = os.fspath(path)
        # Append mode for new files too: after a failed write the next line follows what is left, without a gap.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        self._fd = os.open(self.path, flags | (0 if append else os.O_TRUNC), 0o666)

    def write(self, text: str) -> None:
        """Write whole lines, with an LF at the end; surrogate escapes become the original bytes.

        Raises:
            OSError: not everything could be written; nothing of `text` is left in the file.
        """
        self.write_bytes(text.encode("utf-8", "surrogateescape"))

    def write_bytes(self, data: bytes) -> None:
        """Write whole lines given as bytes; see `write`."""
        written = 0
        try:
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError as error:
            if written:
                self._remove_end(written)
            raise OSError(error.errno, error.strerror, self.path) from None

    def sync(self) -> None:
        """Wait until everything written is on the disk, if the system supports that."""
        with contextlib.suppress(OSError):
            sync_to_disk(self._fd)

    def _remove_end(self, count: int) -> None:
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
