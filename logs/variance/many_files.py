"""The hands of files and folders, counted for all estimators."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Unpack

from logs.files import is_plain
from logs.reading import (
    HandFile,
    ReadingOptions,
    by_deal,
    files_of_hands,
    group_by_cards,
    hands_of,
)
from logs.variance.reduction import Reduction

__all__ = ["reduce_files"]

_PROGRESS_HANDS: Final = 500
_BYTES: Final = 1 << 20


def reduce_files(
    paths: Iterable[str | os.PathLike[str]],
    reduction: Reduction,
    *,
    on_progress: Callable[[float | None], None] | None = None,
    **options: Unpack[ReadingOptions],
) -> int:
    """Count the hands of files and folders, each once: copies of files are left out, and reported as problems.

    Args:
        paths: of files and folders.
        reduction: where they are counted.
        on_progress: is called now and then with the part of the hands that has been counted; None where the files do
            not tell how many there are.
        **options: how the files are read.

    Returns:
        how many hands there were.

    Raises:
        LogError: there is no file, or one cannot be read at all.
        DamagedLogError: a problem was met while reading strictly.
        OSError: a file cannot be read.
    """
    files = files_of_hands(paths, options)
    expected = _hands_in(files) if on_progress is not None else None
    hands = 0
    for group in group_by_cards(files):
        for record in by_deal([hands_of(file, has_others=len(files) > 1, **options) for file in group]):
            reduction.add(record)
            hands += 1
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
