"""``arena resume``: continue a run that was interrupted, killed, or ended by a fault."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.command_options import JsonOutput, Junit, Quiet, RunOptions, Scheduler, Verbose
from dealer.cli.shell.computations import workers_from
from dealer.cli.shell.console import Terminal, abort, check_writable
from dealer.cli.shell.contests import check_logs, check_scheduler, play_and_show
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.sources import run_argument
from dealer.cli.table import play_seat
from dealer.reports.run_lists import unfinished_document
from dealer.run.choices import Command
from dealer.run.run import Run, reopen


def resume(
    terminal: Terminal,
    run: Annotated[
        Path | None,
        run_argument(metavar="RUN", help="Folder of the run.", show_default="list the unfinished ones in runs/"),
    ] = None,
    deals: Annotated[
        int | None,
        "Total number of deals, more than before.",
        Interval(1),
        Wording(flags="-n", otherwise="as before"),
    ] = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    as_json: JsonOutput = False,
    junit: Junit = None,
    verbose: Verbose = False,
) -> None:
    """Resume an interrupted run. Its logs and result equal those of an uninterrupted run.

    Every match continues after its last complete hand, with newly started bots. A finished run stays unchanged, unless
    --deals asks for more. Logs that disagree with the seed and the rules are refused, with file and line.
    """
    if run is None:
        if deals is not None or junit is not None or scheduler is not None:
            abort("name the folder of a run; 'arena resume' alone lists those that have not finished")
        show_document(terminal, unfinished_document(), as_json=as_json)
        return
    check_writable(junit)
    reopened: Run[Any] = reopen(run, deals)
    if reopened.is_table:
        if quiet or as_json or junit is not None or verbose or scheduler is not None:
            options_text = "--scheduler, --quiet, --json, --junit and --verbose"
            abort(f"a match at a table is played in the terminal; leave out {options_text}")
        play_seat(terminal, reopened)
    if reopened.finished is not None:
        check_logs(terminal, reopened)
        terminal.note(f"{run} has finished and stays unchanged; 'arena resume {run} -n DEALS' plays more deals.")
    options = RunOptions(quiet=quiet, as_json=as_json, junit=junit, verbose=verbose)
    if scheduler is not None and reopened.plan.command is not Command.TOURNAMENT:
        abort(f"--scheduler is for tournaments, and {run} holds one contest; leave it out")
    check_scheduler(reopened.plan.score, scheduler)
    with workers_from(1, scheduler) as cluster:
        play_and_show(terminal, reopened, options, cluster)
