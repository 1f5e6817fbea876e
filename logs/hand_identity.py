"""Recognise hands that several files contain.

A hand of a card room is identified by its number, whatever the time zone of its header. Numbers that this program
writes are digests of the match, so for them table and players are compared as well. A PHH hand is identified by its
number and content. `SeenHands` compares both while reading.

Logs are compared before they are read (`repeated_lines`). Two logs have parts of one match if their headers and all
hands of the same number are equal. Two runs of the same seed and players can agree in some hands by chance, and then no
hand may be left out. Histories exported from another file are left out as a whole (`Originals`).
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, islice, pairwise
from typing import Final, NamedTuple

from engine import ActionKind, Game, Position
from logs.acpc_log.header import HEADER_START, LogHeader, find_log_game, parse_header
from logs.acpc_log.state_lines import StateLines
from logs.acpc_log.writer import format_state_line, state_line_ending
from logs.errors import LogError
from logs.files import is_plain, opened
from logs.formats.hand_numbers import is_exported_number
from logs.pokerstars.names import screen_names
from logs.record import HandRecord
from protocol import FormatError
from protocol.match_state import betting_text

_MAX_INDEX: Final = 1_000_000
"""Bound of the numbers of PHH hands without one, which are numbered by their index in the file."""
_MAX_LINE_CHARACTERS: Final = 1 << 14
_MAX_HEADER_LINES: Final = 1000
"""Lines of a log before its first hand."""
_COMPARED_HANDS: Final = 16
_STATE_NUMBER: Final = re.compile(rb"\nSTATE:([0-9]{1,18}):")


class SeenHands:
    """Identities of the hands read so far.

    Attributes:
        contents: 32-bit digest of the content by 64-bit key.
        repeated: number of hands that were read again.
        conflicting: number of these hands with other players, cards, betting or results.
        first: file and number of the first hand that was read again.
    """

    def __init__(self, contents: Mapping[int, int] | None = None) -> None:
        self.contents: dict[int, int] = {} if contents is None else dict(contents)
        self.repeated = 0
        self.conflicting = 0
        self.first: tuple[str, int] | None = None

    def filter(self, path: str, hands: Iterable[HandRecord], *, room: str | None) -> Iterator[HandRecord]:
        """Yield the hands of a file that were not read before.

        Args:
            room: card room whose numbers the hands have; None to identify them by their content too.
        """
        for record in hands:
            if room is not None:
                key, content = _room_key(record, room)
            elif _can_be_identified(record):
                key = _content_key(record)
                content = 0
            else:
                yield record
                continue
            if key not in self.contents:
                self.contents[key] = content
                yield record
                continue
            self.repeated += 1
            if self.contents[key] != content:
                self.conflicting += 1
            self.first = self.first or (path, record.hand_number)

    def add(self, other: SeenHands) -> None:
        """Add the hands of other files."""
        self.contents.update(other.contents)
        self.repeated += other.repeated
        self.conflicting += other.conflicting
        self.first = self.first or other.first


def _room_key(record: HandRecord, room: str) -> tuple[int, int]:
    # Hole cards are left out, as they depend on the player from whose point of view the history was written.
    board = bytes([*record.deal.board, 255])
    content = zlib.crc32(board + betting_text(record.betting).encode())
    content = zlib.crc32(state_line_ending(record.values, record.names), content)
    key = f"{room}|{record.number_prefix}{record.hand_number}"
    if is_exported_number(record.hand_number):
        key = "|".join([key, record.match_name, *record.names_by_seat])
    return _digest(key), content


def _can_be_identified(record: HandRecord) -> bool:
    """Return whether a hand has known cards or a number of its own, so that others differ from it."""
    return any(record.deal.hole_cards) or record.hand_number >= _MAX_INDEX


def _content_key(record: HandRecord) -> int:
    return _digest(f"{record.game.stacks}{record.times}{format_state_line(record)}")


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest())


# ---- logs


@dataclass(slots=True)
class _Segment:
    """A match in a log, or a part of one, with rising hand numbers.

    Attributes:
        numbers: number of each hand.
        contents: hash of each hand's line.
        lines: line number of each hand.
    """

    path: str
    header: LogHeader | None
    numbers: array[int] = field(default_factory=lambda: array("q"))
    contents: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))


def repeated_lines(paths: Sequence[str], given: Game | None) -> dict[str, frozenset[int]]:
    """Return the lines of logs, by path, whose hands are in an earlier log or part of a log.

    Args:
        given: game of logs that do not name one.

    Raises:
        OSError: a file cannot be read.
    """
    repeated: dict[str, set[int]] = {}
    for candidates in _candidates(paths):
        earlier: list[_Segment] = []
        holders: dict[int, tuple[int, ...]] = {}
        for path in candidates:
            for segment in _segments(path):
                for index in _sharing_segments(segment, holders, len(earlier)):
                    lines = _shared_lines(earlier[index], segment, given)
                    if lines:
                        repeated.setdefault(path, set()).update(lines)
                earlier.append(segment)
    return {path: frozenset(lines) for path, lines in repeated.items()}


def _sharing_segments(segment: _Segment, holders: dict[int, tuple[int, ...]], index: int) -> set[int]:
    """Return the indices of the earlier segments that share a hand with this one.

    Args:
        holders: indices of the segments with a hand, by its content; this segment is added.
        index: index of this segment.
    """
    sharing: set[int] = set()
    # One tuple for all hands of the segment, most of which no other segment has.
    only_this = (index,)
    for content in segment.contents:
        indices = holders.get(content)
        if indices is None:
            holders[content] = only_this
        else:
            sharing.update(indices)
            holders[content] = (*indices, index)
    # A segment can contain a hand twice.
    sharing.discard(index)
    return sharing


def _candidates(paths: Sequence[str]) -> Iterator[list[str]]:
    """Yield groups of logs that may have parts of one match; a log alone if it may repeat hands itself."""
    by_players: dict[tuple[str, ...], dict[tuple[str, int | str] | None, list[str]]] = {}
    for path in dict.fromkeys(paths):
        header, players = _beginning(path)
        match = None if header is None else (header.match_name, header.seed)
        by_players.setdefault(players, {}).setdefault(match, []).append(path)
    for by_match in by_players.values():
        groups = list(by_match.values())
        if None in by_match:
            # A log without a header may be a part of any match of these players.
            groups = [list(chain.from_iterable(groups))]
        for group in groups:
            if len(group) > 1 or not _is_in_order(group[0]):
                yield group


def _beginning(path: str) -> tuple[LogHeader | None, tuple[str, ...]]:
    """Return the header of a log and the players of its first hand, sorted."""
    header: LogHeader | None = None
    # Reading the file reports errors.
    with contextlib.suppress(LogError), opened(path) as file:
        for _ in range(_MAX_HEADER_LINES):
            line = file.readline(_MAX_LINE_CHARACTERS)
            if not line:
                break
            header = header or parse_header(line)
            if line.startswith("STATE:"):
                return header, tuple(sorted(_names(line)))
    return header, ()


def _names(line: str) -> list[str]:
    return line.rstrip("\r\n").rpartition(":")[2].partition(" # ")[0].split("|")


def _is_in_order(path: str) -> bool:
    """Return whether a log has a single match with rising hand numbers."""
    if not is_plain(path):
        segments = list(islice(_segments(path), 2))
        return len(segments) < 2
    with open(path, "rb") as file:
        if not file.seek(0, os.SEEK_END):
            # An empty file cannot be mapped.
            return True
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            mark = HEADER_START.encode()
            first_header = data.find(mark)
            if first_header >= 0 and data.find(b"\n" + mark, first_header) >= 0:
                return False
            numbers = [*map(int, _STATE_NUMBER.findall(data))]
            return all(number < next_number for number, next_number in pairwise(numbers))


def _segments(path: str) -> Iterator[_Segment]:
    """Yield the segments of a log. A header, or a number that does not rise, begins a new one."""
    segment: _Segment | None = None
    header: LogHeader | None = None
    # Reading the file reports errors.
    with contextlib.suppress(LogError), opened(path) as file:
        for line_number, line in enumerate(iter(lambda: file.readline(_MAX_LINE_CHARACTERS), ""), 1):
            if line.startswith("STATE:") and line.endswith("\n"):
                number = line[6:24].partition(":")[0]
                if not (number.isascii() and number.isdigit()):
                    continue
                if segment is None or int(number) <= segment.numbers[-1]:
                    if segment is not None:
                        yield segment
                    segment = _Segment(path, header)
                segment.numbers.append(int(number))
                segment.contents.append(hash(line.partition(" # ")[0].rstrip("\r\n")))
                segment.lines.append(line_number)
            elif line.startswith(HEADER_START):
                if segment is not None:
                    yield segment
                segment = None
                header = parse_header(line)
    if segment is not None:
        yield segment


def _shared_lines(first: _Segment, second: _Segment, given: Game | None) -> list[int]:
    """Return the lines of `second` whose hands are in `first`, if both are parts of one match."""
    if first.header is not None and second.header is not None and first.header != second.header:
        return []
    first_indices = {number: index for index, number in enumerate(first.numbers)}
    same_lines: list[int] = []
    # Pairs of lines in the first and the second segment with the same number and other contents.
    differing: set[tuple[int, int]] = set()
    for second_index, number in enumerate(second.numbers):
        first_index = first_indices.get(number)
        if first_index is None:
            continue
        if first.contents[first_index] == second.contents[second_index]:
            same_lines.append(second.lines[second_index])
        else:
            differing.add((first.lines[first_index], second.lines[second_index]))
    if same_lines and differing and not _are_damaged(first, second, differing, given):
        return []
    return same_lines


def _are_damaged(first: _Segment, second: _Segment, pairs: set[tuple[int, int]], given: Game | None) -> bool:
    """Return whether a line of each pair cannot be read. A copy with damaged lines is still a copy."""
    first_readable = _readable_lines(first, {line for line, _ in pairs}, given)
    second_readable = _readable_lines(second, {line for _, line in pairs}, given)
    return not any(line in first_readable and other in second_readable for line, other in pairs)


def _readable_lines(segment: _Segment, line_numbers: set[int], given: Game | None) -> set[int]:
    """Return those of the lines that can be read; all of them if the game is unknown."""
    try:
        read = StateLines(find_log_game(segment.header, segment.path, given)).read
    except LogError:
        return line_numbers
    readable: set[int] = set()
    with opened(segment.path) as file:
        for line_number, line in enumerate(islice(file, max(line_numbers)), 1):
            if line_number in line_numbers:
                with contextlib.suppress(FormatError):
                    read(line)
                    readable.add(line_number)
    return readable


# ---- exports


class _Head(NamedTuple):
    """The first hands of a file, by number."""

    path: str
    hands: dict[int, HandRecord]


class Originals:
    """First hands of files, to recognise histories that were exported from them."""

    def __init__(self) -> None:
        # By the names of the players.
        self._heads: dict[frozenset[str], list[_Head]] = {}

    def add(self, path: str, hands: Iterable[HandRecord]) -> None:
        records = _first_hands(hands)
        if records:
            head = _Head(path, {record.hand_number: record for record in records})
            self._heads.setdefault(_players(records[0]), []).append(head)

    def source_of(self, hands: Callable[[], Iterable[HandRecord]]) -> str | None:
        """Return the path of the file from which hands were exported, or None."""
        records = _first_hands(hands())
        if not records:
            return None
        for head in self._heads.get(_players(records[0]), ()):
            pairs = []
            for record in records:
                original = head.hands.get(_original_number(record))
                if original is not None:
                    pairs.append((record, original))
            if pairs and all(_is_same_hand(record, original) for record, original in pairs):
                return head.path
        return None


def _first_hands(hands: Iterable[HandRecord]) -> list[HandRecord]:
    try:
        return list(islice(hands, _COMPARED_HANDS))
    except (LogError, OSError):
        # Reading the file reports the error.
        return []


def _original_number(record: HandRecord) -> int:
    # Numbers of exported hands are counted from multiples of 1,000.
    if is_exported_number(record.hand_number):
        return record.hand_number % 1000
    return record.hand_number


def _players(record: HandRecord) -> frozenset[str]:
    # Exports may have shortened names.
    return frozenset(name.casefold() for name in screen_names(record.names_by_seat))


def _is_same_hand(export: HandRecord, original: HandRecord) -> bool:
    if _names_by_position(export) != _names_by_position(original):
        return False
    if export.deal.board != original.deal.board or _kinds(export) != _kinds(original):
        return False
    # An export may lack hole cards.
    for hole, original_hole in zip(export.deal.hole_cards, original.deal.hole_cards, strict=False):
        if hole and hole != original_hole:
            return False
    return True


def _names_by_position(record: HandRecord) -> list[str]:
    names = [name.casefold() for name in screen_names(record.names_by_seat)]
    return [names[seat] for seat in record.seats]


def _kinds(record: HandRecord) -> list[tuple[Position, ActionKind]]:
    """Return the actions without sizes, which exports state in other units."""
    kinds = []
    for actions in record.betting.rounds:
        kinds += [(position, action.kind) for position, action in actions]
    return kinds
