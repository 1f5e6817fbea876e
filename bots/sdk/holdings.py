"""Action probabilities of all 1,326 holdings, as `Bot.policy_by_holding` returns them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.sdk.view import View
from engine import Action, Card
from engine.cards import STARTING_HANDS, cards_of
from engine.ranges import HOLDINGS, are_free, classes

HoldingChances: TypeAlias = Mapping[Action, "float | NDArray[np.float64]"]
"""Probability of each action, a number or an array of shape (1326,) in the order of `engine.ranges.HOLDINGS`."""


def view_with(view: View, cards: tuple[Card, ...]) -> View:
    """Make the same view with these cards as the player's own; the others' stay hidden."""
    return View.from_holding(view.betting, view.position, cards, view.board, view.hand_number)


def policy_by_class(view: View, policy: Callable[[View], Mapping[Action, float]]) -> HoldingChances:
    """Evaluate a preflop policy for all holdings by one call per class of starting hands.

    Args:
        policy: depends on the ranks of the cards and on whether they are suited, but not on the suits.
    """
    chances_by_class: dict[Action, NDArray[np.float64]] = {}
    for number in range(len(STARTING_HANDS)):
        for action, chance in policy(view_with(view, cards_of(number))).items():
            if action not in chances_by_class:
                chances_by_class[action] = np.zeros(len(STARTING_HANDS))
            chances_by_class[action][number] = chance
    return {action: chances[classes()] for action, chances in chances_by_class.items()}


def pure_policy(
    view: View, decisions: Sequence[int] | NDArray[np.int64], action_of: Callable[[int], Action]
) -> HoldingChances:
    """Build the policy of a player that takes one action with each holding.

    Args:
        decisions: a number for each holding, or for each that shares no card with the board.
        action_of: returns the action of such a number; two numbers may mean the same action.
    """
    numbers = np.asarray(decisions)
    free = are_free(view.board)
    by_holding = np.zeros(len(HOLDINGS), np.int64)
    if len(numbers) == len(HOLDINGS):
        numbers = numbers[free]
    by_holding[free] = numbers
    policy: dict[Action, NDArray[np.float64]] = {}
    for number in np.unique(by_holding[free]):
        action = action_of(int(number))
        if action not in policy:
            policy[action] = np.zeros(len(HOLDINGS))
        policy[action] += free & (by_holding == number)
    return policy
