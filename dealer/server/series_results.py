"""Table of a series, as a value and as a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dealer.run.results import read_standings
from dealer.server.db.event_records import EventState, ScheduledEvent
from dealer.server.db.series_records import Series
from dealer.server.event_results import events_table
from logs.document import DATE, TEXT, Column, Document, Fact, Link, Section, Table
from protocol.game_definition import short_name


@dataclass(frozen=True, slots=True)
class SeriesRow:
    """A bot in the table of a series.

    Attributes:
        total: points, mean winnings in mbb/g, or place in the final; None for a bot outside the final.
        results: the same by the name of the event; of groups, the place.
    """

    bot: str
    total: float | None
    results: dict[str, float]


def series_rule(series: Series) -> str:
    """Describe in a sentence how the table of a series is made."""
    settings = series.settings
    if settings.groups is not None:
        return f"The first {settings.advance} of each group enter the final, whose places count; figures are places."
    if settings.score == "mean":
        return "A bot's score is its mean winnings per hand over the events that it entered, in mbb/g."
    return "An event gives a bot a point for every bot that is placed below it; points add up."


def series_rows(series: Series) -> tuple[SeriesRow, ...]:
    """Make the table of a series from the events that are finished, the best bot first."""
    settings = series.settings
    results: dict[str, dict[str, float]] = {}
    for event in series.events:
        if event.state is not EventState.FINISHED or not event.standings:
            continue
        for bot, place, mean, below in _event_results(event.standings):
            value = float(below)
            if settings.groups is not None:
                value = float(place)
            elif settings.score == "mean":
                value = mean
            results.setdefault(bot, {})[event.name] = value
    rows = [SeriesRow(bot, _total(series, values), values) for bot, values in results.items()]
    if settings.groups is not None:
        # Bots outside the final follow, by their places in the groups.
        return tuple(sorted(rows, key=lambda row: (row.total is None, row.total or min(row.results.values()), row.bot)))
    return tuple(sorted(rows, key=lambda row: (-(row.total or 0.0), row.bot)))


def _total(series: Series, values: dict[str, float]) -> float | None:
    if series.settings.groups is not None:
        return values.get(series.settings.final_name)
    total = sum(values.values())
    return total / len(values) if series.settings.score == "mean" else total


@lru_cache(maxsize=256)
def _event_results(text: str) -> tuple[tuple[str, int, float, int], ...]:
    """Read bots of final standings with place, mean winnings in mbb/g, and number of bots placed below."""
    standings = read_standings(text)
    places = {rank.player: rank.place for rank in standings.total_bankroll}
    rates = standings.mean_rates
    return tuple(
        (bot, place, rates[bot].mean, sum(other > place for other in places.values())) for bot, place in places.items()
    )


def series_data(series: Series) -> dict[str, Any]:
    """Make the JSON data of a series, the same as in the HTTP interface."""
    return {
        "name": series.name,
        "game": series.settings.game,
        "rule": series_rule(series),
        "events": [{"name": event.name, "state": event.state.value} for event in series.events],
        "table": [{"bot": row.bot, "total": row.total, "results": row.results} for row in series_rows(series)],
    }


def series_document(series: Series, event_path: Callable[[ScheduledEvent], str] = lambda event: "") -> Document:
    """Make the document of a series: its table and its events."""
    is_mean = series.settings.groups is None and series.settings.score == "mean"
    figures = "+,.0f" if is_mean else ",.0f"
    total = "final" if series.settings.groups is not None else series.settings.score
    shown_events = [event for event in series.events if event.name != series.settings.final_name]
    columns = [Column("bot"), Column(total, figures)]
    columns += [Column(event.name.removeprefix(f"{series.name}-"), figures) for event in shown_events]
    rows = []
    for row in series_rows(series):
        rows.append((row.bot, row.total, *(row.results.get(event.name) for event in shown_events)))
    sections = []
    if rows:
        sections.append(Section("Table", (Table.of("Table", columns, rows).without_empty(),)))
    events = events_table("Events", series.events, event_path)
    sections.append(Section("Events", (events,)))
    game = short_name(series.events[0].game) if series.events else series.settings.game
    facts = (Fact("game", game), Fact("rule", series_rule(series), TEXT))
    sentences = () if rows else ("No event of the series is finished yet.",)
    return Document(f"Series {series.name}", sentences, facts, tuple(sections), data=series_data(series))


def series_table(all_series: Sequence[Series], path: Callable[[Series], str]) -> Table:
    """Make a table with a row per series."""
    rows = []
    for series in all_series:
        finished = sum(event.state is EventState.FINISHED for event in series.events)
        closes_s = max((event.closes_s for event in series.events), default=None)
        rows.append(
            (
                Link(series.name, path(series)),
                short_name(series.events[0].game) if series.events else series.settings.game,
                "groups and a final" if series.settings.groups is not None else f"every {series.settings.every}",
                closes_s,
                f"{finished:,} of {len(series.events):,}",
            )
        )
    columns = (
        Column("series"),
        Column("game"),
        Column("kind"),
        Column("last closes", DATE, "UTC"),
        Column("events finished"),
    )
    return Table.of("All series", columns, rows)
