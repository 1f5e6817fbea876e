"""Train the shipped memories.

    python research/learner/memories.py FOLDER [GAME...]

trains for all games, or those named, in FOLDER, resumes unfinished trainings, and puts the memories into
`bots/learner/memories`. The tests compare the records in these files with the settings below. Afterwards `remake.py`
measures their strength.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import bots.learner
from bots.learner.memory import SHIPPED
from bots.learner.training import LearnerSettings, train
from protocol import find_game

SHIPPED_FOLDER: Final = Path(bots.learner.__file__).parent / "memories"

_ALONE: Final = (
    "calling",
    "folding",
    "raising",
    "random",
    "random?decisions=20/50/15/10/5",
    "constant?decision=3",
    "mfs",
    "rh",
)
_NEIGHBOURS: Final = (
    "mfs",
    "mfs",
    "mfs",
    "mfs?k=1",
    "mfs?k=1",
    "folding",
    "folding",
    "calling",
    "calling",
    "calling",
    "random?decisions=20/50/15/10/5",
    "random?decisions=20/50/15/10/5",
    "rh",
    "rh",
    "random",
    "constant?decision=5",
    "raising",
    "raising",
)
"""Opponents in a ring from patient to wild; line-ups are neighbours.

So at some tables all are careful, at some all are wild, and at most there are a few kinds.

"""


def settings(name: str) -> LearnerSettings:
    """Training of the memory of a game."""
    if find_game(name)[1].num_players == 2:
        return LearnerSettings(
            game=name, opponents=_ALONE, unseen=("rembrant", "mfs?k=4", "rh?k=64"), block=20_000, test=6_000
        )
    return LearnerSettings(
        game=name,
        opponents=_NEIGHBOURS,
        unseen=("mfs?k=4", "rh?k=64", "random?decisions=5/60/20/10/5", "mfs?k=0.5"),
        block=10_000,
        test=3_000,
    )


def hands(name: str) -> int:
    """Length of the training of a game; full tables play the same deals in more rotations."""
    return 200_000 if find_game(name)[1].num_players == 2 else 60_000


def main(arguments: Sequence[str]) -> None:
    """Train the games of the command line."""
    folder, *names = arguments
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in names or SHIPPED:
        path = Path(folder) / f"{name}.memory"
        train(settings(name), hands(name), path, partial(_show, name))
        shutil.copyfile(path, SHIPPED_FOLDER / path.name)


def _show(name: str, part: float | None, so_far: str | Callable[[], str] = "") -> None:
    print(f"{name}: {part or 0:.0%}, {so_far() if callable(so_far) else so_far}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
