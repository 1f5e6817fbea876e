"""Rivers and turns, solved while they are played: with every holding of both players, at the pot that is on the table.

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

A turn is such a game with few bets, and with all 48 rivers behind each of its ends: each iteration goes through all of
them. Only the turn is played by its solution. The river that comes is solved with all its bets, and with what the
solution of the turn leaves both players.

A raise that the tree of an endgame does not have is not read as another: the endgame is solved once more from the
decision at which it was made, with that raise, and with the ranges that the solution before gives there (N. Brown & T.
Sandholm 2017, "Safe and nested subgame solving for imperfect-information games").

What a player comes with itself is known. What its opponent comes with is a guess, for it need not play the strategy; so
a good part of that range is spread over all holdings. Each player therefore has solutions of its own, which follow from
the strategy, the betting and the board alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_CARDS, HOLDING_COUNT
from bots.cfr.lookup import Chances, find_ranges, narrow_range, ranks_on
from bots.cfr.strategy_files import StrategyFile
from bots.cfr.tree import BettingTree, Sizes, betting_tree, read_sizes
from engine import Action, BettingState, Card, Position, betting_start
from engine.kernels.jit import njit
from engine.ranges import are_free

TURN: Final = 2
RIVER: Final = 3
_CARD_LANES: Final = 64
"""Columns of sums by card: 52, and what makes them a multiple of what a processor adds at once."""
_Vector: TypeAlias = NDArray[Any]
"""Floats over holdings."""
_FULL: Final = 5
"""Cards of a board to which none comes."""
_DECISION = 0
_FOLDED = 1


class _Betting(NamedTuple):
    """What is left of a betting in preorder, by node unless said otherwise; see also `BettingTree`.

    Attributes:
        ends: after the last node below.
        chips: what the loser of an end has put in, in the unit of the values.
        counts: of actions.
        rows: where the actions of a decision begin among all actions.
        led_by: the number, among all actions, of the one that leads here.
        leads_to: by action, the node that follows.
        since: shape (2, nodes), by player: the last node so far to which an action of its opponent led, or 0; as many
            as there are nodes where it has done nothing since the river's card.
    """

    kinds: NDArray[np.int8]
    players: NDArray[np.int8]
    rounds: NDArray[np.int8]
    parents: NDArray[np.int32]
    ends: NDArray[np.int32]
    chips: _Vector
    counts: NDArray[np.int32]
    rows: NDArray[np.int32]
    led_by: NDArray[np.int32]
    leads_to: NDArray[np.int32]
    since: NDArray[np.int32]


class _Holdings(NamedTuple):
    """The holdings that a board leaves, weakest first; shape (boards, holdings).

    The first board is that of the beginning. If that is a turn, all with one card more follow; holdings with this card
    are the first of theirs, and never come.

    Attributes:
        ones: a card of each.
        others: the other card.
        ties: after the last holding of the same rank.
        places: of the holdings on the first board.
    """

    ones: NDArray[np.uint8]
    others: NDArray[np.uint8]
    ties: NDArray[np.uint16]
    places: NDArray[np.int64]


class _Work(NamedTuple):
    """Scratch space of a walk.

    Attributes:
        reach: shape (nodes + 1, holdings), how likely the opponent comes here; in the last row, with a river's card.
        values: of the same shape, what holdings win from here on.
        sums: shape (holdings,).
        by_card: shape (64,), sums by card.
    """

    reach: _Vector
    values: _Vector
    sums: _Vector
    by_card: _Vector


class _Arrays(NamedTuple):
    """What is walked over.

    Attributes:
        weights: shape (2, holdings of the first board), how likely each player begins with each.
        regrets: by board, action and holding; 0 at first.
        strategy: of the same shape, probabilities; even at first.
        averages: of the same shape, weighted sums of each player's own chances.
    """

    betting: _Betting
    holdings: _Holdings
    work: _Work
    weights: _Vector
    regrets: _Vector
    strategy: _Vector
    averages: _Vector


class _Task(NamedTuple):
    """What a walk does at the decisions of its player.

    Attributes:
        iteration: which of learning, from 1; else 0.
        is_best: else, whether it takes the best action with each holding, in place of its own part of the strategy.
        kept: the part of regrets above 0 that is kept.
    """

    player: int
    iteration: int
    is_best: bool
    kept: np.float32


@njit
def _learn(arrays: _Arrays, iterations: int) -> None:
    for iteration in range(1, iterations + 1):
        power = (iteration - 1) ** 1.5
        for player in range(2):
            _walk(arrays, _Task(player, iteration, False, np.float32(power / (power + 1))))


@njit
def answer(arrays: _Arrays, player: int, is_best: bool) -> float:
    """What a player wins where its opponent plays a strategy, summed over all pairs of holdings by their weights."""
    _walk(arrays, _Task(player, 0, is_best, np.float32(0)))
    total = 0.0
    weights = arrays.weights[player]
    for at in range(len(weights)):
        total += weights[at] * arrays.work.values[0, at]
    return total


@njit
def _walk(arrays: _Arrays, task: _Task) -> None:
    """Write what each holding of a player wins at each node."""
    betting = arrays.betting
    of_hand = arrays.work.reach[0]
    weights = arrays.weights[1 - task.player]
    for at in range(len(weights)):
        of_hand[at] = weights[at]
    first = int(np.int64(0))  # numba compiles what is called with a literal 0 once more
    _come_here(arrays, first, first, task)
    for node in range(len(betting.kinds) - 1, -1, -1):
        if betting.rounds[node] == betting.rounds[0]:
            _leave(arrays, first, node, task)
        elif betting.rounds[betting.parents[node]] == betting.rounds[0]:
            _deal(arrays, node, task)


@njit
def _deal(arrays: _Arrays, first: int, task: _Task) -> None:
    """Write what each holding wins in the mean over the cards of the river, where its betting begins."""
    betting = arrays.betting
    holdings = arrays.holdings
    work = arrays.work
    parent = betting.parents[first]
    extra = len(betting.kinds)
    before = work.reach[betting.since[task.player, parent] if betting.players[parent] == task.player else first]
    reach = work.reach[extra]
    values = work.values[first]
    sums = work.values[extra]
    sums[:] = np.float32(0)
    for board in range(1, len(holdings.ones)):
        places = holdings.places[board]
        blocked = np.int64(holdings.ties[board, 0])
        for at in range(len(reach)):
            reach[at] = before[places[at]] if at >= blocked else np.float32(0)
        _come_here(arrays, board, first, task)
        for node in range(betting.ends[first] - 1, first - 1, -1):
            _leave(arrays, board, node, task)
        for at in range(blocked, len(reach)):
            sums[places[at]] += values[at]
    # Two players hold four of the cards.
    share = np.float32(1 / (len(holdings.ones) - 5))
    for at in range(len(sums)):
        values[at] = share * sums[at]


@njit
def _come_here(arrays: _Arrays, board: int, first: int, task: _Task) -> None:
    """Write how likely the opponent comes to each node of a round with each holding; in learning count it, too."""
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
        here = work.reach[node]
        played = strategy[row]
        for at in range(len(here)):
            here[at] = before[at] * played[at]
        if weight > 0:
            of_action = averages[row]
            for at in range(len(here)):
                of_action[at] += weight * here[at]


@njit
def _leave(arrays: _Arrays, board: int, node: int, task: _Task) -> None:
    """Write what each holding of a player wins from a node on."""
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
        values = work.values[node]
        for action in range(betting.counts[node]):
            row = betting.rows[node] + action
            below = work.values[betting.leads_to[row]]
            played = strategy[row]
            for at in range(len(values)):
                if not task.is_best:
                    values[at] = played[at] * below[at] + (values[at] if action else 0)
                elif not action or below[at] > values[at]:
                    values[at] = below[at]


@njit
def _end(arrays: _Arrays, board: int, node: int, player: int) -> None:
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
        _fold(holdings, board, reach, work.by_card, chips, values)
    else:
        _show_down(holdings, board, reach, work.by_card, betting.chips[node], values)


@njit
def _fold(
    holdings: _Holdings, board: int, reach: _Vector, by_card: _Vector, chips: np.float32, values: _Vector
) -> None:
    """Write what each holding wins where a player has folded; chips below 0 are lost.

    Sums by card take out what shares a card with a holding, so it costs two passes over the holdings and not one over
    all pairs (Johanson et al. 2012, "Efficient Nash equilibrium approximation through Monte Carlo counterfactual regret
    minimization", section 4).
    """
    ones = holdings.ones[board]
    others = holdings.others[board]
    by_card[:] = np.float32(0)
    total = np.float32(0)
    for at in range(len(reach)):
        total += reach[at]
        by_card[ones[at]] += reach[at]
        by_card[others[at]] += reach[at]
    for at in range(len(reach)):
        values[at] = chips * (total - by_card[ones[at]] - by_card[others[at]] + reach[at])


@njit
def _show_down(
    holdings: _Holdings, board: int, reach: _Vector, by_card: _Vector, chips: np.float32, values: _Vector
) -> None:
    """Write what each holding wins at a showdown: with B what is weaker and U what is weaker or equal, B - (total - U).

    Additions by card take most of the time.
    """
    ones = holdings.ones[board]
    others = holdings.others[board]
    ties = holdings.ties[board]
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
def _add_up(betting: _Betting, work: _Work, node: int) -> None:
    values = work.values[node]
    values[:] = np.float32(0)
    for action in range(betting.counts[node]):
        below = work.values[betting.leads_to[betting.rows[node] + action]]
        for at in range(len(values)):
            values[at] += below[at]


@njit
def _regret(betting: _Betting, work: _Work, regrets: _Vector, strategy: _Vector, node: int, kept: np.float32) -> None:
    """Write what the holdings of a player win at its own decision, and change what it plays there."""
    values = work.values[node]
    sums = work.sums
    nothing = np.float32(0)
    half = np.float32(0.5)
    first = betting.rows[node]
    last = betting.rows[node] + betting.counts[node]
    values[:] = nothing
    sums[:] = nothing
    for row in range(first, last):
        below = work.values[betting.leads_to[row]]
        played = strategy[row]
        for at in range(len(values)):
            values[at] += played[at] * below[at]
    for row in range(first, last):
        below = work.values[betting.leads_to[row]]
        of_action = regrets[row]
        for at in range(len(values)):
            before = of_action[at]
            regret = before * (kept if before > nothing else half) + below[at] - values[at]
            of_action[at] = regret
            sums[at] += regret if regret > nothing else nothing
    even = np.float32(1 / betting.counts[node])
    for row in range(first, last):
        of_action = regrets[row]
        played = strategy[row]
        for at in range(len(values)):
            regret = of_action[at] if of_action[at] > nothing else nothing
            played[at] = regret / sums[at] if sums[at] > nothing else even


_RIVER_SIZES: Final = "0.5,1,all:1,all:all"
"""The raises of a no-limit river, as `bots.cfr.tree` reads them."""
_TURN_SIZES: Final = "1/1/1,all:all/1"
"""The same of a turn and of the rivers behind it."""
SPREAD: Final = 0.3
"""Part of the opponent's range that is spread over all holdings: docs/cfr-tables.md compares other parts."""
OWN_SPREAD: Final = 0.001
"""The same of the player's own: it has to know what to play with every holding."""
_SELDOM: Final = 1e-3
"""What has a smaller probability is not done at all."""
_KEPT: Final = 64
"""Endgames that are remembered; a solved one has up to half a megabyte."""


class EndgameSolution(NamedTuple):
    """How the first round of an endgame is played.

    Attributes:
        chances: shape (actions of the tree, 1326), the probability of each by holding; even ones where a holding shares
            a card with the board, and in a later round.
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


class Endgame:
    """A river or a turn that begins at the decision `start`, solved when its solution is asked for.

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
        self.start = start
        self.board = board
        self.weights = weights
        self.tree = tree
        self.iterations = iterations
        self._betting = _betting(tree)

    def after(self, node: int, action: Action) -> int | None:
        """The node that follows an action; None where the tree does not have it."""
        if action not in self.tree.actions[node]:
            return None
        return int(self.tree.children[node, self.tree.actions[node].index(action)])

    def policy(self, node: int) -> dict[Action, Chances]:
        first = self._betting.rows[node]
        chances = self.solution.chances[first : first + len(self.tree.actions[node])].astype(np.float64)
        return dict(zip(self.tree.actions[node], chances / chances.sum(axis=0), strict=True))

    def weights_at(self, node: int) -> NDArray[np.float64]:
        """How likely each position comes to a node with each holding, shape (2, 1326), up to a factor."""
        if not node:
            return self.weights
        parent = int(self.tree.parents[node])
        found = self.weights_at(parent).copy()
        player = int(self.tree.players[parent])
        found[player] = narrow_range(found[player], self.solution.chances[self._betting.led_by[node]])
        return found

    @cached_property
    def solution(self) -> EndgameSolution:
        numbers, holdings = _holdings(self.board)
        weights = self.weights[:, numbers] / self.weights[:, numbers].sum(axis=1, keepdims=True)
        betting = self._betting
        arrays = _solved(betting, holdings, weights.astype(np.float32), self.iterations)
        pairs = _pairs(holdings, arrays.weights)
        own = [answer(arrays, player, False) / pairs for player in range(2)]
        best = [answer(arrays, player, True) / pairs for player in range(2)]
        chances = np.empty((len(betting.leads_to), HOLDING_COUNT), np.float32)
        for node in np.flatnonzero(betting.counts).tolist():
            rows = slice(int(betting.rows[node]), int(betting.rows[node] + betting.counts[node]))
            chances[rows] = 1 / betting.counts[node]
            chances[rows, numbers] = arrays.strategy[0, rows]
        return EndgameSolution(chances, (own[0], own[1]), (best[0] - own[0], best[1] - own[1]))


class Endgames:
    """The rivers of a strategy, and the turns where there are iterations for them, as each player solves them."""

    def __init__(self, strategy: StrategyFile, rivers: int, turns: int = 0) -> None:
        self._strategy = strategy
        self._iterations = {RIVER: rivers, TURN: turns}
        sizes = {RIVER: _RIVER_SIZES, TURN: _TURN_SIZES}
        game = strategy.game
        if game.is_limit:
            self._sizes = {}
        else:
            self._sizes = {key: read_sizes(text, game.num_rounds) for key, text in sizes.items()}
        self._known: OrderedDict[tuple[BettingState, Action | None, tuple[Card, ...], Position], Endgame] = (
            OrderedDict()
        )

    def solves(self, round_: int) -> bool:
        return self._iterations.get(round_, 0) > 0

    def at(self, betting: BettingState, board: tuple[Card, ...]) -> tuple[Endgame, int]:
        """The endgame in which the player in turn decides, and the node there."""
        return self._after(betting.rounds[: betting.round + 1], board, betting.acting_position)

    def _after(
        self, rounds: Sequence[Sequence[tuple[Position, Action]]], board: tuple[Card, ...], player: Position
    ) -> tuple[Endgame, int]:
        """The endgame of the last of some rounds as a player sees it, and the node after the actions of that round."""
        state = betting_start(self._strategy.game)
        node = 0
        for actions in rounds[:-1]:
            for _, action in actions:
                state = state.after(action)
        endgame = self._endgame(state, None, board, player, partial(self._brought, rounds, state, board, player))
        for _, action in rounds[-1]:
            following = endgame.after(node, action)
            if following is None:
                endgame = self._endgame(state, action, board, player, partial(_here, endgame, node))
                following = endgame.after(0, action)
                assert following is not None
            node = following
            state = state.after(action)
        return endgame, node

    def _endgame(
        self,
        start: BettingState,
        also: Action | None,
        board: tuple[Card, ...],
        player: Position,
        weights: Callable[[], NDArray[np.float64]],
    ) -> Endgame:
        """An endgame as a player sees it, that begins with a decision at which there is another raise."""
        key = (start, also, board, player)
        if key not in self._known:
            sizes = self._sizes.get(start.round)
            raises = None
            if sizes is not None:
                raises = partial(_with, sizes, start, also)
            tree = betting_tree(start.game, raises, start)
            self._known[key] = Endgame(start, board, weights(), tree, self._iterations[start.round])
        self._known.move_to_end(key)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return self._known[key]

    def _brought(
        self,
        rounds: Sequence[Sequence[tuple[Position, Action]]],
        start: BettingState,
        board: tuple[Card, ...],
        player: Position,
    ) -> NDArray[np.float64]:
        if self.solves(start.round - 1):
            turn, node = self._after(rounds[:-1], board[:-1], player)
            found = turn.weights_at(node) * are_free(board)
        else:
            found = find_ranges(self._strategy, start, board, self._strategy.buckets_on)
        parts = [SPREAD, SPREAD]
        parts[player] = OWN_SPREAD
        return _spread(found, board, parts)


def _with(sizes: Sizes, start: BettingState, also: Action | None, state: BettingState) -> Sequence[Action]:
    """Sizes, and one more raise in one state."""
    found = {*sizes(state)}
    if also is not None and state == start:
        found.add(also)
    return sorted(found)


def _here(endgame: Endgame, node: int) -> NDArray[np.float64]:
    return _spread(endgame.weights_at(node), endgame.board, [OWN_SPREAD, OWN_SPREAD])


def _spread(weights: NDArray[np.float64], board: tuple[Card, ...], parts: Sequence[float]) -> NDArray[np.float64]:
    """Ranges that sum to 1, a part of each spread over all holdings that the board leaves."""
    free = are_free(board)
    spread = np.array(parts)[:, None]
    found: NDArray[np.float64] = (1 - spread) * weights / weights.sum(axis=1, keepdims=True)
    found += spread * free / free.sum()
    return found


def _betting(tree: BettingTree) -> _Betting:
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
    return _Betting(
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


def _holdings(board: tuple[Card, ...]) -> tuple[NDArray[np.intp], _Holdings]:
    """The numbers of the holdings that a board leaves, in the order of the first board of the others."""
    free = np.flatnonzero(are_free(board))
    if len(board) == _FULL:
        ranks = ranks_on(board)[None, free]
    else:
        # Before the last card all are equal; after it, those that have it are of rank 0.
        later = [ranks_on((*board, card))[free] for card in range(52) if card not in board]
        ranks = np.array([np.zeros(len(free), np.int64), *later])
    orders = np.argsort(ranks, kind="stable", axis=1)
    in_order = np.take_along_axis(ranks, orders, axis=1)
    ties = np.array([np.searchsorted(row, row, "right") for row in in_order], np.uint16)
    ones, others = np.moveaxis(HOLDING_CARDS[free[orders]], -1, 0).copy()
    return free[orders[0]], _Holdings(ones, others, ties, orders)


def _solved(betting: _Betting, holdings: _Holdings, weights: _Vector, iterations: int) -> _Arrays:
    """What was learned; the strategy is the average."""
    nodes = len(betting.kinds)
    actions = len(betting.leads_to)
    boards, size = holdings.ones.shape

    def zeros(*shape: int) -> _Vector:
        return np.zeros(shape, np.float32)

    work = _Work(zeros(nodes + 1, size), zeros(nodes + 1, size), zeros(size), zeros(_CARD_LANES))
    counts = betting.counts[betting.counts > 0]
    firsts = betting.rows[betting.counts > 0]
    even = np.repeat(1 / counts, counts).astype(np.float32)
    strategy = np.tile(even[:, None], (boards, 1, size))
    regrets = zeros(boards, actions, size)
    averages = zeros(boards, actions, size)
    arrays = _Arrays(betting, holdings, work, weights, regrets=regrets, strategy=strategy, averages=averages)
    _learn(arrays, iterations)
    totals = np.repeat(np.add.reduceat(averages, firsts, axis=1), counts, axis=1)
    np.divide(averages, totals, out=strategy, where=totals > 0)
    # What is done so seldom is left over from the first iterations, in which everything was.
    strategy[strategy < _SELDOM] = 0
    strategy /= np.repeat(np.add.reduceat(strategy, firsts, axis=1), counts, axis=1)
    return arrays


def _pairs(holdings: _Holdings, weights: _Vector) -> float:
    """The weight of all pairs of holdings without a common card."""
    first, second = weights.astype(np.float64)
    by_card = np.zeros((2, _CARD_LANES))
    for cards in (holdings.ones[0], holdings.others[0]):
        np.add.at(by_card[0], cards, first)
        np.add.at(by_card[1], cards, second)
    # Two holdings with both cards in common have been taken out twice.
    return float(first.sum() * second.sum() - (by_card[0] * by_card[1]).sum() + (first * second).sum())
