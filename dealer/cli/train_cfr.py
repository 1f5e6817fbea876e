"""``arena train cfr``: train players near equilibrium by regret minimisation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final

from bots.cfr.training_settings import CfrSettings
from bots.sdk.options import Interval, Wording
from dealer.cli.shell.command_options import TypedOptions
from dealer.cli.shell.computations import RunFolder, Scheduler, WorkerCount, check_game_word, computing
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import DocumentOptions
from engine.text import listed

if TYPE_CHECKING:
    from bots.cfr.training import TrainingPlan

_STOP: Final = "When to stop"
_ALONG: Final = "Along the way"
_MINUTES: Final = 10.0
_ITERATIONS: Final = 1000
_MB: Final = 1e6


def cfr(
    terminal: Terminal,
    folder: RunFolder,
    settings: Annotated[TypedOptions, CfrSettings, {"game": "none; it must be named"}],
    hours: Annotated[
        float | None, "Stop after this many hours of iterating.", Interval(0), Wording(group=_STOP)
    ] = None,
    minutes: Annotated[
        float | None,
        "Stop after this many minutes of iterating.",
        Interval(0),
        Wording(group=_STOP, otherwise=f"{_MINUTES:g} in hold'em"),
    ] = None,
    iterations: Annotated[
        int | None,
        "Stop after this many iterations.",
        Interval(1),
        Wording(group=_STOP, otherwise=f"{_ITERATIONS:,} in games whose boards are all enumerated"),
    ] = None,
    threads: Annotated[
        int,
        "Threads that walk deals or boards; the result is the same.",
        Interval(1, 256),
        Wording(group=_ALONG, otherwise="one for each processor"),
    ] = os.cpu_count() or 1,
    workers: WorkerCount = 1,
    scheduler: Scheduler = None,
    *,
    output: DocumentOptions,
) -> None:
    """Train a player near equilibrium: hold'em of two players or more, limit or no-limit, Leduc or Kuhn poker.

    The folder holds a checkpoint, from which the same command resumes, and at the end the strategy, which plays as
    cfr?strategy=FILE.
    """
    from bots.cfr.training import plan_training, train, training_document
    from bots.errors import SolvingError

    if hours is not None and minutes is not None:
        abort("--hours and --minutes contradict each other; leave one out")
    if "game" not in settings:
        check_game_word(folder)
        abort("--game is missing; name the game to train for, such as --game limit")
    try:
        plan = plan_training(CfrSettings(**settings))
    except SolvingError as error:
        abort(str(error))
    if (workers > 1 or scheduler is not None) and plan.settings.copies == 1:
        abort("each worker trains a copy of its own; set their number with --copies")
    seconds = None
    if hours is not None:
        seconds = 3600 * hours
    elif minutes is not None:
        seconds = 60 * minutes
    elif iterations is None:
        if plan.is_drawn:
            seconds = 60 * _MINUTES
        else:
            iterations = _ITERATIONS
    _announce(terminal, plan)
    with computing(terminal, "training", folder, "every finished iteration", workers, scheduler) as (pool, show):
        trained = train(plan, folder, iterations, seconds, threads=threads, workers=pool, show=show)
    output.show(terminal, training_document(plan, trained))


def _announce(terminal: Terminal, plan: TrainingPlan) -> None:
    """Print the memory and disk space of a training before it starts."""
    files = [
        f"{2 * plan.checkpoint_bytes / _MB:,.1f} MB for checkpoints",
        f"{plan.strategy_bytes / _MB:,.1f} MB for the strategy",
    ]
    if plan.is_drawn:
        files.append("405 MB for the buckets of all hands")
    memory = f"about {plan.memory_bytes / _MB:,.0f} MB of memory"
    terminal.note(f"{plan.settings.game} needs {memory} and on disk {listed(files)}.")
    if plan.settings.copies > 1:
        terminal.note(
            f"{plan.settings.copies} copies are trained independently; a worker receives and sends "
            f"{plan.message_bytes / _MB:,.0f} MB for each of them about every 15 seconds."
        )
