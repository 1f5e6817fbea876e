"""``arena crosstable``: the tables of a tournament for papers, pages and programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.runs import run_argument
from dealer.run.crosstable import TableFormat, standings_text
from dealer.run.results import TournamentResult, read_result


def crosstable(
    context: typer.Context,
    run: Annotated[
        Path,
        run_argument(metavar="RUN", help="The folder of a tournament, or its result.json."),
    ],
    form: Annotated[
        TableFormat, typer.Option("--format", "-f", help="How the tables are written.")
    ] = TableFormat.MARKDOWN,
) -> None:
    """Print the crosstable of a tournament: in mbb/g with 95 % intervals, and both rankings.

    CSV has a line per bot and opponent, and one without an opponent for the mean; it has no rankings.
    """
    result = read_result(run)
    if not isinstance(result, TournamentResult):
        abort(f"{run} is not a tournament; a match has no crosstable")
    standings = [one for one in result.standings if one.total_bankroll]
    texts = [standings_text(one, form) for one in standings]
    if form is TableFormat.CSV:
        texts = texts[:1] + [text.split("\n", 1)[1] for text in texts[1:]]
    terminal = context.ensure_object(Terminal)
    terminal.print(("" if form is TableFormat.CSV else "\n").join(texts).rstrip("\n"))
