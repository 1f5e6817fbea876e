"""Hands from wherever they are: log files, the folder of a run, whole trees of them.

    for record in read_hands(["runs/x"], on_problem=print):
        ...

A file is told from others by its name (``.phh``, ``.phhs``), or by its first lines where names say too little, as those
of PokerStars histories do; any other file is taken for an ACPC log. In a folder the ACPC logs count. The files of other
formats with them are copies of the same hands, so only where there are no logs, PHH files are read, and only where
there are none of these either, PokerStars histories. Any of them may be compressed (``.xz``, ``.gz``, ``.bz2``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from engine import Game
from logs.acpc_log.header import HEADER_START
from logs.acpc_log.reader import read_log
from logs.errors import LogError, LogProblem, ProblemKind
from logs.export import FORMATS
from logs.files import opened, without_compression
from logs.formats import ExportFormat
from logs.record import HandRecord

__all__ = ["HandFile", "find_hand_files", "read_file", "read_hands"]

_SNIFFED_CHARACTERS: Final = 4096
_READABLE: Final = sorted(
    [format_ for format_ in FORMATS.values() if format_.read is not None], key=lambda format_: bool(format_.first_words)
)
"""Formats that are read besides the ACPC log: first those that a file's name is enough for."""


@dataclass(frozen=True, slots=True)
class HandFile:
    """A file with hands in it.

    Attributes:
        path: as given, or below the folder that was given.
        format: how to read it; None for an ACPC log.
    """

    path: str
    format: ExportFormat | None = None

    @property
    def chip_value(self) -> Decimal:
        """What a chip is worth in the file's money, unless somebody says otherwise."""
        read = None if self.format is None else self.format.read
        return Decimal(1) if read is None else read.chip_value


def find_hand_files(paths: Iterable[str | os.PathLike[str]]) -> list[HandFile]:
    """The files at paths of files and folders, in the order given; within a folder ordered by name.

    Raises:
        LogError: there is nothing at a path, or no file with hands in a folder.
    """
    found: list[HandFile] = []
    for given in paths:
        path = os.fspath(given)
        if os.path.isdir(path):
            found += _files_in(path)
        elif os.path.exists(path):
            is_format = (format_ for format_ in _READABLE if _is_of(format_, path, any_ending=True))
            found.append(HandFile(path, next(is_format, None)))
        else:
            raise LogError(path, "there is no such file or folder")
    return found


def read_hands(
    paths: Iterable[str | os.PathLike[str]],
    *,
    game: Game | None = None,
    strict: bool = False,
    on_problem: Callable[[LogProblem], None] | None = None,
    times: bool = False,
    transcript: str | os.PathLike[str] | None = None,
    chip_value: Decimal | float | None = None,
) -> Iterator[HandRecord]:
    """The hands of files and folders, one file after the other, as they are read.

    A file that cannot be read at all is a problem like any other, as long as problems are reported and there are other
    files.

    Args:
        paths: of files and folders.
        game: the game of ACPC logs that do not name one.
        strict: stop at the first problem, except for a half-written last line.
        on_problem: is told of every problem as it is met.
        times: take the times of actions from the transaction logs that go with ACPC logs.
        transcript: the dealer's transcript; for a single log.
        chip_value: what a chip is worth in the money of PHH files and PokerStars histories; None is 1 in the former
            and a cent in the latter.

    Raises:
        LogError: there is no file, or one cannot be read at all.
        DamagedLogError: a problem was met while reading strictly.
        OSError: a file cannot be read.
    """
    files = find_hand_files(paths)
    for file in files:
        try:
            yield from read_file(
                file,
                game=game,
                strict=strict,
                on_problem=on_problem,
                times=times,
                transcript=transcript,
                chip_value=chip_value,
            )
        except LogError as error:
            if strict or on_problem is None or len(files) == 1:
                raise
            on_problem(LogProblem(file.path, 1, None, error.problem, ProblemKind.SKIPPED))


def read_file(
    file: HandFile,
    *,
    game: Game | None = None,
    strict: bool = False,
    on_problem: Callable[[LogProblem], None] | None = None,
    times: bool = False,
    transcript: str | os.PathLike[str] | None = None,
    chip_value: Decimal | float | None = None,
) -> Iterator[HandRecord]:
    """The hands of one file; see `read_hands`."""
    if file.format is not None and file.format.read is not None:
        return file.format.read(file.path, strict=strict, on_problem=on_problem, chip_value=chip_value)
    return read_log(file.path, game=game, strict=strict, on_problem=on_problem, times=times, transcript=transcript)


def _files_in(folder: str) -> list[HandFile]:
    """The files with hands in a folder and below it."""
    logs: list[HandFile] = []
    others: dict[str, list[HandFile]] = {format_.name: [] for format_ in _READABLE}
    for place, folders, names in os.walk(folder):
        folders.sort(key=_natural)
        for name in sorted(names, key=_natural):
            path = os.path.join(place, name)
            if without_compression(name).lower().endswith(".log"):
                if _looks_like_a_log(path):
                    logs.append(HandFile(path))
                continue
            for format_ in _READABLE:
                if _is_of(format_, path):
                    others[format_.name].append(HandFile(path, format_))
                    break
    found = next(filter(None, (logs, *others.values())), None)
    if found is None:
        raise LogError(folder, "there is no ACPC log, PHH file or PokerStars hand history in this folder")
    return found


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that orders numbers in names by their size: ``match.2.log`` before ``match.10.log``."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(part) if i % 2 else 0, part) for i, part in enumerate(parts)]


def _is_of(format_: ExportFormat, path: str, *, any_ending: bool = False) -> bool:
    """Whether a file is of a format, by the end of its name and, where that says too little, by its first lines."""
    if without_compression(path).lower().endswith(format_.endings):
        return not format_.first_words or any(line.startswith(format_.first_words) for line in _first_lines(path))
    is_file = any_ending and bool(format_.first_words) and os.path.isfile(path)
    return is_file and any(line.startswith(format_.first_words) for line in _first_lines(path))


def _looks_like_a_log(path: str) -> bool:
    """Whether an ACPC log begins in a file; an empty one is what a match leaves that is stopped at once."""
    lines = _first_lines(path)
    is_header = len(lines) == 1 and HEADER_START.startswith(lines[0])
    return is_header or any(line.startswith((HEADER_START, "STATE:")) for line in lines)


def _first_lines(path: str) -> list[str]:
    """The first lines of a file without a byte order mark; none where it cannot be read."""
    try:
        with opened(path, errors="replace") as file:
            return file.read(_SNIFFED_CHARACTERS).removeprefix("\ufeff").split("\n")
    except (LogError, OSError):
        return []
