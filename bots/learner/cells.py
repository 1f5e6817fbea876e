"""The cell of a state: a level in each of the work's nine dimensions.

A dimension with the interval w has its first level from 0 to w, the second from w to 2w, and so on; what is larger than
the last level goes into the last. The work's example: POT, 7 levels of 13.3; 29 falls into the third. It does not say
where a value on a border belongs: here, into the higher level. ROUND has two levels, the first round and the others.
"""

from __future__ import annotations

from typing import NamedTuple

from bots.formula.observation import Observation
from bots.learner.constants import Constants

__all__ = ["Cell", "cell_of", "level", "level_counts"]


class Cell(NamedTuple):
    """The levels of a state, 0-based, in the order in which the work names the dimensions."""

    chance: int
    pot: int
    raise_: int
    odds: int
    qtyraise: int
    nplayers: int
    followers: int
    round: int
    ingame: int

    @property
    def text(self) -> str:
        """A digit for each dimension."""
        return "".join(map(str, self))

    @classmethod
    def parse(cls, text: str) -> Cell:
        """The cell of such digits.

        Raises:
            ValueError: they are not nine digits.
        """
        if not (len(text) == len(cls._fields) and text.isascii() and text.isdigit()):
            raise ValueError(f"a cell is {len(cls._fields)} digits")
        return cls(*map(int, text))


def level(value: float, interval: float, levels: int) -> int:
    """The 0-based level of a value of 0 or more: floor(value / interval), at most the last."""
    return min(int(value / interval), levels - 1)


def level_counts(constants: Constants) -> Cell:
    """How many levels each dimension has; their product is the number of cells, of which few ever occur."""
    big, little = constants.big_qty, constants.little_qty
    return Cell(big, big, big, big, little, little, little, 2, little)


def cell_of(seen: Observation, constants: Constants) -> Cell:
    """The cell of what a player observes.

    Raises:
        ValueError: CHANCE is unknown.
    """
    if seen.chance_percent is None:
        raise ValueError("a cell needs CHANCE")
    big, little = constants.big_qty, constants.little_qty
    return Cell(
        level(seen.chance_percent, constants.chance_interval, big),
        level(seen.pot_money, constants.pot_interval, big),
        level(seen.raise_money, constants.raise_interval, big),
        level(seen.odds, constants.odds_interval, big),
        level(seen.raise_count, constants.qtyraise_interval, little),
        level(seen.player_count, constants.nplayers_interval, little),
        level(seen.follower_count, constants.followers_interval, little),
        min(seen.round, 1),
        level(seen.in_game_count, constants.ingame_interval, little),
    )
