"""``arena evolve learner-report``: what learners win, how they learn, whom they beat and who beats them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bots.learner.experiments import ReportSettings
from dealer.cli.console import Terminal, check_new_file
from dealer.cli.findings import PageFile, PageForce, show_findings, write_findings
from dealer.cli.options import takes_options
from dealer.cli.settings import given, setting_options
from dealer.cli.spread import Scheduler, WorkerCount, gone_on_with, worked_by
from dealer.cli.working import working

__all__ = ["learner_report"]

_Options: Any = setting_options(ReportSettings)


@takes_options
def learner_report(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where what is finished is kept; made if it is not there.")
    ],
    settings: _Options,
    workers: WorkerCount = 1,
    scheduler: Scheduler = None,
    out: PageFile = None,
    force: PageForce = False,
) -> None:
    """Report on the learner: every experiment of its work, with intervals over seeds, and matches against all bots.

    The graphs of learning are on the page that --out writes. An interrupted command goes on where it stopped.
    """
    terminal = context.ensure_object(Terminal)
    from bots.learner.experiments import play_all
    from bots.learner.report import learner_report as report_of

    if out is not None:
        check_new_file(out, force)
    wanted = ReportSettings(**given(settings))
    with (
        worked_by(workers, scheduler) as over,
        gone_on_with(folder, "what is finished"),
        working(terminal, "playing") as show,
    ):
        played = play_all(wanted, folder, workers=over, show=show)
    report = report_of(wanted, played)
    show_findings(terminal, report)
    if out is not None:
        write_findings(terminal, report, out)
