"""What a format of hand histories is, how hands are written in any of them, and which games card rooms hold.

A format is a value (`ExportFormat`): its name, and the functions that say whether it holds a game, write a match and
read a file. Adding one takes a module that makes such a value and a line in `logs.export.FORMATS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from engine import Game
from engine.game import DEFAULT_STACK
from engine.holdem import Blinds, card_room_difference, holdem_blinds
from logs.errors import LogError, LogProblem, ProblemReporter, UnsupportedGameError
from logs.files import lines_of, opened
from logs.money import RakeFunction, Scale
from logs.record import HandRecord

_DEEP_BIG_BLINDS: Final = 10_000


def check_holdem(game: Game, format_name: str) -> None:
    """Do nothing if the game is the hold'em of card rooms.

    Raises:
        UnsupportedGameError: it is not; the sentence says what is different, and which format holds the game.
    """
    difference = card_room_difference(game)
    if difference is not None:
        raise UnsupportedGameError(
            format_name, f"{format_name} holds hold'em only, and this game has {difference}; an ACPC log holds it"
        )


def usual_blinds(game: Game, format_name: str) -> Blinds:
    """Who posts the blinds in a game of hold'em.

    Raises:
        UnsupportedGameError: it is not hold'em, or has other blinds than a small and a big one in their usual places.
    """
    check_holdem(game, format_name)
    blinds = holdem_blinds(game)
    if blinds is None:
        raise UnsupportedGameError(
            format_name,
            f"{format_name} wants one small and one big blind, and the blinds by position are "
            f"{', '.join(map(str, game.blinds))}; PHH and an ACPC log hold the game",
        )
    return blinds


def shown_stacks(game: Game) -> tuple[int, ...]:
    """The stacks of a game of hold'em as hand histories have them, in chips by position.

    A limit game may give no stacks: they are then deeper than any pot, and as a number (2147483647) deeper than a
    tracker that counts cents in 32 bits can hold. Every format writes 10,000 big blinds for them, or more where the
    game's raises could use that up.
    """
    if not game.is_limit:
        return game.stacks
    raises = sum(most * size for most, size in zip(game.max_raises, game.raise_sizes, strict=True))
    deep = max(_DEEP_BIG_BLINDS, (max(game.blinds) + raises) // game.big_blind + 1) * game.big_blind
    return tuple([deep if stack == DEFAULT_STACK else stack for stack in game.stacks])


_YEAR_2000_US: Final = 946_684_800_000_000


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """How hands are written, in every format.

    Attributes:
        hero: a player's name: its cards are dealt face up, the others' are seen at the showdown. None shows what a
            format can show of everybody's.
        chip_value: what a chip is worth in money; PokerStars histories want whole cents.
        currency: the code of the money, in PokerStars histories USD, EUR or GBP; None is play money.
        rake: what the house takes, in chips; None takes nothing. See `logs.money`.
        seed: of the match's cards, or the fingerprint of their key, where it is known.
        begin_us: when the match began, in microseconds of Unix time; None where that is not known. Hands without
            times are taken to follow each other by one second from then on, or from the first second of 2000.
        table: the name of the table; None is the name of the match.
        match_id: what tells the match from others with its name, players and game; None takes the first hand that is
            written. See `logs.hand_numbers`.
        crlf: whether the lines of a PokerStars history end as on Windows, as genuine ones do.
        site: the name of the site and its network in an Open Hand History.
        default_hero: the hero where none is asked for, in the files of formats that are made for one (`wants_hero`).
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

    def hand_time_us(self, record: HandRecord) -> int:
        """When a hand began, in microseconds of Unix time, as far as that is known."""
        if record.start_us is not None:
            return record.start_us
        begin_us = _YEAR_2000_US if self.begin_us is None else self.begin_us
        return begin_us + record.hand_number * 1_000_000


class MatchWriter(NamedTuple):
    """Writes the hands of one match.

    Attributes:
        file_name: what their file is called.
        write: makes the text of a hand, given the number of hands that the file already holds; raises `LogsError`
            for a hand that the format cannot express.
        ahead_s: tells how many seconds after its real time the last hand is dated.
    """

    file_name: str
    write: Callable[[HandRecord, int], str]
    ahead_s: Callable[[], int] = lambda: 0


@dataclass(frozen=True, slots=True)
class HandReader:
    """Reads the hands of a file in its order, one by one.

    Attributes:
        read: the hands of lines with their ends, given what takes its problems and what chips are worth.
        most_characters: what a line has beyond them is dropped.
        chip_value: what a chip is worth in the file's money, unless the caller knows better.
        find_chip_value: finds it in the lines of a file instead; raises nothing.
    """

    read: Callable[[Iterator[str], ProblemReporter, Scale], Iterator[HandRecord]]
    most_characters: int
    chip_value: Decimal
    find_chip_value: Callable[[Iterator[str]], Decimal] | None = None

    def chip_value_in(self, path: str) -> Decimal:
        """What a chip is worth in the money of a file: as `find_chip_value` finds it, as far as it can be read.

        Raises:
            OSError: the file cannot be read.
        """
        if self.find_chip_value is None:
            return self.chip_value
        try:
            return self.find_chip_value(
                lines_of(opened(path, newline=None), self.most_characters, ProblemReporter(path))
            )
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
        """The hands.

        Args:
            source: the path of a file, or its lines with their ends.
            strict: stop at the first problem, except for a half-written last hand.
            on_problem: is told of every problem as it is met.
            chip_value: what a chip is worth in the file's money: 0.01 reads a file in dollars as one of cents. None is
                `chip_value_in` the file, and the `chip_value` of the reader for lines.

        Raises:
            LogError: there is no hand in the file.
            DamagedLogError: a problem was met while reading strictly.
            OSError: the file cannot be read.
        """
        if not isinstance(source, str | os.PathLike):
            scale = Scale(self.chip_value if chip_value is None else chip_value)
            yield from self.read(iter(source), ProblemReporter("<lines>", strict, on_problem), scale)
            return
        path = os.fspath(source)
        problems = ProblemReporter(path, strict, on_problem)
        scale = Scale(self.chip_value_in(path) if chip_value is None else chip_value)
        yield from self.read(lines_of(opened(path, newline=None), self.most_characters, problems), problems, scale)


@dataclass(frozen=True, slots=True)
class ExportWarning:
    """Something that importers will not like about a game and options.

    Attributes:
        problem: what it is, as a sentence without its stop.
        better: the nearest stakes that they take, as SMALL/BIG, where stakes are the problem and there are any.
        lacks_begin: whether the problem is that nobody knows when the match began.
    """

    problem: str
    better: str | None = None
    lacks_begin: bool = False


def no_warning(game: Game, options: ExportOptions) -> None:
    """The warning of a format that every importer takes as it is."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format.

    Attributes:
        name: the word for it in options and folder names.
        label: what people call it.
        check: raises `UnsupportedGameError` for a game that the format does not have.
        start: begins to write a match with its first hand.
        warning: what importers will not like about a game and options; None where all is well.
        endings: what the names of its files end in, in lower case.
        first_words: what its files begin with, for formats whose file names say too little.
        read: reads a file; None for a format that is only written.
        wants_hero: whether its programs look at hands from one player's side, as trackers do.
    """

    name: str
    label: str
    check: Callable[[Game], object]
    start: Callable[[HandRecord, ExportOptions], MatchWriter]
    warning: Callable[[Game, ExportOptions], ExportWarning | None] = no_warning
    endings: tuple[str, ...] = ()
    first_words: tuple[str, ...] = ()
    read: HandReader | None = None
    wants_hero: bool = False


def file_stem(match_name: str) -> str:
    """A match's name as a file name on any system: ASCII, no separators."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "._- ") else "_" for char in match_name)
    return kept.strip(" .") or "match"
