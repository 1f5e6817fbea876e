"""``arena play``: play a match and report the winner with a confidence interval."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from dealer.cli.shell.arguments import split_words
from dealer.cli.shell.command_options import RunOptions, TypedOptions
from dealer.cli.shell.completion import complete_word
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.contests import run_new
from dealer.run.choices import Command
from dealer.run.run_settings import RunSettings


def play(
    terminal: Terminal,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME] [BOT...]",
            help="A game, then a player per seat: a game of 'arena games' or a .game file; a bot of 'arena bots', "
            "FILE.py:CLASS or MODULE:CLASS, a command that is started with host and port as its last arguments, or "
            "'tcp'. NAME=BOT gives a name.",
            show_default="limit raising random",
            autocompletion=complete_word,
        ),
    ] = None,
    *,
    watch: Annotated[bool, "Show the match in the browser while it is played."] = False,
    no_browser: Annotated[bool, "With --watch, print the address only, and open no browser."] = False,
    plan: Annotated[
        bool,
        "Estimate how many deals --stop is likely to need. The estimate, which includes their time, is based on a "
        "pilot of 1,000 deals or 30 seconds, whose files are not kept.",
    ] = False,
    settings: Annotated[TypedOptions, RunSettings],
    options: RunOptions,
) -> None:
    """Play a match and report the winner with a confidence interval.

    Every bot is a process of its own, connected over TCP. The same cards are played again with the seats rotated.
    Without arguments, two built-in bots play limit hold'em.
    """
    observer = None
    preview = None
    if plan:
        from dealer.cli.shell.pilot import show_plan

        preview = partial(show_plan, terminal, is_silent=options.quiet, as_json=options.as_json)
    elif watch:
        from dealer.cli.shell.pages import pages_during, require_web

        require_web()
        observer = partial(pages_during, terminal, opens_browser=not no_browser)
    run_settings = options.seating | settings | split_words(words or [])
    run_new(terminal, Command.PLAY, run_settings, options, observer=observer, preview=preview)
