"""A table as a person asks for it, as the settings of a run: the person, then the bots, asked for their reasons."""

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
"""The person's."""
HANDS: Final = 1_000_000
"""More than a person plays: a person ends a match by leaving."""
_OPPONENTS: Final = ("mfs", "rembrant", "random")
"""The first that plays a game is the opponent in it, unless another is named."""
_THINKING_S: Final = 1e9
_THINKING_PER_HAND_S: Final = 1e6
"""With these clocks no clock runs out; 64 bits hold the time of a match of so many hands."""


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
    """The settings of a match of a person against bots.

    Args:
        game: as for `protocol.find_game`.
        bots: the others, by seat; a single one takes all other seats; without any, one that plays the game.
        name: the person's.
        deals: to play; None until the person leaves.
        seed: of the cards, a number or a key; None for a new number.
        host: address to listen on for ``tcp`` players; None for this machine alone.
        directory: the folder where commands start; None for the present one.
        export: the formats of hand histories to write; None for what `arena play` writes.
        on_fault: what becomes of a bot that fails.

    Raises:
        ConfigError: there is no such game or bot, or not one for each seat.
    """
    try:
        rules = find_game(game)[1]
    except GameDefinitionError as error:
        raise ConfigError(str(error)) from None
    others = rules.num_players - 1
    bots = bots or [BotSettings(bot=opponent_in(rules))]
    if len(bots) == 1:
        bots = [bots[0]] * others
    if len(bots) != others:
        words = [bot.bot for bot in bots]
        named = ", ".join(words)
        if len(bots) > others:
            named += f"; {quoting_advice(words)}"
        raise ConfigError(
            f"{game} needs {count_of(others, 'bot')} besides you, or one for all seats; {len(bots)} given: {named}"
        )
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
            # Other people are waited for without limit.
            "start_timeout_s": 0.0 if is_remote else None,
        }
    )


def opponent_in(game: Game) -> str:
    """The built-in bot that a person meets in a game unless another is named."""
    return next(name for name in _OPPONENTS if make_bot(name, 0).refusal(game) is None)


def _you(name: str) -> BotSettings:
    """The person as a player."""
    try:
        player = parse_player(f"{name}=tcp")
    except PlayerError:
        player = None
    if player is None or player.kind is not PlayerKind.TCP or player.name != name:
        raise ConfigError(SettingProblem("name", f"{quoted(name)} cannot be a name: {NAME_RULE}"))
    return BotSettings(
        f"{name}=tcp",
        # The seat is the person's alone, without a port that another client could find.
        linked=True,
        t_response_s=_THINKING_S,
        t_hand_s=_THINKING_S,
        t_per_hand_s=_THINKING_PER_HAND_S,
    )


def _explaining(bot: BotSettings) -> BotSettings:
    """A bot with its name; a built-in one that can give its reasons is asked to, unless its options say otherwise."""
    player = parse_player(bot.bot, bot.directory)
    text = player.text
    if is_builtin(text):
        kind, _, given = text.partition("?")
        can_explain = any(option.name == "explain" for option in describe(kind).options)
        if can_explain and "explain" not in [item.partition("=")[0].strip() for item in given.split(",")]:
            text = f"{kind}?{given}{',' if given else ''}explain=true"
    return replace(bot, bot=f"{player.name}={text}")
