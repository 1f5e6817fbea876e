"""Long computations: their options, their workers, and their folders, from which the same command resumes."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from bots.errors import WorkersError
from bots.long_run import ShowProgress
from bots.sdk.options import Interval, Wording
from bots.workers import Workers, cluster_workers, local_workers
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.progress import showing_progress
from dealer.cli.shell.streams import EXIT_FAILED, EXIT_INTERRUPTED
from protocol import GameDefinitionError, find_game

_PANEL: Final = "Where it is computed"
TRAINING: Final = "Training"
"""The panel of the options that decide what is trained."""
RunFolder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Folder for finished work; created if it does not exist.")
]
WorkerCount = Annotated[int, "Processes of this machine that compute.", Interval(1, 1000), Wording(group=_PANEL)]
Scheduler = Annotated[str | None, "Let the workers of a dask cluster compute.", Wording("ADDRESS", group=_PANEL)]


def check_game_word(folder: Path) -> None:
    """End the command if a game was named in the place of the folder."""
    try:
        find_game(str(folder))
    except GameDefinitionError:
        return
    abort(f"{folder} is a game, and the first argument is the folder of the run: FOLDER --game {folder}")


@contextlib.contextmanager
def workers_from(count: int, scheduler: str | None = None) -> Iterator[Workers | None]:
    """The workers of the options; None for this process."""
    if scheduler is not None and count > 1:
        abort("--workers counts processes of this machine, and a cluster has workers of its own: leave one out")
    if scheduler is None and count == 1:
        yield None
        return
    with cluster_workers(scheduler) if scheduler is not None else local_workers(count) as workers:
        yield workers


@contextlib.contextmanager
def resumable(terminal: Terminal, path: Path, what: str) -> Iterator[None]:
    """If the command is stopped early, report what the folder or file holds and how to resume."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    how = f"{path} holds {what}; resume: {terminal.command}"
    try:
        yield
    except KeyboardInterrupt:
        abort(f"interrupted; {how}", EXIT_INTERRUPTED)
    except MemoryError:
        abort("there is not enough memory: use smaller settings")
    except WorkersError as error:
        abort(f"{error}; {how}", EXIT_FAILED)


@contextlib.contextmanager
def computing(
    terminal: Terminal, doing: str, path: Path, what: str, count: int = 1, scheduler: str | None = None
) -> Iterator[tuple[Workers | None, ShowProgress]]:
    """The workers and the progress of a long computation whose folder or file holds `what` when it is stopped."""
    with (
        workers_from(count, scheduler) as workers,
        resumable(terminal, path, what),
        showing_progress(terminal, doing) as show,
    ):
        yield workers, show
