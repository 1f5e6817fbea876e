"""``arena games``: list the games that come with the arena."""

from __future__ import annotations

import typer

from dealer.cli.console import Terminal
from engine import Game
from engine.game import DEFAULT_STACK
from logs.document import NAME, TEXT, Column, Table
from protocol import find_game, shipped_games
from protocol.game_definition import short_name


def games(context: typer.Context) -> None:
    """List the games that come with the arena; any .game file can be played, too."""
    rows = []
    for name in shipped_games():
        game = find_game(name)[1]
        rows.append([short_name(name), str(game.num_players), _betting(game), name])
    columns = (
        "game",
        Column("players", ",", rank=1),
        Column("betting", format=TEXT),
        Column("full name", format=NAME, rank=2),
    )
    context.ensure_object(Terminal).table(Table.of("", columns, rows))


def _betting(game: Game) -> str:
    blinds = "/".join(str(blind) for blind in sorted(game.blinds) if blind)
    bets = f"limit {'/'.join(map(str, dict.fromkeys(game.raise_sizes)))}" if game.is_limit else "no-limit"
    stack = "" if game.stacks[0] >= DEFAULT_STACK else f", stacks {game.stacks[0]}"
    return f"{bets}, blinds {blinds}{stack}"
