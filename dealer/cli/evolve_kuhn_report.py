"""``arena evolve kuhn-report``: every claim of the work on Kuhn poker, with ours beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from bots.kuhn.claims.gathering import Standing
from dealer.cli.console import Terminal, check_new_file
from dealer.cli.evolve_kuhn import interruptible_work, worked_by
from dealer.cli.findings import PageFile, PageForce, show_findings, write_findings
from dealer.cli.working import duration, live_line

__all__ = ["kuhn_report"]

_WORK: Final = "Where it is computed"


def kuhn_report(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder of the runs; those that it holds are not done again.")
    ],
    seeds: Annotated[
        int, typer.Option(min=2, help="Runs of the shortest experiments; of longer ones some of a hundred are done.")
    ] = 100,
    workers: Annotated[int, typer.Option(min=1, help="Processes that do the runs.", rich_help_panel=_WORK)] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Let the workers of a dask cluster do the runs.", rich_help_panel=_WORK),
    ] = None,
    out: PageFile = None,
    force: PageForce = False,
) -> None:
    """Hold every figure of the work on Kuhn poker by genetic algorithms against runs of ours and against exact values.

    All experiments have their turn with few seeds first; an interrupted command goes on where it stopped.
    """
    terminal = context.ensure_object(Terminal)
    if out is not None:
        check_new_file(out, force)
    from bots.kuhn.claims.experiments import experiments
    from bots.kuhn.claims.gathering import gather, gathered
    from bots.kuhn.claims.report import claims_report

    with interruptible_work(folder), worked_by(workers, scheduler) as over, live_line(terminal) as line:
        gather(folder, experiments(), seeds, workers=over, show=lambda standing: line(_line(standing)))
    report = claims_report(gathered(folder, experiments(), seeds))
    show_findings(terminal, report)
    if out is not None:
        write_findings(terminal, report, out)


def _line(standing: Standing) -> str:
    left = "" if standing.left_s is None else f", {duration(standing.left_s)} left"
    return f"{standing.done:,} of {standing.runs:,} runs{left}, last {standing.name}"
