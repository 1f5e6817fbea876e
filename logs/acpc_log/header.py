"""The header of an ACPC log, and the game it names.

    # name/game/hands/seed match /home/me/holdem.limit.2p.game 1000 42

In place of a seed there may be the fingerprint of a key (`engine.DealKey`), which identifies files with the same cards
and not how they were dealt.

The header names only the file of the game's definition, perhaps a file of another machine. So the game is looked for
in the order of trust: a definition in the folder of the log, then the games that come with the arena, by their full
names.
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
_MOST_LINES = 1000
"""How far `read_log_header` looks."""


class LogHeader(NamedTuple):
    """The content of the first line of a log: the game is a name or the path of a definition, the seed a number or the
    fingerprint of a key.
    """

    match_name: str
    game_name: str
    hands: int
    seed: int | str


def parse_header(line: str) -> LogHeader | None:
    """Read a header line; None for any other line and for a truncated header."""
    if not line.startswith(HEADER_START):
        return None
    words = line[len(HEADER_START) :].rstrip("\r\n").split(" ")
    if len(words) < 4 or not _NUMBERS.fullmatch(" ".join(words[-2:])):
        return None
    seed = words[-1] if words[-1].startswith("key:") else int(words[-1])
    # A path may contain blanks; the name of a match rarely does.
    return LogHeader(words[0], " ".join(words[1:-2]), int(words[-2]), seed)


def read_log_header(path: str | os.PathLike[str]) -> LogHeader | None:
    """The first header of a log file; None when it has none.

    Raises:
        LogError: its compression is damaged.
        OSError: the file cannot be read.
    """
    with opened(os.fspath(path)) as file:
        for _ in range(_MOST_LINES):
            header = parse_header(file.readline(1 << 12))
            if header is not None:
                return header
    return None


def find_log_game(header: LogHeader | None, log_path: str | None, given: Game | None = None) -> Game:
    """The game of a log; `given` is that of a log that does not name it, and `log_path` is None for lines without a
    file.

    Raises:
        UnknownGameError: no definition is found, and no game is given.
        LogError: the one found cannot be played, or is another game than the one given.
    """
    shown = "<lines>" if log_path is None else log_path
    try:
        game = _named_game(header, log_path, shown)
    except UnknownGameError:
        if given is None:
            raise
        return given
    if given is not None and given != game:
        raise LogError(shown, "the header of the log names another game than the one given")
    return game


def _named_game(header: LogHeader | None, log_path: str | None, shown: str) -> Game:
    for path in _definitions_near(header, log_path):
        try:
            return find_game(path, as_reference=True)[1]
        except GameDefinitionError as error:
            raise LogError(shown, f"its game cannot be read: {error}") from None
    if header is None:
        raise UnknownGameError(shown, f"there is no line '{HEADER_START}...' with the game")
    name = _base_name(header.game_name).removesuffix(".game")
    if name in shipped_games():
        return find_game(name)[1]
    raise UnknownGameError(
        shown,
        f"its game {header.game_name!r} does not come with the arena, and there is no definition of it in the folder "
        "of the log",
    )


def _definitions_near(header: LogHeader | None, log_path: str | None) -> list[str]:
    """Definition files in the folder of the log that can only be its own, the likeliest first."""
    if log_path is None:
        return []
    folder, file_name = os.path.split(log_path)
    names = [f"{stem(file_name)}.game"]
    if header is not None:
        base = _base_name(header.game_name)
        names += [base if base.endswith(".game") else f"{base}.game", f"{header.match_name}.game"]
    paths = [os.path.join(folder, name) for name in names if not {"/", "\\", "\0"} & set(name)]
    return [path for path in paths if os.path.isfile(path)]


def _base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
