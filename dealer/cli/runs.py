"""``arena runs``: list the runs in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from bots.sdk.options import Wording
from dealer.cli.shell.command_options import Json
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import show_document
from dealer.reports.run_lists import FOLDER, runs_document

_MAX_SHOWN: Final = 20


def runs(
    terminal: Terminal,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Folder that holds runs.")] = FOLDER,
    every: Annotated[bool, f"List every run, not only the newest {_MAX_SHOWN}.", Wording(flags="--all -a")] = False,
    as_json: Json = False,
) -> None:
    """List the runs in a folder, newest first: start, players and result.

    The players of a run with a result are in the order of their winnings; 'lead' is the win rate of the first.
    """
    if folder != FOLDER and not folder.is_dir():
        abort(f"{folder}: there is no such folder")
    max_runs = None if every else _MAX_SHOWN
    show_document(terminal, runs_document(folder, max_runs), as_json=as_json)
