"""Settings of a server: one declaration for each, with its meaning, bounds and default.

`read_toml_settings` reads a configuration file, and `example` writes one from the declarations. A game that is not
shipped is a path relative to the file, and commands start in the folder of the file.
`dealer.server.reference_settings` reads files of the ACPC's server. `default_settings` is a server without a file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SkipValidation, ValidationError

from bots.sdk.options import Interval, Wording, options_of
from bots.sdk.registry import builtin_names
from dealer.errors import ConfigError, PlayerError, RefusedError, SettingProblem
from dealer.run.run_settings import BotSettings, StrictSettings, adapter, check_address, problem_in_words, read_toml
from dealer.server.capacity import CapacityShare, Limits
from dealer.table.bubblewrap import Box, Refusal, readable_above
from dealer.table.confinement import Confinement
from dealer.table.players import PlayerKind, parse_player
from engine import Game
from engine.errors import quoted
from logs.estimation import FixedDeals, parse_stop_rule
from protocol import GameDefinitionError, find_game, shipped_games
from protocol.benchmark import OWN_SEAT
from protocol.game_definition import SHORT_NAMES, resolve_game_name, short_name
from protocol.joining import ContestTerms

DEFAULT_PORT: Final = 9540
"""Of the text protocol; outside the range of ports that systems give to clients (Linux: 32768 to 60999)."""
_MAX_NAME_LENGTH = 64
_MAX_LISTED_GAMES = 20
_MAX_DEALS = 100_000


def _check_advertised(text: str) -> str:
    if not text.isprintable() or " " in text:
        raise ValueError(f"{quoted(text)} is not an address")
    return text


def is_page_address(text: str) -> bool:
    """Return whether a text is an address with which links to pages can begin."""
    try:
        parts = urlsplit(text)
        # Reading a port that is not a number raises.
        has_extras = bool(parts.query or parts.fragment or parts.username) and parts.port != 0
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not has_extras


def _parse_network(text: str) -> str:
    try:
        return str(ip_network(text))
    except ValueError:
        raise ValueError(f"{quoted(text)} is not an address or a network") from None


_Count: TypeAlias = Annotated[int, Interval(0, 1_000_000)]
_Bound: TypeAlias = Annotated[int, Interval(1, 10_000)]
_Rate: TypeAlias = Annotated[int, Interval(1, 1_000_000)]
_Amount: TypeAlias = Annotated[int, Interval(0, 10**9)]
_Port: TypeAlias = Annotated[int, Interval(0, 65535)]
_Connections: TypeAlias = Annotated[int, Interval(1, 100_000)]
_Deals: TypeAlias = Annotated[int, Interval(1, 2**32 - 1)]
_Seconds: TypeAlias = Annotated[float, Interval(0.001, 1e9)]
_Days: TypeAlias = Annotated[float, Interval(0.001, 3650)]
_Text: TypeAlias = Annotated[str, Field(max_length=4096)]
_Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]


def _check_page_address(text: str) -> str:
    if text and not is_page_address(text):
        raise ValueError(f"{quoted(text)} is not the address of pages, such as https://poker.example.org")
    return text.rstrip("/")


_HostName: TypeAlias = Annotated[str, Field(min_length=1, max_length=253), AfterValidator(str.lower)]
_Network: TypeAlias = Annotated[str, AfterValidator(_parse_network)]
_Listed: Final = Field(max_length=1000)


@dataclass(frozen=True, slots=True)
class ServerGame:
    """A game of a server, with the server's own bots.

    Attributes:
        name: canonical name; the full name of a shipped game, unless the configuration sets another.
        path: for `RunSettings.games`.
        deals: of one run; 0 for a game that cannot be played.
        max_runs: limit on the runs of one request.
        bots: the server's own by name, in the order of the configuration; the settings contain no name.
        max_deals: limit on the deals that a request may set.
        max_running: limit on concurrent runs; 0 for none.
    """

    name: str
    path: str
    game: Game
    deals: int
    max_runs: int
    bots: Mapping[str, BotSettings]
    max_deals: int = _MAX_DEALS
    max_running: int = 0

    @property
    def shown(self) -> str:
        """Short name, for texts."""
        return short_name(self.name)

    def user_bots(self, players: Sequence[str]) -> frozenset[str]:
        """Names of users' bots among players."""
        return frozenset(player for player in players if player not in (OWN_SEAT, *self.bots))


@dataclass(frozen=True, slots=True)
class GameSettings(StrictSettings):
    """The games, each with its bots. Without this section, all games and all built-in bots are available."""

    game: Annotated[str, "as for `arena play`: a game's name, or a .game file in this folder", Wording(example="limit")]
    name: Annotated[_Name | None, "its name for clients", Wording(example="limit", otherwise="its full name")] = None
    deals: Annotated[_Deals, "deals of one run"] = 3000
    max_runs: Annotated[_Bound, "runs of one request"] = 10
    max_deals: Annotated[_Deals, "deals of one run that a request may ask for"] = _MAX_DEALS
    max_running: Annotated[
        _Count | None, "runs at a time; 0 means no limit", Wording(example=1, otherwise="the number of cores")
    ] = None
    bots: Annotated[
        tuple[BotSettings, ...] | None,
        "as for `arena play`",
        Wording(example=["random", "mfs", "Mine=./my_bot.sh"], otherwise="all built-in bots that play it"),
        _Listed,
    ] = None


@dataclass(frozen=True, slots=True)
class LadderSettings(StrictSettings):
    """Matches between bots while the queue is empty: the pair with the widest interval first, until all are narrow."""

    width: Annotated[float, "half the guaranteed interval of every pair, in mbb/g", Interval(high=1e9, above=0)] = 20.0
    games: Annotated[
        tuple[str, ...] | None,
        "their names",
        Wording(example=["limit"], otherwise="all games of two players"),
        _Listed,
    ] = None
    deals: Annotated[int, "deals of one run, each in every seating", Interval(100, _MAX_DEALS)] = 1000
    share: Annotated[float, "of the cores at most", Interval(high=1, above=0)] = 0.5
    only: Annotated[bool, "only these matches count; users' requests are practice"] = False


@dataclass(frozen=True, slots=True)
class UploadSettings(StrictSettings):
    """Bots that users upload. They need Linux and the package bubblewrap. Without this section, uploads are off."""

    archive_mb: Annotated[int, "millions of bytes of an archive", Interval(1, 1000)] = 10
    unpacked_mb: Annotated[int, "millions of bytes of its files", Interval(1, 100_000)] = 50
    max_files: Annotated[_Bound, "files and folders of an archive"] = 1000
    max_bots: Annotated[_Bound, "bots of one user"] = 3
    max_per_day: Annotated[_Bound, "uploads of one user in 24 hours"] = 20
    at_once: Annotated[_Bound, "runs of one bot at a time"] = 1
    memory_mb: Annotated[
        int, "millions of bytes of memory; without systemd, of address space for each process", Interval(10, 10**9)
    ] = 1000
    cpu_s: Annotated[int, "seconds of the processor, for each process", Interval(1, 10**9)] = 3600
    processes: Annotated[_Bound, "processes and threads of a bot at a table"] = 32
    disk_mb: Annotated[
        int, "millions of bytes of temporary files, and of its output, of a bot at a table", Interval(1, 1_000_000)
    ] = 50


@dataclass(frozen=True, slots=True)
class WebSettings(StrictSettings):
    """The pages and the HTTP API (they need the extra `web`: pip install -e '.[web]')."""

    port: Annotated[_Port, "at the same address; 0 means any free port"] = 8080
    address: Annotated[
        str,
        'address with which links begin, such as "https://poker.example.org"; "" is that of the machine',
        AfterValidator(_check_page_address),
    ] = ""
    names: Annotated[tuple[_HostName, ...], "host names of the pages; [] accepts all", _Listed] = ()
    certificate: Annotated[_Text, "a PEM file; with it, the pages are encrypted (TLS)"] = ""
    key: Annotated[_Text, "its key, if that is in another file"] = ""
    proxies: Annotated[
        tuple[_Network, ...], "addresses or networks of proxies whose X-Forwarded-For and -Proto are trusted", _Listed
    ] = ()
    metrics_from: Annotated[
        tuple[_Network, ...], "addresses or networks that may read /metrics, in the format of Prometheus", _Listed
    ] = ("127.0.0.1/32", "::1/128")
    session_days: Annotated[_Days, "until an unused login expires"] = 14.0
    requests_per_minute: Annotated[_Rate, "of one token, or of one address without one, to the HTTP API"] = 600
    page_requests_per_minute: Annotated[_Rate, "of one user, or of one address without a login, to the pages"] = 600
    max_streams_per_address: Annotated[_Connections, "live tables and scores followed from one address"] = 20
    max_body_bytes: Annotated[int, "of the body of a request", Interval(1000, 1_000_000_000)] = 1_000_000
    header_timeout_s: Annotated[_Seconds, "for the head of a request, and again for its body"] = 20.0
    write_timeout_s: Annotated[_Seconds, "for a client to read part of its pending data"] = 60.0
    keep_alive_s: Annotated[_Seconds, "between two requests of a connection"] = 30.0
    max_connections: Annotated[_Connections, "browsers and programs at a time"] = 1000
    max_connections_per_address: Annotated[_Connections, "of them from one address"] = 100
    guests_may_play: Annotated[bool, "whether guests, without a login, may play at tables"] = False
    max_tables_per_person: Annotated[_Bound, "open tables of one person"] = 5
    max_tables_per_address: Annotated[_Bound, "open tables of guests from one address"] = 10
    tables_for_users_percent: Annotated[float, "of all tables, reserved for logged-in users", Interval(0, 100)] = 50.0
    max_tables: Annotated[_Bound, "tables with running bots"] = 50
    table_asleep_minutes: Annotated[
        float, "until the bots of a table without a viewer stop; the table is kept", Interval(0.01, 1e6)
    ] = 10.0
    slumbot_forfeit_hours: Annotated[
        float, "until an idle session of Slumbot's interface is ended", Interval(0.001, 10_000)
    ] = 24.0
    table_closed_days: Annotated[_Days, "until a table without a viewer is closed"] = 7.0


@dataclass(frozen=True, slots=True)
class ServerSettings(StrictSettings):
    """The configuration of `arena serve`. All settings are optional; the values below are the defaults."""

    games: SkipValidation[tuple[ServerGame, ...]]
    host: Annotated[str, 'address to listen on; "0.0.0.0" accepts other machines', AfterValidator(check_address)] = (
        "127.0.0.1"
    )
    port: Annotated[_Port, "0 means any free port"] = DEFAULT_PORT
    advertise: Annotated[
        str,
        'the address for clients\' own agents; "" is the one to which the client connected',
        AfterValidator(_check_advertised),
    ] = ""
    seats_by_address: Annotated[bool, "a client's own agents have to come from the client's address"] = True
    certificate: Annotated[_Text, "a PEM file; with it, clients of the text port have to use TLS"] = ""
    key: Annotated[_Text, "the key of the certificate, if it is in another file"] = ""
    max_running_bots: Annotated[
        _Count, "the server's own bots at a time, in all runs", Wording(group="Limits; 0 means no limit.")
    ] = 0
    max_runs_per_user: Annotated[_Count, "runs of one user at a time"] = 0
    max_runs_per_bot: Annotated[_Count, "seats of one of the server's own bots at a time"] = 0
    practice_duplicates: Annotated[
        bool, "users' bots may be dealt the same cards in every seating, in contests that do not count"
    ] = True
    max_queued_per_user: Annotated[_Bound, "unfinished requests of one user (not 0)"] = 100
    max_names_per_user: Annotated[_Bound, "names of one user's bots (not 0); the user can free names"] = 20
    max_team_members: Annotated[_Count, "members of a team that users form; 0 leaves teams to organisers"] = 4
    max_joins_per_minute: Annotated[_Rate, "connections of one user's bots (not 0)"] = 60
    least_free_mb: Annotated[_Amount, "millions of bytes free on the disk; with less, no run starts"] = 500
    keep_days: Annotated[
        float, "until the logs of a finished run are removed; 0 keeps them forever", Interval(0, 36_500)
    ] = 0.0
    bot_user: Annotated[
        _Text,
        'the user of the bots, for a server started by root; "" is the user of the server',
        Wording(group="Processes of the server's own bots (Linux and macOS); the settings of a bot take precedence."),
    ] = ""
    bot_memory_mb: Annotated[_Amount, "millions of bytes of address space, for each process; 0 means no limit"] = 0
    bot_cpu_s: Annotated[_Amount, "seconds of the processor, for each process; 0 means no limit"] = 0
    start_timeout_s: Annotated[
        float,
        "for all players of a match to connect; 0 waits without limit",
        Interval(0, 1e9),
        Wording(group="Seconds."),
    ] = 60.0
    t_response_s: Annotated[_Seconds, "for one answer"] = 600.0
    t_hand_s: Annotated[_Seconds, "for all answers of a player in one hand"] = 600.0
    t_per_hand_s: Annotated[_Seconds, "per hand, on average over the match"] = 7.0
    login_timeout_s: Annotated[_Seconds, "for a client to log in"] = 60.0
    idle_timeout_s: Annotated[_Seconds, "until an idle client is disconnected"] = 86_400.0
    write_timeout_s: Annotated[_Seconds, "for a client to read part of its pending data"] = 60.0
    own_seat_patience_s: Annotated[_Seconds, "for a client's agent or bot to reconnect, also after a restart"] = 3600.0
    event_patience_s: Annotated[_Seconds, "for an absent bot of a contest of an event, which is then given up"] = 120.0
    rejoin_timeout_s: Annotated[_Seconds, "for the broken connection of a user's bot to resume"] = 60.0
    max_connections: Annotated[_Connections, "clients at a time", Wording(group="Connections of the text port.")] = 500
    max_connections_per_address: Annotated[_Connections, "of them from one address"] = 50
    web: WebSettings = field(default_factory=WebSettings)
    ladder: LadderSettings | None = None
    uploads: UploadSettings | None = None
    # Not settings of a file: the folder in which commands start; users of a benchmark server's configuration; and
    # whether commands get their position as one more argument, as on that server.
    directory: str | None = None
    passwords: tuple[tuple[str, str], ...] = ()
    passes_position: bool = False

    @property
    def limits(self) -> Limits:
        """Limits on concurrent runs."""
        return Limits(
            bots=self.max_running_bots or None,
            runs_per_user=self.max_runs_per_user or None,
            runs_per_bot=self.max_runs_per_bot or None,
            runs_per_game={game.name: game.max_running for game in self.games if game.max_running},
        )

    @property
    def is_loopback(self) -> bool:
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def has_only_ladder(self) -> bool:
        return self.ladder is not None and self.ladder.only

    def game(self, name: str) -> ServerGame | None:
        """Find a game by its canonical name."""
        return next((game for game in self.games if game.name == name), None)

    def resolve_game(self, name: str) -> ServerGame:
        """Find a game by a name from a client or a person.

        Raises:
            RefusedError: no game has it, or several do.
        """
        return resolve_game(self.games, name)

    def find_game(self, name: str) -> ServerGame | None:
        """Find a game like `resolve_game`; None instead of an error."""
        try:
            return self.resolve_game(name)
        except RefusedError:
            return None

    def full_name(self, name: str | None) -> str | None:
        """Canonical name of a game; an unknown name is returned unchanged."""
        # A game that was removed from the configuration still has runs.
        game = None if name is None else self.find_game(name)
        return name if game is None else game.name


def full_game_name(name: str, names: Sequence[str]) -> str:
    """Resolve a name to one of `names`, full names of games.

    Raises:
        RefusedError: no game has it, or several do.
    """
    try:
        full_name = resolve_game_name(name, names)
    except GameDefinitionError as error:
        raise RefusedError(f"the game {quoted(name)} {error.problem}") from None
    if full_name is None:
        known = [short_name(known_name) for known_name in names[:_MAX_LISTED_GAMES]]
        if len(names) > _MAX_LISTED_GAMES:
            known.append("...")
        raise RefusedError(f"there is no game {quoted(name)} here; the games are {', '.join(known)}")
    return full_name


def bots_for(game: Game, names: Sequence[str] = ()) -> dict[str, BotSettings]:
    """Built-in bots that play a game; only those in `names` unless it is empty."""
    return {
        name: BotSettings(bot=name)
        for name in names or builtin_names()
        if parse_player(name, None, (game,), in_process=True).refusals == (None,)
    }


def default_settings() -> ServerSettings:
    """Settings without a file: every shipped game, with every built-in bot that plays it."""
    return ServerSettings(tuple(_resolve_game(GameSettings(name), None) for name in shipped_games()))


def player_name(text: str) -> str:
    """Convert the name of a user or a bot to one that is valid in logs, tables and file names."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", text)[:_MAX_NAME_LENGTH]
    return name if re.search("[A-Za-z0-9]", name) else "player"


def resolve_game(games: Sequence[ServerGame], name: str) -> ServerGame:
    """Find a game by a name from a client or a person.

    Raises:
        RefusedError: no game has it, or several do.
    """
    by_name = {game.name: game for game in games}
    return by_name[full_game_name(name, tuple(by_name))]


def max_deals(game: ServerGame, terms: ContestTerms) -> int:
    """Maximum number of deals of a run, from the terms, their stop rule or the game.

    Raises:
        StopRuleError: the rule is not valid.
    """
    if terms.deals is not None:
        return terms.deals
    rule = None if terms.stop is None else parse_stop_rule(terms.stop)
    if rule is None:
        return game.deals
    return rule.deals if isinstance(rule, FixedDeals) else game.max_deals


def capacity_share(
    game: ServerGame, players: Sequence[str], *, user: int, at_once: int, is_idle: bool = False
) -> CapacityShare:
    """Share of the server's limits that a run occupies.

    Args:
        players: by seat.
        user: number of the user who requested it.
        at_once: number of matches of the run that are played at a time.
        is_idle: whether it is played only while no request waits.
    """
    bots = tuple(player for player in players if player in game.bots)
    return CapacityShare(user, game.name, bots * at_once, is_idle)


SECTIONS: Final = {
    "": ServerSettings,
    "web": WebSettings,
    "ladder": LadderSettings,
    "uploads": UploadSettings,
    "games": GameSettings,
}
_OPTIONAL: Final = {"ladder": "[ladder]", "uploads": "[uploads]", "games": "[[games]]"}
"""Headings of sections that are not equivalent to their defaults when they are left out."""
_MEANING_COLUMN: Final = 32
_MAX_GAMES: Final = 1000
_Settings = TypeVar("_Settings", ServerSettings, WebSettings)


def read_toml_settings(path: Path) -> ServerSettings:
    """Read a configuration file.

    Raises:
        ConfigError: it cannot be read, is not TOML, or has invalid settings.
    """
    data = read_toml(path)
    try:
        return _resolve(data, path.absolute().parent)
    except ConfigError as error:
        raise ConfigError(*error.problems, source=str(path)) from None


def _resolve(data: dict[str, Any], folder: Path) -> ServerSettings:
    written = data.pop("games", [])
    known = {"web", "ladder", "uploads", *(setting.name for setting in options_of(ServerSettings))}
    unknown = [name for name in data if name not in known]
    problems = [SettingProblem(name, "there is no such setting") for name in unknown]
    values = {name: value for name, value in data.items() if name not in unknown}
    # Both parts are validated before any error is raised, so that all problems are reported at once.
    validated: dict[str, Any] = {}
    for section, kind, value in (
        ("games", list[GameSettings], written),
        ("", ServerSettings, values | {"games": ()}),
    ):
        try:
            validated[section] = adapter(kind).validate_python(value)
        except ValidationError as error:
            problems += [setting_problem(problem, section) for problem in error.errors(include_url=False)]
    if problems:
        raise ConfigError(*problems)
    settings: ServerSettings = validated[""]
    game_settings: list[GameSettings] = validated["games"]
    if len(game_settings) > _MAX_GAMES:
        raise ConfigError(SettingProblem("games", f"must have at most {_MAX_GAMES}, not {len(game_settings)}"))
    games = tuple(_resolve_game(game, folder) for game in game_settings) or default_settings().games
    names = [game.name for game in games]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                SettingProblem("games", f"two games are called {quoted(short_name(name))}; set another name for one")
            )
    confinement = Confinement(settings.bot_user, settings.bot_memory_mb, settings.bot_cpu_s)
    if confinement != Confinement() and (refusal := confinement.refusal()) is not None:
        raise ConfigError(SettingProblem("bot_user" if settings.bot_user else "bot_memory_mb", refusal))
    _check_programs(games, settings.bot_user, folder)
    return replace(
        _resolve_certificate(settings, folder, ""),
        games=games,
        directory=str(folder),
        web=_resolve_certificate(settings.web, folder, "web."),
        ladder=None if settings.ladder is None else _resolve_ladder(settings.ladder, games),
    )


def box_of(uploads: UploadSettings, folder: str) -> Box:
    """Sandbox of an uploaded bot, whose program is in `folder`."""
    return Box(folder, uploads.memory_mb, uploads.cpu_s, uploads.processes, uploads.disk_mb)


def uploads_refusal(uploads: UploadSettings, data: Path) -> Refusal | None:
    """Reason that this system cannot confine uploaded bots; None if it can.

    Reading a configuration does not include this check, because it depends on installed programs.

    Args:
        data: the folder of the server.
    """
    # Any existing folder will do, because no file of the bot is read.
    if (refusal := box_of(uploads, "/usr").refusal()) is not None:
        return refusal
    if above := readable_above(data):
        return Refusal(f"uploaded bots can read {data}, which is in {above}", "name another folder with --data")
    return None


def _check_programs(games: Sequence[ServerGame], bot_user: str, folder: Path) -> None:
    """Check that the user of each bot can execute it; otherwise all of its matches would fail."""
    # One check for each program, which may play several games.
    programs: dict[tuple[str, str, str], str] = {}
    for game in games:
        for name, bot in game.bots.items():
            programs[bot.user or bot_user, bot.bot, bot.directory or ""] = name
    for (user, text, directory), name in programs.items():
        if not user:
            continue
        program = parse_player(text, os.path.join(folder, directory)).program
        if (refusal := Confinement(user).refusal(program)) is not None:
            raise ConfigError(SettingProblem("bots", f"{name}: {refusal}"))


def setting_problem(problem: Any, section: str = "") -> SettingProblem:
    """Convert an error of pydantic in a section of a file."""
    where, text = problem_in_words(problem)
    where = f"{section}.{where}".strip(".")
    is_unknown = problem["type"] in ("extra_forbidden", "unexpected_keyword_argument")
    return SettingProblem(where, "there is no such setting" if is_unknown else text)


def _resolve_ladder(ladder: LadderSettings, games: tuple[ServerGame, ...]) -> LadderSettings:
    if ladder.games is None:
        return replace(ladder, games=tuple(game.name for game in games if game.game.num_players == 2))
    names = [game.name for game in games]
    try:
        return replace(ladder, games=tuple(dict.fromkeys(full_game_name(name, names) for name in ladder.games)))
    except RefusedError as error:
        raise ConfigError(SettingProblem("ladder.games", str(error))) from None


def _resolve_certificate(settings: _Settings, folder: Path, where: str) -> _Settings:
    """Resolve the paths of the certificate and its key from the folder of the file."""
    certificate = str(folder / settings.certificate) if settings.certificate else ""
    key = str(folder / settings.key) if settings.key else ""
    for name, path in (("certificate", certificate), ("key", key)):
        if path and not Path(path).is_file():
            raise ConfigError(SettingProblem(f"{where}{name}", f"there is no file {path}"))
    if key and not certificate:
        raise ConfigError(SettingProblem(f"{where}key", "a key needs a certificate; set certificate"))
    return replace(settings, certificate=certificate, key=key)


def _resolve_game(written: GameSettings, folder: Path | None) -> ServerGame:
    """Find a game and its bots.

    Args:
        folder: of the file; None without one.
    """
    text = written.game
    if folder is not None and (folder / text).is_file():
        text = str(folder / text)
    try:
        full_name, game = find_game(text)
    except GameDefinitionError as error:
        raise ConfigError(SettingProblem("games", str(error))) from None
    name = written.name or full_name
    path = full_name if full_name in shipped_games() else text
    if name in {*SHORT_NAMES, *shipped_games()} and find_game(name)[1] != game:
        problem = f"{quoted(name)} is the name of another game; set another name for this one"
        raise ConfigError(SettingProblem("games", problem))
    if not name.isprintable() or " " in name:
        raise ConfigError(SettingProblem("games", f"{quoted(name)} cannot be a name: it must be one word"))
    bots = bots_for(game) if written.bots is None else {}
    for bot_settings in written.bots or ():
        bot_name, bot = _resolve_bot(bot_settings, folder)
        if bot_name in bots:
            raise ConfigError(
                SettingProblem("bots", f"{short_name(name)} has two bots called {bot_name}; name one with NAME=BOT")
            )
        bots[bot_name] = bot
    max_deals = max(written.max_deals, written.deals)
    max_running = (os.cpu_count() or 1) if written.max_running is None else written.max_running
    return ServerGame(
        name, path, game, written.deals, written.max_runs, bots, max_deals=max_deals, max_running=max_running
    )


def _resolve_bot(settings: BotSettings, folder: Path | None) -> tuple[str, BotSettings]:
    try:
        player = parse_player(settings.bot, os.path.join(folder or "", settings.directory or ""))
    except PlayerError as error:
        raise ConfigError(SettingProblem("bots", str(error))) from None
    if player.kind is PlayerKind.TCP or player.name == OWN_SEAT:
        raise ConfigError(SettingProblem("bots", f"{quoted(settings.bot)} is not a bot that the server could start"))
    return player.name, replace(settings, bot=player.text)


# ---- the example of a configuration file
def example() -> str:
    """Make a configuration file with all settings, their defaults and meanings."""
    lines: list[str] = []
    for name, section in SECTIONS.items():
        # Optional sections are commented out.
        mark = "# " if name in _OPTIONAL else ""
        if lines:
            lines.append("")
        lines += [f"# {section.__doc__}", f"{mark}{heading(name)}"]
        for setting in options_of(section):
            wording = setting.wording
            if wording.group:
                lines += ["", f"# {wording.group}"]
            value = setting.value if wording.example is None else json.dumps(wording.example)
            line = f"{mark}{setting.name} = {value} "
            meaning = f"{setting.meaning}; left out, {wording.otherwise}" if wording.otherwise else setting.meaning
            lines.append(f"{line:{_MEANING_COLUMN}}# {meaning}")
    return "\n".join(lines) + "\n"


def heading(section: str) -> str:
    """Heading of a section in the file; empty for the top level."""
    return _OPTIONAL.get(section, f"[{section}]" if section else "")
