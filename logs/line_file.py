"""A file of lines that is whole after any accident.

Every line goes to the operating system in one write as soon as it is complete, so a killed process leaves whole
lines. When a write fails half-way (a full disk), what got through is cut off again before the error is passed on.
"""

from __future__ import annotations

import contextlib
import os
import sys

__all__ = ["LineFile", "sync_to_disk"]


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
    """Appends whole lines to a file."""

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
