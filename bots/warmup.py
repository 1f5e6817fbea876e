"""Tiny trainings that compile the kernels of the real ones, for ``arena warmup``."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from bots.cfr.abstraction import CardTables
from bots.cfr.best_responses import Responses
from bots.cfr.boards import HOLDING_COUNT
from bots.cfr.bot import CfrBot
from bots.cfr.clustering import assign_clusters
from bots.cfr.endgames import RIVER
from bots.cfr.expectation import compare_strategies
from bots.cfr.features import FEATURES, flop_features, turn_features
from bots.cfr.next_boards import HoldingBuckets
from bots.cfr.sampling import EPOCH, SampledSolver, draw_deals
from bots.cfr.tree import betting_tree
from bots.cfr.value_training import ValueSettings, ValueSums
from bots.environments.hand_batch import HandBatch
from bots.evolution.evolution import StopRule
from bots.evolved.training import EvolvedSettings, trainer_evolution
from bots.kuhn.fitness import KuhnSettings, kuhn_evolution
from bots.kuhn.games import model
from bots.learner.training import LearnerSettings, train
from bots.solving.equilibria import Discounts
from protocol import find_game

_ONE_GENERATION: Final = StopRule(generations=1)


def _evolve_at_tables() -> None:
    list(trainer_evolution(EvolvedSettings(population=2, deals=1, trials=1)).generations(_ONE_GENERATION))


def _evolve_kuhn() -> None:
    plain = KuhnSettings(opposition="coevolution")
    against = KuhnSettings(model=model("rational", plain.game))
    as_published = KuhnSettings(opposition="mixed", model=against.model, as_published=True)
    for settings in (plain, against, as_published):
        list(kuhn_evolution(settings).generations(_ONE_GENERATION))


def _train_learner() -> None:
    with tempfile.TemporaryDirectory() as folder:
        train(LearnerSettings(block=2, test=2), 2, Path(folder) / "memory")


def _minimise_regrets() -> None:
    board = np.array([0, 5, 10, 15], np.uint8)
    keys = np.full(1, np.iinfo(np.int64).max)
    features = np.zeros((1, HOLDING_COUNT, FEATURES), np.uint8)
    turn_features(board, features[0])
    flop_features(board[:3], keys, features, features[0])
    assign_clusters(features[0], features[0, :1])
    buckets = np.zeros((1, HOLDING_COUNT), np.uint16)
    cards = CardTables(keys, keys, keys, buckets, buckets.copy(), buckets.copy())
    tree = betting_tree(find_game("limit")[1])
    sampled = SampledSolver(tree, (169, 1, 1, 1), partial(draw_deals, cards), Discounts(), seed=1, per_iteration=16)
    for _ in range(EPOCH):
        sampled.iterate()


def _compare_strategies() -> None:
    strategy = CfrBot().strategy(find_game("limit")[1])
    compare_strategies(strategy, strategy, 1)


def _respond_to_strategy() -> None:
    strategy = CfrBot().strategy(find_game("limit")[1])
    Responses(strategy, None, RIVER).draw(np.random.default_rng(1))


def _value_hands() -> None:
    strategy = CfrBot().strategy(find_game("limit")[1])
    assert strategy.cards is not None
    buckets = HoldingBuckets(strategy.cards)
    board = (8, 12, 16, 20)
    for shown in (0, 3, 4):
        buckets.after((0, 4), board[:shown])
    ValueSums(ValueSettings("limit", strategy, 1)).add_board()


def _step_environments() -> None:
    HandBatch("limit", 1).reset(0)


TRAINING_JOBS: Final[tuple[tuple[str, Callable[[], None]], ...]] = (
    ("evolution at tables of ten", _evolve_at_tables),
    ("evolution of Kuhn strategies", _evolve_kuhn),
    ("training of the learner", _train_learner),
    ("regret minimisation", _minimise_regrets),
    ("one strategy against another", _compare_strategies),
    ("best responses to a strategy", _respond_to_strategy),
    ("values of a strategy's hands", _value_hands),
    ("hands of environments for training", _step_environments),
)
"""Name of each training, and the call that compiles its kernels."""
