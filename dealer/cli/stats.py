"""``arena stats``: print statistics of each bot's play."""

from __future__ import annotations

import csv
import io
from typing import Annotated

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.command_options import IntervalOption, Json
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.sources import Sources, StrictHandOptions, read_counts
from dealer.run.choices import ShownInterval
from logs.tracker.definitions import STATISTICS

EPILOG = "\n\n".join([f"{statistic.short}: {statistic.definition}" for statistic in STATISTICS])
"""Definitions of the statistics, for the end of the help."""


def stats(
    terminal: Terminal,
    sources: Sources,
    full: Annotated[bool, "Print all tables: by position and street, starting hands, final hands."] = False,
    times: Annotated[bool, "Also read the times of actions; takes longer."] = False,
    workers: Annotated[
        int | None, "Number of processes for large logs.", Interval(1, 1000), Wording(otherwise="one per processor")
    ] = None,
    interval: IntervalOption = ShownInterval.USUAL,
    as_json: Json = False,
    as_csv: Annotated[bool, "Print one row per bot and position as CSV.", Wording(flags="--csv")] = False,
    *,
    reading: StrictHandOptions,
) -> None:
    """Show how each bot plays: win rate, bets, raises and showdowns, by position and street.

    The definitions are those of tracking tools.
    """
    if as_json and as_csv:
        abort("--json and --csv contradict each other; leave one out")
    find = reading.finder(strict=reading.strict)
    counts = read_counts(terminal, sources, find, times=times, workers=workers)
    from logs.tracker.statistics import statistics_of
    from logs.tracker.statistics_tables import COLUMNS, rows, statistics_document

    statistics = statistics_of(counts)
    if as_csv:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(statistics))
        terminal.print(text.getvalue(), end="")
        return
    document = statistics_document(statistics, is_whole=full)
    if interval is ShownInterval.GUARANTEED:
        from dealer.reports.guaranteed import with_guaranteed_intervals, with_note

        shown = with_guaranteed_intervals(statistics)
        document = with_note(statistics_document(shown, is_whole=full), statistics)
    show_document(terminal, document, as_json=as_json)
