"""Parse the arguments of `arena play`, `tournament` and `table`: games, then players."""

from __future__ import annotations

import os
import re
from itertools import takewhile
from typing import Final

from dealer.cli.shell.console import abort
from dealer.errors import PlayerError
from dealer.table.players import parse_player
from engine.text import closest_word
from protocol import GameDefinitionError, find_game
from protocol.game_definition import SHORT_NAMES

_PLAIN_WORD: Final = re.compile(r"[\w./-]+")
"""Word that may be a misspelt game, since it has no option and no blank."""


def split_words(words: list[str]) -> dict[str, list[str]]:
    """Split arguments into the settings ``games`` and ``bots``, leaving out an empty one.

    The leading words that name games are the games.
    """
    games = list(takewhile(is_game_word, words))
    bots = words[len(games) :]
    if bots and not games:
        _check_first(bots[0])
    settings = {}
    if games:
        settings["games"] = games
    if bots:
        settings["bots"] = bots
    return settings


def is_game_word(word: str) -> bool:
    """Return whether a word names a game.

    Raises:
        GameDefinitionError: it is a game file with an error.
    """
    try:
        find_game(word)
    except GameDefinitionError:
        if os.path.isfile(word) and (word.endswith(".game") or _is_definition(word)):
            raise
        return False
    return True


def _check_first(word: str) -> None:
    """Abort the command if its first argument names neither a game nor a player."""
    try:
        parse_player(word)
    except PlayerError as no_player:
        if word.endswith(".game") or _is_definition(word):
            # Raises the error of the game file.
            find_game(word)
        if os.path.isfile(word):
            abort(f"{no_player}; nor is it a game: a definition ends in .game or begins with GAMEDEF")
        if not _PLAIN_WORD.fullmatch(word):
            raise
        if (near := closest_word(word, SHORT_NAMES)) is not None:
            abort(f"there is no game {word!r}; did you mean {near!r}?")
        abort(f"{no_player}; nor is it a game ({', '.join(SHORT_NAMES)}, or a .game file)")


def _is_definition(path: str) -> bool:
    """Return whether the first line of a file that is not a comment begins a game definition."""
    try:
        with open(path, "rb") as file:
            lines = file.read(4096).splitlines()
    except OSError:
        return False
    for line in lines:
        text = line.strip()
        if text and not text.startswith(b"#"):
            return text.upper().startswith(b"GAMEDEF")
    return False
