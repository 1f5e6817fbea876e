"""Commands that were spelt otherwise in earlier versions: the new spelling, to be printed in place of running them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from engine.holdem import is_dealt_as_holdem
from protocol import GameDefinitionError, find_game

_EXPLOIT_COMMANDS = ("exact", "bound", "against")
_LUCK_OPTIONS = ("--variance", "--policy", "--ranges", "--save")


def new_spelling(words: Sequence[str]) -> str | None:
    """The command that replaces an old one; None for a command that is spelt as today.

    Args:
        words: as typed after ``arena``.
    """
    if "-h" in words or "--help" in words:
        return None
    new = None
    if words[:1] == ["exploit"]:
        new = _exploit(words[1:])
    elif words[:1] == ["stats"]:
        new = _luck(words[1:])
    return None if new is None else shlex.join(["arena", *new])


def _exploit(words: Sequence[str]) -> list[str] | None:
    """``exploit GAME BOT [--against OTHER] [--finer]`` was one command."""
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
        return ["exploit", "bound" if is_holdem else "exact", *rest]
    return None


def _luck(words: Sequence[str]) -> list[str] | None:
    """``stats --variance`` printed the win rates that ``luck`` prints."""
    if not any(word.partition("=")[0] in _LUCK_OPTIONS for word in words):
        return None
    new = ["luck"]
    for word in words:
        if word.startswith("--policy"):
            new.append(f"--known{word.removeprefix('--policy')}")
        elif word != "--variance":
            new.append(word)
    return new


def _take_value(words: list[str], option: str) -> str | None:
    """Remove an option with its value from the words, and return the value."""
    for place, word in enumerate(words):
        if word == option and place + 1 < len(words):
            del words[place]
            return words.pop(place)
        if word.startswith(f"{option}="):
            return words.pop(place).partition("=")[2]
    return None


def _is_holdem(word: str) -> bool | None:
    """Whether a game is a kind of hold'em; None if the word names no game."""
    try:
        _, game = find_game(word)
    except GameDefinitionError:
        return None
    return is_dealt_as_holdem(game)
