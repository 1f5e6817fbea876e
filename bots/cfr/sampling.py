"""Regret minimisation over sampled deals, compiled: external sampling. The kernels validate nothing.

External sampling (Lanctot, Waugh, Zinkevich & Bowling 2009, "Monte Carlo sampling for regret minimization in extensive
games"): the cards are drawn, one player takes all of its actions, and the other one action of its strategy. So a walk
visits some hundred nodes, however many buckets there are.

An iteration is a block of deals, which each player walks in turn; what they find is added to the regrets at its end,
in the order of the deals. So the result depends on the seed, the settings and the number of iterations, not on how many
threads walk. Every `EPOCH` iterations regrets and averages are discounted (`bots.cfr.solver.Discounts`): with all
powers 1 that is linear CFR (Brown & Sandholm 2019).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.abstraction import CardTables
from bots.cfr.boards import HOLDING_CARDS, HOLDING_NUMBERS
from bots.cfr.features import canonical, renamed
from bots.cfr.solver import Discounts
from bots.cfr.tree import DECISION, FOLDED, BettingTree
from engine.cards import starting_hand
from engine.kernels.cards import BITS, KEYS, START
from engine.kernels.draw import mixed as _mixed
from engine.kernels.evaluation import seven_rank
from engine.kernels.jit import njit
from engine.splitmix import STEP, mixed

Floats = NDArray[np.float32]
Draw: TypeAlias = Callable[[np.uint64, int, NDArray[np.uint16], NDArray[np.int8]], None]
"""Draws deals by a seed and the number of the first one, as `draw_deals` does."""
DEALS: Final = 4096
"""In an iteration."""
_Places = NDArray[np.uint32]
EPOCH: Final = 64
"""Iterations between two discounts, which go through all numbers."""
_PARTS: Final = 16
"""Into which the deals of an iteration are divided among threads."""
_ROOM: Final = 1 << 16
"""Numbers that a part of an iteration may find at first."""
_ADDED = np.uint64(STEP)
_1, _32, _40 = (np.uint64(bits) for bits in (1, 32, 40))
_CARDS = np.uint64(52)
_NUMBERS = HOLDING_NUMBERS.astype(np.uint16)
_STARTING_HANDS = np.array([starting_hand(cards) for cards in HOLDING_CARDS.tolist()], np.uint16)
_SHOWDOWN = np.uint32(2)
"""In the first column of `SampledTree.nodes`: 0 and 1 are decisions of these players, 3 and 4 ends by their folds."""
_COLUMNS: Final = 4
"""Before the nodes that follow."""


class SampledTree(NamedTuple):
    """A betting tree, and where the numbers of its information sets are.

    The numbers of an information set follow one another, action by action, and so do those of a bucket in a round: what
    a walk reads is near.

    Attributes:
        nodes: shape (nodes, 4 + most actions): what it is (`_SHOWDOWN`), its round, how many actions, where its numbers
            begin among those of a bucket, and the nodes that follow.
        chips: of each node, as `BettingTree.chips`.
        widths: shape (2, rounds), how many numbers a bucket of a player has in a round.
        bases: shape (2, rounds), where those of the round begin among the player's.
        depth: how many decisions of one player follow one another at most.
    """

    nodes: NDArray[np.uint32]
    chips: Floats
    widths: NDArray[np.uint64]
    bases: NDArray[np.uint64]
    depth: int


def sampled_tree(tree: BettingTree, buckets: tuple[int, ...]) -> SampledTree:
    counts = tree.number_of_actions()
    slots = np.zeros(len(counts), np.int64)
    widths = np.zeros((2, len(buckets)), np.int64)
    for node in tree.decisions.tolist():
        player, round_ = tree.players[node], tree.rounds[node]
        slots[node] = widths[player, round_]
        widths[player, round_] += counts[node]
    sizes = widths * np.array(buckets)
    what = np.where(tree.kinds == DECISION, tree.players, np.where(tree.kinds == FOLDED, 3 + tree.players, _SHOWDOWN))
    rows = np.column_stack([what, tree.rounds, counts, slots, np.maximum(tree.children, 0)])
    bases = sizes.cumsum(axis=1) - sizes
    return SampledTree(
        rows.astype(np.uint32),
        tree.chips.astype(np.float32),
        widths.astype(np.uint64),
        bases.astype(np.uint64),
        int(tree.depths.max()) + 1,
    )


@njit
def draw_deals(
    cards: CardTables, seed: np.uint64, first: int, buckets: NDArray[np.uint16], results: NDArray[np.int8]
) -> None:
    """Draw deals by their numbers.

    Args:
        buckets: shape (deals, 2, 4), by player and round.
        results: shape (deals,), 1 where player 0 has the better hand, -1 where player 1 has, 0 where they tie.
    """
    dealt, suits = np.empty(9, np.uint8), np.empty(4, np.uint8)
    for deal in range(len(results)):
        state = _mixed(seed + _mixed(np.uint64(first + deal)))
        used = np.uint64(0)
        for place in range(9):
            while True:
                state += _ADDED
                card = np.uint8(((_mixed(state) >> _32) * _CARDS) >> _32)
                if not used & BITS[card]:
                    break
            used |= BITS[card]
            dealt[place] = card
        key, bits = START, np.uint64(0)
        for place in range(5):
            key += KEYS[dealt[place]]
            bits |= BITS[dealt[place]]
        one = seven_rank(key + KEYS[dealt[5]] + KEYS[dealt[6]], bits | BITS[dealt[5]] | BITS[dealt[6]])
        other = seven_rank(key + KEYS[dealt[7]] + KEYS[dealt[8]], bits | BITS[dealt[7]] | BITS[dealt[8]])
        results[deal] = np.int8(one > other) - np.int8(one < other)
        holdings = np.int64(_NUMBERS[dealt[5], dealt[6]]), np.int64(_NUMBERS[dealt[7], dealt[8]])
        flop = np.searchsorted(cards.flop_keys, canonical(dealt[:3], suits))
        for player in range(2):
            buckets[deal, player, 0] = _STARTING_HANDS[holdings[player]]
            buckets[deal, player, 1] = cards.flops[flop, renamed(holdings[player], suits)]
        turn = np.searchsorted(cards.turn_keys, canonical(dealt[:4], suits))
        for player in range(2):
            buckets[deal, player, 2] = cards.turns[turn, renamed(holdings[player], suits)]
        river = np.searchsorted(cards.river_keys, canonical(dealt[:5], suits))
        for player in range(2):
            buckets[deal, player, 3] = cards.rivers[river, renamed(holdings[player], suits)]


@njit
def explore(
    tree: SampledTree,
    buckets: NDArray[np.uint16],
    results: NDArray[np.int8],
    seed: np.uint64,
    player: int,
    own: Floats,
    others: Floats,
    places: _Places,
    regrets: Floats,
    taken: _Places,
) -> tuple[int, int]:
    """Walk the tree with some deals for one player.

    Args:
        buckets: as `draw_deals` writes them.
        results: likewise.
        seed: of the opponent's actions.
        own: the regrets of the player.
        others: those of the opponent.
        places: written: where a regret is to be added.
        regrets: written: which.
        taken: written: where the actions are that the opponent took.

    Returns:
        how many places and actions have been written; -1 and -1 where there was no room for them.
    """
    nodes, chips, most = tree.nodes, tree.chips, tree.nodes.shape[1] - _COLUMNS
    at_nodes, at_places = np.empty(tree.depth, np.uint32), np.empty(tree.depth, np.uint64)
    at_actions, sums = np.empty(tree.depth, np.uint32), np.empty(tree.depth, np.float32)
    chances, values = np.empty((tree.depth, most), np.float32), np.empty((tree.depth, most), np.float32)
    starts = np.empty((2, buckets.shape[2]), np.uint64)
    nothing, whole, unit = np.float32(0), np.float32(1), np.float32(2.0**-24)
    me, columns, zero = np.uint32(player), np.uint64(_COLUMNS), np.uint64(0)
    written, drawn = zero, zero
    most_written, most_drawn = np.uint64(max(len(places) - len(nodes), 0)), np.uint64(max(len(taken) - len(nodes), 0))
    state = _mixed(seed)
    for deal in range(len(results)):
        if written >= most_written or drawn >= most_drawn:
            return -1, -1
        sign = np.float32(results[deal] if player == 0 else -results[deal])
        for each in range(2):
            for round_ in range(buckets.shape[2]):
                bucket = np.uint64(buckets[deal, each, round_])
                starts[each, round_] = tree.bases[each, round_] + bucket * tree.widths[each, round_]
        node, depth = zero, zero
        while True:
            row = nodes[node]
            kind = row[0]
            if kind < _SHOWDOWN:
                actions = np.uint64(row[2])
                place = starts[np.uint64(kind), np.uint64(row[1])] + np.uint64(row[3])
                total = nothing
                if kind == me:
                    here = chances[depth]
                    for action in range(actions):
                        here[action] = max(own[place + action], nothing)
                        total += here[action]
                    for action in range(actions):
                        here[action] = here[action] / total if total > nothing else whole / np.float32(actions)
                    at_nodes[depth], at_places[depth], at_actions[depth], sums[depth] = node, place, 0, nothing
                    depth += _1
                    node = np.uint64(row[columns])
                    continue
                for action in range(actions):
                    total += max(others[place + action], nothing)
                state += _ADDED
                left = np.float32(_mixed(state) >> _40) * unit
                chosen, last = zero, actions - _1
                if total > nothing:
                    left *= total
                    while chosen < last:
                        left -= max(others[place + chosen], nothing)
                        if left < nothing:
                            break
                        chosen += _1
                else:
                    chosen = min(np.uint64(left * np.float32(actions)), last)
                taken[drawn] = place + chosen
                drawn += _1
                node = np.uint64(row[columns + chosen])
                continue
            value = chips[node]
            if kind == _SHOWDOWN:
                value *= sign
            elif kind == np.uint32(3) + me:
                value = -value
            # Back to the last decision of the player that has an action left.
            while depth > zero:
                top = depth - _1
                done = np.uint64(at_actions[top])
                values[top, done] = value
                sums[top] += chances[top, done] * value
                done += _1
                row = nodes[np.uint64(at_nodes[top])]
                actions = np.uint64(row[2])
                if done < actions:
                    at_actions[top] = done
                    node = np.uint64(row[columns + done])
                    break
                value = sums[top]
                for action in range(actions):
                    places[written] = at_places[top] + action
                    regrets[written] = values[top, action] - value
                    written += _1
                depth = top
            if depth == zero:
                break
    # With unsigned numbers, -1 would make both floats.
    return np.int64(written), np.int64(drawn)  # type: ignore[return-value]


@njit
def add_regrets(places: _Places, regrets: Floats, count: int, sums: Floats) -> None:
    for at in range(count):
        sums[places[at]] += regrets[at]


@njit
def _count(taken: _Places, count: int, sums: Floats) -> None:
    for at in range(count):
        sums[taken[at]] += np.float32(1)


@njit
def _discount(regrets: Floats, averages: Floats, above: float, below: float, average: float) -> None:
    for at in range(len(regrets)):
        regrets[at] *= np.float32(above if regrets[at] > 0 else below)
        averages[at] *= np.float32(average)


class Found:
    """What a part of an iteration finds: room that grows."""

    def __init__(self, room: int) -> None:
        self.counts = (0, 0)
        self._make(room)

    def _make(self, room: int) -> None:
        self.places, self.taken = np.empty(room, np.uint32), np.empty(room, np.uint32)
        self.regrets: Floats = np.empty(room, np.float32)

    def explore(self, walk: Callable[[_Places, Floats, _Places], tuple[int, int]]) -> None:
        self.counts = walk(self.places, self.regrets, self.taken)
        while self.counts[0] < 0:
            self._make(2 * len(self.places))
            self.counts = walk(self.places, self.regrets, self.taken)


class SampledSolver:
    """The regrets and averages of both players of hold'em, and their iterations, as `bots.cfr.solver.Solver` has them.

    It is copy `copy` of `copies` solvers, each of which draws deals of its own.

    Attributes:
        iteration: how many have been done.
        regrets: of player 0, then those of player 1, by `SampledTree`.
        averages: how often each action was taken, likewise.
    """

    def __init__(
        self,
        tree: BettingTree,
        buckets: tuple[int, ...],
        draw: Draw,
        discounts: Discounts,
        *,
        seed: int,
        per_iteration: int = DEALS,
        copies: int = 1,
        copy: int = 0,
    ) -> None:
        self.iteration, self.per_iteration = 0, per_iteration
        self._tree, self._arrays, self._buckets, self._draw = tree, sampled_tree(tree, buckets), buckets, draw
        self._discounts, self._seed, self._copies, self._copy = discounts, mixed(seed), copies, copy
        of_players = (self._arrays.widths * np.array(buckets, np.uint64)).sum(axis=1)
        self._first = int(of_players[0])
        size = int(of_players.sum())
        self.regrets: Floats = np.zeros(size, np.float32)
        self.averages: Floats = np.zeros(size, np.float32)
        self._found: list[Found] = []

    def resume(self, iteration: int, regrets: Floats, averages: Floats) -> None:
        self.iteration = iteration
        self.regrets[:], self.averages[:] = regrets, averages

    def iterate(self, pool: Executor | None = None) -> None:
        over: Callable[..., Any] = map if pool is None else pool.map
        if not self._found:
            self._found = [Found(len(self._tree.kinds) + _ROOM) for _ in range(_PARTS)]
        first = (self.iteration * self._copies + self._copy) * self.per_iteration
        edges = [self.per_iteration * part // _PARTS for part in range(_PARTS + 1)]
        parts = [slice(start, end) for start, end in pairwise(edges)]
        buckets = np.empty((self.per_iteration, 2, len(self._buckets)), np.uint16)
        results = np.empty(self.per_iteration, np.int8)

        def draw(part: slice) -> None:
            self._draw(np.uint64(self._seed), first + part.start, buckets[part], results[part])

        list(over(draw, parts))
        halves = slice(0, self._first), slice(self._first, None)
        for player in range(2):
            own, others = (self.regrets[halves[each]] for each in (player, 1 - player))
            averages = self.averages[halves[1 - player]]

            def walk(number: int, player: int = player, own: Floats = own, others: Floats = others) -> None:
                part = parts[number]
                seed = np.uint64(mixed(self._seed ^ mixed(2 * (first + part.start) + player)))
                of_part = self._arrays, buckets[part], results[part], seed, player, own, others
                self._found[number].explore(partial(explore, *of_part))

            list(over(walk, range(_PARTS)))

            def add(sums: Floats, own: Floats = own) -> None:
                for found in self._found:
                    if sums is own:
                        add_regrets(found.places, found.regrets, found.counts[0], sums)
                    else:
                        _count(found.taken, found.counts[1], sums)

            list(over(add, (own, averages)))
        self.iteration += 1
        epoch, left = divmod(self.iteration, EPOCH)
        if not left:
            _discount(self.regrets, self.averages, *self._discounts.factors(epoch + 1))


def as_strategy(
    tree: BettingTree, buckets: tuple[int, ...], averages: NDArray[np.floating[Any]]
) -> NDArray[np.float64]:
    """Weights by `SampledTree` as probabilities in the order of a strategy file: node, action, bucket."""
    arrays, found = sampled_tree(tree, buckets), []
    ends = (arrays.widths * np.array(buckets, np.uint64)).sum(axis=1)
    for node in tree.decisions.tolist():
        player, round_ = int(tree.players[node]), int(tree.rounds[node])
        start, width = int(arrays.bases[player, round_] + player * ends[0]), int(arrays.widths[player, round_])
        of_round = averages[start : start + width * buckets[round_]].reshape(-1, width)
        first, count = int(arrays.nodes[node, 3]), len(tree.actions[node])
        weights = of_round[:, first : first + count].T.astype(np.float64)
        totals = weights.sum(axis=0)
        found.append(np.where(totals > 0, weights / np.where(totals > 0, totals, 1), 1 / count).ravel())
    return np.concatenate(found)
