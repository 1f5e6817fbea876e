"""Where a real betting is in the tree of a strategy: at one node, or at several, each with a weight.

Every action of a limit game is in its tree. In no-limit games the other player's raises may have any size. Each is
measured in pots as they really are and read as the sizes of the tree beside it, with chances
(`bots.cfr.translation`), so a hand is followed along several paths at once. A path counts by the chances of its
readings, times how likely we would have done along it what we did: so playing by all paths at once is the same as
drawing a reading of each raise and staying with it. A path is left where the table contradicts it, as long as there are
others: we did what is not done on it, or everybody is all-in on it and at the table nobody is.

A raise may be read as none. Where the check or call that it is read as ends a round, the path goes on behind an answer
that is still *owed* at the table: a call.

Our own raises are of the fraction of the real pot that the tree has of its own; all-in is always all-in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.files import StrategyFile
from bots.cfr.translation import NO_BET, readings
from engine import CALL, FOLD, RAISE, Action, ActionKind, BettingState, betting_start
from engine.actions import raise_to

__all__ = ["LEFT", "Chances", "Place", "Reading", "actions_at", "mixed", "places"]

LEFT: Final = -1
"""In place of a node: the tree has nothing that corresponds to the table any more."""

Chances: TypeAlias = NDArray[np.float64]
"""By holding: of one that is known, shape (1,), or of all, shape (1326,)."""


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """A node at which a betting may be.

    Attributes:
        node: its number, or `LEFT`.
        matched: the chips a caller has in there, in the tree.
        weights: the chances of the readings that led here, times how likely we would have come along.
        owes_call: whether the node stands behind a call that has not come yet.
        is_exact: whether nothing on the way had to be read.
    """

    node: int
    matched: int
    weights: Chances
    owes_call: bool = False
    is_exact: bool = True


class Reading(NamedTuple):
    """How a raise that the tree does not have was read, on the likeliest path.

    Attributes:
        action: the raise.
        pots: its size as a fraction of the pot.
        known: the sizes it was read as, 0 for none, with their chances.
    """

    action: Action
    pots: float
    known: tuple[tuple[float, float], ...]


Decide: TypeAlias = Callable[[Place, BettingState], Mapping[Action, Chances]]
"""What the player does at a place of its own, by holding, in a state of the table."""


def places(
    strategy: StrategyFile, betting: BettingState, holdings: int, decide: Decide
) -> tuple[list[Place], list[Reading]]:
    """The places of a betting, and how raises were read.

    Args:
        strategy: whose tree.
        betting: at a decision of the player.
        holdings: for how many it is asked.
        decide: what the player does on the way; asked only where there are several paths.
    """
    state = betting_start(strategy.game)
    found = [Place(0, strategy.game.big_blind, np.ones(holdings))]
    read: list[Reading] = []
    for position, action in (one for actions in betting.rounds for one in actions):
        if position == betting.acting_position and len(found) > 1:
            found = _narrowed(found, [decide(place, state).get(action) for place in found])
        likeliest = max(found, key=lambda place: place.weights.sum())
        if (reading := _reading(strategy, likeliest, state, action)) is not None:
            read.append(reading)
        following = [after for place in found for after in _after(strategy, place, state, action)]
        on = [place for place in following if place.node != LEFT]
        found = on or [replace(found[0], node=LEFT, owes_call=False, is_exact=False)]
        state = state.after(action)
    # Over in the tree, but not at the table.
    on = [place for place in found if place.owes_call or (place.node != LEFT and strategy.nodes[place.node])]
    return on or [replace(found[0], node=LEFT)], read


def mixed(
    found: Sequence[Place], decided: Sequence[Mapping[Action, Chances]], left: Mapping[Action, Chances]
) -> dict[Action, Chances]:
    """What is played by all places at once, by their weights.

    Args:
        found: the places.
        decided: what is played at each.
        left: what is played with holdings that would have come to none of them.
    """
    if len(found) == 1:
        return dict(decided[0])
    total = np.sum([place.weights for place in found], axis=0)
    is_left = total == 0
    shares = [place.weights / np.where(is_left, 1, total) for place in found]
    played: dict[Action, Chances] = {}
    for share, chances in zip([*shares, is_left], [*decided, left], strict=True):
        for action, chance in chances.items():
            played[action] = played.get(action, 0.0) + share * chance
    return dict(sorted(played.items()))


def actions_at(strategy: StrategyFile, place: Place, state: BettingState) -> tuple[Action, ...]:
    """What each action of a node is at the table; several may come to the same.

    Args:
        strategy: whose tree.
        place: a decision that owes no call.
        state: at the table.
    """
    fold, raises = _shape(strategy, place.node)
    if strategy.game.is_limit:
        return (FOLD,) * fold + (CALL,) + (RAISE,) * raises
    can_raise = state.legal_actions().can_raise
    totals = _totals(strategy, place, state) if can_raise else []
    return (FOLD,) * fold + (CALL,) + tuple(map(raise_to, totals)) + (CALL,) * (raises - len(totals))


def _narrowed(found: list[Place], chances: Sequence[Chances | None]) -> list[Place]:
    """The places by how likely we would have taken an action at each of them."""
    weights = [
        np.zeros_like(place.weights) if chance is None else place.weights * chance
        for place, chance in zip(found, chances, strict=True)
    ]
    is_ours = np.sum(weights, axis=0) > 0
    # What we would never have done tells nothing about the readings: somebody else has played here.
    weights = [np.where(is_ours, weight, place.weights) for place, weight in zip(found, weights, strict=True)]
    return [replace(place, weights=weight) for place, weight in zip(found, weights, strict=True) if weight.any()]


def _after(strategy: StrategyFile, place: Place, state: BettingState, action: Action) -> list[Place]:
    """The places that follow one; none, or `LEFT`, where the action contradicts it."""
    if place.node == LEFT:
        return [place]
    if place.owes_call:
        return [replace(place, owes_call=False)] if action.kind is ActionKind.CALL else []
    if not strategy.nodes[place.node]:
        return [replace(place, node=LEFT)]
    fold, _ = _shape(strategy, place.node)
    if action.kind is not ActionKind.RAISE:
        return [_gone_on(strategy, place, fold if action.kind is ActionKind.CALL else 0)]
    if strategy.game.is_limit:
        return [_gone_on(strategy, place, fold + 1)]
    following = []
    for number, chance in _readings(strategy, place, state, action):
        if number == NO_BET:
            after = _gone_on(strategy, place, fold)
            is_next = strategy.nodes[after.node] and strategy.rounds[after.node] == strategy.rounds[place.node]
            after = replace(after, owes_call=not is_next, is_exact=False)
        else:
            after = _gone_on(strategy, place, fold + 1 + number)
            is_known = _totals(strategy, place, state)[number] == action.hand_total
            after = replace(after, is_exact=place.is_exact and is_known)
        following.append(replace(after, weights=place.weights * chance))
    return following


def _gone_on(strategy: StrategyFile, place: Place, at: int) -> Place:
    """The place behind an action of the tree."""
    child = strategy.children_of(place.node)[at]
    total = 0 if strategy.game.is_limit else int(strategy.totals[child])
    return replace(place, node=child, matched=total or place.matched)


def _readings(strategy: StrategyFile, place: Place, state: BettingState, action: Action) -> list[tuple[int, float]]:
    """What a raise at the table is read as: numbers of the node's raises, or `NO_BET`, with chances."""
    totals = _totals(strategy, place, state)
    if action.hand_total in totals:
        # Of several, the largest: all-in is all-in in the tree, too.
        return [(len(totals) - 1 - totals[::-1].index(action.hand_total), 1.0)]
    return readings(_pots(action.hand_total, state), [_pots(total, state) for total in totals])


def _reading(strategy: StrategyFile, place: Place, state: BettingState, action: Action) -> Reading | None:
    """How a raise is read at a place; None where nothing has to be read there."""
    is_raise = action.kind is ActionKind.RAISE and not strategy.game.is_limit
    if not is_raise or place.owes_call or place.node == LEFT or not strategy.nodes[place.node]:
        return None
    totals = _totals(strategy, place, state)
    if action.hand_total in totals:
        return None
    known = [
        (0.0 if number == NO_BET else _pots(totals[number], state), chance)
        for number, chance in _readings(strategy, place, state, action)
    ]
    return Reading(action, _pots(action.hand_total, state), tuple(known))


def _shape(strategy: StrategyFile, node: int) -> tuple[int, int]:
    """Whether a decision has a fold, 0 or 1, and how many raises."""
    kinds = int(strategy.nodes[node])
    return kinds & 1, kinds >> 2


def _totals(strategy: StrategyFile, place: Place, state: BettingState) -> list[int]:
    """The hand totals, at the table, of a node's raises: the same fractions of the pot, and all-in for all-in."""
    legal = state.legal_actions()
    found = []
    fold, raises = _shape(strategy, place.node)
    for child in strategy.children_of(place.node)[fold + 1 : fold + 1 + raises]:
        total = int(strategy.totals[child])
        fraction = (total - place.matched) / (2 * place.matched)
        real = state.max_spent + int(fraction * 2 * state.max_spent + 0.5)
        is_all = total >= strategy.game.stacks[state.acting_position]
        found.append(legal.raise_max if is_all else min(max(real, legal.raise_min), legal.raise_max))
    return found


def _pots(total: int, state: BettingState) -> float:
    """The size of a raise as a fraction of the pot after a call."""
    return (total - state.max_spent) / (2 * state.max_spent)
