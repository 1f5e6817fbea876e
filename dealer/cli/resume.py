"""``arena resume``: go on with a run that was interrupted, killed, or ended by a fault that has been fixed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dealer.cli.console import Terminal, check_writable
from dealer.cli.options import JsonOutput, Junit, Quiet, RunOptions, Verbose
from dealer.cli.running import play_and_show
from dealer.library import reopen

__all__ = ["resume"]


def resume(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of the run.")],
    quiet: Quiet = False,
    as_json: JsonOutput = False,
    junit: Junit = None,
    verbose: Verbose = False,
) -> None:
    """Go on with an interrupted run: the same cards, logs and result as if it had not been interrupted.

    Every match continues after its last complete hand, with bots started afresh.
    """
    check_writable(junit)
    options = RunOptions(quiet=quiet, as_json=as_json, junit=junit, verbose=verbose)
    play_and_show(context.ensure_object(Terminal), reopen(run), options)
