"""The configuration of a server as a TOML file: `EXAMPLE` is one with all settings and their meaning.

A game that is not shipped is a path, looked for beside the file; commands start there, too.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, IPvAnyNetwork, ValidationError

from dealer.contest.config import NO_ADDRESS, BotSettings, problem_in_words, read_toml
from dealer.errors import ConfigError, PlayerError, SettingProblem
from dealer.server.queue import Limits
from dealer.server.settings import (
    DEFAULT_PORT,
    DEFAULT_WEB_PORT,
    MOST_HANDS,
    HouseBot,
    HouseGame,
    LadderSettings,
    ServerSettings,
    WebSettings,
    bots_for,
    house,
)
from dealer.table.confinement import Confinement
from dealer.table.players import PlayerKind, parse_player
from engine.errors import quoted
from protocol import GameDefinitionError, find_game, shipped_games
from protocol.benchmark import OWN_SEAT

__all__ = ["EXAMPLE", "read_toml_settings"]

_Count: TypeAlias = Annotated[int, Field(ge=0, le=1_000_000)]
_Seconds: TypeAlias = Annotated[float, Field(ge=0.001, le=1e9)]

EXAMPLE = """\
# The configuration of `arena serve`. Every setting may be left out; what stands here is its default.

host = "127.0.0.1"              # the address to listen on; "0.0.0.0" admits other machines
port = 54000                    # 0 means any free port
advertise = ""                  # the address that clients are told for their own agents; "" is the one they came to
seats_by_address = true         # a client's own agents have to come from the client's address
certificate = ""                # a PEM file; with it, clients of the text port have to use TLS
key = ""                        # the key of the certificate, if it is in another file

# Limits; 0 means none.
max_running_bots = 0            # bots of the house at a time, in all runs
max_runs_per_user = 0           # runs of one user at a time
max_runs_per_bot = 0            # how often one bot of the house sits at a table at a time
max_queued_per_user = 100       # unfinished requests of one user (not 0)
least_free_mb = 500             # millions of bytes free on the disk; with less, nothing is begun and no request taken

# What the process of a bot of the house may have (Linux and macOS); a bot's own line may say otherwise.
bot_user = ""                   # the user as which bots run, which needs a server that root has started; "" is its own
bot_memory_mb = 0               # millions of bytes of address space, for each process; 0 means no limit
bot_cpu_s = 0                   # seconds of the processor, for each process; 0 means no limit

# Seconds.
start_timeout_s = 60            # for all players of a match to connect and name their version; 0 waits without limit
t_response_s = 600              # for one answer
t_hand_s = 600                  # for all answers of a player in one hand
t_per_hand_s = 7                # per hand, on average over the match
login_timeout_s = 60            # for a client to log in
idle_timeout_s = 86400          # a client that says nothing and waits for nothing is let go after this time
write_timeout_s = 60            # for a client to read something of what it is sent
own_seat_patience_s = 3600      # how long requests with a client's own agent wait for it after a restart
rejoin_timeout_s = 60           # for the broken connection of a user's bot to be there again

max_connections = 500           # clients at a time
max_connections_per_address = 50

# The pages and the interface for programs (they need the extra: pip install 'acpc-arena[web]').
[web]
port = 8080                     # at the same address; 0 means any free port
names = []                      # the names by which browsers ask for this server; without any, all are answered
certificate = ""                # a PEM file; with it, the pages are encrypted (TLS)
key = ""                        # its key, if that is in another file
proxies = []                    # addresses or networks of proxies whose X-Forwarded-For and -Proto are believed
session_days = 14               # a login that is not used for so long is forgotten
requests_per_minute = 600       # of one token, or of one address without one, to the interface for programs
max_body_bytes = 1000000        # of one request
max_connections = 1000          # browsers and programs at a time
max_connections_per_address = 100
guests_may_play = false         # whether people who have not logged in may sit down at a table
max_tables_per_person = 5
max_tables_per_address = 10     # of people who have not logged in, from one address
tables_for_users_percent = 50   # of all tables, kept free for people who have logged in
max_tables = 50                 # with bots at them; a table at which nobody looks is put to sleep
table_asleep_minutes = 10       # after so long; it is at the same decision when somebody comes back
slumbot_forfeit_hours = 24      # a session of Slumbot's interface in which nothing happens for so long is over
table_closed_days = 7           # a table at which nobody has looked for so long is closed

# What is played while nobody wants anything: the pair of bots whose interval is widest, until all are narrow.
# [ladder]
# width = 20                    # half the 95 % interval of every pair, in mbb/g
# games = ["limit"]             # as clients call them; left out, all games of two players
# hands = 1000                  # deals of one run, each in every seating
# share = 0.5                   # of the cores at most

# The games, each with its bots. Without any, all games and all built-in bots are there.
# [[games]]
# game = "limit"                # as for `arena play`: a game's name, or the path of a .game file beside this one
# name = "limit"                # what clients call it; left out, its full name
# hands = 3000                  # of one run
# max_runs = 10                 # of one request
# max_hands = 100000            # of one run, where a request names a number or a stop rule
# max_running = 1               # runs of this game at a time, 0 means no limit; left out, the number of cores
# bots = ["random", "mfs", "Mine=./my_bot.sh"]      # as for `arena play`; left out, all built-in bots that play it
"""


class _GameTable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    game: str
    name: str | None = Field(None, min_length=1, max_length=200)
    hands: int = Field(3000, ge=1, le=2**32 - 1)
    max_runs: int = Field(10, ge=1, le=10_000)
    max_hands: int = Field(MOST_HANDS, ge=1, le=2**32 - 1)
    max_running: _Count | None = None
    bots: list[BotSettings] | None = Field(None, max_length=1000)


class _LadderTable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    width: float = Field(20.0, gt=0, le=1e9)
    games: list[str] | None = Field(None, max_length=1000)
    hands: int = Field(1000, ge=100, le=MOST_HANDS)
    share: float = Field(0.5, gt=0, le=1)


class _WebTable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    port: int = Field(DEFAULT_WEB_PORT, ge=0, le=65535)
    names: list[Annotated[str, Field(min_length=1, max_length=253)]] = Field(default=[], max_length=1000)
    certificate: str = ""
    key: str = ""
    proxies: list[IPvAnyNetwork] = Field(default=[], max_length=1000)
    session_days: float = Field(14.0, ge=0.001, le=3650)
    requests_per_minute: int = Field(600, ge=1, le=1_000_000)
    max_body_bytes: int = Field(1_000_000, ge=1000, le=1_000_000_000)
    max_connections: int = Field(1000, ge=1, le=100_000)
    max_connections_per_address: int = Field(100, ge=1, le=100_000)
    guests_may_play: bool = False
    max_tables_per_person: int = Field(5, ge=1, le=1000)
    max_tables_per_address: int = Field(10, ge=1, le=10_000)
    tables_for_users_percent: float = Field(50.0, ge=0, le=100)
    max_tables: int = Field(50, ge=1, le=10_000)
    table_asleep_minutes: float = Field(10.0, ge=0.01, le=1e6)
    slumbot_forfeit_hours: float = Field(24.0, ge=0.001, le=10_000)
    table_closed_days: float = Field(7.0, ge=0.001, le=3650)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    host: str = "127.0.0.1"
    port: int = Field(DEFAULT_PORT, ge=0, le=65535)
    advertise: str = ""
    seats_by_address: bool = True
    certificate: str = ""
    key: str = ""
    max_running_bots: _Count = 0
    max_runs_per_user: _Count = 0
    max_runs_per_bot: _Count = 0
    max_queued_per_user: int = Field(100, ge=1, le=10_000)
    least_free_mb: int = Field(500, ge=0, le=10**9)
    bot_user: str = Field("", max_length=256)
    bot_memory_mb: int = Field(0, ge=0, le=10**9)
    bot_cpu_s: int = Field(0, ge=0, le=10**9)
    start_timeout_s: float = Field(60.0, ge=0, le=1e9)
    t_response_s: _Seconds = 600.0
    t_hand_s: _Seconds = 600.0
    t_per_hand_s: _Seconds = 7.0
    login_timeout_s: _Seconds = 60.0
    idle_timeout_s: _Seconds = 86_400.0
    write_timeout_s: _Seconds = 60.0
    own_seat_patience_s: _Seconds = 3600.0
    rejoin_timeout_s: _Seconds = 60.0
    max_connections: int = Field(500, ge=1, le=100_000)
    max_connections_per_address: int = Field(50, ge=1, le=100_000)
    web: _WebTable = Field(default_factory=lambda: _WebTable.model_validate({}))
    ladder: _LadderTable | None = None
    games: list[_GameTable] = Field(default=[], max_length=1000)


def read_toml_settings(path: Path) -> ServerSettings:
    """Read a configuration file.

    Raises:
        ConfigError: it cannot be read, is not TOML, or has settings that make no sense.
    """
    data = read_toml(path)
    try:
        return _settled(_File.model_validate(data), path.absolute().parent)
    except ValidationError as error:
        raise ConfigError(*map(_problem, error.errors(include_url=False)), source=str(path)) from None
    except ConfigError as error:
        raise ConfigError(*error.problems, source=str(path)) from None


def _problem(problem: Any) -> SettingProblem:
    where, text = problem_in_words(problem)
    return SettingProblem(where, "there is no such setting" if problem["type"] == "extra_forbidden" else text)


def _settled(file: _File, folder: Path) -> ServerSettings:
    if not file.host:
        raise ConfigError(SettingProblem("host", NO_ADDRESS))
    if not file.advertise.isprintable() or " " in file.advertise:
        raise ConfigError(SettingProblem("advertise", f"{quoted(file.advertise)} is not an address"))
    games = tuple(_game(table, folder) for table in file.games)
    names = [game.name for game in games]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(SettingProblem("games", f"two games are called {quoted(name)}; give one another 'name'"))
    base = ServerSettings(()) if games else house()
    cores = os.cpu_count() or 1
    running = {
        game.name: cores if table.max_running is None else table.max_running
        for game, table in zip(games, file.games, strict=True)
    }
    limits = Limits(
        bots=file.max_running_bots or None,
        runs_per_user=file.max_runs_per_user or None,
        runs_per_bot=file.max_runs_per_bot or None,
        runs_per_game={name: most for name, most in running.items() if most} if games else base.limits.runs_per_game,
    )
    certificate, key = _certificate(file, folder, "")
    return replace(
        base,
        games=games or base.games,
        certificate=certificate,
        key=key,
        host=file.host,
        port=file.port,
        advertise=file.advertise,
        directory=str(folder),
        limits=limits,
        queued_per_user=file.max_queued_per_user,
        least_free_mb=file.least_free_mb,
        start_s=file.start_timeout_s,
        response_s=file.t_response_s,
        hand_s=file.t_hand_s,
        per_hand_s=file.t_per_hand_s,
        login_s=file.login_timeout_s,
        idle_s=file.idle_timeout_s,
        write_s=file.write_timeout_s,
        connections=file.max_connections,
        connections_per_address=file.max_connections_per_address,
        own_seat_s=file.own_seat_patience_s,
        rejoin_s=file.rejoin_timeout_s,
        seats_by_address=file.seats_by_address,
        web=_web(file.web, folder),
        bot_limits=_bot_limits(file),
        ladder=None if file.ladder is None else _ladder(file.ladder, games or base.games),
    )


def _bot_limits(file: _File) -> dict[str, str | int]:
    """What bots of the house may have."""
    confinement = Confinement(file.bot_user, file.bot_memory_mb, file.bot_cpu_s)
    if confinement != Confinement() and (refusal := confinement.refusal()) is not None:
        raise ConfigError(SettingProblem("bot_user" if file.bot_user else "bot_memory_mb", refusal))
    limits: dict[str, str | int] = {"user": file.bot_user, "memory_mb": file.bot_memory_mb, "cpu_s": file.bot_cpu_s}
    return {name: value for name, value in limits.items() if value}


def _ladder(table: _LadderTable, games: tuple[HouseGame, ...]) -> LadderSettings:
    known = [game.name for game in games]
    for name in table.games or ():
        if name not in known:
            raise ConfigError(SettingProblem("ladder.games", f"there is no game {quoted(name)} among the games"))
    two = tuple(game.name for game in games if game.game.num_players == 2)
    chosen = two if table.games is None else tuple(dict.fromkeys(table.games))
    return LadderSettings(table.width, chosen, table.hands, table.share)


def _certificate(table: _File | _WebTable, folder: Path, where: str) -> tuple[str, str]:
    """The files of a certificate and of its key; empty for none."""
    named = {"certificate": table.certificate, "key": table.key}
    paths = {name: str(folder / path) if path else "" for name, path in named.items()}
    for name, path in paths.items():
        if path and not Path(path).is_file():
            raise ConfigError(SettingProblem(f"{where}{name}", f"there is no file {path}"))
    if paths["key"] and not paths["certificate"]:
        raise ConfigError(SettingProblem(f"{where}key", "a key needs a certificate"))
    return paths["certificate"], paths["key"]


def _web(table: _WebTable, folder: Path) -> WebSettings:
    certificate, key = _certificate(table, folder, "web.")
    return WebSettings(
        port=table.port,
        names=tuple(name.lower() for name in table.names),
        certificate=certificate,
        key=key,
        proxies=tuple(map(str, table.proxies)),
        session_s=86_400.0 * table.session_days,
        requests_per_minute=table.requests_per_minute,
        body_bytes=table.max_body_bytes,
        connections=table.max_connections,
        connections_per_address=table.max_connections_per_address,
        guests_may_play=table.guests_may_play,
        tables_per_person=table.max_tables_per_person,
        tables_per_address=table.max_tables_per_address,
        tables_for_users=table.tables_for_users_percent / 100.0,
        tables=table.max_tables,
        table_asleep_s=60.0 * table.table_asleep_minutes,
        slumbot_forfeit_s=3600.0 * table.slumbot_forfeit_hours,
        table_closed_s=86_400.0 * table.table_closed_days,
    )


def _game(table: _GameTable, folder: Path) -> HouseGame:
    beside = folder / table.game
    try:
        full, game = find_game(str(beside) if beside.is_file() else table.game)
    except GameDefinitionError as error:
        raise ConfigError(SettingProblem("games", str(error))) from None
    name = table.name or (full if full in shipped_games() else os.path.basename(full))
    if not name.isprintable() or " " in name:
        raise ConfigError(SettingProblem("games", f"{quoted(name)} cannot be a name: it has to be one word"))
    bots = bots_for(game) if table.bots is None else tuple(_bot(bot, folder) for bot in table.bots)
    names = [bot.name for bot in bots]
    for bot_name in names:
        if names.count(bot_name) > 1:
            raise ConfigError(SettingProblem("bots", f"{name} has two bots called {bot_name}; NAME=BOT gives a name"))
    most_hands = max(table.max_hands, table.hands)
    return HouseGame(name, full, game, table.hands, table.max_runs, bots, most_hands)


def _bot(settings: BotSettings, folder: Path) -> HouseBot:
    try:
        player = parse_player(settings.bot, os.path.join(folder, settings.directory or ""))
    except PlayerError as error:
        raise ConfigError(SettingProblem("bots", str(error))) from None
    if player.kind is PlayerKind.TCP or player.name == OWN_SEAT:
        raise ConfigError(SettingProblem("bots", f"{quoted(settings.bot)} is not a bot that the server could start"))
    return HouseBot(player.name, settings.model_copy(update={"bot": player.text}))
