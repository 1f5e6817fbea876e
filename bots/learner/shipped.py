"""The memories that come with the arena: what `learner` starts from in the games they were trained for.

Each is a file that `arena train learner` wrote, named after its game; its first line holds the record of the training.
`docs/learner/memories.py` trains them again.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Final

from bots.learner.constants import Constants
from bots.learner.files import read_memory
from bots.learner.memory import Memory
from engine import Game
from protocol import find_game

__all__ = ["SHIPPED", "shipped_memory"]

SHIPPED: Final = ("limit", "nolimit", "limit3", "nolimit3", "limit6", "nolimit6", "limit10", "nolimit10")
"""The games, by their short names. In any other, of other stakes or between another number of players, nothing has been
measured, and a learner starts from nothing."""

_FOLDER: Final = os.path.join(os.path.dirname(__file__), "memories")


def shipped_memory(game: Game, constants: Constants) -> Memory:
    """The memory for a game; an empty one for other games, and for constants that it was not trained with."""
    for name in SHIPPED:
        if find_game(name)[1] == game and (memory := _read(name)).constants == constants:
            return memory
    return Memory(constants)


@cache
def _read(name: str) -> Memory:
    return read_memory(os.path.join(_FOLDER, f"{name}.memory"))
