"""Settings of a run in which a person plays against bots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bots.sdk.registry import describe, is_builtin, make_bot
from dealer.errors import ConfigError, PlayerError, SettingProblem
from dealer.match.faults import FaultPolicy
from dealer.run.choices import Command
from dealer.run.run_settings import BotSettings, RunSettings, validated
from dealer.table.players import NAME_RULE, PlayerKind, parse_player, quoting_advice
from engine import Game, Seat, Seed
from engine.errors import quoted
from engine.text import count_of
from protocol import GameDefinitionError, find_game

SEAT: Final = Seat(0)
"""Seat of the person."""
HANDS: Final = 1_000_000
"""More hands than a person plays. A person ends the match by leaving."""
_OPPONENTS: Final = ("mfs", "rembrant", "random")
"""Default opponents; the first that plays the game is taken."""
_THINKING_S: Final = 1e9
_THINKING_PER_HAND_S: Final = 1e6
"""Limits that no person reaches, and whose sum over a match still fits 64 bits."""


def table_config(
    game: str,
    bots: Sequence[BotSettings],
    *,
    name: str,
    deals: int | None = None,
    seed: Seed | None = None,
    host: str | None = None,
    directory: str | None = None,
    export: Sequence[str] | None = None,
    on_fault: FaultPolicy = FaultPolicy.RESTART,
) -> RunSettings:
    """Make the settings of a match of a person against bots.

    Args:
        game: name or path, as for `protocol.find_game`.
        bots: opponents by seat; one bot takes all seats, and none means a default opponent.
        name: name of the person.
        deals: number of deals; None to play until the person leaves.
        seed: number or key of the cards; None for a new number.
        host: address to listen on for ``tcp`` players; None for the loopback address.
        directory: folder in which commands start; None for the current one.
        export: formats of hand histories to write; None for those of `arena play`.
        on_fault: policy for faults of bots.

    Raises:
        ConfigError: the game or a bot does not exist, or the number of bots is wrong.
    """
    try:
        rules = find_game(game)[1]
    except GameDefinitionError as error:
        raise ConfigError(str(error)) from None
    num_opponents = rules.num_players - 1
    bots = bots or [BotSettings(bot=opponent_in(rules))]
    if len(bots) == 1:
        bots = [bots[0]] * num_opponents
    if len(bots) != num_opponents:
        words = [bot.bot for bot in bots]
        named = ", ".join(words)
        if len(bots) > num_opponents:
            named += f"; {quoting_advice(words)}"
        needed = f"{count_of(num_opponents, 'bot')} besides you, or one for all seats"
        raise ConfigError(f"{game} needs {needed}; {len(bots)} given: {named}")
    is_remote = any(parse_player(bot.bot, bot.directory).kind is PlayerKind.TCP for bot in bots)
    return validated(
        {
            "command": Command.TABLE,
            "games": [game],
            "bots": [_you(name), *map(_explaining, bots)],
            "deals": HANDS if deals is None else deals,
            "seed": seed,
            "host": host,
            "directory": directory,
            "export": export,
            "on_fault": on_fault,
            # A remote player may be another person, who needs time to connect.
            "start_timeout_s": 0.0 if is_remote else None,
        }
    )


def opponent_in(game: Game) -> str:
    """Return the default opponent in a game."""
    return next(name for name in _OPPONENTS if make_bot(name, 0).refusal(game) is None)


def _you(name: str) -> BotSettings:
    """Make the settings of the person's seat."""
    try:
        player = parse_player(f"{name}=tcp")
    except PlayerError:
        player = None
    if player is None or player.kind is not PlayerKind.TCP or player.name != name:
        raise ConfigError(SettingProblem("name", f"{quoted(name)} cannot be a name: {NAME_RULE}"))
    return BotSettings(
        f"{name}=tcp",
        # Without a port, no other client can take the person's seat.
        linked=True,
        t_response_s=_THINKING_S,
        t_hand_s=_THINKING_S,
        t_per_hand_s=_THINKING_PER_HAND_S,
    )


def _explaining(bot: BotSettings) -> BotSettings:
    """Name a bot, and switch on the reasons of a built-in one unless its options say otherwise."""
    player = parse_player(bot.bot, bot.directory)
    text = player.text
    if is_builtin(text):
        kind, _, options = text.partition("?")
        can_explain = any(option.name == "explain" for option in describe(kind).options)
        if can_explain and "explain" not in [item.partition("=")[0].strip() for item in options.split(",")]:
            separator = "," if options else ""
            text = f"{kind}?{options}{separator}explain=true"
    return replace(bot, bot=f"{player.name}={text}")
