"""The contents of the report's page about runs: statistics, and the sentences, facts and faults of the results."""

from __future__ import annotations

from collections.abc import Sequence

from dealer.run.results import AnyResult, ContestResult, PlayerResult
from dealer.run.sentences import three_digits
from logs.document import NAME, TEXT, Column, Table
from logs.report import ReportData, report_data
from logs.tracker.hand_counts import HandCounts
from logs.tracker.statistics import statistics_of
from protocol.game_definition import short_name

_NOTHING = "–"


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
    contests = [
        contest
        for result in results
        for contest in ([result] if isinstance(result, ContestResult) else result.contests)
    ]
    statistics = statistics_of(counts)
    return report_data(
        title or _title([bot.name for bot in statistics.bots]),
        statistics,
        counts.big_pots(),
        sentences=[result.sentence for result in results],
        facts=[*_facts(counts, contests), *([("leaks", f"not available: {no_leaks}")] if no_leaks else [])],
        more_tables=[*_faults(contests, [bot.name for bot in statistics.bots]), *leaks],
    )


def _title(names: list[str]) -> str:
    shown = names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"]
    return " · ".join(shown)


def _facts(counts: HandCounts, contests: list[ContestResult]) -> list[tuple[str, str]]:
    facts = [("hands", f"{counts.hands:,}")]
    games = list(dict.fromkeys(short_name(contest.game) for contest in contests))
    if games:
        facts.append(("game" if len(games) == 1 else "games", ", ".join(games)))
    if len(contests) == 1:
        facts += [("deals", f"{contests[0].duplicates:,}"), ("seatings", str(contests[0].seatings))]
    seeds = list(dict.fromkeys(contest.seed for contest in contests))
    if seeds:
        facts.append(("seed" if len(seeds) == 1 else "seeds", ", ".join(map(str, seeds))))
    return facts


def _faults(contests: list[ContestResult], order: list[str]) -> list[Table]:
    if not contests:
        return []
    has_many = len(contests) > 1
    rows = []
    for contest in contests:
        for player in contest.players:
            against = [other.name for other in contest.players if other is not player]
            rows.append((player.name, *([" · ".join(against)] if has_many else []), *_player_cells(player)))
    places = {name: place for place, name in enumerate(order)}
    rows.sort(key=lambda row: places.get(row[0], len(places)))
    columns: list[str | Column] = [
        "bot",
        *([Column("against", format=NAME)] if has_many else []),
        Column("faults", meaning="what it did wrong, all kinds", format=TEXT),
        Column(
            "restarts", ",", meaning="how often its process was started again, or, for tcp, its client awaited again"
        ),
        Column("actions", ",", meaning="answers given"),
        Column("median", ",", meaning="median time of an answer"),
        Column("99 %", ",", meaning="the time that 99 % of the answers did not exceed"),
        Column("in all", ",", meaning="time its answers took"),
        Column("first fault", format=TEXT),
    ]
    return [Table.of("Faults and thinking times", columns, rows)]


def _player_cells(player: PlayerResult) -> tuple[str, ...]:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in player.faults.items())
    return (
        kinds or "0",
        f"{player.restarts:,}",
        f"{player.actions:,}",
        _NOTHING if player.median_us is None else f"{three_digits(player.median_us / 1000)} ms",
        _NOTHING if player.p99_us is None else f"{three_digits(player.p99_us / 1000)} ms",
        f"{player.thinking_s:,.1f} s",
        player.first_fault or _NOTHING,
    )
