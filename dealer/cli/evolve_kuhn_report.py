"""``arena evolve kuhn-report``: every claim of the work on Kuhn poker, with ours beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bots.kuhn.claims.gathering import Standing
from dealer.cli.console import Terminal, check_new_file
from dealer.cli.findings import PageFile, PageForce, show_findings, write_findings
from dealer.cli.spread import WorkerCount, gone_on_with, worked_by
from dealer.cli.working import duration, live_line

__all__ = ["kuhn_report"]


def kuhn_report(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder of the runs; those that it holds are not done again.")
    ],
    seeds: Annotated[
        int, typer.Option(min=2, help="Runs of an experiment; of long ones a fifth or a twentieth are done.")
    ] = 100,
    workers: WorkerCount = 1,
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

    with (
        worked_by(workers) as over,
        gone_on_with(folder, "what is finished"),
        live_line(terminal) as line,
    ):
        gather(folder, experiments(), seeds, workers=over, show=lambda standing: line(_line(standing)))
    report = claims_report(gathered(folder, experiments(), seeds))
    show_findings(terminal, report)
    if out is not None:
        write_findings(terminal, report, out)


def _line(standing: Standing) -> str:
    left = "" if standing.left_s is None else f", {duration(standing.left_s)} left"
    return f"{standing.done:,} of {standing.runs:,} runs{left}, last {standing.name}"
