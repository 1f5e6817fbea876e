"""What a server is: its games and the bots of the house, its limits, where it listens; settled, with nothing left open.

`house` is the server without any configuration; `dealer.server.toml_settings` and `dealer.server.reference_settings`
read files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bots.registry import builtin_names
from dealer.contest.config import BotSettings, RunConfig, validated
from dealer.contest.schedule import Seating
from dealer.match.faults import FaultPolicy
from dealer.server.queue import Limits, Slot
from dealer.table.players import game_refusal, parse_player
from engine import Game, Seed
from logs.estimation import FixedHands, parse_stop_rule
from protocol import find_game, shipped_games
from protocol.benchmark import OWN_SEAT

__all__ = [
    "DEFAULT_PORT",
    "DEFAULT_WEB_PORT",
    "MOST_HANDS",
    "HouseBot",
    "HouseGame",
    "LadderSettings",
    "ServerSettings",
    "WebSettings",
    "door_host",
    "house",
    "most_hands",
    "player_name",
    "run_config",
    "slot_of",
]

DEFAULT_PORT = 54000
DEFAULT_WEB_PORT = 8080
_MOST_NAME_LETTERS = 64
MOST_HANDS = 100_000
_COALESCE_MS = 5.0
"""How long lines for a user's bot that is not to act are held: half as many lines go through the text port."""
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
        most_hands: that a request may ask for in one run.
        bots: of the house, in the order in which they were named.
    """

    name: str
    path: str
    game: Game
    hands: int
    most_runs: int
    bots: tuple[HouseBot, ...]
    most_hands: int = MOST_HANDS

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
        guests_may_play: whether people who have not logged in may sit down at a table.
        tables_per_person: at a time. tables: in all, with bots at them.
        table_asleep_s: a table at which nobody has looked for so long costs nothing until somebody does.
        slumbot_forfeit_s: a session of Slumbot's interface in which nothing happens for so long is over.
        table_closed_s: one at which nobody has looked for so long is closed.
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
    guests_may_play: bool = False
    tables_per_person: int = 5
    tables: int = 50
    table_asleep_s: float = 600.0
    table_closed_s: float = 7 * 86_400.0
    slumbot_forfeit_s: float = 86_400.0


@dataclass(frozen=True, slots=True)
class LadderSettings:
    """What is played while nobody wants anything.

    Attributes:
        width_mbb: every pair is played until half its 95 % interval is as narrow, in mbb/g.
        games: the names of the games.
        hands: deals of one run, each in every seating.
        share: of the cores at most.
    """

    width_mbb: float
    games: tuple[str, ...]
    hands: int
    share: float


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
        certificate: a PEM file; with it, the text port speaks TLS only. key: of it; empty if that is in the same file.
        tells_position: commands get one more argument: the number of the bot, from 0, as from the reference's server.
        bot_limits: what bots of the house may have that say nothing of their own: ``user``, ``memory_mb``, ``cpu_s``.
        ladder: what is played while nobody wants anything; None for nothing.
        own_seat_s: how long requests wait for a client that the server has lost when it was started again.
        web: the pages and the HTTP interface.
        rejoin_s: how long a match waits for the connection of a user's bot that has broken.
        least_free_mb: what has to be free on the disk, in millions of bytes, before anything is begun; 0 for nothing.
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
    rejoin_s: float = 60.0
    least_free_mb: int = 500
    seats_by_address: bool = True
    certificate: str = ""
    key: str = ""
    tells_position: bool = False
    web: WebSettings = field(default_factory=WebSettings)
    ladder: LadderSettings | None = None
    bot_limits: Mapping[str, str | int] = field(default_factory=dict)

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


def most_hands(game: HouseGame, hands: int | None, stop: str | None) -> int:
    """The most deals of a run: as many as were asked for, or as the stop rule or the game allows.

    Raises:
        StopRuleError: the rule is none.
    """
    if hands is not None:
        return hands
    rule = None if stop is None else parse_stop_rule(stop)
    if rule is None:
        return game.hands
    return rule.hands if isinstance(rule, FixedHands) else game.most_hands


def slot_of(game: HouseGame, players: Sequence[str], *, user: int, at_once: int, is_idle: bool = False) -> Slot:
    """What a run takes while it goes on.

    Args:
        game: which game.
        players: by seat; those that are bots of the house run here.
        user: whose run it is.
        at_once: how many matches of it sit at tables at a time.
        is_idle: whether it is played only while nobody wants anything.
    """
    bots = tuple(player for player in players if player != OWN_SEAT and game.bot(player) is not None)
    return Slot(user, game.name, bots * at_once, is_idle)


def door_host(settings: ServerSettings, players: Sequence[str]) -> str:
    """Where a run awaits its players: where the server listens if clients' own agents come, else on this machine."""
    return settings.host if OWN_SEAT in players else "127.0.0.1"


def run_config(
    settings: ServerSettings,
    game: HouseGame,
    players: Sequence[str],
    *,
    user: str,
    seed: Seed,
    key: str | None = None,
    addresses: Mapping[str, str | None] | None = None,
    environment: Mapping[str, str] | None = None,
    hands: int | None = None,
    seating: Seating = Seating.SINGLE,
    stop: str | None = None,
    on_fault: FaultPolicy = FaultPolicy.END,
) -> RunConfig:
    """What `arena play` would be asked for to play one run of a request.

    Args:
        settings: of the server.
        game: which game.
        players: by seat, names of the house's bots, of users' bots, or `OWN_SEAT`.
        user: whose request it is.
        seed: of the cards, a number or a key.
        key: what has to be said for the seats of users' bots.
        addresses: by player that is none of the house, from where it has to come; None, or left out, for anywhere.
        environment: variables that the processes of the house's bots get.
        hands: the most deals; None for as many as are set for the game.
        seating: in which seatings they are played.
        stop: the rule that may end the run before.
        on_fault: what becomes of a player that fails.

    Raises:
        ConfigError: a setting cannot be had.
    """
    bots = []
    position = 0
    is_here = all(player == OWN_SEAT or game.bot(player) is not None for player in players)
    for player in players:
        bot = None if player == OWN_SEAT else game.bot(player)
        if bot is None:
            name = player_name(user if player == OWN_SEAT else player)
            own = None if player == OWN_SEAT else key
            bots.append(BotSettings(bot=f"{name}=tcp", address=(addresses or {}).get(player), key=own))
            continue
        more: dict[str, object] = {
            "bot": f"{player_name(bot.name)}={bot.settings.bot}",
            "environment": {**bot.settings.environment, **(environment or {})},
        }
        for limit, value in settings.bot_limits.items():
            if getattr(bot.settings, limit) is None:
                more[limit] = value
        if settings.tells_position:
            more["arguments"] = [str(position)]
        bots.append(bot.settings.model_copy(update=more))
        position += 1
    return validated(
        {
            "games": [game.path],
            "bots": [bot.model_dump() for bot in bots],
            "hands": most_hands(game, hands, stop),
            "seed": seed,
            "seating": seating,
            "stop": stop,
            "workers": 1,
            "coalesce_ms": None if is_here else _COALESCE_MS,
            "on_fault": on_fault,
            "t_response_s": settings.response_s,
            "t_hand_s": settings.hand_s,
            "t_per_hand_s": settings.per_hand_s,
            "start_timeout_s": settings.start_s,
            "host": door_host(settings, players),
            "directory": settings.directory,
        }
    )
