"""Conversion of files of hands to hand histories, as `arena export` does it.

convert(find(["runs/x"]), (POKERSTARS, PHH), stakes="0.50/1", on_written=print)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final

from engine.errors import quoted
from engine.text import duration
from logs.acpc_log.companions import begin_us
from logs.acpc_log.header import read_log_header
from logs.errors import LogError
from logs.export import Exporter, chip_value_of, match_texts
from logs.formats.export_format import DEFAULT_OPTIONS, ExportFormat, ExportOptions, ExportWarning
from logs.formats.money import Rake
from logs.hand_source import HandFile, HandSource
from logs.record import HandRecord

_NO_TIMES: Final = (
    "{}: the times of its hands are unknown because it has no .tlog, so they are dated a second apart from the "
    "beginning of 2000 on"
)
_RELABELLED: Final = "amounts in {} are written as {} and not converted; leave the currency out to keep it"
_AHEAD: Final = "a {} dates hands at least a second apart, so these, which were played faster, are dated up to {} late"


def convert(
    source: HandSource,
    formats: Sequence[ExportFormat],
    options: ExportOptions = DEFAULT_OPTIONS,
    *,
    folder: Path | None = None,
    is_observed: bool = False,
    stakes: str | None = None,
    rake: Rake | None = None,
    overwrites: bool = False,
    on_warning: Callable[[ExportWarning], None] = lambda warning: None,
    on_written: Callable[[Path, int], None] = lambda path, hands: None,
) -> int:
    """Convert files of hands, and return the number of files that contained any.

    Args:
        source: files to convert. The times of their hands are always read.
        formats: formats to write, at least one.
        options: hero, currency, and start of matches without times. The default hero is the first player of the first
            match in a folder; PHH, which trackers do not read, shows the cards of all players instead.
        folder: folder of the output; None makes a folder per format next to each file read.
        is_observed: write without a hero.
        stakes: stakes such as ``0.50/1``; None makes a chip 1 unit of money.
        rake: rake of each pot, in money.
        on_warning: called once for each property that importers may refuse, and for hands left out.
        on_written: called at the end with each file written and its number of hands.

    Raises:
        LogsError: a file cannot be read, or a file to be written exists.
        ValueError: stakes or rake are invalid.
        OSError: a file cannot be read or written.
    """
    top = os.path.commonpath([os.path.dirname(os.path.abspath(file.path)) for file in source.files])
    conversion = _Conversion(
        formats,
        options,
        is_observed=is_observed,
        stakes=stakes,
        rake=rake,
        overwrites=overwrites,
        on_warning=on_warning,
    )
    converted = 0
    try:
        for file, records in replace(source, times=True).by_file():
            first = next(records, None)
            if first is None:
                continue
            target: Path | None = None
            if folder is not None:
                target = folder / os.path.relpath(Path(file.path).parent.absolute(), top)
            conversion.add(file, first, records, target)
            converted += 1
    finally:
        # Hands of one table may come from several files, so the counts are final only now.
        for path, hands in conversion.written.items():
            on_written(path, hands)
    conversion.warn_of_late_dates()
    return converted


class _Conversion:
    """Files written by one call of `convert`, and the warnings given.

    Attributes:
        written: number of hands of each file.
    """

    def __init__(
        self,
        formats: Sequence[ExportFormat],
        options: ExportOptions,
        *,
        is_observed: bool,
        stakes: str | None,
        rake: Rake | None,
        overwrites: bool,
        on_warning: Callable[[ExportWarning], None],
    ) -> None:
        self.written: dict[Path, int] = {}
        self._formats = formats
        self._options = options
        self._is_observed = is_observed
        self._stakes = stakes
        self._rake = rake
        self._overwrites = overwrites
        self._on_warning = on_warning
        self._warnings: set[ExportWarning] = set()
        self._heroes: dict[str, str] = {}
        # Hands of one table may come from several files of a card room, which all append to the same output.
        self._tables: dict[Path, int] = {}
        self._latest: Exporter | None = None

    def add(self, file: HandFile, first: HandRecord, rest: Iterator[HandRecord], folder: Path | None) -> None:
        """Write the hands of a file in all formats, into `folder` or into one per format next to the file."""
        options = self._complete_options(file, first)
        is_log = file.format is None
        if is_log:
            self._check_game(file, first, options)
        exporters: list[Exporter] = []
        for format_ in self._formats:
            target = folder or Path(file.path).parent / format_.name
            written = None if is_log else self._tables
            exporters.append(
                Exporter(format_, target, options, force=self._overwrites, skips_games=not is_log, written=written)
            )
        try:
            for record in chain([first], rest):
                for exporter in exporters:
                    exporter.write(record)
        finally:
            for exporter in exporters:
                self._close(exporter)

    def warn_of_late_dates(self) -> None:
        latest = self._latest
        if latest is not None and latest.ahead_s:
            self._warn(ExportWarning(_AHEAD.format(latest.format_.label, duration(latest.ahead_s))))

    def _complete_options(self, file: HandFile, first: HandRecord) -> ExportOptions:
        options = _options_for(file, first, self._heroes, self._options)
        if self._is_observed:
            options = replace(options, default_hero=None)
        if self._stakes is not None:
            options = replace(options, chip_value=chip_value_of(self._stakes, first.game, self._formats))
        if self._rake is not None:
            options = replace(options, rake=self._rake.in_chips(options.chip_value))
        return options

    def _check_game(self, file: HandFile, first: HandRecord, options: ExportOptions) -> None:
        for format_ in self._formats:
            format_.check(first.game)
            warning = format_.warning(first.game, options)
            if warning is not None:
                self._warn(warning)
        if options.begin_us is None and first.start_us is None:
            self._warn(ExportWarning(_NO_TIMES.format(file.path), lacks_begin=True))

    def _close(self, exporter: Exporter) -> None:
        exporter.close()
        self.written.update(exporter.written)
        for currencies in sorted(exporter.relabelled):
            self._warn(ExportWarning(_RELABELLED.format(*currencies)))
        if exporter.skipped:
            self._warn(ExportWarning(exporter.not_written()))
        if self._latest is None or exporter.ahead_s > self._latest.ahead_s:
            self._latest = exporter

    def _warn(self, warning: ExportWarning) -> None:
        if warning not in self._warnings:
            self._warnings.add(warning)
            self._on_warning(warning)


def match_file(path: str, format_: ExportFormat) -> Iterator[str]:
    """Return the hands of a log with one match, each as `convert` writes it in a format.

    Raises:
        LogsError: the log cannot be read, or the format does not have its game.
        OSError: the log cannot be read.
    """
    file = HandFile(path)
    records = HandSource((file,), times=True).read(file)
    first = next(records, None)
    if first is None:
        return iter(())
    format_.check(first.game)
    options = _options_for(file, first, {}, DEFAULT_OPTIONS)
    return match_texts(format_, chain([first], records), options)


def _options_for(file: HandFile, first: HandRecord, heroes: dict[str, str], options: ExportOptions) -> ExportOptions:
    """Complete the options for a file.

    Args:
        heroes: default heroes by folder; that of a new folder is added.
    """
    names = first.names_by_seat
    if options.hero is not None and options.hero not in names:
        raise LogError(file.path, f"no player is called {quoted(options.hero)}; there are {', '.join(names)}")
    options = replace(
        options,
        default_hero=heroes.setdefault(os.path.dirname(file.path), names[0]),
        chip_value=file.chip_value,
        seed=None,
    )
    if file.format is not None:
        return options
    header = read_log_header(file.path)
    return replace(
        options,
        seed=None if header is None else header.seed,
        begin_us=begin_us(file.path) or options.begin_us,
    )
