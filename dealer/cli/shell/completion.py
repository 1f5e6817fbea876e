"""Shell completion of games, bots and players. For an empty list the shell offers files."""

from __future__ import annotations

import glob
from functools import partial
from typing import Final

import typer

from bots.sdk.registry import known_names
from protocol.game_definition import SHORT_NAMES

_TCP: Final = "tcp"


def complete_game(incomplete: str) -> list[str]:
    files = glob.glob(f"{glob.escape(incomplete)}*.game")
    return [name for name in SHORT_NAMES if name.startswith(incomplete)] + sorted(files)


def _complete_games(incomplete: str) -> list[str]:
    """Complete the last of several games separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in complete_game(last)]


def complete_bot(incomplete: str) -> list[str]:
    return [name for name in known_names() if name.startswith(incomplete)]


def _complete_bots(incomplete: str) -> list[str]:
    """Complete the last of several bots separated by blanks."""
    before, blank, last = incomplete.rpartition(" ")
    return [f"{before}{blank}{name}" for name in complete_bot(last)]


def complete_player(incomplete: str) -> list[str]:
    """Complete BOT or NAME=BOT."""
    name, equals, bot = incomplete.rpartition("=")
    # Bash splits words at "=" and replaces whole words only, so BOT?OPTION=VALUE and a bare "=" cannot be completed.
    if "?" in name or (equals and not name):
        return []
    return [f"{name}{equals}{word}" for word in [*complete_bot(bot), _TCP] if word.startswith(bot)]


def _complete_named(incomplete: str) -> list[str]:
    """Complete the bot of NAME=BOT; the names of players are unknown."""
    return complete_player(incomplete) if "=" in incomplete else []


def complete_word(incomplete: str) -> list[str]:
    """Complete a game or a player."""
    return complete_game(incomplete) + complete_player(incomplete)


COMPLETERS: Final = {
    "GAME": complete_game,
    "GAMES": _complete_games,
    "BOT": complete_bot,
    "BOTS": _complete_bots,
    "NAME[=BOT]": _complete_named,
}
"""Completion of each value, by its placeholder in the help."""

game_argument = partial(
    typer.Argument,
    metavar="GAME",
    help="A game's name, or the file of its definition.",
    autocompletion=complete_game,
)
