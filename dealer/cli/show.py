"""``arena show``: print the result of a run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dealer.cli.shell.command_options import IntervalOption, JsonOutput, Quiet
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.contests import check_logs
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.sources import run_argument
from dealer.errors import ConfigError
from dealer.reports.result_documents import result_document
from dealer.run.choices import ShownInterval
from dealer.run.folder import CONFIG_NAME, RESULT_NAME, is_busy
from dealer.run.results import read_result
from dealer.run.run import reopen


def show(
    terminal: Terminal,
    run: Annotated[
        Path,
        run_argument(metavar="[RUN]", help="Folder of a run; 'last-1' is the one before the last."),
    ] = "last",  # type: ignore[assignment]
    interval: IntervalOption = ShownInterval.USUAL,
    quiet: Quiet = False,
    as_json: JsonOutput = False,
) -> None:
    """Print the result of a run again.

    Logs that disagree with the seed and the rules are refused, with file and line.
    """
    if (run / CONFIG_NAME).exists() and not (run / RESULT_NAME).exists():
        if is_busy(run):
            abort(f"{run} is being played; 'arena watch {run}' shows its scores")
        abort(f"{run} has no result; 'arena resume {run}' continues a run that was interrupted")
    result = read_result(run)
    if (run / CONFIG_NAME).exists():
        try:
            reopened = reopen(run)
        except ConfigError as error:
            terminal.note(f"The logs were not checked, because the run cannot be resumed: {error}")
        else:
            check_logs(terminal, reopened)
    show_document(terminal, result_document(result, interval=interval), as_json=as_json, quiet=quiet)
