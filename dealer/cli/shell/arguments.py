"""The arguments of `arena play`, `arena tournament` and `arena table`: games, which may be left out, and players."""

from __future__ import annotations

import os
import re
from itertools import takewhile
from typing import Final

from dealer.cli.shell.console import abort
from dealer.errors import PlayerError
from dealer.table.players import parse_player
from engine.text import meant
from protocol import GameDefinitionError, find_game
from protocol.game_definition import SHORT_NAMES

_PLAIN: Final = re.compile(r"[\w./-]+")
"""What may be meant for a game."""


def split_words(words: list[str]) -> dict[str, list[str]]:
    """The settings ``games`` and ``bots``, each if there are any: games are named before the first bot."""
    games = list(takewhile(is_game_word, words))
    bots = words[len(games) :]
    if bots and not games:
        _check_first(bots[0])
    return {name: named for name, named in (("games", games), ("bots", bots)) if named}


def is_game_word(word: str) -> bool:
    """Whether a word names a game.

    Raises:
        GameDefinitionError: it is a game file that cannot be played.
    """
    try:
        find_game(word)
    except GameDefinitionError:
        if os.path.isfile(word) and (word.endswith(".game") or _is_definition(word)):
            raise
        return False
    return True


def _check_first(word: str) -> None:
    """End the command if a word names neither a game nor a player."""
    try:
        parse_player(word)
    except PlayerError as no_player:
        if word.endswith(".game") or _is_definition(word):
            find_game(word)
        if os.path.isfile(word):
            abort(f"{no_player}; nor is it a game: a definition ends in .game or begins with GAMEDEF")
        if not _PLAIN.fullmatch(word):
            raise
        if (near := meant(word, SHORT_NAMES)) is not None:
            abort(f"there is no game {word!r}; did you mean {near!r}?")
        abort(f"{no_player}; nor is it a game ({', '.join(SHORT_NAMES)}, or a .game file)")


def _is_definition(path: str) -> bool:
    """Whether a file begins as game definitions do, comments aside."""
    try:
        with open(path, "rb") as file:
            lines = [line.strip() for line in file.read(4096).splitlines()]
    except OSError:
        return False
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return first.upper().startswith(b"GAMEDEF")
