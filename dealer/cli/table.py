"""``arena table``: a person plays against bots, in this terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.sitting import play_page, play_seat, reopen_table
from dealer.cli.web_extra import need_web
from dealer.cli.words import complete_word, split_words
from dealer.library import new_table
from dealer.match.faults import FaultPolicy
from dealer.person.settings import table_config
from dealer.person.terminal import Face
from dealer.run.settings import BotSettings, RunSettings


def table(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME] [BOT...]",
            autocompletion=complete_word,
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
    browser: Annotated[
        bool, typer.Option("--browser", help="Play in a browser on this machine instead of this terminal.")
    ] = False,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port of the page for --browser; 0 means any.")
    ] = 0,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="RUN", help="Sit down again at the table of this folder.")
    ] = None,
) -> None:
    """Play against bots yourself, in this terminal or in a browser.

    You take the first seat, as one more client of the dealer: your hands are logged and exported like all others. The
    bots keep their clocks, you have none. Bots with an 'explain' option are asked for their reasons, which are shown
    with a hand that is over.
    """
    terminal = context.ensure_object(Terminal)
    face = Face(pause, show_all, four_colours)
    if browser:
        need_web("--browser")
    if resume is not None:
        if words or any(given is not None for given in (game, seed, out, hands, host)):
            abort("--resume goes on with a match as it was; leave out game, bots, --hands, --seed, --host and --out")
        run = reopen_table(resume)
    else:
        asked = {"hands": hands, "seed": seed, "host": host, "on_fault": on_fault}
        run = new_table(_config(words or [], game, name, asked), out)
    if browser:
        play_page(terminal, run, port)
    play_seat(terminal, run, face)


def _config(words: list[str], game: str | None, name: str, asked: dict[str, Any]) -> RunSettings:
    """The settings of the table that the words ask for."""
    if game is None:
        first, bots = split_words(words)
        game = first or "limit"
    else:
        bots = words
    return table_config(game, [BotSettings(bot=bot) for bot in bots], name=name, **asked)
