"""``arena games``: list the games that come with the arena."""

from __future__ import annotations

import typer
from rich import box
from rich.table import Table

from dealer.cli.console import Terminal
from engine import Game
from engine.game import DEFAULT_STACK
from protocol import find_game, shipped_games
from protocol.game_definition import SHORT_NAMES

__all__ = ["games"]


def games(context: typer.Context) -> None:
    """List the games that come with the arena; any .game file can be played, too."""
    short_names = {full: short for short, full in SHORT_NAMES.items()}
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("short name", no_wrap=True)
    table.add_column("players", justify="right")
    table.add_column("betting")
    table.add_column("full name", no_wrap=True)
    for name in shipped_games():
        game = find_game(name)[1]
        table.add_row(short_names.get(name, ""), str(game.num_players), _betting(game), name)
    context.ensure_object(Terminal).show(table)


def _betting(game: Game) -> str:
    """Blinds, bets and stacks in chips."""
    blinds = "/".join(str(blind) for blind in sorted(game.blinds) if blind)
    bets = f"limit {'/'.join(map(str, dict.fromkeys(game.raise_sizes)))}" if game.is_limit else "no-limit"
    stack = "" if game.stacks[0] >= DEFAULT_STACK else f", stacks {game.stacks[0]}"
    return f"{bets}, blinds {blinds}{stack}"
