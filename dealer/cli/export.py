"""``arena export``: hands as other programs read them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.reading import GameName, Problems, Sources, Strict, Transcript, game_named
from engine import Game
from logs.acpc_log.companions import begin_us
from logs.acpc_log.header import read_log_header
from logs.errors import LogError, LogProblem, LogsError, ProblemKind
from logs.export import Exporter, ExportFormat, ExportOptions, chip_value_of, parse_formats
from logs.rake import Rake
from logs.reading import HandFile, find_hand_files, read_file
from logs.record import HandRecord

__all__ = ["export"]

_CURRENCIES = ("USD", "EUR", "GBP")


def export(
    context: typer.Context,
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
    terminal = context.ensure_object(Terminal)
    problems = Problems(terminal)
    formats, money = _formats(format_), _currency(currency)
    if transcript is not None and len(sources) > 1:
        abort("--transcript goes with one log")
    named_game = game_named(game)
    try:
        files = find_hand_files(sources)
    except LogsError as error:
        abort(str(error))
    taken = _Rake(rake, rake_step, rake_cap, rake_preflop)
    heroes: dict[str, str] = {}
    top = os.path.commonpath([os.path.dirname(os.path.abspath(file.path)) for file in files])
    warned: set[str] = set()
    written = 0
    try:
        for file in files:
            records = read_file(
                file, game=named_game, strict=strict, on_problem=problems, times=True, transcript=transcript
            )
            first = _first(file, records, problems, is_needed=strict or len(files) == 1)
            if first is None:
                continue
            if hero is not None and hero not in first.names_by_seat:
                abort(f"no player of {file.path} is called {hero!r}; there are {', '.join(first.names_by_seat)}")
            of_file = hero or heroes.setdefault(os.path.dirname(file.path), first.names_by_seat[0])
            chip_value = file.chip_value if stakes is None else chip_value_of(stakes, first.game)
            is_log = file.format is None
            header = read_log_header(file.path) if is_log else None
            options = ExportOptions(
                hero=None if observed else of_file,
                chip_value=chip_value,
                currency=money,
                rake=taken.in_chips(chip_value),
                seed=None if header is None else header.seed,
                begin_us=begin_us(file.path) if is_log else None,
            )
            if is_log:
                _warn(terminal, first.game, formats, options, warned)
            beside = Path(file.path).parent
            target = None if out_folder is None else out_folder / os.path.relpath(beside.absolute(), top)
            exporters = [
                Exporter(format_, target or beside / format_.name, options, force=force, skips_games=not is_log)
                for format_ in formats
            ]
            _export(terminal, exporters, first, records)
            written += 1
    except (ValueError, LogsError, OSError) as error:
        problems.stop(error)
    problems.close()
    if not written:
        abort("there is no finished hand in " + ", ".join(map(str, sources)))


def _formats(text: str) -> tuple[ExportFormat, ...]:
    try:
        formats = parse_formats(text)
    except ValueError as error:
        abort(str(error))
    if not formats:
        abort("--format none writes nothing")
    return formats


def _currency(text: str) -> str | None:
    money = None if text.lower() == "none" else text.upper()
    if money is not None and money not in _CURRENCIES:
        abort(f"--currency is {', '.join(_CURRENCIES)} or none, not {text!r}")
    return money


class _Rake(NamedTuple):
    """The rake as typed, in money."""

    per_cent: float
    step: float
    cap: float | None
    takes_preflop: bool

    def in_chips(self, chip_value: Decimal) -> Rake | None:
        """The schedule; None takes nothing."""
        if not self.per_cent:
            return None
        cap = None if self.cap is None else Decimal(str(self.cap)) / chip_value
        return Rake(self.per_cent, Decimal(str(self.step)) / chip_value, cap, not self.takes_preflop)


def _first(file: HandFile, records: Iterator[HandRecord], problems: Problems, *, is_needed: bool) -> HandRecord | None:
    """The first hand of a file; None where it has none, or cannot be read and others can."""
    try:
        return next(records, None)
    except LogError as error:
        if is_needed:
            raise
        problems(LogProblem(file.path, 1, None, error.problem, ProblemKind.SKIPPED))
        return None


def _warn(
    terminal: Terminal, game: Game, formats: tuple[ExportFormat, ...], options: ExportOptions, warned: set[str]
) -> None:
    """Say once what importers will not like."""
    for format_ in formats:
        format_.check(game)
        sentence = format_.warning(game, options)
        if sentence is not None and sentence not in warned:
            warned.add(sentence)
            terminal.say(f"{sentence}.")


def _export(terminal: Terminal, exporters: Sequence[Exporter], first: HandRecord, rest: Iterator[HandRecord]) -> None:
    """Write the hands of one file in all formats, and say what was written."""
    try:
        for record in chain([first], rest):
            for exporter in exporters:
                exporter.write(record)
    finally:
        for exporter in exporters:
            exporter.close()
            for path, hands in exporter.written.items():
                terminal.print(f"{path}: {hands:,} hand{'s' * (hands != 1)}")
            if exporter.skipped:
                terminal.say(exporter.not_written())
