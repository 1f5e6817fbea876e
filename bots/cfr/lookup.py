"""The place of a real hand in a strategy, by its betting and its cards, and what is played there.

A bet that the tree does not have is read as the neighbouring sizes, each with a chance (`readings`). Sizes are parts
of the pot, as it is after a call. Between two sizes of the tree a bet is read as the lower one with the chance of the
pseudo-harmonic mapping (Ganzfried & Sandholm 2013, "Action translation in extensive-form games with large action
spaces"): the mapping that keeps a bettor indifferent between a bluff and a give-up in a one-street game with these two
sizes, whatever they are. A bet below the smallest size lies between it and no bet at all, size 0; what is above the
largest is read as the largest.

So a betting is at one node, or at several, each with a weight (`tree_positions`). A limit game is at one node. Where
its tree has fewer raises in a round than the rules allow, a raise beyond them is read as a call of the one before. The
players who have called in the tree still owe calls at the table, and who folds instead of paying checks and folds in
the tree. In no-limit games, which are of two players here, the other player's raises may have any size. Each is
measured in pots as they really are and read as the neighbouring sizes of the tree, with chances, so a hand is followed
along several paths at once. A path counts by the chances of its readings, times how likely we would have done along it
what we did: so playing by all paths at once is the same as drawing a reading of each raise and staying with it. A path
is left where the table contradicts it, as long as there are others: we did what is not done on it, or everybody is
all-in on it and at the table no player is.

A raise may be read as none. Where the check or call that it is read as ends a round, the path continues after an answer
that is still *owed* at the table: a call.

Our own raises are of the fraction of the real pot that the tree has of its own; all-in is always all-in.

`play` makes one policy of the probabilities at all these positions. Some decisions are not the tree's. Where the tree
has nothing that corresponds to the table, where a call would put in everything on a path on which sizes had to be read,
and where a limit game has had more raises in the round than the tree, a hand is held against the price: it calls if its
standing among all hands, to the power of the number of opponents, is at least the part of the pot that the call pays.
On a path that is the tree's own to the chip, the strategy is played as it is.

`ranges` is how likely each player comes to a betting with each holding, where both play a strategy. A raise of a size
that the strategy never makes is read as its neighbours that it does make, as one of the opponent is: it is as likely
with a holding as they are, each by its chance. An action that the strategy takes with no holding that is left tells
nothing.
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
_OF_HOLDING: Final = _KEYS[HOLDING_CARDS].sum(axis=1)
_BITS_OF_HOLDING: Final = _BITS[HOLDING_CARDS].sum(axis=1)


def ranks_on(board: Sequence[int]) -> NDArray[np.int64]:
    """The rank of each holding on a full board, shape (1326,); 0 where it shares a card with the board."""
    cards = list(board)
    taken = int(_BITS[cards].sum())
    keys = _OF_HOLDING + (_START + int(_KEYS[cards].sum()))
    is_live = (_BITS_OF_HOLDING & taken) == 0
    ranks = np.zeros(HOLDING_COUNT, np.int64)
    live = np.flatnonzero(is_live)
    ranks[live] = rank_sevens(keys[live], lambda which: _BITS_OF_HOLDING[live[which]] | taken)
    return ranks


NO_BET: Final = -1
"""In place of the number of a size: the bet is read as a call or a check."""


def lower_chance(size: float, lower: float, upper: float) -> float:
    """The chance that a size between two others is read as the lower one: (B - x)(1 + A) / ((B - A)(1 + x)).

    x is from A to B, A at least 0, B may be infinite.
    """
    if upper == float("inf"):
        return (1 + lower) / (1 + size)
    return (upper - size) * (1 + lower) / ((upper - lower) * (1 + size))


def readings(size: float, known: Sequence[float]) -> list[tuple[int, float]]:
    """What a bet is read as: numbers of known sizes, or `NO_BET`, with chances above 0 that sum to 1.

    The known sizes ascend and are above 0; there may be none.
    """
    at = bisect_left(known, size)
    if at == len(known):
        return [(at - 1, 1.0)]  # With no size at all that is `NO_BET`.
    chance = lower_chance(size, known[at - 1] if at else 0.0, known[at])
    readings = []
    if chance > 0:
        readings.append((at - 1, chance))
    if chance < 1:
        readings.append((at, 1 - chance))
    return readings


OFF_TREE: Final = -1
"""In place of a node: the tree has nothing that corresponds to the table any more."""
Chances: TypeAlias = NDArray[np.float64]
"""By holding: of one that is known, shape (1,), or of all, shape (1326,)."""


@dataclass(frozen=True, eq=False, slots=True)
class TreePosition:
    """A node at which a betting may be.

    Attributes:
        node: its number, or `LEFT`.
        matched: the chips a caller has in there, in the tree.
        weights: the chances of the readings that led here, times how likely we would have come along.
        owes_call: whether the node is after a call that has not come yet.
        is_exact: whether nothing on the way had to be read; in limit games, nothing in this round.
        price: in limit games, what a call is of the pot after it, in the tree; 0 where none is owed.
    """

    node: int
    matched: int
    weights: Chances
    owes_call: bool = False
    is_exact: bool = True
    price: float = 0.0


class Reading(NamedTuple):
    """How a raise that the tree does not have was read, on the likeliest path.

    Sizes are fractions of the pot: its own, and those it was read as, 0 for none, with their chances.
    """

    action: Action
    pots: float
    known: tuple[tuple[float, float], ...]


_Decide: TypeAlias = Callable[[TreePosition, BettingState], Mapping[Action, Chances]]
"""What the player does at a place of its own, by holding, in a state of the table."""


def tree_positions(
    strategy: StrategyFile, betting: BettingState, holdings: int, decide: _Decide
) -> tuple[list[TreePosition], list[Reading]]:
    """The places of a betting at a decision of the player, for so many holdings, and how raises were read.

    `decide` is what the player does on the way, asked only where there are several paths.
    """
    if strategy.game.is_limit:
        return [_limit_position(strategy, betting, holdings)], []
    found = [TreePosition(0, strategy.game.big_blind, np.ones(holdings))]
    read: list[Reading] = []
    for state, action in decisions(betting):
        if state.acting_position == betting.acting_position and len(found) > 1:
            found = _narrowed(found, [decide(place, state).get(action) for place in found])
        likeliest = max(found, key=lambda place: place.weights.sum())
        if (reading := _reading(strategy, likeliest, state, action)) is not None:
            read.append(reading)
        on = []
        for place in found:
            on += [after for after in _after(strategy, place, state, action) if after.node != OFF_TREE]
        found = on or [replace(found[0], node=OFF_TREE, owes_call=False, is_exact=False)]
    # Over in the tree, but not at the table.
    on = [place for place in found if place.owes_call or (place.node != OFF_TREE and strategy.nodes[place.node])]
    return on or [replace(found[0], node=OFF_TREE)], read


def _limit_position(strategy: StrategyFile, betting: BettingState, holdings: int) -> TreePosition:
    """The place of a betting of a limit game at a decision."""
    table = tree = betting_start(strategy.game)
    node = 0
    is_exact = True
    for position, action in (one for actions in betting.rounds for one in actions):
        if _is_together(tree, table) and tree.acting_position == position:
            is_read = action.kind is ActionKind.RAISE and not _shape(strategy, node)[1]
            is_exact &= not is_read
            node, tree = _moved(strategy, node, tree, CALL if is_read else action)
        before = table
        table = table.after(action)
        is_exact |= table.round > before.round
        # Who has folded at the table, and not in the tree, leaves there as soon as it can.
        while not tree.finished and tree.acting_position != -1 and table.folded >> tree.acting_position & 1:
            node, tree = _moved(strategy, node, tree, FOLD)
    owes_call = tree.round > table.round or (tree.round == table.round and tree.is_showdown)
    if not owes_call and tree.acting_position != betting.acting_position:
        node = OFF_TREE
    is_known = owes_call or _is_together(tree, table)
    price = _price(tree) if is_known and not owes_call else 0.0
    return TreePosition(node if is_known else OFF_TREE, 0, np.ones(holdings), owes_call, is_exact, price)


def _is_together(tree: BettingState, table: BettingState) -> bool:
    return tree.round == table.round and not tree.finished


def _moved(strategy: StrategyFile, node: int, tree: BettingState, action: Action) -> tuple[int, BettingState]:
    """The node and the state of a tree after an action; a call where there is no fold."""
    fold, _ = _shape(strategy, node)
    if action.kind is ActionKind.FOLD and not fold:
        action = CALL
    at = 0
    if action.kind is ActionKind.CALL:
        at = fold
    elif action.kind is ActionKind.RAISE:
        at = fold + 1
    return strategy.children_of(node)[at], tree.after(action)


def mixed(
    found: Sequence[TreePosition], decided: Sequence[Mapping[Action, Chances]], left: Mapping[Action, Chances]
) -> dict[Action, Chances]:
    """What is played by all places at once, by their weights; `left` with holdings that would come to none of them."""
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


def _actions_at(strategy: StrategyFile, place: TreePosition, state: BettingState) -> tuple[Action, ...]:
    """What each action of a decision that owes no call is at the table; several may come to the same."""
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


def _narrowed(found: list[TreePosition], chances: Sequence[Chances | None]) -> list[TreePosition]:
    """The places by how likely we would have taken an action at each of them."""
    weights = []
    for place, chance in zip(found, chances, strict=True):
        weights.append(np.zeros_like(place.weights) if chance is None else place.weights * chance)
    is_ours = np.sum(weights, axis=0) > 0
    narrowed = []
    for place, weight in zip(found, weights, strict=True):
        # What we would never have done gives no information about the readings: another player has played so far.
        kept = np.where(is_ours, weight, place.weights)
        if kept.any():
            narrowed.append(replace(place, weights=kept))
    return narrowed


def _after(strategy: StrategyFile, place: TreePosition, state: BettingState, action: Action) -> list[TreePosition]:
    """The places that follow one; none, or `LEFT`, where the action contradicts it."""
    if place.node == OFF_TREE:
        return [place]
    if place.owes_call:
        if action.kind is ActionKind.CALL:
            return [replace(place, owes_call=False)]
        return []
    if not strategy.nodes[place.node]:
        return [replace(place, node=OFF_TREE)]
    fold, _ = _shape(strategy, place.node)
    if action.kind is not ActionKind.RAISE:
        return [_gone_on(strategy, place, fold if action.kind is ActionKind.CALL else 0)]
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


def _gone_on(strategy: StrategyFile, place: TreePosition, at: int) -> TreePosition:
    child = strategy.children_of(place.node)[at]
    return replace(place, node=child, matched=int(strategy.totals[child]) or place.matched)


def _readings(
    strategy: StrategyFile, place: TreePosition, state: BettingState, action: Action
) -> list[tuple[int, float]]:
    """Readings of a raise at the table: numbers of the node's raises, or `NO_BET`, with chances."""
    totals = _totals(strategy, place, state)
    if action.hand_total in totals:
        # Of several, the largest: all-in is all-in in the tree, too.
        return [(len(totals) - 1 - totals[::-1].index(action.hand_total), 1.0)]
    return readings(_pots(action.hand_total, state), [_pots(total, state) for total in totals])


def _reading(strategy: StrategyFile, place: TreePosition, state: BettingState, action: Action) -> Reading | None:
    """Reading of a raise at a place; None where nothing has to be read."""
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
    """Number of folds, 0 or 1, and of raises of a decision."""
    kinds = int(strategy.nodes[node])
    return kinds & 1, kinds >> 2


def _totals(strategy: StrategyFile, place: TreePosition, state: BettingState) -> list[int]:
    """The hand totals, at the table, of a node's raises: the same fractions of the pot, and all-in for all-in."""
    legal = state.legal_actions()
    found = []
    fold, raises = _shape(strategy, place.node)
    for child in strategy.children_of(place.node)[fold + 1 : fold + 1 + raises]:
        total = int(strategy.totals[child])
        fraction = (total - place.matched) / (2 * place.matched)
        real = state.max_spent + int(fraction * 2 * state.max_spent + 0.5)
        is_all = total >= strategy.game.stacks[state.acting_position]
        if is_all:
            real = legal.raise_max
        found.append(min(max(real, legal.raise_min), legal.raise_max))
    return found


def _pots(total: int, state: BettingState) -> float:
    """The size of a raise as a fraction of the pot after a call."""
    return (total - state.max_spent) / (2 * state.max_spent)


_Buckets: TypeAlias = NDArray[np.integer[Any]]
_BucketsOn: TypeAlias = Callable[[tuple[Card, ...]], _Buckets]
"""The buckets of one holding, shape (1,), or of all, shape (1326,), with the board as it was in a round."""


def play(
    strategy: StrategyFile, betting: BettingState, board: tuple[Card, ...], buckets_on: _BucketsOn
) -> tuple[Mapping[Action, Chances], tuple[Reading, ...]]:
    """The probability of each action by holding, and how the other player's raises were read.

    Every action has some probability with one of the holdings.
    """
    shown = strategy.game.board_cards_by_round

    def decide(place: TreePosition, state: BettingState) -> Mapping[Action, Chances]:
        return decide_at(strategy, place, state, buckets_on(board[: shown[state.round]]))

    found, read = tree_positions(strategy, betting, len(buckets_on(board)), decide)
    left = decide(replace(found[0], node=OFF_TREE, owes_call=False), betting)
    policy = mixed(found, [decide(place, betting) for place in found], left)
    return {action: chances for action, chances in policy.items() if chances.any()}, tuple(read)


def decide_at(
    strategy: StrategyFile, place: TreePosition, state: BettingState, buckets: _Buckets
) -> Mapping[Action, Chances]:
    ones = np.ones(len(buckets))
    if place.owes_call and not strategy.game.is_limit:
        return {CALL: ones}
    if place.owes_call or place.node == OFF_TREE:
        return _priced({CALL: ones}, strategy, state, buckets)
    decided: dict[Action, Chances] = {}
    for action, chances in zip(
        _actions_at(strategy, place, state), _chances(strategy, place.node, buckets), strict=True
    ):
        decided[action] = decided.get(action, 0.0) + chances
    if _is_ranked(strategy, state) and _price(state) < place.price:
        # Bets beyond the tree have made the pot larger: what the price allows is called.
        kept = np.where(_refuses(strategy, state, buckets), decided[FOLD], 0.0)
        decided[CALL] = decided[CALL] + decided[FOLD] - kept
        decided[FOLD] = kept
    is_all = state.spent[state.acting_position] + state.to_call >= strategy.game.stacks[state.acting_position]
    is_priced = not place.is_exact and (is_all or strategy.game.is_limit)
    if not is_priced:
        return decided
    return _priced(decided, strategy, state, buckets)


def _price(state: BettingState) -> float:
    """The part of the pot after a call that the call puts in."""
    return state.to_call / (state.pot + state.to_call)


def _is_ranked(strategy: StrategyFile, state: BettingState) -> bool:
    """Return whether buckets are in ascending order of strength."""
    return state.round > 0 and is_dealt_as_holdem(strategy.game)


def _refuses(strategy: StrategyFile, state: BettingState, buckets: _Buckets) -> NDArray[np.bool_]:
    """Mask of the hands that win less often than a call has to, against hands of any kind."""
    standing = (buckets + 0.5) / strategy.buckets[state.round]
    return standing ** (len(state.in_pot) - 1) < _price(state)


def _priced(
    decided: dict[Action, Chances], strategy: StrategyFile, state: BettingState, buckets: _Buckets
) -> Mapping[Action, Chances]:
    if not state.legal_actions().can_fold or not _is_ranked(strategy, state):
        return decided
    refuses = _refuses(strategy, state, buckets)
    calls = decided[CALL]
    folds = decided.get(FOLD, np.zeros(len(buckets))) + np.where(refuses, calls, 0.0)
    return {**decided, FOLD: folds, CALL: np.where(refuses, 0.0, calls)}


def _chances(strategy: StrategyFile, node: int, buckets: _Buckets) -> Chances:
    if len(buckets) == 1:
        return np.array(strategy.chances_of(node, int(buckets[0])))[:, None]
    chances = strategy.chances(node)
    # A holding that shares a card with the board counts for nothing, and has even chances.
    padded = np.hstack([chances, np.full((len(chances), 1), 1 / len(chances))])
    return padded[:, np.minimum(buckets, chances.shape[1])]


def find_ranges(
    strategy: StrategyFile, betting: BettingState, board: tuple[Card, ...], buckets_on: _BucketsOn
) -> NDArray[np.float64]:
    """The ranges at the beginning of the present round, shape (2, 1326): by position and holding.

    They are up to a factor for each position; 0 with a card of the board.
    """
    shown = strategy.game.board_cards_by_round
    weights = np.tile(are_free(board), (2, 1)).astype(np.float64)
    for state, action in takewhile(lambda decision: decision[0].round < betting.round, decisions(betting)):
        played = play(strategy, state, board[: shown[state.round]], buckets_on)[0]
        position = state.acting_position
        weights[position] = narrow_range(weights[position], _likely(played, state, action))
    return weights


def narrow_range(weights: NDArray[np.float64], chances: Chances | float) -> NDArray[np.float64]:
    """A range after an action, by its probability with each holding; the largest entry is 1."""
    found: NDArray[np.float64] = weights * chances
    if found.any():
        found /= found.max()
        return found
    return weights


def _likely(played: Mapping[Action, Chances], state: BettingState, action: Action) -> Chances | float:
    """The probability of an action by holding, where it may have to be read."""
    if action in played or action.kind is not ActionKind.RAISE or state.game.is_limit:
        return played.get(action, 0.0)
    raises = sorted([known for known in played if known.kind is ActionKind.RAISE])
    sizes = [_pots(known.hand_total, state) for known in raises]
    likely: Chances | float = 0.0
    for number, chance in readings(_pots(action.hand_total, state), sizes):
        read = CALL
        if number != NO_BET:
            read = raises[number]
        likely = likely + chance * played.get(read, 0.0)
    return likely
