"""``arena export``: hands as other programs read them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.command_options import Json, warning_text
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.sources import Problems, Sources, StrictHandOptions, Transcript, abort_without_hands
from dealer.table.collector import relax_collector
from engine.errors import quoted
from logs.conversion import convert
from logs.document import CODE, Column, Document, Section, Table
from logs.export import parse_currency, parse_formats
from logs.formats.export_format import ExportFormat, ExportOptions
from logs.formats.money import Rake


@dataclass(frozen=True, slots=True)
class ExportArguments:
    format: Annotated[
        str, "Formats separated by commas, of pokerstars, phh and ohh.", Wording("FORMATS", flags="-f")
    ] = "pokerstars"
    out: Annotated[Path | None, "Where to write.", Wording("DIR", flags="-o", otherwise="FORMAT/ next to each log")] = (
        None
    )
    hero: Annotated[
        str | None,
        "The player whose cards are dealt face up.",
        Wording(otherwise="the first player of the first match"),
    ] = None
    observed: Annotated[bool, "Write hands without a hero, as an observer sees them."] = False
    stakes: Annotated[
        str | None,
        "The stakes, such as 0.50/1: the blinds, in limit games the bets.",
        Wording("SMALL/BIG", otherwise="a chip is 1"),
    ] = None
    currency: Annotated[
        str | None, "USD, EUR, GBP, or none for play money.", Wording(otherwise="that of the hands, or USD")
    ] = None
    rake: Annotated[float, "Rake, in per cent of the pot.", Interval(0, 100)] = 0.0
    rake_step: Annotated[float, "The rake is a multiple of this, in money.", Interval(0)] = 0.0
    rake_cap: Annotated[float | None, "The most it takes, in money.", Interval(0), Wording(otherwise="no cap")] = None
    rake_preflop: Annotated[bool, "Take rake also of pots that end before the flop."] = False
    begin: Annotated[
        str | None,
        "Begin of a match without times: such as '2026-01-03 20:15'.",
        Wording("TIME", otherwise="the beginning of 2000"),
    ] = None
    force: Annotated[bool, "Overwrite existing files."] = False

    def checked(self) -> tuple[tuple[ExportFormat, ...], ExportOptions, Rake | None]:
        """The formats, how to write them, and the rake in money; raises `ValueError` for contradictions."""
        formats = parse_formats(self.format)
        if not formats:
            raise ValueError("--format none writes nothing")
        if self.observed and self.hero is not None:
            raise ValueError("--observed has no hero: leave out one of --hero and --observed")
        if not self.rake and (self.rake_step or self.rake_cap is not None or self.rake_preflop):
            raise ValueError("--rake-step, --rake-cap and --rake-preflop need --rake, the per cent of the pot")
        try:
            begin = None if self.begin is None else datetime.fromisoformat(self.begin)
            begin_us = None if begin is None else int(begin.timestamp()) * 1_000_000
        except (OverflowError, OSError, ValueError):
            raise ValueError(f"--begin: {quoted(self.begin)} is not a time such as '2026-01-03 20:15'") from None
        options = ExportOptions(hero=self.hero, begin_us=begin_us, keeps_currency=self.currency is None)
        if self.currency is not None:
            options = replace(options, currency=parse_currency(self.currency))
        rake = Rake(self.rake, self.rake_step, self.rake_cap, not self.rake_preflop) if self.rake else None
        return formats, options, rake


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """A file of hand histories, with the number of its hands."""

    file: str
    hands: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportData:
    """The files that were written, as ``arena export --json`` prints them."""

    schema_version: int = 1
    files: tuple[ExportedFile, ...]


def export(
    terminal: Terminal,
    sources: Sources,
    *,
    options: ExportArguments,
    transcript: Transcript = None,
    as_json: Json = False,
    reading: StrictHandOptions,
) -> None:
    """Write hand histories from runs and logs: for tracking tools and notebooks.

    Hand numbers follow from the match and its hands, so a tracker never counts a hand twice that is exported again.
    """
    if transcript is not None and len(sources) > 1:
        abort("--transcript goes with one log")
    relax_collector()
    written: dict[Path, int] = {}
    with Problems(terminal) as problems:
        formats, how, rake = options.checked()
        converted = convert(
            reading.finder(strict=reading.strict)(sources, transcript=transcript, on_problem=problems),
            formats,
            how,
            folder=options.out,
            is_observed=options.observed,
            stakes=options.stakes,
            rake=rake,
            overwrites=options.force,
            on_warning=lambda warning: terminal.note(warning_text(warning)),
            on_written=written.__setitem__,
        )
    if not converted:
        abort_without_hands(sources)
    columns = (Column("file", CODE), Column("hands", ","))
    table = Table.of("Exported hands", columns, ((str(path), hands) for path, hands in written.items()))
    data = ExportData(files=tuple(ExportedFile(file=str(path), hands=hands) for path, hands in written.items()))
    show_document(
        terminal, Document(table.title, sections=(Section(table.title, (table,)),), data=data), as_json=as_json
    )
