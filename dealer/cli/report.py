"""``arena report``: a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from dealer.cli.console import Terminal, abort
from dealer.cli.reading import GameName, Sources, Strict, Transcript, counted, game_named
from dealer.record.folder import RESULT_NAME, write_whole
from dealer.results.schema import ContestResult, PlayerResult, TournamentResult
from logs.report import format_report, report_data
from logs.tracker.hand_counts import HandCounts
from logs.tracker.statistics import statistics_of
from logs.tracker.tables import TableView

__all__ = ["report"]

_NOTHING = "–"


def report(
    context: typer.Context,
    sources: Sources,
    out_file: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Above it.", show_default="the names of the bots")] = None,
    game: GameName = None,
    transcript: Transcript = None,
    strict: Strict = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Make one page about runs or logs: winnings over hands, how each bot plays, faults, the biggest pots as replays.

    The page needs no network and no other file.
    """
    if out_file.exists() and not force:
        abort(f"{out_file} exists already: --force overwrites it, --out takes another name")
    terminal = context.ensure_object(Terminal)
    counts = counted(terminal, sources, game=game_named(game), strict=strict, transcript=transcript, times=True)
    results = [result for source in sources if (result := _result(terminal, source)) is not None]
    contests = [contest for result in results for contest in _contests(result)]
    statistics = statistics_of(counts)
    data = report_data(
        title or _title([bot.name for bot in statistics.bots]),
        statistics,
        counts.big_pots(),
        sentences=[result.sentence for result in results],
        facts=_facts(counts, contests),
        more_tables=_faults(contests),
    )
    try:
        out_file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out_file, format_report(data))
    except OSError as error:
        abort(f"cannot write {out_file}: {error.strerror}")
    terminal.print(f"{out_file}: {counts.hands:,} hands")


def _result(terminal: Terminal, source: Path) -> ContestResult | TournamentResult | None:
    """What a run came to; None where there is no result, or none that is understood."""
    path = source / RESULT_NAME
    if not path.is_file():
        return None
    try:
        adapter: TypeAdapter[ContestResult | TournamentResult] = TypeAdapter(ContestResult | TournamentResult)
        return adapter.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        terminal.say(f"{path} is no result of this version: the page is made of the logs alone")
        return None


def _contests(result: ContestResult | TournamentResult) -> list[ContestResult]:
    return [result] if isinstance(result, ContestResult) else result.contests


def _title(names: list[str]) -> str:
    shown = names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"]
    return " · ".join(shown)


def _facts(counts: HandCounts, contests: list[ContestResult]) -> list[tuple[str, str]]:
    facts = [("hands", f"{counts.hands:,}")]
    games = list(dict.fromkeys(contest.game for contest in contests))
    if games:
        facts.append(("game" if len(games) == 1 else "games", ", ".join(games)))
    if len(contests) == 1:
        facts += [("deals", f"{contests[0].duplicates:,}"), ("seatings", str(contests[0].seatings))]
    seeds = list(dict.fromkeys(contest.seed for contest in contests))
    if seeds:
        facts.append(("seed" if len(seeds) == 1 else "seeds", ", ".join(map(str, seeds))))
    return facts


def _faults(contests: list[ContestResult]) -> list[TableView]:
    """Faults and thinking times, a row per bot and contest."""
    if not contests:
        return []
    has_many = len(contests) > 1
    rows = []
    for contest in contests:
        for player in contest.players:
            against = [other.name for other in contest.players if other is not player]
            rows.append((player.name, *([" · ".join(against)] if has_many else []), *_of_player(player)))
    columns = [
        ("bot", ""),
        *([("against", "")] if has_many else []),
        ("faults", "what it did wrong, all kinds"),
        ("restarts", "how often its process was started again"),
        ("actions", "answers given"),
        ("median", "median time of an answer"),
        ("99 %", "the time that 99 % of the answers did not exceed"),
        ("in all", "time its answers took"),
        ("first fault", ""),
    ]
    return [TableView("Faults and thinking times", tuple(columns), tuple(rows))]


def _of_player(player: PlayerResult) -> tuple[str, ...]:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in player.faults.items())
    return (
        kinds or "0",
        f"{player.restarts:,}",
        f"{player.actions:,}",
        _NOTHING if player.median_us is None else f"{player.median_us / 1000:,.3g} ms",
        _NOTHING if player.p99_us is None else f"{player.p99_us / 1000:,.3g} ms",
        f"{player.thinking_s:,.1f} s",
        player.first_fault or _NOTHING,
    )
