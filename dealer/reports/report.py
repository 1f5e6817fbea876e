"""The contents of the report's page about runs: statistics, and the sentences, facts and faults of the results."""

from __future__ import annotations

from collections.abc import Sequence

from dealer.reports.documents import faults_table
from dealer.run.results import AnyResult, ContestResult
from logs.document import NAME, Fact, Table
from logs.report import ReportData, report_data
from logs.tracker.hand_counts import HandCounts
from logs.tracker.statistics import statistics_of
from protocol.game_definition import short_name


def report_of_results(
    counts: HandCounts,
    results: Sequence[AnyResult],
    title: str | None = None,
    *,
    leaks: Sequence[Table] = (),
    no_leaks: str = "",
) -> ReportData:
    """The contents of a page.

    Args:
        counts: all hands, counted.
        results: the results of the runs that the hands are from; a log without a run has none.
        title: title of the page; by default the names of the bots.
        leaks: what `dealer.run.leaks` shows of each player's.
        no_leaks: why these hands show no leaks; empty where they can.
    """
    contests = [contest for result in results for contest in result.contests]
    statistics = statistics_of(counts)
    return report_data(
        title or _title([bot.name for bot in statistics.bots]),
        statistics,
        counts.big_pots(),
        sentences=[result.sentence for result in results],
        facts=[
            *((fact.name, fact.text) for fact in _facts(counts, contests)),
            *([("leaks", f"not available: {no_leaks}")] if no_leaks else []),
        ],
        more_tables=[*([faults_table(contests, everyone=True)] if contests else []), *leaks],
    )


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
