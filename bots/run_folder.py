"""The folder of a run that is gone on with: made if it is not there, and written by one process at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bots.errors import CheckpointError
from logs.whole_file import FileLock

__all__ = ["locked_run"]


@contextmanager
def locked_run(folder: Path, name: str) -> Iterator[None]:
    """Make the folder, and keep others out of the run of this name.

    Raises:
        CheckpointError: another process has the run, or the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{name}.lock")
    except BlockingIOError as error:
        raise CheckpointError(str(folder / name), "another process goes on with this run") from error
    except FileExistsError as error:
        raise CheckpointError(str(folder), "it is a file; a run needs a folder") from error
    except OSError as error:
        raise CheckpointError(str(folder), f"the folder cannot be written: {error.strerror or error}") from error
    with closing(lock):
        yield
