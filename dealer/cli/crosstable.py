"""``arena crosstable``: the tables of a tournament for papers, pages and programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from bots.sdk.options import Wording
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.sources import run_argument
from dealer.reports.result_documents import crosstable as crosstable_of
from dealer.reports.result_documents import pairs_table, rankings
from dealer.run.results import TournamentResult, read_result
from logs.document.plain import csv_text, latex_table, markdown_table


def crosstable(
    terminal: Terminal,
    run: Annotated[
        Path,
        run_argument(metavar="RUN", help="The folder of a tournament, or its result.json."),
    ],
    form: Annotated[
        Literal["csv", "markdown", "latex"], "How the tables are written.", Wording(flags="--format -f")
    ] = "markdown",
) -> None:
    """Print the crosstable of a tournament: in mbb/g with 95 % intervals, and both rankings.

    CSV has a line per bot and opponent, and one without an opponent for the mean; it has no rankings.
    """
    result = read_result(run)
    if not isinstance(result, TournamentResult):
        abort(f"{run} is not a tournament; a match has no crosstable")
    write = {"csv": csv_text, "markdown": markdown_table, "latex": latex_table}[form]
    tables = [pairs_table(result.standings)]
    if form != "csv":
        ranked = [standings for standings in result.standings if standings.total_bankroll]
        tables = [table for standings in ranked for table in (crosstable_of(standings), rankings(standings))]
    terminal.print("\n".join(map(write, tables)).rstrip("\n"))
