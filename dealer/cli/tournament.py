"""``arena tournament``: everyone against everyone, or one against all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.options import RunOptions, takes_run_options
from dealer.cli.running import run_new

__all__ = ["tournament"]


@takes_run_options
def tournament(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|BOT...",
            help="A TOML file that names bots and games, or the bots: built-in, or commands; NAME=BOT gives a name.",
        ),
    ],
    games: Annotated[
        list[str] | None,
        typer.Option("--game", "-g", help="A game to play; may be given several times.", show_default="limit"),
    ] = None,
    gauntlet: Annotated[
        bool, typer.Option("--gauntlet", help="The first bot meets all others, who do not meet without it.")
    ] = False,
    *,
    options: RunOptions,
) -> None:
    """Play a tournament, duplicate by default: a crosstable with intervals, and the two rankings of the ACPC."""
    settings: dict[str, Any] = options.settings() | {"command": "tournament"}
    if games:
        settings["games"] = games
    if gauntlet:
        settings["format"] = "gauntlet"
    config = options.config
    if len(words) == 1 and words[0].endswith(".toml"):
        if config is not None:
            abort(f"settings come from {words[0]} or from --config {config}, not from both")
        config = Path(words[0])
    else:
        settings["bots"] = words
    run_new(context.ensure_object(Terminal), settings, options, config=config)
