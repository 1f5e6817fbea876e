"""``arena train cfr``: players near equilibrium, by regret minimisation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final

import typer
from annotated_types import Interval

from bots.cfr.settings import CfrSettings
from bots.sdk.options import Wording
from dealer.cli.computing import RunFolder, Scheduler, WorkerCount, resumable, workers_from
from dealer.cli.console import Terminal, abort
from dealer.cli.progress import LiveLine, time_left
from engine.text import duration
from logs.document import Column, Table

if TYPE_CHECKING:
    from bots.cfr.training import CfrProgress, TrainedStrategy, TrainingPlan

_STOP: Final = "When to stop"
_ALONG: Final = "Along the way"
_MINUTES: Final = 10.0
_ITERATIONS: Final = 1000
_MB: Final = 1e6


def cfr(
    context: typer.Context,
    folder: RunFolder,
    settings: CfrSettings,
    hours: Annotated[
        float | None, "Stop after this many hours of iterating.", Interval(ge=0), Wording(group=_STOP)
    ] = None,
    minutes: Annotated[
        float | None,
        "Stop after this many minutes of iterating.",
        Interval(ge=0),
        Wording(group=_STOP, otherwise=f"{_MINUTES:g} in hold'em"),
    ] = None,
    iterations: Annotated[
        int | None,
        "Stop after this many iterations.",
        Interval(ge=1),
        Wording(group=_STOP, otherwise=f"{_ITERATIONS:,} in games whose boards are all enumerated"),
    ] = None,
    threads: Annotated[
        int,
        "Threads that walk deals or boards; the result is the same.",
        Interval(ge=1, le=256),
        Wording(group=_ALONG, otherwise="one for each processor"),
    ] = os.cpu_count() or 1,
    workers: WorkerCount = 1,
    scheduler: Scheduler = None,
) -> None:
    """Train a player near equilibrium: hold'em of two players, limit or no-limit, Leduc or Kuhn poker.

    The folder holds a checkpoint, from which the same command resumes, and at the end the strategy, which plays as
    cfr?strategy=FILE.
    """
    terminal = context.ensure_object(Terminal)
    from bots.cfr.training import TrainingLimit, plan_training, train
    from bots.errors import SolvingError

    if hours is not None and minutes is not None:
        abort("--hours and --minutes contradict each other: give one of them")
    try:
        plan = plan_training(settings)
    except SolvingError as error:
        abort(str(error))
    if (workers > 1 or scheduler is not None) and plan.settings.copies == 1:
        abort("each worker trains a copy of its own: give their number with --copies")
    seconds = 3600 * hours if hours is not None else 60 * minutes if minutes is not None else None
    if seconds is None and iterations is None:
        seconds, iterations = (60 * _MINUTES, None) if plan.is_drawn else (None, _ITERATIONS)
    _announce(terminal, plan)
    with (
        resumable(folder, "the last checkpoint"),
        workers_from(workers, scheduler) as helpers,
        LiveLine(terminal) as line,
    ):
        trained = train(
            plan,
            folder,
            TrainingLimit(iterations, seconds),
            threads=threads,
            workers=helpers,
            prepare=lambda part: line(f"computing the buckets of all hands: {part:.0%}"),
            show=lambda progress: line(_line(plan, progress)),
        )
    _report(terminal, plan, trained)


def _announce(terminal: Terminal, plan: TrainingPlan) -> None:
    terminal.sentence(
        f"{plan.settings.game}: {len(plan.tree.decisions):,} decisions of the betting, {plan.information_sets:,} "
        f"information sets. Needs about {plan.memory_bytes / _MB:,.0f} MB of memory and, on the disk, "
        f"{2 * plan.checkpoint_bytes / _MB:,.1f} MB for checkpoints, {plan.strategy_bytes / _MB:,.1f} MB for the "
        f"strategy{' and 405 MB for the buckets of all hands' if plan.is_drawn else ''}."
    )
    if plan.settings.copies > 1:
        terminal.sentence(
            f"{plan.settings.copies} copies are trained independently; a worker receives and sends "
            f"{plan.message_bytes / _MB:,.0f} MB for each of them every 15 seconds or so."
        )


def _unit(plan: TrainingPlan) -> tuple[float, str]:
    """What chips are multiplied by, and the word for it."""
    if plan.is_drawn:
        return 1000 / plan.tree.game.big_blind, "mbb/g"
    return 1.0, "chips per hand"


def _line(plan: TrainingPlan, progress: CfrProgress) -> str:
    factor, unit = _unit(plan)
    left_s = progress.seconds / progress.part - progress.seconds if progress.part else None
    exploited = ""
    if progress.last is not None:
        exploited = f", exploitability {progress.last['exploitability'] * factor:.3g} {unit}"
        exploited += f" after {progress.last['iteration']:,}"
    drawn = f", {progress.deals:,} deals" if plan.is_drawn else ""
    what = "deals" if plan.is_drawn else "boards"
    return (
        f"iteration {progress.iteration:,}{drawn}{time_left(left_s)}{exploited}, {progress.deals_per_s:,.0f} {what}/s"
    )


def _report(terminal: Terminal, plan: TrainingPlan, trained: TrainedStrategy) -> None:
    factor, unit = _unit(plan)
    if trained.history:
        columns = (Column("iterations", ","), Column("time", ",", rank=1), f"exploitability, {unit}")
        rows = (
            (f"{row['iteration']:,}", duration(row["seconds"]), f"{row['exploitability'] * factor:.4g}")
            for row in trained.history
        )
        terminal.table(Table.of("Winnings of best responses", columns, rows))
    terminal.sentence(f"{trained.iteration:,} iterations in {duration(trained.seconds)}.")
    terminal.sentence(f"It plays as cfr?strategy={trained.path}")
