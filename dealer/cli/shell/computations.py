"""Options, workers and messages of long computations that are resumed from their folder."""

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
"""Heading of the options of a training in the help."""
RunFolder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Folder for finished work; created if it does not exist.")
]
WorkerCount = Annotated[int, "Processes of this machine that compute.", Interval(1, 1000), Wording(group=_PANEL)]
Scheduler = Annotated[str | None, "Let the workers of a dask cluster compute.", Wording("ADDRESS", group=_PANEL)]


def check_game_word(folder: Path) -> None:
    """Abort the command if its first argument is a game instead of the folder."""
    try:
        find_game(str(folder))
    except GameDefinitionError:
        return
    abort(f"{folder} is a game, but the first argument is the folder of the run; write: FOLDER --game {folder}")


@contextlib.contextmanager
def workers_from(count: int, scheduler: str | None = None) -> Iterator[Workers | None]:
    """Start or connect the workers that the options name; yield None to compute in this process."""
    if scheduler is not None:
        if count > 1:
            abort("--workers counts processes of this machine and does not go with --scheduler; leave one out")
        with cluster_workers(scheduler) as workers:
            yield workers
    elif count > 1:
        with local_workers(count) as workers:
            yield workers
    else:
        yield None


@contextlib.contextmanager
def resumable(terminal: Terminal, path: Path, content: str) -> Iterator[None]:
    """If the block is stopped early, abort with a message that names the command to resume.

    Args:
        path: folder or file with the finished work.
        content: its content in words, for the message.
    """
    # SIGTERM raises KeyboardInterrupt like Ctrl-C, so that finished work is saved.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    advice = f"{path} holds {content}; resume: {terminal.command}"
    try:
        yield
    except KeyboardInterrupt:
        abort(f"interrupted; {advice}", EXIT_INTERRUPTED)
    except MemoryError:
        abort("there is not enough memory; use smaller settings")
    except WorkersError as error:
        abort(f"{error}; {advice}", EXIT_FAILED)


@contextlib.contextmanager
def computing(
    terminal: Terminal, activity: str, path: Path, content: str, count: int = 1, scheduler: str | None = None
) -> Iterator[tuple[Workers | None, ShowProgress]]:
    """Yield the workers and the progress of a long computation.

    Args:
        activity: the computation in a few words, for the progress line.
        path: folder or file with the finished work.
        content: its content in words, for the message of an early end.
        count: number of processes on this machine.
        scheduler: address of a dask cluster to use instead.
    """
    with (
        workers_from(count, scheduler) as workers,
        resumable(terminal, path, content),
        showing_progress(terminal, activity) as show,
    ):
        yield workers, show
