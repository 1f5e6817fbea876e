"""The words that a shell offers where a game or a bot is typed; it offers files itself where these lists are empty."""

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


def complete_games(incomplete: str) -> list[str]:
    """Games separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in complete_game(last)]


def complete_bot(incomplete: str) -> list[str]:
    return [name for name in known_names() if name.startswith(incomplete)]


def complete_bots(incomplete: str) -> list[str]:
    """Bots separated by blanks."""
    before, blank, last = incomplete.rpartition(" ")
    return [f"{before}{blank}{name}" for name in complete_bot(last)]


def complete_player(incomplete: str) -> list[str]:
    """BOT or NAME=BOT."""
    name, equals, bot = incomplete.rpartition("=")
    # Bash has parted the word at "=", and takes whole words only.
    if "?" in name or (equals and not name):
        return []
    return [f"{name}{equals}{word}" for word in [*complete_bot(bot), _TCP] if word.startswith(bot)]


def complete_known(incomplete: str) -> list[str]:
    """NAME=BOT, where no name of a player is known."""
    return complete_player(incomplete) if "=" in incomplete else []


def complete_word(incomplete: str) -> list[str]:
    """A game or a player."""
    return complete_game(incomplete) + complete_player(incomplete)


COMPLETERS: Final = {
    "GAME": complete_game,
    "GAMES": complete_games,
    "BOT": complete_bot,
    "BOTS": complete_bots,
    "NAME[=BOT]": complete_known,
}
"""By the name of a value in the help, what completes it."""

game_argument = partial(
    typer.Argument,
    metavar="GAME",
    help="A game's name, or the file of its definition.",
    autocompletion=complete_game,
)
