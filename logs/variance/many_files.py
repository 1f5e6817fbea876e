"""The hands of files and folders, counted for all estimators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from logs.files import is_plain
from logs.hand_source import HandFile, HandSource
from logs.variance.reduction import Reduction

_PROGRESS_HANDS: Final = 500
_BYTES: Final = 1 << 20


def reduce_hands(
    source: HandSource, reduction: Reduction, *, on_progress: Callable[[float | None], None] | None = None
) -> int:
    """Count hands, each once: copies of files are left out, and reported as problems.

    Args:
        source: of the hands.
        reduction: where they are counted.
        on_progress: is called now and then with the part of the hands that has been counted; None where the files do
            not tell how many there are.

    Returns:
        how many hands there were.

    Raises:
        LogError: a file cannot be read at all.
        DamagedLogError: a problem was met while reading strictly.
        OSError: a file cannot be read.
    """
    source = source.without_copies()
    expected = _hands_in(source.files) if on_progress is not None else None
    hands = 0
    for hands, record in enumerate(source.by_deal(), 1):
        reduction.add(record)
        if on_progress is not None and not hands % _PROGRESS_HANDS:
            on_progress(min(1.0, hands / expected) if expected else None)
    return hands


def _hands_in(files: Sequence[HandFile]) -> int | None:
    """How many hands there are; None where that cannot be told without reading them."""
    if not all(file.format is None and is_plain(file.path) for file in files):
        return None
    found = 0
    for file in files:
        with open(file.path, "rb") as log:
            while part := log.read(_BYTES):
                found += part.count(b"\nSTATE:")
    return found
