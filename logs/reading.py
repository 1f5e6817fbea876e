"""Hands from wherever they are: log files, the folder of a run, whole trees of them.

    for record in read_hands(["runs/x"], on_problem=print):
        ...

A file is told from others by its name (``.phh``, ``.phhs``), or by its first lines where names say too little, as those
of PokerStars histories do; any other file is taken for an ACPC log. In a folder the ACPC logs count. The files of other
formats with them are copies of the same hands, so only where there are no logs, PHH files are read, and only where
there are none of these either, PokerStars histories. Any of them may be compressed (``.xz``, ``.gz``, ``.bz2``).
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from operator import attrgetter
from typing import Final, TypeAlias, TypedDict, Unpack

from engine import Game
from logs.acpc_log.header import HEADER_START, read_log_header
from logs.acpc_log.parts import LogPart
from logs.acpc_log.reader import read_log
from logs.errors import DamagedLogError, LogError, LogProblem, NotALogError, ProblemKind
from logs.export import FORMATS
from logs.files import opened, without_compression
from logs.formats import ExportFormat, HandReader
from logs.record import HandRecord
from logs.text import is_text

__all__ = [
    "HandFile",
    "OnProblem",
    "ReadingOptions",
    "by_deal",
    "files_of_hands",
    "find_hand_files",
    "group_by_cards",
    "hands_of",
    "pass_on",
    "read_file",
    "read_hands",
    "without_copies",
]

OnProblem: TypeAlias = Callable[[LogProblem], None]

_COMPARED_LINES: Final = 8
"""As many as show in a log, behind its header, who plays its first hands."""
_FILES_PER_LOG: Final = 3
"""A log, its transaction log and its comments."""
_OTHER_FILES: Final = 64
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
        chip_value: what a chip is worth in the file's money.
    """

    path: str
    format: ExportFormat | None = None
    chip_value: Decimal = Decimal(1)


def find_hand_files(
    paths: Iterable[str | os.PathLike[str]], chip_value: Decimal | float | None = None
) -> list[HandFile]:
    """The files at paths of files and folders, in the order given; within a folder ordered by name.

    Args:
        paths: of files and folders.
        chip_value: what a chip is worth in the money of all files but ACPC logs; None for what it is worth in the
            format, or in those of its files that are read together: the smallest unit of them all.

    Raises:
        LogError: there is nothing at a path, or no file with hands in a folder.
        OSError: a file cannot be read.
    """
    found: list[HandFile] = []
    for given in paths:
        path = os.fspath(given)
        if os.path.isdir(path):
            found += _files_in(path)
        elif os.path.isfile(path):
            is_format = (format_ for format_ in _READABLE if _is_of(format_, path, any_ending=True))
            found.append(HandFile(path, next(is_format, None)))
        elif os.path.exists(path):
            raise LogError(path, "this is not a regular file")
        else:
            raise LogError(path, "there is no such file or folder")
    return _with_chips(found, None if chip_value is None else Decimal(str(chip_value)))


@lru_cache(maxsize=1 << 14)
def _chip_value_in(read: HandReader, path: str, _: float) -> Decimal:
    """What a chip is worth in a file that was changed last at a time."""
    return read.chip_value_in(path)


def _with_chips(files: list[HandFile], given: Decimal | None) -> list[HandFile]:
    """The files, those with money in it with what a chip is worth there, which is the same for a whole format."""
    for format_ in _READABLE:
        if (read := format_.read) is not None:
            values = [
                given or _chip_value_in(read, file.path, os.path.getmtime(file.path))
                for file in files
                if file.format is format_
            ]
            if values:
                chip = min(values)
                files = [replace(file, chip_value=chip) if file.format is format_ else file for file in files]
    return files


class LogOptions(TypedDict, total=False):
    """How ACPC logs are read; see `logs.acpc_log.reader.read_log`.

    Attributes:
        game: the game of ACPC logs that do not name one.
        strict: stop at the first problem, except for a half-written last line.
        on_problem: is told of every problem as it is met.
        times: take the times of actions from the transaction logs that go with ACPC logs.
        transcript: the dealer's transcript; for a single log.
    """

    game: Game | None
    strict: bool
    on_problem: OnProblem | None
    times: bool
    transcript: str | os.PathLike[str] | None


class ReadingOptions(LogOptions, total=False):
    """How files of hands are read.

    Attributes:
        chip_value: what a chip is worth in the money of PHH files and PokerStars histories; None is a cent in the
            latter, and in the former the smallest unit of all amounts: 1 where they are whole.
    """

    chip_value: Decimal | float | None


def read_hands(paths: Iterable[str | os.PathLike[str]], **options: Unpack[ReadingOptions]) -> Iterator[HandRecord]:
    """The hands of files and folders, one file after the other, as they are read.

    A file that cannot be read at all is a problem like any other, as long as problems are reported and there are other
    files.

    Args:
        paths: of files and folders.
        **options: how they are read.

    Raises:
        LogError: there is no file, or one cannot be read at all.
        DamagedLogError: a problem was met while reading strictly.
        OSError: a file cannot be read.
    """
    files = find_hand_files(paths, options.get("chip_value"))
    for file in files:
        yield from hands_of(file, has_others=len(files) > 1, **options)


def by_deal(hands: Sequence[Iterator[HandRecord]]) -> Iterator[HandRecord]:
    """The hands of files that hold the same cards, side by side: all hands of a deal one after the other.

    Args:
        hands: of each file, in the order of their numbers.
    """
    _allow_open_files(_FILES_PER_LOG * len(hands))
    return hands[0] if len(hands) == 1 else heapq.merge(*hands, key=attrgetter("hand_number"))


def read_file(file: HandFile, part: LogPart | None = None, **options: Unpack[LogOptions]) -> Iterator[HandRecord]:
    """The hands of one file, or of a part of an ACPC log; see `read_hands`."""
    read = None if file.format is None else file.format.read
    if read is not None:
        strict, on_problem = options.get("strict", False), options.get("on_problem")
        yield from read(file.path, strict=strict, on_problem=on_problem, chip_value=file.chip_value)
        return
    try:
        yield from read_log(file.path, part=part, **options)
    except NotALogError as error:
        raise LogError(file.path, _likeness(_first_lines(file.path)) or error.problem) from None


def hands_of(
    file: HandFile, part: LogPart | None = None, *, has_others: bool, **options: Unpack[ReadingOptions]
) -> Iterator[HandRecord]:
    """The hands of a file, or of a part of it; one that cannot be read at all is only reported if there are others."""
    report = options.get("on_problem")
    options.pop("chip_value", None)
    try:
        if not has_others and not os.path.getsize(file.path):
            raise LogError(file.path, "the file is empty")
        yield from read_file(file, part, **options)  # type: ignore[misc]
    except LogError as error:
        if options.get("strict") or report is None or not has_others:
            raise
        report(LogProblem(file.path, 1, None, error.problem, ProblemKind.SKIPPED))


def group_by_cards(files: Iterable[HandFile]) -> list[list[HandFile]]:
    """The files in groups of the same seed, in the order of their first files: only ACPC logs name their seed."""
    groups: dict[object, list[HandFile]] = {}
    for file in files:
        header = read_log_header(file.path) if file.format is None else None
        groups.setdefault(file.path if header is None else header.seed, []).append(file)
    return list(groups.values())


def pass_on(problems: Iterable[LogProblem], options: ReadingOptions) -> None:
    """Pass on what was found wrong.

    Args:
        problems: in order.
        options: who is told, and whether reading is strict.

    Raises:
        DamagedLogError: there was a problem while reading strictly.
    """
    on_problem = options.get("on_problem")
    for problem in problems:
        if on_problem is not None:
            on_problem(problem)
        if options.get("strict") and problem.kind is not ProblemKind.HALF_WRITTEN:
            raise DamagedLogError(problem)


def files_of_hands(paths: Iterable[str | os.PathLike[str]], options: ReadingOptions) -> list[HandFile]:
    """The files at paths of files and folders that are to be counted: copies are left out, and passed on as problems.

    Args:
        paths: of files and folders.
        options: how the files are read.

    Raises:
        LogError: there is no file.
        DamagedLogError: there is a copy while reading strictly.
        OSError: a file cannot be read.
    """
    return without_copies(find_hand_files(paths, options.get("chip_value")), lambda copy: pass_on([copy], options))


def without_copies(files: Sequence[HandFile], on_copy: Callable[[LogProblem], None]) -> list[HandFile]:
    """The files without those that hold the hands of others once more.

    These are files given twice, files that begin as another one does, to their end, and files of other formats in the
    folder of an ACPC log or in a folder of it: exports of the same run.

    Args:
        files: in order; of two copies the longer one stays, of equal ones the first.
        on_copy: is told of every copy.
    """
    folders = {os.path.dirname(os.path.realpath(file.path)) for file in files if file.format is None}
    alike: dict[object, list[HandFile]] = {}
    copied: dict[int, str] = {}
    for file in files:
        path = os.path.realpath(file.path)
        here = os.path.dirname(path)
        if file.format is not None and not folders.isdisjoint((here, os.path.dirname(here))):
            copied[id(file)] = "it was exported from a log beside it, which counts"
            continue
        same = alike.setdefault((file.format and file.format.name, tuple(_first_lines(path)[:_COMPARED_LINES])), [])
        for other in same:
            shorter = _shorter_copy(file, other)
            if shorter is not None:
                longer = other if shorter is file else file
                is_same = os.path.realpath(longer.path) == os.path.realpath(shorter.path)
                said = "it is given twice" if is_same else f"its hands are those of {longer.path}"
                copied[id(shorter)] = f"{said}, and count{'s' * is_same} once"
        same[:] = [one for one in [*same, file] if id(one) not in copied]
    for file in files:
        if id(file) in copied:
            on_copy(LogProblem(file.path, 1, None, copied[id(file)], ProblemKind.SKIPPED))
    return [file for file in files if id(file) not in copied]


def _shorter_copy(file: HandFile, other: HandFile) -> HandFile | None:
    """Which of two files is the beginning of the other, or its copy; None where they differ."""
    if os.path.realpath(file.path) == os.path.realpath(other.path):
        return file
    with opened(file.path) as one, opened(other.path) as two:
        while True:
            here, there = one.read(1 << 16), two.read(1 << 16)
            length = min(len(here), len(there))
            if here[:length] != there[:length]:
                return None
            if not here or len(here) < len(there):
                return file
            if len(there) < len(here):
                return other


def _allow_open_files(wanted: int) -> None:
    """Raise the number of files that this process may have open, as far as its system lets it."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY != soft < wanted + _OTHER_FILES:
        most = wanted + _OTHER_FILES if hard == resource.RLIM_INFINITY else min(wanted + _OTHER_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _files_in(folder: str) -> list[HandFile]:
    """The files with hands in a folder and below it."""
    logs: list[HandFile] = []
    unlike = ""
    others: dict[str, list[HandFile]] = {format_.name: [] for format_ in _READABLE}
    for place, folders, names in os.walk(folder):
        folders.sort(key=_natural)
        for name in sorted(names, key=_natural):
            path = os.path.join(place, name)
            if not os.path.isfile(path):
                continue
            if without_compression(name).lower().endswith(".log"):
                if _looks_like_a_log(path):
                    logs.append(HandFile(path))
                continue
            for format_ in _READABLE:
                if _is_of(format_, path):
                    others[format_.name].append(HandFile(path, format_))
                    break
            else:
                unlike = unlike or (path if without_compression(name).lower().endswith(".txt") else "")
    found = next(filter(None, (logs, *others.values())), None)
    if found is None:
        problem = "there is no ACPC log, PHH file or PokerStars hand history in this folder"
        likeness = _likeness(_first_lines(unlike)) if unlike else None
        raise LogError(folder, problem if likeness is None else f"{problem}; of {os.path.basename(unlike)}: {likeness}")
    return found


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that orders numbers in names by their size: ``match.2.log`` before ``match.10.log``."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(part) if i % 2 else 0, part) for i, part in enumerate(parts)]


def _is_of(format_: ExportFormat, path: str, *, any_ending: bool = False) -> bool:
    """Whether a file is of a format, by the end of its name and, where that says too little, by its first lines."""
    if without_compression(path).lower().endswith(format_.endings):
        return not format_.first_words or any(
            line.lstrip(" ").startswith(format_.first_words) for line in _first_lines(path)
        )
    is_file = any_ending and bool(format_.first_words) and os.path.isfile(path)
    return is_file and any(line.lstrip(" ").startswith(format_.first_words) for line in _first_lines(path))


def _looks_like_a_log(path: str) -> bool:
    """Whether an ACPC log begins in a file; an empty one is what a match leaves that is stopped at once."""
    lines = _first_lines(path)
    is_header = len(lines) == 1 and HEADER_START.startswith(lines[0])
    return is_header or any(line.startswith((HEADER_START, "STATE:")) for line in lines)


_LIKENESSES: Final = (
    (
        r"POKERSTARS (ZOOM |HOME GAME )?(HAND|GAME) #",
        "it looks like a PokerStars hand history that another program converted: the client writes 'PokerStars Hand #'",
    ),
    (
        r"(full tilt poker|partypoker|ignition|bovada|winamax poker|pacific poker|888poker|game started at)\b"
        r"|\*+ ?(hand history for|#?game|888poker|cassava|pacific)|(game|hand) #",
        "it looks like a hand history of another card room, and only those of PokerStars are read",
    ),
    (r"\{?\s*\"ohh\"", "it looks like Open Hand History, which is written and not read"),
    (r"variant *=", "it looks like PHH: give its name the ending .phh, or .phhs if it has many hands"),
    (r"<(\?xml|session|html|!doctype)", "it is XML or HTML, and only ACPC logs, PHH and PokerStars texts are read"),
)
"""What a file that is not read may look like, by the beginning of one of its first lines."""


def _likeness(lines: Sequence[str]) -> str | None:
    """What a file that is none of ours looks like, as a sentence without its stop; None where nobody can tell."""
    if not all(map(is_text, lines)):
        return "it is not text, and only ACPC logs, PHH and PokerStars texts are read"
    for pattern, sentence in _LIKENESSES:
        if any(re.match(pattern, line.strip(), re.IGNORECASE) for line in lines):
            return sentence
    return None


def _first_lines(path: str) -> list[str]:
    """The first lines of a file without a byte order mark; none where it cannot be read."""
    try:
        with opened(path, errors="replace") as file:
            return file.read(_SNIFFED_CHARACTERS).split("\n")
    except (LogError, OSError):
        return []
