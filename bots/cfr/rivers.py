"""Rivers, solved while they are played: with every holding of both players, at the pot that is on the table.

Counterfactual regret minimisation runs over the holdings of both players, in kernels that validate nothing. The players
take turns, and what was learned early is discounted (Brown & Sandholm 2019, with the powers 1.5, 0 and 2): before
iteration t, regrets above 0 are multiplied by (t-1)^1.5 / ((t-1)^1.5 + 1) and those below by 1/2, and an iteration
counts in the average as the square of its number. Vectors are over the holdings that the board leaves, in the order of
their ranks.

A strategy knows hands by buckets, and pots as they are in its tree. When the last card is dealt, what is left is a
small game, which can be solved without either: its betting has some ten to sixty nodes, and each player brings what it
would have come with by the strategy (`bots.cfr.lookup.ranges`). The solution is an equilibrium of that game, up
to what some hundred iterations leave (S. Ganzfried & T. Sandholm 2015, "Endgame solving in large imperfect-information
games").

A raise that the tree of a river does not have is not read as another: the river is solved once more from the decision
at which it was made, with that raise, and with the ranges that the solution before gives there (N. Brown & T. Sandholm
2017, "Safe and nested subgame solving for imperfect-information games").

What a player comes with itself is known. What its opponent comes with is a guess, for it need not play the strategy; so
a good part of that range is spread over all holdings. Each player therefore has solutions of its own, which follow from
the strategy, the betting and the board alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_CARDS, HOLDING_COUNT
from bots.cfr.deals import CARD_LANES, Vector
from bots.cfr.lookup import Chances, narrowed, ranges, ranks_on
from bots.cfr.strategy_files import StrategyFile
from bots.cfr.tree import BettingTree, Sizes, betting_tree, read_sizes
from bots.cfr.walk import fold
from engine import Action, BettingState, Card, Position, betting_start
from engine.kernels.jit import njit
from engine.ranges import are_free

_DECISION = 0
_FOLDED = 1


class _RiverArrays(NamedTuple):
    """The betting of a river in preorder, by node unless said otherwise; see also `BettingTree`.

    Attributes:
        chips: what the loser of an end has put in, in the unit of the values.
        counts: of actions.
        rows: where the actions of a decision begin among all actions.
        led_by: the number, among all actions, of the one that leads here.
        leads_to: by action, the node that follows.
        since: shape (2, nodes), by player: the last node so far to which an action of its opponent led, or 0.
    """

    kinds: NDArray[np.int8]
    players: NDArray[np.int8]
    parents: NDArray[np.int32]
    chips: Vector
    counts: NDArray[np.int32]
    rows: NDArray[np.int32]
    led_by: NDArray[np.int32]
    leads_to: NDArray[np.int32]
    since: NDArray[np.int32]


class _RiverHoldings(NamedTuple):
    """The holdings that a board leaves, weakest first, as in `bots.cfr.deals.BoardArrays`.

    `weights`, shape (2, holdings), is how likely each player comes to the river with each.
    """

    ones: NDArray[np.uint8]
    others: NDArray[np.uint8]
    ties: NDArray[np.uint16]
    weights: Vector


class _RiverWork(NamedTuple):
    """Scratch space of a walk.

    Attributes:
        reach: shape (nodes, holdings), how likely the opponent comes here.
        values: shape (nodes, holdings), what holdings win from here on.
        sums: shape (holdings,).
        by_card: shape (64,), sums by card.
    """

    reach: Vector
    values: Vector
    sums: Vector
    by_card: Vector


@njit
def _learn_river(
    tree: _RiverArrays,
    holdings: _RiverHoldings,
    work: _RiverWork,
    regrets: Vector,
    strategy: Vector,
    averages: Vector,
    iterations: int,
) -> None:
    """Change regrets, 0 at first, and probabilities, even at first; add each player's own chances to the averages.

    The shape of all three is (actions, holdings).
    """
    for iteration in range(1, iterations + 1):
        power = (iteration - 1) ** 1.5
        kept = np.float32(power / (power + 1))
        for player in range(2):
            _come_here(
                tree, holdings, work, strategy, player, averages=averages, weight=np.float32(iteration * iteration)
            )
            for node in range(len(tree.kinds) - 1, -1, -1):
                if tree.kinds[node] != _DECISION:
                    _end(tree, holdings, work, node, player)
                elif tree.players[node] != player:
                    _add_up(tree, work, node)
                else:
                    _regret(tree, work, regrets, strategy, node, kept)


@njit
def answer(
    tree: _RiverArrays, holdings: _RiverHoldings, work: _RiverWork, strategy: Vector, player: int, is_best: bool
) -> float:
    """What a player wins where its opponent plays a strategy, summed over all pairs of holdings by their weights.

    With `is_best` the player takes the best action with each holding, in place of its own part of the strategy.
    """
    _come_here(tree, holdings, work, strategy, player, averages=work.reach, weight=np.float32(0))
    for node in range(len(tree.kinds) - 1, -1, -1):
        if tree.kinds[node] != _DECISION:
            _end(tree, holdings, work, node, player)
        elif tree.players[node] != player:
            _add_up(tree, work, node)
        else:
            values = work.values[node]
            for action in range(tree.counts[node]):
                row = tree.rows[node] + action
                below, played = work.values[tree.leads_to[row]], strategy[row]
                for at in range(len(values)):
                    if not is_best:
                        values[at] = played[at] * below[at] + (values[at] if action else 0)
                    elif not action or below[at] > values[at]:
                        values[at] = below[at]
    total, weights = 0.0, holdings.weights[player]
    for at in range(len(weights)):
        total += weights[at] * work.values[0, at]
    return total


@njit
def _come_here(
    tree: _RiverArrays,
    holdings: _RiverHoldings,
    work: _RiverWork,
    strategy: Vector,
    player: int,
    averages: Vector,
    weight: np.float32,
) -> None:
    """Write how likely the opponent of a player comes to each node with each holding; above weight 0 count it, too."""
    of_hand, weights = work.reach[0], holdings.weights[1 - player]
    for at in range(len(weights)):
        of_hand[at] = weights[at]
    for node in range(1, len(tree.kinds)):
        parent, row = tree.parents[node], tree.led_by[node]
        if tree.players[parent] == player:
            continue
        before, here, played = work.reach[tree.since[player, parent]], work.reach[node], strategy[row]
        for at in range(len(here)):
            here[at] = before[at] * played[at]
        if weight > 0:
            of_action = averages[row]
            for at in range(len(here)):
                of_action[at] += weight * here[at]


@njit
def _end(tree: _RiverArrays, holdings: _RiverHoldings, work: _RiverWork, node: int, player: int) -> None:
    reach, values = work.reach[tree.since[player, node]], work.values[node]
    if tree.kinds[node] == _FOLDED:
        chips = tree.chips[node] if tree.players[node] != player else -tree.chips[node]
        fold(holdings.ones, holdings.others, reach, work.by_card, chips, values)
    else:
        _show_down(holdings, reach, work.by_card, tree.chips[node], values)


@njit
def _show_down(holdings: _RiverHoldings, reach: Vector, by_card: Vector, chips: np.float32, values: Vector) -> None:
    """Write what each holding wins at a showdown.

    With B what is weaker and U what is weaker or equal, all of it wins B - (total - U). `bots.cfr.walk.show_down` finds
    the same with more additions by card, which take most of the time here.
    """
    ones, others, ties = holdings.ones, holdings.others, holdings.ties
    by_card[:] = np.float32(0)
    total = np.float32(0)
    start = np.int64(0)
    while start < len(reach):
        end = np.int64(ties[start])
        for at in range(start, end):
            values[at] = total - by_card[ones[at]] - by_card[others[at]]
        for at in range(start, end):
            total += reach[at]
            by_card[ones[at]] += reach[at]
            by_card[others[at]] += reach[at]
        for at in range(start, end):
            values[at] += total - by_card[ones[at]] - by_card[others[at]]
        start = end
    for at in range(len(reach)):
        values[at] = chips * (values[at] - (total - by_card[ones[at]] - by_card[others[at]]))


@njit
def _add_up(tree: _RiverArrays, work: _RiverWork, node: int) -> None:
    values = work.values[node]
    values[:] = np.float32(0)
    for action in range(tree.counts[node]):
        below = work.values[tree.leads_to[tree.rows[node] + action]]
        for at in range(len(values)):
            values[at] += below[at]


@njit
def _regret(
    tree: _RiverArrays, work: _RiverWork, regrets: Vector, strategy: Vector, node: int, kept: np.float32
) -> None:
    """Write what the holdings of a player win at its own decision, and change what it plays there."""
    values, sums, nothing, half = work.values[node], work.sums, np.float32(0), np.float32(0.5)
    first, last = tree.rows[node], tree.rows[node] + tree.counts[node]
    values[:] = nothing
    sums[:] = nothing
    for row in range(first, last):
        below, played = work.values[tree.leads_to[row]], strategy[row]
        for at in range(len(values)):
            values[at] += played[at] * below[at]
    for row in range(first, last):
        below, of_action = work.values[tree.leads_to[row]], regrets[row]
        for at in range(len(values)):
            before = of_action[at]
            regret = before * (kept if before > nothing else half) + below[at] - values[at]
            of_action[at] = regret
            sums[at] += regret if regret > nothing else nothing
    even = np.float32(1 / tree.counts[node])
    for row in range(first, last):
        of_action, played = regrets[row], strategy[row]
        for at in range(len(values)):
            regret = of_action[at] if of_action[at] > nothing else nothing
            played[at] = regret / sums[at] if sums[at] > nothing else even


RIVER_SIZES: Final = "0.5,1,all:1,all:all"
"""The raises of a no-limit river, as `bots.cfr.tree` reads them."""
SPREAD: Final = 0.3
"""Part of the opponent's range that is spread over all holdings: docs/cfr-tables.md compares other parts."""
OWN_SPREAD: Final = 0.001
"""The same of the player's own: it has to know what to play with every holding."""
_SELDOM: Final = 1e-3
"""What has a smaller probability is not done at all."""
_KEPT: Final = 64
"""Rivers that are remembered; a solved one has up to half a megabyte."""


class RiverSolution(NamedTuple):
    """How a river is played.

    Attributes:
        chances: shape (actions of the tree, 1326), the probability of each by holding; even ones where a holding shares
            a card with the board.
        values: what each position wins with it in chips per hand, counted from the beginning of the hand.
        gains: what its best answer to the other's part wins more.
    """

    chances: NDArray[np.float32]
    values: tuple[float, float]
    gains: tuple[float, float]

    @property
    def gap(self) -> float:
        """What an answer wins in the mean of both positions, in chips per hand: 0 in an equilibrium."""
        return sum(self.gains) / 2


class River:
    """A river that begins at the decision `start`, solved when its solution is asked for.

    `weights`, shape (2, 1326), is how likely each position comes with each holding, up to a factor; 0 with a card of
    the board.
    """

    def __init__(
        self,
        start: BettingState,
        board: tuple[Card, ...],
        weights: NDArray[np.float64],
        tree: BettingTree,
        iterations: int,
    ) -> None:
        self.start, self.board, self.weights, self.tree, self.iterations = start, board, weights, tree, iterations
        self._arrays = _arrays(tree)

    def after(self, node: int, action: Action) -> int | None:
        """The node that follows an action; None where the tree does not have it."""
        if action not in self.tree.actions[node]:
            return None
        return int(self.tree.children[node, self.tree.actions[node].index(action)])

    def policy(self, node: int) -> dict[Action, Chances]:
        first = self._arrays.rows[node]
        chances = self.solution.chances[first : first + len(self.tree.actions[node])].astype(np.float64)
        return dict(zip(self.tree.actions[node], chances / chances.sum(axis=0), strict=True))

    def weights_at(self, node: int) -> NDArray[np.float64]:
        """How likely each position comes to a node with each holding, shape (2, 1326), up to a factor."""
        if not node:
            return self.weights
        parent = int(self.tree.parents[node])
        found, player = self.weights_at(parent).copy(), int(self.tree.players[parent])
        found[player] = narrowed(found[player], self.solution.chances[self._arrays.led_by[node]])
        return found

    @cached_property
    def solution(self) -> RiverSolution:
        ranks = ranks_on(self.board)
        live = np.flatnonzero(ranks)
        order = live[np.argsort(ranks[live], kind="stable")]
        in_order = ranks[order]
        weights = self.weights[:, order] / self.weights[:, order].sum(axis=1, keepdims=True)
        cards = HOLDING_CARDS[order]
        holdings = _RiverHoldings(
            cards[:, 0].copy(),
            cards[:, 1].copy(),
            np.searchsorted(in_order, in_order, "right").astype(np.uint16),
            weights.astype(np.float32),
        )
        tree = self._arrays
        played, work = _solve(tree, holdings, self.iterations)
        pairs = _pairs(holdings)
        own, best = (
            [answer(tree, holdings, work, played, player, is_best) / pairs for player in range(2)]
            for is_best in (False, True)
        )
        chances = np.empty((len(played), HOLDING_COUNT), np.float32)
        for node in np.flatnonzero(tree.counts).tolist():
            rows = slice(int(tree.rows[node]), int(tree.rows[node] + tree.counts[node]))
            chances[rows] = 1 / tree.counts[node]
            chances[rows, order] = played[rows]
        return RiverSolution(chances, (own[0], own[1]), (best[0] - own[0], best[1] - own[1]))


class Rivers:
    def __init__(self, strategy: StrategyFile, iterations: int) -> None:
        self._strategy, self._iterations = strategy, iterations
        game = strategy.game
        self._sizes = None if game.is_limit else read_sizes(RIVER_SIZES, game.num_rounds)
        self._known: OrderedDict[tuple[BettingState, Action | None, tuple[Card, ...], Position], River] = OrderedDict()

    def at(self, betting: BettingState, board: tuple[Card, ...]) -> tuple[River, int]:
        """The river on which the player in turn decides, and the node there."""
        state, node, player = _beginning(betting), 0, betting.acting_position
        river = self._river(state, None, board, player, partial(self._brought, betting, board, player))
        for _, action in betting.rounds[-1]:
            following = river.after(node, action)
            if following is None:
                river = self._river(state, action, board, player, partial(_here, river, node))
                following = river.after(0, action)
                assert following is not None
            node, state = following, state.after(action)
        return river, node

    def _river(
        self,
        start: BettingState,
        also: Action | None,
        board: tuple[Card, ...],
        player: Position,
        weights: Callable[[], NDArray[np.float64]],
    ) -> River:
        """A river as a player sees it, that begins with a decision at which there is another raise."""
        key = (start, also, board, player)
        if key not in self._known:
            tree = betting_tree(start.game, partial(_with, self._sizes, start, also) if self._sizes else None, start)
            self._known[key] = River(start, board, weights(), tree, self._iterations)
        self._known.move_to_end(key)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return self._known[key]

    def _brought(self, betting: BettingState, board: tuple[Card, ...], player: Position) -> NDArray[np.float64]:
        found = ranges(self._strategy, betting, board, self._strategy.buckets_on)
        return _spread(found, board, [OWN_SPREAD if position == player else SPREAD for position in range(2)])


def _with(sizes: Sizes, start: BettingState, also: Action | None, state: BettingState) -> Sequence[Action]:
    """Sizes, and one more raise in one state."""
    found = {*sizes(state)}
    if also is not None and state == start:
        found.add(also)
    return sorted(found)


def _here(river: River, node: int) -> NDArray[np.float64]:
    return _spread(river.weights_at(node), river.board, [OWN_SPREAD, OWN_SPREAD])


def _spread(weights: NDArray[np.float64], board: tuple[Card, ...], parts: Sequence[float]) -> NDArray[np.float64]:
    """Ranges that sum to 1, a part of each spread over all holdings that the board leaves."""
    free = are_free(board)
    spread = np.array(parts)[:, None]
    found: NDArray[np.float64] = (1 - spread) * weights / weights.sum(axis=1, keepdims=True)
    found += spread * free / free.sum()
    return found


def _beginning(betting: BettingState) -> BettingState:
    state = betting_start(betting.game)
    for _, action in (one for actions in betting.rounds[:-1] for one in actions):
        state = state.after(action)
    return state


def _arrays(tree: BettingTree) -> _RiverArrays:
    nodes, counts = len(tree.kinds), tree.number_of_actions().astype(np.int32)
    rows = (counts.cumsum() - counts).astype(np.int32)
    led_by, leads_to = np.full(nodes, -1, np.int32), np.zeros(int(counts.sum()), np.int32)
    since = np.zeros((2, nodes), np.int32)
    for node in range(1, nodes):
        parent = tree.parents[node]
        led_by[node] = rows[parent] + tree.taken[node]
        leads_to[led_by[node]] = node
        for player in range(2):
            since[player, node] = node if tree.players[parent] != player else since[player, parent]
    return _RiverArrays(
        kinds=tree.kinds,
        players=tree.players,
        parents=tree.parents,
        chips=tree.chips.astype(np.float32),
        counts=counts,
        rows=rows,
        led_by=led_by,
        leads_to=leads_to,
        since=since,
    )


def _solve(tree: _RiverArrays, holdings: _RiverHoldings, iterations: int) -> tuple[Vector, _RiverWork]:
    """The probabilities of all actions by holding of the board, and the arrays of the walk."""
    nodes, actions, size = len(tree.kinds), len(tree.leads_to), len(holdings.ones)

    def zeros(*shape: int) -> Vector:
        return np.zeros(shape, np.float32)

    work = _RiverWork(zeros(nodes, size), zeros(nodes, size), zeros(size), zeros(CARD_LANES))
    averages, even = zeros(actions, size), np.repeat(1 / tree.counts[tree.counts > 0], tree.counts[tree.counts > 0])
    strategy = np.tile(even.astype(np.float32)[:, None], size)
    _learn_river(tree, holdings, work, zeros(actions, size), strategy, averages=averages, iterations=iterations)
    firsts = tree.rows[tree.counts > 0]
    totals = np.repeat(np.add.reduceat(averages, firsts), tree.counts[tree.counts > 0], axis=0)
    np.divide(averages, totals, out=strategy, where=totals > 0)
    # What is done so seldom is left over from the first iterations, in which everything was.
    strategy[strategy < _SELDOM] = 0
    strategy /= np.repeat(np.add.reduceat(strategy, firsts), tree.counts[tree.counts > 0], axis=0)
    return strategy, work


def _pairs(holdings: _RiverHoldings) -> float:
    """The weight of all pairs of holdings without a common card."""
    first, second = holdings.weights.astype(np.float64)
    by_card = np.zeros((2, CARD_LANES))
    for cards in (holdings.ones, holdings.others):
        np.add.at(by_card[0], cards, first)
        np.add.at(by_card[1], cards, second)
    # Two holdings with both cards in common have been taken out twice.
    return float(first.sum() * second.sum() - (by_card[0] * by_card[1]).sum() + (first * second).sum())
