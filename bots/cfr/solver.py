"""Counterfactual regret minimisation over drawn boards (public chance sampling).

An iteration draws some boards and lets the players take turns: on every board a player finds out what each of its
actions wins in each of its buckets, and the regrets of all boards are added at once, in the order of the boards. So the
result depends on the seed, the settings and the number of iterations, not on how many threads walk the boards.

Regrets and averages are discounted (Brown & Sandholm 2019): before iteration t's are added, regrets above 0 are
multiplied by (t-1)^a / ((t-1)^a + 1), those below by the same with b, and the average by ((t-1)/t)^c. With all three
powers 1 that is linear CFR.

`mean_strategy` is the mean of copies that learn apart, so that workers of other machines can help. A board is walked in
milliseconds, and a strategy is megabytes: workers that sent what every board has shown would send more than they
compute. So copies of a training learn apart, each on boards of its own, and their averages are added in the order of
the copies. What an answer wins from the mean of several strategies, each weighted with how likely it comes somewhere,
is at most the mean of what answers win from each; and what drawn boards have made of chance evens out.

A copy is a state: which worker computes it, and in how many parts, changes nothing.

`exploitability` measures how far a strategy is from an equilibrium of its abstract game. The best response sees what
the strategy sees: its buckets, and no cards. Where all boards are known and no bucket forgets another, it is exact:
every decision is answered by what wins most, given the answers so far, until nothing changes. Where boards are drawn,
an answer is learned as the strategy was, by regrets on boards of its own, against the strategy as it is. It begins as
that strategy, and leaves it only where its regrets are surely above 0: following a few boards costs more than it wins.
What the answer wins is then counted on other boards, so it is not judged by those that it fits. That is a lower bound
on what the best answer wins, up to the error of the drawn boards; the more boards it is learned on, the nearer it
comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from bots.cfr.deals import Boards, FloatType, TreeArrays, Vector, Work, new_work
from bots.cfr.tree import DECISION, BettingTree
from bots.cfr.walk import walk
from engine.kernels.jit import njit

Strategy: TypeAlias = Vector
"""Probabilities, or anything else, by `TreeArrays.offsets`."""
TRAINING_STREAM: Final = 0


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


def tree_arrays(tree: BettingTree, buckets: Sequence[int], kind: FloatType) -> TreeArrays:
    nodes = len(tree.kinds)
    counts = tree.number_of_actions()
    of_round = np.array(buckets, np.int64)
    is_decision = tree.kinds == DECISION
    sizes = np.where(is_decision, counts * of_round[tree.rounds], 0)
    ends = np.arange(1, nodes + 1)
    for node in range(nodes - 1, 0, -1):
        ends[tree.parents[node]] = max(ends[tree.parents[node]], ends[node])
    slots = np.zeros((2, nodes), np.int32)
    for node in range(1, nodes):
        parent = tree.parents[node]
        for player in range(2):
            slots[player, node] = slots[player, parent] + (tree.players[parent] != player)
    last_round = len(buckets) - 1
    early: list[int] = []
    open_: list[int] = []
    node = 0
    while node < nodes:
        while open_ and ends[open_[-1]] <= node:
            early.append(~open_.pop())
        early.append(node)
        if is_decision[node] and tree.rounds[node] < last_round:
            open_.append(node)
            node += 1
        else:
            node = int(ends[node])
    early += [~left for left in reversed(open_)]
    return TreeArrays(
        kinds=tree.kinds,
        players=tree.players,
        rounds=tree.rounds,
        parents=tree.parents,
        taken=tree.taken,
        depths=tree.depths,
        chips=tree.chips.astype(kind),
        ends=ends.astype(np.int32),
        counts=counts.astype(np.int32),
        offsets=sizes.cumsum() - sizes,
        slots=slots,
        early=np.array(early, np.int32),
        buckets=of_round,
        last_round=last_round,
    )


def size_of(tree: TreeArrays) -> int:
    is_decision = tree.kinds == DECISION
    return int((tree.counts * tree.buckets[tree.rounds])[is_decision].sum())


class Solver:
    """The regrets and averages of both players, and their iterations.

    It is copy `copy` of `copies` solvers, which draw boards of their own, `per_iteration` at a time; where all boards
    are known, all are taken.

    Attributes:
        iteration: how many have been done.
        averages: how likely its player came to each information set and took each action, over all iterations.
    """

    def __init__(
        self,
        tree: TreeArrays,
        boards: Boards,
        per_iteration: int,
        discounts: Discounts,
        copies: int = 1,
        copy: int = 0,
    ) -> None:
        self.tree, self.boards = tree, boards
        self.iteration = 0
        self._discounts = discounts
        self._copies, self._copy = copies, copy
        self.per_iteration = boards.count or per_iteration
        size = size_of(tree)
        self.regrets: Strategy = np.zeros(size)
        self.averages: Strategy = np.zeros(size)
        self.strategy: Strategy = np.zeros(size, boards.float_type)
        _match(tree, self.regrets, self.strategy)
        self._found: Strategy = np.zeros((0, size), boards.float_type)
        self._works: list[Work] = []

    def resume(self, iteration: int, regrets: Strategy, averages: Strategy) -> None:
        """Continue from the state of another solver."""
        self.iteration = iteration
        self.regrets[:], self.averages[:] = regrets, averages
        _match(self.tree, self.regrets, self.strategy)

    def iterate(self, pool: Executor | None = None) -> None:
        """Do one iteration, in the threads of a pool if one is given."""
        first = (self.iteration * self._copies + self._copy) * self.per_iteration
        over: Callable[..., Any] = map if pool is None else pool.map
        numbers = range(self.per_iteration)
        deals = list(over(lambda at: self.boards.deal(TRAINING_STREAM, first + at), numbers))
        if not self._works:
            self._works = [new_work(self.tree, self.boards.holdings) for _ in numbers]
            self._found = np.zeros((len(numbers), len(self.strategy)), self.boards.float_type)
        self.iteration += 1
        above, below, average = self._discounts.factors(self.iteration)

        for player in range(2):

            def explore(at: int, player: int = player) -> None:
                self._found[at] = 0
                walk(self.tree, deals[at], self._works[at], self.strategy, self._found[at], player)

            list(over(explore, numbers))
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
        return normalised(self.tree, self.averages)


def normalised(tree: TreeArrays, weights: Strategy) -> Strategy:
    """Weights as probabilities; even chances where all are 0."""
    strategy = np.zeros(len(weights))
    _match(tree, weights, strategy)
    return strategy


@njit
def _match(tree: TreeArrays, regrets: Vector, strategy: Vector) -> None:
    for node in range(len(tree.kinds)):
        if tree.counts[node]:
            _match_node(tree, node, regrets, strategy)


@njit
def _match_node(tree: TreeArrays, node: int, regrets: Vector, strategy: Vector) -> None:
    counts, buckets, place = tree.counts[node], tree.buckets[tree.rounds[node]], tree.offsets[node]
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
        counts, buckets, place = tree.counts[node], tree.buckets[tree.rounds[node]], tree.offsets[node]
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


MESSAGE_BYTES: Final = 32
"""What a copy is sent and sends, for each number of a strategy."""


class CopyState(NamedTuple):
    regrets: Strategy
    averages: Strategy


def advance_copy(solver: Solver, iterations: int) -> CopyState:
    """The state of a copy after some more iterations."""
    for _ in range(iterations):
        solver.iterate()
    return CopyState(solver.regrets, solver.averages)


def mean_strategy(solvers: Sequence[Solver]) -> Strategy:
    """What converges: how often each action was taken over all iterations of all copies."""
    averages = solvers[0].averages.copy()
    for solver in solvers[1:]:
        averages += solver.averages
    return normalised(solvers[0].tree, averages)


_ANSWER_STREAM: Final = 1
_JUDGE_STREAM: Final = 2
_BLOCK: Final = 8
"""Boards whose vectors are held at once."""
_SURE: Final = 1.0
"""Standard errors that a regret must be above 0 before an answer follows it."""


class Exploitability(NamedTuple):
    """What answers were found to win.

    Attributes:
        gains: of each player's answer to the other's strategy, in chips per hand.
        value: the mean of both, in chips per hand: how much the strategy loses per hand over both seats.
        error: its standard error from the drawn boards; 0 where all boards are known.
    """

    gains: tuple[float, float]
    value: float
    error: float


def exploitability(
    tree: TreeArrays,
    boards: Boards,
    strategy: Strategy,
    *,
    count: int = 256,
    pool: Executor | None = None,
) -> Exploitability:
    """What each player wins by answering the other's part of a strategy.

    So many boards are drawn for each answer, and again to judge it; where all are known, all are taken.
    """
    count = boards.count or count
    played = strategy.astype(boards.float_type)
    values = np.zeros((2, count))
    for player in range(2):
        answer = (_exact_answer if boards.count else _learned_answer)(tree, boards, played, player, count, pool)
        values[player] = _walks(tree, boards, answer, player, _JUDGE_STREAM, count=count, pool=pool)[0]
    values /= boards.pairs
    mean = values.mean(axis=0)
    error = 0.0 if boards.count else float(mean.std(ddof=1) / np.sqrt(count))
    first, second = values.mean(axis=1).tolist()
    return Exploitability((first, second), float(mean.mean()), error)


def expected_value(
    tree: TreeArrays, boards: Boards, strategy: Strategy, *, count: int = 64, pool: Executor | None = None
) -> float:
    """What player 0 wins where each player plays its part of a strategy, in chips per hand."""
    count = boards.count or count
    values, _ = _walks(tree, boards, strategy.astype(boards.float_type), 0, _JUDGE_STREAM, count=count, pool=pool)
    return float(values.mean() / boards.pairs)


def _exact_answer(
    tree: TreeArrays, boards: Boards, played: Strategy, player: int, count: int, pool: Executor | None
) -> Strategy:
    """The best response, by policy iteration: each round is right for one more decision from the end."""
    answer = played
    while True:
        found = _walks(tree, boards, answer, player, _ANSWER_STREAM, count=count, pool=pool)[1].sum(
            axis=0, dtype=np.float64
        )
        better = _best(tree, found, answer, player)
        if np.array_equal(better, answer):
            return answer
        answer = better


def _learned_answer(
    tree: TreeArrays, boards: Boards, played: Strategy, player: int, count: int, pool: Executor | None
) -> Strategy:
    answer = played.copy()
    regrets, squares = np.zeros(len(played)), np.zeros(len(played))
    for block in range(-(-count // _BLOCK)):
        found = _walks(tree, boards, answer, player, _ANSWER_STREAM, count=_BLOCK, pool=pool, first=block * _BLOCK)[1]
        _answer(tree, found, regrets, squares, played, answer=answer, player=player, before=block / (block + 1))
    return answer


@njit
def _answer(
    tree: TreeArrays,
    found: Vector,
    regrets: Vector,
    squares: Vector,
    played: Vector,
    answer: Vector,
    player: int,
    before: float,
) -> None:
    """Add what walks have found to the regrets of an answer, and follow those that are surely above 0.

    The squares are of what has been added to them; where no regret is surely above 0 the answer plays as `played`.
    """
    for node in range(len(tree.kinds)):
        counts, buckets, place = tree.counts[node], tree.buckets[tree.rounds[node]], tree.offsets[node]
        if not counts or tree.players[node] != player:
            continue
        for bucket in range(buckets):
            value = 0.0
            for action in range(counts):
                for board in range(len(found)):
                    value += answer[place + action * buckets + bucket] * found[board, place + action * buckets + bucket]
            total = 0.0
            for action in range(counts):
                at = place + action * buckets + bucket
                regret = -value
                for board in range(len(found)):
                    regret += found[board, at]
                regrets[at] = regrets[at] * before + regret
                squares[at] = squares[at] * before * before + regret * regret
                total += max(regrets[at] - _SURE * np.sqrt(squares[at]), 0.0)
            for action in range(counts):
                at = place + action * buckets + bucket
                sure = max(regrets[at] - _SURE * np.sqrt(squares[at]), 0.0)
                answer[at] = sure / total if total > 0 else played[at]


def _walks(
    tree: TreeArrays,
    boards: Boards,
    strategy: Strategy,
    player: int,
    stream: int,
    count: int,
    pool: Executor | None,
    *,
    first: int = 0,
) -> tuple[Strategy, Strategy]:
    """What a player wins on each board, and what its actions win, on every so many boards a row."""
    over: Callable[..., Any] = map if pool is None else pool.map
    found = np.zeros((min(_BLOCK, count), len(strategy)), boards.float_type)
    works: list[Work] = [new_work(tree, boards.holdings) for _ in found]
    values = np.zeros(count)

    def explore(row: int) -> None:
        for number in range(row, count, len(found)):
            deal = boards.deal(stream, first + number)
            values[number] = walk(tree, deal, works[row], strategy, found[row], player)

    list(over(explore, range(len(found))))
    return values, found


def _best(tree: TreeArrays, found: Strategy, answer: Strategy, player: int) -> Strategy:
    """The strategy that takes, at each of a player's decisions, the first of the actions that won most."""
    better = answer.copy()
    for node in np.flatnonzero((tree.counts > 0) & (tree.players == player)):
        counts, buckets = int(tree.counts[node]), int(tree.buckets[tree.rounds[node]])
        which = slice(int(tree.offsets[node]), int(tree.offsets[node]) + counts * buckets)
        won = found[which].reshape(counts, buckets)
        better[which] = (np.arange(counts)[:, None] == won.argmax(axis=0)).ravel()
    return better
