"""``arena bench``: measure the speed of the dealer or of a bot."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Annotated

import typer

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.commands import ArenaGroup
from dealer.cli.shell.completion import complete_bot
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import DocumentOptions
from dealer.cli.shell.streams import EXIT_FAILED
from engine.errors import quoted

if TYPE_CHECKING:
    from dealer.bench import Row

app = typer.Typer(cls=ArenaGroup, help="Measure the speed of the dealer or of a bot.", no_args_is_help=True)


@app.command()
def dealer(
    terminal: Terminal,
    reference_dealer: Annotated[str | None, "Path of the reference dealer."] = None,
    reference_player: Annotated[
        str | None, "A client started as PLAYER GAME HOST PORT.", Wording(otherwise="our random bot")
    ] = None,
    matches: Annotated[str, "Numbers of simultaneous matches, separated by commas."] = "1,32",
    game: Annotated[str, "A game of two players."] = "limit",
    hands: Annotated[int, "Total number of hands, shared among the matches.", Interval(1)] = 19200,
    rounds: Annotated[int, "Number of measurements of each dealer.", Interval(1)] = 5,
    *,
    output: DocumentOptions,
) -> None:
    """Measure hands per second and processor time per hand. Ours and the reference dealer serve the same clients."""
    from dealer.bench import measure_dealer, speed_document
    from protocol import find_game

    for path in (reference_dealer, reference_player):
        if path is not None and shutil.which(path) is None:
            abort(f"{quoted(path)} is not a program that can be started")
    players = find_game(game)[1].num_players
    if players != 2:
        abort(f"--game {game}: the game must have two players, not {players}")
    rows: list[Row] = []
    try:
        for count in _counts(matches):
            rows += measure_dealer(
                reference_dealer=reference_dealer,
                reference_player=reference_player,
                game=game,
                matches=count,
                hands=max(1, hands // count),
                rounds=rounds,
            )
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        abort(problem, EXIT_FAILED)
    except RuntimeError as error:
        abort(str(error), EXIT_FAILED)
    output.show(terminal, speed_document("Speed of the dealer", rows))


def _counts(text: str) -> list[int]:
    counts = []
    for word in text.split(","):
        is_number = word.strip().isdecimal() and len(word) < 10
        if not is_number or int(word) == 0:
            abort(f"--matches: must be whole numbers above 0, separated by commas, not {quoted(text)}")
        counts.append(int(word))
    return counts


@app.command()
def bot(
    terminal: Terminal,
    bot: Annotated[
        str,
        typer.Argument(
            metavar="BOT", autocompletion=complete_bot, help="A bot of 'arena bots', FILE.py:CLASS, or a command."
        ),
    ],
    game: Annotated[str, "The game."] = "limit",
    deals: Annotated[int, "Deals to play, each once in every seat.", Interval(1), Wording(flags="-n")] = 500,
    *,
    output: DocumentOptions,
) -> None:
    """Measure the time of a bot's decisions by round: the median and the 99th percentile.

    For a Python bot it is processor time in this process, for a command the time from a question to its reply.
    """
    from dealer.bench import measure_bot, speed_document
    from protocol import find_game

    rows = measure_bot(bot, find_game(game)[1], deals)
    output.show(terminal, speed_document(f"decisions of {bot}", rows))
