"""What a strategy plays at the table: its probabilities at the places where a betting may be, as one policy.

Two decisions are not the tree's. Where the tree has nothing that corresponds to the table, and where a call would put
in everything on a path on which sizes had to be read, a hand is held against the price: it calls if its standing among
all hands is at least the part of the final pot that the call pays. On a path that is the tree's own to the chip, the
strategy is played as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.abstraction import NO_BUCKET
from bots.cfr.files import StrategyFile
from bots.cfr.places import LEFT, Chances, Place, Reading, actions_at, mixed, places
from engine import CALL, FOLD, Action, BettingState, Card
from engine.holdem import is_dealt_as_holdem

__all__ = ["Played", "decided_at", "play"]

Buckets: TypeAlias = NDArray[np.integer[Any]]
BucketsOn: TypeAlias = Callable[[tuple[Card, ...]], Buckets]
"""The buckets of one holding, shape (1,), or of all, shape (1326,), with the board as it was in a round."""


class Played(NamedTuple):
    """What is played in a state.

    Attributes:
        policy: the probability of each action by holding; every action has some with one of them.
        read: how raises of the other player were read that the tree does not have.
    """

    policy: Mapping[Action, Chances]
    read: tuple[Reading, ...]


def play(strategy: StrategyFile, betting: BettingState, board: tuple[Card, ...], buckets_on: BucketsOn) -> Played:
    """What a strategy plays.

    Args:
        strategy: of the game.
        betting: a decision.
        board: the cards on the table.
        buckets_on: the buckets of the holdings that are asked for.
    """
    shown = strategy.game.board_cards_by_round

    def decide(place: Place, state: BettingState) -> Mapping[Action, Chances]:
        return decided_at(strategy, place, state, buckets_on(board[: shown[state.round]]))

    found, read = places(strategy, betting, len(buckets_on(board)), decide)
    left = decide(replace(found[0], node=LEFT, owes_call=False), betting)
    policy = mixed(found, [decide(place, betting) for place in found], left)
    return Played({action: chances for action, chances in policy.items() if chances.any()}, tuple(read))


def decided_at(strategy: StrategyFile, place: Place, state: BettingState, buckets: Buckets) -> Mapping[Action, Chances]:
    """What is played at one place.

    Args:
        strategy: of the game.
        place: where the betting may be.
        state: at the table, a decision.
        buckets: of the holdings.
    """
    ones = np.ones(len(buckets))
    if place.owes_call:
        return {CALL: ones}
    if place.node == LEFT:
        return _priced({CALL: ones}, strategy, state, buckets)
    decided: dict[Action, Chances] = {}
    for action, chances in zip(
        actions_at(strategy, place, state), _chances(strategy, place.node, buckets), strict=True
    ):
        decided[action] = decided.get(action, 0.0) + chances
    is_all = state.spent[state.acting_position] + state.to_call >= strategy.game.stacks[state.acting_position]
    return decided if place.is_exact or not is_all else _priced(decided, strategy, state, buckets)


def _priced(
    decided: dict[Action, Chances], strategy: StrategyFile, state: BettingState, buckets: Buckets
) -> Mapping[Action, Chances]:
    """The same, but for calls that hands of their standing do not pay."""
    if not state.legal_actions().can_fold or not is_dealt_as_holdem(strategy.game) or not state.round:
        return decided
    price = state.to_call / (state.pot + state.to_call)
    refuses = (buckets + 0.5) / strategy.buckets[state.round] < price
    calls = decided[CALL]
    folds = decided.get(FOLD, np.zeros(len(buckets))) + np.where(refuses, calls, 0.0)
    return {**decided, FOLD: folds, CALL: np.where(refuses, 0.0, calls)}


def _chances(strategy: StrategyFile, node: int, buckets: Buckets) -> Chances:
    """The probabilities of a node's actions, shape (actions, holdings)."""
    if len(buckets) == 1:
        return np.array(strategy.chances_of(node, int(buckets[0])))[:, None]
    chances = strategy.chances(node)
    # A holding that shares a card with the board counts for nothing, and has even chances.
    padded = np.full((len(chances), NO_BUCKET + 1), 1 / len(chances))
    padded[:, : chances.shape[1]] = chances
    return padded[:, buckets]
