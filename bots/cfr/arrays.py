"""What a walk is given and writes, as arrays: the tree, the board, and the vectors over holdings and buckets."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["CARD_LANES", "Deal", "FloatType", "TreeArrays", "Vector", "Work", "lanes_of", "new_work"]

CARD_LANES: Final = 64
"""Columns of sums by card: 52, and what makes them a multiple of what a processor adds at once."""

Vector: TypeAlias = NDArray[Any]
"""Floats of four or of eight bytes, the same everywhere in a walk."""
FloatType: TypeAlias = type[np.float32] | type[np.float64]


class TreeArrays(NamedTuple):
    """A betting tree with the places of its information sets, by node unless said otherwise.

    Attributes:
        kinds: 0 decision, 1 ended by a fold, 2 showdown.
        players: who acts, or who folded.
        rounds: the betting round.
        parents: the node before.
        taken: which action of it leads here.
        depths: how many actions lead here.
        chips: what the loser of an end has put in.
        ends: the number behind the last node below it.
        counts: of actions.
        offsets: of a decision, where its numbers begin: action by action, in each bucket by bucket.
        slots: shape (2, nodes), by player: how many actions of its opponent lead here.
        early: the nodes before the last round and the first nodes of last rounds in preorder; ``~node`` where
            everything below a decision has been visited.
        buckets: by round.
        last_round: the last round.
    """

    kinds: NDArray[np.int8]
    players: NDArray[np.int8]
    rounds: NDArray[np.int8]
    parents: NDArray[np.int32]
    taken: NDArray[np.int8]
    depths: NDArray[np.int32]
    chips: Vector
    ends: NDArray[np.int32]
    counts: NDArray[np.int32]
    offsets: NDArray[np.int64]
    slots: NDArray[np.int32]
    early: NDArray[np.int32]
    buckets: NDArray[np.int64]
    last_round: int


class Deal(NamedTuple):
    """A board as the walk sees it: the holdings that it leaves, weakest first.

    Attributes:
        ones: a card of each, below 64.
        others: the other card; where holdings have one card, a number that no other holding has.
        ties: behind the last holding of the same rank.
        early: shape (rounds - 1, holdings), the buckets before the last round.
        parts: shape (buckets + 1,), where each bucket of the last round begins.
        in_bucket: shape (lanes,), how many holdings each has.
        with_card: shape (64, lanes), how many holdings with a card each bucket has.
    """

    ones: NDArray[np.uint8]
    others: NDArray[np.uint8]
    ties: NDArray[np.uint16]
    early: NDArray[np.uint8]
    parts: NDArray[np.int64]
    in_bucket: Vector
    with_card: Vector


class Work(NamedTuple):
    """Arrays that a walk writes; nothing in them lasts. Lanes are buckets, and what makes them a multiple of 16.

    Attributes:
        reach: shape (slots, holdings), how likely the opponent comes here.
        values: shape (depths, holdings), what holdings win below the nodes on the way here.
        within: shape (holdings,), w(h) of `bots.cfr.walk`.
        sums: shape (buckets,), reach by bucket.
        by_card: shape (buckets, 64), reach by bucket and card.
        against: shape (buckets, lanes), by bucket of the opponent, reach against all holdings of each of ours.
        standing: the same with the signs of a showdown.
        theirs: shape (nodes of a last round, buckets), f of `bots.cfr.walk`.
        ours: the same for our own actions.
        won: shape (nodes of a last round, lanes), what each bucket wins in all its holdings.
        plain: shape (buckets,), what the holdings of a bucket win before cards are taken out.
        less: shape (buckets, 64), what is taken out by card.
        of_within: shape (buckets,), the factor of w(h).
        of_reach: shape (buckets,), the factor of p(h).
        run: shape (64,), sums by card.
        total: shape (64,), sums by card.
    """

    reach: Vector
    values: Vector
    within: Vector
    sums: Vector
    by_card: Vector
    against: Vector
    standing: Vector
    theirs: Vector
    ours: Vector
    won: Vector
    plain: Vector
    less: Vector
    of_within: Vector
    of_reach: Vector
    run: Vector
    total: Vector


def lanes_of(buckets: int) -> int:
    """Buckets, and what makes them a multiple of what a processor adds at once."""
    return -(-buckets // 16) * 16


def new_work(tree: TreeArrays, holdings: int) -> Work:
    """Arrays large enough for any walk of a tree."""
    kind = tree.chips.dtype
    buckets = int(tree.buckets[tree.last_round])
    lanes = lanes_of(buckets)
    is_first = tree.early[(tree.early >= 0)]
    firsts = [node for node in is_first if tree.rounds[node] == tree.last_round]
    nodes = max(int(tree.ends[node]) - int(node) for node in firsts)

    def zeros(*shape: int) -> Vector:
        return np.zeros(shape, kind)

    return Work(
        zeros(int(tree.slots.max()) + 1, holdings),
        zeros(int(tree.depths.max()) + 1, holdings),
        zeros(holdings),
        zeros(buckets),
        zeros(buckets, CARD_LANES),
        zeros(buckets, lanes),
        zeros(buckets, lanes),
        zeros(nodes, buckets),
        zeros(nodes, buckets),
        zeros(nodes, lanes),
        zeros(buckets),
        zeros(buckets, CARD_LANES),
        zeros(buckets),
        zeros(buckets),
        zeros(CARD_LANES),
        zeros(CARD_LANES),
    )
