"""Write hands in the formats of other programs: one file per match and format, flushed hand by hand.

    exporter = Exporter(POKERSTARS, folder, ExportOptions(hero="Ann"))
    for record in read_log("m1.log", times=True):
        exporter.write(record)
    exporter.close()

The content of a file depends on the hands alone. A match that is exported while it runs and exported again from its log
gives the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Final

from engine import Game
from engine.errors import quoted
from engine.text import count_of
from logs.errors import ExportError, LogsError, UnsupportedGameError
from logs.formats.export_format import DEFAULT_OPTIONS, ExportFormat, ExportOptions, MatchWriter
from logs.formats.money import amount_text
from logs.ohh import OHH
from logs.phh import PHH
from logs.pokerstars import POKERSTARS
from logs.pokerstars.stakes import CURRENCY_SYMBOLS
from logs.record import PLAY_MONEY, HandRecord
from logs.whole_file import LineFile

FORMATS: Final = {format_.name: format_ for format_ in (POKERSTARS, PHH, OHH)}
"""Formats by name."""


def parse_formats(text: str) -> tuple[ExportFormat, ...]:
    """Parse names of formats such as ``pokerstars,phh``; ``none`` gives no format.

    Raises:
        ValueError: a word is not a format; the message lists the formats.
    """
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    if words == ["none"]:
        return ()
    if not words:
        raise ValueError(f"{quoted(text)} names no format; the formats are {', '.join(FORMATS)}, or none")
    for word in words:
        if word not in FORMATS:
            raise ValueError(f"{quoted(word)} is not a format; the formats are {', '.join(FORMATS)}")
    return tuple(FORMATS[word] for word in dict.fromkeys(words))


def parse_currency(text: str) -> str | None:
    """Parse the code of a currency; ``none`` gives None, for play money.

    Raises:
        ValueError: PokerStars histories do not have the currency.
    """
    code = None if text.lower() == "none" else text.upper()
    if code not in CURRENCY_SYMBOLS:
        raise ValueError(f"the currency is {', '.join(filter(None, CURRENCY_SYMBOLS))} or none, not {quoted(text)}")
    return code


def chip_value_of(stakes: str, game: Game, formats: Sequence[ExportFormat] = ()) -> Decimal:
    """Return the value of a chip at a table with these stakes.

    Args:
        stakes: as card rooms write them, such as ``0.50/1``: small and big blind, in limit games small and big bet.
        formats: formats to be written; PokerStars histories have whole cents only.

    Raises:
        ValueError: the text is not stakes, the stakes are not in the proportion of this game's, or a chip would be
            worth an amount that the formats cannot hold.
    """
    parts = stakes.split("/")
    try:
        small, big = (Fraction(part.strip().lstrip("$€£")) for part in parts)
    except (ArithmeticError, ValueError):
        raise ValueError(f"stakes are two amounts such as 0.50/1, not {quoted(stakes)}") from None
    if game.is_limit:
        chips = (game.raise_sizes[0], game.raise_sizes[-1])
        noun = "bets"
    else:
        blinds = sorted(blind for blind in game.blinds if blind)
        chips = (blinds[0], blinds[-1])
        noun = "blinds"
    small_chips, big_chips = chips
    if small <= 0 or small * big_chips != big * small_chips:
        raise ValueError(f"stakes of {stakes} are not in proportion to this game's {noun}, {small_chips}/{big_chips}")
    value = big / big_chips
    if POKERSTARS in formats:
        unit = Fraction(1, 100)
        unit_name = "cents"
    else:
        unit = Fraction(1, 10**6)
        unit_name = "millionths"
    if value % unit:
        near = max(unit, round(value / unit) * unit)
        raise ValueError(
            f"stakes of {stakes} do not fit {noun} of {small_chips}/{big_chips} chips: a chip would be worth {value}, "
            f"which is not a whole number of {unit_name}; "
            f"{amount_text(small_chips * near)}/{amount_text(big_chips * near)} fits"
        )
    return Decimal(value.numerator) / value.denominator


class Exporter:
    """Write the hands of one match after another in one format.

    A hand that the format cannot express is left out and counted.

    Attributes:
        written: number of hands by file.
        skipped: number of hands left out.
        first_skipped: reason for the first of them.
        ahead_s: largest time by which the last hand of a file is dated after its real time, in seconds.
        relabelled: pairs of the currency of hands and the currency in which they are written.
    """

    def __init__(
        self,
        format_: ExportFormat,
        folder: str | os.PathLike[str],
        options: ExportOptions = DEFAULT_OPTIONS,
        *,
        force: bool = False,
        skips_games: bool = False,
        label: str = "",
        written: dict[Path, int] | None = None,
    ) -> None:
        """Prepare to write.

        Args:
            folder: folder of the files; it is created with the first hand.
            options: options of the format. A match in which the hero does not play has no hero. Without a table and a
                `match_id`, both are made of the seed and the time when the match began.
            force: whether to overwrite existing files.
            skips_games: whether to leave out hands of games that the format does not have, like other hands that it
                cannot express. In files of card rooms every hand may be a game of its own, with other stacks.
            label: text at the end of the file names, followed by the microsecond when the match began; it distinguishes
                the files from those of other matches in the same folder.
            written: files of other exporters to which hands are appended, with their numbers of hands; it is updated.
        """
        self._label = label
        self.written: dict[Path, int] = {} if written is None else written
        self.skipped = 0
        self.first_skipped = ""
        self.ahead_s = 0
        self.relabelled: set[tuple[str, str]] = set()
        self.format_ = format_
        self._folder = Path(folder)
        self._options = options
        self._force = force
        self._skips_games = skips_games
        self._match: tuple[Game, str, tuple[str, ...], str | None] | None = None
        self._open: tuple[MatchWriter, LineFile, Path] | None = None

    def write(self, record: HandRecord) -> None:
        """Write a hand.

        Raises:
            UnsupportedGameError: the format does not have its game, and such hands are not left out.
            ExportError: its file exists already.
            OSError: it cannot be written.
        """
        try:
            if self._open is None or self._match != self._key(record):
                self._open = self._begin(record)
            writer, file, path = self._open
            text = writer.write(record, self.written[path])
        except LogsError as error:
            is_unsupported = isinstance(error, UnsupportedGameError) and not self._skips_games
            if isinstance(error, ExportError) or is_unsupported:
                raise
            self.skipped += 1
            self.first_skipped = self.first_skipped or str(error)
            return
        file.write(text)
        self.written[path] += 1

    @property
    def paths(self) -> list[Path]:
        return list(self.written)

    @property
    def hands(self) -> int:
        """Number of hands written."""
        return sum(self.written.values())

    def not_written(self) -> str:
        """Describe the hands left out, as a sentence without a full stop."""
        return f"{count_of(self.skipped, 'hand')} cannot be written as {self.format_.label}: {self.first_skipped}"

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._open is not None:
            writer, file, _ = self._open
            self.ahead_s = max(self.ahead_s, writer.ahead_s())
            file.close()
            self._open = None

    def _begin(self, record: HandRecord) -> tuple[MatchWriter, LineFile, Path]:
        self.close()
        self.format_.check(record.game)
        options = _options_for(self.format_, record, self._options)
        writer = self.format_.start(record, options)
        currency = options.currency or PLAY_MONEY
        if record.currency not in (None, currency):
            self.relabelled.add((record.currency or PLAY_MONEY, currency))
        path = self._folder / writer.file_name
        if self._label:
            begin_us = _begin_us(record, self._options) or 0
            # File systems limit the length of a name.
            path = path.with_stem(f"{path.stem} {self._label[:100]} {begin_us}")
        is_appended = path in self.written
        if not is_appended and path.exists() and not self._force:
            raise ExportError(os.fspath(path))
        self._folder.mkdir(parents=True, exist_ok=True)
        file = LineFile(path, append=is_appended)
        if not is_appended:
            self.written[path] = 0
        self._match = self._key(record)
        return writer, file, path

    def _key(self, record: HandRecord) -> tuple[Game, str, tuple[str, ...], str | None]:
        """Return a key that is equal for hands of one match."""
        return record.game, record.match_name, record.names_by_seat, record.currency


def hand_text(
    format_: ExportFormat, record: HandRecord, first: HandRecord, options: ExportOptions = DEFAULT_OPTIONS
) -> str:
    """Format a single hand as in the file of its match.

    The date can differ, as it may depend on the hands before.

    Args:
        first: first hand of the match.

    Raises:
        LogsError: the format cannot express the hand, or does not have its game.
    """
    format_.check(record.game)
    return format_.start(first, _options_for(format_, first, options)).write(record, 0)


def match_texts(
    format_: ExportFormat, records: Iterable[HandRecord], options: ExportOptions = DEFAULT_OPTIONS
) -> Iterator[str]:
    """Yield the texts of a match's hands as in a file; hands that the format cannot express are left out.

    Raises:
        UnsupportedGameError: the format does not have the game.
    """
    writer: MatchWriter | None = None
    written = 0
    for record in records:
        if writer is None:
            format_.check(record.game)
            writer = format_.start(record, _options_for(format_, record, options))
        try:
            text = writer.write(record, written)
        except LogsError:
            continue
        written += 1
        yield text


def _begin_us(first: HandRecord, options: ExportOptions) -> int | None:
    if options.begin_us is None and first.times:
        return first.times[0].sent_us
    return options.begin_us


def _options_for(format_: ExportFormat, first: HandRecord, options: ExportOptions) -> ExportOptions:
    seed = options.seed
    begin_us = _begin_us(first, options)
    table = options.table
    match_id = options.match_id
    if table is None and seed is not None:
        # A fingerprint is cut to the length of the longest seed, and has no colon.
        table = f"{first.match_name} {str(seed).removeprefix('key:')[:10]}"
    if match_id is None and begin_us is not None:
        match_id = f"seed {seed}, begun {begin_us}"
    hero = options.hero
    if not hero and format_.wants_hero:
        hero = options.default_hero
    if hero not in first.names_by_seat:
        hero = None
    currency = options.currency_of(first)
    return replace(options, hero=hero, table=table, match_id=match_id, currency=currency)
