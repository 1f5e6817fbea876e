"""Map a real hand to nodes of a strategy's tree, and return the policy and the ranges there.

A bet that the tree lacks is read as one of the neighbouring sizes, by the pseudo-harmonic mapping (`readings`). A
betting can therefore be at several nodes, each with a weight (`tree_positions`). A weight is the probability of the
readings on the path, times that of the player's own actions along it. Playing the weighted mean of all paths equals
drawing one reading of each raise and staying with it.

`play` merges the strategy at these nodes into one policy. Decisions outside the tree follow the price of a call
(`_fold_below_price`). `find_ranges` returns the probability of each holding when both players follow the strategy.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_CARDS, HOLDING_COUNT
from bots.cfr.strategy_files import StrategyFile
from engine import CALL, FOLD, RAISE, Action, ActionKind, BettingState, Card, betting_start
from engine.betting_rules import raise_to
from engine.hand import decisions
from engine.holdem import is_dealt_as_holdem
from engine.kernels.cards import BITS, KEYS, START
from engine.kernels.showdowns import rank_sevens
from engine.ranges import are_free

_KEYS: Final = KEYS.astype(np.int64)
_BITS: Final = BITS.astype(np.int64)
_START: Final = int(START)
_HOLDING_KEYS: Final = _KEYS[HOLDING_CARDS].sum(axis=1)
_HOLDING_BITS: Final = _BITS[HOLDING_CARDS].sum(axis=1)


def ranks_on(board: Sequence[int]) -> NDArray[np.int64]:
    """Return the rank of each holding on a full board, shape (1326,), 0 if it shares a card with the board."""
    cards = list(board)
    board_bits = int(_BITS[cards].sum())
    keys = _HOLDING_KEYS + (_START + int(_KEYS[cards].sum()))
    live = np.flatnonzero((_HOLDING_BITS & board_bits) == 0)
    ranks = np.zeros(HOLDING_COUNT, np.int64)
    ranks[live] = rank_sevens(keys[live], lambda which: _HOLDING_BITS[live[which]] | board_bits)
    return ranks


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
    """

    node: int
    matched: int
    weights: Chances
    owes_call: bool = False
    is_exact: bool = True
    price: float = 0.0


class Reading(NamedTuple):
    """Reading of a raise that the tree lacks, on the likeliest path.

    Attributes:
        pots: size of the raise, in pots after a call.
        known: sizes that it was read as, likewise, 0 for no bet, with their probabilities.
    """

    action: Action
    pots: float
    known: tuple[tuple[float, float], ...]


_Decide: TypeAlias = Callable[[TreePosition, BettingState], Mapping[Action, Chances]]
"""Returns the probability of each action by holding, at a position of the tree and a state of the table."""


def tree_positions(
    strategy: StrategyFile, betting: BettingState, holdings: int, decide: _Decide
) -> tuple[list[TreePosition], list[Reading]]:
    """Return the positions of a betting in the tree, and the readings of raises.

    Args:
        betting: at a decision of the player.
        holdings: number of holdings, 1 or 1326.
        decide: called for the player's earlier decisions, as long as there are several paths.
    """
    if strategy.game.is_limit:
        return [_limit_position(strategy, betting, holdings)], []
    places = [TreePosition(0, strategy.game.big_blind, np.ones(holdings))]
    read: list[Reading] = []
    for state, action in decisions(betting):
        if state.acting_position == betting.acting_position and len(places) > 1:
            places = _weigh_own_action(places, [decide(place, state).get(action) for place in places])
        likeliest = max(places, key=lambda place: place.weights.sum())
        reading = _read_raise(strategy, likeliest, state, action)
        if reading is not None:
            read.append(reading)
        following = []
        for place in places:
            following += [after for after in _after(strategy, place, state, action) if after.node != OFF_TREE]
        # A path that the table contradicts is dropped, unless it is the last one.
        places = following or [replace(places[0], node=OFF_TREE, owes_call=False, is_exact=False)]
    # Drop paths on which the hand is over in the tree, but not at the table.
    live = [place for place in places if place.owes_call or (place.node != OFF_TREE and strategy.nodes[place.node])]
    return live or [replace(places[0], node=OFF_TREE)], read


def _limit_position(strategy: StrategyFile, betting: BettingState, holdings: int) -> TreePosition:
    """Return the position of a betting of a limit game, whose tree may have fewer raises per round than the rules.

    A raise beyond the tree is read as a call. Players who have called in the tree still owe calls at the table.
    """
    table = tree = betting_start(strategy.game)
    node = 0
    is_exact = True
    for actions in betting.rounds:
        for position, action in actions:
            if _is_in_step(tree, table) and tree.acting_position == position:
                is_read = action.kind is ActionKind.RAISE and not _shape(strategy, node)[1]
                is_exact &= not is_read
                node, tree = _advance(strategy, node, tree, CALL if is_read else action)
            before = table
            table = table.after(action)
            is_exact |= table.round > before.round
            # A player who has folded at the table folds in the tree as soon as it is in turn there.
            while not tree.finished and tree.acting_position != -1 and table.folded >> tree.acting_position & 1:
                node, tree = _advance(strategy, node, tree, FOLD)
    owes_call = tree.round > table.round or (tree.round == table.round and tree.is_showdown)
    is_known = owes_call or (_is_in_step(tree, table) and tree.acting_position == betting.acting_position)
    price = 0.0
    if not owes_call and _is_in_step(tree, table):
        price = _price(tree)
    return TreePosition(node if is_known else OFF_TREE, 0, np.ones(holdings), owes_call, is_exact, price)


def _is_in_step(tree: BettingState, table: BettingState) -> bool:
    return tree.round == table.round and not tree.finished


def _advance(strategy: StrategyFile, node: int, tree: BettingState, action: Action) -> tuple[int, BettingState]:
    """Return the node and the state of a tree after an action; a fold without a bet becomes a call."""
    fold, _ = _shape(strategy, node)
    if action.kind is ActionKind.FOLD and not fold:
        action = CALL
    index = 0
    if action.kind is ActionKind.CALL:
        index = fold
    elif action.kind is ActionKind.RAISE:
        index = fold + 1
    return strategy.children_of(node)[index], tree.after(action)


def mix_policies(
    places: Sequence[TreePosition], policies: Sequence[Mapping[Action, Chances]], fallback: Mapping[Action, Chances]
) -> dict[Action, Chances]:
    """Return the mean of the policies at several positions by weight; `fallback` for holdings without weight."""
    if len(places) == 1:
        return dict(policies[0])
    total = np.sum([place.weights for place in places], axis=0)
    is_unweighted = total == 0
    shares = [place.weights / np.where(is_unweighted, 1, total) for place in places]
    mean: dict[Action, Chances] = {}
    for share, policy in zip([*shares, is_unweighted], [*policies, fallback], strict=True):
        for action, chance in policy.items():
            mean[action] = mean.get(action, 0.0) + share * chance
    return dict(sorted(mean.items()))


def _actions_at(strategy: StrategyFile, place: TreePosition, state: BettingState) -> tuple[Action, ...]:
    """Return the action at the table for each action of a node that owes no call. Several can be equal."""
    fold, raises = _shape(strategy, place.node)
    actions = [CALL]
    if fold:
        actions = [FOLD, CALL]
    legal_raises: list[Action] = []
    if state.legal_actions().can_raise:
        if strategy.game.is_limit:
            legal_raises = [RAISE] * raises
        else:
            legal_raises = list(map(raise_to, _totals(strategy, place, state)))
    # Raises of the tree that the table does not allow are calls.
    return (*actions, *legal_raises, *[CALL] * (raises - len(legal_raises)))


def _weigh_own_action(places: list[TreePosition], chances: Sequence[Chances | None]) -> list[TreePosition]:
    """Multiply the weight of each position by the probability of the player's action there."""
    weights = []
    for place, chance in zip(places, chances, strict=True):
        weights.append(np.zeros_like(place.weights) if chance is None else place.weights * chance)
    is_possible = np.sum(weights, axis=0) > 0
    weighed = []
    for place, weight in zip(places, weights, strict=True):
        # An action that the strategy takes on no path says nothing about the readings: it was another player's.
        kept = np.where(is_possible, weight, place.weights)
        if kept.any():
            weighed.append(replace(place, weights=kept))
    return weighed


def _after(strategy: StrategyFile, place: TreePosition, state: BettingState, action: Action) -> list[TreePosition]:
    """Return the positions after an action, none or an `OFF_TREE` one if the action contradicts the path."""
    if place.node == OFF_TREE:
        return [place]
    if place.owes_call:
        if action.kind is ActionKind.CALL:
            return [replace(place, owes_call=False)]
        return []
    if not strategy.nodes[place.node]:
        return [replace(place, node=OFF_TREE)]
    fold, _ = _shape(strategy, place.node)
    if action.kind is ActionKind.CALL:
        return [_child(strategy, place, fold)]
    if action.kind is ActionKind.FOLD:
        return [_child(strategy, place, 0)]
    following = []
    for number, chance in _readings(strategy, place, state, action):
        if number == NO_BET:
            after = _child(strategy, place, fold)
            # If the check or call ends the round in the tree, the player still has to call at the table.
            continues = strategy.nodes[after.node] and strategy.rounds[after.node] == strategy.rounds[place.node]
            after = replace(after, owes_call=not continues, is_exact=False)
        else:
            after = _child(strategy, place, fold + 1 + number)
            is_known = _totals(strategy, place, state)[number] == action.hand_total
            after = replace(after, is_exact=place.is_exact and is_known)
        following.append(replace(after, weights=place.weights * chance))
    return following


def _child(strategy: StrategyFile, place: TreePosition, index: int) -> TreePosition:
    child = strategy.children_of(place.node)[index]
    return replace(place, node=child, matched=int(strategy.totals[child]) or place.matched)


def _readings(
    strategy: StrategyFile, place: TreePosition, state: BettingState, action: Action
) -> list[tuple[int, float]]:
    """Return the readings of a raise at the table as indices of the node's raises, or `NO_BET`, with probabilities."""
    totals = _totals(strategy, place, state)
    if action.hand_total in totals:
        # The last of several equal totals, so that all-in is all-in in the tree, too.
        return [(len(totals) - 1 - totals[::-1].index(action.hand_total), 1.0)]
    return readings(_pots(action.hand_total, state), [_pots(total, state) for total in totals])


def _read_raise(strategy: StrategyFile, place: TreePosition, state: BettingState, action: Action) -> Reading | None:
    """Return the reading of an action, or None if it is no raise or the tree has it."""
    if (
        action.kind is not ActionKind.RAISE
        or place.owes_call
        or place.node == OFF_TREE
        or not strategy.nodes[place.node]
    ):
        return None
    totals = _totals(strategy, place, state)
    if action.hand_total in totals:
        return None
    known = []
    for number, chance in _readings(strategy, place, state, action):
        size = 0.0
        if number != NO_BET:
            size = _pots(totals[number], state)
        known.append((size, chance))
    return Reading(action, _pots(action.hand_total, state), tuple(known))


def _shape(strategy: StrategyFile, node: int) -> tuple[int, int]:
    """Return the number of folds, 0 or 1, and of raises of a decision."""
    kinds = int(strategy.nodes[node])
    return kinds & 1, kinds >> 2


def _totals(strategy: StrategyFile, place: TreePosition, state: BettingState) -> list[int]:
    """Return the hand totals of a node's raises at the table: equal fractions of the real pot, or all-in."""
    legal = state.legal_actions()
    totals = []
    fold, raises = _shape(strategy, place.node)
    for child in strategy.children_of(place.node)[fold + 1 : fold + 1 + raises]:
        total = int(strategy.totals[child])
        fraction = (total - place.matched) / (2 * place.matched)
        real = state.max_spent + int(fraction * 2 * state.max_spent + 0.5)
        is_all = total >= strategy.game.stacks[state.acting_position]
        if is_all:
            real = legal.raise_max
        totals.append(min(max(real, legal.raise_min), legal.raise_max))
    return totals


def _pots(total: int, state: BettingState) -> float:
    """The size of a raise as a fraction of the pot after a call."""
    return (total - state.max_spent) / (2 * state.max_spent)


_Buckets: TypeAlias = NDArray[np.integer[Any]]
_BucketsOn: TypeAlias = Callable[[tuple[Card, ...]], _Buckets]
"""Returns the buckets of one holding, shape (1,), or of all, shape (1326,), on the board of a round."""


def play(
    strategy: StrategyFile, betting: BettingState, board: tuple[Card, ...], buckets_on: _BucketsOn
) -> tuple[Mapping[Action, Chances], tuple[Reading, ...]]:
    """Return the possible actions with their probabilities by holding, and the readings of raises."""
    shown = strategy.game.board_cards_by_round

    def decide(place: TreePosition, state: BettingState) -> Mapping[Action, Chances]:
        return decide_at(strategy, place, state, buckets_on(board[: shown[state.round]]))

    places, read = tree_positions(strategy, betting, len(buckets_on(board)), decide)
    fallback = decide(replace(places[0], node=OFF_TREE, owes_call=False), betting)
    policy = mix_policies(places, [decide(place, betting) for place in places], fallback)
    return {action: chances for action, chances in policy.items() if chances.any()}, tuple(read)


def decide_at(
    strategy: StrategyFile, place: TreePosition, state: BettingState, buckets: _Buckets
) -> Mapping[Action, Chances]:
    """Return the probability of each action by holding at a position of the tree and a state of the table.

    Args:
        buckets: bucket of each holding in the present round.
    """
    always = np.ones(len(buckets))
    if place.owes_call and not strategy.game.is_limit:
        return {CALL: always}
    if place.owes_call or place.node == OFF_TREE:
        return _fold_below_price({CALL: always}, strategy, state, buckets)
    policy: dict[Action, Chances] = {}
    table_actions = _actions_at(strategy, place, state)
    for action, chances in zip(table_actions, _chances(strategy, place.node, buckets), strict=True):
        policy[action] = policy.get(action, 0.0) + chances
    if _is_ranked(strategy, state) and _price(state) < place.price:
        # Bets beyond the tree have made the pot larger, so hands that the price allows call instead of folding.
        folds = np.where(_is_below_price(strategy, state, buckets), policy[FOLD], 0.0)
        policy[CALL] = policy[CALL] + policy[FOLD] - folds
        policy[FOLD] = folds
    is_all_in = state.spent[state.acting_position] + state.to_call >= strategy.game.stacks[state.acting_position]
    # Readings distort the price of calling all-in, and of raises beyond a limit tree. Exact paths follow the strategy.
    if not place.is_exact and (is_all_in or strategy.game.is_limit):
        return _fold_below_price(policy, strategy, state, buckets)
    return policy


def _price(state: BettingState) -> float:
    """Return a call as a part of the pot after it."""
    return state.to_call / (state.pot + state.to_call)


def _is_ranked(strategy: StrategyFile, state: BettingState) -> bool:
    """Return whether buckets are in ascending order of strength."""
    return state.round > 0 and is_dealt_as_holdem(strategy.game)


def _is_below_price(strategy: StrategyFile, state: BettingState, buckets: _Buckets) -> NDArray[np.bool_]:
    """Mask the hands whose chance against random hands is below the price of a call."""
    # The quantile of the bucket is the chance against one random hand, to the power of the number of opponents.
    quantiles = (buckets + 0.5) / strategy.buckets[state.round]
    return quantiles ** (len(state.in_pot) - 1) < _price(state)


def _fold_below_price(
    policy: dict[Action, Chances], strategy: StrategyFile, state: BettingState, buckets: _Buckets
) -> Mapping[Action, Chances]:
    """Replace the calls of hands below the price by folds, if buckets are ranked."""
    if not state.legal_actions().can_fold or not _is_ranked(strategy, state):
        return policy
    is_below = _is_below_price(strategy, state, buckets)
    calls = policy[CALL]
    folds = policy.get(FOLD, np.zeros(len(buckets))) + np.where(is_below, calls, 0.0)
    return {**policy, FOLD: folds, CALL: np.where(is_below, 0.0, calls)}


def _chances(strategy: StrategyFile, node: int, buckets: _Buckets) -> Chances:
    if len(buckets) == 1:
        return np.array(strategy.chances_of(node, int(buckets[0])))[:, None]
    chances = strategy.chances(node)
    # A holding that shares a card with the board has no weight; its probabilities are equal.
    padded = np.hstack([chances, np.full((len(chances), 1), 1 / len(chances))])
    return padded[:, np.minimum(buckets, chances.shape[1])]


def find_ranges(
    strategy: StrategyFile, betting: BettingState, board: tuple[Card, ...], buckets_on: _BucketsOn
) -> NDArray[np.float64]:
    """Return the ranges at the beginning of the present round if both players follow the strategy, shape (2, 1326).

    Rows are positions, each up to a factor. Holdings with a card of the board have weight 0.
    """
    shown = strategy.game.board_cards_by_round
    weights = np.tile(are_free(board), (2, 1)).astype(np.float64)
    for state, action in takewhile(lambda decision: decision[0].round < betting.round, decisions(betting)):
        played = play(strategy, state, board[: shown[state.round]], buckets_on)[0]
        position = state.acting_position
        weights[position] = narrow_range(weights[position], _action_chance(played, state, action))
    return weights


def narrow_range(weights: NDArray[np.float64], chances: Chances | float) -> NDArray[np.float64]:
    """Multiply a range by the probability of an action with each holding, and scale it to a maximum of 1.

    An action of probability 0 with every holding leaves the range unchanged.
    """
    narrowed: NDArray[np.float64] = weights * chances
    if narrowed.any():
        narrowed /= narrowed.max()
        return narrowed
    return weights


def _action_chance(played: Mapping[Action, Chances], state: BettingState, action: Action) -> Chances | float:
    """Return the probability of an action by holding, for a raise of another size the mean of its readings."""
    if action in played or action.kind is not ActionKind.RAISE or state.game.is_limit:
        return played.get(action, 0.0)
    raises = sorted([known for known in played if known.kind is ActionKind.RAISE])
    sizes = [_pots(known.hand_total, state) for known in raises]
    mean: Chances | float = 0.0
    for number, chance in readings(_pots(action.hand_total, state), sizes):
        read = CALL
        if number != NO_BET:
            read = raises[number]
        mean = mean + chance * played.get(read, 0.0)
    return mean
