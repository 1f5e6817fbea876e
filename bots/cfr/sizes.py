"""Which bets and raises a no-limit tree has: fractions of the pot and all-in, by round and by raise of the round.

They are written as a text. ``0.5,1,all:1,all:all`` is a round in which the first to put chips in bets half the pot, the
pot or everything, the next one raises by the pot or everything, the third one everything, and nobody raises after that.
Rounds follow one another with ``/``; one alone stands for all rounds. A fraction is of the pot as it is after a call: a
raise by the pot of 300 into 300 makes the total 300 + 600.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bots.errors import SolvingError
from engine import Action, ActionKind, BettingState
from engine.actions import raise_to

__all__ = ["ALL_IN", "HOLDEM_SIZES", "ROUND_SIZES", "BetSizes", "read_sizes"]

ALL_IN: Final = "all"
HOLDEM_SIZES: Final = "0.5,1,all:1,all:1,all:all/0.5,1,all:1,all:all/0.5,1,all:1,all:all/0.5,1,all:1,all:all"
"""Where no others are given, in hold'em."""
ROUND_SIZES: Final = "0.5,1,all:1,all:all"
"""Where no others are given, in other games."""
_MOST_SIZES: Final = 12
"""Of one raise."""
_MOST_FRACTION: Final = 1000.0
_NEARLY_ALL: Final = (2, 3)
"""A raise that puts in more than this part of the stack puts in all of it: the rest would follow anyway."""


@dataclass(frozen=True, slots=True)
class BetSizes:
    """The raises of a no-limit tree, as `bots.cfr.tree.betting_tree` asks for them.

    Attributes:
        rounds: by round and by raise of the round, the fractions of the pot, ascending; infinite for all-in.
    """

    rounds: tuple[tuple[tuple[float, ...], ...], ...]

    def __call__(self, state: BettingState) -> Sequence[Action]:
        """The raises in a state in which there can be one, smallest first."""
        of_round = self.rounds[state.round]
        raises = sum(action.kind is ActionKind.RAISE for _, action in state.rounds[-1])
        if raises >= len(of_round):
            return []
        legal, pot = state.legal_actions(), state.pot + state.to_call
        part, whole = _NEARLY_ALL
        totals = set()
        for fraction in of_round[raises]:
            exact = math.inf if math.isinf(fraction) else state.max_spent + fraction * pot
            is_all = exact * whole > legal.raise_max * part
            totals.add(legal.raise_max if is_all else max(int(exact + 0.5), legal.raise_min))
        return [raise_to(total) for total in sorted(totals)]


def read_sizes(text: str, rounds: int) -> BetSizes:
    """The sizes of a text; see the head of this module.

    Args:
        text: the sizes.
        rounds: of the game.

    Raises:
        SolvingError: the text cannot be read, or is for another number of rounds.
    """
    parts = text.split("/")
    if len(parts) not in (1, rounds):
        raise SolvingError(f"sizes are given for one round, which stands for all, or for all {rounds}, not {text!r}")
    found = tuple(tuple(_fractions(level) for level in part.split(":")) for part in parts)
    return BetSizes(found * (rounds // len(parts)))


def _fractions(text: str) -> tuple[float, ...]:
    words = text.split(",") if text else []
    try:
        found = sorted({math.inf if word == ALL_IN else float(word) for word in words})
    except ValueError:
        found = []
    if not found or len(words) > _MOST_SIZES or not all(_is_fraction(fraction) for fraction in found):
        raise SolvingError(
            f"the sizes of a raise are 1 to {_MOST_SIZES} fractions of the pot and {ALL_IN!r}, such as 0.5,1,all, "
            f"not {text!r}"
        )
    return tuple(found)


def _is_fraction(fraction: float) -> bool:
    return fraction == math.inf or 0 < fraction <= _MOST_FRACTION
