"""Counterfactual regret minimisation over all boards of a small game, and what strategies win, exactly.

In an iteration the players take turns: on every board a player finds out what each of its actions wins in each of its
buckets, and the regrets of all boards are added at once, in the order of the boards. So the result depends on the
settings and the number of iterations, not on how many threads walk the boards. Hold'em has too many boards:
`bots.cfr.sampling`.

Regrets and averages are discounted (Brown & Sandholm 2019): before iteration t's are added, regrets above 0 are
multiplied by (t-1)^a / ((t-1)^a + 1), those below by the same with b, and the average by ((t-1)/t)^c. With all three
powers 1 that is linear CFR.

`gains_of_answers` is how far a strategy is from an equilibrium: each decision is answered by what wins most, given the
answers so far, until nothing changes. `values` is what each player wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.deals import AllBoards, FloatType, TreeArrays, Vector, new_work
from bots.cfr.tree import DECISION, BettingTree
from bots.cfr.walk import walk
from engine.kernels.jit import njit

Strategy: TypeAlias = Vector
"""Probabilities, or anything else, by `TreeArrays.offsets`."""
_BLOCK: Final = 8
"""Boards whose vectors are held at once."""


class Discounts(NamedTuple):
    """How fast what was learned early is forgotten: the powers by which regrets above 0, those below, and averages are
    kept; see the head of this module."""

    gains: float = 1.5
    losses: float = 1.0
    average: float = 2.0

    def factors(self, iteration: int) -> tuple[float, float, float]:
        """What regrets above 0, below 0 and the average are multiplied by before an iteration, from 1."""
        before = iteration - 1
        above, below = before**self.gains, before**self.losses
        return above / (above + 1), below / (below + 1), (before / iteration) ** self.average


def tree_arrays(tree: BettingTree, buckets: Sequence[Sequence[int]], kind: FloatType) -> TreeArrays:
    """A tree with so many buckets by player and round."""
    nodes = len(tree.kinds)
    counts = tree.number_of_actions()
    of_round = np.array(buckets, np.int64)
    is_decision = tree.kinds == DECISION
    sizes = np.where(is_decision, counts * of_round[np.maximum(tree.players, 0), tree.rounds], 0)
    slots = np.zeros((2, nodes), np.int32)
    for node in range(1, nodes):
        parent = tree.parents[node]
        for player in range(2):
            slots[player, node] = slots[player, parent] + (tree.players[parent] != player)
    order: list[int] = []
    open_: list[int] = []
    for node in range(nodes):
        while open_ and open_[-1] != tree.parents[node]:
            order.append(~open_.pop())
        order.append(node)
        if is_decision[node]:
            open_.append(node)
    order += [~left for left in reversed(open_)]
    return TreeArrays(
        kinds=tree.kinds,
        players=tree.players,
        rounds=tree.rounds,
        parents=tree.parents,
        taken=tree.taken,
        depths=tree.depths,
        chips=tree.chips.astype(kind),
        counts=counts.astype(np.int32),
        offsets=sizes.cumsum() - sizes,
        slots=slots,
        order=np.array(order, np.int32),
        buckets=of_round,
    )


def bucket_counts(tree: TreeArrays) -> NDArray[np.int64]:
    """How many buckets each node has; of no use where no player acts."""
    return tree.buckets[np.maximum(tree.players, 0), tree.rounds]


def size_of(tree: TreeArrays) -> int:
    return int((tree.counts * bucket_counts(tree)).sum())


class Solver:
    """The regrets and averages of both players, and their iterations: all boards of a game are walked in each.

    Attributes:
        iteration: how many have been done.
        averages: how likely its player came to each information set and took each action, over all iterations.
    """

    def __init__(self, tree: TreeArrays, boards: AllBoards, discounts: Discounts) -> None:
        self.tree, self.boards = tree, boards
        self.iteration, self.per_iteration = 0, boards.count
        self._discounts = discounts
        size = size_of(tree)
        self.regrets: Strategy = np.zeros(size)
        self.averages: Strategy = np.zeros(size)
        self.strategy: Strategy = np.zeros(size, boards.float_type)
        _match(tree, self.regrets, self.strategy)
        self._deals = [boards.deal(number) for number in range(boards.count)]
        self._found: Strategy = np.zeros((boards.count, size), boards.float_type)
        self._works = [new_work(tree, boards.holdings) for _ in self._deals]

    def resume(self, iteration: int, regrets: Strategy, averages: Strategy) -> None:
        self.iteration = iteration
        self.regrets[:], self.averages[:] = regrets, averages
        _match(self.tree, self.regrets, self.strategy)

    def iterate(self, pool: Executor | None = None) -> None:
        over: Callable[..., Any] = map if pool is None else pool.map
        self.iteration += 1
        above, below, average = self._discounts.factors(self.iteration)

        for player in range(2):

            def explore(at: int, player: int = player) -> None:
                self._found[at] = 0
                walk(self.tree, self._deals[at], self._works[at], self.strategy, self._found[at], player)

            list(over(explore, range(len(self._deals))))
            learn(
                self.tree,
                self._found,
                self.regrets,
                self.averages,
                self.strategy,
                player=player,
                above=above,
                below=below,
                average=average,
            )

    def average_strategy(self) -> Strategy:
        """What converges: how often each action was taken over all iterations; even chances where that is 0."""
        strategy = np.zeros(len(self.averages))
        _match(self.tree, self.averages, strategy)
        return strategy


@njit
def _match(tree: TreeArrays, regrets: Vector, strategy: Vector) -> None:
    for node in range(len(tree.kinds)):
        if tree.counts[node]:
            _match_node(tree, node, regrets, strategy)


@njit
def _match_node(tree: TreeArrays, node: int, regrets: Vector, strategy: Vector) -> None:
    counts, place = tree.counts[node], tree.offsets[node]
    buckets = tree.buckets[tree.players[node], tree.rounds[node]]
    for bucket in range(buckets):
        total = 0.0
        for action in range(counts):
            total += max(regrets[place + action * buckets + bucket], 0.0)
        for action in range(counts):
            at = place + action * buckets + bucket
            strategy[at] = max(regrets[at], 0.0) / total if total > 0 else 1 / counts


@njit
def learn(
    tree: TreeArrays,
    found: Vector,
    regrets: Vector,
    averages: Vector,
    strategy: Vector,
    player: int,
    above: float,
    below: float,
    average: float,
) -> None:
    """Add what a player's walks have found to its regrets, and to the averages of its opponent.

    Args:
        found: shape (boards, numbers of a strategy), as `walk` leaves it.
        regrets: changed at the player's decisions.
        averages: changed at its opponent's.
        strategy: what the player walked with; then what it plays next.
        above: what regrets above 0 are multiplied by first.
        below: what those below are.
        average: what averages are.
    """
    for node in range(len(tree.kinds)):
        counts, buckets, place = (
            tree.counts[node],
            tree.buckets[tree.players[node], tree.rounds[node]],
            tree.offsets[node],
        )
        if not counts:
            continue
        if tree.players[node] != player:
            for at in range(place, place + counts * buckets):
                total = averages[at] * average
                for board in range(len(found)):
                    total += found[board, at]
                averages[at] = total
            continue
        for bucket in range(buckets):
            value = 0.0
            for action in range(counts):
                at = place + action * buckets + bucket
                won = 0.0
                for board in range(len(found)):
                    won += found[board, at]
                value += strategy[at] * won
                regrets[at] = regrets[at] * (above if regrets[at] > 0 else below) + won
            for action in range(counts):
                regrets[place + action * buckets + bucket] -= value
        _match_node(tree, node, regrets, strategy)


def gains_of_answers(
    tree: TreeArrays, boards: AllBoards, strategy: Strategy, pool: Executor | None = None
) -> list[float]:
    """What each player wins by the best response to the other's part of a strategy, exactly, in chips per hand.

    The mean of both is the exploitability: how much the strategy loses per hand over both seats.
    """
    played = strategy.astype(boards.float_type)
    return [
        float(values(tree, boards, _best_response(tree, boards, played, player, pool), player, pool).mean())
        for player in range(2)
    ]


def values(
    tree: TreeArrays, boards: AllBoards, strategy: Strategy, player: int, pool: Executor | None = None
) -> NDArray[np.float64]:
    """What a player wins on each board where each player plays its part of a strategy, in chips per hand."""
    return _walks(tree, boards, strategy.astype(boards.float_type), player, pool)[0] / boards.pairs


def _best_response(
    tree: TreeArrays, boards: AllBoards, played: Strategy, player: int, pool: Executor | None
) -> Strategy:
    """The best response, by policy iteration: each round is right for one more decision from the end."""
    answer = played
    while True:
        found = _walks(tree, boards, answer, player, pool)[1].sum(axis=0, dtype=np.float64)
        better = _best(tree, found, answer, player)
        if np.array_equal(better, answer):
            return answer
        answer = better


def _walks(
    tree: TreeArrays, boards: AllBoards, strategy: Strategy, player: int, pool: Executor | None
) -> tuple[NDArray[np.float64], Strategy]:
    """What a player wins on each board, and what its actions win, on every so many boards a row."""
    over: Callable[..., Any] = map if pool is None else pool.map
    found = np.zeros((min(_BLOCK, boards.count), len(strategy)), boards.float_type)
    works = [new_work(tree, boards.holdings) for _ in found]
    won = np.zeros(boards.count)

    def explore(row: int) -> None:
        for number in range(row, boards.count, len(found)):
            won[number] = walk(tree, boards.deal(number), works[row], strategy, found[row], player)

    list(over(explore, range(len(found))))
    return won, found


def _best(tree: TreeArrays, found: Strategy, answer: Strategy, player: int) -> Strategy:
    """The strategy that takes, at each of a player's decisions, the first of the actions that won most."""
    better = answer.copy()
    for node in np.flatnonzero((tree.counts > 0) & (tree.players == player)):
        counts, buckets = int(tree.counts[node]), int(tree.buckets[tree.players[node], tree.rounds[node]])
        which = slice(int(tree.offsets[node]), int(tree.offsets[node]) + counts * buckets)
        won = found[which].reshape(counts, buckets)
        better[which] = (np.arange(counts)[:, None] == won.argmax(axis=0)).ravel()
    return better
