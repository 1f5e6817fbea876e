"""``arena resume``: go on with a run that was interrupted, killed, or ended by a fault that has been mended."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dealer.cli.console import Terminal
from dealer.cli.options import JsonOutput, Junit, Quiet
from dealer.cli.running import run_again

__all__ = ["resume"]


def resume(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of the run.")],
    quiet: Quiet = False,
    as_json: JsonOutput = False,
    junit: Junit = None,
) -> None:
    """Go on with an interrupted run: the same cards, the same logs, the same result as if nothing had happened.

    Every match goes on behind its last whole hand, with bots started afresh.
    """
    run_again(context.ensure_object(Terminal), run, quiet=quiet, as_json=as_json, junit=junit)
