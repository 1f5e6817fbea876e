"""``arena evolve learner``: the constants of the bot that learns, by evolution."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

from bots.learner.tuning import TuningSettings, check, search, tuning_document
from bots.long_run import show_within
from bots.sdk.options import Interval, Wording
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
from dealer.cli.report_output import DocumentOptions

_DEFAULTS: Final = TuningSettings()
_OPPONENTS: Final = " ".join(_DEFAULTS.opponents)


def learner(
    terminal: Terminal,
    folder: RunFolder,
    settings: TuningSettings,
    game: LearnerGame = _DEFAULTS.game,
    opponents: LearnerOpponents = _OPPONENTS,
    seeds: Annotated[int, "Trainings and tests of the best at the end.", Interval(5), Wording(group=TRAINING)] = 20,
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

    wanted = replace(settings, game=game, opponents=tuple(opponents.split()))
    with computing(terminal, "evolving", folder, "every measurement", workers, scheduler) as (over, show):
        measured = search(wanted, folder, workers=over, show=show_within(show, 0, 2))
        best = max(measured, key=lambda one: one.mbb).constants
        others = [wanted.seed + at for at in range(1, seeds + 1)]
        sets = {"default": Constants(), "evolution": best}
        checks = check(wanted, sets, others, folder, workers=over, show=show_within(show, 1, 2))
    output.show(terminal, tuning_document(wanted, measured, checks))
