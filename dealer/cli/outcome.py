"""The result of a run for people: tables, a sentence, where the files are."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table

from dealer.cli.console import Terminal
from dealer.cli.streams import EXIT_FAILED, EXIT_INTERRUPTED
from dealer.contest.ending import Outcome
from dealer.results.crosstable import crosstable_rows, ranking_rows
from dealer.results.schema import ContestResult, GameStandings, Interval, PlayerResult, TournamentResult

__all__ = ["exit_code", "show_contest", "show_tournament"]


def exit_code(outcome: Outcome) -> int:
    """The exit code of a command whose run ended so."""
    return {Outcome.FAILED: EXIT_FAILED, Outcome.INTERRUPTED: EXIT_INTERRUPTED}.get(outcome, 0)


def show_contest(terminal: Terminal, result: ContestResult, *, quiet: bool) -> None:
    """Print a contest for people; `quiet` leaves the sentence only."""
    if not quiet and result.duplicates:
        terminal.show(_players(result))
    if not quiet:
        for player in result.players:
            if player.first_fault:
                terminal.print(f"{player.name}: first fault: {player.first_fault}.")
    terminal.print(result.sentence)
    if not quiet:
        terminal.print(_dealer_line(result))
        terminal.print(f"Seed {result.seed}. Files are in {result.folder}")
    if result.resume is not None:
        terminal.print(f"Go on with: {result.resume}")


def _players(result: ContestResult) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("player")
    interval = "± 95 %" if result.interval is Interval.FIXED else "± 95 %, any time"
    for column in ("mbb/g", interval, "chips", "hands", "faults", "median", "99 %"):
        table.add_column(column, justify="right", overflow="fold")
    for player in sorted(result.players, key=lambda player: -player.chips):
        table.add_row(
            player.name,
            "-" if player.mbb_per_game is None else f"{player.mbb_per_game:+z,.1f}",
            "too few" if player.half_width_95 is None else f"{player.half_width_95:,.1f}",
            f"{player.chips:+,.10g}",
            f"{result.hands_counted:,}",
            _faults(player),
            _time(player.median_us),
            _time(player.p99_us),
        )
    return table


def _faults(player: PlayerResult) -> str:
    texts = [f"{count:,} {name}" for name, count in player.faults.items()]
    if player.restarts:
        texts.append(f"restarted {player.restarts:,} times")
    return ", ".join(texts) or "0"


def _time(time_us: float | None) -> str:
    if time_us is None:
        return "-"
    for limit, unit, size in ((1e3, "µs", 1.0), (1e6, "ms", 1e3)):
        if time_us < limit:
            return f"{time_us / size:.3g} {unit}"
    return f"{time_us / 1e6:,.3g} s"


def _dealer_line(result: ContestResult) -> str:
    dealer = result.dealer
    parts = [f"{result.hands_per_second:,.0f} hands/s"]
    if dealer.us_per_action is not None:
        parts.append(f"dealer overhead: {dealer.us_per_action:,.0f} µs per action")
    if dealer.timeouts_per_million_actions is not None:
        parts.append(f"{dealer.timeouts_per_million_actions:,.3g} timeouts per million actions")
    return ", ".join(parts) + "."


def show_tournament(terminal: Terminal, result: TournamentResult, *, quiet: bool) -> None:
    """Print a tournament for people; `quiet` leaves the sentence only."""
    if not quiet:
        for standings in result.standings:
            if not standings.total_bankroll:
                continue
            terminal.print(f"\n{standings.game}", style="bold")
            terminal.show(_crosstable(standings))
            terminal.show(_rankings(standings))
            terminal.show(
                _entrants(standings, [contest for contest in result.contests if contest.game == standings.game])
            )
        for contest in result.contests:
            for player in contest.players:
                if player.first_fault:
                    names = " - ".join(other.name for other in contest.players)
                    terminal.print(f"{names}: {player.name}: first fault: {player.first_fault}.")
        for contest in result.contests:
            if not contest.outcome.is_complete and result.outcome is not Outcome.INTERRUPTED:
                names = " - ".join(player.name for player in contest.players)
                terminal.print(f"{names} ({contest.game}) ended early: {contest.reason}")
    terminal.print(result.sentence)
    if not quiet:
        terminal.print(f"Files are in {result.folder}")
    if result.resume is not None:
        terminal.print(f"Go on with: {result.resume}")


def _crosstable(standings: GameStandings) -> Table:
    """Rows won from columns, in the order of the total bankroll."""
    table = Table(box=box.SIMPLE_HEAD, title="mbb/g of row against column, ± 95 %", title_justify="left")
    first, *rows = crosstable_rows(standings)
    for at, name in enumerate(first):
        table.add_column(name, justify="right" if at else "left")
    for row in rows:
        table.add_row(*row)
    return table


def _rankings(standings: GameStandings) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    first, *rows = ranking_rows(standings)
    for name in first:
        table.add_column(name, justify="right" if name == "place" else "left")
    for row in rows:
        table.add_row(*row)
    return table


def _entrants(standings: GameStandings, contests: Sequence[ContestResult]) -> Table:
    """What each bot did in all its contests, and how fast: hands per second of its own time."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("bot")
    for column in ("contests", "hands", "faults", "hands/s of its own time"):
        table.add_column(column, justify="right")
    for rank in standings.total_bankroll:
        played = [(contest, player) for contest in contests for player in contest.players if player.name == rank.player]
        hands = sum(contest.hands_played for contest, _ in played)
        thinking_s = sum(player.thinking_s for _, player in played)
        faults = sum(sum(player.faults.values()) for _, player in played)
        speed = f"{hands / thinking_s:,.3g}" if thinking_s else "-"
        speed = f"{hands / thinking_s:,.0f}" if thinking_s and hands > 100 * thinking_s else speed
        table.add_row(rank.player, f"{len(played):,}", f"{hands:,}", f"{faults:,}", speed)
    return table
