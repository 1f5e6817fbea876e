"""What the simulation is told to do, as one value: the numbers of the work, and what it leaves open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeVar

__all__ = ["ALL_FOLDS", "LOST", "NO_FOLDS", "ROUND_FOLDS", "WHOLE_HAND", "SimulationOptions"]

_Value = TypeVar("_Value")

ALL_FOLDS: Final = "all"
ROUND_FOLDS: Final = "round"
NO_FOLDS: Final = "none"
LOST: Final = "lost"
WHOLE_HAND: Final = "whole"

_MOST_TRIALS: Final = 10_000_000
_MOST_PRIOR: Final = 1e6


def _option(default: _Value, decides: str) -> _Value:
    """A field whose metadata say what it decides."""
    chosen: _Value = field(default=default, metadata={"decides": decides})
    return chosen


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """How to simulate and how to choose; the metadata of each field say what it decides.

    Raises:
        ValueError: a value is out of range; the sentence names it.
    """

    trials: int = _option(10_000, "how many showdowns are drawn for each decision")
    batches: int = _option(
        1,
        "into how many batches they are divided: in each the opponent is as aggressive as one number says that is "
        "drawn for it, from 0, where it takes the first of fold, call and raise, to 1, the last",
    )
    threshold: float = _option(
        0.05,
        "how near the values of call and raise must be, as a share of the pot, for the hand's aggression to decide "
        "between them; both must be positive",
    )
    aggression: float = _option(
        0.5, "0 to 1: the probability that it decides for the raise; drawn once at the start of each hand"
    )
    prior: float = _option(
        1.0, "how many actions of each legal kind the model of the opponent begins with, in each of its cells"
    )
    weakest: str = _option(
        ALL_FOLDS,
        "which folds say what share of the opponent's hands is left out from the weak end: all, among its actions in "
        "all rounds; round, among its answers to a bet in the present one; none, nothing is left out",
    )
    sunk: str = _option(
        LOST,
        "the chips we have put in before: lost, whatever we do, so that a fold is worth 0; whole, the values of call "
        "and raise are those of the whole hand, and a fold is worth 0 all the same",
    )

    def __post_init__(self) -> None:
        if not 1 <= self.trials <= _MOST_TRIALS:
            raise ValueError(f"trials must be 1 to {_MOST_TRIALS:,}, not {self.trials:,}")
        if not 1 <= self.batches <= self.trials:
            raise ValueError(f"batches must be 1 to the number of trials, {self.trials:,}, not {self.batches:,}")
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold must be a share of the pot from 0 to 1, not {self.threshold}")
        if not 0 <= self.aggression <= 1:
            raise ValueError(f"aggression must be a probability from 0 to 1, not {self.aggression}")
        if not 0 <= self.prior <= _MOST_PRIOR:
            raise ValueError(f"prior must be 0 to {_MOST_PRIOR:g}, not {self.prior}")
        if self.weakest not in (ALL_FOLDS, ROUND_FOLDS, NO_FOLDS):
            raise ValueError(f"weakest must be {ALL_FOLDS}, {ROUND_FOLDS} or {NO_FOLDS}, not {self.weakest}")
        if self.sunk not in (LOST, WHOLE_HAND):
            raise ValueError(f"sunk must be {LOST} or {WHOLE_HAND}, not {self.sunk}")
