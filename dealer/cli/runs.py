"""``arena runs``, and how commands take a run: by its path, ``last``, or ``last-2``."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from bots.sdk.options import Wording
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.options import Json
from dealer.reports.runs import FOLDER, newest_runs, runs_document
from engine.errors import quoted
from engine.text import count_of, meant

_SHOWN: Final = 20
_LAST: Final = re.compile(r"last(?:-(\d{1,6}))?")


def run_path(text: str) -> Path:
    """A path; ``last`` is the newest run in ``runs/``, ``last-2`` the second before it, unless a file has that name."""
    if os.path.lexists(text):
        return Path(text)
    found, newest = _LAST.fullmatch(text), newest_runs()
    if found is None:
        if (near := meant(text, ["last", *map(str, newest)])) is not None:
            abort(f"there is no run {quoted(text)}; did you mean {near!r}?")
        return Path(text)
    back = int(found[1] or 0)
    if back >= len(newest):
        abort(f"{text}: {FOLDER} holds {count_of(len(newest), 'run') if newest else 'no run'}")
    return newest[back]


def complete_run(incomplete: str) -> list[str]:
    return [name for name in ("last", *map(str, newest_runs())) if name.startswith(incomplete)]


run_argument = partial(typer.Argument, parser=run_path, autocompletion=complete_run)


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
    document = runs_document(folder, None if every else _SHOWN)
    show_document(terminal, document, as_json=as_json)
