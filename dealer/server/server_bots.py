"""The server's own bots as players of runs: what their processes are given, and what they are confined to.

Whatever starts such a bot (the text port, the HTTP interface, the pages, the ladder, a table with people, Slumbot's
interface) takes its settings from `seated_bots`. Runs of an earlier start are played on with the limits that are
set now: `update_config`.
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
"""How long lines for a user's bot that is not to act are held: most of them then leave with the next question."""
_LIMITS = ("user", "memory_mb", "cpu_s")


def process_environment(folder: Path) -> dict[str, str]:
    """The variables that every process of the server in a folder gets."""
    return {SERVER_VARIABLE: str(folder.absolute())}


def seated_bots(
    settings: ServerSettings, game: ServerGame, players: Sequence[str], environment: Mapping[str, str]
) -> list[BotSettings]:
    """The players of a run, by seat, as settings of the run: those that the server starts, and bots of users.

    Args:
        players: names of the server's own bots, or of users' bots.
        environment: variables for the processes, besides those of the bots' own settings.
    """
    found = []
    positions = itertools.count()
    for player in players:
        bot = game.bots.get(player)
        if bot is None:
            found.append(BotSettings(bot=f"{player_name(player)}=tcp", linked=True))
            continue
        changes = _confinement(settings, bot, environment)
        if settings.passes_position:
            changes["arguments"] = (str(next(positions)),)
        found.append(replace(bot, bot=f"{player_name(player)}={bot.bot}", **changes))
    return found


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
    """Have a run of an earlier start, whose settings are in a file, be played on with what is configured now.

    Its bots get the limits of today. Clients' own agents come to where the server listens now.

    Args:
        own_address: from where these have to come; None for anywhere.

    Raises:
        ConfigError: the file is not of such a run.
        OSError: it cannot be read or written.
    """
    config = validated(read_config(path), str(path))
    if len(config.bots) != len(players):
        raise ConfigError(f"it has {count_of(len(config.bots), 'bot')}, and {len(players)} play", source=str(path))
    changes = [
        _confinement(settings, game.bots[player], environment)
        if player in game.bots
        else {"address": own_address if player == OWN_SEAT else None}
        for player in players
    ]
    bots = tuple(replace(bot, **change) for bot, change in zip(config.bots, changes, strict=True))
    # A person at a table is linked, and comes to no port.
    is_awaited = any(player == OWN_SEAT and not bot.linked for player, bot in zip(players, bots, strict=True))
    adjusted = replace(config, bots=bots, host=settings.host if is_awaited else config.host)
    if adjusted != config:
        write_whole(path, adjusted.to_toml())


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
    """What `arena play` would be asked for to play one run of a request.

    Args:
        players: by seat, names of the server's own bots, of users' bots, or `OWN_SEAT`.
        terms: how it is played; the seed in it does not count.
        own_address: from where clients' own agents have to come; None for anywhere.
        environment: variables that the processes of the server's own bots get.

    Raises:
        ConfigError: a setting is not valid.
    """
    own_agent = BotSettings(bot=f"{player_name(user)}=tcp", address=own_address)
    bots = [
        own_agent if player == OWN_SEAT else bot
        for player, bot in zip(players, seated_bots(settings, game, players, environment or {}), strict=True)
    ]
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
            # Clients' own agents come to where the server listens; all others are on this machine.
            "host": settings.host if OWN_SEAT in players else "127.0.0.1",
            "directory": settings.directory,
            # `arena export`, the pages and the interface make hand histories of the logs when they are asked for.
            "export": [],
        }
    )
