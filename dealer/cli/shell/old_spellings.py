"""New spellings of commands of earlier versions."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from engine.holdem import is_dealt_as_holdem
from protocol import GameDefinitionError, find_game

_EXPLOIT_COMMANDS = ("exact", "bound", "against")
_LUCK_OPTIONS = ("--variance", "--policy", "--ranges", "--save")


def new_spelling(words: Sequence[str]) -> str | None:
    """Return the command line that replaces an old one, or None if the command is current.

    Args:
        words: the command line without ``arena``.
    """
    if "-h" in words or "--help" in words:
        return None
    new_words = None
    if words[:1] == ["exploit"]:
        new_words = _exploit(words[1:])
    elif words[:1] == ["stats"]:
        new_words = _luck(words[1:])
    if new_words is None:
        return None
    return shlex.join(["arena", *new_words])


def _exploit(words: Sequence[str]) -> list[str] | None:
    """Convert ``exploit GAME BOT [--against OTHER]``, which was one command."""
    if not words or words[0] in _EXPLOIT_COMMANDS:
        return None
    rest = list(words)
    opponent = _take_value(rest, "--against")
    for place, word in enumerate(rest):
        is_holdem = _is_holdem(word)
        if is_holdem is None:
            continue
        if opponent is not None:
            rest.insert(place + 2, opponent)
            return ["exploit", "against", *rest]
        command = "bound" if is_holdem else "exact"
        return ["exploit", command, *rest]
    return None


def _luck(words: Sequence[str]) -> list[str] | None:
    """Convert ``stats --variance``, which printed the win rates of ``luck``."""
    if not any(word.partition("=")[0] in _LUCK_OPTIONS for word in words):
        return None
    new_words = ["luck"]
    for word in words:
        if word.startswith("--policy"):
            new_words.append(f"--known{word.removeprefix('--policy')}")
        elif word != "--variance":
            new_words.append(word)
    return new_words


def _take_value(words: list[str], option: str) -> str | None:
    """Remove an option and its value from the words, and return the value."""
    for place, word in enumerate(words):
        if word == option and place + 1 < len(words):
            del words[place]
            return words.pop(place)
        if word.startswith(f"{option}="):
            return words.pop(place).partition("=")[2]
    return None


def _is_holdem(word: str) -> bool | None:
    """Return whether a game deals like hold'em, or None if the word names no game."""
    try:
        _, game = find_game(word)
    except GameDefinitionError:
        return None
    return is_dealt_as_holdem(game)
