"""One board, all hands: a walk over the betting tree, compiled. The kernels validate nothing.

Public chance sampling (Johanson et al. 2012): the board is drawn, the holdings are not. A walk for one player carries
how likely the opponent comes here with each holding, and brings back what each holding of the player wins, both as
vectors over the holdings that the board leaves, in the order of their ranks.

At a terminal node, sums by card take out what shares a card with a holding, so it costs a pass or two over the holdings
and not one over all pairs (Johanson et al. 2012, section 4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bots.cfr.deals import BoardArrays, TreeArrays, Vector, Work
from engine.kernels.jit import njit


@njit
def added(
    ones: NDArray[np.uint8],
    others: NDArray[np.uint8],
    reach: Vector,
    start: int | np.int64,
    end: int | np.int64,
    by_card: Vector,
    total: np.float32,
) -> np.float32:
    """Add some holdings to a total, which is returned, and to the sums by card."""
    for at in range(start, end):
        total += reach[at]
        by_card[ones[at]] += reach[at]
        by_card[others[at]] += reach[at]
    return total


@njit
def fold(
    ones: NDArray[np.uint8],
    others: NDArray[np.uint8],
    reach: Vector,
    by_card: Vector,
    chips: np.float32,
    values: Vector,
) -> None:
    """Write what each holding wins where a player has folded; chips below 0 are lost."""
    by_card[:] = 0
    total = added(ones, others, reach, 0, len(reach), by_card, reach[0] - reach[0])
    for at in range(len(reach)):
        values[at] = chips * (total - by_card[ones[at]] - by_card[others[at]] + reach[at])


@njit
def show_down(
    ones: NDArray[np.uint8],
    others: NDArray[np.uint8],
    ties: NDArray[np.uint16],
    reach: Vector,
    by_card: Vector,
    chips: np.float32,
    values: Vector,
) -> None:
    by_card[:] = 0
    total = reach[0] - reach[0]
    for at in range(len(reach)):
        total -= reach[at]
        by_card[ones[at]] -= reach[at]
        by_card[others[at]] -= reach[at]
    start = np.int64(0)
    while start < len(reach):
        end = np.int64(ties[start])
        # From above to tied, and from tied to below.
        total = added(ones, others, reach, start, end, by_card, total)
        for at in range(start, end):
            values[at] = chips * (total - by_card[ones[at]] - by_card[others[at]])
        total = added(ones, others, reach, start, end, by_card, total)
        start = end


_DECISION = 0
_FOLDED = 1


@njit
def walk(
    tree: TreeArrays,
    deal: BoardArrays,
    work: Work,
    strategy: Vector,
    found: Vector,
    player: int,
) -> float:
    """Walk the tree on one board for one player.

    Args:
        strategy: the probability of each action, by `TreeArrays.offsets`.
        found: of the same shape, added to: at the player's own decisions what each action wins, summed over its
            holdings of a bucket, each weighted with how likely the opponent comes here; at the opponent's decisions
            how likely it comes here and takes each action, summed over its holdings.

    Returns:
        what the player wins, summed over all pairs of holdings, in chips.
    """
    size = len(deal.ones)
    ones, others = deal.ones, deal.others
    work.reach[0, :size] = 1
    for step in tree.order:
        node = step if step >= 0 else ~step
        parent, action = tree.parents[node], tree.taken[node]
        depth = tree.depths[node]
        values = work.values[depth, :size]
        slot = tree.slots[player, node]
        reach = work.reach[slot, :size]
        if step >= 0:
            if parent >= 0 and tree.players[parent] != player:
                round_ = tree.rounds[parent]
                place = np.uint64(tree.offsets[parent] + action * tree.buckets[1 - player, round_])
                buckets = deal.buckets[1 - player, round_]
                before = work.reach[slot - 1, :size]
                for at in range(size):
                    bucket = place + np.uint64(buckets[at])
                    likely = before[at] * strategy[bucket]
                    reach[at] = likely
                    found[bucket] += likely
            if tree.kinds[node] == _DECISION:
                # Where the opponent never comes, nothing below counts.
                values[:] = 0
                continue
            if not _is_any(reach):
                values[:] = 0
            elif tree.kinds[node] == _FOLDED:
                chips = tree.chips[node] if tree.players[node] != player else -tree.chips[node]
                fold(ones, others, reach, work.by_card, chips, values)
            else:
                show_down(ones, others, deal.ties, reach, work.by_card, tree.chips[node], values)
        if parent < 0:
            continue
        above = work.values[depth - 1, :size]
        if tree.players[parent] != player:
            for at in range(size):
                above[at] += values[at]
        else:
            round_ = tree.rounds[parent]
            place = np.uint64(tree.offsets[parent] + action * tree.buckets[player, round_])
            buckets = deal.buckets[player, round_]
            for at in range(size):
                bucket = place + np.uint64(buckets[at])
                found[bucket] += values[at]
                above[at] += strategy[bucket] * values[at]
    total = 0.0
    for at in range(size):
        total += work.values[0, at]
    return total


@njit
def _is_any(reach: Vector) -> bool:
    """Whether any entry is above 0; none is below."""
    total = reach[0]
    for at in range(1, len(reach)):
        total += reach[at]
    return bool(total > 0)
