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
            help="A name that 'arena bots' lists, or a class: my_bot.py:MyBot. Options follow '?': random?fold=0.1",
            metavar="BOT",
            autocompletion=complete_bot,
        ),
    ],
    host: Annotated[str, typer.Argument(help="The dealer's address.")],
    port: Annotated[int, typer.Argument(help="The port of a seat.")],
    game: Annotated[str | None, "Name or file of the game.", Wording(otherwise="$ARENA_GAME or limit")] = None,
    seed: Annotated[int | None, "Seed of the bot's random decisions."] = None,
) -> None:
    """Connect a Python bot to any dealer that speaks the protocol."""
    # `dealer.cli.main` starts a bot without this application, unless `--` stands before the command.
    arguments = [name, host, str(port)]
    arguments += [] if game is None else ["--game", game]
    arguments += [] if seed is None else ["--seed", str(seed)]
    sys.exit(play_bot(arguments))
