"""Parse the header of an ACPC log, and find the game that it names.

    # name/game/hands/seed match /home/me/holdem.limit.2p.game 1000 42

The place of the seed may hold the fingerprint of a key (`engine.DealKey`), which identifies files with the same cards
without showing how they were dealt.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from engine import Game
from logs.errors import LogError, UnknownGameError
from logs.files import opened, stem
from protocol import GameDefinitionError, find_game, shipped_games

HEADER_START = "# name/game/hands/seed "
_NUMBERS = re.compile("[0-9]{1,19} ([0-9]{1,19}|key:[0-9a-f]{32})")
_MAX_LINES = 1000
"""Lines searched by `read_log_header`."""


class LogHeader(NamedTuple):
    """Content of the first line of a log.

    Attributes:
        game_name: name of the game or path of its definition.
        hands: number of hands that were to be played.
        seed: a number or the fingerprint of a key.
    """

    match_name: str
    game_name: str
    hands: int
    seed: int | str


def parse_header(line: str) -> LogHeader | None:
    """Parse a header line; return None for any other line and for a truncated header."""
    if not line.startswith(HEADER_START):
        return None
    words = line[len(HEADER_START) :].rstrip("\r\n").split(" ")
    if len(words) < 4 or not _NUMBERS.fullmatch(" ".join(words[-2:])):
        return None
    seed: int | str = words[-1]
    if not words[-1].startswith("key:"):
        seed = int(words[-1])
    # Both the name of the match and the path of the game may contain blanks. Names of matches rarely do.
    return LogHeader(words[0], " ".join(words[1:-2]), int(words[-2]), seed)


def read_log_header(path: str | os.PathLike[str]) -> LogHeader | None:
    """Return the first header of a log file, or None.

    Raises:
        LogError: its compression is damaged.
        OSError: the file cannot be read.
    """
    with opened(os.fspath(path)) as file:
        for _ in range(_MAX_LINES):
            header = parse_header(file.readline(1 << 12))
            if header is not None:
                return header
    return None


def find_log_game(header: LogHeader | None, log_path: str | None, game: Game | None = None) -> Game:
    """Return the game of a log.

    Args:
        log_path: path of the log; None for lines without a file.
        game: game of a log that does not name it.

    Raises:
        UnknownGameError: no definition is found, and no game is given.
        LogError: the definition cannot be played, or is another game than the one given.
    """
    shown_path = "<lines>" if log_path is None else log_path
    try:
        named_game = _named_game(header, log_path, shown_path)
    except UnknownGameError:
        if game is None:
            raise
        return game
    if game is not None and game != named_game:
        raise LogError(shown_path, "the header of the log names another game than the one given")
    return named_game


def _named_game(header: LogHeader | None, log_path: str | None, shown_path: str) -> Game:
    # The header names only a file, perhaps of another machine. A definition next to the log is trusted more than a
    # game of that name that comes with the arena.
    for path in _definitions_near(header, log_path):
        try:
            return find_game(path, as_reference=True)[1]
        except GameDefinitionError as error:
            raise LogError(shown_path, f"its game cannot be read: {error}") from None
    if header is None:
        raise UnknownGameError(shown_path, f"there is no line '{HEADER_START}...' with the game")
    name = _base_name(header.game_name).removesuffix(".game")
    if name in shipped_games():
        return find_game(name)[1]
    raise UnknownGameError(
        shown_path,
        f"its game {header.game_name!r} does not come with the arena, and there is no definition of it in the folder "
        "of the log",
    )


def _definitions_near(header: LogHeader | None, log_path: str | None) -> list[str]:
    """Return the definition files in the folder of a log that can only be its own, the likeliest first."""
    if log_path is None:
        return []
    folder, file_name = os.path.split(log_path)
    names = [f"{stem(file_name)}.game"]
    if header is not None:
        base = _base_name(header.game_name)
        if not base.endswith(".game"):
            base += ".game"
        names += [base, f"{header.match_name}.game"]
    paths: list[str] = []
    for name in names:
        path = os.path.join(folder, name)
        # Names in the header may be anything, also paths out of the folder.
        if not {"/", "\\", "\0"} & set(name) and os.path.isfile(path):
            paths.append(path)
    return paths


def _base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
