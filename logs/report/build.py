"""From statistics to everything a page shows: curves, tables, hands."""

from __future__ import annotations

from collections.abc import Sequence

from logs.page.table import TableView
from logs.report.page import Plot, ReportData
from logs.report.plots import winnings_plot
from logs.report.replay import replayed
from logs.text import shown
from logs.tracker.hand_counts import BigPot
from logs.tracker.statistics import Statistics
from logs.tracker.tables import statistics_tables

__all__ = ["report_data"]


def report_data(
    title: str,
    statistics: Statistics,
    pots: Sequence[BigPot],
    *,
    sentences: Sequence[str] = (),
    facts: Sequence[tuple[str, str]] = (),
    more_tables: Sequence[TableView] = (),
) -> ReportData:
    """Everything a page shows.

    Args:
        title: of the page.
        statistics: of all hands.
        pots: the biggest pots, the biggest first.
        sentences: the results in words.
        facts: what was played.
        more_tables: shown after the overview: what the statistics do not know, such as faults.
    """
    plots = tuple(
        Plot(shown(bot.name), winnings_plot(bot.curve, shown(bot.name))) for bot in statistics.bots if bot.curve
    )
    overview, *others = statistics_tables(statistics)
    return ReportData(
        shown(title),
        tuple(map(shown, sentences)),
        tuple((word, shown(value)) for word, value in facts),
        plots,
        (overview, *more_tables, *others),
        tuple(replayed(pot.record, pot.blinds) for pot in pots),
    )
