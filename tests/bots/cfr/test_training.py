"""Training folders: resumed, killed at any moment, refused with other settings."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bots.artifact import read_artifact
from bots.cfr.bot import CfrBot
from bots.cfr.strategy_files import read_strategy
from bots.cfr.training import CHECKPOINT, CHECKPOINT_KIND, STRATEGY, plan_training, train
from bots.cfr.training_settings import CfrSettings
from bots.errors import BotFileError, SolvingError
from bots.solving.engine_games import small_game
from bots.solving.sequence_form import expected_values, sequence_form
from bots.solving.sequence_form import exploitability as exact_exploitability
from protocol import find_game
from tests.bots.cfr.drawn import random_hands, random_tables
from tests.bots.playing import plan_of_bot
from tests.dealer.helpers import PATIENCE_S, ROOT

LEDUC = CfrSettings(game="leduc", losses=0.0)


def without_times(path: Path) -> tuple[object, ...]:
    strategy = read_strategy(str(path))
    record = dict(strategy.record)
    history = [{**row, "seconds": 0} for row in record.pop("history")]
    record.pop("seconds")
    return strategy.probabilities.tobytes(), history, record


def test_strategy_is_an_equilibrium_by_an_independent_count(tmp_path: Path) -> None:
    trained = train(plan_training(LEDUC), tmp_path, iterations=80)
    game = find_game("leduc")[1]
    form = sequence_form(small_game(game))
    bot = CfrBot(strategy=str(trained.path))
    plans = tuple(plan_of_bot(form, game, player, bot) for player in range(2))
    counted = exact_exploitability(form, plans)
    assert counted < 2e-2
    assert counted == pytest.approx(trained.history[-1]["exploitability"], abs=1e-6)
    assert expected_values(form, plans)[0] == pytest.approx(-0.0856064, abs=2e-2)
    interrupted = tmp_path / "interrupted"
    for iterations in (30, 80):
        again = train(plan_training(LEDUC), interrupted, iterations=iterations, threads=2)
    first, second = without_times(trained.path), without_times(again.path)
    assert first[0] == second[0]
    assert first[2] == second[2]


def test_other_settings_and_damaged_checkpoints_are_refused(tmp_path: Path) -> None:
    train(plan_training(LEDUC), tmp_path, iterations=1)
    with pytest.raises(BotFileError, match=r"was made with seed 1, not seed 2: take another folder"):
        train(plan_training(replace(LEDUC, seed=2)), tmp_path, iterations=1)
    (tmp_path / CHECKPOINT).write_bytes(b"nothing")
    with pytest.raises(BotFileError, match="does not begin with a line"):
        train(plan_training(LEDUC), tmp_path, iterations=1)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"game": "kuhn3"}, "games of more than two players are trained for in hold'em only"),
        ({"game": "nolimit3", "sizes": "1"}, "sizes are fixed with more than two players, so leave out sizes"),
        ({"game": "limit3", "raises": "3"}, "the game is too large to be solved"),
        ({"game": "limit3", "raises": "2/2"}, r"a number for all rounds, or 4 such as 4/3/2/1, not '2/2'"),
        ({"game": "nolimit", "raises": "2"}, "nolimit is a no-limit game: its sizes say how many raises there are"),
        ({"sizes": "1,all"}, "limit is a limit game: its raises have one size, so leave out sizes"),
        ({"game": "nolimit", "sizes": "1/1"}, "for one round, which holds for all, or for all 4"),
        ({"game": "nolimit", "sizes": "half"}, "such as 0.5,1,all, not 'half'"),
        ({"buckets": "50/50"}, "buckets are one number, or three such as 1000/1000/500, not '50/50'"),
        ({"buckets": "many"}, "not 'many'"),
        ({"deals": 0}, "deals must be 1 to 1,000,000, not 0"),
        ({"losses": -1.0}, "losses must be 0 to 10, not -1"),
    ],
)
def test_invalid_settings_are_refused(
    settings: dict[str, object], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.cfr.tree.MAX_NODES", 1_000 if settings.get("game") == "limit3" else 25_000)
    with pytest.raises(SolvingError, match=sentence):
        plan_training(CfrSettings(**settings))  # type: ignore[arg-type]


def test_plan_states_sizes_and_memory() -> None:
    plan = plan_training(CfrSettings(buckets="50"))
    assert plan.information_sets == 319_852
    assert 3_000_000 < plan.strategy_bytes < 4_000_000
    assert plan.checkpoint_bytes == 8 * plan.numbers == 8 * 831_649
    assert plan.memory_bytes > 2 * plan.checkpoint_bytes


def test_training_of_three_players_records_its_raises() -> None:
    plan = plan_training(CfrSettings(game="limit3", raises="1", buckets="10"))
    assert plan.settings.raises == "1"
    assert plan.buckets == (169, 10, 10, 10)
    assert len(plan.tree.decisions) < 5_000


def test_no_limit_training_records_its_sizes(tmp_path: Path) -> None:
    plan = plan_training(CfrSettings(game="nolimit", buckets="100/100/64"))
    assert plan.settings.sizes.count("/") == 3
    assert plan.information_sets == 637_852
    assert 3_000_000 < plan.strategy_bytes < 5_000_000
    small = CfrSettings(game="leduc-nolimit", losses=0.0)
    trained = train(plan_training(small), tmp_path, iterations=60)
    assert read_strategy(str(trained.path)).record["settings"]["sizes"] == "0.5,1,all:1,all:all"
    assert 0 < trained.history[-1]["exploitability"] < 5
    with pytest.raises(BotFileError, match=r"was made with sizes 0\.5,1,all:1,all:all, not sizes 1,all: take"):
        train(plan_training(replace(small, sizes="1,all")), tmp_path, iterations=1)
    halved = tmp_path / "halved"
    for iterations in (20, 60):
        again = train(plan_training(small), halved, iterations=iterations, threads=2)
    assert without_times(trained.path)[0] == without_times(again.path)[0]


@pytest.mark.slow  # numba compiles
def test_training_of_three_players_in_no_limit_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.cfr.training.load_hands", lambda *_: (random_hands(), random_tables()))
    plan = plan_training(CfrSettings(game="nolimit3", buckets="7/5/6", deals=100))
    trained = train(plan, tmp_path / "whole", iterations=4)
    # The plan includes the tables of the cards, 2.8 million bytes.
    assert plan.strategy_bytes - 2_900_000 < len(read_strategy(str(trained.path)).probabilities) < plan.strategy_bytes
    for iterations in (1, 4):
        again = train(plan, tmp_path / "halves", iterations=iterations, threads=2)
    assert without_times(trained.path)[0] == without_times(again.path)[0]
    whole, halves = (read_artifact(tmp_path / name / CHECKPOINT, CHECKPOINT_KIND) for name in ("whole", "halves"))
    for name, array in whole.arrays().items():
        assert array.any()
        assert np.array_equal(array, halves.arrays()[name])


@pytest.mark.slow
def test_killed_training_comes_to_the_same_strategy(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from bots.cfr.training_settings import CfrSettings; "
        "from bots.cfr.training import *; "
        "train(plan_training(CfrSettings(game='leduc', losses=0.0)), Path(sys.argv[1]), "
        "iterations=int(sys.argv[2]), save_every_s=0)"
    )

    def start(folder: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", program, str(folder), "3000"], cwd=ROOT)

    assert start(tmp_path / "whole").wait(PATIENCE_S * 5) == 0
    killed, iterations = tmp_path / "killed", []
    for wanted in (1, 500, 1500):
        running = start(killed)
        until = time.monotonic() + PATIENCE_S * 5
        while time.monotonic() < until:
            path = killed / CHECKPOINT
            if path.exists() and read_artifact(path, CHECKPOINT_KIND).header["iteration"] >= wanted:
                break
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        running.wait(PATIENCE_S)
        assert not (killed / STRATEGY).exists()
        iterations.append(read_artifact(killed / CHECKPOINT, CHECKPOINT_KIND).header["iteration"])
    assert iterations == sorted(iterations)
    assert start(killed).wait(PATIENCE_S * 5) == 0
    first, second = without_times(tmp_path / "whole" / STRATEGY), without_times(killed / STRATEGY)
    assert json.dumps(first[1:]) == json.dumps(second[1:])
    assert first[0] == second[0]
