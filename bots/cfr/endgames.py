"""Solve rivers and turns during play, with every holding of both players and the real pot.

The ranges at the start follow from the strategy (`bots.cfr.lookup.find_ranges`). The remaining game has ten to sixty
nodes on a river and is solved without buckets (Ganzfried & Sandholm 2015, "Endgame solving in large
imperfect-information games"). Raises outside the tree start a new solution (Brown & Sandholm 2017, "Safe and nested
subgame solving for imperfect-information games").

A turn has fewer bets and 48 rivers, so a solution in which every holding plays for itself on each of them takes up to a
second. Here the holdings play for themselves on the turn only. On each river they are divided by strength into classes
of about equal weight, and all holdings of a class play alike. The river that comes is solved anew, without classes, so
they serve only to value the ends of the turn.

On the turn, a fold counts the pairs of holdings without a common card. On a river, the classes do not tell which pairs
these are. The pairs are weighted by a product of a factor for each holding instead, which gives each holding the number
of opposing ones that are possible with it. The game with these weights has a zero sum, too.

The kernels run the iterations of `bots.cfr.endgame_walk` and validate nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_CARDS, HOLDING_COUNT
from bots.cfr.endgame_walk import (
    CARD_LANES,
    NEVER,
    EndgameArrays,
    EndgameBetting,
    Holdings,
    Task,
    Vector,
    answer,
    decay,
    endgame_betting,
    fold,
    holdings_on,
    learn,
    learning_arrays,
    leave,
    pair_weight,
    write_average,
    write_reach,
)
from bots.cfr.lookup import Chances, find_ranges, narrow_range, ranks_on
from bots.cfr.strategy_files import StrategyFile
from bots.cfr.tree import DECISION, FOLDED, BettingTree, Sizes, betting_tree, read_sizes
from engine import RAISE, Action, BettingState, Card, Position, betting_start
from engine.kernels.jit import njit, njit_inner
from engine.ranges import are_free

TURN: Final = 2
RIVER: Final = 3


_RIVER_SIZES: Final = "0.5,1,all:1,all:all"
"""Raises of a no-limit river, in the format of `bots.cfr.tree`."""
_TURN_SIZES: Final = "1/1/1,all:all/1"
"""Raises of a no-limit turn and of its rivers, likewise."""
SPREAD: Final = 0.3
"""Part of the opponent's range that is spread over all holdings. research/tables/cfr.md compares other values."""
OWN_SPREAD: Final = 0.001
"""Likewise for the player's own range, so that the solution covers every holding."""
_MAX_ENDGAMES: Final = 64
"""Number of endgames in the cache. A solved one has up to half a megabyte."""


RIVERS: Final = 48
_CLASSES: Final = 31
"""Classes of a river. One more has the holdings with the river card."""
_MIN_REACH: Final = 1e-6
"""Smallest part of an opponent's range for which the rivers after a betting are walked."""


class TurnArrays(NamedTuple):
    """State of the solver.

    Attributes:
        turn: the turn, with the rows of its own actions only.
        rivers: all rivers as one board, with their classes in place of holdings: class by class, each on all rivers.
        lanes: index of the class of each holding on each river, shape (holdings, 48).
        factors: by player, factor of each holding in pairs on a river, shape (2, holdings).
        fixed: player whose strategy of the turn is given and learns nothing there, or -1.
    """

    turn: EndgameArrays
    rivers: EndgameArrays
    lanes: NDArray[np.uint16]
    factors: Vector
    fixed: int


@njit
def _learn(arrays: TurnArrays, iterations: int) -> None:
    for iteration in range(1, iterations + 1):
        for player in range(2):
            _walk(arrays, Task(player, iteration, NEVER, decay(iteration)))


def answer_in_classes(arrays: TurnArrays, player: int, best_from: int) -> float:
    """Return the chips that a player wins from its opponent's strategy, summed over pairs of holdings by weight.

    Args:
        best_from: round from which on the player plays a best response, in classes on rivers, or `NEVER`.
    """
    _walk(arrays, Task(player, 0, best_from, np.float32(0)))
    return float(np.dot(arrays.turn.weights[player].astype(np.float64), arrays.turn.work.values[0]))


@njit
def _walk(arrays: TurnArrays, task: Task) -> None:
    """Write the values of a player's holdings at each node of the turn."""
    turn = arrays.turn
    betting = turn.betting
    root_reach = turn.work.reach[0]
    weights = turn.weights[1 - task.player]
    for index in range(len(weights)):
        root_reach[index] = weights[index]
    first = int(np.int64(0))  # numba compiles a function again for a literal 0
    write_reach(turn, first, first, task)
    # A walk of iteration 0 evaluates, so it leaves the fixed player's strategy and regrets as they are.
    of_turn = task
    if task.player == arrays.fixed:
        of_turn = Task(task.player, 0, NEVER, np.float32(0))
    for node in range(len(betting.kinds) - 1, -1, -1):
        if betting.rounds[node] == betting.rounds[0]:
            leave(turn, first, node, of_turn)
        elif betting.rounds[betting.parents[node]] == betting.rounds[0]:
            _deal(arrays, node, task)


@njit_inner
def _deal(arrays: TurnArrays, first: int, task: Task) -> None:
    """Write the values of holdings at the first node of a river, the means over the river cards."""
    turn = arrays.turn
    rivers = arrays.rivers
    betting = turn.betting
    parent = betting.parents[first]
    extra = len(betting.kinds)
    # Reach of the opponent at the end of the turn: at the node its own last action led to.
    before = turn.work.reach[betting.since[task.player, parent] if betting.players[parent] == task.player else first]
    opposing = turn.work.reach[extra]
    factors = arrays.factors[1 - task.player]
    total = np.float32(0)
    for index in range(len(before)):
        opposing[index] = factors[index] * before[index]
        total += opposing[index]
    values = turn.work.values[first]
    if total < np.float32(_MIN_REACH):
        values[:] = np.float32(0)
        return
    lanes = arrays.lanes
    reach = rivers.work.reach[extra]
    reach[:] = np.float32(0)
    for index in range(len(lanes)):
        weight = opposing[index]
        if weight > np.float32(0):
            of_holding = lanes[index]
            for river in range(RIVERS):
                reach[of_holding[river]] += weight
    # The last class has the holdings that the river card excludes.
    reach[_CLASSES * RIVERS :] = np.float32(0)
    board = int(np.int64(0))
    write_reach(rivers, board, first, task)
    # In reverse preorder, all children come before their parent.
    for node in range(betting.ends[first] - 1, first - 1, -1):
        if betting.kinds[node] == DECISION:
            leave(rivers, board, node, task)
        else:
            _end(rivers, node, task.player)
    of_classes = rivers.work.values[first]
    of_classes[_CLASSES * RIVERS :] = np.float32(0)
    share = turn.river_share
    own = arrays.factors[task.player]
    for index in range(len(lanes)):
        of_holding = lanes[index]
        total = np.float32(0)
        for river in range(RIVERS):
            total += of_classes[of_holding[river]]
        values[index] = share * own[index] * total


@njit_inner
def _end(rivers: EndgameArrays, node: int, player: int) -> None:
    """Write the values of a player's classes at an end of the betting, for all rivers at once."""
    betting = rivers.betting
    reach = rivers.work.reach[betting.since[player, node]]
    values = rivers.work.values[node]
    chips = betting.chips[node]
    totals = rivers.work.sums[:RIVERS]
    below = rivers.work.sums[RIVERS : 2 * RIVERS]
    totals[:] = np.float32(0)
    for first in range(0, len(reach), RIVERS):
        for river in range(RIVERS):
            totals[river] += reach[first + river]
    if betting.kinds[node] == FOLDED:
        if betting.players[node] == player:
            chips = -chips
        for first in range(0, len(reach), RIVERS):
            for river in range(RIVERS):
                values[first + river] = chips * totals[river]
        return
    # Weaker classes less stronger ones, with equal ones a tie: W - (T - W - E).
    below[:] = np.float32(0)
    for first in range(0, len(reach), RIVERS):
        for river in range(RIVERS):
            equal = reach[first + river]
            # Both additions of `below` are W: chips × (2 W + E - T).
            values[first + river] = chips * (below[river] + below[river] + equal - totals[river])
            below[river] += equal


def river_classes(board: tuple[Card, ...], weights: Vector) -> NDArray[np.uint8]:
    """Divide the holdings without a card of a turn's board on each river by strength, shape (48, holdings).

    Args:
        weights: by which the classes of a river are about equal, shape (holdings,).
    """
    free = np.flatnonzero(are_free(board))
    rivers = [card for card in range(52) if card not in board]
    ranks = np.array([ranks_on((*board, Card(card)))[free] for card in rivers]).astype(np.int32)
    orders = np.argsort(ranks, axis=1)
    classes = np.empty(ranks.shape, np.uint8)
    _classify(ranks, orders, weights, classes)
    return classes


@njit
def _classify(ranks: NDArray[np.int32], orders: NDArray[np.intp], weights: Vector, classes: NDArray[np.uint8]) -> None:
    for river in range(len(ranks)):
        order = orders[river]
        of_river = ranks[river]
        total = 0.0
        for index in range(len(order)):
            if of_river[index]:
                total += weights[index]
        below = 0.0
        start = 0
        while start < len(order):
            rank = of_river[order[start]]
            end = start
            equal = 0.0
            while end < len(order) and of_river[order[end]] == rank:
                equal += weights[order[end]]
                end += 1
            # Equal holdings are in the class of the middle of their weight.
            # The strongest holdings may have weight 0. Their middle is then the total, hence the bound.
            number = min(int((below + equal / 2) / total * _CLASSES), _CLASSES - 1)
            if not rank:
                number = _CLASSES
                equal = 0.0
            for index in range(start, end):
                classes[river, order[index]] = number
            below += equal
            start = end


def pair_factors(holdings: Holdings, weights: Vector) -> Vector:
    """Return the factors of holdings by player, shape (2, holdings).

    The product of both players' factors, weighted by the other range, sums for each holding to the weight of the
    holdings that share no card with it.
    """
    possible = np.empty_like(weights)
    by_card = np.empty(CARD_LANES, np.float32)
    for player in range(2):
        fold(holdings, 0, weights[1 - player], by_card, np.float32(1), possible[player])
    # The weight of all pairs. Each factor is divided by its root, so the product of two is divided by it once.
    total = float(possible[0] @ weights[0])
    # Differences of float32 sums can be below 0 by rounding.
    return np.maximum(possible, 0) / np.float32(np.sqrt(total))


def solve_turn(betting: EndgameBetting, board: tuple[Card, ...], weights: Vector, iterations: int) -> TurnArrays:
    """Solve a turn; the `strategy` of the turn and of the rivers in the result are averages.

    Args:
        weights: probability of each free holding by player, shape (2, holdings).
    """
    arrays = _turn_arrays(betting, board, weights)
    _learn(arrays, iterations)
    write_average(arrays.turn)
    write_average(arrays.rivers)
    return arrays


def answer_turn(
    betting: EndgameBetting,
    board: tuple[Card, ...],
    weights: Vector,
    strategy: Vector,
    player: int,
    iterations: int,
) -> None:
    """Write actions of the turn that win much from its given strategy, if the rivers after it are solved.

    Args:
        weights: probability of each free holding by player, shape (2, holdings).
        strategy: probabilities of the actions of the turn, shape (actions, holdings); those of the player become 1 for
            the best action and 0 for the others.
    """
    arrays = _turn_arrays(betting, board, weights)._replace(fixed=1 - player)
    of_turn = arrays.turn.strategy[0]
    decisions = np.flatnonzero((betting.counts > 0) & (betting.rounds == betting.rounds[0]))
    rows = {}
    for node in decisions.tolist():
        first = betting.rows[node]
        rows[node] = slice(first, first + betting.counts[node])
    for node, actions in rows.items():
        if betting.players[node] != player:
            of_turn[actions] = strategy[actions]
    _learn(arrays, iterations)
    write_average(arrays.rivers)
    answer_in_classes(arrays, player, int(betting.rounds[0]))
    for node, actions in rows.items():
        if betting.players[node] == player:
            best = arrays.turn.work.values[betting.leads_to[actions]].argmax(axis=0)
            strategy[actions] = np.arange(betting.counts[node])[:, None] == best


def _turn_arrays(betting: EndgameBetting, board: tuple[Card, ...], weights: Vector) -> TurnArrays:
    cards = HOLDING_CARDS[are_free(board)]
    size = len(cards)
    places = np.arange(size)[None]
    first_cards, second_cards = np.ascontiguousarray(cards.T)[:, None]
    # No showdown is on the turn itself, since an all-in call ends on the river. So ranks and ties are not needed.
    holdings = Holdings(first_cards, second_cards, np.zeros((1, size), np.uint16), places)
    classes = river_classes(board, weights.mean(axis=0))
    rivers = np.arange(RIVERS, dtype=np.uint16)[:, None]
    # Transposed, because the kernel goes through the rivers of each holding.
    lanes = np.ascontiguousarray((classes * np.uint16(RIVERS) + rivers).T)
    actions_of_turn = int(betting.counts[betting.rounds == betting.rounds[0]].sum())
    turn = learning_arrays(betting, holdings, weights, size, actions_of_turn)
    return TurnArrays(
        # Both players hold four of the 48 cards, so each pair of holdings sees 44.
        turn._replace(river_share=np.float32(1 / (RIVERS - 4))),
        learning_arrays(betting, holdings, weights, (_CLASSES + 1) * RIVERS, len(betting.leads_to)),
        lanes,
        pair_factors(holdings, weights),
        fixed=-1,
    )


class EndgameSolution(NamedTuple):
    """Strategy of the first round of an endgame.

    Attributes:
        chances: probability of each action of the round by holding, shape (actions, 1326). Equal for holdings that
            share a card with the board.
        values: chips per hand that each position wins, counted from the beginning of the hand; half of what others
            have put in is left out.
        gains: chips per hand that a best response of each position wins in addition.
    """

    chances: NDArray[np.float32]
    values: tuple[float, float]
    gains: tuple[float, float]

    @property
    def gap(self) -> float:
        """Exploitability in chips per hand, the mean over both positions; 0 in an equilibrium."""
        return sum(self.gains) / 2


class Endgame:
    """A river or a turn that begins at the decision `start`, solved at the first access to `solution`.

    Attributes:
        weights: probability of each holding by position, up to a factor, shape (2, 1326); 0 with a card of the board.
    """

    def __init__(
        self,
        start: BettingState,
        board: tuple[Card, ...],
        weights: NDArray[np.float64],
        tree: BettingTree,
        iterations: int,
    ) -> None:
        self.start = start
        self.board = board
        self.weights = weights
        self.tree = tree
        self.iterations = iterations
        self._betting = endgame_betting(tree)

    def after(self, node: int, action: Action) -> int | None:
        """Return the node after an action, or None if the tree does not have it."""
        actions = self.tree.actions[node]
        if action not in actions:
            return None
        return int(self.tree.children[node, actions.index(action)])

    def policy(self, node: int) -> dict[Action, Chances]:
        """Return the probability of each action at a node by holding, shape (1326,) each."""
        actions = self.tree.actions[node]
        first = self._betting.rows[node]
        # Rounding of float32: divided by their sum in float64 they sum to 1, as policies must.
        chances = self.solution.chances[first : first + len(actions)].astype(np.float64)
        return dict(zip(actions, chances / chances.sum(axis=0), strict=True))

    def weights_at(self, node: int) -> NDArray[np.float64]:
        """Return the probability of each holding by position at a node, up to a factor, shape (2, 1326)."""
        if not node:
            return self.weights
        parent = int(self.tree.parents[node])
        weights = self.weights_at(parent).copy()
        player = int(self.tree.players[parent])
        weights[player] = narrow_range(weights[player], self.solution.chances[self._betting.led_by[node]])
        return weights

    @cached_property
    def solution(self) -> EndgameSolution:
        numbers, holdings = holdings_on(self.board)
        betting = self._betting
        arrays = learning_arrays(betting, holdings, self._ranges(numbers), len(numbers), len(betting.leads_to))
        learn(arrays, self.iterations)
        write_average(arrays)
        return self._solution(arrays, numbers, partial(answer, arrays))

    def _ranges(self, numbers: NDArray[np.intp]) -> Vector:
        """Return the probabilities of these holdings, shape (2, holdings)."""
        weights = self.weights[:, numbers]
        ranges: NDArray[np.float32] = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
        return ranges

    def _solution(
        self, arrays: EndgameArrays, numbers: NDArray[np.intp], won: Callable[[int, int], float]
    ) -> EndgameSolution:
        """Return the solution of the first round.

        Args:
            numbers: number of each holding, in the order of the arrays.
            won: returns the chips that a player wins with a best response from a round on.
        """
        betting = self._betting
        pairs = pair_weight(arrays.holdings, arrays.weights)
        own = [won(player, NEVER) / pairs for player in range(2)]
        best = [won(player, 0) / pairs for player in range(2)]
        is_in_round = betting.rounds == betting.rounds[0]
        chances = np.empty((int(betting.counts[is_in_round].sum()), HOLDING_COUNT), np.float32)
        for node in np.flatnonzero(is_in_round & (betting.counts > 0)).tolist():
            first = int(betting.rows[node])
            rows = slice(first, first + int(betting.counts[node]))
            # Holdings with a card of the board keep these.
            chances[rows] = 1 / betting.counts[node]
            chances[rows, numbers] = arrays.strategy[0, rows]
        gains = (best[0] - own[0], best[1] - own[1])
        return EndgameSolution(chances, (own[0], own[1]), gains)


class Turn(Endgame):
    """A turn, solved with classes of holdings on its rivers."""

    @cached_property
    def solution(self) -> EndgameSolution:
        numbers = np.flatnonzero(are_free(self.board))
        arrays = solve_turn(self._betting, self.board, self._ranges(numbers), self.iterations)
        return self._solution(arrays.turn, numbers, partial(answer_in_classes, arrays))


class Endgames:
    """Endgames of a strategy, each player's own.

    A player knows its own range, while that of the opponent is an estimate and is spread (`SPREAD`). So the players
    solve different endgames, each of which follows from strategy, betting and board alone.

    Args:
        rivers: iterations for a river.
        turns: iterations for a turn; 0 to solve no turns.
    """

    def __init__(self, strategy: StrategyFile, rivers: int, turns: int = 0) -> None:
        self._strategy = strategy
        self._iterations = {RIVER: rivers, TURN: turns}
        sizes = {RIVER: _RIVER_SIZES, TURN: _TURN_SIZES}
        game = strategy.game
        if game.is_limit:
            self._sizes = {}
        else:
            self._sizes = {key: read_sizes(text, game.num_rounds) for key, text in sizes.items()}
        self._cache: OrderedDict[tuple[BettingState, Action | None, tuple[Card, ...], Position], Endgame] = (
            OrderedDict()
        )

    def solves(self, round_: int) -> bool:
        return self._iterations.get(round_, 0) > 0

    def at(self, betting: BettingState, board: tuple[Card, ...]) -> tuple[Endgame, int]:
        """Return the endgame in which the player in turn decides, and the node of this decision."""
        return self._after(betting.rounds[: betting.round + 1], board, betting.acting_position)

    def from_start(self, start: BettingState, board: tuple[Card, ...], player: Position) -> Endgame:
        """Return a player's endgame that begins at the first decision of a round."""
        return self._after(start.rounds[: start.round + 1], board, player)[0]

    def raises_in(self, state: BettingState) -> Sequence[Action]:
        """Return the raises of the endgames in a state of a round that is solved, if one is legal."""
        if not self._sizes:
            return [RAISE]
        return self._sizes[state.round](state)

    def _after(
        self, rounds: Sequence[Sequence[tuple[Position, Action]]], board: tuple[Card, ...], player: Position
    ) -> tuple[Endgame, int]:
        """Return a player's endgame of the last of these rounds, and the node after the actions of that round."""
        state = betting_start(self._strategy.game)
        node = 0
        for actions in rounds[:-1]:
            for _, action in actions:
                state = state.after(action)
        initial_weights = partial(self._initial_weights, rounds, state, board, player)
        endgame = self._endgame(state, None, board, player, initial_weights)
        for _, action in rounds[-1]:
            following = endgame.after(node, action)
            if following is None:
                # A raise outside the tree: solve again from its decision, with the ranges of the solution so far.
                endgame = self._endgame(state, action, board, player, partial(_spread_at, endgame, node))
                following = endgame.after(0, action)
                assert following is not None
            node = following
            state = state.after(action)
        return endgame, node

    def _endgame(
        self,
        start: BettingState,
        extra: Action | None,
        board: tuple[Card, ...],
        player: Position,
        weights: Callable[[], NDArray[np.float64]],
    ) -> Endgame:
        """Return an endgame from the cache, or create it.

        Args:
            start: state of the first decision.
            extra: a raise at this decision besides those of the sizes.
            weights: computes the ranges of a new endgame.
        """
        key = (start, extra, board, player)
        if key not in self._cache:
            sizes = self._sizes.get(start.round)
            raises = None
            if sizes is not None:
                raises = partial(_sizes_with, sizes, start, extra)
            tree = betting_tree(start.game, raises, start)
            # Players are numbered from 0 among those in the pot.
            players = np.searchsorted(start.in_pot, tree.players).astype(np.int8)
            tree = replace(tree, players=np.where(tree.players < 0, tree.players, players))
            kind = Turn if start.round == TURN else Endgame
            self._cache[key] = kind(start, board, weights(), tree, self._iterations[start.round])
        # The newest, so that the next line does not drop it.
        self._cache.move_to_end(key)
        while len(self._cache) > _MAX_ENDGAMES:
            self._cache.popitem(last=False)
        return self._cache[key]

    def _initial_weights(
        self,
        rounds: Sequence[Sequence[tuple[Position, Action]]],
        start: BettingState,
        board: tuple[Card, ...],
        player: Position,
    ) -> NDArray[np.float64]:
        """Return the ranges at the start of the last round, those of the solved turn before a river if there is one."""
        if self.solves(start.round - 1) and len(start.round_starts[start.round - 1].in_pot) == 2:
            turn, node = self._after(rounds[:-1], board[:-1], player)
            weights = turn.weights_at(node) * are_free(board)
        else:
            weights = find_ranges(self._strategy, start, board, self._strategy.buckets_on)
        parts = [SPREAD, SPREAD]
        parts[start.in_pot.index(player)] = OWN_SPREAD
        return _spread(weights, board, parts)


def _sizes_with(sizes: Sizes, start: BettingState, extra: Action | None, state: BettingState) -> Sequence[Action]:
    """Return the sizes in a state, with the extra raise if it is the first one."""
    raises = {*sizes(state)}
    if extra is not None and state == start:
        raises.add(extra)
    return sorted(raises)


def _spread_at(endgame: Endgame, node: int) -> NDArray[np.float64]:
    # The opponent's range has been spread at the start of the endgame already.
    return _spread(endgame.weights_at(node), endgame.board, [OWN_SPREAD, OWN_SPREAD])


def _spread(weights: NDArray[np.float64], board: tuple[Card, ...], parts: Sequence[float]) -> NDArray[np.float64]:
    """Normalise ranges to a sum of 1 and spread a part of each over all holdings without a card of the board."""
    free = are_free(board)
    spread = np.array(parts)[:, None]
    ranges: NDArray[np.float64] = (1 - spread) * weights / weights.sum(axis=1, keepdims=True)
    ranges += spread * free / free.sum()
    return ranges
