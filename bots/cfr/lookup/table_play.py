"""Policies of a strategy at a table.

A bet that the tree lacks is read as one of the neighbouring sizes, by the pseudo-harmonic mapping (`readings`). A
betting can therefore be at several nodes, each with a weight (`tree_positions`). A weight is the probability of the
readings on the path, times that of the player's own actions along it. Playing the weighted mean of all paths equals
drawing one reading of each raise and staying with it.

`play` merges the strategy at these nodes into one policy. Decisions outside the tree follow the price of a call
(`_fold_below_price`). `find_ranges` returns the probability of each holding when both players follow the strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_CARDS, HOLDING_COUNT
from bots.cfr.lookup.merged import merged_positions
from bots.cfr.lookup.translation import (
    NO_BET,
    OFF_TREE,
    Chances,
    Decide,
    Reading,
    TreePosition,
    in_pots,
    read_total,
    reading_of,
    readings,
    shape,
    table_totals,
    weigh_own_action,
)
from bots.cfr.strategy_files import StrategyFile
from bots.cfr.tree import raises_in_round
from engine import CALL, FOLD, RAISE, Action, ActionKind, BettingState, Card, betting_start, matchups
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
    # The key of seven cards is the sum of the cards' keys (`engine.kernels.evaluation`).
    keys = _HOLDING_KEYS + (_START + int(_KEYS[cards].sum()))
    live = np.flatnonzero((_HOLDING_BITS & board_bits) == 0)
    ranks = np.zeros(HOLDING_COUNT, np.int64)
    ranks[live] = rank_sevens(keys[live], lambda which: _HOLDING_BITS[live[which]] | board_bits)
    return ranks


def tree_positions(
    strategy: StrategyFile, betting: BettingState, holdings: int, decide: Decide
) -> tuple[list[TreePosition], list[Reading]]:
    """Return the positions of a betting in the tree, and the readings of raises.

    Args:
        betting: at a decision of the player.
        holdings: number of holdings, 1 or 1326.
        decide: called for the player's earlier decisions, as long as there are several paths.
    """
    if strategy.entries is not None:
        return merged_positions(strategy, betting, holdings, decide)
    if strategy.game.is_limit:
        return [_limit_position(strategy, betting, holdings)], []
    places = [TreePosition(0, strategy.game.big_blind, np.ones(holdings))]
    read: list[Reading] = []
    for state, action in decisions(betting):
        if state.acting_position == betting.acting_position and len(places) > 1:
            places = weigh_own_action(places, [decide(place, state).get(action) for place in places])
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
                is_read = action.kind is ActionKind.RAISE and not shape(strategy, node).raises
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
    fold = shape(strategy, node).fold
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
    if not strategy.nodes[place.node]:
        # The hand is over in the tree, but not at the table.
        return (CALL,)
    fold, call, raises = shape(strategy, place.node)
    actions = [FOLD] * fold + [CALL] * call
    legal_raises: list[Action] = []
    if state.legal_actions().can_raise:
        if strategy.game.is_limit:
            legal_raises = [RAISE] * raises
        else:
            legal_raises = list(map(raise_to, table_totals(strategy, place, state)))
    # Raises of the tree that the table does not allow are calls.
    return (*actions, *legal_raises, *[CALL] * (raises - len(legal_raises)))


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
    fold = shape(strategy, place.node).fold
    if action.kind is ActionKind.CALL:
        return [_child(strategy, place, fold)]
    if action.kind is ActionKind.FOLD:
        return [_child(strategy, place, 0)]
    following = []
    totals = table_totals(strategy, place, state)
    for number, chance in read_total(action.hand_total, totals, state):
        if number == NO_BET:
            after = _child(strategy, place, fold)
            # If the check or call ends the round in the tree, the player still has to call at the table.
            continues = strategy.nodes[after.node] and strategy.rounds[after.node] == strategy.rounds[place.node]
            after = replace(after, owes_call=not continues, is_exact=False)
        else:
            after = _child(strategy, place, fold + 1 + number)
            is_known = totals[number] == action.hand_total
            after = replace(after, is_exact=place.is_exact and is_known)
        following.append(replace(after, weights=place.weights * chance))
    return following


def _child(strategy: StrategyFile, place: TreePosition, index: int) -> TreePosition:
    child = strategy.children_of(place.node)[index]
    return replace(place, node=child, matched=int(strategy.totals[child]) or place.matched)


def _read_raise(strategy: StrategyFile, place: TreePosition, state: BettingState, action: Action) -> Reading | None:
    """Return the reading of an action, or None if it is no raise or the tree has it."""
    if (
        action.kind is not ActionKind.RAISE
        or place.owes_call
        or place.node == OFF_TREE
        or not strategy.nodes[place.node]
    ):
        return None
    totals = table_totals(strategy, place, state)
    if action.hand_total in totals:
        return None
    return reading_of(action, totals, state)


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
    # For holdings with which the strategy comes here on no path.
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
    if place.owes_call and not strategy.game.is_limit and place.tree is None:
        return {CALL: always}
    if place.owes_call or place.node == OFF_TREE:
        return _fold_below_price({CALL: always}, strategy, state, buckets)
    policy: dict[Action, Chances] = {}
    table_actions = _actions_at(strategy, place, state)
    for action, chances in zip(table_actions, _chances(strategy, place.node, buckets), strict=True):
        policy[action] = policy.get(action, 0.0) + chances
    if place.tree is not None:
        return _adapt_to_table(policy, strategy, place, state, buckets)
    if _is_ranked(strategy, state) and _price(state) < place.price:
        # Bets beyond the tree have made the pot larger, so hands that the price allows call instead of folding.
        policy = _call_above_price(policy, strategy, state, buckets)
    # Readings distort the price of calling all-in, and of raises beyond a limit tree. Exact paths follow the strategy.
    if not place.is_exact and (_calls_all_in(strategy, state) or strategy.game.is_limit):
        return _fold_below_price(policy, strategy, state, buckets)
    return policy


def _adapt_to_table(
    policy: dict[Action, Chances],
    strategy: StrategyFile,
    place: TreePosition,
    state: BettingState,
    buckets: _Buckets,
) -> Mapping[Action, Chances]:
    """Adapt the policy of a merged tree to a table that has another price, or a call that the tree lacks."""
    assert place.tree is not None
    if FOLD in policy and not state.legal_actions().can_fold:
        folds = policy.pop(FOLD)
        return {**policy, CALL: policy.get(CALL, 0.0) + folds}
    # A call by a fourth player. The first to enter the pot raises or folds, as in the tree.
    is_fourth = not shape(strategy, place.node).call and raises_in_round(place.tree) > 0
    is_cheaper = not place.is_exact and _price(state) < _price(place.tree)
    if FOLD in policy and (is_fourth or is_cheaper):
        return _call_above_price(policy, strategy, state, buckets)
    if not place.is_exact and (_calls_all_in(strategy, state) or not place.tree.to_call):
        return _fold_below_price(policy, strategy, state, buckets)
    return policy


def _calls_all_in(strategy: StrategyFile, state: BettingState) -> bool:
    """Return whether a call puts in the last chips of the player."""
    position = state.acting_position
    return state.spent[position] + state.to_call >= strategy.game.stacks[position]


def _price(state: BettingState) -> float:
    """Return a call as a part of the pot after it."""
    return state.to_call / (state.pot + state.to_call)


def _is_ranked(strategy: StrategyFile, state: BettingState) -> bool:
    """Return whether the order of the buckets by strength is known."""
    # Only merged trees need it before the flop (`_class_quantiles`).
    return is_dealt_as_holdem(strategy.game) and (state.round > 0 or strategy.entries is not None)


def _is_below_price(strategy: StrategyFile, state: BettingState, buckets: _Buckets) -> NDArray[np.bool_]:
    """Mask the hands whose chance against random hands is below the price of a call."""
    # The quantile of the bucket is the chance against one random hand, to the power of the number of opponents.
    if state.round:
        quantiles = (buckets + 0.5) / strategy.buckets[state.round]
        opponents = len(state.in_pot) - 1
    else:
        quantiles = _class_quantiles()[buckets]
        # Those who have yet to act count only if nobody else has called.
        opponents = max(1, sum(state.spent[position] == state.max_spent for position in state.in_pot))
    below: NDArray[np.bool_] = quantiles**opponents < _price(state)
    return below


@cache
def _class_quantiles() -> NDArray[np.float64]:
    """Return the part of all starting hands that are weaker against a random hand, shape (169,), by class."""
    pair_counts = matchups.pairs()
    strengths = (matchups.equities() * pair_counts).sum(axis=1) / pair_counts.sum(axis=1)
    order = strengths.argsort(kind="stable")
    sizes = pair_counts.sum(axis=1)[order] / pair_counts.sum()
    quantiles = np.empty(len(order))
    quantiles[order] = sizes.cumsum() - sizes / 2
    return quantiles


def _call_above_price(
    policy: dict[Action, Chances], strategy: StrategyFile, state: BettingState, buckets: _Buckets
) -> dict[Action, Chances]:
    """Replace the folds of hands that are not below the price by calls."""
    folds = np.where(_is_below_price(strategy, state, buckets), policy[FOLD], 0.0)
    return {**policy, FOLD: folds, CALL: policy.get(CALL, 0.0) + policy[FOLD] - folds}


def _fold_below_price(
    policy: dict[Action, Chances], strategy: StrategyFile, state: BettingState, buckets: _Buckets
) -> Mapping[Action, Chances]:
    """Replace the calls of hands below the price by folds, if buckets are ranked."""
    if not state.legal_actions().can_fold or not _is_ranked(strategy, state):
        return policy
    is_below = _is_below_price(strategy, state, buckets)
    calls = policy.get(CALL, np.zeros(len(buckets)))
    folds = policy.get(FOLD, np.zeros(len(buckets))) + np.where(is_below, calls, 0.0)
    return {**policy, FOLD: folds, CALL: np.where(is_below, 0.0, calls)}


def _chances(strategy: StrategyFile, node: int, buckets: _Buckets) -> Chances:
    if len(buckets) == 1:
        return np.array(strategy.chances_of(node, int(buckets[0])))[:, None]
    chances = strategy.chances(node)
    # A holding that shares a card with the board has no weight; its probabilities are equal.
    padded = np.hstack([chances, np.full((len(chances), 1), 1 / len(chances))])
    # `NO_BUCKET` is larger than any bucket and reads the column that has been added.
    return padded[:, np.minimum(buckets, chances.shape[1])]


def find_ranges(
    strategy: StrategyFile, betting: BettingState, board: tuple[Card, ...], buckets_on: _BucketsOn
) -> NDArray[np.float64]:
    """Return the ranges at the beginning of the present round if all players follow the strategy, shape (2, 1326).

    Rows are the positions of the two players in the pot, each up to a factor. Holdings with a card of the board have
    weight 0.
    """
    shown = strategy.game.board_cards_by_round
    in_pot = betting.round_starts[betting.round].in_pot
    weights = np.tile(are_free(board), (len(in_pot), 1)).astype(np.float64)
    for state, action in takewhile(lambda decision: decision[0].round < betting.round, decisions(betting)):
        if state.acting_position in in_pot:
            played = play(strategy, state, board[: shown[state.round]], buckets_on)[0]
            row = in_pot.index(state.acting_position)
            weights[row] = narrow_range(weights[row], _action_chance(played, state, action))
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
    sizes = [in_pots(known.hand_total, state) for known in raises]
    mean: Chances | float = 0.0
    for number, chance in readings(in_pots(action.hand_total, state), sizes):
        read = CALL
        if number != NO_BET:
            read = raises[number]
        mean = mean + chance * played.get(read, 0.0)
    return mean
