"""``arena evolve report``: what an evolution has brought, beside what its author printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dealer.cli.console import Terminal, abort, check_new_file
from dealer.cli.findings import PageFile, PageForce, show_findings, write_findings
from dealer.cli.streams import EXIT_INTERRUPTED
from dealer.cli.working import working

__all__ = ["report"]


def report(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the finished runs.")],
    beside: Annotated[
        list[Path] | None,
        typer.Option("--beside", metavar="FOLDER", help="Compare its player with this one's, too; may be repeated."),
    ] = None,
    deals: Annotated[
        int, typer.Option("--deals", min=1, help="Deals that nothing was trained on, each played 100 times.")
    ] = 1000,
    matches: Annotated[
        int,
        typer.Option(
            "--matches",
            min=0,
            help="Deals of each match against other bots, more where it has to win at a table of ten; 0 plays none.",
        ),
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of these deals, and of the matches.")] = 20_121,
    gene_deals: Annotated[
        int, typer.Option("--gene-deals", min=1, help="Deals on which the use of the genes is counted.")
    ] = 2000,
    workers: Annotated[int, typer.Option("--workers", min=1, max=1000, help="Processes that play the matches.")] = 1,
    out_file: PageFile = None,
    force: PageForce = False,
) -> None:
    """Report on an evolution: its tables and graphs beside the printed ones, on deals never seen, against other bots.

    The graphs are on the page that --out writes.
    """
    from bots.evolved.finished import read_runs
    from bots.evolved.report import ReportSettings, evolved_report
    from bots.workers import local_workers

    terminal = context.ensure_object(Terminal)
    if out_file is not None:
        check_new_file(out_file, force)
    runs = read_runs(folder)
    others = [read_runs(path) for path in beside or ()]
    settings = ReportSettings(deals=deals, matches=matches, seed=seed, gene_deals=gene_deals)
    try:
        with working(terminal, "playing") as show:
            if workers == 1:
                found = evolved_report(runs, settings, others, show=show)
            else:
                with local_workers(workers) as over:
                    found = evolved_report(runs, settings, others, workers=over, show=show)
    except KeyboardInterrupt:
        abort("interrupted; a report is made at a stretch: the same command begins again", EXIT_INTERRUPTED)
    show_findings(terminal, found)
    if out_file is not None:
        write_findings(terminal, found, out_file)
