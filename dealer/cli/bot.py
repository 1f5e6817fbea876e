"""``arena bot``: connect a Python bot to a dealer."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from bots.sdk.builtin import main as play_bot
from bots.sdk.options import Wording
from dealer.cli.shell.completion import complete_bot


def bot(
    name: Annotated[
        str,
        typer.Argument(
            help="A name from 'arena bots', or a class such as my_bot.py:MyBot. Options follow '?', as in "
            "random?fold=0.1.",
            metavar="BOT",
            autocompletion=complete_bot,
        ),
    ],
    host: Annotated[str, typer.Argument(help="Host name or address of the dealer.")],
    port: Annotated[int, typer.Argument(help="Port of a seat.")],
    game: Annotated[str | None, "Name or file of the game.", Wording(otherwise="$ARENA_GAME or limit")] = None,
    seed: Annotated[int | None, "Seed of the bot's random decisions."] = None,
) -> None:
    """Connect a Python bot to any dealer that speaks the protocol."""
    # `dealer.cli.main` starts a bot without this application, except if `--` precedes the command.
    arguments = [name, host, str(port)]
    if game is not None:
        arguments += ["--game", game]
    if seed is not None:
        arguments += ["--seed", str(seed)]
    sys.exit(play_bot(arguments))
