"""Regret minimisation over sampled deals, compiled: external sampling. The kernels validate nothing.

External sampling (Lanctot, Waugh, Zinkevich & Bowling 2009, "Monte Carlo sampling for regret minimization in extensive
games"): the cards are drawn, one player takes all of its actions, and each other one action of its strategy. So a walk
visits some hundred nodes, however many buckets there are. Games of more than two players are walked alike, but nothing
is known of where that leads: regrets fall, and the average need not be an equilibrium.

An iteration is a block of deals, which each player walks in turn; what they find is added to the regrets at its end,
in the order of the deals. So the result depends on the seed, the settings and the number of iterations, not on how many
threads walk. Every `EPOCH` iterations regrets and averages are discounted (`bots.solving.equilibria`): with all powers
1 that is linear CFR (Brown & Sandholm 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.abstraction import CardTables
from bots.cfr.boards import HOLDING_CARDS, HOLDING_NUMBERS
from bots.cfr.features import canonical_key, rename_holding
from bots.cfr.tree import DECISION, BettingTree
from bots.errors import SolvingError
from bots.solving.equilibria import Discounts
from engine.cards import starting_hand
from engine.hand import side_pots, uncalled
from engine.kernels.cards import BITS, KEYS, START
from engine.kernels.draw import mixed as _mixed
from engine.kernels.evaluation import seven_rank
from engine.kernels.jit import njit
from engine.splitmix import STEP, mixed

Floats = NDArray[np.float32]
Draw: TypeAlias = Callable[[np.uint64, int, NDArray[np.uint16], NDArray[np.uint16]], None]
"""Draws deals by a seed and the number of the first one, as `draw_deals` does."""
DEALS: Final = 4096
"""In an iteration."""
_Places = NDArray[np.uint32]
_Numbers = NDArray[np.floating[Any]]
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
COLUMNS: Final = 4
"""Before the nodes that follow, or the chips put in."""
_MOST_CHIPS: Final = 1 << 32
"""In a pot."""


class SampledTree(NamedTuple):
    """A betting tree, and where the numbers of its information sets are.

    The numbers of an information set follow one another, action by action, and so do those of a bucket in a round: what
    a walk reads is near.

    Attributes:
        nodes: a row each: who acts, its round, how many actions, where its numbers begin among those of a bucket, and
            the nodes that follow. Of an end: as many as there are players, who plays for the pot, a bit each, its
            chips, the row of the next side pot or 0, and what each player has put in. Side pots come after the nodes,
            and nothing has been put in there.
        widths: shape (players, rounds), how many numbers a bucket of a player has in a round.
        bases: shape (players, rounds), where those of the round begin among all numbers.
        depth: how many decisions of one player follow one another at most.
        size: how many numbers there are.
    """

    nodes: NDArray[np.uint32]
    widths: NDArray[np.uint64]
    bases: NDArray[np.uint64]
    depth: int
    size: int


def sampled_tree(tree: BettingTree, buckets: tuple[int, ...]) -> SampledTree:
    """The arrays of a tree; a `SolvingError` where a pot has too many chips."""
    players = tree.game.num_players
    counts = tree.number_of_actions()
    widths = np.zeros((players, len(buckets)), np.int64)
    rows = np.zeros((len(counts), COLUMNS + max(tree.children.shape[1], players)), np.int64)
    rows[:, COLUMNS : COLUMNS + tree.children.shape[1]] = np.maximum(tree.children, 0)
    more: list[NDArray[np.int64]] = []
    for node, kind in enumerate(tree.kinds.tolist()):
        row = rows[node]
        if kind == DECISION:
            player = tree.players[node]
            round_ = tree.rounds[node]
            row[:COLUMNS] = player, round_, counts[node], widths[player, round_]
            widths[player, round_] += counts[node]
            continue
        spent = tree.spent[node].tolist()
        folded = int(tree.folded[node])
        position, returned = uncalled(spent)
        spent[position] -= returned
        for number, pot in enumerate(side_pots(spent, folded)):
            if number:
                row[3] = len(rows) + len(more)
                more.append(row := np.zeros_like(row))
            row[:3] = players, sum(1 << one for one in pot.players), pot.amount
            if pot.amount >= _MOST_CHIPS:
                raise SolvingError(f"the stacks are too large: a pot has {pot.amount:,} chips")
        rows[node, COLUMNS : COLUMNS + players] = spent
    sizes = (widths * np.array(buckets)).ravel()
    bases = (sizes.cumsum() - sizes).reshape(widths.shape)
    return SampledTree(
        np.vstack([rows, *more]).astype(np.uint32),
        widths.astype(np.uint64),
        bases.astype(np.uint64),
        int(tree.depths.max()) + 1,
        int(sizes.sum()),
    )


@njit
def draw_deals(
    cards: CardTables, seed: np.uint64, first: int, buckets: NDArray[np.uint16], ranks: NDArray[np.uint16]
) -> None:
    """Draw deals by their numbers.

    Args:
        buckets: shape (deals, players, 4), by player and round.
        ranks: shape (deals, players), of their hands at the end, higher is better.
    """
    players = ranks.shape[1]
    dealt = np.empty(5 + 2 * players, np.uint8)
    suits = np.empty(4, np.uint8)
    for deal in range(len(ranks)):
        state = _mixed(seed + _mixed(np.uint64(first + deal)))
        used = np.uint64(0)
        for place in range(len(dealt)):
            while True:
                state += _ADDED
                card = np.uint8(((_mixed(state) >> _32) * _CARDS) >> _32)
                if not used & BITS[card]:
                    break
            used |= BITS[card]
            dealt[place] = card
        key = START
        bits = np.uint64(0)
        for place in range(5):
            key += KEYS[dealt[place]]
            bits |= BITS[dealt[place]]
        for player in range(players):
            one = dealt[5 + 2 * player]
            other = dealt[6 + 2 * player]
            ranks[deal, player] = seven_rank(key + KEYS[one] + KEYS[other], bits | BITS[one] | BITS[other])
            buckets[deal, player, 0] = _STARTING_HANDS[_NUMBERS[one, other]]
        flop = np.searchsorted(cards.flop_keys, canonical_key(dealt[:3], suits))
        for player in range(players):
            holding = np.int64(_NUMBERS[dealt[5 + 2 * player], dealt[6 + 2 * player]])
            buckets[deal, player, 1] = cards.flops[flop, rename_holding(holding, suits)]
        turn = np.searchsorted(cards.turn_keys, canonical_key(dealt[:4], suits))
        for player in range(players):
            holding = np.int64(_NUMBERS[dealt[5 + 2 * player], dealt[6 + 2 * player]])
            buckets[deal, player, 2] = cards.turns[turn, rename_holding(holding, suits)]
        river = np.searchsorted(cards.river_keys, canonical_key(dealt[:5], suits))
        for player in range(players):
            holding = np.int64(_NUMBERS[dealt[5 + 2 * player], dealt[6 + 2 * player]])
            buckets[deal, player, 3] = cards.rivers[river, rename_holding(holding, suits)]


@njit
def _share_out(ranks: NDArray[np.uint16], player: int, shares: Floats) -> None:
    """Write what part of a pot a player wins, by who plays for it, a bit each."""
    for who in range(len(shares)):
        shares[who] = np.float32(0)
        if not who >> player & 1:
            continue
        winners = 0
        for one in range(len(ranks)):
            if who >> one & 1:
                if ranks[one] > ranks[player]:
                    winners = 0
                    break
                winners += 1 if ranks[one] == ranks[player] else 0
        if winners:
            shares[who] = np.float32(1) / np.float32(winners)


@njit
def explore(
    tree: SampledTree,
    buckets: NDArray[np.uint16],
    ranks: NDArray[np.uint16],
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
        ranks: likewise.
        seed: of the others' actions.
        own: the regrets of the player, at its places among those of all players.
        others: those of the others, likewise; the same array in a training.
        places: written: where a regret is to be added.
        regrets: written: which.
        taken: written: where the actions are that the others took.

    Returns:
        how many places and actions have been written; -1 and -1 where there was no room for them.
    """
    nodes = tree.nodes
    most = tree.nodes.shape[1] - COLUMNS
    players = buckets.shape[1]
    at_nodes = np.empty(tree.depth, np.uint32)
    at_places = np.empty(tree.depth, np.uint64)
    at_actions = np.empty(tree.depth, np.uint32)
    sums = np.empty(tree.depth, np.float32)
    chances = np.empty((tree.depth, most), np.float32)
    values = np.empty((tree.depth, most), np.float32)
    starts = np.empty((players, buckets.shape[2]), np.uint64)
    shares = np.empty(1 << players, np.float32)
    nothing = np.float32(0)
    whole = np.float32(1)
    unit = np.float32(2.0**-24)
    me = np.uint32(player)
    end = np.uint32(players)
    columns = np.uint64(COLUMNS)
    zero = np.uint64(0)
    paid = columns + np.uint64(player)
    written = zero
    drawn = zero
    most_written = np.uint64(max(len(places) - len(nodes), 0))
    most_drawn = np.uint64(max(len(taken) - len(nodes), 0))
    state = _mixed(seed)
    for deal in range(len(ranks)):
        if written >= most_written or drawn >= most_drawn:
            return -1, -1
        _share_out(ranks[deal], player, shares)
        for each in range(players):
            for round_ in range(buckets.shape[2]):
                bucket = np.uint64(buckets[deal, each, round_])
                starts[each, round_] = tree.bases[each, round_] + bucket * tree.widths[each, round_]
        node = zero
        depth = zero
        while True:
            row = nodes[node]
            kind = row[0]
            if kind < end:
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
                    at_nodes[depth] = node
                    at_places[depth] = place
                    at_actions[depth] = 0
                    sums[depth] = nothing
                    depth += _1
                    node = np.uint64(row[columns])
                    continue
                for action in range(actions):
                    total += max(others[place + action], nothing)
                state += _ADDED
                left = np.float32(_mixed(state) >> _40) * unit
                chosen = zero
                last = actions - _1
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
            value = np.float32(row[2]) * shares[row[1]] - np.float32(row[paid])
            while row[3]:
                row = nodes[row[3]]
                value += np.float32(row[2]) * shares[row[1]]
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
def add_regrets(places: _Places, regrets: Floats, count: int, first: int, end: int, sums: Floats) -> None:
    """Add what belongs to the numbers from `first` to below `end`."""
    for at in range(count):
        if first <= places[at] < end:
            sums[places[at]] += regrets[at]


@njit
def _count(taken: _Places, count: int, first: int, end: int, sums: Floats) -> None:
    for at in range(count):
        if first <= taken[at] < end:
            sums[taken[at]] += np.float32(1)


@njit
def _discount(regrets: Floats, averages: Floats, above: float, below: float, average: float) -> None:
    for at in range(len(regrets)):
        regrets[at] *= np.float32(above if regrets[at] > 0 else below)
        averages[at] *= np.float32(average)


class _Found:
    """What a part of an iteration finds: room that grows."""

    def __init__(self, room: int) -> None:
        self.counts = (0, 0)
        self._make(room)

    def _make(self, room: int) -> None:
        self.places = np.empty(room, np.uint32)
        self.taken = np.empty(room, np.uint32)
        self.regrets: Floats = np.empty(room, np.float32)

    def explore(self, walk: Callable[[_Places, Floats, _Places], tuple[int, int]]) -> None:
        self.counts = walk(self.places, self.regrets, self.taken)
        while self.counts[0] < 0:
            self._make(2 * len(self.places))
            self.counts = walk(self.places, self.regrets, self.taken)


class Dealt(NamedTuple):
    """Deals by their numbers, from a first one on, as `draw_deals` writes them."""

    first: int
    buckets: NDArray[np.uint16]
    ranks: NDArray[np.uint16]


def _over(pool: Executor | None) -> Callable[..., Iterator[Any]]:
    return map if pool is None else pool.map


class Walks:
    """The walks of an iteration: its deals in parts, which threads share, and what each part finds."""

    def __init__(self, tree: BettingTree, deals: int, seed: int) -> None:
        self._game = tree.game
        self._deals = deals
        self._seed = mixed(seed)
        edges = [deals * part // _PARTS for part in range(_PARTS + 1)]
        self._parts = [slice(start, end) for start, end in pairwise(edges)]
        self.found = [_Found(len(tree.kinds) + _ROOM) for _ in self._parts]

    def drawn(self, first: int, draw: Draw, pool: Executor | None) -> Dealt:
        """The deals of an iteration, from the number of its first one."""
        shape = self._deals, self._game.num_players
        dealt = Dealt(first, np.empty((*shape, self._game.num_rounds), np.uint16), np.empty(shape, np.uint16))

        def draw_part(part: slice) -> None:
            draw(np.uint64(self._seed), first + part.start, dealt.buckets[part], dealt.ranks[part])

        list(_over(pool)(draw_part, self._parts))
        return dealt

    def explore(
        self, dealt: Dealt, player: int, tree: SampledTree, own: Floats, others: Floats, pool: Executor | None
    ) -> None:
        """`explore` for one player with all deals, into `found`."""

        def explore_part(part: slice, found: _Found) -> None:
            seed = np.uint64(mixed(self._seed ^ mixed(self._game.num_players * (dealt.first + part.start) + player)))
            of_part = tree, dealt.buckets[part], dealt.ranks[part], seed, player, own, others
            found.explore(partial(explore, *of_part))

        list(_over(pool)(explore_part, self._parts, self.found))


class SampledSolver:
    """The regrets and averages of all players of hold'em, and their iterations; `bots.cfr.small_games` is its peer.

    It is copy `copy` of `copies` solvers, each of which draws deals of its own.

    Attributes:
        iteration: how many have been done.
        regrets: of player 0, then those of player 1 and so on, by `SampledTree`.
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
        self.iteration = 0
        self.per_iteration = per_iteration
        self._tree = tree
        self._arrays = sampled_tree(tree, buckets)
        self._draw = draw
        self._discounts = discounts
        self._copies = copies
        self._copy = copy
        self._walks = Walks(tree, per_iteration, seed)
        self.regrets: Floats = np.zeros(self._arrays.size, np.float32)
        self.averages: Floats = np.zeros(self._arrays.size, np.float32)

    def resume(self, iteration: int, regrets: Floats, averages: Floats) -> None:
        self.iteration = iteration
        self.regrets[:] = regrets
        self.averages[:] = averages

    def iterate(self, pool: Executor | None = None) -> None:
        first = (self.iteration * self._copies + self._copy) * self.per_iteration
        dealt = self._walks.drawn(first, self._draw, pool)
        for player in range(self._tree.game.num_players):
            self._walks.explore(dealt, player, self._arrays, self.regrets, self.regrets, pool)

            def add(numbers: slice) -> None:
                for found in self._walks.found:
                    add_regrets(found.places, found.regrets, found.counts[0], numbers.start, numbers.stop, self.regrets)
                    _count(found.taken, found.counts[1], numbers.start, numbers.stop, self.averages)

            list(_over(pool)(add, self._shares(pool)))
        self.iteration += 1
        epoch, left = divmod(self.iteration, EPOCH)
        if not left:
            factors = self._discounts.factors(epoch + 1)

            def discount(numbers: slice) -> None:
                _discount(self.regrets[numbers], self.averages[numbers], *factors)

            list(_over(pool)(discount, self._shares(pool)))

    def _shares(self, pool: Executor | None) -> list[slice]:
        """The numbers, divided among threads: each adds, in the order of the deals, what is found for its own."""
        count = 1 if pool is None else _PARTS
        edges = [self._arrays.size * share // count for share in range(count + 1)]
        return [slice(start, end) for start, end in pairwise(edges)]


def by_node(
    tree: BettingTree, arrays: SampledTree, buckets: Sequence[int], numbers: _Numbers
) -> Iterator[tuple[int, _Numbers]]:
    """The decisions with their numbers, shape (buckets, actions), as views."""
    for node in tree.decisions.tolist():
        player = int(tree.players[node])
        round_ = int(tree.rounds[node])
        start = int(arrays.bases[player, round_])
        width = int(arrays.widths[player, round_])
        of_round = numbers[start : start + width * buckets[round_]].reshape(-1, width)
        first = int(arrays.nodes[node, 3])
        count = int(arrays.nodes[node, 2])
        yield node, of_round[:, first : first + count]


def as_strategy(tree: BettingTree, buckets: tuple[int, ...], averages: _Numbers) -> NDArray[np.float64]:
    """Weights by `SampledTree` as probabilities in the order of a strategy file: node, action, bucket."""
    found = []
    for _, of_node in by_node(tree, sampled_tree(tree, buckets), buckets, averages):
        weights = of_node.T.astype(np.float64)
        totals = weights.sum(axis=0)
        found.append(np.where(totals > 0, weights / np.where(totals > 0, totals, 1), 1 / len(weights)).ravel())
    return np.concatenate(found)
