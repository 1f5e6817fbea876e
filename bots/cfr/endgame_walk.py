"""Walk the betting of an endgame with vectors of holdings, to learn a strategy or to evaluate one.

The kernels run discounted counterfactual regret minimisation with alternating updates (Brown & Sandholm 2019) over
vectors of holdings, sorted by rank on the board, and validate nothing. The values of all holdings at an end take time
linear in their number, because sums by card replace pairs that share one (Johanson et al. 2012, "Efficient Nash
equilibrium approximation through Monte Carlo counterfactual regret minimization", section 4).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_CARDS
from bots.cfr.lookup import ranks_on
from bots.cfr.tree import DECISION, FOLDED, BettingTree
from engine import Card
from engine.kernels.jit import njit, njit_inner
from engine.ranges import are_free

CARD_LANES: Final = 64
"""Length of sums by card: 52, rounded up to a multiple of a SIMD register."""
FULL_BOARD: Final = 5
Vector: TypeAlias = NDArray[Any]
"""float32, the last axis over holdings."""


class Holdings(NamedTuple):
    """Holdings without a card of the board, weakest first, shape (boards, holdings).

    Board 0 is that of the start. If that is a turn, the boards with each river card follow. Holdings with the river
    card come first there, with reach 0.

    Attributes:
        first_cards: first card of each holding.
        second_cards: second card of each holding.
        ties: index after the last holding of the same rank.
        places: index of the holding on board 0.
    """

    first_cards: NDArray[np.uint8]
    second_cards: NDArray[np.uint8]
    ties: NDArray[np.uint16]
    places: NDArray[np.int64]


@njit
def fold(holdings: Holdings, board: int, reach: Vector, by_card: Vector, chips: np.float32, values: Vector) -> None:
    """Write the values at a fold: chips × the opponent's reach over holdings without a common card.

    Sums by card make it linear in the number of holdings, instead of quadratic (Johanson et al. 2012, "Efficient Nash
    equilibrium approximation through Monte Carlo counterfactual regret minimization", section 4).

    Args:
        reach: of the opponent, shape (holdings,).
        by_card: scratch space, shape (64,).
        chips: won by the player, below 0 if it has folded.
        values: output, shape (holdings,).
    """
    first_cards = holdings.first_cards[board]
    second_cards = holdings.second_cards[board]
    by_card[:] = np.float32(0)
    total = np.float32(0)
    # Sum the reach over all holdings, and over those with each card.
    for index in range(len(reach)):
        total += reach[index]
        by_card[first_cards[index]] += reach[index]
        by_card[second_cards[index]] += reach[index]
    # The same holding is in both sums by card, so it is added again once.
    for index in range(len(reach)):
        values[index] = chips * (total - by_card[first_cards[index]] - by_card[second_cards[index]] + reach[index])


@njit_inner
def show_down(
    holdings: Holdings, board: int, reach: Vector, by_card: Vector, chips: np.float32, values: Vector
) -> None:
    """Write the values at a showdown: chips × (W - L) = chips × (W + W' - T), arguments as of `fold`.

    W is the opponent's reach over weaker holdings, W' over weaker or equal ones, L over stronger ones and T over all,
    each without those that share a card with the player's holding. Additions by card take most of the time.
    """
    first_cards = holdings.first_cards[board]
    second_cards = holdings.second_cards[board]
    ties = holdings.ties[board]
    by_card[:] = np.float32(0)
    total = np.float32(0)
    start = np.int64(0)
    # Group by group of equal ranks: read W, add the group to the sums, read W'.
    while start < len(reach):
        end = np.int64(ties[start])
        for index in range(start, end):
            values[index] = total - by_card[first_cards[index]] - by_card[second_cards[index]]
        for index in range(start, end):
            total += reach[index]
            by_card[first_cards[index]] += reach[index]
            by_card[second_cards[index]] += reach[index]
        for index in range(start, end):
            values[index] += total - by_card[first_cards[index]] - by_card[second_cards[index]]
        start = end
    # Now the sums are over all holdings: subtract T.
    for index in range(len(reach)):
        values[index] = chips * (values[index] - (total - by_card[first_cards[index]] - by_card[second_cards[index]]))


def holdings_on(board: tuple[Card, ...]) -> tuple[NDArray[np.intp], Holdings]:
    """Return the numbers of the free holdings in the order of board 0, and the arrays of the kernels."""
    free = np.flatnonzero(are_free(board))
    if len(board) == FULL_BOARD:
        ranks = ranks_on(board)[None, free]
    else:
        # On the turn no ranks are needed. On a river, holdings with the river card have rank 0.
        later = [ranks_on((*board, card))[free] for card in range(52) if card not in board]
        ranks = np.array([np.zeros(len(free), np.int64), *later])
    # Stable: with all ranks 0 on a turn, board 0 keeps the order of the numbers, as in `endgames.answer_turn`.
    orders = np.argsort(ranks, kind="stable", axis=1)
    in_order = np.take_along_axis(ranks, orders, axis=1)
    ties = np.array([np.searchsorted(row, row, "right") for row in in_order], np.uint16)
    first_cards, second_cards = np.moveaxis(HOLDING_CARDS[free[orders]], -1, 0).copy()
    return free[orders[0]], Holdings(first_cards, second_cards, ties, orders)


def pair_weight(holdings: Holdings, weights: Vector) -> float:
    """Return the sum of the weights of all pairs of holdings without a common card."""
    first, second = weights.astype(np.float64)
    by_card = np.zeros((2, CARD_LANES))
    for cards in (holdings.first_cards[0], holdings.second_cards[0]):
        np.add.at(by_card[0], cards, first)
        np.add.at(by_card[1], cards, second)
    all_pairs = first.sum() * second.sum()
    sharing = (by_card[0] * by_card[1]).sum()
    # Pairs of equal holdings have both cards in common and have been subtracted twice.
    return float(all_pairs - sharing + (first * second).sum())


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


NEVER: Final = 4
"""In place of a round: after all rounds."""


class Work(NamedTuple):
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
        river_share: probability of each river for a pair of holdings that it is possible with.
    """

    betting: EndgameBetting
    holdings: Holdings
    work: Work
    weights: Vector
    regrets: Vector
    strategy: Vector
    averages: Vector
    river_share: np.float32


class Task(NamedTuple):
    """Purpose of a walk for a player.

    Attributes:
        iteration: number of the iteration of learning, from 1, or 0 to evaluate.
        best_from: in an evaluation, round from which on the player plays the best action with each holding instead of
            the strategy.
        kept: factor of regrets above 0, t^1.5 / (t^1.5 + 1) with t = iteration - 1.
    """

    player: int
    iteration: int
    best_from: int
    kept: np.float32


@njit
def decay(iteration: int) -> np.float32:
    """Return the factor of regrets above 0 in an iteration."""
    # The regrets to discount are those of the iterations before this one.
    power = (iteration - 1) ** 1.5
    return np.float32(power / (power + 1))


@njit
def learn(arrays: EndgameArrays, iterations: int) -> None:
    """Run iterations of discounted CFR with the powers 1.5 for gains, 0 for losses and 2 for the average."""
    for iteration in range(1, iterations + 1):
        for player in range(2):
            _walk(arrays, Task(player, iteration, NEVER, decay(iteration)))


def answer(arrays: EndgameArrays, player: int, best_from: int) -> float:
    """Return the chips that a player wins from its opponent's strategy, summed over pairs of holdings by weight.

    Args:
        best_from: round from which on the player plays a best response instead of its strategy, or `NEVER`.
    """
    _walk(arrays, Task(player, 0, best_from, np.float32(0)))
    return float(np.dot(arrays.weights[player].astype(np.float64), arrays.work.values[0]))


@njit
def _walk(arrays: EndgameArrays, task: Task) -> None:
    """Write the values of a player's holdings at each node."""
    betting = arrays.betting
    root_reach = arrays.work.reach[0]
    weights = arrays.weights[1 - task.player]
    for index in range(len(weights)):
        root_reach[index] = weights[index]
    first = int(np.int64(0))  # numba compiles a function again for a literal 0
    write_reach(arrays, first, first, task)
    # In reverse preorder, all children come before their parent.
    for node in range(len(betting.kinds) - 1, -1, -1):
        if betting.rounds[node] == betting.rounds[0]:
            leave(arrays, first, node, task)
        elif betting.rounds[betting.parents[node]] == betting.rounds[0]:
            _deal(arrays, node, task)


@njit_inner
def _deal(arrays: EndgameArrays, first: int, task: Task) -> None:
    """Write the values at the first node of a river, the means over the river cards."""
    betting = arrays.betting
    holdings = arrays.holdings
    work = arrays.work
    parent = betting.parents[first]
    extra = len(betting.kinds)
    # Reach of the opponent at the end of the turn: at the node its own last action led to.
    # `since` of the first node itself is the row of the river card, which is to be filled from here.
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
        write_reach(arrays, board, first, task)
        for node in range(betting.ends[first] - 1, first - 1, -1):
            leave(arrays, board, node, task)
        for index in range(blocked, len(reach)):
            sums[places[index]] += values[index]
    for index in range(len(sums)):
        values[index] = arrays.river_share * sums[index]


@njit_inner
def write_reach(arrays: EndgameArrays, board: int, first: int, task: Task) -> None:
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
            # It has the holding's weight at the start as a factor, which cancels when averages are divided by their
            # sum.
            reach[index] = before[index] * played[index]
        # An iteration counts in the average by the square of its number.
        if weight > 0:
            average = averages[row]
            for index in range(len(reach)):
                average[index] += weight * reach[index]


@njit_inner
def leave(arrays: EndgameArrays, board: int, node: int, task: Task) -> None:
    """Write the values of a player's holdings at a node from those of its children."""
    betting = arrays.betting
    work = arrays.work
    strategy = arrays.strategy[board]
    if betting.kinds[node] != DECISION:
        _end(arrays, board, node, task.player)
    elif betting.players[node] != task.player:
        add_up(betting, work, node)
    elif task.iteration:
        update_regrets(betting, work, arrays.regrets[board], strategy, node, task.kept)
    else:
        # An evaluation: the mean of the actions' values by probability, or their maximum for a best response.
        values = work.values[node]
        for action in range(betting.counts[node]):
            row = betting.rows[node] + action
            below = work.values[betting.leads_to[row]]
            played = strategy[row]
            for index in range(len(values)):
                if betting.rounds[node] < task.best_from:
                    # The first action overwrites the values of the walk before.
                    values[index] = played[index] * below[index] + (values[index] if action else 0)
                elif not action or below[index] > values[index]:
                    values[index] = below[index]


@njit_inner
def _end(arrays: EndgameArrays, board: int, node: int, player: int) -> None:
    """Write the values of a player's holdings at an end of the betting."""
    betting = arrays.betting
    holdings = arrays.holdings
    work = arrays.work
    reach = work.reach[betting.since[player, node]]
    values = work.values[node]
    if betting.kinds[node] == FOLDED:
        if betting.players[node] != player:
            chips = betting.chips[node]
        else:
            chips = -betting.chips[node]
        fold(holdings, board, reach, work.by_card, chips, values)
    else:
        show_down(holdings, board, reach, work.by_card, betting.chips[node], values)


@njit_inner
def add_up(betting: EndgameBetting, work: Work, node: int) -> None:
    """Write the values at a decision of the opponent: the sum over its actions, whose reach is in their values."""
    values = work.values[node]
    values[:] = np.float32(0)
    for action in range(betting.counts[node]):
        below = work.values[betting.leads_to[betting.rows[node] + action]]
        for index in range(len(values)):
            values[index] += below[index]


@njit_inner
def update_regrets(
    betting: EndgameBetting, work: Work, regrets: Vector, strategy: Vector, node: int, kept: np.float32
) -> None:
    """Write the values at a decision of the player, and update its regrets and its strategy.

    Args:
        regrets: on the board, shape (actions, holdings).
        strategy: likewise.
        kept: factor of regrets above 0. Those below 0 are halved.
    """
    values = work.values[node]
    sums = work.sums
    # Typed constants: with Python's numbers the loops would compute in float64.
    nothing = np.float32(0)
    # The power 0 of losses: t^0 / (t^0 + 1).
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


def endgame_betting(tree: BettingTree) -> EndgameBetting:
    nodes = len(tree.kinds)
    counts = tree.number_of_actions().astype(np.int32)
    # Actions of the first round come before those of the later one.
    order = np.argsort(tree.rounds, kind="stable")
    rows = np.empty(nodes, np.int32)
    rows[order] = counts[order].cumsum() - counts[order]
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
            # The opponent has not acted on the river yet: its reach is that at the river card.
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


def evaluation_arrays(
    betting: EndgameBetting, holdings: Holdings, weights: Vector, strategy: Vector, river_share: float | None = None
) -> EndgameArrays:
    """Return the state to evaluate a strategy by `answer`, without the arrays of learning.

    Args:
        river_share: see `EndgameArrays`; by default that where all rivers are boards.
    """
    boards, size = holdings.first_cards.shape
    nothing = np.zeros((boards, 0, size), np.float32)
    work = _work(len(betting.kinds), size)
    share = _river_share(boards) if river_share is None else np.float32(river_share)
    return EndgameArrays(betting, holdings, work, weights, nothing, strategy, averages=nothing, river_share=share)


def _river_share(boards: int) -> np.float32:
    # Both players hold four of the 48 cards, so each pair of holdings sees 44: boards less 1 and 4.
    return np.float32(1 / max(boards - 5, 1))


def learning_arrays(
    betting: EndgameBetting, holdings: Holdings, weights: Vector, size: int, actions: int
) -> EndgameArrays:
    """Return the state before the first iteration.

    Args:
        size: number of holdings.
        actions: number of the first actions that have rows.
    """
    boards = len(holdings.first_cards)
    strategy = np.empty((boards, actions, size), np.float32)
    # For each action, the number of actions at its decision.
    counts = betting.counts[betting.parents[betting.leads_to]]
    strategy[:] = (1 / counts[:actions].astype(np.float32))[:, None]
    return EndgameArrays(
        betting,
        holdings,
        _work(len(betting.kinds), size),
        weights,
        regrets=np.zeros_like(strategy),
        strategy=strategy,
        averages=np.zeros_like(strategy),
        river_share=_river_share(boards),
    )


def _work(nodes: int, size: int) -> Work:
    def zeros(*shape: int) -> Vector:
        return np.zeros(shape, np.float32)

    return Work(zeros(nodes + 1, size), zeros(nodes + 1, size), zeros(size), zeros(CARD_LANES))


MIN_CHANCE: Final = 1e-3
"""Smaller probabilities of a solution become 0."""


@njit
def write_average(arrays: EndgameArrays) -> None:
    """Replace the strategy by the average strategy, where it has any weight."""
    betting = arrays.betting
    totals = arrays.work.sums
    for board in range(len(arrays.strategy)):
        strategy = arrays.strategy[board]
        averages = arrays.averages[board]
        for node in range(len(betting.kinds)):
            first = betting.rows[node]
            # A turn with classes has rows for its own actions only (`endgames.TurnArrays`).
            if betting.kinds[node] != DECISION or first >= len(strategy):
                continue
            end = first + betting.counts[node]
            _add_rows(averages, first, end, totals)
            for row in range(first, end):
                for index in range(len(totals)):
                    if totals[index] > np.float32(0):
                        strategy[row, index] = averages[row, index] / totals[index]
                    # Small probabilities are remainders of the first iterations, which play every action.
                    if strategy[row, index] < np.float32(MIN_CHANCE):
                        strategy[row, index] = np.float32(0)
            _add_rows(strategy, first, end, totals)
            for row in range(first, end):
                for index in range(len(totals)):
                    strategy[row, index] /= totals[index]


@njit_inner
def _add_rows(rows: Vector, first: int, end: int, totals: Vector) -> None:
    totals[:] = np.float32(0)
    for row in range(first, end):
        for index in range(len(totals)):
            totals[index] += rows[row, index]
