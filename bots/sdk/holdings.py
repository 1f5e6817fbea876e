"""What a policy does with each of the 1,326 holdings of hold'em: the values that `Bot.policy_by_holding` gives."""

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
"""The probability of each action: with all holdings, or by holding in the order of `engine.ranges`."""


def view_with(view: View, cards: tuple[Card, ...]) -> View:
    """The same state for a player who holds these cards."""
    return View.from_holding(view.betting, view.position, cards, view.board, view.hand_number)


def policy_by_class(view: View, policy: Callable[[View], Mapping[Action, float]]) -> HoldingChances:
    """A policy before the flop that depends on ranks and on whether the suits are one, asked for each class once."""
    found: dict[Action, NDArray[np.float64]] = {}
    for number in range(len(STARTING_HANDS)):
        for action, chance in policy(view_with(view, cards_of(number))).items():
            found.setdefault(action, np.zeros(len(STARTING_HANDS)))[number] = chance
    return {action: chances[classes()] for action, chances in found.items()}


def pure_policy(
    view: View, decisions: Sequence[int] | NDArray[np.int64], action_of: Callable[[int], Action]
) -> HoldingChances:
    """A player who takes one action with each holding; decisions are for the holdings that the board leaves, or all."""
    taken = np.asarray(decisions)
    free = are_free(view.board)
    whole = np.zeros(len(HOLDINGS), np.int64)
    whole[free] = taken[free] if len(taken) == len(HOLDINGS) else taken
    found: dict[Action, NDArray[np.float64]] = {}
    for decision in np.unique(whole[free]):
        action = action_of(int(decision))
        found[action] = found.get(action, np.zeros(len(HOLDINGS))) + (free & (whole == decision))
    return found
