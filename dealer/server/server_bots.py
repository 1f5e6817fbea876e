"""The server's own bots as players of runs, with the environment and the confinement of their processes.

Every run gets such bots from `seated_bots`: requests, the ladder, tables with people, Slumbot's interface.
`update_config` applies the current limits to runs of an earlier start.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bots.sdk.program import SERVER_VARIABLE
from dealer.errors import ConfigError
from dealer.run.run_settings import BotSettings, RunSettings, read_config, validated
from dealer.server.server_settings import ServerGame, ServerSettings, max_deals, player_name
from engine import Seed
from engine.text import count_of
from logs.whole_file import write_whole
from protocol.benchmark import OWN_SEAT
from protocol.joining import ContestTerms

_COALESCE_MS = 250.0
"""Time for which lines for users' bots that do not act are held, so that most are sent with the next question."""
_LIMITS = ("user", "memory_mb", "cpu_s")


def process_environment(folder: Path) -> dict[str, str]:
    """Environment variables for all processes of the server with a folder."""
    return {SERVER_VARIABLE: str(folder.absolute())}


def seated_bots(
    settings: ServerSettings, game: ServerGame, players: Sequence[str], environment: Mapping[str, str]
) -> list[BotSettings]:
    """Make the settings of the players of a run, by seat.

    Args:
        players: names of the server's own bots, or of users' bots.
        environment: variables for the processes, besides those of the bots' own settings.
    """
    bots = []
    positions = itertools.count()
    for player in players:
        bot = game.bots.get(player)
        if bot is None:
            bots.append(BotSettings(bot=f"{player_name(player)}=tcp", linked=True))
            continue
        changes = _confinement(settings, bot, environment)
        if settings.passes_position:
            changes["arguments"] = (str(next(positions)),)
        bots.append(replace(bot, bot=f"{player_name(player)}={bot.bot}", **changes))
    return bots


def _confinement(settings: ServerSettings, bot: BotSettings, environment: Mapping[str, str]) -> dict[str, Any]:
    limits = {name: getattr(bot, name) or getattr(settings, f"bot_{name}") or None for name in _LIMITS}
    return {**limits, "environment": {**bot.environment, **environment}}


def update_config(
    settings: ServerSettings,
    game: ServerGame,
    players: Sequence[str],
    path: Path,
    environment: Mapping[str, str],
    own_address: str | None = None,
) -> None:
    """Update the settings file of an interrupted run to the current configuration.

    The server's bots get the current limits, and clients' own agents connect to the current address.

    Args:
        path: of the file.
        own_address: required address of clients' own agents; None for any.

    Raises:
        ConfigError: the file does not fit the players.
        OSError: it cannot be read or written.
    """
    config = validated(read_config(path), str(path))
    if len(config.bots) != len(players):
        raise ConfigError(
            f"it has {count_of(len(config.bots), 'bot')}, and the run has {len(players)}", source=str(path)
        )
    bots = []
    host = config.host
    for player, bot in zip(players, config.bots, strict=True):
        if player in game.bots:
            bots.append(replace(bot, **_confinement(settings, game.bots[player], environment)))
        else:
            bots.append(replace(bot, address=own_address if player == OWN_SEAT else None))
        # A person at a table is linked and needs no port.
        if player == OWN_SEAT and not bot.linked:
            host = settings.host
    updated = replace(config, bots=tuple(bots), host=host)
    if updated != config:
        write_whole(path, updated.to_toml())


def run_config(
    settings: ServerSettings,
    game: ServerGame,
    players: Sequence[str],
    terms: ContestTerms,
    *,
    user: str,
    seed: Seed,
    own_address: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> RunSettings:
    """Make the settings of one run of a request, as for `arena play`.

    Args:
        players: by seat, names of the server's own bots, of users' bots, or `OWN_SEAT`.
        terms: of the run; their seed is not used.
        own_address: required address of clients' own agents; None for any.
        environment: variables for the processes of the server's own bots.

    Raises:
        ConfigError: a setting is not valid.
    """
    own_agent = BotSettings(bot=f"{player_name(user)}=tcp", address=own_address)
    bots = [
        own_agent if player == OWN_SEAT else bot
        for player, bot in zip(players, seated_bots(settings, game, players, environment or {}), strict=True)
    ]
    # Only clients' own agents connect from other machines.
    host = settings.host if OWN_SEAT in players else "127.0.0.1"
    return validated(
        {
            "games": [game.path],
            "bots": bots,
            "deals": max_deals(game, terms),
            "seed": seed,
            "seating": terms.seating,
            "stop": terms.stop,
            "workers": 1,
            "coalesce_ms": _COALESCE_MS if game.user_bots(players) else None,
            "on_fault": terms.on_fault,
            "t_response_s": settings.t_response_s,
            "t_hand_s": settings.t_hand_s,
            "t_per_hand_s": settings.t_per_hand_s,
            "start_timeout_s": settings.start_timeout_s,
            "host": host,
            "directory": settings.directory,
            # The pages and the API make hand histories from the logs on request.
            "export": [],
        }
    )
