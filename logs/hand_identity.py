"""Hands that files hold more than once.

A hand of a card room is identified by its number, whatever the time zone of its header. The numbers that this program
writes are digests of the match, so for them table and players are compared as well. A PHH hand is identified by its
number and content. Both are compared as hands are read (`SeenHands`).

Two logs hold parts of one match if their headers are equal, as far as they have any, and so are all hands with the same
number. Two runs of the same seed and players agree in some hands by chance, and in none of those may a hand be left
out. So logs are compared before they are read (`repeated_lines`).

A history that was exported from a log is left out as a whole (`Originals`).
"""

from __future__ import annotations

import mmap
import re
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, islice, pairwise
from typing import Final, NamedTuple

from engine import Game
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

_MAX_PLACE: Final = 1_000_000
"""PHH hands without a number are numbered by their place in the file; numbers of card rooms are higher."""
_MAX_CHARACTERS: Final = 1 << 14
"""Of a line of a log."""
_MAX_LINES: Final = 1000
"""Lines of a log before its first hand."""
_COMPARED_HANDS: Final = 16
_STATE_NUMBER: Final = re.compile(rb"\nSTATE:([0-9]{1,18}):")


class SeenHands:
    """Identities of the hands read so far: a key of 64 bits each, and 32 bits of the content.

    Attributes:
        contents: by key.
        repeated: how many hands came again.
        conflicting: how many of them had other players, cards, betting or results.
        first: file and number of the first hand that came again.
    """

    def __init__(self, contents: Mapping[int, int] | None = None) -> None:
        self.contents: dict[int, int] = {} if contents is None else dict(contents)
        self.repeated = self.conflicting = 0
        self.first: tuple[str, int] | None = None

    def filter(self, path: str, hands: Iterable[HandRecord], *, room: str | None) -> Iterator[HandRecord]:
        """The hands of a file without those that were read before.

        Args:
            room: the card room whose numbers the hands have; None compares their content too.
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
            self.conflicting += self.contents[key] != content
            self.first = self.first or (path, record.hand_number)

    def add(self, other: SeenHands) -> None:
        """Take in what was seen of other files."""
        self.contents.update(other.contents)
        self.repeated += other.repeated
        self.conflicting += other.conflicting
        self.first = self.first or other.first


def _room_key(record: HandRecord, room: str) -> tuple[int, int]:
    # The hole cards depend on the player from whose side the history was written.
    ending = state_line_ending(record.values, record.names)
    content = zlib.crc32(ending, zlib.crc32(bytes([*record.deal.board, 255]) + betting_text(record.betting).encode()))
    key = f"{room}|{record.number_prefix}{record.hand_number}"
    if is_exported_number(record.hand_number):
        key = "|".join([key, record.match_name, *record.names_by_seat])
    return _digest(key), content


def _can_be_identified(record: HandRecord) -> bool:
    """Return whether a hand has known cards or a number of its own; without both, many hands are alike."""
    return any(record.deal.hole_cards) or record.hand_number >= _MAX_PLACE


def _content_key(record: HandRecord) -> int:
    return _digest(f"{record.game.stacks}{record.times}{format_state_line(record)}")


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest())


# ---- logs


@dataclass(slots=True)
class _Segment:
    """A match in a log, or a part of one: numbers rise in it."""

    path: str
    header: LogHeader | None
    numbers: array[int] = field(default_factory=lambda: array("q"))
    contents: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))


def repeated_lines(paths: Sequence[str], given: Game | None) -> dict[str, frozenset[int]]:
    """The lines of logs, by path, whose hands an earlier log or an earlier part of the same log holds already.

    Args:
        given: the game of logs that do not name one.

    Raises:
        OSError: a file cannot be read.
    """
    repeated: dict[str, set[int]] = {}
    for candidates in _candidates(paths):
        earlier: list[_Segment] = []
        holders: dict[int, tuple[int, ...]] = {}
        for path in candidates:
            for segment in _segments(path):
                for place in _sharing(segment, holders, len(earlier)):
                    lines = _shared_lines(earlier[place], segment, given)
                    if lines:
                        repeated.setdefault(path, set()).update(lines)
                earlier.append(segment)
    return {path: frozenset(lines) for path, lines in repeated.items()}


def _sharing(segment: _Segment, holders: dict[int, tuple[int, ...]], place: int) -> set[int]:
    """Return the places of the earlier segments that share a hand with this one.

    Args:
        holders: places of the segments with a hand, by its content; this segment is added.
        place: of this segment.
    """
    sharing = set[int]()
    # One tuple for all hands of the segment, most of which no other segment has.
    alone = (place,)
    for content in segment.contents:
        places = holders.get(content)
        if places is None:
            holders[content] = alone
        else:
            sharing.update(places)
            holders[content] = (*places, place)
    # A segment may hold a hand twice.
    sharing.discard(place)
    return sharing


def _candidates(paths: Sequence[str]) -> Iterator[list[str]]:
    """Groups of logs that may hold parts of one match; a log alone if it may hold hands twice itself."""
    by_players: dict[tuple[str, ...], dict[tuple[str, int | str] | None, list[str]]] = {}
    for path in dict.fromkeys(paths):
        header, players = _beginning(path)
        match = None if header is None else (header.match_name, header.seed)
        by_players.setdefault(players, {}).setdefault(match, []).append(path)
    for by_match in by_players.values():
        # A log without a header may be a part of any match of these players.
        groups = [list(chain(*by_match.values()))] if None in by_match else list(by_match.values())
        yield from (group for group in groups if len(group) > 1 or not _is_in_order(group[0]))


def _beginning(path: str) -> tuple[LogHeader | None, tuple[str, ...]]:
    header: LogHeader | None = None
    try:
        with opened(path) as file:
            for _ in range(_MAX_LINES):
                line = file.readline(_MAX_CHARACTERS)
                if not line:
                    break
                header = header or parse_header(line)
                if line.startswith("STATE:"):
                    return header, tuple(sorted(_names(line)))
    except LogError:
        pass  # Reading the file reports it.
    return header, ()


def _names(line: str) -> list[str]:
    return line.rstrip("\r\n").rpartition(":")[2].partition(" # ")[0].split("|")


def _is_in_order(path: str) -> bool:
    """Whether a log holds a single match with rising hand numbers."""
    if not is_plain(path):
        segments = _segments(path)
        return next(segments, None) is None or next(segments, None) is None
    with open(path, "rb") as file:
        if not file.seek(0, 2):
            return True
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            mark = HEADER_START.encode()
            at = data.find(mark)
            if at >= 0 and data.find(b"\n" + mark, at) >= 0:
                return False
            numbers = [*map(int, _STATE_NUMBER.findall(data))]
            return all(number < after for number, after in pairwise(numbers))


def _segments(path: str) -> Iterator[_Segment]:
    segment: _Segment | None = None
    header: LogHeader | None = None
    try:
        with opened(path) as file:
            for line_number, line in enumerate(iter(lambda: file.readline(_MAX_CHARACTERS), ""), 1):
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
    except LogError:
        pass  # Reading the file reports it.
    if segment is not None:
        yield segment


def _shared_lines(first: _Segment, second: _Segment, given: Game | None) -> list[int]:
    """The lines of `second` whose hands are in `first`, if both are of one match."""
    if None not in (first.header, second.header) and first.header != second.header:
        return []
    places = dict(zip(first.numbers, range(len(first.numbers)), strict=True))
    shared = [(places[number], at) for at, number in enumerate(second.numbers) if number in places]
    same = [(one, two) for one, two in shared if first.contents[one] == second.contents[two]]
    if len(same) < len(shared):
        if not same:
            return []
        differing = {(first.lines[one], second.lines[two]) for one, two in shared} - {
            (first.lines[one], second.lines[two]) for one, two in same
        }
        if not _are_damaged(first, second, differing, given):
            return []
    return [second.lines[two] for _, two in same]


def _are_damaged(first: _Segment, second: _Segment, pairs: set[tuple[int, int]], given: Game | None) -> bool:
    """Whether one line of each pair cannot be read: such a line does not make another match of a copy."""
    readable = [
        _readable(segment, {pair[side] for pair in pairs}, given) for side, segment in enumerate((first, second))
    ]
    return not any(one in readable[0] and two in readable[1] for one, two in pairs)


def _readable(segment: _Segment, wanted: set[int], given: Game | None) -> set[int]:
    try:
        read = StateLines(find_log_game(segment.header, segment.path, given)).read
    except LogError:
        return wanted
    found = set[int]()
    with opened(segment.path) as file:
        for line_number, line in enumerate(islice(file, max(wanted)), 1):
            if line_number in wanted:
                try:
                    read(line)
                except FormatError:
                    continue
                found.add(line_number)
    return found


# ---- exports

_Facts = tuple[object, ...]


class _Head(NamedTuple):
    """The first hands of a file, by number."""

    path: str
    hands: dict[int, HandRecord]


class Originals:
    """The first hands of files, to recognise histories that were exported from them."""

    def __init__(self) -> None:
        self._heads: dict[frozenset[str], list[_Head]] = {}

    def add(self, path: str, hands: Iterable[HandRecord]) -> None:
        records = _first(hands)
        if records:
            head = _Head(path, {record.hand_number: record for record in records})
            self._heads.setdefault(_players(records[0]), []).append(head)

    def source_of(self, hands: Callable[[], Iterable[HandRecord]]) -> str | None:
        """The path of the file that hands were exported from, or None."""
        records = _first(hands())
        if not records:
            return None
        for head in self._heads.get(_players(records[0]), ()):
            pairs = [(record, head.hands[number]) for record in records if (number := _number(record)) in head.hands]
            if pairs and all(_is_same_hand(*pair) for pair in pairs):
                return head.path
        return None


def _first(hands: Iterable[HandRecord]) -> list[HandRecord]:
    try:
        return list(islice(hands, _COMPARED_HANDS))
    except (LogError, OSError):
        return []  # Reading the file reports it.


def _number(record: HandRecord) -> int:
    # Numbers of exported hands are counted from multiples of 1,000.
    if is_exported_number(record.hand_number):
        return record.hand_number % 1000
    return record.hand_number


def _players(record: HandRecord) -> frozenset[str]:
    return frozenset(name.casefold() for name in screen_names(record.names_by_seat))


def _is_same_hand(export: HandRecord, original: HandRecord) -> bool:
    names = [[name.casefold() for name in screen_names(record.names_by_seat)] for record in (export, original)]
    at_positions = [[names[side][seat] for seat in record.seats] for side, record in enumerate((export, original))]
    kinds = [
        [(step_position, action.kind) for actions in record.betting.rounds for step_position, action in actions]
        for record in (export, original)
    ]
    cards = zip(export.deal.hole_cards, original.deal.hole_cards, strict=False)
    return (
        at_positions[0] == at_positions[1]
        and export.deal.board == original.deal.board
        and kinds[0] == kinds[1]
        and all(one == other or not one for one, other in cards)
    )
