"""Report about runs, which ``arena report`` writes as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dealer.reports.guaranteed import NOTE, with_guaranteed_intervals
from dealer.reports.leak_report import leaks_section
from dealer.reports.result_documents import faults_table, models_table
from dealer.run.choices import ShownInterval
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
    interval: ShownInterval = ShownInterval.USUAL,
) -> Document:
    """Create the report.

    Args:
        counts: counts of all hands.
        results: results of the runs of the hands; empty for logs without a run.
        title: title of the page; by default the names of the bots.
        leaks: leaks of all players.
        sources: files of the hands, as named by the user.
        no_leaks: reason why leaks are not available; empty if they are.
        worst_deals: most expensive deals, from `logs.contest_scores.WorstDeals`.
        interval: interval that the page shows, but for leaks, whose intervals hold together.
    """
    statistics = statistics_of(counts)
    notes: tuple[str, ...] = ()
    if interval is ShownInterval.GUARANTEED:
        results = [with_guaranteed_intervals(result) for result in results]
        statistics = with_guaranteed_intervals(statistics)
        notes = (NOTE,)
    contests = [contest for result in results for contest in result.contests]
    names = [bot.name for bot in statistics.bots]
    overview, *tables = statistics_tables(statistics)
    sections = [Section("Winnings", winnings_charts(statistics)), _section(overview, is_open=True)]
    if contests:
        sections.append(_section(faults_table(contests, everyone=True), is_open=True))
        models = models_table(contests)
        if models.rows:
            sections.append(_section(models, is_open=True))
    sections += [leaks_section(analysis, sources) for analysis in leaks]
    if worst_deals:
        sections.append(_section(_worst_deals(worst_deals)))
    sections += [_section(table) for table in (*tables, definitions_table())]
    sections.append(Section("Biggest pots", tuple(big_pots(counts))))
    facts = _facts(counts, contests)
    if no_leaks:
        facts.append(Fact("leaks", f"not available: {no_leaks}"))
    sentences = tuple(result.sentence for result in results)
    return Document(title or _title(names), sentences, tuple(facts), tuple(sections), notes)


def big_pots(counts: HandCounts) -> list[Replay]:
    """Create replays of the biggest pots, the first of them open."""
    replays: list[Replay] = []
    for pot in counts.big_pots:
        caption = f"{pot.blinds:,.1f} big blinds in hand {pot.record.hand_number} of {pot.record.match_name}"
        replays.append(Replay(caption, pot.record, is_open=not replays))
    return replays


def _section(table: Table, *, is_open: bool = False) -> Section:
    return Section(table.title, (table,), is_open=is_open)


def _title(names: list[str]) -> str:
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} more"]
    return " · ".join(names)


def _facts(counts: HandCounts, contests: Sequence[ContestResult]) -> list[Fact]:
    facts = [Fact("hands", counts.hands)]
    if not contests:
        return facts
    games = dict.fromkeys(short_name(contest.game) for contest in contests)
    facts.append(Fact("game", ", ".join(games), NAME))
    if len(contests) == 1:
        facts += [Fact("deals", contests[0].duplicates), Fact("seatings", contests[0].seatings)]
    seeds = dict.fromkeys(str(contest.seed) for contest in contests)
    facts.append(Fact("seed", ", ".join(seeds), NAME))
    return facts


def _worst_deals(deals: Sequence[Loss]) -> Table:
    """Create a table with a row per hand of each deal."""
    rows = []
    for chips, player, records in deals:
        title = f"{player} lost {-chips:,.10g} chips in deal {records[0].hand_number}"
        for record in records:
            position = record.names.index(player)
            cards = [format_cards(hole_cards) for hole_cards in record.deal.hole_cards]
            own_cards = cards.pop(position)
            board = format_cards(record.deal.board)
            position_name = position_names(record.game)[position]
            value = record.values[position]
            rows.append((title, record.match_name, position_name, own_cards, " | ".join(cards), board, value))
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
