"""``arena bench``: the speed of the dealer and of a bot."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from dealer.cli.commands import ArenaGroup
from dealer.cli.console import Terminal, abort
from dealer.cli.options import Json
from dealer.cli.streams import EXIT_FAILED
from dealer.run.sentences import three_digits
from engine.errors import quoted
from logs.document import TEXT, Column, Table

if TYPE_CHECKING:
    from dealer.bench import Row

app = typer.Typer(cls=ArenaGroup, help="Measure the speed of the dealer or of a bot.", no_args_is_help=True)


@app.command()
def dealer(
    context: typer.Context,
    reference_dealer: Annotated[str | None, typer.Option(help="Path of the reference dealer.")] = None,
    reference_player: Annotated[
        str | None,
        typer.Option(help="A client started as PLAYER GAME HOST PORT.", show_default="our random bot"),
    ] = None,
    matches: Annotated[str, typer.Option(help="Numbers of simultaneous matches, separated by commas.")] = "1,32",
    game: Annotated[str, typer.Option(help="A game of two players.")] = "limit",
    hands: Annotated[int, typer.Option(min=1, help="Total number of hands, shared among the matches.")] = 19200,
    rounds: Annotated[int, typer.Option(min=1, help="Number of measurements of each dealer.")] = 5,
    as_json: Json = False,
) -> None:
    """Hands per second and processor time per hand: ours and the reference dealer's, with the same clients."""
    from dealer.bench import measure_dealer
    from protocol import find_game

    for path in (reference_dealer, reference_player):
        if path is not None and shutil.which(path) is None:
            abort(f"{quoted(path)} is not a program that can be started")
    players = find_game(game)[1].num_players
    if players != 2:
        abort(f"--game {game}: a game of two players is measured, not one of {players}")
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
        abort(f"{error.filename}: {error.strerror}" if error.filename else str(error), EXIT_FAILED)
    except RuntimeError as error:
        abort(str(error), EXIT_FAILED)
    show_rows(context.ensure_object(Terminal), rows, as_json=as_json)


def _counts(text: str) -> list[int]:
    words = text.split(",")
    if not all(word.strip().isdecimal() and len(word) < 10 and int(word) for word in words):
        abort(f"--matches: must be whole numbers above 0, separated by commas, not {quoted(text)}")
    return [int(word) for word in words]


@app.command()
def bot(
    context: typer.Context,
    bot: Annotated[str, typer.Argument(metavar="BOT", help="A Python bot: its name, or file.py:Class.")],
    game: Annotated[str, typer.Option(help="The game.")] = "limit",
    deals: Annotated[int, typer.Option("--deals", "-n", min=1, help="Deals to play, each once in every seat.")] = 500,
    as_json: Json = False,
) -> None:
    """Processor time of a bot's decisions in this process, by round: the median, and what 99 of 100 stay within."""
    from dealer.bench import measure_bot
    from protocol import find_game

    show_rows(context.ensure_object(Terminal), measure_bot(bot, find_game(game)[1], deals), as_json=as_json)


def show_rows(terminal: Terminal, rows: Sequence[Row], *, as_json: bool) -> None:
    """Print measurements as tables, or as JSON."""
    if as_json:
        terminal.json([dataclasses.asdict(row) for row in rows])
        return
    for group in dict.fromkeys(row.group for row in rows):
        _show_group(terminal, group, [row for row in rows if row.group == group])


def _show_group(terminal: Terminal, group: str, rows: Sequence[Row]) -> None:
    columns = (
        "who",
        f"median {rows[0].unit}",
        Column("lowest", ",", rank=2),
        Column("highest", ",", rank=2),
        Column("ours/theirs", ",", rank=1),
        Column("user µs", ",", rank=4),
        Column("system µs", ",", rank=4),
        Column("others busy", ",", rank=4),
        Column("note", format=TEXT, rank=3),
    )
    cells = (
        (
            row.who,
            *map(three_digits, (row.rate_median, row.rate_low, row.rate_high)),
            "" if row.ratio is None else f"{row.ratio:.2f}",
            *("" if time_us is None else f"{time_us:,.0f}" for time_us in (row.user_us, row.system_us)),
            "" if row.others_share is None else f"{row.others_share:.0%}",
            row.note,
        )
        for row in rows
    )
    terminal.table(Table.of(group, columns, cells).without_empty())
