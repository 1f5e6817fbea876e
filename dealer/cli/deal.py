"""``arena deal``: deal a match to clients that connect by themselves."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from dealer.cli.shell.command_options import RunOptions, TypedOptions
from dealer.cli.shell.completion import complete_game, complete_player
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.contests import run_new
from dealer.run.choices import Command, Seating
from dealer.run.run_settings import RunSettings
from protocol import find_game

# People need time to connect, and a client that was started by hand plays one seat of one match.
_DEFAULTS: Final[dict[str, Any]] = {"start_timeout_s": 300.0, "deals": 1000, "seating": Seating.SINGLE, "workers": 1}
_HELP_DEFAULTS: Final = {
    "deals": "1000; with a stop rule 1000000",
    "start_timeout_s": "300",
    "workers": "1",
}
"""Defaults as the help shows them."""


def deal(
    terminal: Terminal,
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A game's name or a .game file.", autocompletion=complete_game)
    ],
    seats: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SEAT...]",
            help="A bot, a command, or 'tcp' (the default for every seat).",
            autocompletion=complete_player,
        ),
    ] = None,
    *,
    settings: Annotated[TypedOptions, RunSettings, _HELP_DEFAULTS],
    options: Annotated[RunOptions, {"duplicate": "off"}],
) -> None:
    """Deal a match to clients that connect to its ports, one per seat."""
    players = find_game(game)[1].num_players
    arguments = {"games": [game], "bots": seats or ["tcp"] * players}
    run_new(terminal, Command.PLAY, options.seating | settings | arguments, options, defaults=_DEFAULTS)
