"""What the work leaves open, as one value: the reading of the slash cells, its probabilities, the bet sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["DETERMINISTIC", "PROBABILISTIC", "Style"]

DETERMINISTIC: Final = "deterministic"
PROBABILISTIC: Final = "probabilistic"

_CHANCES: Final = ("chance", "chance_danger", "chance_dry")
_SIZES: Final = ("open_bb", "reraise_times", "bet_pot", "bet_pot_danger", "raise_times")
_LARGEST_SIZE: Final = 1e6
"""Any larger size is all-in in every game."""


@dataclass(frozen=True, slots=True)
class Style:
    """How to play where the work is silent.

    Raises:
        ValueError: a value is out of range; the sentence names it.
    """

    reading: str = DETERMINISTIC
    """How the board decides a cell with a slash: by fixed rules, or by the probabilities below."""
    chance: float = 0.5
    """Probability of the more aggressive move on a board that is neither dry nor invites draws."""
    chance_danger: float = 0.8
    """The same, on a board that invites draws."""
    chance_dry: float = 0.2
    """The same, on a dry board."""
    river_danger: bool = False
    """Whether two cards of a suit count as danger on the river too."""
    four_straight: str = "slash"
    """Four cards to a straight on the board: ``slash`` decides the cells with a slash, ``fold`` folds everything below
    a straight to any bet."""
    complete: int = 8
    """The last group with which a bot that has posted a blind calls where a check is not free: 7, 8 or 9."""
    open_bb: float = 4.0
    """The first raise before the flop, in big blinds."""
    reraise_times: float = 3.5
    """A re-raise before the flop, as a multiple of the opponent's raise."""
    bet_pot: float = 0.667
    """A bet after the flop, as a fraction of the pot."""
    bet_pot_danger: float = 1.0
    """The same, on a board that invites draws."""
    raise_times: float = 3.5
    """A re-raise after the flop, as a multiple of the opponent's bet or raise."""

    def __post_init__(self) -> None:
        _require("reading", self.reading, (DETERMINISTIC, PROBABILISTIC))
        _require("four_straight", self.four_straight, ("slash", "fold"))
        _require("complete", self.complete, (7, 8, 9))
        for name in _CHANCES:
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be a probability from 0 to 1, not {getattr(self, name)}")
        for name in _SIZES:
            if not 0 < getattr(self, name) <= _LARGEST_SIZE:
                raise ValueError(f"{name} must be above 0 and at most {_LARGEST_SIZE:g}, not {getattr(self, name)}")


def _require(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        *others, last = map(str, allowed)
        raise ValueError(f"{name} must be {', '.join(others)} or {last}, not {value}")
