"""``arena export``: write hand histories for tracking tools and notebooks."""

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
class _ExportArguments:
    """Options of the command, as typed."""

    format: Annotated[
        str, "Formats separated by commas, of pokerstars, phh and ohh.", Wording("FORMATS", flags="-f")
    ] = "pokerstars"
    out: Annotated[
        Path | None, "Folder to write to.", Wording("DIR", flags="-o", otherwise="FORMAT/ next to each log")
    ] = None
    hero: Annotated[
        str | None,
        "Player whose cards are shown.",
        Wording(otherwise="the first player of the first match"),
    ] = None
    observed: Annotated[bool, "Write hands without a hero, as an observer sees them."] = False
    stakes: Annotated[
        str | None,
        "Stakes, such as 0.50/1: the blinds, or the bets in limit games.",
        Wording("SMALL/BIG", otherwise="a chip is 1"),
    ] = None
    currency: Annotated[
        str | None, "USD, EUR, GBP, or none for play money.", Wording(otherwise="that of the hands, or USD")
    ] = None
    rake: Annotated[float, "Rake, in per cent of the pot.", Interval(0, 100)] = 0.0
    rake_step: Annotated[float, "Step to which the rake is rounded down, in money.", Interval(0)] = 0.0
    rake_cap: Annotated[float | None, "Largest rake of a hand, in money.", Interval(0), Wording(otherwise="no cap")] = (
        None
    )
    rake_preflop: Annotated[bool, "Take rake also from pots that end before the flop."] = False
    begin: Annotated[
        str | None,
        "Start time of a match without times. Write it as '2026-01-03 20:15'.",
        Wording("TIME", otherwise="the beginning of 2000"),
    ] = None
    force: Annotated[bool, "Overwrite existing files."] = False

    def checked(self) -> tuple[tuple[ExportFormat, ...], ExportOptions, Rake | None]:
        """Parse the options.

        Returns:
            the formats, the options of their writers, and the rake in money.

        Raises:
            ValueError: an option is invalid or contradicts another.
        """
        formats = parse_formats(self.format)
        if not formats:
            raise ValueError("--format none writes nothing")
        if self.observed and self.hero is not None:
            raise ValueError("--observed has no hero; leave out --hero or --observed")
        if not self.rake and (self.rake_step or self.rake_cap is not None or self.rake_preflop):
            raise ValueError("--rake-step, --rake-cap and --rake-preflop go with --rake, the per cent of the pot")
        try:
            begin_us = None
            if self.begin is not None:
                begin_us = int(datetime.fromisoformat(self.begin).timestamp()) * 1_000_000
        except (OverflowError, OSError, ValueError):
            raise ValueError(f"--begin: {quoted(self.begin)} is not a time such as '2026-01-03 20:15'") from None
        options = ExportOptions(hero=self.hero, begin_us=begin_us, keeps_currency=self.currency is None)
        if self.currency is not None:
            options = replace(options, currency=parse_currency(self.currency))
        rake = None
        if self.rake:
            rake = Rake(self.rake, self.rake_step, self.rake_cap, not self.rake_preflop)
        return formats, options, rake


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """File of hand histories and the number of its hands, for JSON."""

    file: str
    hands: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportData:
    """Result of ``arena export --json``."""

    schema_version: int = 1
    files: tuple[ExportedFile, ...]


def export(
    terminal: Terminal,
    sources: Sources,
    *,
    options: _ExportArguments,
    transcript: Transcript = None,
    as_json: Json = False,
    reading: StrictHandOptions,
) -> None:
    """Export runs and logs as hand histories for trackers and notebooks.

    Hand numbers follow from the match and its hands, so a tracker recognises hands that are exported again.
    """
    if transcript is not None and len(sources) > 1:
        abort("--transcript goes with one log")
    relax_collector()
    written: dict[Path, int] = {}
    with Problems(terminal) as problems:
        formats, writer_options, rake = options.checked()
        find = reading.finder(strict=reading.strict)
        converted = convert(
            find(sources, transcript=transcript, on_problem=problems),
            formats,
            writer_options,
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
    title = "Exported hands"
    rows = [(str(path), hands) for path, hands in written.items()]
    table = Table.of(title, (Column("file", CODE), Column("hands", ",")), rows)
    data = ExportData(files=tuple([ExportedFile(file=file, hands=hands) for file, hands in rows]))
    document = Document(title, sections=(Section(title, (table,)),), data=data)
    show_document(terminal, document, as_json=as_json)
