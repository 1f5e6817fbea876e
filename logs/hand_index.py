"""Any hand of a file by its number, without reading the file each time.

    hands = open_hands(file)
    for match in hands.matches:
        print(match.name, match.count)
    record = hands.matches[0].hand(123_456)

An ACPC log is passed once, line by line, without a look at its betting: what is kept is where every 64th hand begins,
16 bytes for 64 hands. A hand is then read from its own line, its times and comments from the transaction log and the
comments next to the log, which are in the order of the hands and are searched by halves. A log that grows is passed on
from where it ended. Files of other formats, compressed ones and logs of old versions have no such lines: their hands
are read once and put aside in a file of our own, which is gone when it is closed.
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
from bisect import bisect_right
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

_APART: Final = 64
"""Hands between two whose places are kept."""
_SEATING_HANDS: Final = 16
"""Hands that show which seat each player has."""
_MOST_BYTES: Final = 1 << 14
"""Of a line."""
_MOST_PASSED: Final = 1 << 24
"""Of the rest of a longer line, which belongs to no hand; behind a line that does not end there, nothing is read."""
_MOST_DIGITS: Final = 18
"""Of the number of a hand."""


class HandSummary(NamedTuple):
    """What lists of hands are made of.

    Attributes:
        names: the players by position; none where the hand's line is damaged.
        values: net chips by position.
        most_pot: chips that its pot does not exceed.
    """

    number: int
    names: tuple[str, ...]
    values: tuple[float, ...]
    most_pot: int


class MatchHands(ABC):
    """The hands of one match, in the order of their numbers.

    Attributes:
        game: of its first hand.
        seed: of its cards, or the fingerprint of their key; None if unknown.
    """

    name: str
    game: Game
    seed: int | str | None = None

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The players by seat."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many hands it has."""

    @abstractmethod
    def hand(self, number: int) -> HandRecord:
        """A hand.

        Raises:
            NoSuchHandError: the match has none of that number.
            LogError: its line is damaged.
            OSError: the file cannot be read.
        """

    def has(self, number: int) -> bool:
        """Whether there is a hand of a number."""
        before, _ = self.around(number + 1)
        return before == number

    @abstractmethod
    def around(self, number: int) -> tuple[int | None, int | None]:
        """The numbers of the hands before and after a number."""

    @abstractmethod
    def page(self, start: int, count: int) -> list[int]:
        """The numbers of some hands, from the `start`-th on, which is 0-based."""

    @abstractmethod
    def summaries(self, start: int) -> Iterator[HandSummary]:
        """The hands in short, from the `start`-th on, without a look at their betting."""


class HandIndex:
    """What was found in one file.

    Attributes:
        matches: with at least one hand, in the order of the file.
        problems: what was met in it and left out; of logs only the hands that are asked for are read.
    """

    path: str
    matches: Sequence[MatchHands] = ()
    problems: Sequence[LogProblem] = ()

    def refresh(self) -> None:
        """Read the lines added to the file since."""

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
    """Pass through a file.

    Args:
        game: of a log that does not name its game.
        seen: hands of files opened before, which are left out.
        repeats: see `logs.hand_source.HandSource`.

    Raises:
        LogError: it holds no hands that can be read.
        OSError: it cannot be read.
    """
    is_repeated = repeats is not None and file.path in repeats
    if file.format is None and not is_repeated and is_plain(file.path) and _is_of_today(file.path):
        return _LogIndex(file.path, game)
    problems: list[LogProblem] = []
    source = HandSource((file,), game, times=True, on_problem=problems.append, repeats=repeats)
    return _CopiedIndex(file.path, source.hands() if seen is None else source.read(file, seen=seen), problems)


def _is_of_today(path: str) -> bool:
    with open(path, "rb") as log:
        while line := log.readline(_MOST_BYTES):
            if line.startswith(b"STATE:"):
                return True
            if line.strip() and not line.startswith((b"#", b";", b"SCORE:")):
                return False
    return True


# ---- ACPC logs
class _LogMatch(MatchHands):
    count: int = 0

    def __init__(self, path: str, game: Game, name: str, lines: StateLines) -> None:
        self.name = name
        self.game = game
        self.last = -1
        self.places = array("Q")
        self.numbers = array("Q")
        self._path = path
        self._lines = lines
        self._seating = MatchSeats(game.num_players)
        self._collected = 0
        self._is_seated = False

    @property
    def names(self) -> tuple[str, ...]:
        return self._seating.names

    def add(self, number: int, place: int, line: bytes) -> None:
        if not self.count % _APART:
            self.places.append(place)
            self.numbers.append(number)
        self.count += 1
        self.last = number
        if not self._is_seated and self._collected < _SEATING_HANDS:
            with contextlib.suppress(FormatError):
                self._is_seated = self._seating.collect(number, self._lines.read(_text(line)).names)
                self._collected += 1

    def conclude(self) -> None:
        if not self._is_seated:
            self._seating.conclude()

    def hand(self, number: int) -> HandRecord:
        line = self._line(number)
        if line is None:
            raise NoSuchHandError(clean(self.name), number)
        try:
            read = self._lines.read(_text(line))
            seats = self._seating.seats(number, read.names)
        except (FormatError, ValueError) as error:
            raise LogError(self._path, f"the line of hand {number} is damaged: {error}") from None
        if self._is_by_seed and not self._fits(number, read.deal):
            raise LogError(self._path, wrong_cards(number, self.seed))
        times, comments = notes_of_hand(self._path, number, read.betting)
        return HandRecord(
            game=read.betting.game,
            match_name=self.name,
            hand_number=number,
            names_by_seat=self.names,
            seats=seats,
            deal=read.deal,
            betting=read.betting,
            values=read.values,
            times=times,
            comments=comments,
        )

    def _fits(self, number: int, deal: Deal) -> bool:
        assert isinstance(self.seed, int)
        return DealtCards(self.game, self.seed).fit(number, deal)

    @cached_property
    def _is_by_seed(self) -> bool:
        """Whether the first hands have the cards that the seed deals."""
        if not isinstance(self.seed, int):
            return False
        cards = DealtCards(self.game, self.seed)
        for number, line in islice(self._lines_of(0), DECIDING_HANDS):
            with contextlib.suppress(FormatError):
                cards.fit(number, self._lines.read(_text(line)).deal)
        return cards.are_by_seed()

    def around(self, number: int) -> tuple[int | None, int | None]:
        at = max(0, bisect_right(self.numbers, number) - 1)
        near = [one for block in (at - 1, at, at + 1) for one in self._block(block)]
        before = max((one for one in near if one < number), default=None)
        return before, min((one for one in near if one > number), default=None)

    def page(self, start: int, count: int) -> list[int]:
        first = start // _APART
        end = -(-min(start + count, self.count) // _APART)
        numbers = [one for block in range(first, end) for one in self._block(block)]
        return numbers[start - first * _APART :][:count]

    def summaries(self, start: int) -> Iterator[HandSummary]:
        skipped = start % _APART
        names: dict[bytes, tuple[str, ...]] = {}
        most_pot = _pot_bound(self.game)
        for block in range(start // _APART, len(self.places)):
            for number, line in self._lines_of(block):
                if skipped:
                    skipped -= 1
                else:
                    yield _summary(number, line, names, most_pot)

    def _block(self, block: int) -> list[int]:
        if not 0 <= block < len(self.places):
            return []
        return [number for number, _ in self._lines_of(block)]

    def _line(self, number: int) -> bytes | None:
        block = bisect_right(self.numbers, number) - 1
        found = (line for one, line in self._lines_of(block) if one == number) if block >= 0 else iter(())
        return next(found, None)

    def _lines_of(self, block: int) -> Iterator[tuple[int, bytes]]:
        left = min(_APART, self.count - block * _APART)
        with open(self._path, "rb") as log:
            log.seek(self.places[block])
            while left and (line := log.readline(_MOST_BYTES)):
                number = _number_of(line)
                if number is not None:
                    left -= 1
                    yield number, line


class _LogIndex(HandIndex):
    """An ACPC log. A last line without its end, which may be half-written, does not count."""

    def __init__(self, path: str, game: Game | None) -> None:
        self.path = path
        self._given = game
        self.matches: list[_LogMatch] = []
        self._passed = 0
        self._header: LogHeader | None = None
        self._is_new = True
        self.refresh()

    def refresh(self) -> None:
        size = os.path.getsize(self.path)
        if size == self._passed:
            return
        if size < self._passed:
            self.matches = []
            self._passed = 0
            self._header = None
            self._is_new = True
        with open(self.path, "rb") as log:
            log.seek(self._passed)
            while line := log.readline(_MOST_BYTES):
                if not line.endswith(b"\n"):
                    if len(line) < _MOST_BYTES or not (rest := _rest_of_line(log)):
                        break
                    self._passed += len(line) + rest
                    continue
                number = _number_of(line)
                if number is not None:
                    self._add(number, line)
                elif line.startswith(_HEADER_BYTES):
                    self._header = parse_header(_text(line)) or self._header
                    self._is_new = True
                self._passed += len(line)
        for match in self.matches:
            match.conclude()

    def _add(self, number: int, line: bytes) -> None:
        matches = self.matches
        if self._is_new or number <= matches[-1].last:
            game = find_log_game(self._header, self.path, self._given)
            name = os.path.basename(stem(self.path)) if self._header is None else self._header.match_name
            matches.append(_LogMatch(self.path, game, name, StateLines(game)))
            matches[-1].seed = None if self._header is None else self._header.seed
            self._is_new = False
        matches[-1].add(number, self._passed, line)


_HEADER_BYTES: Final = HEADER_START.encode()


def _rest_of_line(log: IO[bytes]) -> int:
    """Pass over the rest of a line; returns how many bytes it has, 0 where it does not end in sight."""
    passed = 0
    while passed < _MOST_PASSED and (piece := log.readline(_MOST_BYTES)):
        passed += len(piece)
        if piece.endswith(b"\n"):
            return passed
    return 0


def _number_of(line: bytes) -> int | None:
    if not line.startswith(b"STATE:"):
        return None
    number = line[6:24].partition(b":")[0]
    if number.isdigit() and len(number) < _MOST_DIGITS:
        return int(number)
    return None


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


def _summary(
    number: int, line: bytes, known: dict[bytes, tuple[str, ...]], most_pot: Callable[[bytes], int]
) -> HandSummary:
    fields = line.rstrip(b"\r\n").split(b":")
    try:
        _, _, betting, _, values_text, names_text = fields
        names = known.get(names_text)
        if names is None:
            names = known[names_text] = tuple(_text(names_text).split("|"))
        values = tuple(map(float, values_text.split(b"|")))
        if len(values) == len(names):
            return HandSummary(number, names, values, most_pot(betting))
    except ValueError:
        pass
    return HandSummary(number, (), (), 0)


_RAISE_SIZE: Final = re.compile(rb"r([0-9]{1,9})")


def _pot_bound(game: Game) -> Callable[[bytes], int]:
    players = game.num_players
    blind = max(game.blinds)
    sizes = game.raise_sizes
    if game.is_limit:
        return lambda text: (
            players
            * (blind + sum(size * actions.count(b"r") for size, actions in zip(sizes, text.split(b"/"), strict=False)))
        )
    return lambda text: players * max(blind, *map(int, _RAISE_SIZE.findall(text)), 0)


# ---- any other file
class _CopiedMatch(MatchHands):
    names: tuple[str, ...] = ()

    def __init__(self, first: HandRecord, file: IO[bytes], lock: threading.Lock) -> None:
        self.name = first.match_name
        self.game = first.game
        self.places: dict[int, int] = {}
        self.names = first.names_by_seat
        self._file = file
        self._lock = lock

    @property
    def count(self) -> int:
        return len(self.places)

    @cached_property
    def _numbers(self) -> list[int]:
        return sorted(self.places)

    def hand(self, number: int) -> HandRecord:
        if number not in self.places:
            raise NoSuchHandError(clean(self.name), number)
        # Of our own making, in a file that no other process can name.
        with self._lock:
            self._file.seek(self.places[number])
            record = pickle.load(self._file)
        assert isinstance(record, HandRecord)
        return record

    def around(self, number: int) -> tuple[int | None, int | None]:
        numbers = self._numbers
        at = bisect_right(numbers, number)
        before = [one for one in numbers[max(0, at - 2) : at] if one < number]
        return (before[-1] if before else None), (numbers[at] if at < len(numbers) else None)

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
        newest: dict[str, _CopiedMatch] = {}
        try:
            for record in hands:
                match = newest.get(record.match_name)
                if match is None or record.hand_number in match.places:
                    match = newest[record.match_name] = _CopiedMatch(record, self._file, lock)
                    self.matches.append(match)
                match.places[record.hand_number] = self._file.tell()
                pickle.dump(record, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        self._file.close()
