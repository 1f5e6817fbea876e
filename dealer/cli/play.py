"""``arena play``: who is better, and how sure that is."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.options import RunOptions, takes_options
from dealer.cli.running import run_new
from dealer.contest.config import Command
from dealer.errors import PlayerError
from dealer.table.players import parse_player
from protocol import GameDefinitionError, find_game
from protocol.game_definition import SHORT_NAMES

__all__ = ["play"]


@takes_options
def play(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME] [BOT...]",
            help="A game (see 'arena games', or a .game file), then a player per seat: a bot "
            "(see 'arena bots'), FILE.py:CLASS or MODULE:CLASS, a command that is started with host and port as its "
            "last arguments, or 'tcp'. NAME=BOT gives a name.",
            show_default="limit raising random",
        ),
    ] = None,
    *,
    options: RunOptions,
) -> None:
    """Play a match between bots and show which one won and how sure that is.

    Every bot is a process of its own, connected over TCP. The same cards are played again with the seats rotated.
    Without arguments, two built-in bots play limit hold'em.
    """
    game, bots = _split_words(words or [])
    settings = options.settings | ({} if game is None else {"games": [game]}) | ({"bots": bots} if bots else {})
    run_new(context.ensure_object(Terminal), Command.PLAY, settings, options)


def _split_words(words: list[str]) -> tuple[str | None, list[str]]:
    """The game and the players: the first word is the game if it names one."""
    if not words:
        return None, []
    word = words[0]
    try:
        find_game(word)
    except GameDefinitionError as no_game:
        try:
            parse_player(word)
        except PlayerError as no_player:
            if word.endswith(".game") or _is_definition(word):
                abort(str(no_game))
            if os.path.isfile(word):
                abort(f"{no_player}; nor is it a game: a definition ends in .game or begins with GAMEDEF")
            abort(f"{no_player}; nor is it a game ({', '.join(SHORT_NAMES)}, or a .game file)")
        return None, words
    return word, words[1:]


def _is_definition(path: str) -> bool:
    """Whether a file begins as game definitions do, comments aside."""
    try:
        with open(path, "rb") as file:
            lines = [line.strip() for line in file.read(4096).splitlines()]
    except OSError:
        return False
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return first.upper().startswith(b"GAMEDEF")
