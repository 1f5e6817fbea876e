"""A running evolution: saved while it runs, timed, and resumed only with the settings it was begun with."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from bots.errors import CheckpointError
from bots.evolution.evolution import Evolution, Generation, save_checkpoint

_SAVE_EVERY_S: Final = 10.0


@contextmanager
def saved(evolution: Evolution, path: str | Path, about: Callable[[], dict[str, Any]]) -> Iterator[Callable[[], None]]:
    """Write the state of a running evolution when it ends, for whatever reason, and every ten seconds before.

    Args:
        evolution: a new state is written only if it has one.
        path: of the file.
        about: gives what is written with the state.

    Yields:
        a function to call after each generation.

    Raises:
        CheckpointError: the file cannot be written.
    """
    written_s, begun_with = time.monotonic(), evolution.state

    def save() -> None:
        nonlocal written_s
        if time.monotonic() - written_s >= _SAVE_EVERY_S and evolution.state is not None:
            save_checkpoint(path, evolution.state, about())
            written_s = time.monotonic()

    try:
        yield save
    finally:
        if evolution.state is not None and evolution.state is not begun_with:
            with _undisturbed():
                save_checkpoint(path, evolution.state, about())


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ignore a second Ctrl-C while the first one is served."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Pace:
    """How long a generation takes; the first one waits for compiled code and workers, and does not count."""

    def __init__(self) -> None:
        self._first, self._began_s = -1, 0.0

    def seconds(self, generation: Generation) -> float | None:
        """Seconds per generation since the first call, by the clock; None at the first call."""
        if self._first < 0:
            self._first, self._began_s = generation.number, time.monotonic()
            return None
        return (time.monotonic() - self._began_s) / (generation.number - self._first)


def require_same_settings(path: str | Path, wanted: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Check that a file was made with the settings that are asked for.

    Raises:
        CheckpointError: a setting differs; both values are named.
    """
    names = [name for name, value in wanted.items() if found.get(name) != value]
    if names:
        raise CheckpointError(
            str(path),
            f"it was made with {_in_words(names, found)}, not {_in_words(names, wanted)}: "
            "take another folder, or the same settings to go on",
        )


def _in_words(names: list[str], settings: Mapping[str, Any]) -> str:
    def text(value: Any) -> str:
        return " ".join(f"{one:g}" for one in value) if isinstance(value, list) else str(value)

    return ", ".join(f"{name} {text(settings.get(name))}" for name in names)
