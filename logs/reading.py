"""Hands from wherever they lie: log files, the folder of a run, whole trees of them.

    for record in read_hands(["runs/x"], on_problem=print):
        ...

In a folder the ACPC logs count; only where there are none, PHH files do: those beside logs are copies of the same
hands. Files are told apart by their names, ``.phh`` and ``.phhs`` from everything else; in folders a ``.log`` must also
look like one, for programs write all kinds of logs. Any of them may be compressed (``.xz``, ``.gz``, ``.bz2``).
"""

from __future__ import annotations

import enum
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
from logs.files import opened, without_compression
from logs.phh.reader import read_phh
from logs.record import HandRecord

__all__ = ["HandFile", "HandFormat", "find_hand_files", "read_file", "read_hands"]

_SNIFFED_CHARACTERS: Final = 4096
_PHH_ENDINGS: Final = (".phh", ".phhs")


class HandFormat(enum.Enum):
    """The formats that are read; the value is the name shown."""

    ACPC_LOG = "ACPC log"
    PHH = "PHH"


@dataclass(frozen=True, slots=True)
class HandFile:
    """A file with hands in it.

    Attributes:
        path: as given, or below the folder that was given.
        format: how to read it.
    """

    path: str
    format: HandFormat


def find_hand_files(paths: Iterable[str | os.PathLike[str]]) -> list[HandFile]:
    """The files that paths of files and folders mean, in the order given; within a folder ordered by name.

    Raises:
        LogError: there is nothing at a path, or no file with hands in a folder.
    """
    found: list[HandFile] = []
    for given in paths:
        path = os.fspath(given)
        if os.path.isdir(path):
            found += _files_in(path)
        elif os.path.exists(path):
            is_phh = without_compression(path).lower().endswith(_PHH_ENDINGS)
            found.append(HandFile(path, HandFormat.PHH if is_phh else HandFormat.ACPC_LOG))
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
    chip_value: Decimal | float = 1,
) -> Iterator[HandRecord]:
    """The hands of files and folders, one file after the other, as they are read.

    A file that cannot be read at all is a problem like any other, as long as somebody hears of problems and there
    are other files.

    Args:
        paths: of files and folders.
        game: the game of ACPC logs; else it is found from their headers.
        strict: stop at the first problem, but for a half-written last line.
        on_problem: is told of every problem as it is met.
        times: take the times of actions from the transaction logs beside ACPC logs.
        transcript: the dealer's transcript; for a single log.
        chip_value: what a chip is worth in the money of PHH files.

    Raises:
        LogError: there is no file, or one cannot be read at all.
        DamagedLogError: reading strictly, a problem was met.
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
    chip_value: Decimal | float = 1,
) -> Iterator[HandRecord]:
    """The hands of one file; see `read_hands`."""
    if file.format is HandFormat.PHH:
        return read_phh(file.path, strict=strict, on_problem=on_problem, chip_value=chip_value)
    return read_log(file.path, game=game, strict=strict, on_problem=on_problem, times=times, transcript=transcript)


def _files_in(folder: str) -> list[HandFile]:
    """The files with hands in a folder and below it."""
    logs: list[HandFile] = []
    copies: list[HandFile] = []
    for place, folders, names in os.walk(folder):
        folders.sort(key=_natural)
        for name in sorted(names, key=_natural):
            path = os.path.join(place, name)
            plain = without_compression(name).lower()
            if plain.endswith(_PHH_ENDINGS):
                copies.append(HandFile(path, HandFormat.PHH))
            elif plain.endswith(".log") and _looks_like_a_log(path):
                logs.append(HandFile(path, HandFormat.ACPC_LOG))
    if not logs and not copies:
        raise LogError(folder, "there is neither an ACPC log nor a PHH file in this folder")
    return logs or copies


def _natural(name: str) -> list[tuple[int, str]]:
    """Orders numbers in names by their size: ``match.2.log`` before ``match.10.log``."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(part) if i % 2 else 0, part) for i, part in enumerate(parts)]


def _looks_like_a_log(path: str) -> bool:
    """Whether an ACPC log begins in a file; an empty one is what a match leaves that was stopped at once."""
    try:
        with opened(path, errors="replace") as file:
            start = file.read(_SNIFFED_CHARACTERS)
    except (LogError, OSError):
        return False
    is_header = HEADER_START.startswith(start)
    return is_header or any(line.startswith((HEADER_START, "STATE:")) for line in start.split("\n"))
