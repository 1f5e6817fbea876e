"""``arena runs``, and how commands take a run: by its path, ``last``, or ``last-2``."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from dealer.cli.console import Terminal, abort
from dealer.cli.options import Json
from dealer.reports.runs import FOLDER, ListedRun, ListedState, listed_run, newest_runs
from engine.errors import quoted
from engine.text import count_of, meant
from logs.document import CODE, NAME, Column, Table

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


def complete_run(incomplete: str) -> Iterator[str]:
    for name in ("last", *map(str, newest_runs())):
        if name.startswith(incomplete):
            yield name


run_argument = partial(typer.Argument, parser=run_path, autocompletion=complete_run)


def runs(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="A folder that holds runs.")] = FOLDER,
    every: Annotated[bool, typer.Option("--all", "-a", help=f"List every run, not only the newest {_SHOWN}.")] = False,
    as_json: Json = False,
) -> None:
    """List the runs in a folder, the newest first: when each began, who played, and its result.

    The players of a run with a result are in the order of their winnings, and 'lead' is what the first one won.
    """
    terminal = context.ensure_object(Terminal)
    if folder != FOLDER and not folder.is_dir():
        abort(f"{folder}: there is no such folder")
    found = newest_runs(folder)
    chosen = list(map(listed_run, found if every else found[:_SHOWN]))
    labels = ["last" if not back else f"last-{back}" for back in range(len(chosen))]
    if folder != FOLDER:
        labels = [run.folder.name for run in chosen]
    if as_json:
        terminal.json([_data(label, run) for label, run in zip(labels, chosen, strict=True)])
        return
    if not found:
        terminal.sentence(f"There is no run in {folder}.")
        return
    terminal.table(runs_table(labels, chosen))
    for run in chosen:
        if run.state is ListedState.UNREADABLE:
            terminal.sentence(f"{run.words}.")
    if len(chosen) < len(found):
        terminal.sentence(f"{len(found) - len(chosen):,} older runs are not listed: --all lists every run.")


def runs_table(labels: Sequence[str], listed: Sequence[ListedRun]) -> Table:
    """A line per run; the names of games and players are shortened where there is little room."""
    columns = (
        Column("run", CODE),
        Column("began", CODE),
        Column("game", NAME),
        Column("players", NAME),
        Column("deals", ","),
        Column("lead", "+,.0f", "mbb/g"),
        Column("state", CODE),
        Column("folder", CODE, rank=1),
    )
    this_year = time.localtime().tm_year
    rows = []
    for label, run in zip(labels, listed, strict=True):
        at = time.localtime(run.began_s)
        began = time.strftime("%m-%d %H:%M" if at.tm_year == this_year else "%Y-%m-%d", at)
        who = ", ".join(run.players)
        rows.append((label, began, ", ".join(run.games), who, run.deals, run.lead, run.state.value, run.folder.name))
    return Table.of("", columns, rows)


def _data(label: str, run: ListedRun) -> dict[str, Any]:
    lead = run.lead
    return {
        "run": label,
        "folder": str(run.folder),
        "began": datetime.fromtimestamp(run.began_s, UTC).isoformat(timespec="seconds"),
        "games": run.games,
        "players": run.players,
        "deals": run.deals,
        "lead": lead and {"player": lead.player, "mbb_per_game": lead.mbb, "half_width_95": lead.half_width},
        "state": run.state.value,
        "words": run.words,
    }
