"""One board, all hands: a walk over the betting tree, compiled. The kernels validate nothing.

Public chance sampling (Johanson et al. 2012): the board is drawn, the holdings are not. A walk for one player carries
how likely the opponent comes here with each holding, and brings back what each holding of the player wins, both as
vectors over the holdings that the board leaves, in the order of their ranks.

Before the last round the vectors have an entry for each holding. In the last round all holdings of a bucket are played
alike, and buckets follow one another in the order of ranks. So what the opponent brings into a last round is summed
once, by bucket and by bucket and card (card sums are what takes out the holdings that share a card), and everything
below is computed for buckets: that is several times as fast as for holdings.

With p(h) the opponent's holdings by how likely it comes here with each, f(b) what its own actions of the last round
multiply them by, and signs + for weaker and - for stronger holdings, a holding h of bucket b with the cards c and d
wins at a showdown, in units of the chips at stake,

    D(b) - D(b, c) - D(b, d) + f(b) w(h)

    D(b) = sum over the other buckets b' of +-f(b') p(b'); D(b, c) the same of holdings with card c
    w(h) = sum over the other holdings of its own bucket of +-p, less those with c or d

and where the opponent folds T - T(c) - T(d) + f(b) p(h), with T the sums without signs.

At a terminal node, sums by card take out what shares a card with a holding, so it costs a pass or two over the holdings
and not one over all pairs (Johanson et al. 2012, section 4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bots.cfr.deals import CARD_LANES, Deal, TreeArrays, Vector, Work
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
    """Write what each holding wins at a showdown."""
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
    deal: Deal,
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
    for step in tree.early:
        node = step if step >= 0 else ~step
        parent, action = tree.parents[node], tree.taken[node]
        depth = tree.depths[node]
        values = work.values[depth, :size]
        slot = tree.slots[player, node]
        reach = work.reach[slot, :size]
        if step >= 0:
            if parent >= 0 and tree.players[parent] != player:
                round_ = tree.rounds[parent]
                place = np.uint64(tree.offsets[parent] + action * tree.buckets[round_])
                buckets = deal.early[round_]
                before = work.reach[slot - 1, :size]
                for at in range(size):
                    bucket = place + np.uint64(buckets[at])
                    likely = before[at] * strategy[bucket]
                    reach[at] = likely
                    found[bucket] += likely
            if not _is_any(reach):
                # The opponent never comes here, so nothing below counts; all values are 0.
                values[:] = 0
                if tree.kinds[node] == _DECISION and tree.rounds[node] < tree.last_round:
                    continue
            elif tree.rounds[node] == tree.last_round and tree.kinds[node] == _DECISION:
                _last_round(tree, deal, work, strategy, found, player, node, reach, values)
            elif tree.kinds[node] == _DECISION:
                values[:] = 0
                continue
            elif tree.kinds[node] == _FOLDED:
                chips = tree.chips[node] if tree.players[node] != player else -tree.chips[node]
                fold(ones, others, reach, work.total, chips, values)
            else:
                show_down(ones, others, deal.ties, reach, work.total, tree.chips[node], values)
        if parent < 0:
            continue
        above = work.values[depth - 1, :size]
        if tree.players[parent] != player:
            for at in range(size):
                above[at] += values[at]
        else:
            round_ = tree.rounds[parent]
            place = np.uint64(tree.offsets[parent] + action * tree.buckets[round_])
            buckets = deal.early[round_]
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


@njit
def _sum_by_bucket(deal: Deal, work: Work, reach: Vector) -> None:
    """Sum what the opponent brings into a last round, and how its holdings compare within each bucket."""
    ones, others, parts = deal.ones, deal.others, deal.parts
    sums, by_card, within, run = work.sums, work.by_card, work.within, work.run
    by_card[:] = 0
    for bucket in range(len(sums)):
        first, last = parts[bucket], parts[bucket + 1]
        of_bucket = by_card[bucket]
        total = reach[0] - reach[0]
        zero = total
        total = added(ones, others, reach, first, last, of_bucket, total)
        sums[bucket] = total
        work.standing[bucket, bucket] = zero
        if first == last:
            continue
        for card in range(CARD_LANES):
            run[card] = -of_bucket[card]
        total = -total
        start = first
        while start < last:
            end = np.int64(deal.ties[start])
            total = added(ones, others, reach, start, end, run, total)
            for at in range(start, end):
                within[at] = total - run[ones[at]] - run[others[at]]
                zero += within[at]
            total = added(ones, others, reach, start, end, run, total)
            start = end
        work.standing[bucket, bucket] = zero
    # A holding of the opponent is taken out twice where it is ours: once with each of its cards.
    for bucket in range(len(sums)):
        row = work.against[bucket]
        total = sums[bucket]
        for ours in range(len(row)):
            row[ours] = total * deal.in_bucket[ours]
        for card in range(CARD_LANES):
            likely = by_card[bucket, card]
            if likely != 0:
                of_card = deal.with_card[card]
                for ours in range(len(row)):
                    row[ours] -= likely * of_card[ours]
        standing = work.standing[bucket]
        for ours in range(bucket):
            standing[ours] = -row[ours]
        for ours in range(bucket + 1, len(row)):
            standing[ours] = row[ours]
        row[bucket] += total


@njit
def _last_round(
    tree: TreeArrays,
    deal: Deal,
    work: Work,
    strategy: Vector,
    found: Vector,
    player: int,
    first: int,
    reach: Vector,
    values: Vector,
) -> None:
    _sum_by_bucket(deal, work, reach)
    buckets = len(work.sums)
    theirs, ours, won, sums = work.theirs, work.ours, work.won, work.sums
    end = tree.ends[first]
    theirs[0] = 1
    ours[0] = 1
    won[: end - first] = 0
    for node in range(first + 1, end):
        here, parent = node - first, tree.parents[node]
        before = parent - first
        place = tree.offsets[parent] + tree.taken[node] * buckets
        played = strategy[place : place + buckets]
        if tree.players[parent] == player:
            for bucket in range(buckets):
                theirs[here, bucket] = theirs[before, bucket]
                ours[here, bucket] = ours[before, bucket] * played[bucket]
        else:
            of_action = found[place : place + buckets]
            for bucket in range(buckets):
                ours[here, bucket] = ours[before, bucket]
                theirs[here, bucket] = theirs[before, bucket] * played[bucket]
                of_action[bucket] += theirs[here, bucket] * sums[bucket]
    work.plain[:] = 0
    work.less[:] = 0
    work.of_within[:] = 0
    work.of_reach[:] = 0
    for node in range(end - 1, first, -1):
        here, parent = node - first, tree.parents[node]
        if tree.kinds[node] == _FOLDED:
            chips = tree.chips[node] if tree.players[node] != player else -tree.chips[node]
            _fold_by_bucket(work, here, chips)
        elif tree.kinds[node] != _DECISION:
            _show_down_by_bucket(work, here, tree.chips[node])
        of_node, of_parent = won[here], won[parent - first]
        if tree.players[parent] == player:
            place = tree.offsets[parent] + tree.taken[node] * buckets
            played, of_action = strategy[place : place + buckets], found[place : place + buckets]
            for bucket in range(buckets):
                of_action[bucket] += of_node[bucket]
                of_parent[bucket] += played[bucket] * of_node[bucket]
        else:
            for bucket in range(buckets):
                of_parent[bucket] += of_node[bucket]
    ones, others = deal.ones, deal.others
    for bucket in range(buckets):
        plain, less = work.plain[bucket], work.less[bucket]
        of_within, of_reach = work.of_within[bucket], work.of_reach[bucket]
        for at in range(deal.parts[bucket], deal.parts[bucket + 1]):
            values[at] = plain - less[ones[at]] - less[others[at]] + of_within * work.within[at] + of_reach * reach[at]


@njit
def _fold_by_bucket(work: Work, here: int, chips: np.float32) -> None:
    """Add an end by a fold: to what buckets win there, and to what holdings win at the beginning of the round."""
    theirs, ours, won = work.theirs[here], work.ours[here], work.won[here]
    by_card, total = work.by_card, work.total
    buckets = len(theirs)
    total[:] = 0
    all_ = theirs[0] - theirs[0]
    for bucket in range(buckets):
        likely = chips * theirs[bucket]
        if likely != 0:
            all_ += likely * work.sums[bucket]
            of_bucket, against = by_card[bucket], work.against[bucket]
            for card in range(CARD_LANES):
                total[card] += likely * of_bucket[card]
            for own in range(len(won)):
                won[own] += likely * against[own]
    for bucket in range(buckets):
        weight = ours[bucket]
        if weight != 0:
            work.plain[bucket] += weight * all_
            work.of_reach[bucket] += weight * chips * theirs[bucket]
            less = work.less[bucket]
            for card in range(CARD_LANES):
                less[card] += weight * total[card]


@njit
def _show_down_by_bucket(work: Work, here: int, chips: np.float32) -> None:
    theirs, ours, won = work.theirs[here], work.ours[here], work.won[here]
    by_card, run = work.by_card, work.run
    buckets = len(theirs)
    run[:] = 0
    all_ = theirs[0] - theirs[0]
    for bucket in range(buckets):
        likely = chips * theirs[bucket]
        if likely != 0:
            all_ -= likely * work.sums[bucket]
            of_bucket, standing = by_card[bucket], work.standing[bucket]
            for card in range(CARD_LANES):
                run[card] -= likely * of_bucket[card]
            for own in range(len(won)):
                won[own] += likely * standing[own]
    for bucket in range(buckets):
        likely, weight = chips * theirs[bucket], ours[bucket]
        of_bucket, less = by_card[bucket], work.less[bucket]
        # A bucket goes from above to level, and from level to below.
        all_ += likely * work.sums[bucket]
        if weight != 0:
            work.plain[bucket] += weight * all_
            work.of_within[bucket] += weight * likely
            if likely != 0:
                for card in range(CARD_LANES):
                    level = run[card] + likely * of_bucket[card]
                    less[card] += weight * level
                    run[card] = level + likely * of_bucket[card]
            else:
                for card in range(CARD_LANES):
                    less[card] += weight * run[card]
        elif likely != 0:
            for card in range(CARD_LANES):
                run[card] += likely * (of_bucket[card] + of_bucket[card])
        all_ += likely * work.sums[bucket]
