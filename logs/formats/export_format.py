"""Formats of hand histories as values, with the options of an export and the reader of files.

An `ExportFormat` contains the functions that check a game, write a match and read a file. A new format takes a module
that makes such a value, and a line in `logs.export.FORMATS`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from engine import Game
from logs.errors import LogError, LogProblem, ProblemReporter
from logs.files import lines_of, opened
from logs.formats.money import RakeFunction, Scale
from logs.record import PLAY_MONEY, HandRecord

_YEAR_2000_US: Final = 946_684_800_000_000


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Options of an export, the same for all formats.

    Attributes:
        hero: player whose cards are dealt face up, while those of others are seen at the showdown only. None shows the
            cards of all players, as far as the format can.
        chip_value: value of a chip in money; PokerStars histories require whole cents.
        currency: code of the money of hands whose file names none, in PokerStars histories USD, EUR or GBP; None is
            play money.
        rake: in chips; None takes nothing. See `logs.formats.money`.
        seed: seed of the match's cards or fingerprint of their key, if known.
        begin_us: start of the match in microseconds of Unix time; None if unknown. Hands without times are dated one
            second apart from then on, or from the first second of 2000.
        table: name of the table; None is the name of the match.
        match_id: distinguishes the match from others with its name, players and game; None takes the first written
            hand. See `logs.formats.hand_numbers`.
        crlf: end the lines of a PokerStars history as on Windows, as genuine ones do.
        site: name of the site and its network in an Open Hand History.
        default_hero: the hero without `hero`, in formats made for one (`wants_hero`).
        keeps_currency: keep the currency that a file names; otherwise `currency` is for all hands.
    """

    hero: str | None = None
    chip_value: Decimal | float | str = Decimal(1)
    currency: str | None = "USD"
    rake: RakeFunction | None = None
    seed: int | str | None = None
    begin_us: int | None = None
    table: str | None = None
    match_id: str | None = None
    crlf: bool = True
    site: str = "acpc-arena"
    default_hero: str | None = None
    keeps_currency: bool = True

    def currency_of(self, record: HandRecord) -> str | None:
        """Return the currency in which a hand is written; None is play money."""
        if not self.keeps_currency or record.currency is None:
            return self.currency
        if record.currency == PLAY_MONEY:
            return None
        return record.currency

    def hand_time_us(self, record: HandRecord) -> int:
        """Return the start of a hand in microseconds of Unix time, invented where it is unknown."""
        if record.start_us is not None:
            return record.start_us
        begin_us = _YEAR_2000_US if self.begin_us is None else self.begin_us
        return begin_us + record.hand_number * 1_000_000


DEFAULT_OPTIONS: Final = ExportOptions()


class MatchWriter(NamedTuple):
    """Writer of the hands of one match.

    Attributes:
        write: formats a hand, given the number of hands that the file already holds; raises `LogsError` for a hand
            that the format cannot express.
        ahead_s: returns the seconds by which the date of the last hand is after its real time.
    """

    file_name: str
    write: Callable[[HandRecord, int], str]
    ahead_s: Callable[[], int] = lambda: 0


@dataclass(frozen=True, slots=True)
class HandReader:
    """Reader of the hands of a file, in its order.

    Attributes:
        read: yields the hands of lines with their ends, given the reporter of problems and the value of chips.
        max_line_characters: characters after which a line is cut.
        chip_value: value of a chip in the file's money, unless the caller overrides it.
        find_chip_value: finds that value in the lines of a file instead; raises nothing.
    """

    read: Callable[[Iterator[str], ProblemReporter, Scale], Iterator[HandRecord]]
    max_line_characters: int
    chip_value: Decimal
    find_chip_value: Callable[[Iterator[str]], Decimal] | None = None

    def chip_value_in(self, path: str) -> Decimal:
        """Return the value of a chip in the money of a file, by `find_chip_value` if the file can be read.

        Raises:
            OSError: the file cannot be read.
        """
        if self.find_chip_value is None:
            return self.chip_value
        try:
            lines = lines_of(opened(path, newline=None), self.max_line_characters, ProblemReporter(path))
            return self.find_chip_value(lines)
        except LogError:
            return self.chip_value

    def __call__(
        self,
        source: str | os.PathLike[str] | Iterable[str],
        *,
        strict: bool = False,
        on_problem: Callable[[LogProblem], None] | None = None,
        chip_value: Decimal | float | None = None,
    ) -> Iterator[HandRecord]:
        """Yield the hands.

        Args:
            source: path of a file, or its lines with their ends.
            strict: stop at the first problem, except for a half-written last hand.
            on_problem: called with every problem in order.
            chip_value: value of a chip in the file's money: 0.01 reads a file in dollars as one of cents. None is
                `chip_value_in` the file; for lines it is the reader's `chip_value`.

        Raises:
            LogError: there is no hand in the file.
            DamagedLogError: a problem was met while reading strictly.
            OSError: the file cannot be read.
        """
        if not isinstance(source, str | os.PathLike):
            if chip_value is None:
                chip_value = self.chip_value
            problems = ProblemReporter("<lines>", strict, on_problem)
            yield from self.read(iter(source), problems, Scale(chip_value))
            return
        path = os.fspath(source)
        if chip_value is None:
            chip_value = self.chip_value_in(path)
        problems = ProblemReporter(path, strict, on_problem)
        lines = lines_of(opened(path, newline=None), self.max_line_characters, problems)
        yield from self.read(lines, problems, Scale(chip_value))


@dataclass(frozen=True, slots=True)
class ExportWarning:
    """Warning about a game and options that importers may refuse.

    Attributes:
        problem: a sentence without its full stop.
        better: the nearest stakes that importers accept, as SMALL/BIG, if stakes are the problem.
        lacks_begin: the start of the match is unknown.
    """

    problem: str
    better: str | None = None
    lacks_begin: bool = False


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format of hand histories.

    Attributes:
        label: name in sentences.
        check: raises `UnsupportedGameError` for a game that the format cannot express.
        start: makes the writer of a match, given its first hand.
        warning: returns a warning about a game and options, or None.
        endings: endings of file names, in lower case, if the format is read. Files are written with the last one.
        first_words: text at the start of files, for a format whose file names are ambiguous.
        read: None for a format that is only written.
        wants_hero: programs that read the format take the view of one player, as trackers do.
    """

    name: str
    label: str
    check: Callable[[Game], object]
    start: Callable[[HandRecord, ExportOptions], MatchWriter]
    warning: Callable[[Game, ExportOptions], ExportWarning | None] = lambda game, options: None
    endings: tuple[str, ...] = ()
    first_words: tuple[str, ...] = ()
    read: HandReader | None = None
    wants_hero: bool = False


def file_stem(match_name: str) -> str:
    """Return a match's name as a file name for any system, in ASCII and without separators."""
    kept = re.sub(r"[^A-Za-z0-9._ -]", "_", match_name)
    return kept.strip(" .") or "match"
