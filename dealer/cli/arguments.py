"""The arguments of `arena play` and `arena table`: a game, which may be left out, and players."""

from __future__ import annotations

import os

from bots.sdk.registry import builtin_names
from dealer.cli.console import abort
from dealer.errors import PlayerError
from dealer.table.players import parse_player
from engine.text import meant
from protocol import GameDefinitionError, find_game
from protocol.game_definition import SHORT_NAMES


def split_words(words: list[str]) -> tuple[str | None, list[str]]:
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
            if (near := meant(word, SHORT_NAMES)) is not None:
                abort(f"there is no game {word!r}; did you mean {near!r}?")
            abort(f"{no_player}; nor is it a game ({', '.join(SHORT_NAMES)}, or a .game file)")
        return None, words
    return word, words[1:]


def complete_word(incomplete: str) -> list[str]:
    return [word for word in (*SHORT_NAMES, *builtin_names()) if word.startswith(incomplete)]


def _is_definition(path: str) -> bool:
    """Whether a file begins as game definitions do, comments aside."""
    try:
        with open(path, "rb") as file:
            lines = [line.strip() for line in file.read(4096).splitlines()]
    except OSError:
        return False
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return first.upper().startswith(b"GAMEDEF")
