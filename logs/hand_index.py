"""Random access to the hands of a file by their numbers.

    hands = open_hands(file)
    for match in hands.matches:
        print(match.name, match.count)
    record = hands.matches[0].hand(123_456)

An ACPC log is scanned once, line by line, without parsing the betting, and continued from there when it grows. The
index has the offset of every 64th hand, 16 bytes each. A hand is read from its own line, its times and comments by
binary search in the files next to the log. Hands of other formats, of compressed files and of logs of old versions are
read once and copied into a temporary file.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import tempfile
import threading
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import IO, Final, NamedTuple

from engine import Deal, Game
from engine.text import clean
from logs.acpc_log.companions import notes_of_hand
from logs.acpc_log.dealt_cards import DECIDING_HANDS, DealtCards, wrong_cards
from logs.acpc_log.header import HEADER_START, LogHeader, find_log_game, parse_header
from logs.acpc_log.seating import MatchSeats
from logs.acpc_log.state_lines import StateLines
from logs.errors import LogError, LogProblem, NoSuchHandError
from logs.files import is_plain, stem
from logs.hand_identity import SeenHands
from logs.hand_source import HandFile, HandSource
from logs.record import HandRecord
from protocol import FormatError

_BLOCK_HANDS: Final = 64
"""Hands between two whose offsets are kept."""
_SEATING_HANDS: Final = 16
"""Hands from which the seat of each player is determined."""
_MAX_LINE_BYTES: Final = 1 << 14
_MAX_SKIPPED_BYTES: Final = 1 << 24
"""Rest of a longer line, which belongs to no hand. If it does not end within this bound, nothing behind it is read."""
_MAX_NUMBER_DIGITS: Final = 17


class HandSummary(NamedTuple):
    """A hand in lists of hands.

    Attributes:
        names: players by position; empty if the hand's line is damaged.
        values: net chips by position.
        max_pot: upper bound of the chips in its pot.
    """

    number: int
    names: tuple[str, ...]
    values: tuple[float, ...]
    max_pot: int


class MatchHands(ABC):
    """Hands of one match, in the order of their numbers.

    Attributes:
        game: game of its first hand.
        seed: seed of its cards, or fingerprint of their key; None if unknown.
    """

    name: str
    game: Game
    seed: int | str | None = None

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Players by seat."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of hands."""

    @abstractmethod
    def hand(self, number: int) -> HandRecord:
        """Read a hand.

        Raises:
            NoSuchHandError: the match has no hand of this number.
            LogError: its line is damaged.
            OSError: the file cannot be read.
        """

    def has(self, number: int) -> bool:
        before, _ = self.around(number + 1)
        return before == number

    @abstractmethod
    def around(self, number: int) -> tuple[int | None, int | None]:
        """Return the numbers of the hands before and after a number."""

    @abstractmethod
    def index(self, number: int) -> int:
        """Return the 0-based index of the hand with a number."""

    @abstractmethod
    def page(self, start: int, count: int) -> list[int]:
        """Return the numbers of up to `count` hands, from the hand with the 0-based index `start`."""

    @abstractmethod
    def summaries(self, start: int) -> Iterator[HandSummary]:
        """Yield the hands from a 0-based index on, without parsing their betting."""


class HandIndex:
    """Index of one file.

    Attributes:
        matches: matches with at least one hand, in the order of the file.
        problems: problems of the file; empty for logs, of which only requested hands are read.
    """

    path: str
    matches: Sequence[MatchHands] = ()
    problems: Sequence[LogProblem] = ()

    def refresh(self) -> None:
        """Add the lines that were appended to the file."""

    def close(self) -> None:
        """Remove the temporary copies of hands."""

    def __enter__(self) -> HandIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_hands(
    file: HandFile,
    game: Game | None = None,
    *,
    seen: SeenHands | None = None,
    repeats: Mapping[str, frozenset[int]] | None = None,
) -> HandIndex:
    """Index a file.

    Args:
        game: game of a log that does not name its game.
        seen: hands of files opened before, which are left out.
        repeats: see `logs.hand_source.HandSource`.

    Raises:
        LogError: the file has no hands that can be read.
        OSError: the file cannot be read.
    """
    has_repeats = repeats is not None and file.path in repeats
    if file.format is None and not has_repeats and is_plain(file.path) and _has_current_lines(file.path):
        return _LogIndex(file.path, game)
    problems: list[LogProblem] = []
    source = HandSource((file,), game, times=True, on_problem=problems.append, repeats=repeats)
    hands = source.hands() if seen is None else source.read(file, seen=seen)
    return _CopiedIndex(file.path, hands, problems)


def _has_current_lines(path: str) -> bool:
    """Return whether the hands of a log are STATE lines, unlike those of old versions."""
    with open(path, "rb") as log:
        while line := log.readline(_MAX_LINE_BYTES):
            if line.startswith(b"STATE:"):
                return True
            if line.strip() and not line.startswith((b"#", b";", b"SCORE:")):
                return False
    return True


# ---- ACPC logs
class _LogMatch(MatchHands):
    """Index of a match in a log.

    Attributes:
        last: number of the last hand.
        offsets: offset of the first line of each block of hands.
        numbers: number of the first hand of each block.
    """

    count: int = 0

    def __init__(self, path: str, game: Game, name: str, lines: StateLines) -> None:
        self.name = name
        self.game = game
        self.last = -1
        self.offsets = array("Q")
        self.numbers = array("Q")
        self._path = path
        self._lines = lines
        self._seating = MatchSeats(game.num_players)
        self._collected = 0
        self._is_seated = False

    @property
    def names(self) -> tuple[str, ...]:
        return self._seating.names

    def add(self, number: int, offset: int, line: bytes) -> None:
        if self.count % _BLOCK_HANDS == 0:
            self.offsets.append(offset)
            self.numbers.append(number)
        self.count += 1
        self.last = number
        if not self._is_seated and self._collected < _SEATING_HANDS:
            with contextlib.suppress(FormatError):
                self._is_seated = self._seating.collect(number, self._lines.read(_text(line)).names)
                self._collected += 1

    def conclude(self) -> None:
        """Decide on the seats when the end of the file is reached."""
        if not self._is_seated:
            self._seating.conclude()

    def hand(self, number: int) -> HandRecord:
        line = self._line(number)
        if line is None:
            raise NoSuchHandError(clean(self.name), number)
        try:
            state = self._lines.read(_text(line))
            seats = self._seating.seats(number, state.names)
        except (FormatError, ValueError) as error:
            raise LogError(self._path, f"the line of hand {number} is damaged: {error}") from None
        if self._is_by_seed and not self._fits(number, state.deal):
            raise LogError(self._path, wrong_cards(number, self.seed))
        times, comments = notes_of_hand(self._path, number, state.betting)
        return HandRecord(
            game=state.betting.game,
            match_name=self.name,
            hand_number=number,
            names_by_seat=self.names,
            seats=seats,
            deal=state.deal,
            betting=state.betting,
            values=state.values,
            times=times,
            comments=comments,
        )

    def _fits(self, number: int, deal: Deal) -> bool:
        assert isinstance(self.seed, int)
        return DealtCards(self.game, self.seed).fit(number, deal)

    @cached_property
    def _is_by_seed(self) -> bool:
        # Logs of dealers with another method have a seed too. The first hands show whether it deals their cards.
        if not isinstance(self.seed, int):
            return False
        cards = DealtCards(self.game, self.seed)
        for number, line in islice(self._lines_of_block(0), DECIDING_HANDS):
            with contextlib.suppress(FormatError):
                cards.fit(number, self._lines.read(_text(line)).deal)
        return cards.are_by_seed()

    def around(self, number: int) -> tuple[int | None, int | None]:
        block = max(0, bisect_right(self.numbers, number) - 1)
        # The neighbours are in the block of the number or next to it.
        numbers = [*self._block(block - 1), *self._block(block), *self._block(block + 1)]
        before = max((other for other in numbers if other < number), default=None)
        after = min((other for other in numbers if other > number), default=None)
        return before, after

    def index(self, number: int) -> int:
        block = bisect_right(self.numbers, number) - 1
        return block * _BLOCK_HANDS + bisect_left(self._block(block), number)

    def page(self, start: int, count: int) -> list[int]:
        first_block = start // _BLOCK_HANDS
        end_block = -(-min(start + count, self.count) // _BLOCK_HANDS)
        numbers: list[int] = []
        for block in range(first_block, end_block):
            numbers += self._block(block)
        return numbers[start - first_block * _BLOCK_HANDS :][:count]

    def summaries(self, start: int) -> Iterator[HandSummary]:
        to_skip = start % _BLOCK_HANDS
        names_by_text: dict[bytes, tuple[str, ...]] = {}
        pot_bound = _pot_bound(self.game)
        for block in range(start // _BLOCK_HANDS, len(self.offsets)):
            for number, line in self._lines_of_block(block):
                if to_skip:
                    to_skip -= 1
                else:
                    yield _summary(number, line, names_by_text, pot_bound)

    def _block(self, block: int) -> list[int]:
        if not 0 <= block < len(self.offsets):
            return []
        return [number for number, _ in self._lines_of_block(block)]

    def _line(self, number: int) -> bytes | None:
        block = bisect_right(self.numbers, number) - 1
        if block < 0:
            return None
        for line_number, line in self._lines_of_block(block):
            if line_number == number:
                return line
        return None

    def _lines_of_block(self, block: int) -> Iterator[tuple[int, bytes]]:
        left = min(_BLOCK_HANDS, self.count - block * _BLOCK_HANDS)
        with open(self._path, "rb") as log:
            log.seek(self.offsets[block])
            while left and (line := log.readline(_MAX_LINE_BYTES)):
                number = _number_of(line)
                if number is not None:
                    left -= 1
                    yield number, line


class _LogIndex(HandIndex):
    """Index of an ACPC log. A last line without its end does not count, as it may be half-written."""

    def __init__(self, path: str, game: Game | None) -> None:
        self.path = path
        self._given = game
        self.matches: list[_LogMatch] = []
        self._offset = 0
        self._header: LogHeader | None = None
        self._is_new_match = True
        self.refresh()

    def refresh(self) -> None:
        size = os.path.getsize(self.path)
        if size == self._offset:
            return
        if size < self._offset:
            # Another file has taken its place.
            self.matches = []
            self._offset = 0
            self._header = None
            self._is_new_match = True
        with open(self.path, "rb") as log:
            log.seek(self._offset)
            while line := log.readline(_MAX_LINE_BYTES):
                if line.endswith(b"\n"):
                    self._add_line(line)
                    self._offset += len(line)
                    continue
                if len(line) < _MAX_LINE_BYTES:
                    break
                rest = _skip_line(log)
                if rest is None:
                    break
                self._offset += len(line) + rest
        for match in self.matches:
            match.conclude()

    def _add_line(self, line: bytes) -> None:
        number = _number_of(line)
        if number is not None:
            self._add_hand(number, line)
        elif line.startswith(_HEADER_BYTES):
            self._header = parse_header(_text(line)) or self._header
            self._is_new_match = True

    def _add_hand(self, number: int, line: bytes) -> None:
        # The numbers of a match rise.
        if self._is_new_match or number <= self.matches[-1].last:
            self.matches.append(self._new_match())
            self._is_new_match = False
        self.matches[-1].add(number, self._offset, line)

    def _new_match(self) -> _LogMatch:
        game = find_log_game(self._header, self.path, self._given)
        if self._header is None:
            return _LogMatch(self.path, game, os.path.basename(stem(self.path)), StateLines(game))
        match = _LogMatch(self.path, game, self._header.match_name, StateLines(game))
        match.seed = self._header.seed
        return match


_HEADER_BYTES: Final = HEADER_START.encode()


def _skip_line(log: IO[bytes]) -> int | None:
    """Skip the rest of a line; return its length in bytes, or None if it does not end within the bound."""
    skipped = 0
    while skipped < _MAX_SKIPPED_BYTES and (chunk := log.readline(_MAX_LINE_BYTES)):
        skipped += len(chunk)
        if chunk.endswith(b"\n"):
            return skipped
    return None


def _number_of(line: bytes) -> int | None:
    if not line.startswith(b"STATE:"):
        return None
    number = line[6:24].partition(b":")[0]
    if number.isdigit() and len(number) <= _MAX_NUMBER_DIGITS:
        return int(number)
    return None


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


def _summary(
    number: int, line: bytes, names_by_text: dict[bytes, tuple[str, ...]], pot_bound: Callable[[bytes], int]
) -> HandSummary:
    fields = line.rstrip(b"\r\n").split(b":")
    try:
        _, _, betting, _, values_text, names_text = fields
        names = names_by_text.get(names_text)
        if names is None:
            names = names_by_text[names_text] = tuple(_text(names_text).split("|"))
        values = tuple(map(float, values_text.split(b"|")))
        if len(values) == len(names):
            return HandSummary(number, names, values, pot_bound(betting))
    except ValueError:
        pass
    return HandSummary(number, (), (), 0)


_RAISE_TOTAL: Final = re.compile(rb"r([0-9]{1,9})")


def _pot_bound(game: Game) -> Callable[[bytes], int]:
    """Return a function that bounds the chips in the pot, given the betting text."""
    players = game.num_players
    blind = max(game.blinds)
    sizes = game.raise_sizes

    def limit_bound(text: bytes) -> int:
        bet = blind
        for size, actions in zip(sizes, text.split(b"/"), strict=False):
            bet += size * actions.count(b"r")
        return players * bet

    def no_limit_bound(text: bytes) -> int:
        # Raise sizes are totals for the hand.
        return players * max(blind, *map(int, _RAISE_TOTAL.findall(text)), 0)

    return limit_bound if game.is_limit else no_limit_bound


# ---- files of other formats
class _CopiedMatch(MatchHands):
    """Index of a match in a temporary file; `offsets` are by hand number."""

    names: tuple[str, ...] = ()

    def __init__(self, first: HandRecord, file: IO[bytes], lock: threading.Lock) -> None:
        self.name = first.match_name
        self.game = first.game
        self.offsets: dict[int, int] = {}
        self.names = first.names_by_seat
        self._file = file
        self._lock = lock

    @property
    def count(self) -> int:
        return len(self.offsets)

    @cached_property
    def _numbers(self) -> list[int]:
        return sorted(self.offsets)

    def hand(self, number: int) -> HandRecord:
        if number not in self.offsets:
            raise NoSuchHandError(clean(self.name), number)
        # Unpickling is safe here: this process wrote the file, and the file has no name that others could open.
        with self._lock:
            self._file.seek(self.offsets[number])
            record = pickle.load(self._file)
        assert isinstance(record, HandRecord)
        return record

    def around(self, number: int) -> tuple[int | None, int | None]:
        numbers = self._numbers
        first_before = bisect_left(numbers, number) - 1
        first_after = bisect_right(numbers, number)
        before = numbers[first_before] if first_before >= 0 else None
        after = numbers[first_after] if first_after < len(numbers) else None
        return before, after

    def index(self, number: int) -> int:
        return bisect_left(self._numbers, number)

    def page(self, start: int, count: int) -> list[int]:
        return self._numbers[start : start + count]

    def summaries(self, start: int) -> Iterator[HandSummary]:
        for number in self._numbers[start:]:
            record = self.hand(number)
            yield HandSummary(number, record.names, record.values, record.betting.pot)


class _CopiedIndex(HandIndex):
    def __init__(self, path: str, hands: Iterator[HandRecord], problems: Sequence[LogProblem]) -> None:
        self.path = path
        self.problems = problems
        lock = threading.Lock()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        self.matches: list[_CopiedMatch] = []
        last_matches: dict[str, _CopiedMatch] = {}
        try:
            for record in hands:
                match = last_matches.get(record.match_name)
                # A number that occurs again begins another match of the same name.
                if match is None or record.hand_number in match.offsets:
                    match = last_matches[record.match_name] = _CopiedMatch(record, self._file, lock)
                    self.matches.append(match)
                match.offsets[record.hand_number] = self._file.tell()
                pickle.dump(record, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        self._file.close()
