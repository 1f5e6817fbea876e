"""Small trainings, so that the kernels of large ones have been compiled: for ``arena warmup``."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bots.evolution import StopRule
from bots.evolved.training import TrainingSettings as TableSettings
from bots.evolved.training import trainer_evolution
from bots.kuhn.evolution.settings import KuhnSettings, OppositionKind, kuhn_evolution
from bots.kuhn.models import model
from bots.learner.training import TrainingSettings as LearnerSettings
from bots.learner.training import train

__all__ = ["TRAINING_JOBS"]

_ONE: Final = StopRule(generations=1)


def _evolve_at_tables() -> None:
    list(trainer_evolution(TableSettings(population=2, deals=1, trials=1)).generations(_ONE))


def _evolve_kuhn() -> None:
    plain = KuhnSettings(opposition=OppositionKind.COEVOLUTION)
    against = KuhnSettings(model=model("rational", plain.game))
    for settings in (plain, against):
        list(kuhn_evolution(settings).generations(_ONE))


def _train_learner() -> None:
    with tempfile.TemporaryDirectory() as folder:
        train(LearnerSettings(block=2, test=2), 2, Path(folder) / "memory", lambda _: None)


TRAINING_JOBS: Final[tuple[tuple[str, Callable[[], None]], ...]] = (
    ("evolution at tables of ten", _evolve_at_tables),
    ("evolution of Kuhn strategies", _evolve_kuhn),
    ("training of the learner", _train_learner),
)
"""What each group of kernels is for, and the call that has it compiled."""
