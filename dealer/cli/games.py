"""``arena games``: list the games that come with the arena."""

from __future__ import annotations

import typer

from dealer.cli.console import Terminal
from engine import Game
from engine.game import DEFAULT_STACK
from protocol import find_game, shipped_games
from protocol.game_definition import SHORT_NAMES


def games(context: typer.Context) -> None:
    """List the games that come with the arena; any .game file can be played, too."""
    short_names = {full: short for short, full in SHORT_NAMES.items()}
    rows = []
    for name in shipped_games():
        game = find_game(name)[1]
        rows.append([name, short_names.get(name, ""), str(game.num_players), _betting(game)])
    head = ["full name", "short name", "players", "betting"]
    context.ensure_object(Terminal).table(head, rows, left=(0, 1), texts=(3,))


def _betting(game: Game) -> str:
    """Blinds, bets and stacks in chips."""
    blinds = "/".join(str(blind) for blind in sorted(game.blinds) if blind)
    bets = f"limit {'/'.join(map(str, dict.fromkeys(game.raise_sizes)))}" if game.is_limit else "no-limit"
    stack = "" if game.stacks[0] >= DEFAULT_STACK else f", stacks {game.stacks[0]}"
    return f"{bets}, blinds {blinds}{stack}"
