"""Files of hands into hand histories: what `arena export` does, as a function.

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
    "{}: the times of its hands are unknown (it has no .tlog): they are dated a second apart from the "
    "beginning of 2000 on"
)
_RELABELLED: Final = "amounts in {} are written as {} and not converted; leave the currency out to keep it"
_AHEAD: Final = "a {} dates hands at least a second apart: these, played faster, are dated up to {} late"


def convert(
    source: HandSource,
    formats: Sequence[ExportFormat],
    asked: ExportOptions = DEFAULT_OPTIONS,
    *,
    folder: Path | None = None,
    is_observed: bool = False,
    stakes: str | None = None,
    rake: Rake | None = None,
    overwrites: bool = False,
    on_warning: Callable[[ExportWarning], None] = lambda warning: None,
    on_written: Callable[[Path, int], None] = lambda path, hands: None,
) -> int:
    """Convert files of hands; returns the number of files that had any.

    Args:
        source: of the hands; their times are read in any case.
        formats: of the files to write, at least one.
        asked: the hero, the currency and the beginning of matches without a time. Without a hero it is the first player
            of the first match in a folder, and in PHH, which is not a format of trackers, all players are shown.
        folder: where the files go; None for a folder per format next to each file that is read.
        is_observed: there is no hero.
        stakes: what is played for, such as ``0.50/1``; None takes a chip for 1 unit of money.
        rake: taken from each pot, in money.
        on_warning: called once for everything that importers will not like and of hands left out.
        on_written: called with every file written and the number of hands in it.

    Raises:
        LogsError: a file cannot be read, or a file to be written exists.
        ValueError: stakes or rake that make no sense.
        OSError: a file cannot be read or written.
    """
    top = os.path.commonpath([os.path.dirname(os.path.abspath(file.path)) for file in source.files])
    source = replace(source, times=True)
    heroes: dict[str, str] = {}
    given: set[ExportWarning] = set()
    # Hands of one table may come from several files.
    tables: dict[Path, int] = {}
    converted = 0
    furthest: Exporter | None = None

    def warn(warning: ExportWarning) -> None:
        if warning not in given:
            given.add(warning)
            on_warning(warning)

    for file, records in source.by_file():
        first = next(records, None)
        if first is None:
            continue
        options = _options(file, first, heroes, asked)
        if stakes is not None:
            options = replace(options, chip_value=chip_value_of(stakes, first.game, formats))
        options = replace(
            options,
            default_hero=None if is_observed else options.default_hero,
            rake=rake and rake.in_chips(options.chip_value),
        )
        is_log = file.format is None
        if is_log:
            for format_ in formats:
                format_.check(first.game)
                warning = format_.warning(first.game, options)
                if warning is not None:
                    warn(warning)
            if options.begin_us is None and first.start_us is None:
                warn(ExportWarning(_NO_TIMES.format(file.path), lacks_begin=True))
        parent = Path(file.path).parent
        target = None if folder is None else folder / os.path.relpath(parent.absolute(), top)
        exporters = [
            Exporter(
                format_,
                target or parent / format_.name,
                options,
                force=overwrites,
                skips_games=not is_log,
                written=None if is_log else tables,
            )
            for format_ in formats
        ]
        _write(exporters, first, records, warn, on_written)
        furthest = max([*exporters, *([furthest] if furthest else [])], key=lambda exporter: exporter.ahead_s)
        converted += 1
    if furthest is not None and furthest.ahead_s:
        warn(ExportWarning(_AHEAD.format(furthest.format_.label, duration(furthest.ahead_s))))
    return converted


def match_file(path: str, format_: ExportFormat) -> Iterator[str]:
    """The hand history that `convert` makes of a log with one match, hand by hand; empty for a log without hands.

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
    return match_texts(format_, chain([first], records), _options(file, first, {}, DEFAULT_OPTIONS))


def _options(file: HandFile, first: HandRecord, heroes: dict[str, str], asked: ExportOptions) -> ExportOptions:
    names = first.names_by_seat
    if asked.hero is not None and asked.hero not in names:
        raise LogError(file.path, f"no player of it is called {quoted(asked.hero)}; there are {', '.join(names)}")
    is_log = file.format is None
    header = read_log_header(file.path) if is_log else None
    return replace(
        asked,
        default_hero=heroes.setdefault(os.path.dirname(file.path), names[0]),
        chip_value=file.chip_value,
        seed=None if header is None else header.seed,
        begin_us=(begin_us(file.path) if is_log else None) or asked.begin_us,
    )


def _write(
    exporters: Sequence[Exporter],
    first: HandRecord,
    rest: Iterator[HandRecord],
    warn: Callable[[ExportWarning], None],
    on_written: Callable[[Path, int], None],
) -> None:
    try:
        for record in chain([first], rest):
            for exporter in exporters:
                exporter.write(record)
    finally:
        for exporter in exporters:
            exporter.close()
            for path, hands in exporter.written.items():
                on_written(path, hands)
            for currencies in sorted(exporter.relabelled):
                warn(ExportWarning(_RELABELLED.format(*currencies)))
            if exporter.skipped:
                warn(ExportWarning(exporter.not_written()))
