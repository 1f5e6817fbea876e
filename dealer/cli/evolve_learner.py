"""``arena evolve learner``: search the constants of the learning bot by evolution."""

from __future__ import annotations

from typing import Annotated

from bots.learner.tuning import TuningSettings, check, search, tuning_document
from bots.long_run import show_within
from bots.sdk.options import Interval, Wording
from dealer.cli.shell.computations import (
    TRAINING,
    RunFolder,
    Scheduler,
    WorkerCount,
    check_game_word,
    computing,
)
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.documents import DocumentOptions


def learner(
    terminal: Terminal,
    folder: RunFolder,
    settings: TuningSettings,
    seeds: Annotated[int, "Trainings and tests of the best set at the end.", Interval(5), Wording(group=TRAINING)] = 20,
    workers: WorkerCount = 1,
    scheduler: Scheduler = None,
    *,
    output: DocumentOptions,
) -> None:
    """Search the ten constants of the learner by evolution.

    The fitness of a set of constants is the win rate of a learner with it, frozen, on unseen deals after its training.
    The best set is then measured again. The same command resumes an interrupted search.
    """
    from bots.learner.memory import Constants

    if not folder.exists():
        check_game_word(folder)
    with computing(terminal, "evolving", folder, "every measurement", workers, scheduler) as (pool, show):
        measured = search(settings, folder, workers=pool, show=show_within(show, 0, 2))
        best = max(measured, key=lambda measurement: measurement.mbb)
        sets = {"default": Constants(), "evolution": best.constants}
        # Seeds other than that of the search, so that the best set is measured anew.
        check_seeds = [settings.seed + number for number in range(1, seeds + 1)]
        checks = check(settings, sets, check_seeds, folder, workers=pool, show=show_within(show, 1, 2))
    output.show(terminal, tuning_document(settings, measured, checks))
