"""Read the configuration file of the ACPC's benchmark server.

A keyword is the beginning of a line, in any case, tried in a fixed order; no blank need follow it. Numbers are read as
C reads them and wrap out of range. Words end at white space, and further words are ignored. Games and bots are relative
to the folder in which the server was started.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from bots.sdk.program import IS_WINDOWS
from dealer.errors import ConfigError
from dealer.run.run_settings import BotSettings
from dealer.server.server_settings import ServerGame, ServerSettings
from engine import Game
from engine.text import escaped
from protocol import GameDefinitionError, find_game
from protocol.benchmark import OWN_SEAT
from protocol.framing import LineReader
from protocol.numbers import scan_unsigned

_MIN_LIMIT_S = 0.001
_MAX_LIMIT_S = 1e9


@dataclass(slots=True)
class _Block:
    name: str
    game: Game
    numbers: dict[str, int] = field(default_factory=dict)
    bots: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Parser:
    numbers: dict[str, int] = field(default_factory=dict)
    games: list[_Block] = field(default_factory=list)
    passwords: dict[str, str] = field(default_factory=dict)
    block: _Block | None = None


_SERVER_NUMBERS: Final = {
    "port": ("server port", "port", 16),
    "maxRunningBots": ("maxRunningBots", "maximum number of running bots", 16),
    "startupTimeoutSecs": ("startupTimeoutSecs", "startup timeout", 16),
    "responseTimeoutSecs": ("responseTimeoutSecs", "response timeout", 16),
    "handTimeoutSecs": ("handTimeoutSecs", "hand timeout", 16),
    "avgHandTimeSecs": ("avgHandTimeSecs", "average hand timeout", 16),
}
_GAME_NUMBERS: Final = {
    "maxMatchRuns": ("maxMatchRuns", "maximum number of match runs", 16),
    "maxRunningJobs": ("maxRunningJobs", "maximum number of running jobs", 16),
    "matchHands": ("matchHands", "number of hands in a match", 32),
}
"""Numbers of the server and of a game: name in the error of a wrong place, name in the error of an unreadable number,
bits."""


def read_reference_settings(path: Path) -> ServerSettings:
    """Read a configuration file of the reference.

    Raises:
        ConfigError: it cannot be read, or has something that the reference does not accept either.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    reader = LineReader()
    reader.feed(data)
    reader.feed_eof()
    parser = _Parser()
    number = 0
    is_new_line = True
    for raw in iter(reader.pop, None):
        # The rest of a line that is too long is a line of its own, as in the reference.
        number += is_new_line
        is_new_line = raw.endswith(b"\n")
        line = raw.decode("utf-8", "surrogateescape").strip(" \t\r\n\v\f")
        if not line or line[0] in "#;":
            continue
        try:
            _read_line(line, parser)
        except ConfigError as error:
            raise ConfigError(*(f"line {number}: {text}" for _, text in error.problems), source=str(path)) from None
    return _make_settings(parser)


def _read_line(line: str, parser: _Parser) -> None:
    if line.startswith("}"):
        parser.block = None
        return
    # In the order of the reference: the first keyword that fits is taken.
    readers: dict[str, Callable[[str, str, _Parser], None]] = {"port": _read_number, "game": _read_game}
    readers |= dict.fromkeys((*_SERVER_NUMBERS, *_GAME_NUMBERS), _read_number)
    readers |= {"bot": _read_bot, "user": _read_user}
    for keyword, read in readers.items():
        if line.lower().startswith(keyword.lower()):
            read(keyword, line, parser)
            return
    raise ConfigError(f"unknown configuration option {_quote(line)}")


def _quote(line: str) -> str:
    return escaped(line, max_chars=200)


def _read_number(keyword: str, line: str, parser: _Parser) -> None:
    if keyword in _GAME_NUMBERS:
        name, meaning, bits = _GAME_NUMBERS[keyword]
        if parser.block is None:
            raise ConfigError(f"{name} must be defined within a game block")
        numbers = parser.block.numbers
    else:
        name, meaning, bits = _SERVER_NUMBERS[keyword]
        if parser.block is not None:
            raise ConfigError(f"{name} must be defined outside of game blocks")
        numbers = parser.numbers
    scanned = scan_unsigned(line, len(keyword))
    if scanned is None:
        raise ConfigError(f"could not get {meaning} from: {_quote(line)}")
    numbers[keyword] = int(scanned[0] % 2**bits)


def _split_words(line: str, keyword: str, count: int, what: str) -> list[str]:
    words = line[len(keyword) :].split(maxsplit=count)[:count]
    if len(words) < count:
        raise ConfigError(f"could not get {what} from: {_quote(line[len(keyword) :])}")
    return words


def _read_game(keyword: str, line: str, parser: _Parser) -> None:
    if parser.block is not None:
        raise ConfigError("can't define a game within another game block")
    (name,) = _split_words(line, keyword, 1, "game name")
    if any(block.name == name for block in parser.games):
        raise ConfigError(f"game {_quote(name)} has already been used")
    if not name.isprintable():
        raise ConfigError(f"could not open game file {_quote(name)}: the name has unprintable characters")
    if not os.path.isfile(name):
        raise ConfigError(f"could not open game file {name}")
    try:
        _, game = find_game(os.path.join(".", name))
    except GameDefinitionError as error:
        raise ConfigError(f"could not read game {name}: {error.problem}") from None
    parser.block = _Block(name, game)
    parser.games.append(parser.block)


def _read_bot(keyword: str, line: str, parser: _Parser) -> None:
    if parser.block is None:
        # The reference has this wording for bots too.
        raise ConfigError("matchHands must be defined within a game block (and so must a bot)")
    name, command = _split_words(line, keyword, 2, "bot name and command")
    if name in parser.block.bots:
        raise ConfigError(f"duplicate bot {_quote(name)}")
    if name == OWN_SEAT:
        raise ConfigError(f"{OWN_SEAT} is a reserved bot name")
    _check_name(name)
    parser.block.bots[name] = command


def _read_user(keyword: str, line: str, parser: _Parser) -> None:
    if parser.block is not None:
        raise ConfigError("users must be defined outside of game blocks")
    name, password = _split_words(line, keyword, 2, "user name and password")
    if name in parser.passwords:
        raise ConfigError(f"duplicate user {_quote(name)}")
    _check_name(name)
    parser.passwords[name] = password


def _check_name(name: str) -> None:
    if not name.isprintable():
        raise ConfigError(f"a name cannot have unprintable characters: {_quote(name)}")


def _make_game(block: _Block) -> ServerGame:
    return ServerGame(
        block.name,
        os.path.abspath(block.name),
        block.game,
        block.numbers.get("matchHands", 5000),
        block.numbers.get("maxMatchRuns", 10),
        {name: BotSettings(bot=_command(command)) for name, command in block.bots.items()},
        max_running=block.numbers.get("maxRunningJobs", 1),
    )


def _make_settings(parser: _Parser) -> ServerSettings:
    numbers = parser.numbers
    games = tuple(_make_game(block) for block in parser.games)

    def limit_s(keyword: str, default: int) -> float:
        # A limit of 0 ends every match on the reference; so does our minimum.
        return min(_MAX_LIMIT_S, max(_MIN_LIMIT_S, float(numbers.get(keyword, default))))

    settings = ServerSettings(
        games,
        max_running_bots=numbers.get("maxRunningBots", 0),
        directory=os.getcwd(),
        passwords=tuple(parser.passwords.items()),
        start_timeout_s=float(numbers.get("startupTimeoutSecs", 60)),
        t_response_s=limit_s("responseTimeoutSecs", 600),
        t_hand_s=limit_s("handTimeoutSecs", 21000),
        t_per_hand_s=limit_s("avgHandTimeSecs", 7),
        passes_position=True,
    )
    return replace(settings, port=numbers.get("port", settings.port))


def _command(path: str) -> str:
    """Describe a program as a player that is neither searched on PATH nor taken for a built-in bot."""
    if not os.path.dirname(path):
        path = os.path.join(".", path)
    if re.fullmatch(r"[\w./+-]+", path):
        return path
    return f'"{path}"' if IS_WINDOWS else shlex.quote(path)
