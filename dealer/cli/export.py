"""``arena export``: hands as other programs read them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from dealer.cli.console import abort, out, say
from dealer.cli.reading import GameName, Problems, Sources, Strict, Transcript, game_named
from engine import Game
from logs.acpc_log.companions import begin_us
from logs.acpc_log.header import read_log_header
from logs.errors import DamagedLogError, LogError, LogProblem, LogsError, ProblemKind
from logs.export import Exporter, ExportFormat, ExportOptions, chip_value_of, parse_formats
from logs.pokerstars import PokerStarsOptions, stakes_warning
from logs.rake import Rake
from logs.reading import HandFile, HandFormat, find_hand_files, read_file
from logs.record import HandRecord

__all__ = ["export"]

_CURRENCIES = ("USD", "EUR", "GBP")


def export(
    sources: Sources,
    format_: Annotated[
        str, typer.Option("--format", "-f", metavar="FORMATS", help="pokerstars, phh, ohh, or several with commas.")
    ] = "pokerstars",
    out_folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Where to write.", show_default="FORMAT/ beside each log"),
    ] = None,
    hero: Annotated[
        str | None,
        typer.Option(
            help="The player whose cards are dealt face up.", show_default="the first player of the first match"
        ),
    ] = None,
    observed: Annotated[bool, typer.Option("--observed", help="Nobody is the hero.")] = False,
    stakes: Annotated[
        str | None,
        typer.Option(
            metavar="SMALL/BIG",
            help="What is played for, such as 0.50/1: the blinds, in limit games the bets.",
            show_default="a chip is 1",
        ),
    ] = None,
    currency: Annotated[str, typer.Option(help="USD, EUR, GBP, or none for play money.")] = "USD",
    rake: Annotated[float, typer.Option(min=0, max=100, help="Per cent of the pot that the house takes.")] = 0.0,
    rake_step: Annotated[float, typer.Option(min=0, help="The rake is a multiple of this, in money.")] = 0.0,
    rake_cap: Annotated[
        float | None, typer.Option(min=0, help="The most it takes, in money.", show_default="no cap")
    ] = None,
    rake_preflop: Annotated[
        bool, typer.Option("--rake-preflop", help="Take rake also of pots that end before the flop.")
    ] = False,
    game: GameName = None,
    transcript: Transcript = None,
    strict: Strict = False,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
) -> None:
    """Write hand histories for tracking tools and notebooks from runs and logs.

    The numbers of hands follow from the match and its hands: exporting again never makes a tracker count one twice.
    """
    problems = Problems()
    try:
        formats = parse_formats(format_)
        if not formats:
            abort("--format none writes nothing")
        money = None if currency.lower() == "none" else currency.upper()
        if money is not None and money not in _CURRENCIES:
            abort(f"--currency is {', '.join(_CURRENCIES)} or none, not {currency!r}")
        named_game = game_named(game)
        if transcript is not None and len(sources) > 1:
            abort("--transcript goes with one log")
        files = find_hand_files(sources)
    except (ValueError, LogsError) as error:
        abort(str(error))

    def rake_in_chips(chip_value: Decimal) -> Rake | None:
        if not rake:
            return None
        step, cap = Decimal(str(rake_step)), None if rake_cap is None else Decimal(str(rake_cap))
        return Rake(rake, step / chip_value, None if cap is None else cap / chip_value, not rake_preflop)

    heroes: dict[str, str] = {}
    top = os.path.commonpath([os.path.dirname(os.path.abspath(file.path)) for file in files])
    warned: set[str] = set()
    written = 0
    try:
        for file in files:
            records = _hands(file, named_game, strict, problems, transcript)
            try:
                first = next(records, None)
            except DamagedLogError:
                raise
            except LogError as error:
                if strict or len(files) == 1:
                    raise
                problems(LogProblem(file.path, 1, None, error.problem, ProblemKind.SKIPPED))
                continue
            if first is None:
                continue
            folder = os.path.dirname(file.path)
            of_file = None if observed else hero or heroes.setdefault(folder, first.names[0])
            if hero is not None and hero not in first.names:
                abort(f"no player of {file.path} is called {hero!r}; there are {', '.join(first.names)}")
            chip_value = Decimal(1) if stakes is None else chip_value_of(stakes, first.game)
            is_log = file.format is HandFormat.ACPC_LOG
            header = read_log_header(file.path) if is_log else None
            options = ExportOptions(
                of_file,
                chip_value,
                money,
                rake_in_chips(chip_value),
                None if header is None else header.seed,
                begin_us(file.path) if is_log else None,
            )
            _warn(first.game, formats, options, warned)
            beside = Path(file.path).parent
            target = None if out_folder is None else out_folder / os.path.relpath(beside.absolute(), top)
            exporters = [
                Exporter(format_, target or beside / format_.value, options, force=force) for format_ in formats
            ]
            _export(exporters, first, records)
            written += 1
    except (ValueError, InvalidOperation, LogsError, OSError) as error:
        problems.stop(error)
    problems.close()
    if not written:
        abort("there is no finished hand in " + ", ".join(map(str, sources)))


def _hands(
    file: HandFile, game: Game | None, strict: bool, problems: Problems, transcript: Path | None
) -> Iterator[HandRecord]:
    return read_file(file, game=game, strict=strict, on_problem=problems, times=True, transcript=transcript)


def _warn(game: Game, formats: tuple[ExportFormat, ...], options: ExportOptions, warned: set[str]) -> None:
    """Say once what importers will not like."""
    sentences = []
    if ExportFormat.POKERSTARS in formats:
        ExportFormat.POKERSTARS.check(game)
        sentences.append(stakes_warning(game, PokerStarsOptions(chip_value=options.chip_value)))
    if ExportFormat.PHH in formats and options.rake is not None:
        sentences.append("PHH knows no rake: its files are written without")
    for sentence in sentences:
        if sentence is not None and sentence not in warned:
            warned.add(sentence)
            say(f"{sentence}.")


def _export(exporters: Sequence[Exporter], first: HandRecord, rest: Iterator[HandRecord]) -> None:
    """Write the hands of one file in all formats, and say what was written."""
    try:
        for record in chain([first], rest):
            for exporter in exporters:
                exporter.write(record)
    finally:
        for exporter in exporters:
            exporter.close()
            for path in exporter.paths:
                out.print(f"{path}: {exporter.hands:,} hand{'s' * (exporter.hands != 1)}", markup=False)
            if exporter.skipped:
                say(exporter.not_written())
