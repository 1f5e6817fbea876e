"""Small trainings, so that the kernels of large ones have been compiled: for ``arena warmup``."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from bots.cfr.abstraction import HOLDING_COUNT, CardAbstraction
from bots.cfr.deals import AllBoards, Boards, DrawnBoards
from bots.cfr.solver import Discounts, Solver, exploitability, tree_arrays
from bots.cfr.strengths import compile_kernels as compile_strengths
from bots.cfr.tree import betting_tree
from bots.evolution.evolution import StopRule
from bots.evolved.training import EvolvedSettings, trainer_evolution
from bots.kuhn.evolution import KuhnSettings, OppositionKind, kuhn_evolution
from bots.kuhn.games import model
from bots.learner.training import LearnerSettings, train
from protocol import find_game

_ONE: Final = StopRule(generations=1)


def _evolve_at_tables() -> None:
    list(trainer_evolution(EvolvedSettings(population=2, deals=1, trials=1)).generations(_ONE))


def _evolve_kuhn() -> None:
    plain = KuhnSettings(opposition=OppositionKind.COEVOLUTION)
    against = KuhnSettings(model=model("rational", plain.game))
    as_published = KuhnSettings(opposition=OppositionKind.MIXED, model=against.model, as_published=True)
    for settings in (plain, against, as_published):
        list(kuhn_evolution(settings).generations(_ONE))


def _train_learner() -> None:
    with tempfile.TemporaryDirectory() as folder:
        train(LearnerSettings(block=2, test=2), 2, Path(folder) / "memory", lambda _: None)


def _minimise_regrets() -> None:
    compile_strengths()
    table = np.zeros(HOLDING_COUNT, np.uint8)
    rows = [np.broadcast_to(table, (size, HOLDING_COUNT)) for size in (1755, 16_432)]
    cards = CardAbstraction((169, 1, 1, 1), rows[0], rows[1], np.zeros(0, np.int64), np.zeros(0, np.int64))
    kuhn = find_game("kuhn")[1]
    boards: tuple[Boards, ...] = (AllBoards(kuhn), DrawnBoards(cards, 1))
    for of_game, game in zip(boards, (kuhn, find_game("limit")[1]), strict=True):
        arrays = tree_arrays(betting_tree(game), of_game.buckets, of_game.float_type)
        solver = Solver(arrays, of_game, 1, Discounts())
        solver.iterate()
    # The last game's boards are drawn: to learn an answer has a kernel of its own.
    exploitability(arrays, of_game, solver.average_strategy(), count=2)


TRAINING_JOBS: Final[tuple[tuple[str, Callable[[], None]], ...]] = (
    ("evolution at tables of ten", _evolve_at_tables),
    ("evolution of Kuhn strategies", _evolve_kuhn),
    ("training of the learner", _train_learner),
    ("regret minimisation", _minimise_regrets),
)
"""What each group of kernels is for, and the call that has it compiled."""
