"""``arena evolve learner-report``: what learners win, how they learn, whom they beat and who beats them."""

from __future__ import annotations

from typing import Any

import typer

from bots.learner.experiments import ReportSettings
from dealer.cli.console import Terminal, abort, check_new_file
from dealer.cli.findings import PageFile, PageForce, show_findings, write_findings
from dealer.cli.options import takes_options
from dealer.cli.settings import given, setting_options
from dealer.cli.streams import EXIT_INTERRUPTED
from dealer.cli.working import working

__all__ = ["learner_report"]

_Options: Any = setting_options(ReportSettings)


@takes_options
def learner_report(context: typer.Context, settings: _Options, out: PageFile = None, force: PageForce = False) -> None:
    """Report on the learner: every experiment of its work, with intervals over seeds, and matches against all bots.

    The graphs of learning are on the page that --out writes.
    """
    terminal = context.ensure_object(Terminal)
    from bots.learner.experiments import play_all
    from bots.learner.report import learner_report as report_of

    if out is not None:
        check_new_file(out, force)
    wanted = ReportSettings(**given(settings))
    try:
        with working(terminal, "playing") as show:
            report = report_of(wanted, play_all(wanted, show))
    except KeyboardInterrupt:
        abort("interrupted; a report is made at a stretch: the same command begins again", EXIT_INTERRUPTED)
    show_findings(terminal, report)
    if out is not None:
        write_findings(terminal, report, out)
