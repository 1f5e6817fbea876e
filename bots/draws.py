"""Random numbers of a decision: they follow from a seed and the state, so a match can be resumed or split anywhere."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from bots.view import View
from engine import Action
from engine.splitmix import MASK_64, STEP, mixed

__all__ = ["draw", "drawn_action", "fresh_seed", "uniform"]

_MOST_ACTIONS: Final = 512
"""More than a hand of any game has."""


def fresh_seed() -> int:
    """A seed for a bot that was given none."""
    return int.from_bytes(os.urandom(8))


def draw(seed: int, view: View, at: int | None = None) -> int:
    """64 random bits for a decision: by the seed, the hand, our position and how many actions there have been.

    Args:
        seed: of the bot.
        view: the state.
        at: in place of the number of actions, plus 1.
    """
    if at is None:
        at = 1 + sum(map(len, view.betting.rounds))
    hand = mixed(mixed(seed & MASK_64) + view.hand_number * STEP & MASK_64)
    return mixed(hand + (_MOST_ACTIONS * (1 + view.position) + at) * STEP & MASK_64)


def uniform(word: int) -> float:
    """A number from 0 up to 1, from 64 random bits."""
    return (word >> 11) * 2.0**-53


def drawn_action(policy: Mapping[Action, float], number: float) -> Action:
    """The action of a number from 0 up to 1; one that has no probability is never taken.

    Args:
        policy: probabilities that sum to 1, to within rounding: the last one leaves no gap.
        number: drawn.
    """
    chosen, below = None, 0.0
    for action, chance in policy.items():
        if chance > 0:
            chosen, below = action, below + chance
            if number < below:
                break
    if chosen is None:
        raise ValueError("no action has any probability")
    return chosen
