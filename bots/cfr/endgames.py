"""Solve rivers and turns during play, with every holding of both players and the real pot.

The ranges at the start follow from the strategy (`bots.cfr.lookup.find_ranges`). The remaining game has ten to sixty
nodes on a river and is solved without buckets (Ganzfried & Sandholm 2015, "Endgame solving in large
imperfect-information games"). A turn has fewer bets, and each iteration walks all of its 48 rivers. Raises outside the
tree start a new solution (Brown & Sandholm 2017, "Safe and nested subgame solving for imperfect-information games").

The kernels run discounted counterfactual regret minimisation with alternating updates (Brown & Sandholm 2019) over
vectors of holdings, sorted by rank on the board, and validate nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_COUNT
from bots.cfr.lookup import Chances, find_ranges, narrow_range
from bots.cfr.showdowns import CARD_LANES, Holdings, Vector, fold, holdings_on, pair_weight, show_down
from bots.cfr.strategy_files import StrategyFile
from bots.cfr.tree import BettingTree, Sizes, betting_tree, read_sizes
from engine import RAISE, Action, BettingState, Card, Position, betting_start
from engine.kernels.jit import njit
from engine.ranges import are_free

TURN: Final = 2
RIVER: Final = 3
_DECISION = 0
_FOLDED = 1


class EndgameBetting(NamedTuple):
    """Betting of an endgame in preorder. Arrays have the shape (nodes,) unless stated otherwise.

    Attributes:
        kinds: see `BettingTree`, as for `players`, `rounds` and `parents`.
        ends: number after the last descendant.
        chips: chips that the loser of an end has put in.
        counts: number of actions.
        rows: index of the first action of a decision among all actions.
        led_by: index, among all actions, of the action that leads to the node.
        leads_to: node after each action, shape (actions,).
        since: by player, the last node on the path to which an action of its opponent led, which holds the opponent's
            reach, or 0. The number of nodes if the opponent has not acted since the river card. Shape
            (2, nodes).
    """

    kinds: NDArray[np.int8]
    players: NDArray[np.int8]
    rounds: NDArray[np.int8]
    parents: NDArray[np.int32]
    ends: NDArray[np.int32]
    chips: Vector
    counts: NDArray[np.int32]
    rows: NDArray[np.int32]
    led_by: NDArray[np.int32]
    leads_to: NDArray[np.int32]
    since: NDArray[np.int32]


class _Work(NamedTuple):
    """Scratch space of a walk.

    Attributes:
        reach: opponent's probability of reaching the node, the last row that at a river card, shape (nodes + 1,
            holdings).
        values: counterfactual values of the player's holdings, the last row sums over river cards, likewise.
        sums: shape (holdings,).
        by_card: sums by card, shape (64,).
    """

    reach: Vector
    values: Vector
    sums: Vector
    by_card: Vector


class EndgameArrays(NamedTuple):
    """State of the solver.

    Attributes:
        weights: probability of each holding at the start by player, shape (2, holdings), in the order of board 0.
        regrets: shape (boards, actions, holdings), initially 0.
        strategy: probabilities of the actions, likewise, initially equal.
        averages: sums of the reach of each action by the player's own probabilities, weighted by iteration, likewise.
    """

    betting: EndgameBetting
    holdings: Holdings
    work: _Work
    weights: Vector
    regrets: Vector
    strategy: Vector
    averages: Vector


class _Task(NamedTuple):
    """Purpose of a walk for a player.

    Attributes:
        iteration: number of the iteration of learning, from 1, or 0 to evaluate.
        is_best: in an evaluation, whether the player plays the best action with each holding instead of the strategy.
        kept: factor of regrets above 0, t^1.5 / (t^1.5 + 1) with t = iteration - 1.
    """

    player: int
    iteration: int
    is_best: bool
    kept: np.float32


@njit
def _learn(arrays: EndgameArrays, iterations: int) -> None:
    """Run iterations of discounted CFR with the powers 1.5 for gains, 0 for losses and 2 for the average."""
    for iteration in range(1, iterations + 1):
        power = (iteration - 1) ** 1.5
        for player in range(2):
            _walk(arrays, _Task(player, iteration, False, np.float32(power / (power + 1))))


@njit
def answer(arrays: EndgameArrays, player: int, is_best: bool) -> float:
    """Return the chips that a player wins from its opponent's strategy, summed over pairs of holdings by weight.

    Args:
        is_best: whether the player plays a best response instead of its strategy.
    """
    _walk(arrays, _Task(player, 0, is_best, np.float32(0)))
    total = 0.0
    weights = arrays.weights[player]
    # Sum over the holdings: weight times value at the first node.
    for index in range(len(weights)):
        total += weights[index] * arrays.work.values[0, index]
    return total


@njit
def _walk(arrays: EndgameArrays, task: _Task) -> None:
    """Write the values of a player's holdings at each node."""
    betting = arrays.betting
    root_reach = arrays.work.reach[0]
    weights = arrays.weights[1 - task.player]
    for index in range(len(weights)):
        root_reach[index] = weights[index]
    first = int(np.int64(0))  # numba compiles a function again for a literal 0
    _write_reach(arrays, first, first, task)
    # In reverse preorder, all children come before their parent.
    for node in range(len(betting.kinds) - 1, -1, -1):
        if betting.rounds[node] == betting.rounds[0]:
            _leave(arrays, first, node, task)
        elif betting.rounds[betting.parents[node]] == betting.rounds[0]:
            _deal(arrays, node, task)


@njit
def _deal(arrays: EndgameArrays, first: int, task: _Task) -> None:
    """Write the values at the first node of a river, the means over the river cards."""
    betting = arrays.betting
    holdings = arrays.holdings
    work = arrays.work
    parent = betting.parents[first]
    extra = len(betting.kinds)
    # Reach of the opponent at the end of the turn: at the node its own last action led to.
    before = work.reach[betting.since[task.player, parent] if betting.players[parent] == task.player else first]
    reach = work.reach[extra]
    values = work.values[first]
    sums = work.values[extra]
    sums[:] = np.float32(0)
    # Sum the values over the river cards, each holding at its index on the turn.
    for board in range(1, len(holdings.first_cards)):
        places = holdings.places[board]
        # Holdings with the river card all have rank 0: they end at the first tie.
        blocked = np.int64(holdings.ties[board, 0])
        for index in range(len(reach)):
            reach[index] = before[places[index]] if index >= blocked else np.float32(0)
        _write_reach(arrays, board, first, task)
        for node in range(betting.ends[first] - 1, first - 1, -1):
            _leave(arrays, board, node, task)
        for index in range(blocked, len(reach)):
            sums[places[index]] += values[index]
    # Both players hold four of the 48 cards, so each pair of holdings sees 44: boards less 1 and 4.
    share = np.float32(1 / (len(holdings.first_cards) - 5))
    for index in range(len(sums)):
        values[index] = share * sums[index]


@njit
def _write_reach(arrays: EndgameArrays, board: int, first: int, task: _Task) -> None:
    """Write the opponent's reach after each of its actions in a round; when learning, add it to the averages."""
    betting = arrays.betting
    work = arrays.work
    strategy = arrays.strategy[board]
    averages = arrays.averages[board]
    weight = np.float32(task.iteration * task.iteration)
    for node in range(first + 1, betting.ends[first]):
        parent = betting.parents[node]
        row = betting.led_by[node]
        if betting.players[parent] == task.player or betting.rounds[parent] != betting.rounds[first]:
            continue
        before = work.reach[betting.since[task.player, parent]]
        reach = work.reach[node]
        played = strategy[row]
        for index in range(len(reach)):
            reach[index] = before[index] * played[index]
        # An iteration counts in the average by the square of its number.
        if weight > 0:
            average = averages[row]
            for index in range(len(reach)):
                average[index] += weight * reach[index]


@njit
def _leave(arrays: EndgameArrays, board: int, node: int, task: _Task) -> None:
    """Write the values of a player's holdings at a node from those of its children."""
    betting = arrays.betting
    work = arrays.work
    strategy = arrays.strategy[board]
    if betting.kinds[node] != _DECISION:
        _end(arrays, board, node, task.player)
    elif betting.players[node] != task.player:
        _add_up(betting, work, node)
    elif task.iteration:
        _regret(betting, work, arrays.regrets[board], strategy, node, task.kept)
    else:
        # An evaluation: the mean of the actions' values by probability, or their maximum for a best response.
        values = work.values[node]
        for action in range(betting.counts[node]):
            row = betting.rows[node] + action
            below = work.values[betting.leads_to[row]]
            played = strategy[row]
            for index in range(len(values)):
                if not task.is_best:
                    values[index] = played[index] * below[index] + (values[index] if action else 0)
                elif not action or below[index] > values[index]:
                    values[index] = below[index]


@njit
def _end(arrays: EndgameArrays, board: int, node: int, player: int) -> None:
    """Write the values of a player's holdings at an end of the betting."""
    betting = arrays.betting
    holdings = arrays.holdings
    work = arrays.work
    reach = work.reach[betting.since[player, node]]
    values = work.values[node]
    if betting.kinds[node] == _FOLDED:
        if betting.players[node] != player:
            chips = betting.chips[node]
        else:
            chips = -betting.chips[node]
        fold(holdings, board, reach, work.by_card, chips, values)
    else:
        show_down(holdings, board, reach, work.by_card, betting.chips[node], values)


@njit
def _add_up(betting: EndgameBetting, work: _Work, node: int) -> None:
    """Write the values at a decision of the opponent: the sum over its actions, whose reach is in their values."""
    values = work.values[node]
    values[:] = np.float32(0)
    for action in range(betting.counts[node]):
        below = work.values[betting.leads_to[betting.rows[node] + action]]
        for index in range(len(values)):
            values[index] += below[index]


@njit
def _regret(
    betting: EndgameBetting, work: _Work, regrets: Vector, strategy: Vector, node: int, kept: np.float32
) -> None:
    """Write the values at a decision of the player, and update its regrets and its strategy.

    Args:
        regrets: on the board, shape (actions, holdings).
        strategy: likewise.
        kept: factor of regrets above 0. Those below 0 are halved.
    """
    values = work.values[node]
    sums = work.sums
    nothing = np.float32(0)
    half = np.float32(0.5)
    first = betting.rows[node]
    last = betting.rows[node] + betting.counts[node]
    values[:] = nothing
    sums[:] = nothing
    # Values: the sum over the actions by probability.
    for row in range(first, last):
        below = work.values[betting.leads_to[row]]
        played = strategy[row]
        for index in range(len(values)):
            values[index] += played[index] * below[index]
    # Discounted regrets, and the sum over the actions of those above 0.
    for row in range(first, last):
        below = work.values[betting.leads_to[row]]
        action_regrets = regrets[row]
        for index in range(len(values)):
            before = action_regrets[index]
            regret = before * (kept if before > nothing else half) + below[index] - values[index]
            action_regrets[index] = regret
            sums[index] += regret if regret > nothing else nothing
    # Regret matching. A loop per action instead of per holding keeps all inner loops over adjacent memory.
    even = np.float32(1 / betting.counts[node])
    for row in range(first, last):
        action_regrets = regrets[row]
        played = strategy[row]
        for index in range(len(values)):
            regret = action_regrets[index] if action_regrets[index] > nothing else nothing
            played[index] = regret / sums[index] if sums[index] > nothing else even


_RIVER_SIZES: Final = "0.5,1,all:1,all:all"
"""Raises of a no-limit river, in the format of `bots.cfr.tree`."""
_TURN_SIZES: Final = "1/1/1,all:all/1"
"""Raises of a no-limit turn and of its rivers, likewise."""
SPREAD: Final = 0.3
"""Part of the opponent's range that is spread over all holdings. docs/cfr-tables.md compares other values."""
OWN_SPREAD: Final = 0.001
"""Likewise for the player's own range, so that the solution covers every holding."""
_MIN_CHANCE: Final = 1e-3
"""Smaller probabilities of the solution become 0."""
_MAX_ENDGAMES: Final = 64
"""Number of endgames in the cache. A solved one has up to half a megabyte."""


class EndgameSolution(NamedTuple):
    """Strategy of the first round of an endgame.

    Attributes:
        chances: probability of each action by holding, shape (actions of the tree, 1326). Equal for holdings that share
            a card with the board, and in a later round.
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
        weights = self.weights[:, numbers] / self.weights[:, numbers].sum(axis=1, keepdims=True)
        betting = self._betting
        arrays = _solved(betting, holdings, weights.astype(np.float32), self.iterations)
        pairs = pair_weight(holdings, arrays.weights)
        own = [answer(arrays, player, False) / pairs for player in range(2)]
        best = [answer(arrays, player, True) / pairs for player in range(2)]
        chances = np.empty((len(betting.leads_to), HOLDING_COUNT), np.float32)
        for node in np.flatnonzero(betting.counts).tolist():
            rows = slice(int(betting.rows[node]), int(betting.rows[node] + betting.counts[node]))
            chances[rows] = 1 / betting.counts[node]
            chances[rows, numbers] = arrays.strategy[0, rows]
        return EndgameSolution(chances, (own[0], own[1]), (best[0] - own[0], best[1] - own[1]))


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
            self._cache[key] = Endgame(start, board, weights(), tree, self._iterations[start.round])
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
        if self.solves(start.round - 1):
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


def endgame_betting(tree: BettingTree) -> EndgameBetting:
    nodes = len(tree.kinds)
    counts = tree.number_of_actions().astype(np.int32)
    rows = (counts.cumsum() - counts).astype(np.int32)
    led_by = np.full(nodes, -1, np.int32)
    leads_to = np.zeros(int(counts.sum()), np.int32)
    since = np.zeros((2, nodes), np.int32)
    for node in range(1, nodes):
        parent = tree.parents[node]
        led_by[node] = rows[parent] + tree.taken[node]
        leads_to[led_by[node]] = node
        for player in range(2):
            since[player, node] = node if tree.players[parent] != player else since[player, parent]
        if tree.rounds[node] != tree.rounds[parent]:
            since[:, node] = nodes
    return EndgameBetting(
        kinds=tree.kinds,
        players=tree.players,
        rounds=tree.rounds,
        parents=tree.parents,
        ends=tree.ends,
        chips=tree.chips.astype(np.float32),
        counts=counts,
        rows=rows,
        led_by=led_by,
        leads_to=leads_to,
        since=since,
    )


def evaluation_arrays(betting: EndgameBetting, holdings: Holdings, weights: Vector, strategy: Vector) -> EndgameArrays:
    """Return the state to evaluate a strategy by `answer`, without the arrays of learning."""
    nodes = len(betting.kinds)
    boards, size = holdings.first_cards.shape

    def zeros(*shape: int) -> Vector:
        return np.zeros(shape, np.float32)

    work = _Work(zeros(nodes + 1, size), zeros(nodes + 1, size), zeros(size), zeros(CARD_LANES))
    nothing = zeros(boards, 0, size)
    return EndgameArrays(betting, holdings, work, weights, regrets=nothing, strategy=strategy, averages=nothing)


def _solved(betting: EndgameBetting, holdings: Holdings, weights: Vector, iterations: int) -> EndgameArrays:
    """Solve an endgame; the `strategy` of the result is the average strategy."""
    boards, size = holdings.first_cards.shape
    counts = betting.counts[betting.counts > 0]
    firsts = betting.rows[betting.counts > 0]
    even = np.repeat(1 / counts, counts).astype(np.float32)
    strategy = np.tile(even[:, None], (boards, 1, size))
    regrets = np.zeros_like(strategy)
    averages = np.zeros_like(strategy)
    arrays = evaluation_arrays(betting, holdings, weights, strategy)
    arrays = arrays._replace(regrets=regrets, averages=averages)
    _learn(arrays, iterations)
    totals = np.repeat(np.add.reduceat(averages, firsts, axis=1), counts, axis=1)
    np.divide(averages, totals, out=strategy, where=totals > 0)
    # Small probabilities are remainders of the first iterations, which play every action.
    strategy[strategy < _MIN_CHANCE] = 0
    strategy /= np.repeat(np.add.reduceat(strategy, firsts, axis=1), counts, axis=1)
    return arrays
