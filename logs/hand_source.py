"""Hands from wherever they are: log files, the folder of a run, whole trees of them.

    for record in find(["runs/x"], on_problem=print).hands():
        ...

`find` makes a `HandSource` of paths: the one thing that whatever counts, compares, shows or converts hands takes.

A file is recognised by its name (``.phh``, ``.phhs``), or by its first lines where names are ambiguous, as those of
PokerStars histories are; any other file is read as an ACPC log. Any of them may be compressed (``.xz``, ``.gz``,
``.bz2``). In a folder the files of all formats are read, except histories that were exported from others of its files.

A hand counts once, however many files hold it (see `logs.hand_identity`).
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, partial
from itertools import groupby
from operator import attrgetter
from typing import Final, TypeAlias

from engine import Game
from engine.text import count_of, is_text
from logs.acpc_log.header import HEADER_START, read_log_header
from logs.acpc_log.parts import LogPart
from logs.acpc_log.reader import read_log
from logs.errors import DamagedLogError, LogError, LogProblem, NotALogError, ProblemKind
from logs.export import FORMATS
from logs.files import opened, stem, without_compression
from logs.formats.export_format import ExportFormat, HandReader
from logs.formats.hand_numbers import is_exported_number
from logs.hand_identity import Originals, SeenHands, repeated_lines
from logs.record import HandRecord
from logs.rooms import room_of

OnProblem: TypeAlias = Callable[[LogProblem], None]

_COMPARED_LINES: Final = 8
"""As many as show in a log, behind its header, who plays its first hands."""
_FILES_PER_LOG: Final = 3
"""A log, its transaction log and its comments."""
_OTHER_FILES: Final = 64
_SNIFFED_CHARACTERS: Final = 4096
_HAND_NUMBER: Final = re.compile(r"^\W{0,2}(?:PokerStars|Poker)[^#\n]{1,30} #[A-Z]{0,4}([0-9]{1,19}):", re.MULTILINE)
_UNRECOGNISED: Final = "not recognised: it is neither an ACPC log nor a hand history that is read"
_PHH_NUMBER: Final = re.compile(r"^hand *= *([0-9]{1,18}) *$", re.MULTILINE)
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
        repeats: by path of a log, the lines whose hands are in an earlier log; None before copies are looked for.
    """

    files: tuple[HandFile, ...]
    game: Game | None = None
    strict: bool = False
    times: bool = False
    transcript: str | os.PathLike[str] | None = None
    on_problem: OnProblem | None = None
    has_others: bool = False
    repeats: Mapping[str, frozenset[int]] | None = None

    def hands(self) -> Iterator[HandRecord]:
        """All hands, each once."""
        for _, hands in self.by_file():
            yield from hands

    def by_file(self) -> Iterator[tuple[HandFile, Iterator[HandRecord]]]:
        """The files with their hands, which are to be read before the next file; each hand once."""
        source = self.without_copies()
        seen = SeenHands()
        for file in source.files:
            yield file, source.read(file, seen=seen)
        source.report_repeats(seen)

    def by_deal(self) -> Iterator[HandRecord]:
        """The hands, those of a deal one after the other where files name their seed; each hand once."""
        source = self.without_copies()
        seen = SeenHands()
        for group in source.groups():
            yield from side_by_side([group.read(file, seen=seen) for file in group.files])
        source.report_repeats(seen)

    def deals(self) -> Iterator[list[tuple[str, HandRecord]]]:
        """The hands of each deal as in `by_deal`, each with the path of its file."""
        source = self.without_copies()
        seen = SeenHands()
        for group in source.groups():
            _allow_open_files(_FILES_PER_LOG * len(group.files))
            hands = [_with_path(group.read(file, seen=seen), file.path) for file in group.files]
            merged = heapq.merge(*hands, key=_hand_number)
            for _, deal in groupby(merged, _hand_number):
                yield list(deal)
        source.report_repeats(seen)

    def groups(self) -> list[HandSource]:
        """The files in groups of the same seed, in the order of their first files: only ACPC logs name their seed."""
        groups: dict[object, list[HandFile]] = {}
        for file in self.files:
            header = read_log_header(file.path) if file.format is None else None
            groups.setdefault(file.path if header is None else header.seed, []).append(file)
        return [replace(self, files=tuple(files)) for files in groups.values()]

    def without_copies(self) -> HandSource:
        """The files without those that hold the hands of others once more; these are reported as problems.

        These are files given twice, files that begin as another one does, to their end, and histories that were
        exported from another file. Of two copies the longer one stays, of equal ones the first. Of the logs that
        remain, the lines are noted that repeat hands of another.
        """
        if self.repeats is not None:
            return self
        copied = _copies(self.files)
        self.report(
            [LogProblem(self.files[at].path, 1, None, copied[at], ProblemKind.SKIPPED) for at in sorted(copied)]
        )
        files = [file for at, file in enumerate(self.files) if at not in copied]
        exported = _exports(files)
        self.report(_left_out(exported))
        kept = tuple([file for file in files if file.path not in exported])
        repeats = repeated_lines([file.path for file in kept if file.format is None], self.game)
        return replace(self, files=kept, has_others=len(self.files) > 1, repeats=repeats)

    def report_repeats(self, seen: SeenHands) -> None:
        """Report how many hands were read more than once, after the last hand."""
        problem = self.repeats_problem(seen)
        self.report([] if problem is None else [problem])

    def repeats_problem(self, seen: SeenHands) -> LogProblem | None:
        """How many hands are in the files more than once; None if each is in them once."""
        repeats = {path: lines for path, lines in (self.repeats or {}).items() if lines}
        count = seen.repeated + sum(map(len, repeats.values()))
        if not count:
            return None
        if repeats:
            path = next(iter(repeats))
            where = f"the first is in line {min(repeats[path])}"
        else:
            path, number = seen.first or ("", 0)
            where = f"the first is hand {number}"
        verb = "is" if count == 1 else "are"
        problem = f"{count_of(count, 'hand')} {verb} in the files twice, {where}"
        if seen.conflicting:
            problem += f"; {seen.conflicting:,} of them with other content, and the first to be read stays"
        return LogProblem(path, None, None, problem, ProblemKind.COUNTED_ONCE)

    def report(self, problems: Iterable[LogProblem]) -> None:
        """Report what was found wrong.

        Raises:
            DamagedLogError: there was a problem while reading strictly.
        """
        for problem in problems:
            if self.on_problem is not None:
                self.on_problem(problem)
            if self.strict and problem.is_damage:
                raise DamagedLogError(problem)

    def read(
        self, file: HandFile, part: LogPart | None = None, *, seen: SeenHands | None = None
    ) -> Iterator[HandRecord]:
        """The hands of one of the files, or of a part of an ACPC log; without those in `seen`, which grows."""
        try:
            if not self.has_others and not os.path.getsize(file.path):
                raise LogError(file.path, "the file is empty")
            read = None if file.format is None else file.format.read
            if read is not None:
                hands = read(file.path, strict=self.strict, on_problem=self.on_problem, chip_value=file.chip_value)
                if seen is not None:
                    hands = seen.filter(file.path, hands, room=_room_of(file))
                yield from hands
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
            left_out=(self.repeats or {}).get(path, frozenset()),
        )
        try:
            yield from hands
        except NotALogError as error:
            is_named_log = without_compression(path).lower().endswith(".log")
            problem = error.problem if is_named_log else _UNRECOGNISED
            raise LogError(path, _likeness(_first_lines(path)) or problem) from None


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
            files_in, unlike = _files_in(path)
            found += files_in
            if unlike and on_problem is not None:
                on_problem(_unrecognised(path, unlike))
        elif os.path.isfile(path):
            is_format = (format_ for format_ in _READABLE if _is_of(format_, path, any_ending=True))
            found.append(HandFile(path, next(is_format, None)))
        elif os.path.exists(path):
            raise LogError(path, "this is not a regular file")
        else:
            raise LogError(path, "there is no such file or folder")
    files = tuple(_with_chips(found, None if chip_value is None else Decimal(str(chip_value))))
    return HandSource(files, game, strict, times, transcript, on_problem, has_others=len(files) > 1)


def _unrecognised(folder: str, paths: Sequence[str]) -> LogProblem:
    reason = _likeness(_first_lines(paths[0]))
    name = os.path.relpath(paths[0], folder)
    if len(paths) == 1:
        return LogProblem(paths[0], None, None, reason or _UNRECOGNISED, ProblemKind.LEFT_OUT)
    problem = f"{count_of(len(paths), 'text file')} are not read; of {name}: {reason or _UNRECOGNISED}"
    return LogProblem(folder, None, None, problem, ProblemKind.LEFT_OUT)


def side_by_side(hands: Sequence[Iterator[HandRecord]]) -> Iterator[HandRecord]:
    """The hands of files that hold the same cards, each file's by rising numbers: all hands of a deal one after the
    other.
    """
    _allow_open_files(_FILES_PER_LOG * len(hands))
    if len(hands) == 1:
        return hands[0]
    return heapq.merge(*hands, key=attrgetter("hand_number"))


def _with_path(hands: Iterator[HandRecord], path: str) -> Iterator[tuple[str, HandRecord]]:
    for record in hands:
        yield path, record


def _hand_number(hand: tuple[str, HandRecord]) -> int:
    return hand[1].hand_number


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
    alike: dict[object, list[int]] = {}
    copied: dict[int, str] = {}
    for at, file in enumerate(files):
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


def _exports(files: Sequence[HandFile]) -> dict[str, str]:
    """By the path of each history that was exported from one of the files, the path of that file."""
    # An export may come from any format before its own.
    order = [None, *_READABLE]
    ranks = {file.path: order.index(file.format) for file in files}
    if len(set(ranks.values())) < 2:
        return {}
    originals = Originals()
    exported: dict[str, str] = {}
    for file in sorted(files, key=lambda file: ranks[file.path]):
        source = HandSource((file,))
        if file.format is not None and (original := originals.source_of(partial(source.read, file))):
            exported[file.path] = original
        elif file.format is not None or _looks_like_a_log(file.path):
            originals.add(file.path, source.read(file))
    return exported


def _left_out(exported: Mapping[str, str]) -> list[LogProblem]:
    if not exported:
        return []
    path, original = next(iter(exported.items()))
    if len(exported) == 1:
        problem = f"it was exported from {original}"
    else:
        problem = f"{count_of(len(exported), 'file')} were exported from others, this one from {original}"
    return [LogProblem(path, None, None, problem, ProblemKind.COUNTED_ONCE)]


def _shorter_copy(file: HandFile, other: HandFile) -> HandFile | None:
    """Which of two files is the beginning of the other, or its copy; None where they differ."""
    if os.path.realpath(file.path) == os.path.realpath(other.path):
        return file
    with opened(file.path) as one, opened(other.path) as two:
        while True:
            here = one.read(1 << 16)
            there = two.read(1 << 16)
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


def _room_of(file: HandFile) -> str | None:
    """The word that the hands of a card room begin with; None for formats that rooms do not write."""
    words = () if file.format is None else file.format.first_words
    lines = [line.lstrip(" \ufeff") for line in _first_lines(file.path)] if words else []
    return next((line.partition(" ")[0] for line in lines if line.startswith(words)), None)


def _files_in(folder: str) -> tuple[list[HandFile], list[str]]:
    """The files with hands in a folder, format by format, and the texts in which none are recognised.

    Raises:
        LogError: there are no hands.
    """
    logs: list[HandFile] = []
    unlike: list[str] = []
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
                if without_compression(name).lower().endswith(".txt"):
                    unlike.append(path)
    every = [*logs, *(file for of_format in others.values() for file in of_format)]
    found = [file for file in every if not _is_own_export(file, every)]
    if not found:
        problem = "there is no ACPC log, PHH file or PokerStars hand history in this folder"
        likeness = _likeness(_first_lines(unlike[0])) if unlike else None
        name = os.path.basename(unlike[0]) if unlike else ""
        raise LogError(folder, problem if likeness is None else f"{problem}; of {name}: {likeness}")
    return found, unlike


def _is_own_export(file: HandFile, files: Sequence[HandFile]) -> bool:
    """Whether a history lies where it is exported to, in a folder of its format's name, beside files with its hands."""
    folder, name = os.path.split(file.path)
    parent, format_name = os.path.split(folder)
    if file.format is None or format_name != file.format.name:
        return False
    beside = [other for other in files if os.path.dirname(other.path) == parent]
    first_lines = "\n".join(_first_lines(file.path))
    if file.format.first_words:
        number = _HAND_NUMBER.search(first_lines)
        return bool(beside) and number is not None and is_exported_number(int(number[1]))
    if any(stem(other.path) == os.path.join(parent, stem(name)) for other in beside if other.format is None):
        return True
    number = _PHH_NUMBER.search(first_lines)
    rooms = [other for other in beside if other.format is not None and other.format.first_words]
    return number is not None and any(int(number[1]) in _numbers_in(other.path) for other in rooms)


def _numbers_in(path: str) -> frozenset[int]:
    """The numbers of the hands of a card room in a file."""
    return _known_numbers(path, os.path.getmtime(path))


@lru_cache(maxsize=1 << 10)
def _known_numbers(path: str, _: float) -> frozenset[int]:
    found = set[int]()
    try:
        with opened(path, errors="replace") as file:
            for line in iter(lambda: file.readline(_SNIFFED_CHARACTERS), ""):
                if " #" in line and (number := _HAND_NUMBER.match(line)):
                    found.add(int(number[1]))
    except (LogError, OSError):
        pass  # Reading the file reports it.
    return frozenset(found)


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
    (r"\{?\s*\"ohh\"", "it looks like Open Hand History, which is written and not read"),
    (r"variant *=", "it looks like PHH: give its name the ending .phh, or .phhs if it has many hands"),
    (r"<(\?xml|session|html|!doctype)", "it is XML or HTML, and only ACPC logs, PHH and PokerStars texts are read"),
)
"""What a file that is not read may look like, by the beginning of one of its first lines."""


def _likeness(lines: Sequence[str]) -> str | None:
    """What an unsupported file looks like, as a sentence without its stop; None if it is not recognised."""
    if (room := room_of(lines)) is not None:
        return room
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
