"""What the work leaves open, as one value: the reading of the slash cells, its probabilities, the bet sizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeVar

__all__ = ["DETERMINISTIC", "PROBABILISTIC", "Style"]

_Value = TypeVar("_Value")

DETERMINISTIC: Final = "deterministic"
PROBABILISTIC: Final = "probabilistic"

_CHANCES: Final = ("chance", "chance_danger", "chance_dry")
_SIZES: Final = ("open_bb", "reraise_times", "bet_pot", "bet_pot_danger", "raise_times")
_LARGEST_SIZE: Final = 1e6
"""Any larger size is all-in in every game."""


def _option(default: _Value, decides: str) -> _Value:
    """A field whose metadata say what it decides."""
    chosen: _Value = field(default=default, metadata={"decides": decides})
    return chosen


@dataclass(frozen=True, slots=True)
class Style:
    """How to play where the work is silent; the metadata of each field say what it decides.

    Raises:
        ValueError: a value is out of range; the sentence names it.
    """

    reading: str = _option(
        DETERMINISTIC,
        "how the board chooses between the two moves of a cell with a slash: deterministic, by fixed rules; "
        "probabilistic, by the three chances",
    )
    chance: float = _option(
        0.5,
        "0 to 1, probabilistic reading: the probability of the more aggressive move on a board that is neither dry nor "
        "invites draws",
    )
    chance_danger: float = _option(0.8, "like chance, on a board that invites draws")
    chance_dry: float = _option(0.2, "like chance, on a dry board, and where one card makes a straight")
    river_danger: bool = _option(
        False, "whether two cards of a suit count as danger on the river, where no draw is left"
    )
    four_straight: str = _option(
        "fold",
        "what four cards to a straight on the board mean for a hand below a straight: fold, no bet is paid, in the "
        "work's own words; slash, they decide only the cells with a slash",
    )
    complete: int = _option(
        8, "7, 8 or 9: the last group with which a bot that has posted a blind calls where the table says check"
    )
    open_bb: float = _option(4.0, "the first raise before the flop, in big blinds; the work says 3 to 5")
    reraise_times: float = _option(
        3.5, "a re-raise before the flop, as a multiple of the opponent's raise; the work says 3 to 4"
    )
    bet_pot: float = _option(0.667, "a bet after the flop, as a fraction of the pot")
    bet_pot_danger: float = _option(1.0, "like bet_pot, on a board that invites draws")
    raise_times: float = _option(3.5, "a re-raise after the flop, as a multiple of the opponent's bet or raise")

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
