"""The server's own bots as players of runs: what their processes are given, and what they are confined to.

Whatever starts such a bot (the text port, the HTTP interface, the pages, the ladder, a table with people, Slumbot's
interface) takes its settings from `process_settings`. Runs of an earlier start are played on with the limits that are
set now: `confine_again`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bots.sdk.program import SERVER_VARIABLE
from dealer.errors import ConfigError
from dealer.run.folder import CONFIG_NAME
from dealer.run.settings import BotSettings, RunSettings, read_config, validated
from dealer.server.db.store import Store
from dealer.server.settings import ServerBot, ServerGame, ServerSettings, most_deals, player_name
from engine import Seed
from logs.whole_file import write_whole
from protocol.benchmark import OWN_SEAT
from protocol.joining import ContestTerms

_log = logging.getLogger(__name__)

_COALESCE_MS = 250.0
"""How long lines for a user's bot that is not to act are held: most of them then leave with the next question."""
_LIMITS = ("user", "memory_mb", "cpu_s")


def process_environment(folder: Path) -> dict[str, str]:
    """The variables that every process of the server in a folder gets."""
    return {SERVER_VARIABLE: str(folder.absolute())}


def process_settings(
    settings: ServerSettings, bots: Sequence[ServerBot], environment: Mapping[str, str]
) -> list[BotSettings]:
    """The bots of a run that the server starts, as settings of the run.

    Args:
        environment: variables for their processes, besides those of the bots' own settings.
    """
    found = []
    for position, bot in enumerate(bots):
        changes: dict[str, Any] = {
            name: getattr(bot.settings, name) or getattr(settings, f"bot_{name}") or None for name in _LIMITS
        }
        if settings.tells_position:
            changes["arguments"] = (str(position),)
        changes["bot"] = f"{player_name(bot.name)}={bot.settings.bot}"
        changes["environment"] = {**bot.settings.environment, **environment}
        found.append(replace(bot.settings, **changes))
    return found


def confine_again(settings: ServerSettings, folder: Path, store: Store) -> None:
    """Give the bots of unfinished runs and open tables the limits that are configured now, before any is started."""
    environment = process_environment(folder)
    for row in store.read(
        "SELECT runs.folder, runs.game, jobs.players FROM runs JOIN jobs ON jobs.id = job WHERE runs.state = 'running'"
    ):
        path = folder / row["folder"] / CONFIG_NAME
        game = settings.game(row["game"])
        if game is None or not path.is_file():
            continue
        try:
            config = validated(read_config(path), str(path))
            bots = list(config.bots)
            for seat, player in enumerate(json.loads(row["players"])[: len(bots)]):
                if (bot := game.bot(player)) is not None:
                    (now,) = process_settings(settings, [bot], environment)
                    changes = {name: getattr(now, name) for name in (*_LIMITS, "environment")}
                    bots[seat] = replace(bots[seat], **changes)
            if tuple(bots) != config.bots:
                write_whole(path, replace(config, bots=tuple(bots)).to_toml())
        except (ConfigError, OSError) as error:
            # It is reported again, with its run, when that is to be played on.
            _log.error("%s: %s", path, error)


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
    own = [bot for player in players if (bot := game.bot(player)) is not None]
    started = iter(process_settings(settings, own, environment or {}))
    bots = []
    for player in players:
        if game.bot(player) is not None:
            bots.append(next(started))
            continue
        if player == OWN_SEAT:
            bots.append(BotSettings(bot=f"{player_name(user)}=tcp", address=own_address))
        else:
            bots.append(BotSettings(bot=f"{player_name(player)}=tcp", linked=True))
    return validated(
        {
            "games": [game.path],
            "bots": list(bots),
            "deals": most_deals(game, terms),
            "seed": seed,
            "seating": terms.seating,
            "stop": terms.stop,
            "workers": 1,
            "coalesce_ms": _COALESCE_MS if game.users_bots(players) else None,
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
