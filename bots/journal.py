"""Results of a long computation, kept in a file as they are found: a stopped computation does not repeat them.

The first line of the file holds the settings, every other line one result. A last line without an end, which a stop in
the middle of writing leaves, is dropped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bots.errors import CheckpointError
from logs.whole_file import FileLock, LineFile


class Journal:
    """The results in a file, which no other process writes meanwhile.

    Attributes:
        path: of the file.
        rows: the results, as JSON gives them, in the order in which they were added.
    """

    def __init__(self, path: Path, settings: Mapping[str, object]) -> None:
        """Read what is there; the file and its folder are made if they are not.

        Args:
            path: of the file.
            settings: with which the results are found.

        Raises:
            CheckpointError: the file cannot be read or written, holds something else, or was made with other settings,
                or another process writes it.
        """
        self.path = path
        about: Mapping[str, Any] = json.loads(json.dumps(settings))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(path.with_name(f"{path.name}.lock"))
        except BlockingIOError:
            raise CheckpointError(str(path), "another process is writing it") from None
        except OSError as error:
            raise CheckpointError(str(path), f"it cannot be written: {error.strerror or error}") from error
        try:
            self.rows = self._read(about)
            self._file = LineFile(path, append=True)
            if not path.stat().st_size:
                self._file.write(json.dumps(about) + "\n")
        except OSError as error:
            self._lock.close()
            raise CheckpointError(str(path), f"it cannot be read or written: {error.strerror or error}") from error
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let others write the file."""
        self._file.close()
        self._lock.close()

    def add(self, row: object) -> None:
        """Keep a result that JSON can hold."""
        self._file.write(json.dumps(row) + "\n")
        self.rows.append(row)

    def _read(self, about: Mapping[str, Any]) -> list[Any]:
        if not self.path.exists():
            return []
        text = self.path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            os.truncate(self.path, len(whole))
        try:
            first, *rows = [json.loads(line) for line in whole.splitlines()] or [about]
        except (ValueError, RecursionError) as error:
            raise self.damaged() from error
        if not isinstance(first, dict):
            raise self.damaged()
        if differing := [name for name, value in about.items() if first.get(name) != value]:
            theirs = ", ".join(f"{name} {first.get(name)}" for name in differing)
            ours = ", ".join(f"{name} {about[name]}" for name in differing)
            raise CheckpointError(str(self.path), f"it was made with {theirs}, not {ours}: take another folder")
        return rows

    def damaged(self) -> CheckpointError:
        """What to raise for rows that are no results of this computation."""
        return CheckpointError(str(self.path), "it holds other things than these results, or is damaged")
