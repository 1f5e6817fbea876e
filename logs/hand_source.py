"""Hands from wherever they are: log files, the folder of a run, whole trees of them.

    for record in find(["runs/x"], on_problem=print).hands():
        ...

`find` makes a `HandSource` of paths: the one thing that whatever counts, compares, shows or converts hands takes.

A file is recognised by its name (``.phh``, ``.phhs``), or by its first lines where names are ambiguous, as those of
PokerStars histories are; any other file is taken for an ACPC log. In a folder the ACPC logs count. The files of other
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
from itertools import groupby
from operator import attrgetter
from typing import Final, TypeAlias

from engine import Game
from engine.text import is_text
from logs.acpc_log.header import HEADER_START, read_log_header
from logs.acpc_log.parts import LogPart
from logs.acpc_log.reader import read_log
from logs.errors import DamagedLogError, LogError, LogProblem, NotALogError, ProblemKind
from logs.export import FORMATS
from logs.files import opened, without_compression
from logs.formats import ExportFormat, HandReader
from logs.record import HandRecord

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
    """A file with hands in it; the format is None for an ACPC log, and `chip_value` is in the file's money."""

    path: str
    format: ExportFormat | None = None
    chip_value: Decimal = Decimal(1)


@dataclass(frozen=True, slots=True)
class HandSource:
    """Files of hands, and how they are read; nothing is read before hands are asked for.

    Where there are several files, one that cannot be read at all is a problem like any other, as long as problems are
    reported and reading is not strict. All that read raise `LogError` for a file that cannot be read at all,
    `DamagedLogError` for the first problem while reading strictly, and `OSError`.

    Attributes:
        files: in the order in which they are read.
        game: of ACPC logs that do not name one.
        strict: stop at the first problem, except for a half-written last line.
        times: take the times of actions from the transaction logs that go with ACPC logs.
        transcript: the dealer's transcript; for a single log.
        on_problem: takes every problem as it is met.
        has_others: whether the files are among several.
    """

    files: tuple[HandFile, ...]
    game: Game | None = None
    strict: bool = False
    times: bool = False
    transcript: str | os.PathLike[str] | None = None
    on_problem: OnProblem | None = None
    has_others: bool = False

    def hands(self) -> Iterator[HandRecord]:
        for file in self.files:
            yield from self.read(file)

    def by_deal(self) -> Iterator[HandRecord]:
        """The hands, those of a deal one after the other where files name their seed."""
        for group in self.groups():
            yield from side_by_side([group.read(file) for file in group.files])

    def deals(self) -> Iterator[list[tuple[str, HandRecord]]]:
        """The hands of each deal as in `by_deal`, each with the path of its file."""
        for group in self.groups():
            paths: dict[int, str] = {}
            hands = side_by_side([_noted(group.read(file), file.path, paths) for file in group.files])
            for _, deal in groupby(hands, attrgetter("hand_number")):
                yield [(paths.pop(id(record)), record) for record in list(deal)]

    def groups(self) -> list[HandSource]:
        """The files in groups of the same seed, in the order of their first files: only ACPC logs name their seed."""
        groups: dict[object, list[HandFile]] = {}
        for file in self.files:
            header = read_log_header(file.path) if file.format is None else None
            groups.setdefault(file.path if header is None else header.seed, []).append(file)
        return [replace(self, files=tuple(files)) for files in groups.values()]

    def without_copies(self) -> HandSource:
        """The files without those that hold the hands of others once more; each of these is reported as a problem.

        These are files given twice, files that begin as another one does, to their end, and files of other formats in
        the folder of an ACPC log or in a folder of it: exports of the same run. Of two copies the longer one stays, of
        equal ones the first.
        """
        copied = _copies(self.files)
        self.report(
            [LogProblem(self.files[at].path, 1, None, copied[at], ProblemKind.SKIPPED) for at in sorted(copied)]
        )
        files = tuple([file for at, file in enumerate(self.files) if at not in copied])
        return replace(self, files=files, has_others=len(files) > 1)

    def report(self, problems: Iterable[LogProblem]) -> None:
        """Report what was found wrong.

        Raises:
            DamagedLogError: there was a problem while reading strictly.
        """
        for problem in problems:
            if self.on_problem is not None:
                self.on_problem(problem)
            if self.strict and not problem.is_end:
                raise DamagedLogError(problem)

    def read(self, file: HandFile, part: LogPart | None = None) -> Iterator[HandRecord]:
        """The hands of one of the files, or of a part of an ACPC log."""
        try:
            if not self.has_others and not os.path.getsize(file.path):
                raise LogError(file.path, "the file is empty")
            read = None if file.format is None else file.format.read
            if read is not None:
                yield from read(file.path, strict=self.strict, on_problem=self.on_problem, chip_value=file.chip_value)
            else:
                yield from self._read_log(file.path, part)
        except LogError as error:
            if self.strict or self.on_problem is None or not self.has_others:
                raise
            self.on_problem(LogProblem(file.path, 1, None, error.problem, ProblemKind.SKIPPED))

    def _read_log(self, path: str, part: LogPart | None) -> Iterator[HandRecord]:
        hands = read_log(
            path,
            game=self.game,
            strict=self.strict,
            on_problem=self.on_problem,
            times=self.times,
            transcript=self.transcript,
            part=part,
        )
        try:
            yield from hands
        except NotALogError as error:
            raise LogError(path, _likeness(_first_lines(path)) or error.problem) from None


def find(
    paths: Iterable[str | os.PathLike[str]],
    *,
    chip_value: Decimal | float | None = None,
    game: Game | None = None,
    strict: bool = False,
    times: bool = False,
    transcript: str | os.PathLike[str] | None = None,
    on_problem: OnProblem | None = None,
) -> HandSource:
    """The files with hands at paths of files and folders, in the order given; within a folder ordered by name.

    The other arguments are those of a `HandSource`.

    Args:
        paths: of files and folders.
        chip_value: the value of a chip in the money of all files but ACPC logs; None for its value in the
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
    files = tuple(_with_chips(found, None if chip_value is None else Decimal(str(chip_value))))
    return HandSource(files, game, strict, times, transcript, on_problem, has_others=len(files) > 1)


def side_by_side(hands: Sequence[Iterator[HandRecord]]) -> Iterator[HandRecord]:
    """The hands of files that hold the same cards, each file's by rising numbers: all hands of a deal one after the
    other.
    """
    _allow_open_files(_FILES_PER_LOG * len(hands))
    return hands[0] if len(hands) == 1 else heapq.merge(*hands, key=attrgetter("hand_number"))


def _noted(hands: Iterator[HandRecord], path: str, paths: dict[int, str]) -> Iterator[HandRecord]:
    for record in hands:
        paths[id(record)] = path
        yield record


@lru_cache(maxsize=1 << 14)
def _chip_value_in(read: HandReader, path: str, _: float) -> Decimal:
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


def _copies(files: Sequence[HandFile]) -> dict[int, str]:
    real = [os.path.realpath(file.path) for file in files]
    folders = {os.path.dirname(path) for path, file in zip(real, files, strict=True) if file.format is None}
    alike: dict[object, list[int]] = {}
    copied: dict[int, str] = {}
    for at, file in enumerate(files):
        here = os.path.dirname(real[at])
        if file.format is not None and not folders.isdisjoint((here, os.path.dirname(here))):
            copied[at] = "it was exported from a log in the same folder, which counts instead"
            continue
        first_lines = tuple(_first_lines(real[at])[:_COMPARED_LINES])
        same = alike.setdefault((file.format and file.format.name, first_lines), [])
        for other in same:
            shorter = _shorter_copy(file, files[other])
            if shorter is not None:
                copy, kept = (at, other) if shorter is file else (other, at)
                is_same = real[at] == real[other]
                words = "it is given twice" if is_same else f"its hands are those of {files[kept].path}"
                copied[copy] = f"{words}, and count{'s' * is_same} once"
        same[:] = [one for one in [*same, at] if one not in copied]
    return copied


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
    """Whether a file is of a format, by the end of its name and, where that is ambiguous, by its first lines."""
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
    """What an unsupported file looks like, as a sentence without its stop; None if it is not recognised."""
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
