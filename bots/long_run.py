"""Long computations that lock a folder, save their state while they run, and can be resumed.

`run_steps` is for a computation with a changing state. It saves the state at intervals and at any end. `ResultJournal`
is for independent results. Its file has the settings in the first line and a result in every other line. A truncated
last line, left by a stop during a write, is dropped.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any, Final, Protocol, TypeAlias

from bots.artifact import lock_file
from bots.errors import BotFileError
from engine.errors import quoted
from logs.whole_file import LineFile

Words: TypeAlias = str | Callable[[], str]
"""Text of the results so far, or a function that returns it, called only if the text is shown."""
_MAX_QUOTED: Final = 40
"""Characters quoted from a setting of several lines."""
_SAVE_EVERY_S: Final = 10.0


class ShowProgress(Protocol):
    def __call__(self, part: float | None, so_far: Words = "") -> None:
        """Show the progress of a computation, 0 to 1 or None if unknown, and the results so far."""


def show_nothing(part: float | None, so_far: Words = "") -> None: ...


def show_within(show: ShowProgress, number: int, count: int) -> ShowProgress:
    """Return a function that shows the progress of part `number`, 0-based, of `count` equal parts."""

    def show_part(part: float | None, so_far: Words = "") -> None:
        if part is not None:
            part = (number + part) / count
        show(part, so_far)

    return show_part


def run_steps(
    steps: Iterator[tuple[float | None, Words]],
    save: Callable[[], None],
    show: ShowProgress = show_nothing,
    *,
    save_every_s: float = _SAVE_EVERY_S,
) -> None:
    """Do all steps, and save their state every few seconds and at any end.

    Args:
        steps: an iterator that does a step and yields its progress, the arguments of `show`.
    """
    saved_s = time.monotonic()
    is_new = False
    # Workers are ended by SIGTERM: handled like Ctrl-C, it lets the `finally` below save.
    with _handling(signal.default_int_handler, signal.SIGTERM):
        try:
            for part, so_far in steps:
                is_new = True
                show(part, so_far)
                if time.monotonic() - saved_s >= save_every_s:
                    with uninterrupted():
                        save()
                    saved_s = time.monotonic()
                    is_new = False
        finally:
            if is_new:
                with uninterrupted():
                    save()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Defer SIGINT and SIGTERM to the end of the block."""
    pending: list[int] = []
    with _handling(lambda number, _: pending.append(number), signal.SIGINT, signal.SIGTERM):
        yield
    for number in pending:
        signal.raise_signal(number)


@contextmanager
def _handling(handler: Callable[[int, FrameType | None], Any], *numbers: signal.Signals) -> Iterator[None]:
    """Install a handler for signals during the block."""
    earlier_handlers = {}
    # Python delivers signals to the main thread, and only that thread may install handlers.
    if threading.current_thread() is threading.main_thread():
        for number in numbers:
            earlier_handlers[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, earlier_handler in earlier_handlers.items():
            signal.signal(number, earlier_handler)


@contextmanager
def locked_run(folder: Path, name: str) -> Iterator[None]:
    """Create the folder of a run and lock the run during the block.

    Raises:
        BotFileError: another process has locked the run, or the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise BotFileError(str(folder), "it is a file; a run needs a folder") from error
    except OSError as error:
        raise BotFileError(str(folder), f"the folder cannot be written: {error.strerror or error}") from error
    with closing(lock_file(folder / name, "another process works on this run")):
        yield


def require_same_settings(
    path: str | os.PathLike[str],
    wanted: Mapping[str, Any],
    stored: Mapping[str, Any],
    *,
    remedy: str = "take another folder",
) -> None:
    """Require that the settings stored in a file are the wanted ones.

    Raises:
        BotFileError: some differ; the message names their values.
    """
    stored_values = _flattened(stored)
    wanted_values = _flattened(wanted)
    stored_texts = []
    wanted_texts = []
    for name, value in wanted_values.items():
        stored_value = stored_values.get(name)
        if stored_value != value:
            stored_texts.append(f"{name} {_in_words(stored_value)}")
            wanted_texts.append(f"{name} {_in_words(value)}")
    if wanted_texts:
        difference = f"{', '.join(stored_texts)}, not {', '.join(wanted_texts)}"
        problem = f"it was made with {difference}: {remedy}, or the same settings to resume"
        raise BotFileError(os.fspath(path), problem)


def settings_data(settings: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as JSON values, so that they compare with those of a file."""
    # Only members of enumerations are unknown to JSON.
    text = json.dumps(asdict(settings), default=lambda choice: choice.value)
    data: dict[str, Any] = json.loads(text)
    return data


def _flattened(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without groups; the members of a group keep their own names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flattened(value)
        else:
            flat[name] = value
    return flat


def _in_words(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(_in_words, value))
    if isinstance(value, str) and "\n" in value:
        return quoted(value, _MAX_QUOTED)
    return f"{value:g}" if isinstance(value, float) else str(value)


class ResultJournal:
    """File of results, each written at once.

    Attributes:
        rows: the results, in the order added.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Read the file, or create it.

        Raises:
            BotFileError: the file is damaged or has other settings.
        """
        self.path = path
        self.rows = self._read(settings)
        self._file = LineFile(path, append=True)
        if not path.stat().st_size:
            self._file.write(json.dumps(settings) + "\n")

    def close(self) -> None:
        self._file.close()

    def add(self, row: object) -> None:
        self._file.write(json.dumps(row) + "\n")
        self.rows.append(row)

    def _read(self, settings: Mapping[str, Any]) -> list[Any]:
        if not self.path.exists():
            return []
        text = self.path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            os.truncate(self.path, len(whole))
        try:
            first, *rows = [json.loads(line) for line in whole.splitlines()] or [settings]
        except (ValueError, RecursionError) as error:
            raise self.damaged() from error
        if not isinstance(first, dict):
            raise self.damaged()
        require_same_settings(self.path, settings, first)
        return rows

    def damaged(self) -> BotFileError:
        """Return the error for rows that are not results of this computation."""
        return BotFileError(str(self.path), "it holds other things than these results, or is damaged")


@contextmanager
def result_journal(path: Path, settings: Mapping[str, object]) -> Iterator[ResultJournal]:
    """Open the journal of a file, locked during the block.

    Raises:
        BotFileError: another process has locked the file, or it is damaged or has other settings.
    """
    with locked_run(path.parent, path.name):
        try:
            journal = ResultJournal(path, json.loads(json.dumps(settings)))
        except OSError as error:
            raise BotFileError(str(path), f"it cannot be read or written: {error.strerror or error}") from error
        with closing(journal):
            yield journal
