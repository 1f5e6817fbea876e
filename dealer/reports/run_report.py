"""The report about runs: what `arena report` writes as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dealer.reports.leak_report import leaks_section
from dealer.reports.result_documents import faults_table
from dealer.run.results import AnyResult, ContestResult
from engine.cards import format_cards
from engine.holdem import position_names
from logs.contest_scores import Loss
from logs.document import CHIPS, NAME, Column, Document, Fact, Replay, Section, Table
from logs.tracker.hand_counts import HandCounts
from logs.tracker.statistics import statistics_of
from logs.tracker.statistics_tables import definitions_table, statistics_tables, winnings_charts
from protocol.game_definition import short_name

if TYPE_CHECKING:
    from pathlib import Path

    from logs.leaks import Leaks


def report_document(
    counts: HandCounts,
    results: Sequence[AnyResult],
    title: str | None = None,
    *,
    leaks: Sequence[Leaks] = (),
    sources: Sequence[Path] = (),
    no_leaks: str = "",
    worst_deals: Sequence[Loss] = (),
) -> Document:
    """The whole report.

    Args:
        counts: all hands, counted.
        results: the results of the runs that the hands are from; a log without a run has none.
        title: title of the page; by default the names of the bots.
        leaks: of all players.
        sources: what was read, for the commands that show hands.
        no_leaks: why these hands show no leaks; empty where they can.
        worst_deals: as `logs.contest_scores.WorstDeals` finds them.
    """
    contests = [contest for result in results for contest in result.contests]
    statistics = statistics_of(counts)
    names = [bot.name for bot in statistics.bots]
    overview, *tables = statistics_tables(statistics)
    pots = tuple(
        Replay(
            f"{pot.blinds:,.1f} big blinds in hand {pot.record.hand_number} of {pot.record.match_name}",
            pot.record,
            is_open=not place,
        )
        for place, pot in enumerate(counts.big_pots)
    )
    sections = [
        Section("Winnings", winnings_charts(statistics)),
        _section(overview, is_open=True),
        *([_section(faults_table(contests, everyone=True), is_open=True)] if contests else []),
        *(leaks_section(found, sources) for found in leaks),
        *([_section(_worst_deals(worst_deals))] if worst_deals else []),
        *map(_section, tables),
        _section(definitions_table()),
        Section("Biggest pots", pots),
    ]
    facts = [*_facts(counts, contests), *([Fact("leaks", f"not available: {no_leaks}")] if no_leaks else [])]
    sentences = tuple(result.sentence for result in results)
    return Document(title or _title(names), sentences, tuple(facts), tuple(sections))


def _section(table: Table, *, is_open: bool = False) -> Section:
    return Section(table.title, (table,), is_open=is_open)


def _title(names: list[str]) -> str:
    shown = names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"]
    return " · ".join(shown)


def _facts(counts: HandCounts, contests: Sequence[ContestResult]) -> list[Fact]:
    facts = [Fact("hands", counts.hands)]
    if contests:
        facts.append(Fact("game", ", ".join(dict.fromkeys(short_name(contest.game) for contest in contests)), NAME))
    if len(contests) == 1:
        facts += [Fact("deals", contests[0].duplicates), Fact("seatings", contests[0].seatings)]
    seeds = dict.fromkeys(str(contest.seed) for contest in contests)
    return [*facts, *([Fact("seed", ", ".join(seeds), NAME)] if seeds else [])]


def _worst_deals(deals: Sequence[Loss]) -> Table:
    rows = [
        (
            f"{player} lost {-chips:,.10g} chips in deal {records[0].hand_number}",
            record.match_name,
            position_names(record.game)[position],
            format_cards(record.deal.hole_cards[position]),
            " | ".join(format_cards(cards) for at, cards in enumerate(record.deal.hole_cards) if at != position),
            format_cards(record.deal.board),
            record.values[position],
        )
        for chips, player, records in deals
        for record in records
        for position in [record.names.index(player)]
    ]
    columns = (
        Column("deal"),
        Column("match"),
        Column("position"),
        Column("cards"),
        Column("others' cards"),
        Column("board"),
        Column("chips", CHIPS),
    )
    note = "`arena hands` and `arena replay` show the hands of a deal: --hand takes its number."
    return Table("Worst deals over all seatings", columns, tuple(rows), note, is_grouped=True)
