"""``arena table``: a person plays against bots, in this terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from bots.registry import describe, is_builtin, make_bot
from dealer.cli.console import Terminal, abort
from dealer.cli.sitting import play_seat, reopen_table
from dealer.cli.words import split_words
from dealer.contest.config import BotSettings, validated
from dealer.errors import PlayerError
from dealer.match.faults import FaultPolicy
from dealer.runs import new_table
from dealer.table.players import NAME_RULE, Player, PlayerKind, parse_player
from dealer.terminal_seat.sitting import Face
from engine import Game
from engine.errors import quoted
from protocol import GameDefinitionError, find_game

__all__ = ["table"]

_HANDS: Final = 1_000_000
"""More than anybody plays: a person ends a match by leaving."""
_OPPONENTS: Final = ("mfs", "rembrant", "random")
"""The first that plays a game is the opponent in it, unless another is named."""
_THINKING_S: Final = 1e9
_THINKING_PER_HAND_S: Final = 1e6
"""With these clocks nobody's time runs out; 64 bits hold the time of a match of so many hands."""


def table(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME] [BOT...]",
            help="A game (see 'arena games', or a .game file), then the other players, described as for 'arena play'; "
            "a single one takes all other seats.",
            show_default="limit, and a built-in bot that plays the game",
        ),
    ] = None,
    game: Annotated[str | None, typer.Option("--game", help="The game, if the first word does not name it.")] = None,
    name: Annotated[str, typer.Option("--name", help="Your name in logs and hand histories.")] = "hero",
    hands: Annotated[
        int | None, typer.Option("--hands", "-n", min=1, help="Hands to play.", show_default="until you leave")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of the cards.", show_default="a new one")
    ] = None,
    pause: Annotated[
        float | None,
        typer.Option(
            "--pause",
            min=0,
            max=3600,
            metavar="SECONDS",
            help="Wait so long before the next hand, instead of for Enter.",
            show_default=False,
        ),
    ] = None,
    show_all: Annotated[bool, typer.Option("--show-all", help="Show everybody's cards after each hand.")] = False,
    four_colours: Annotated[bool, typer.Option("--four-colours", help="Give every suit a colour of its own.")] = False,
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            help="Address to listen on for 'tcp' players; 0.0.0.0 admits other machines.",
            show_default="127.0.0.1",
        ),
    ] = None,
    on_fault: Annotated[
        FaultPolicy,
        typer.Option("--on-fault", help="When a bot times out, disconnects or floods, as for 'arena play'."),
    ] = FaultPolicy.RESTART,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="New or empty folder for logs and results.", show_default="a new one in runs/"),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="RUN", help="Sit down again at the table of this folder.")
    ] = None,
) -> None:
    """Play against bots yourself, in this terminal.

    You take the first seat, as one more client of the dealer: your hands are logged and exported like all others. The
    bots keep their clocks, you have none. Bots with an 'explain' option are asked for their reasons, which are shown
    with a hand that is over.
    """
    terminal = context.ensure_object(Terminal)
    face = Face(pause, show_all, four_colours)
    if resume is not None:
        if words or any(given is not None for given in (game, seed, out, hands, host)):
            abort("--resume goes on with a match as it was; leave out game, bots, --hands, --seed, --host and --out")
        play_seat(terminal, reopen_table(resume), face)
    asked = {"hands": hands or _HANDS, "seed": seed, "host": host, "on_fault": on_fault}
    play_seat(terminal, new_table(validated(_settings(words or [], game, name) | asked), out), face)


def _settings(words: list[str], game: str | None, name: str) -> dict[str, Any]:
    """What is played and by whom, as written in a configuration."""
    if game is None:
        first, bots = split_words(words)
        game = first or "limit"
    else:
        bots = words
    try:
        rules = find_game(game)[1]
    except GameDefinitionError as error:
        abort(str(error))
    others = rules.num_players - 1
    bots = bots or [_opponent(rules)]
    if len(bots) == 1:
        bots = bots * others
    if len(bots) != others:
        abort(f"{game} needs {others} bots beside you, or one for all seats; {len(bots)} given: {', '.join(bots)}")
    players = list(map(parse_player, bots))
    you = BotSettings(bot=_you(name), t_response_s=_THINKING_S, t_hand_s=_THINKING_S, t_per_hand_s=_THINKING_PER_HAND_S)
    return {
        "games": [game],
        "bots": [you, *map(_explaining, players)],
        # Other people are waited for without limit.
        "start_timeout_s": 0.0 if any(player.kind is PlayerKind.TCP for player in players) else None,
    }


def _you(name: str) -> str:
    """The person as a player."""
    try:
        player = parse_player(f"{name}=tcp")
    except PlayerError:
        player = None
    if player is None or player.kind is not PlayerKind.TCP:
        abort(f"--name: {quoted(name)} cannot be a name: {NAME_RULE}")
    return f"{player.name}=tcp"


def _opponent(game: Game) -> str:
    return next(name for name in _OPPONENTS if make_bot(name, 0).refusal(game) is None)


def _explaining(player: Player) -> BotSettings:
    """A bot with its name; a built-in one that can give its reasons is asked to, unless its options say otherwise."""
    text = player.text
    if is_builtin(text):
        bot, _, given = text.partition("?")
        can_explain = any(option.name == "explain" for option in describe(bot).options)
        if can_explain and "explain" not in [item.partition("=")[0].strip() for item in given.split(",")]:
            text = f"{bot}?{given}{',' if given else ''}explain=true"
    return BotSettings(bot=f"{player.name}={text}")
