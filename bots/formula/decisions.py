"""The five decisions of the work, and the action for each of them.

Every player of the work chooses one of a few numbered decisions. The table that lists them is missing; a caption says
that 2 means to continue. Here 1 folds, and the higher numbers raise by increasing amounts. An illegal decision becomes
the nearest legal action: a fold with nothing to call is a check, a raise where none is allowed is a call, and a size is
clamped to its bounds. In a limit game all three raises have the fixed size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from itertools import accumulate
from typing import Final

from bots.sdk.view import View
from engine import CALL, FOLD, Action
from engine.errors import quoted

__all__ = ["Decision", "Proportions", "action_of"]


class Decision(IntEnum):
    """The decisions of a player: 2 is the work's, the others are defined here."""

    FOLD = 1
    CALL = 2
    SMALL_RAISE = 3
    MEDIUM_RAISE = 4
    LARGE_RAISE = 5

    @property
    def words(self) -> str:
        """The name of the decision."""
        return self.name.lower().replace("_", " ")


_ACTIONS: Final[Mapping[Decision, Callable[[View], Action]]] = {
    Decision.FOLD: lambda view: view.nearest_legal(FOLD),
    Decision.CALL: lambda view: CALL,
    Decision.SMALL_RAISE: View.raise_min,
    Decision.MEDIUM_RAISE: lambda view: view.raise_by_pot(0.5),
    Decision.LARGE_RAISE: lambda view: view.raise_by_pot(1.0),
}
"""Table 2, as defined here: the raises are the minimum, half the pot and the pot, as it is after calling."""


def action_of(decision: Decision, view: View) -> Action:
    """The legal action for a decision in this state."""
    return _ACTIONS[decision](view)


class Proportions:
    """How often each decision is drawn: table 3, as a parameter, since its numbers are missing."""

    def __init__(self, text: str) -> None:
        """Read five numbers, for the decisions 1 to 5, such as ``20/50/15/10/5``; they need not sum to 100.

        Raises:
            ValueError: not five numbers of 0 or more, or all 0.
        """
        try:
            weights = [float(part) for part in text.split("/")]
        except ValueError:
            weights = []
        if len(weights) != len(Decision) or min(weights) < 0 or not 0 < sum(weights) < float("inf"):
            raise ValueError(
                f"decisions must be five proportions such as 20/50/15/10/5, for fold, call, small, medium and large "
                f"raise, of 0 or more and not all 0, not {quoted(text)}"
            )
        total = sum(weights)
        self.chances: Mapping[Decision, float] = {
            decision: weight / total for decision, weight in zip(Decision, weights, strict=True) if weight
        }
        """The probability of each decision that may be drawn."""
        self._ends = tuple(accumulate(self.chances.values()))

    def draw(self, number: float) -> Decision:
        """The decision for a random number in [0, 1)."""
        for decision, end in zip(self.chances, self._ends, strict=True):
            if number < end:
                return decision
        return decision  # rounding may leave the last end just below 1

    def policy(self, view: View) -> Mapping[Action, float]:
        """The probability of each action in a state; several decisions may lead to one action."""
        chances: dict[Action, float] = {}
        for decision, chance in self.chances.items():
            action = action_of(decision, view)
            chances[action] = chances.get(action, 0.0) + chance
        return chances
