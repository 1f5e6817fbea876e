"""Trainings of a learner: interruptions, reports and refusals.

Opponents named by class are not compiled, which makes these tests quick.

"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bots.errors import BotFileError, EvolutionError
from bots.learner.bot import LearnerBot
from bots.learner.memory import Constants, read_memory
from bots.learner.training import Block, LearnerSettings, train, training_document
from logs.document import Chart, Table

_SETTINGS = LearnerSettings(
    opponents=("bots.baseline:CallingBot", "bots.baseline:RaisingBot"),
    unseen=("bots.baseline:FoldingBot",),
    constants=Constants(chance_interval=20, big_qty=3),
    block=8,
    test=4,
)


def test_interrupted_training_ends_the_same(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    memory, blocks = train(_SETTINGS, 24, whole)
    assert [block.hands for block in blocks] == [8, 16, 24]
    assert memory == read_memory(whole, _SETTINGS.constants)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            train(_SETTINGS, 24, parts, stop)
    seen: list[float | None] = []
    assert train(_SETTINGS, 24, parts, lambda part, so_far="": seen.append(part)) == (memory, blocks)
    assert seen == [1.0]
    assert parts.read_bytes() == whole.read_bytes()
    assert train(_SETTINGS, 8, parts) == (memory, blocks)

    LearnerBot(memory=str(whole), learn=False, constants=_SETTINGS.constants)


def test_report_has_a_row_per_block(tmp_path: Path) -> None:
    memory, blocks = train(_SETTINGS, 16, tmp_path / "memory")
    document = training_document(_SETTINGS, memory, blocks, tmp_path / "memory")
    assert "16 hands" in document.sentences[0]
    table, chart = document.sections[0].parts
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == [8, 16]
    assert isinstance(chart, Chart)
    assert [series.xs for series in chart.series] == [(8.0, 16.0)] * 3
    # The other field folds, pays 750 whenever it is raised, and never wins.
    assert all(isinstance(block, Block) and block.unseen.mean >= 0 for block in blocks)


def test_training_with_other_settings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory"
    train(_SETTINGS, 6, path)
    with pytest.raises(BotFileError, match=r"made with explore 0\.1, seed 1, not explore 0\.2, seed 3: take"):
        train(replace(_SETTINGS, explore=0.2, seed=3), 6, path)
    with pytest.raises(BotFileError, match="other constants"):
        train(replace(_SETTINGS, constants=Constants()), 6, path)
    path.write_bytes(b"no memory")
    with pytest.raises(BotFileError, match="does not begin"):
        train(_SETTINGS, 6, path)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"explore": 1.5}, "explore must be 0 to 1"),
        ({"block": 0}, "block must be 1 or more"),
        ({"opponents": ()}, "the opponents are missing"),
    ],
)
def test_invalid_settings_are_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(EvolutionError, match=words):
        replace(_SETTINGS, **wrong)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "opponent", "least"),
    [
        ("limit", "folding", 740),
        ("limit", "calling", 800),
        ("limit", "random?decisions=20/50/15/10/5", 1800),
        ("limit", "mfs?k=2", 200),
        ("nolimit", "folding", 740),
        ("nolimit", "calling", 7000),
        ("nolimit", "random?decisions=20/50/15/10/5", 6000),
    ],
)
def test_learner_wins_from_fixed_opponents(tmp_path: Path, game: str, opponent: str, least: int) -> None:
    """After 40,000 hands of training, 20,000 frozen ones; 750 is the maximum against a player that always folds."""
    settings = LearnerSettings(
        game=game, opponents=(opponent,), unseen=("folding",), block=40_000, test=20_000, trials=100
    )
    _, (block,) = train(settings, 40_000, tmp_path / "memory")
    assert block.field.mean > least
