"""``arena evolve learner``: the constants of the bot that learns, by evolution."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Final

import typer
from annotated_types import Interval

from bots.learner.tuning import MeasuredConstants, TuningSettings, check, search, tuning_document
from bots.sdk.options import Wording
from dealer.cli.computing import (
    TRAINING,
    LearnerGame,
    LearnerOpponents,
    RunFolder,
    Scheduler,
    WorkerCount,
    computing,
)
from dealer.cli.console import Terminal
from dealer.cli.progress import LiveLine, time_left
from dealer.cli.report_output import PageFile, PageForce, check_page, show_document

_DEFAULTS: Final = TuningSettings()
_OPPONENTS: Final = " ".join(_DEFAULTS.opponents)


def learner(
    context: typer.Context,
    folder: RunFolder,
    settings: TuningSettings,
    game: LearnerGame = _DEFAULTS.game,
    opponents: LearnerOpponents = _OPPONENTS,
    seeds: Annotated[int, "Trainings and tests of the best at the end.", Interval(ge=5), Wording(group=TRAINING)] = 20,
    workers: WorkerCount = 1,
    scheduler: Scheduler = None,
    out: PageFile = None,
    force: PageForce = False,
) -> None:
    """Search the ten constants of the learner by evolution.

    The fitness of a set of constants is the win rate of a learner with it, frozen, on unseen deals after its training.
    The best set is then measured again. The same command resumes an interrupted search.
    """
    terminal = context.ensure_object(Terminal)
    from bots.learner.memory import Constants

    check_page(out, force)
    wanted = replace(settings, game=game, opponents=tuple(opponents.split()))
    with computing(folder, "every measurement", workers, scheduler) as over, LiveLine(terminal) as show:
        measured = search(wanted, folder, workers=over, show=_progress(show, wanted.budget))
        best = max(measured, key=lambda one: one.mbb).constants
        others = [wanted.seed + at for at in range(1, seeds + 1)]
        checks = check(
            wanted,
            {"default": Constants(), "evolution": best},
            others,
            folder,
            workers=over,
            show=lambda done: show(f"measured again with {done} of {seeds} seeds"),
        )
    show_document(terminal, tuning_document(wanted, measured, checks), out)


def _progress(show: Callable[[str], None], budget: int) -> Callable[[int, MeasuredConstants], None]:
    """Shows the progress of a search; the time left from its second batch on."""
    first: list[float] = []

    def show_progress(done: int, best: MeasuredConstants) -> None:
        now_s = time.monotonic()
        if not first:
            first.extend((now_s, done))
        left_s = None if done == first[1] else (now_s - first[0]) / (done - first[1]) * (budget - done)
        show(f"{done:,} of {budget:,} learners{time_left(left_s)}, best {best.mbb:+,.0f} mbb/g")

    return show_progress
