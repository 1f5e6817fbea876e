"""Long computations: in a folder that one process holds, saved while they run, and resumed after any stop.

A computation whose state changes is a row of steps (`run_steps`), each of which says how far it has come; its state is
saved now and then, and whatever ends it. One whose results do not depend on each other adds them to a `ResultJournal`:
the first line of the file holds the settings, every other line one result. A last line without an end, which a stop in
the middle of writing leaves, is dropped.
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
"""Results so far; those that take time to put in words are a function, which is called if they are shown."""
_MOST_LETTERS: Final = 40
_SAVE_EVERY_S: Final = 10.0


class ShowProgress(Protocol):
    def __call__(self, part: float | None, so_far: Words = "") -> None:
        """Show the finished part of a computation, 0 to 1 or None if unknown, and the results so far."""


def show_nothing(part: float | None, so_far: Words = "") -> None: ...


def show_within(show: ShowProgress, number: int, count: int) -> ShowProgress:
    """Shows the progress of one of so many equal parts, numbered from 0."""

    def show_part(part: float | None, so_far: Words = "") -> None:
        show(None if part is None else (number + part) / count, so_far)

    return show_part


def run_steps(
    steps: Iterator[tuple[float | None, Words]],
    save: Callable[[], None],
    show: ShowProgress = show_nothing,
    *,
    save_every_s: float = _SAVE_EVERY_S,
) -> None:
    """Do all steps, which yield what is shown; save what they have done every few seconds and at any end."""
    saved_s = time.monotonic()
    is_new = False
    # A worker is ended by SIGTERM.
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
    """Let Ctrl-C wait until the block is done."""
    came: list[int] = []
    with _handling(lambda number, _: came.append(number), signal.SIGINT, signal.SIGTERM):
        yield
    for number in came:
        signal.raise_signal(number)


@contextmanager
def _handling(handler: Callable[[int, FrameType | None], Any], *numbers: signal.Signals) -> Iterator[None]:
    """Handle signals so in the block; only the main thread is given any."""
    is_main = threading.current_thread() is threading.main_thread()
    before = [(number, signal.signal(number, handler)) for number in numbers if is_main]
    try:
        yield
    finally:
        for number, own in before:
            signal.signal(number, own)


@contextmanager
def locked_run(folder: Path, name: str) -> Iterator[None]:
    """Make the folder of a run; a `BotFileError` if another process has the run of this name."""
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
    found: Mapping[str, Any],
    *,
    remedy: str = "take another folder",
) -> None:
    """Raise an error that names the differing values, unless a file was made with the wanted settings."""
    theirs = _settings(found)
    ours = _settings(wanted)
    names = [name for name, value in ours.items() if theirs.get(name) != value]
    if names:
        made = ", ".join([f"{name} {_in_words(theirs.get(name))}" for name in names])
        asked = ", ".join([f"{name} {_in_words(ours.get(name))}" for name in names])
        problem = f"it was made with {made}, not {asked}: {remedy}, or the same settings to resume"
        raise BotFileError(os.fspath(path), problem)


def settings_data(settings: Any) -> dict[str, Any]:
    """Settings, a dataclass, as JSON has them."""
    found: dict[str, Any] = json.loads(json.dumps(asdict(settings), default=lambda choice: choice.value))
    return found


def _settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON has them; those of a group by their own names."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _settings(value) if isinstance(value, dict) else {name: value}
    return found


def _in_words(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(_in_words, value))
    if isinstance(value, str) and "\n" in value:
        return quoted(value, _MOST_LETTERS)
    return f"{value:g}" if isinstance(value, float) else str(value)


class ResultJournal:
    """The results in a file, `rows`, in the order added."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Read the file, or make it; a `BotFileError` if it is of other settings, or damaged."""
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
        """What to raise for rows that are no results of this computation."""
        return BotFileError(str(self.path), "it holds other things than these results, or is damaged")


@contextmanager
def result_journal(path: Path, settings: Mapping[str, object]) -> Iterator[ResultJournal]:
    """The journal in a file, which no other process writes meanwhile."""
    with locked_run(path.parent, path.name):
        try:
            journal = ResultJournal(path, json.loads(json.dumps(settings)))
        except OSError as error:
            raise BotFileError(str(path), f"it cannot be read or written: {error.strerror or error}") from error
        with closing(journal):
            yield journal
