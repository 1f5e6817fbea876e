"""``arena runs``: the runs in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from bots.sdk.options import Wording
from dealer.cli.shell.command_options import Json
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import show_document
from dealer.reports.run_lists import FOLDER, runs_document

_SHOWN: Final = 20


def runs(
    terminal: Terminal,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="A folder that holds runs.")] = FOLDER,
    every: Annotated[bool, f"List every run, not only the newest {_SHOWN}.", Wording(flags="--all -a")] = False,
    as_json: Json = False,
) -> None:
    """List the runs in a folder, the newest first: when each began, who played, and its result.

    The players of a run with a result are in the order of their winnings, and 'lead' is what the first one won.
    """
    if folder != FOLDER and not folder.is_dir():
        abort(f"{folder}: there is no such folder")
    show_document(terminal, runs_document(folder, None if every else _SHOWN), as_json=as_json)
