"""Training with compiled hands, compared with the bot in chips and memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bots import self_play
from bots.errors import SpecError
from bots.learner import training
from bots.learner.bot import LearnerBot
from bots.learner.memory import Constants, Memory, write_memory
from bots.learner.training import DealBatch, Trainee, line_ups
from bots.sdk.registry import make_bot
from engine.splitmix import MASK_64, STEP, mixed
from protocol import find_game

_COARSE = Constants(chance_interval=20, big_qty=3, little_qty=2)


def test_line_ups_contain_every_opponent() -> None:
    assert line_ups(["a"], 3) == [("a", "a", "a")]
    assert line_ups(["a", "b"], 3) == [("a", "b", "a")]
    assert line_ups(["a", "b", "c"], 2) == [("a", "b"), ("b", "c"), ("c", "a")]


def test_an_opponent_that_learns_is_refused() -> None:
    game = find_game("limit")[1]
    with pytest.raises(SpecError, match="an opponent in a training is frozen: add learn=false"):
        Trainee(game, Memory(Constants())).play(["learner"], DealBatch.deal(game, 3, 0, 1), learns=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "specs", "constants"),
    [
        ("limit", ["mfs?k=4,trials=20"], Constants()),
        ("nolimit3", ["random?decisions=20/50/15/10/5", "mfs?trials=20"], _COARSE),
        ("limit6", ["calling", "random", "mfs?trials=20", "rh", "raising"], Constants()),
        ("nolimit10", ["mfs?trials=20,k=1", "rh", "calling", "random", "constant?decision=4"], _COARSE),
    ],
)
@pytest.mark.parametrize("is_compiled", [True, False])
def test_training_is_that_of_the_bot(name: str, specs: list[str], constants: Constants, is_compiled: bool) -> None:
    game = find_game(name)[1]
    specs = list(line_ups(specs, game.num_players - 1)[0])
    bots = [
        make_bot(spec, mixed(5 + at * STEP & MASK_64) if spec.startswith("random") else 5)
        for at, spec in enumerate(specs, 1)
    ]
    learner = LearnerBot(empty=True, constants=constants, explore=0.2, trials=20, seed=5)
    deals = 40 if is_compiled else 10
    names = [str(at) for at in range(game.num_players)]
    records = list(self_play(game, [learner, *bots], deals=deals, seed=3, names=names))
    if not is_compiled:
        specs[0] = f"bots.{'formula.bot:MfsBot' if specs[0].startswith('mfs') else 'baseline:CallingBot'}"
        bots[0] = make_bot(specs[0], 5)
        learner = LearnerBot(empty=True, constants=constants, explore=0.2, trials=20, seed=5)
        records = list(self_play(game, [learner, *bots], deals=deals, seed=3, names=names))
    trainee = Trainee(game, Memory(constants), explore=0.2, trials=20, seed=5)
    half = deals // 2
    values = np.concatenate(
        [trainee.play(specs, DealBatch.deal(game, 3, first, half), learns=True) for first in (0, half)]
    )
    for at, record in enumerate(records):
        won = {record.name_at(position): value for position, value in enumerate(record.values)}
        assert values[(*divmod(at, game.num_players),)].tolist() == [won[one] for one in names]
    assert trainee.memory == learner.memory
    assert trainee.cells == len(learner.memory.cells)


@pytest.mark.slow
def test_frozen_learners_play_their_files(tmp_path: Path) -> None:
    game = find_game("limit3")[1]
    trainee = Trainee(game, Memory(_COARSE), trials=20, seed=5)
    trainee.play(["calling", "random"], DealBatch.deal(game, 3, 0, 300), learns=True)
    path = tmp_path / "m"
    write_memory(path, trainee.memory)
    spec = f"learner?memory={path},learn=false,trials=20,chance_interval=20,big_qty=3,little_qty=2"
    specs = [spec, "mfs?trials=20"]
    other = Trainee(game, Memory(Constants()), trials=20, seed=5)
    values = other.play(specs, DealBatch.deal(game, 4, 0, 40), learns=True)
    learner = LearnerBot(empty=True, trials=20, seed=5)
    bots = [learner, *[make_bot(one, 5) for one in specs]]
    names = ["0", "1", "2"]
    for at, record in enumerate(self_play(game, bots, deals=40, seed=4, names=names)):
        won = {record.name_at(position): value for position, value in enumerate(record.values)}
        assert values[(*divmod(at, 3),)].tolist() == [won[one] for one in names]
    assert other.memory == learner.memory
    with pytest.raises(SpecError, match="cannot be read"):
        other.play([f"learner?memory={tmp_path / 'none'},learn=false"] * 2, DealBatch.deal(game, 4, 0, 1), learns=True)


@pytest.mark.slow
def test_a_memory_outgrows_its_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    game = find_game("nolimit6")[1]
    fine = Constants(chance_interval=5, pot_interval=1, raise_interval=1, odds_interval=1, big_qty=10)
    memories = []
    for least_rows in (1 << 13, 2):
        monkeypatch.setattr(training, "_MIN_ROWS", least_rows)
        trainee = Trainee(game, Memory(fine), explore=1, trials=2)
        trainee.play(["random?decisions=1/8/1/1/1"] * 5, DealBatch.deal(game, 3, 0, 1000), learns=True)
        assert trainee.cells > 2000
        memories.append(trainee.memory)
        assert Trainee(game, trainee.memory).memory == trainee.memory
    assert memories[0] == memories[1]
