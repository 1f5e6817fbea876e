"""What a server is: its games and the bots of the house, its limits, where it listens; settled, with nothing left open.

`house` is the server without any configuration; `dealer.server.toml_settings` and `dealer.server.reference_settings`
read files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from bots.registry import builtin_names
from dealer.contest.config import BotSettings, RunConfig, validated
from dealer.server.queue import Limits
from dealer.table.players import game_refusal, parse_player
from engine import Game
from protocol import find_game, shipped_games
from protocol.benchmark import OWN_SEAT

__all__ = [
    "DEFAULT_PORT",
    "DEFAULT_WEB_PORT",
    "HouseBot",
    "HouseGame",
    "ServerSettings",
    "WebSettings",
    "house",
    "player_name",
    "run_config",
]

DEFAULT_PORT = 54000
DEFAULT_WEB_PORT = 8080
_MOST_NAME_LETTERS = 64
_HANDS = 3000
_RUNS = 10


@dataclass(frozen=True, slots=True)
class HouseBot:
    """A bot of the house.

    Attributes:
        name: as clients call it.
        settings: as a run describes it, without a name.
    """

    name: str
    settings: BotSettings


@dataclass(frozen=True, slots=True)
class HouseGame:
    """A game that is played here.

    Attributes:
        name: as clients call it.
        path: the game as a run describes it.
        game: its definition.
        hands: of one run; 0 for a game that cannot be played.
        most_runs: of one request.
        bots: of the house, in the order in which they were named.
    """

    name: str
    path: str
    game: Game
    hands: int
    most_runs: int
    bots: tuple[HouseBot, ...]

    def bot(self, name: str) -> HouseBot | None:
        """The bot of this name."""
        return next((bot for bot in self.bots if bot.name == name), None)


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The pages and the HTTP interface.

    Attributes:
        port: to listen on, at the address of the text port; 0 for a free one.
        names: host names under which browsers may ask; without any, those of this machine where only it is listened
            to, and all others everywhere else.
        certificate: a PEM file, for TLS; empty for none. key: its key; empty if that is in the same file.
        proxies: addresses and networks whose ``X-Forwarded-`` headers are believed.
        session_s: a login that is not used for so long is forgotten.
        requests_per_minute: of one token, or of one address without one, to the interface for programs.
        header_s: for a client to send the head of a request, and for the body. body_bytes: of one request.
        write_s: for a client to take something of what it is sent. keep_alive_s: between two requests.
        connections: at a time, in all. connections_per_address: from one address.
    """

    port: int = DEFAULT_WEB_PORT
    names: tuple[str, ...] = ()
    certificate: str = ""
    key: str = ""
    proxies: tuple[str, ...] = ()
    session_s: float = 14 * 86_400.0
    requests_per_minute: int = 600
    header_s: float = 20.0
    body_bytes: int = 1_000_000
    write_s: float = 60.0
    keep_alive_s: float = 30.0
    connections: int = 1000
    connections_per_address: int = 100


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """All about a server.

    Attributes:
        games: in the order in which they were named.
        host: the address to listen on, also for the seats of clients' own agents.
        port: of the text port; 0 for a free one.
        advertise: the address that clients are told; empty for the one to which they have connected.
        directory: where commands start.
        passwords: names and passwords of users that a benchmark-server configuration has; others have tokens.
        limits: what may go on at a time.
        queued_per_user: unfinished requests of one user.
        start_s: for the players of a match to connect and name their version; 0 waits without limit.
        response_s: for one answer. hand_s: for all in one hand. per_hand_s: per hand on average.
        login_s: for a client to log in.
        idle_s: a client that says nothing for so long, and waits for nothing, is let go.
        write_s: for a client to take something of what it is sent.
        connections: at a time, in all. connections_per_address: from one address.
        seats_by_address: an agent of a client has to come from the client's own address.
        tells_position: commands get one more argument: the number of the bot, from 0, as from the reference's server.
        own_seat_s: how long requests wait for a client that the server has lost when it was started again.
        web: the pages and the HTTP interface.
    """

    games: tuple[HouseGame, ...]
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    advertise: str = ""
    directory: str | None = None
    passwords: tuple[tuple[str, str], ...] = ()
    limits: Limits = field(default_factory=Limits)
    queued_per_user: int = 100
    start_s: float = 60.0
    response_s: float = 600.0
    hand_s: float = 600.0
    per_hand_s: float = 7.0
    login_s: float = 60.0
    idle_s: float = 86_400.0
    write_s: float = 60.0
    connections: int = 500
    connections_per_address: int = 50
    own_seat_s: float = 3600.0
    seats_by_address: bool = True
    tells_position: bool = False
    web: WebSettings = field(default_factory=WebSettings)

    def game(self, name: str) -> HouseGame | None:
        """The game of this name."""
        return next((game for game in self.games if game.name == name), None)


def bots_for(game: Game, names: Sequence[str] = ()) -> tuple[HouseBot, ...]:
    """The built-in bots that play a game; of these names, if any are given."""
    return tuple(
        HouseBot(name, BotSettings(bot=name))
        for name in names or builtin_names()
        if game_refusal(parse_player(name), game) is None
    )


def house() -> ServerSettings:
    """A server without a configuration: every game that is shipped, every built-in bot that plays it."""
    games = []
    for name in shipped_games():
        full, game = find_game(name)
        games.append(HouseGame(full, full, game, _HANDS, _RUNS, bots_for(game)))
    limits = Limits(runs_per_game={game.name: os.cpu_count() or 1 for game in games})
    return ServerSettings(tuple(games), limits=limits)


def player_name(text: str) -> str:
    """A user's or a bot's name as a name that logs, tables and file names can hold."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", text)[:_MOST_NAME_LETTERS]
    return name if re.search("[A-Za-z0-9]", name) else "player"


def run_config(
    settings: ServerSettings,
    game: HouseGame,
    players: Sequence[str],
    *,
    user: str,
    address: str | None,
    seed: int,
    environment: dict[str, str],
) -> RunConfig:
    """What `arena play` would be asked for to play one run of a request.

    Args:
        settings: of the server.
        game: which game.
        players: by seat, names of the house's bots or `OWN_SEAT`.
        user: whose request it is.
        address: from which the agents of this user have to come; None for any.
        seed: of the cards.
        environment: variables that the bots' processes get.

    Raises:
        ConfigError: the house has no such bot any more, or a setting cannot be had.
    """
    bots = []
    position = 0
    for player in players:
        bot = game.bot(player)
        if player == OWN_SEAT or bot is None:
            bots.append(BotSettings(bot=f"{player_name(user)}=tcp", address=address))
            continue
        more: dict[str, object] = {
            "bot": f"{player_name(bot.name)}={bot.settings.bot}",
            "environment": {**bot.settings.environment, **environment},
        }
        if settings.tells_position:
            more["arguments"] = [str(position)]
        bots.append(bot.settings.model_copy(update=more))
        position += 1
    has_own_seat = OWN_SEAT in players
    return validated(
        {
            "games": [game.path],
            "bots": [bot.model_dump() for bot in bots],
            "hands": game.hands,
            "seed": seed,
            "seating": "single",
            "workers": 1,
            "on_fault": "end",
            "t_response_s": settings.response_s,
            "t_hand_s": settings.hand_s,
            "t_per_hand_s": settings.per_hand_s,
            "start_timeout_s": settings.start_s,
            "host": settings.host if has_own_seat else "127.0.0.1",
            "directory": settings.directory,
        }
    )
