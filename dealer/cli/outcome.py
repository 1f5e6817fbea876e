"""Showing what became of a match: a table, a sentence, where the files are."""

from __future__ import annotations

from rich import box
from rich.table import Table

from dealer.cli.console import EXIT_FAILED, EXIT_INTERRUPTED, out, show
from dealer.results import MatchResult, PlayerResult

__all__ = ["exit_code", "show_result"]


def exit_code(result: MatchResult) -> int:
    """What the command returns."""
    return {"finished": 0, "failed": EXIT_FAILED, "interrupted": EXIT_INTERRUPTED}[result.outcome]


def show_result(result: MatchResult, *, quiet: bool) -> None:
    """Print the result for people; `quiet` leaves the sentence only."""
    if not quiet and result.hands_played:
        show(_table(result))
        for player in result.players:
            if player.first_fault:
                out.print(f"{player.name}: first fault: {player.first_fault}", markup=False)
    out.print(result.sentence, markup=False)
    if not quiet:
        out.print(
            f"Seed {result.seed}, {result.hands_per_second:,.0f} hands/s. Logs are in {result.folder}", markup=False
        )


def _table(result: MatchResult) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("player")
    for column in ("mbb/g", "± 95 %", "chips", "hands", "faults", "time used"):
        table.add_column(column, justify="right")
    for player in sorted(result.players, key=lambda player: -player.chips):
        table.add_row(
            player.name,
            "-" if player.mbb_per_game is None else f"{player.mbb_per_game:+,.1f}",
            "too few hands" if player.half_width_95 is None else f"{player.half_width_95:,.1f}",
            f"{player.chips:+,.10g}",
            f"{result.hands_played:,}",
            _faults(player),
            f"{player.thinking_s:,.1f} s",
        )
    return table


def _faults(player: PlayerResult) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in player.faults.items()) or "0"
