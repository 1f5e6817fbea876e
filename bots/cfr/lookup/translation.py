"""Readings of raises that a strategy's tree lacks, and the raises of a node at the table.

A bet is read as one of the neighbouring sizes of the tree, by the pseudo-harmonic mapping (`readings`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.strategy_files import StrategyFile
from engine import Action, BettingState

NO_BET: Final = -1
"""In place of the index of a size: the bet is read as a call or a check."""


def lower_chance(size: float, lower: float, upper: float) -> float:
    """Return the probability of reading a bet as the lower of two sizes, by the pseudo-harmonic mapping.

    With x the bet, A the lower and B the upper size, in pots, it is (B - x)(1 + A) / ((B - A)(1 + x)) (Ganzfried &
    Sandholm 2013, "Action translation in extensive-form games with large action spaces"). It makes a bettor indifferent
    between a bluff and giving up in a game of one round with these two sizes.

    Args:
        lower: at least 0, at most `size`.
        upper: at least `size`, may be infinite.
    """
    if upper == float("inf"):
        return (1 + lower) / (1 + size)
    return (upper - size) * (1 + lower) / ((upper - lower) * (1 + size))


def readings(size: float, known: Sequence[float]) -> list[tuple[int, float]]:
    """Return the readings of a bet: indices of known sizes, or `NO_BET`, with probabilities above 0 that sum to 1.

    A bet below the smallest size is between it and no bet, size 0. A bet above the largest size is read as the largest.

    Args:
        size: the bet, in pots after a call.
        known: sizes above 0, ascending.
    """
    upper = bisect_left(known, size)
    if upper == len(known):
        return [(upper - 1, 1.0)]  # -1, that is `NO_BET`, if there are no sizes.
    lower_size = known[upper - 1] if upper else 0.0
    chance = lower_chance(size, lower_size, known[upper])
    readings = []
    if chance > 0:
        readings.append((upper - 1, chance))
    if chance < 1:
        readings.append((upper, 1 - chance))
    return readings


OFF_TREE: Final = -1
"""In place of a node: the tree has no node for the betting."""
Chances: TypeAlias = NDArray[np.float64]
"""Probabilities by holding, shape (1,) for a known one or (1326,) for all."""


@dataclass(frozen=True, eq=False, slots=True)
class TreePosition:
    """A node at which a betting may be.

    Attributes:
        node: number of the node, or `OFF_TREE`.
        matched: chips in the tree that each caller has put in.
        weights: probability of the readings on the path, times that of the player's own actions, by holding.
        owes_call: whether the node follows a call that has not been made yet.
        is_exact: whether the path has no readings; in limit games, whether this round has none.
        price: in limit games, a call as a part of the pot after it, in the tree; 0 if no call is owed.
        tree: in a merged tree, the state of the node in the chips of its part.
    """

    node: int
    matched: int
    weights: Chances
    owes_call: bool = False
    is_exact: bool = True
    price: float = 0.0
    tree: BettingState | None = None


Decide: TypeAlias = Callable[[TreePosition, BettingState], Mapping[Action, Chances]]
"""Returns the probability of each action by holding, at a position of the tree and a state of the table."""


class Reading(NamedTuple):
    """Reading of a raise that the tree lacks, on the likeliest path.

    Attributes:
        pots: size of the raise, in pots after a call.
        known: sizes that it was read as, likewise, 0 for no bet, with their probabilities.
    """

    action: Action
    pots: float
    known: tuple[tuple[float, float], ...]


class Shape(NamedTuple):
    """Number of folds, calls and raises of a decision, of which the first two are 0 or 1."""

    fold: int
    call: int
    raises: int


def shape(strategy: StrategyFile, node: int) -> Shape:
    kinds = int(strategy.nodes[node])
    return Shape(kinds & 1, kinds >> 1 & 1, kinds >> 2)


def table_totals(strategy: StrategyFile, place: TreePosition, state: BettingState) -> list[int]:
    """Return the hand totals of a node's raises at the table: equal fractions of the real pot, or all-in."""
    legal = state.legal_actions()
    totals = []
    node = shape(strategy, place.node)
    for child in strategy.children_of(place.node)[node.fold + node.call :]:
        total = int(strategy.totals[child])
        if place.tree is None:
            # The pot after a call has `matched` chips of each of the two players.
            fraction = (total - place.matched) / (2 * place.matched)
        else:
            fraction = in_pots(total, place.tree)
        real = state.max_spent + int(fraction * (state.pot + state.to_call) + 0.5)
        # All-in in the tree is all-in at the table, whatever the pots.
        is_all = total >= strategy.game.stacks[state.acting_position]
        if is_all:
            real = legal.raise_max
        totals.append(min(max(real, legal.raise_min), legal.raise_max))
    return totals


def in_pots(total: int, state: BettingState) -> float:
    """Return the size of a raise as a fraction of the pot after a call."""
    return (total - state.max_spent) / (state.pot + state.to_call)


def read_total(total: int, known: Sequence[int], state: BettingState) -> list[tuple[int, float]]:
    """Return the readings of a raise to a hand total as indices of known ones, ascending, or `NO_BET`, with chances."""
    if total in known:
        # The last of several equal totals, so that all-in is all-in in the tree, too.
        return [(max(number for number, other in enumerate(known) if other == total), 1.0)]
    return readings(in_pots(total, state), [in_pots(other, state) for other in known])


def reading_of(action: Action, known: Sequence[int], state: BettingState) -> Reading:
    """Describe the reading of a raise as one of the known hand totals."""
    sizes = []
    for number, chance in read_total(action.hand_total, known, state):
        size = 0.0
        if number != NO_BET:
            size = in_pots(known[number], state)
        sizes.append((size, chance))
    return Reading(action, in_pots(action.hand_total, state), tuple(sizes))


def weigh_own_action(places: Sequence[TreePosition], chances: Sequence[Chances | None]) -> list[TreePosition]:
    """Multiply the weight of each position by the probability of the player's action there."""
    weights = []
    for place, chance in zip(places, chances, strict=True):
        weights.append(np.zeros_like(place.weights) if chance is None else place.weights * chance)
    is_possible: NDArray[np.bool_] = np.sum(weights, axis=0) > 0
    weighed = []
    for place, weight in zip(places, weights, strict=True):
        # An action that the strategy takes on no path says nothing about the readings: it was another player's.
        kept = np.where(is_possible, weight, place.weights)
        if kept.any():
            weighed.append(replace(place, weights=kept))
    return weighed
