"""Sources of hands: log files, hand histories, and folders of them.

    for record in find(["runs/x"], on_problem=print).hands():
        ...

`find` makes a `HandSource` of paths, which everything that counts, compares, shows or converts hands takes. A file is
recognised by its name (``.phh``, ``.phhs``), or by its first lines if its name is ambiguous, as with PokerStars
histories. Any other file is read as an ACPC log. Files may be compressed (``.xz``, ``.gz``, ``.bz2``). A hand counts
once, however many files have it (see `logs.hand_identity`).
"""

from __future__ import annotations

import contextlib
import heapq
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, partial
from itertools import chain, groupby
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
"""First lines of a file that are compared: the header of a log, and the players of its first hands."""
_FILES_PER_LOG: Final = 3
"""Open files per log: the log, its transaction log and its comments."""
_SPARE_FILES: Final = 64
_SNIFFED_CHARACTERS: Final = 4096
_HAND_NUMBER: Final = re.compile(r"^\W{0,2}(?:PokerStars|Poker)[^#\n]{1,30} #[A-Z]{0,4}([0-9]{1,19}):", re.MULTILINE)
_UNRECOGNISED: Final = "not recognised: it is neither an ACPC log nor a hand history that is read"
_PHH_NUMBER: Final = re.compile(r"^hand *= *([0-9]{1,18}) *$", re.MULTILINE)
_READABLE: Final = sorted(
    [format_ for format_ in FORMATS.values() if format_.read is not None], key=lambda format_: bool(format_.first_words)
)
"""Formats that are read besides the ACPC log, first those that are recognised by the name of a file."""


@dataclass(frozen=True, slots=True)
class HandFile:
    """A file of hands.

    Attributes:
        format: None for an ACPC log.
        chip_value: value of a chip in the file's money.
    """

    path: str
    format: ExportFormat | None = None
    chip_value: Decimal = Decimal(1)


@dataclass(frozen=True, slots=True)
class HandSource:
    """Files of hands, and the way to read them; nothing is read before hands are requested.

    Reading raises `LogError` for a file that cannot be read at all, `DamagedLogError` for the first problem while
    reading strictly, and `OSError`. If there are several files, problems are reported and reading is not strict, a file
    that cannot be read at all is reported as a problem instead.

    Attributes:
        files: in the order in which they are read.
        game: game of ACPC logs that do not name one.
        strict: whether to stop at the first problem, except for a half-written last line.
        times: whether to read the times of actions from the transaction logs of ACPC logs.
        transcript: the dealer's transcript, for a single log.
        on_problem: called with every problem.
        has_others: whether there are several files.
        repeats: by path of a log, the lines whose hands are in an earlier log; None before copies are searched.
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
        """Yield all hands, each once."""
        for _, hands in self.by_file():
            yield from hands

    def by_file(self) -> Iterator[tuple[HandFile, Iterator[HandRecord]]]:
        """Yield the files with their hands, to be read before the next file; each hand occurs once."""
        source = self.without_copies()
        seen = SeenHands()
        for file in source.files:
            yield file, source.read(file, seen=seen)
        source.report_repeats(seen)

    def by_deal(self) -> Iterator[HandRecord]:
        """Yield all hands, each once; hands of a deal are consecutive if the files name their seed."""
        source = self.without_copies()
        seen = SeenHands()
        for group in source.groups():
            yield from side_by_side([group.read(file, seen=seen) for file in group.files])
        source.report_repeats(seen)

    def deals(self) -> Iterator[list[tuple[str, HandRecord]]]:
        """Yield the hands of each deal as in `by_deal`, each with the path of its file."""
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
        """Return the files in groups of the same seed, in the order of their first files."""
        groups: dict[object, list[HandFile]] = {}
        for file in self.files:
            # Only ACPC logs name their seed. Any other file is a group of its own.
            header = read_log_header(file.path) if file.format is None else None
            key = file.path if header is None else header.seed
            groups.setdefault(key, []).append(file)
        return [replace(self, files=tuple(files)) for files in groups.values()]

    def without_copies(self) -> HandSource:
        """Return the source without files that repeat the hands of others; these are reported as problems.

        Such are files given twice, files that another one begins with, and histories exported from another file. Of two
        copies the longer one stays, of equal ones the first. Lines of the remaining logs that repeat hands of another
        log are noted in `repeats`.
        """
        if self.repeats is not None:
            return self
        copies = _find_copies(self.files)
        for index in sorted(copies):
            self.report([LogProblem(self.files[index].path, 1, None, copies[index], ProblemKind.SKIPPED)])
        files = [file for index, file in enumerate(self.files) if index not in copies]
        exports = _find_exports(files)
        self.report(_export_problems(exports))
        kept_files = tuple([file for file in files if file.path not in exports])
        log_paths = [file.path for file in kept_files if file.format is None]
        repeats = repeated_lines(log_paths, self.game)
        return replace(self, files=kept_files, has_others=len(self.files) > 1, repeats=repeats)

    def report_repeats(self, seen: SeenHands) -> None:
        """Report the number of hands that were read more than once, after the last hand."""
        problem = self.repeats_problem(seen)
        if problem is not None:
            self.report([problem])

    def repeats_problem(self, seen: SeenHands) -> LogProblem | None:
        """Describe the hands that the files have more than once; None without such hands."""
        repeats = {path: lines for path, lines in (self.repeats or {}).items() if lines}
        count = seen.repeated + sum(map(len, repeats.values()))
        if not count:
            return None
        if repeats:
            path = next(iter(repeats))
            first = f"the first is in line {min(repeats[path])}"
        else:
            path, number = seen.first or ("", 0)
            first = f"the first is hand {number}"
        verb = "is" if count == 1 else "are"
        problem = f"{count_of(count, 'hand')} {verb} in the files twice, {first}"
        if seen.conflicting:
            problem += f"; {seen.conflicting:,} of them with other content, and the first to be read stays"
        return LogProblem(path, None, None, problem, ProblemKind.COUNTED_ONCE)

    def report(self, problems: Iterable[LogProblem]) -> None:
        """Report problems.

        Raises:
            DamagedLogError: a problem is damage, and reading is strict.
        """
        for problem in problems:
            if self.on_problem is not None:
                self.on_problem(problem)
            if self.strict and problem.is_damage:
                raise DamagedLogError(problem)

    def read(
        self, file: HandFile, part: LogPart | None = None, *, seen: SeenHands | None = None
    ) -> Iterator[HandRecord]:
        """Yield the hands of one of the files, or of a part of an ACPC log.

        Args:
            seen: hands read before, which are left out; those of this file are added.
        """
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
    """Find the files of hands at some paths, in this order; within a folder by name.

    In a folder, the files of all formats are found, except histories exported from other files of the folder.

    Args:
        paths: paths of files and folders.
        chip_value: value of a chip in the money of all files except ACPC logs; None for its value in the format, or for
            the smallest unit of all files of a format that are read together.
        game: see `HandSource`, as for all other arguments.

    Raises:
        LogError: there is nothing at a path, or no file of hands in a folder.
        OSError: a file cannot be read.
    """
    files: list[HandFile] = []
    for given_path in paths:
        path = os.fspath(given_path)
        if os.path.isdir(path):
            folder_files, unrecognised = _files_in(path)
            files += folder_files
            if unrecognised and on_problem is not None:
                on_problem(_unrecognised_problem(path, unrecognised))
        elif os.path.isfile(path):
            formats = (format_ for format_ in _READABLE if _has_format(format_, path, any_ending=True))
            files.append(HandFile(path, next(formats, None)))
        elif os.path.exists(path):
            raise LogError(path, "this is not a regular file")
        else:
            raise LogError(path, "there is no such file or folder")
    given_value = None if chip_value is None else Decimal(str(chip_value))
    hand_files = tuple(_with_chip_values(files, given_value))
    return HandSource(hand_files, game, strict, times, transcript, on_problem, has_others=len(hand_files) > 1)


def _unrecognised_problem(folder: str, paths: Sequence[str]) -> LogProblem:
    reason = _likeness(_first_lines(paths[0])) or _UNRECOGNISED
    if len(paths) == 1:
        return LogProblem(paths[0], None, None, reason, ProblemKind.LEFT_OUT)
    name = os.path.relpath(paths[0], folder)
    problem = f"{count_of(len(paths), 'text file')} are not read; of {name}: {reason}"
    return LogProblem(folder, None, None, problem, ProblemKind.LEFT_OUT)


def side_by_side(hands: Sequence[Iterator[HandRecord]]) -> Iterator[HandRecord]:
    """Merge the hands of files with the same cards by number, so that the hands of a deal are consecutive."""
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
def _chip_value_in(read: HandReader, path: str, modified_s: float) -> Decimal:
    # The time of the last change is a part of the cache's key only.
    return read.chip_value_in(path)


def _with_chip_values(files: list[HandFile], given: Decimal | None) -> list[HandFile]:
    """Set the value of a chip in files with money; it is the same for all files of a format."""
    for format_ in _READABLE:
        if format_.read is None:
            continue
        values = []
        for file in files:
            if file.format is format_:
                modified_s = os.path.getmtime(file.path)
                values.append(given or _chip_value_in(format_.read, file.path, modified_s))
        if values:
            chip_value = min(values)
            files = [replace(file, chip_value=chip_value) if file.format is format_ else file for file in files]
    return files


def _find_copies(files: Sequence[HandFile]) -> dict[int, str]:
    """Return the problem of each file that is a copy of another or its beginning, by index."""
    real_paths = [os.path.realpath(file.path) for file in files]
    # Files that begin alike. Of each copy only the longer file remains here.
    candidates: dict[object, list[int]] = {}
    copies: dict[int, str] = {}
    for index, file in enumerate(files):
        first_lines = tuple(_first_lines(real_paths[index])[:_COMPARED_LINES])
        format_name = None if file.format is None else file.format.name
        similar = candidates.setdefault((format_name, first_lines), [])
        for other in similar:
            shorter = _shorter_copy(file, files[other])
            if shorter is None:
                continue
            copy, kept = (index, other) if shorter is file else (other, index)
            if real_paths[index] == real_paths[other]:
                copies[copy] = "it is given twice, and counts once"
            else:
                copies[copy] = f"its hands are those of {files[kept].path}, and count once"
        similar.append(index)
        similar[:] = [number for number in similar if number not in copies]
    return copies


def _find_exports(files: Sequence[HandFile]) -> dict[str, str]:
    """Return the original of each history that was exported from another file, by path."""
    # An export may come from any format before its own.
    order = [None, *_READABLE]
    ranks = {file.path: order.index(file.format) for file in files}
    if len(set(ranks.values())) < 2:
        return {}
    originals = Originals()
    exports: dict[str, str] = {}
    for file in sorted(files, key=lambda file: ranks[file.path]):
        source = HandSource((file,))
        if file.format is not None:
            original = originals.source_of(partial(source.read, file))
            if original:
                exports[file.path] = original
                continue
        elif not _looks_like_a_log(file.path):
            continue
        originals.add(file.path, source.read(file))
    return exports


def _export_problems(exports: Mapping[str, str]) -> list[LogProblem]:
    if not exports:
        return []
    path, original = next(iter(exports.items()))
    problem = f"it was exported from {original}"
    if len(exports) > 1:
        problem = f"{count_of(len(exports), 'file')} were exported from others, this one from {original}"
    return [LogProblem(path, None, None, problem, ProblemKind.COUNTED_ONCE)]


def _shorter_copy(file: HandFile, other: HandFile) -> HandFile | None:
    """Return the file that is the beginning of the other one, or its copy; None if they differ."""
    if os.path.realpath(file.path) == os.path.realpath(other.path):
        return file
    with opened(file.path) as text, opened(other.path) as other_text:
        while True:
            chunk = text.read(1 << 16)
            other_chunk = other_text.read(1 << 16)
            length = min(len(chunk), len(other_chunk))
            if chunk[:length] != other_chunk[:length]:
                return None
            if not chunk or len(chunk) < len(other_chunk):
                return file
            if len(other_chunk) < len(chunk):
                return other


def _allow_open_files(count: int) -> None:
    """Raise the number of files that this process may have open, as far as the system allows it."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = count + _SPARE_FILES
    if resource.RLIM_INFINITY != soft < needed:
        limit = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def _room_of(file: HandFile) -> str | None:
    """Return the word with which the hands of a card room begin; None for formats that rooms do not write."""
    if file.format is None or not file.format.first_words:
        return None
    for line in _first_lines(file.path):
        line = line.lstrip(" \ufeff")
        if line.startswith(file.format.first_words):
            return line.partition(" ")[0]
    return None


def _files_in(folder: str) -> tuple[list[HandFile], list[str]]:
    """Return the files of hands in a folder, by format, and the text files that are not recognised.

    Raises:
        LogError: there are no hands.
    """
    # Logs first, then the formats that are read.
    by_format: dict[str | None, list[HandFile]] = {None: []}
    for format_ in _READABLE:
        by_format[format_.name] = []
    unrecognised: list[str] = []
    for parent, folders, names in os.walk(folder):
        folders.sort(key=_natural)
        for name in sorted(names, key=_natural):
            path = os.path.join(parent, name)
            if not os.path.isfile(path):
                continue
            file_name = without_compression(name).lower()
            if file_name.endswith(".log"):
                if _looks_like_a_log(path):
                    by_format[None].append(HandFile(path))
                continue
            format_of_file = next((format_ for format_ in _READABLE if _has_format(format_, path)), None)
            if format_of_file is not None:
                by_format[format_of_file.name].append(HandFile(path, format_of_file))
            elif file_name.endswith(".txt"):
                unrecognised.append(path)
    all_files = list(chain.from_iterable(by_format.values()))
    files = [file for file in all_files if not _is_own_export(file, all_files)]
    if files:
        return files, unrecognised
    problem = "there is no ACPC log, PHH file or PokerStars hand history in this folder"
    if unrecognised:
        likeness = _likeness(_first_lines(unrecognised[0]))
        if likeness is not None:
            problem += f"; of {os.path.basename(unrecognised[0])}: {likeness}"
    raise LogError(folder, problem)


def _is_own_export(file: HandFile, files: Sequence[HandFile]) -> bool:
    """Return whether a history lies where exports of its folder are written."""
    folder, name = os.path.split(file.path)
    parent, format_name = os.path.split(folder)
    if file.format is None or format_name != file.format.name:
        return False
    siblings = [other for other in files if os.path.dirname(other.path) == parent]
    first_lines = "\n".join(_first_lines(file.path))
    if file.format.first_words:
        number = _HAND_NUMBER.search(first_lines)
        return bool(siblings) and number is not None and is_exported_number(int(number[1]))
    # A PHH file has the name of its log, or a number of a hand of a card room.
    log_stem = os.path.join(parent, stem(name))
    if any(other.format is None and stem(other.path) == log_stem for other in siblings):
        return True
    number = _PHH_NUMBER.search(first_lines)
    if number is None:
        return False
    room_files = [other for other in siblings if other.format is not None and other.format.first_words]
    return any(int(number[1]) in _numbers_in(other.path) for other in room_files)


def _numbers_in(path: str) -> frozenset[int]:
    """Return the numbers of the hands of a card room in a file."""
    return _cached_numbers(path, os.path.getmtime(path))


@lru_cache(maxsize=1 << 10)
def _cached_numbers(path: str, modified_s: float) -> frozenset[int]:
    numbers: set[int] = set()
    # Reading the file reports errors.
    with contextlib.suppress(LogError, OSError), opened(path, errors="replace") as file:
        while line := file.readline(_SNIFFED_CHARACTERS):
            match = _HAND_NUMBER.match(line) if " #" in line else None
            if match:
                numbers.add(int(match[1]))
    return frozenset(numbers)


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers in names by value: ``match.2.log`` before ``match.10.log``."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(part) if i % 2 else 0, part) for i, part in enumerate(parts)]


def _has_format(format_: ExportFormat, path: str, *, any_ending: bool = False) -> bool:
    """Return whether a file has a format, by its name and, if that is ambiguous, by its first lines.

    Args:
        any_ending: whether a file with another ending can be recognised by its first lines.
    """
    words = format_.first_words
    if without_compression(path).lower().endswith(format_.endings):
        if not words:
            return True
    elif not any_ending or not words or not os.path.isfile(path):
        return False
    return any(line.lstrip(" ").startswith(words) for line in _first_lines(path))


def _looks_like_a_log(path: str) -> bool:
    """Return whether a file begins like an ACPC log, or is empty as after a match stopped at once."""
    lines = _first_lines(path)
    is_cut_header = len(lines) == 1 and HEADER_START.startswith(lines[0])
    return is_cut_header or any(line.startswith((HEADER_START, "STATE:")) for line in lines)


_LIKENESSES: Final = (
    (
        r"POKERSTARS (ZOOM |HOME GAME )?(HAND|GAME) #",
        "it looks like a PokerStars hand history that another program converted: the client writes 'PokerStars Hand #'",
    ),
    (r"\{?\s*\"ohh\"", "it looks like Open Hand History, which can be written but not read"),
    (r"variant *=", "it looks like PHH: give its name the ending .phh, or .phhs if it has many hands"),
    (r"<(\?xml|session|html|!doctype)", "it is XML or HTML, and only ACPC logs, PHH and PokerStars texts are read"),
)
"""Patterns of first lines of files that are not read, each with a sentence."""


def _likeness(lines: Sequence[str]) -> str | None:
    """Describe a file that is not read, by its first lines; None if it is unknown."""
    room = room_of(lines)
    if room is not None:
        return room
    if not all(map(is_text, lines)):
        return "it is not text, and only ACPC logs, PHH and PokerStars texts are read"
    for pattern, sentence in _LIKENESSES:
        if any(re.match(pattern, line.strip(), re.IGNORECASE) for line in lines):
            return sentence
    return None


def _first_lines(path: str) -> list[str]:
    """Return the first lines of a file without a byte order mark; none if it cannot be read."""
    try:
        with opened(path, errors="replace") as file:
            return file.read(_SNIFFED_CHARACTERS).split("\n")
    except (LogError, OSError):
        return []
