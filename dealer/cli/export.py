"""``arena export``: hands as other programs read them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from bots.sdk.options import Interval, Wording
from dealer.cli.console import Terminal, abort
from dealer.cli.options import warning_text
from dealer.cli.reading import Problems, Sources, StrictHandOptions, Transcript, abort_without_hands
from dealer.table.collector import spare_collector
from engine.errors import quoted
from engine.text import count_of
from logs.conversion import Conversion, MoneyRake, convert
from logs.export import parse_currency, parse_formats


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
    currency: Annotated[str, "USD, EUR, GBP, or none for play money."] = "USD"
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

    def conversion(self) -> Conversion:
        """The options as a conversion; raises `ValueError` for contradictions."""
        formats = parse_formats(self.format)
        if not formats:
            raise ValueError("--format none writes nothing")
        if self.observed and self.hero is not None:
            raise ValueError("--observed has no hero: leave out one of --hero and --observed")
        if not self.rake and (self.rake_step or self.rake_cap is not None or self.rake_preflop):
            raise ValueError("--rake-step, --rake-cap and --rake-preflop need --rake, the per cent of the pot")
        rake = MoneyRake(self.rake, self.rake_step, self.rake_cap, self.rake_preflop) if self.rake else None
        try:
            begin = None if self.begin is None else datetime.fromisoformat(self.begin)
            begin_us = None if begin is None else int(begin.timestamp()) * 1_000_000
        except (OverflowError, OSError, ValueError):
            raise ValueError(f"--begin: {quoted(self.begin)} is not a time such as '2026-01-03 20:15'") from None
        return Conversion(
            formats,
            folder=self.out,
            hero=self.hero,
            is_observed=self.observed,
            stakes=self.stakes,
            currency=parse_currency(self.currency),
            rake=rake,
            overwrites=self.force,
            begin_us=begin_us,
        )


def export(
    context: typer.Context,
    sources: Sources,
    *,
    options: ExportArguments,
    transcript: Transcript = None,
    reading: StrictHandOptions,
) -> None:
    """Write hand histories from runs and logs: for tracking tools and notebooks.

    Hand numbers follow from the match and its hands, so a tracker never counts a hand twice that is exported again.
    """
    terminal = context.ensure_object(Terminal)
    if transcript is not None and len(sources) > 1:
        abort("--transcript goes with one log")
    spare_collector()
    with Problems(terminal) as problems:
        converted = convert(
            reading.finder(strict=reading.strict)(sources, transcript=transcript, on_problem=problems),
            options.conversion(),
            on_warning=lambda warning: terminal.note(warning_text(warning)),
            on_written=lambda path, hands: terminal.sentence(f"{path}: {count_of(hands, 'hand')}"),
        )
    if not converted:
        abort_without_hands(sources)
