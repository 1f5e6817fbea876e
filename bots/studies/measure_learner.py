"""Measurements for the thesis on the learner: its rule for levels, and learners trained against its opponents.

``GAME FIELD`` is what a learner wins, frozen, on other deals from the field that it trained against, in mbb/g over
`SEEDS` trainings. The thesis names no values of k.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from bots.learner.memory import Constants, level
from bots.learner.tuning import TuningSettings, measured_mbb
from bots.studies.measured import Measured, Task

SEEDS: Final = 20
_HANDS: Final = 20_000
_TEST_HANDS: Final = 5_000
_TRIALS: Final = 200
_RANDOM: Final = "random?decisions=20/50/15/10/5"
_MIXED: Final = ("constant?decision=2", _RANDOM, "mfs?k=2", "rh?k=8")
_MIXED_TEN: Final = (
    "constant?decision=2",
    "constant?decision=3",
    "constant?decision=5",
    _RANDOM,
    "mfs?k=1",
    "mfs?k=2",
    "mfs?k=4",
    "rh?k=8",
    "rh?k=64",
)


def level_of(value: float, width: float, levels: int) -> int:
    """The level of a value, counted from 1 as in the thesis."""
    return level(value, width, levels) + 1


def tasks(figures: Iterable[str], _: Path) -> Iterator[Task]:
    yield from map(task_of, figures)


def task_of(figure: str) -> Task:
    return Task(figure, measure, (figure,), is_long=True)


def settings_of(figure: str) -> TuningSettings:
    game, field = figure.split()
    mixed = _MIXED_TEN if game.endswith("10") else _MIXED
    bots = {"mixed": mixed, "random": (_RANDOM,)}.get(field, (field,))
    specs = tuple(f"{bot},trials={_TRIALS}" if bot.startswith("mfs") else bot for bot in bots)
    return TuningSettings(game=game, opponents=specs, trials=_TRIALS, hands=_HANDS, test=_TEST_HANDS)


def measure(figure: str) -> dict[str, Measured]:
    settings = settings_of(figure)
    return {figure: Measured.over([measured_mbb(settings, Constants(), seed) for seed in range(1, SEEDS + 1)])}
