"""``arena crosstable``: print the tables of a tournament for papers, pages and programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from bots.sdk.options import Wording
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.sources import run_argument
from dealer.reports.result_documents import crosstable as crosstable_of
from dealer.reports.result_documents import pairs_table, rankings
from dealer.reports.winner_map import winner_map
from dealer.run.results import TournamentResult, read_result
from logs.document import Document, Section
from logs.document.plain import csv_text, latex_table, markdown_table
from protocol.game_definition import short_name


def crosstable(
    terminal: Terminal,
    run: Annotated[
        Path,
        run_argument(metavar="RUN", help="Folder of a tournament, or its result.json."),
    ],
    form: Annotated[
        Literal["csv", "markdown", "latex", "svg"] | None,
        "Format of the tables.",
        Wording(flags="--format -f", otherwise="tables in a terminal, otherwise markdown"),
    ] = None,
) -> None:
    """Print the crosstable of a tournament in mbb/g, and both rankings.

    CSV has a row per bot and opponent, and one without an opponent for the mean, but no rankings. SVG is a map with an
    arrow from each bot to those that it beats.
    """
    result = read_result(run)
    if not isinstance(result, TournamentResult):
        abort(f"{run} is not a tournament; a match has no crosstable")
    if form == "csv":
        terminal.print(csv_text(pairs_table(result.standings)), end="")
        return
    ranked = [standings for standings in result.standings if standings.total_bankroll]
    if form == "svg":
        terminal.print(winner_map(ranked))
        return
    if form is None and terminal.out.is_terminal:
        sections = []
        for standings in ranked:
            sections.append(Section(short_name(standings.game), (crosstable_of(standings), rankings(standings))))
        show_document(terminal, Document("", sections=tuple(sections)))
        return
    format_table = latex_table if form == "latex" else markdown_table
    texts = []
    for standings in ranked:
        texts.append(format_table(crosstable_of(standings)))
        texts.append(format_table(rankings(standings)))
    terminal.print("\n".join(texts).rstrip("\n"))
