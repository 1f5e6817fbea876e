"""``arena bench``: the speed of the dealer and of a bot."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.streams import EXIT_FAILED
from dealer.run.sentences import three_digits
from engine.errors import quoted

if TYPE_CHECKING:
    from dealer.bench import Row

app = typer.Typer(help="Measure the speed of the dealer or of a bot.", no_args_is_help=True)

_Json = Annotated[bool, typer.Option("--json", help="Print the measurements as JSON.")]


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
    as_json: _Json = False,
) -> None:
    """Hands per second and processor time per hand, ours and the reference dealer's, with the same clients."""
    from dealer.bench import measure_dealer
    from protocol import find_game

    for path in (reference_dealer, reference_player):
        if path is not None and shutil.which(path) is None:
            abort(f"{quoted(path)} is not a program that can be started")
    players = find_game(game)[1].num_players
    if players != 2:
        abort(f"--game {game}: a game of two players is measured, not one of {players}")
    rows: list[Row] = []
    with _measuring():
        for count in _counts(matches):
            rows += measure_dealer(
                reference_dealer=reference_dealer,
                reference_player=reference_player,
                game=game,
                matches=count,
                hands=max(1, hands // count),
                rounds=rounds,
            )
    show_rows(context.ensure_object(Terminal), rows, as_json=as_json)


def _counts(text: str) -> list[int]:
    """The numbers of a list; ends the command if there are others than whole ones above 0."""
    words = text.split(",")
    if not all(word.strip().isdecimal() and len(word) < 10 and int(word) for word in words):
        abort(f"--matches: must be whole numbers above 0, separated by commas, not {quoted(text)}")
    return [int(word) for word in words]


@app.command()
def bot(
    context: typer.Context,
    bot: Annotated[str, typer.Argument(metavar="BOT", help="A Python bot: its name, or file.py:Class.")],
    game: Annotated[str, typer.Option(help="The game.")] = "limit",
    hands: Annotated[int, typer.Option(min=1, help="Number of deals, each played in every seat.")] = 500,
    as_json: _Json = False,
) -> None:
    """Processor time of a bot's decisions in this process, by round: the median, and what 99 of 100 stay within."""
    from bots.errors import BotsError
    from dealer.bench import measure_bot
    from protocol import GameDefinitionError, find_game

    try:
        show_rows(context.ensure_object(Terminal), measure_bot(bot, find_game(game)[1], hands), as_json=as_json)
    except (BotsError, GameDefinitionError) as error:
        abort(str(error))


@contextlib.contextmanager
def _measuring() -> Iterator[None]:
    """End the command with exit code 1 where something cannot be measured."""
    try:
        yield
    except OSError as error:
        abort(f"{error.filename}: {error.strerror}" if error.filename else str(error), EXIT_FAILED)
    except RuntimeError as error:
        abort(str(error), EXIT_FAILED)


def show_rows(terminal: Terminal, rows: Sequence[Row], *, as_json: bool) -> None:
    """Print measurements as tables, or as JSON."""
    if as_json:
        terminal.print(json.dumps([dataclasses.asdict(row) for row in rows], indent=2))
        return
    for group in dict.fromkeys(row.group for row in rows):
        _show_group(terminal, group, [row for row in rows if row.group == group])


def _show_group(terminal: Terminal, group: str, rows: Sequence[Row]) -> None:
    head = ["who", f"median {rows[0].unit}", "lowest", "highest", "ours/theirs"]
    has_times = any(row.user_us is not None for row in rows)
    if has_times:
        head += ["user µs", "system µs", "others busy"]
    has_notes = any(row.note for row in rows)
    if has_notes:
        head.append("note")
    cells = []
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        times = [
            "" if row.user_us is None else f"{row.user_us:,.0f}",
            "" if row.system_us is None else f"{row.system_us:,.0f}",
            "" if row.others_share is None else f"{row.others_share:.0%}",
        ]
        note = [row.note] if has_notes else []
        cells.append([row.who, *map(three_digits, _figures(row)), ratio, *(times if has_times else []), *note])
    terminal.table(head, cells, title=group, texts=(len(head) - 1,) if has_notes else ())


def _figures(row: Row) -> tuple[float, float, float]:
    return row.rate_median, row.rate_low, row.rate_high
