"""Hands into files of other programs' formats: one file per match and format, flushed hand by hand.

    exporter = Exporter(ExportFormat.POKERSTARS, folder, ExportOptions(hero="Ann"))
    for record in read_log("m1.log", times=True):
        exporter.write(record)
    exporter.close()

A hand that a format cannot tell is left out and counted (`skipped`); a game that it does not have is an error before
anything is written. A file that is there already is never touched unless `force` says so. What a file holds depends on
the hands alone, so a match exported while it runs and exported again from its log gives the same bytes.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final, TypeAlias

from engine import Game
from logs.errors import ExportError, LogsError, UnsupportedGameError
from logs.holdem import check_holdem, usual_blinds
from logs.line_file import LineFile
from logs.ohh import OhhOptions, format_ohh
from logs.phh import PhhOptions, format_phhs
from logs.pokerstars import PokerStarsOptions, PokerStarsWriter
from logs.rake import RakeFunction
from logs.record import HandRecord

__all__ = ["ExportFormat", "ExportOptions", "Exporter", "chip_value_of", "parse_formats"]


class ExportFormat(enum.StrEnum):
    """The formats; the value is the word for them."""

    POKERSTARS = "pokerstars"
    PHH = "phh"
    OHH = "ohh"

    @property
    def label(self) -> str:
        """What people call it."""
        return {"pokerstars": "PokerStars hand history", "phh": "PHH", "ohh": "Open Hand History"}[self.value]

    def check(self, game: Game) -> None:
        """Do nothing if the format has the game.

        Raises:
            UnsupportedGameError: it has not; the sentence says why, and what holds the game.
        """
        if self is ExportFormat.PHH:
            check_holdem(game, self.label)
        elif self is ExportFormat.OHH:
            usual_blinds(game, self.label)
        else:
            PokerStarsWriter(game, "", tuple(f"P{seat}" for seat in range(game.num_players)))


def parse_formats(text: str) -> tuple[ExportFormat, ...]:
    """The formats of a text like ``pokerstars,phh``; ``none`` means none.

    Raises:
        ValueError: a word is no format; the sentence names those there are.
    """
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    if words == ["none"]:
        return ()
    known = [format_.value for format_ in ExportFormat]
    for word in words:
        if word not in known:
            raise ValueError(f"{word!r} is no format; there are {', '.join(known)}")
    return tuple(dict.fromkeys(map(ExportFormat, words)))


def chip_value_of(stakes: str, game: Game) -> Decimal:
    """What a chip is worth where a table has these stakes.

    Args:
        stakes: as card rooms write them: ``0.50/1``, small and big blind, or in limit games small and big bet.
        game: the game.

    Raises:
        ValueError: they are no stakes, or not in the proportion of this game's.
    """
    parts = stakes.split("/")
    try:
        small, big = (Decimal(part.strip().lstrip("$€£")) for part in parts)
    except (ArithmeticError, ValueError):
        raise ValueError(f"stakes are two amounts such as 0.50/1, not {stakes!r}") from None
    if game.is_limit:
        chips, of_what = (game.raise_sizes[0], game.raise_sizes[-1]), "bets"
    else:
        blinds = sorted(blind for blind in game.blinds if blind)
        chips, of_what = (blinds[0], blinds[-1]), "blinds"
    if not (small.is_finite() and big.is_finite() and small > 0) or small * chips[1] != big * chips[0]:
        raise ValueError(f"stakes of {stakes} are not in proportion to this game's {of_what}, {chips[0]}/{chips[1]}")
    return big / chips[1]


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """How hands are written.

    Attributes:
        hero: a player's name: his cards are dealt face up, the others' are seen at the showdown. None shows what a
            format can show of everybody's.
        chip_value: what a chip is worth in money.
        currency: USD, EUR or GBP; None is play money.
        rake: what the house takes; None takes nothing.
        seed: of the match's cards, where it is known.
        begin_us: when the match began, in microseconds of Unix time; None takes the time of its first hand.
    """

    hero: str | None = None
    chip_value: Decimal = Decimal(1)
    currency: str | None = "USD"
    rake: RakeFunction | None = None
    seed: int | None = None
    begin_us: int | None = None


_DEFAULT_OPTIONS: Final = ExportOptions()

_Write: TypeAlias = Callable[[HandRecord], str]


class Exporter:
    """Writes hands of one match after the other in one format.

    Attributes:
        format_: the format.
        paths: the files written.
        hands: how many hands.
        skipped: how many hands were left out.
        first_skipped: why the first of them was.
    """

    def __init__(
        self,
        format_: ExportFormat,
        folder: str | os.PathLike[str],
        options: ExportOptions = _DEFAULT_OPTIONS,
        *,
        force: bool = False,
    ) -> None:
        """Prepare to write.

        Args:
            format_: the format.
            folder: where the files go; it is made when the first hand is written.
            options: how to write.
            force: write over files that are there.
        """
        self.paths: list[Path] = []
        self.hands = 0
        self.skipped = 0
        self.first_skipped = ""
        self.format_ = format_
        self._folder = Path(folder)
        self._options = options
        self._force = force
        self._match: tuple[Game, str, tuple[str, ...]] | None = None
        self._text_of: _Write | None = None
        self._file: LineFile | None = None
        self._tables: dict[Path, int] = {}

    def write(self, record: HandRecord) -> None:
        """Write a hand.

        Raises:
            UnsupportedGameError: the format does not have its game.
            ExportError: its file is there already.
            OSError: it cannot be written.
        """
        if self._match != (record.game, record.match_name, record.names):
            self._begin(record)
        assert self._text_of is not None
        assert self._file is not None
        try:
            text = self._text_of(record)
        except UnsupportedGameError:
            raise
        except LogsError as error:
            self.skipped += 1
            self.first_skipped = self.first_skipped or str(error)
            return
        self._file.write(text)
        self.hands += 1

    def write_all(self, records: Iterable[HandRecord]) -> None:
        """Write hands; see `write`."""
        for record in records:
            self.write(record)

    def not_written(self) -> str:
        """How many hands were left out and why, in a sentence."""
        hands = f"{self.skipped:,} hand{'s' * (self.skipped != 1)}"
        return f"{hands} cannot be told as {self.format_.label}: {self.first_skipped}."

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self, record: HandRecord) -> None:
        """Open the file of a match."""
        self.close()
        self.format_.check(record.game)
        name, self._text_of = _STARTS[self.format_](self, record)
        path = self._folder / name
        is_ours = path in self.paths
        if not is_ours and path.exists() and not self._force:
            raise ExportError(os.fspath(path))
        self._folder.mkdir(parents=True, exist_ok=True)
        self._file = LineFile(path, append=is_ours)
        if not is_ours:
            self.paths.append(path)
        self._match = (record.game, record.match_name, record.names)

    # ---- what begins with the first hand of a match

    def _match_id(self, record: HandRecord) -> str | None:
        """What tells a match from others of its name, players and game; None where its first hand has to."""
        begin_us = self._options.begin_us
        if begin_us is None and record.times:
            begin_us = record.times[0].sent_us
        return None if begin_us is None else f"seed {self._options.seed}, begun {begin_us}"

    def _table(self, record: HandRecord) -> str:
        seed = self._options.seed
        return record.match_name if seed is None else f"{record.match_name} {seed}"

    def _hero(self, record: HandRecord) -> str | None:
        return self._options.hero if self._options.hero in record.names else None

    def _start_pokerstars(self, record: HandRecord) -> tuple[str, _Write]:
        options = PokerStarsOptions(
            hero=self._hero(record),
            chip_value=self._options.chip_value,
            currency=self._options.currency,
            rake=self._options.rake,
            table=self._table(record),
            match_id=self._match_id(record),
        )
        writer = PokerStarsWriter(record.game, record.match_name, record.names, options)
        return writer.file_name(record), writer.format

    def _start_phh(self, record: HandRecord) -> tuple[str, _Write]:
        options = PhhOptions(
            hero=self._hero(record),
            chip_value=self._options.chip_value,
            currency=self._options.currency,
            seed=self._options.seed,
        )
        name = f"{_file_stem(record)}.phhs"
        path = self._folder / name

        def write(record: HandRecord) -> str:
            table = self._tables.get(path, 0) + 1
            (text,) = format_phhs([record], options, first_table=table)
            self._tables[path] = table
            return text

        return name, write

    def _start_ohh(self, record: HandRecord) -> tuple[str, _Write]:
        options = OhhOptions(
            hero=self._hero(record),
            chip_value=self._options.chip_value,
            currency=self._options.currency,
            rake=self._options.rake,
            table=self._table(record),
        )
        # A blank line stands between two hands, and may stand behind the last.
        return f"{_file_stem(record)}.OHH", lambda hand: format_ohh(hand, options) + "\n"


_STARTS: dict[ExportFormat, Callable[[Exporter, HandRecord], tuple[str, _Write]]] = {
    ExportFormat.POKERSTARS: Exporter._start_pokerstars,
    ExportFormat.PHH: Exporter._start_phh,
    ExportFormat.OHH: Exporter._start_ohh,
}


def _file_stem(record: HandRecord) -> str:
    """The match's name as a file name of any system: ASCII, no separators."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "._- ") else "_" for char in record.match_name)
    return kept.strip(" .") or "match"
