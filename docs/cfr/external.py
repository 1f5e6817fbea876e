"""The other way to learn from drawn deals, to compare with: external sampling (Lanctot et al. 2009), compiled.

A walk has one pair of holdings: it goes through all actions of one player and one drawn action of the other. So it
visits some hundred nodes where `bots.cfr.walk` visits all of them for all holdings. There is no recursion: nodes are in
preorder, so what is visited is listed forwards, and values are brought back along the list backwards.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bots.cfr.deals import Boards, Deal, TreeArrays
from bots.cfr.solver import TRAINING_STREAM, normalised, size_of
from engine.kernels.jit import njit
from engine.splitmix import STEP, mixed

_MOST_ACTIONS: Final = 3
_DECISION, _FOLDED = 0, 1
_ADDED = np.uint64(STEP)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


class ExternalSampler:
    """Regrets and averages, brought further pair by pair; later pairs weigh more (linear averaging).

    Attributes:
        pairs: of holdings, walked for both players each.
        nodes: visited.
    """

    def __init__(self, tree: TreeArrays, boards: Boards, *, pairs_per_board: int, seed: int) -> None:
        """Begin with even chances.

        Args:
            tree: the tree.
            boards: where boards come from.
            pairs_per_board: pairs of holdings drawn on each, since a board takes as long as many walks.
            seed: of the draws other than the boards.
        """
        self.pairs = self.nodes = 0
        self._tree, self._boards, self._per_board = tree, boards, pairs_per_board
        self._regrets, self._averages = np.zeros(size_of(tree)), np.zeros(size_of(tree))
        self._state = np.array([mixed(seed)], np.uint64)
        nodes = len(tree.kinds)
        self._work = (np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes))
        self._chances = np.empty((nodes, _MOST_ACTIONS))
        self._children = np.zeros((nodes, _MOST_ACTIONS), np.int64)
        for node in range(1, nodes):
            self._children[tree.parents[node], tree.taken[node]] = node

    def walk_a_board(self) -> None:
        """Draw a board and pairs of holdings, and walk for both players with each."""
        deal = self._boards.deal(TRAINING_STREAM, self.pairs // self._per_board)
        of_last = np.repeat(np.arange(len(deal.parts) - 1), np.diff(deal.parts))
        buckets = np.vstack([deal.early, of_last]).astype(np.int64)
        self.nodes += _walk_pairs(
            self._tree,
            deal,
            buckets,
            self._children,
            self._regrets,
            self._averages,
            self._work,
            self._chances,
            self._state,
            self.pairs,
            self._per_board,
        )
        self.pairs += self._per_board

    def average_strategy(self) -> NDArray[np.float64]:
        """What converges."""
        found: NDArray[np.float64] = normalised(self._tree, self._averages)
        return found


@njit
def _uniform(state: Any) -> float:
    """A number from 0 to 1, by splitmix64."""
    state[0] += _ADDED
    bits = state[0]
    bits = (bits ^ (bits >> _30)) * _FIRST
    bits = (bits ^ (bits >> _27)) * _SECOND
    return float((bits ^ (bits >> _31)) >> _11) / 9007199254740992.0


@njit
def _walk_pairs(
    tree: TreeArrays,
    deal: Deal,
    buckets: Any,
    children: Any,
    regrets: Any,
    averages: Any,
    work: Any,
    chances: Any,
    state: Any,
    first: int,
    count: int,
) -> int:
    """Walk for both players with drawn pairs of holdings; gives how many nodes were visited."""
    size, nodes = len(deal.ones), 0
    for pair in range(count):
        while True:
            one, other = int(_uniform(state) * size), int(_uniform(state) * size)
            cards, others = (deal.ones[one], deal.others[one]), (deal.ones[other], deal.others[other])
            if one != other and cards[0] not in others and cards[1] not in others:
                break
        # Who has the stronger holding, as player 0 sees it.
        sign = 1.0 if one >= deal.ties[other] else -1.0 if other >= deal.ties[one] else 0.0
        weight = float(first + pair + 1)
        for player in range(2):
            nodes += _walk(
                tree,
                buckets[:, one],
                buckets[:, other],
                sign if player == 0 else -sign,
                children,
                regrets,
                averages,
                work,
                chances,
                state,
                player,
                weight,
            )
    return nodes


@njit
def _walk(
    tree: TreeArrays,
    of_first: Any,
    of_second: Any,
    sign: float,
    children: Any,
    regrets: Any,
    averages: Any,
    work: Any,
    chances: Any,
    state: Any,
    player: int,
    weight: float,
) -> int:
    """Walk the tree for one player and one pair of holdings."""
    waiting, visited, values = work
    waiting[0], depth, size = 0, 1, 0
    while depth:
        depth -= 1
        node = waiting[depth]
        visited[size], values[node] = node, 0.0
        size += 1
        if tree.kinds[node] != _DECISION:
            chips = tree.chips[node]
            if tree.kinds[node] == _FOLDED:
                values[node] = chips if tree.players[node] != player else -chips
            else:
                values[node] = chips * sign
            continue
        acts, round_, counts = tree.players[node], tree.rounds[node], tree.counts[node]
        every, place = tree.buckets[round_], tree.offsets[node]
        place += of_first[round_] if acts == 0 else of_second[round_]
        total = 0.0
        for action in range(counts):
            chances[node, action] = max(regrets[place + action * every], 0.0)
            total += chances[node, action]
        for action in range(counts):
            chances[node, action] = chances[node, action] / total if total > 0 else 1.0 / counts
        if acts == player:
            for action in range(counts):
                waiting[depth] = children[node, action]
                depth += 1
            continue
        drawn, taken = _uniform(state), 0
        for action in range(counts):
            averages[place + action * every] += weight * chances[node, action]
        while taken < counts - 1 and drawn >= chances[node, taken]:
            drawn -= chances[node, taken]
            taken += 1
        waiting[depth] = children[node, taken]
        depth += 1
    for at in range(size - 1, -1, -1):
        node = visited[at]
        value = values[node]
        if tree.counts[node] and tree.players[node] == player:
            round_ = tree.rounds[node]
            place = tree.offsets[node] + (of_first[round_] if player == 0 else of_second[round_])
            for action in range(tree.counts[node]):
                regrets[place + action * tree.buckets[round_]] -= weight * value
        parent = tree.parents[node]
        if parent < 0:
            continue
        if tree.players[parent] == player:
            round_ = tree.rounds[parent]
            place = tree.offsets[parent] + (of_first[round_] if player == 0 else of_second[round_])
            regrets[place + tree.taken[node] * tree.buckets[round_]] += weight * value
            values[parent] += chances[parent, tree.taken[node]] * value
        else:
            values[parent] += value
    return size
