"""Walk the whole betting tree of a strategy on one board, with all holdings of both players.

Each holding has a bucket in every round, and the strategy gives the probabilities of its actions. The value of a
player's holding at a node is the sum over the opponent's holdings of chips won × probability that the opponent gets
there. Values count from the beginning of the hand. The kernels validate nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bots.cfr.endgame_walk import CARD_LANES, Holdings, Vector, fold, show_down
from bots.cfr.strategy_files import StrategyFile
from bots.cfr.tree import BettingTree
from engine.kernels.jit import njit

_DECISION = 0
_FOLDED = 1


class WalkedTree(NamedTuple):
    """A betting tree with the probabilities of a strategy. Arrays have the shape (nodes,) unless stated otherwise.

    Attributes:
        kinds: see `BettingTree`, as for `players`, `rounds`, `parents`, `taken`, `depths` and `ends`.
        chips: chips that the loser of an end has put in.
        rows: index in `chances` of the first action of a decision; those of the other actions follow, by bucket.
        chances: probability by decision, action and bucket, flat.
    """

    kinds: NDArray[np.int8]
    players: NDArray[np.int8]
    rounds: NDArray[np.int8]
    parents: NDArray[np.int32]
    taken: NDArray[np.int8]
    depths: NDArray[np.int32]
    ends: NDArray[np.int32]
    chips: Vector
    counts: NDArray[np.int64]
    rows: NDArray[np.int64]
    chances: Vector


def walked_tree(strategy: StrategyFile, tree: BettingTree) -> WalkedTree:
    """Combine a strategy of hold'em with its own tree."""
    buckets = np.array(strategy.buckets)
    counts = tree.number_of_actions()
    sizes = counts * buckets[tree.rounds]
    rows = sizes.cumsum() - sizes
    chances = np.empty(int(sizes.sum()), np.float32)
    for node in tree.decisions.tolist():
        chances[rows[node] : rows[node] + sizes[node]] = strategy.chances(node).ravel()
    return WalkedTree(
        kinds=tree.kinds,
        players=tree.players,
        rounds=tree.rounds,
        parents=tree.parents,
        taken=tree.taken,
        depths=tree.depths,
        ends=tree.ends,
        chips=tree.chips.astype(np.float32),
        counts=counts,
        rows=rows,
        chances=chances,
    )


class Records(NamedTuple):
    """Sums over boards of the values at some decisions, for one player.

    Attributes:
        places: index of the first bucket of each node, -1 for nodes that are not recorded, shape (nodes,).
        values: sum of the values of the holdings of each bucket, flat.
        weights: sum over the same holdings of the opponent's probability to get there, flat.
    """

    places: NDArray[np.int64]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]


class _Path(NamedTuple):
    """State of a walk, a row for each depth of the tree.

    Attributes:
        player: position whose values are computed.
        tremble: part of the opponent's choices that are drawn evenly.
        reach: opponent's probability to get to the node, by holding, shape (depths, holdings).
        values: values of the player's holdings, likewise.
        held: row of `reach` for each depth, because only the opponent's actions change it.
    """

    player: int
    tremble: np.float32
    reach: Vector
    values: Vector
    held: NDArray[np.int64]


@njit
def walk_values(
    tree: WalkedTree,
    holdings: Holdings,
    buckets: NDArray[np.uint16],
    player: int,
    tremble: np.float32,
    records: Records,
) -> None:
    """Add the values of a player's holdings on one board to the records.

    Args:
        holdings: of a full board.
        buckets: bucket by round and holding, shape (4, holdings).
        tremble: part of the opponent's choices that are drawn evenly, so that every node has a probability.
        records: changed in place.
    """
    size = holdings.first_cards.shape[1]
    depths = np.max(tree.depths) + 1
    reach = np.ones((depths, size), np.float32)
    path = _Path(player, tremble, reach, np.zeros((depths, size), np.float32), np.zeros(depths, np.int64))
    weights = np.empty(size, np.float32)
    by_card = np.empty(CARD_LANES, np.float32)
    for node in range(len(tree.kinds)):
        if node:
            _arrive(tree, buckets, node, path)
        if tree.kinds[node] == _DECISION:
            path.values[tree.depths[node]] = np.float32(0)
            continue
        _end(tree, holdings, node, path, by_card)
        # Leave the node, and each decision whose last descendant it is.
        last = node
        while True:
            depth = tree.depths[last]
            if records.places[last] >= 0:
                fold(holdings, 0, reach[path.held[depth]], by_card, np.float32(1), weights)
                of_round = buckets[tree.rounds[last]]
                # Sum over the holdings of each bucket.
                for index in range(size):
                    place = records.places[last] + of_round[index]
                    records.values[place] += path.values[depth, index]
                    records.weights[place] += weights[index]
            if not last:
                break
            _leave(tree, buckets, last, path)
            parent = tree.parents[last]
            if tree.ends[last] != tree.ends[parent]:
                break
            last = parent


@njit
def _arrive(tree: WalkedTree, buckets: NDArray[np.uint16], node: int, path: _Path) -> None:
    """Write the opponent's probability to get to a node, by holding."""
    depth = tree.depths[node]
    parent = tree.parents[node]
    held = path.held
    if tree.players[parent] == path.player:
        held[depth] = held[depth - 1]
        return
    held[depth] = depth
    before = path.reach[held[depth - 1]]
    after = path.reach[depth]
    of_round = buckets[tree.rounds[parent]]
    count = tree.counts[parent]
    width = (tree.rows[parent + 1] - tree.rows[parent]) // count
    chances = tree.chances[tree.rows[parent] + width * tree.taken[node] :]
    kept = np.float32(1) - path.tremble
    even = path.tremble / np.float32(count)
    for index in range(len(after)):
        after[index] = before[index] * (kept * chances[of_round[index]] + even)


@njit
def _end(tree: WalkedTree, holdings: Holdings, node: int, path: _Path, by_card: Vector) -> None:
    """Write the values at an end of the betting."""
    depth = tree.depths[node]
    reach = path.reach[path.held[depth]]
    values = path.values[depth]
    chips = tree.chips[node]
    if tree.kinds[node] != _FOLDED:
        show_down(holdings, 0, reach, by_card, chips, values)
    elif tree.players[node] == path.player:
        fold(holdings, 0, reach, by_card, -chips, values)
    else:
        fold(holdings, 0, reach, by_card, chips, values)


@njit
def _leave(tree: WalkedTree, buckets: NDArray[np.uint16], node: int, path: _Path) -> None:
    """Add the values at a node to those of the decision before it."""
    depth = tree.depths[node]
    parent = tree.parents[node]
    below = path.values[depth]
    above = path.values[depth - 1]
    if tree.players[parent] != path.player:
        # The opponent's probability of the action is in the values already.
        for index in range(len(above)):
            above[index] += below[index]
        return
    of_round = buckets[tree.rounds[parent]]
    width = (tree.rows[parent + 1] - tree.rows[parent]) // tree.counts[parent]
    chances = tree.chances[tree.rows[parent] + width * tree.taken[node] :]
    # Sum over the actions: probability × value.
    for index in range(len(above)):
        above[index] += chances[of_round[index]] * below[index]
