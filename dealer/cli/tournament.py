"""``arena tournament``: play a round robin or a gauntlet."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from dealer.cli.shell.arguments import split_words
from dealer.cli.shell.command_options import RunOptions, Scheduler, TypedOptions
from dealer.cli.shell.completion import complete_word
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.contests import run_new
from dealer.run.choices import Command, Format
from dealer.run.run_settings import RunSettings


def tournament(
    terminal: Terminal,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|[GAME...] BOT...",
            help="A TOML file with bots and games; or games (by default limit), then bots, each as in 'arena play'. "
            "NAME=BOT gives a name.",
            autocompletion=complete_word,
        ),
    ],
    gauntlet: Annotated[bool, "Let the first bot meet all others, who do not meet each other."] = False,
    scheduler: Scheduler = None,
    *,
    settings: Annotated[TypedOptions, RunSettings],
    options: RunOptions,
) -> None:
    """Play a tournament and print its crosstable and both ACPC rankings.

    The same cards are played again with the seats rotated.
    """
    settings |= options.seating
    if gauntlet:
        settings["format"] = Format.GAUNTLET
    if len(words) == 1 and words[0].endswith(".toml"):
        if options.config is not None:
            abort(f"settings come from {words[0]} or from --config {options.config}; leave one out")
        options = replace(options, config=Path(words[0]))
    elif len(words) == 1 and os.path.isfile(words[0]) and not words[0].endswith(".game"):
        abort(f"{words[0]!r} is one bot; a file that describes a tournament ends in .toml, or is given with --config")
    else:
        settings |= split_words(words)
    run_new(terminal, Command.TOURNAMENT, settings, options, scheduler)
