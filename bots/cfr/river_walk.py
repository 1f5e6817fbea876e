"""One river, solved: counterfactual regret minimisation over the holdings of both players, compiled.

The kernels validate nothing. The players take turns, and what was learned early is discounted (Brown & Sandholm 2019,
with the powers 1.5, 0 and 2): before iteration t, regrets above 0 are multiplied by (t-1)^1.5 / ((t-1)^1.5 + 1) and
those below by 1/2, and an iteration counts in the average as the square of its number. Vectors are over the holdings
that the board leaves, in the order of their ranks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.cfr.arrays import Vector
from bots.cfr.ends import fold
from engine.kernels.jit import njit

__all__ = ["RiverArrays", "RiverHoldings", "RiverWork", "answer", "learn_river"]

_DECISION = 0
_FOLDED = 1


class RiverArrays(NamedTuple):
    """The betting of a river in preorder, by node unless said otherwise.

    Attributes:
        kinds: 0 decision, 1 ended by a fold, 2 showdown.
        players: who acts, or who folded.
        parents: the node before.
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


class RiverHoldings(NamedTuple):
    """The holdings that a board leaves, weakest first.

    Attributes:
        ones: a card of each.
        others: the other card.
        ties: behind the last holding of the same rank.
        weights: shape (2, holdings), how likely each player comes to the river with each.
    """

    ones: NDArray[np.uint8]
    others: NDArray[np.uint8]
    ties: NDArray[np.uint16]
    weights: Vector


class RiverWork(NamedTuple):
    """Arrays that a walk writes; nothing in them lasts.

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
def learn_river(
    tree: RiverArrays,
    holdings: RiverHoldings,
    work: RiverWork,
    regrets: Vector,
    strategy: Vector,
    averages: Vector,
    iterations: int,
) -> None:
    """Iterate.

    Args:
        tree: the betting.
        holdings: of the board.
        work: see there.
        regrets: shape (actions, holdings), changed; 0 to begin with.
        strategy: the same shape, the probability of each action; even to begin with.
        averages: the same shape, added to: how likely each action is taken, by its player alone.
        iterations: how many.
    """
    for iteration in range(1, iterations + 1):
        power = (iteration - 1) ** 1.5
        kept = np.float32(power / (power + 1))
        for player in range(2):
            _come_here(tree, holdings, work, strategy, player, averages, np.float32(iteration * iteration))
            for node in range(len(tree.kinds) - 1, -1, -1):
                if tree.kinds[node] != _DECISION:
                    _end(tree, holdings, work, node, player)
                elif tree.players[node] != player:
                    _add_up(tree, work, node)
                else:
                    _regret(tree, work, regrets, strategy, node, kept)


@njit
def answer(
    tree: RiverArrays, holdings: RiverHoldings, work: RiverWork, strategy: Vector, player: int, is_best: bool
) -> float:
    """What a player wins where its opponent plays a strategy, summed over all pairs of holdings by their weights.

    Args:
        tree: the betting.
        holdings: of the board.
        work: see there.
        strategy: probabilities of both players.
        player: 0 or 1.
        is_best: whether the player takes the best action with each holding, in place of its own part of the strategy.
    """
    _come_here(tree, holdings, work, strategy, player, work.reach, np.float32(0))
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
    tree: RiverArrays,
    holdings: RiverHoldings,
    work: RiverWork,
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
def _end(tree: RiverArrays, holdings: RiverHoldings, work: RiverWork, node: int, player: int) -> None:
    """Write what the holdings of a player win at an end."""
    reach, values = work.reach[tree.since[player, node]], work.values[node]
    if tree.kinds[node] == _FOLDED:
        chips = tree.chips[node] if tree.players[node] != player else -tree.chips[node]
        fold(holdings.ones, holdings.others, reach, work.by_card, chips, values)
    else:
        _show_down(holdings, reach, work.by_card, tree.chips[node], values)


@njit
def _show_down(holdings: RiverHoldings, reach: Vector, by_card: Vector, chips: np.float32, values: Vector) -> None:
    """Write what each holding wins at a showdown.

    With B what is weaker and U what is weaker or equal, all of it wins B - (total - U). `bots.cfr.ends.show_down` finds
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
def _add_up(tree: RiverArrays, work: RiverWork, node: int) -> None:
    """Write what the holdings of a player win where the opponent decides."""
    values = work.values[node]
    values[:] = np.float32(0)
    for action in range(tree.counts[node]):
        below = work.values[tree.leads_to[tree.rows[node] + action]]
        for at in range(len(values)):
            values[at] += below[at]


@njit
def _regret(tree: RiverArrays, work: RiverWork, regrets: Vector, strategy: Vector, node: int, kept: np.float32) -> None:
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
