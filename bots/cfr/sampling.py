"""Regret minimisation by external sampling, with compiled kernels that validate nothing.

External sampling (Lanctot, Waugh, Zinkevich & Bowling 2009, "Monte Carlo sampling for regret minimization in extensive
games") draws the cards and the actions of all players but one, and walks all actions of that player. A walk visits some
hundred nodes, whatever the number of buckets. With more than two players the average need not approach an equilibrium.

An iteration walks a block of deals for each player in turn. The result depends on the seed, the settings and the number
of iterations, but not on the number of threads. Every `EPOCH` iterations regrets and averages are discounted
(`bots.solving.equilibria`). With all powers 1 that is linear CFR (Brown & Sandholm 2019).
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
from bots.cfr.merged_tree import FlopEntry, MergedTree, first_rows
from bots.cfr.tree import DECISION, FOLDED, SHOWDOWN, BettingTree
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
"""Draws deals from a seed and the number of the first one, with the signature of `draw_deals` after `cards`."""
DEALS: Final = 4096
"""Default number of deals in an iteration."""
_Places = NDArray[np.uint32]
_Numbers = NDArray[np.floating[Any]]
EPOCH: Final = 64
"""Iterations between two discounts. A discount passes over all numbers, so one per iteration would be slow."""
_PARTS: Final = 16
"""Number of parts into which the deals of an iteration are divided among threads."""
_INITIAL_SIZE: Final = 1 << 16
"""Entries of an output beyond the nodes of the tree, before it grows."""
COLUMNS: Final = 4
"""Columns of `SampledTree.nodes` before the children of a decision, or the chips of the players at an end."""
# Typed constants: in numba an unsigned and a Python integer make a float64.
_ADDED = np.uint64(STEP)
_1, _32, _40 = (np.uint64(bits) for bits in (1, 32, 40))
_CARDS = np.uint64(52)
_ZERO = np.uint64(0)
_COLUMNS = np.uint64(COLUMNS)
_NOTHING = np.float32(0)
_WHOLE = np.float32(1)
_UNIT = np.float32(2.0**-24)
_NUMBERS = HOLDING_NUMBERS.astype(np.uint16)
_STARTING_HANDS = np.array([starting_hand(cards) for cards in HOLDING_CARDS.tolist()], np.uint16)
_MAX_CHIPS: Final = 1 << 32
"""Chips of a pot must be below this number, because they are stored as uint32."""


class SampledTree(NamedTuple):
    """Betting tree and layout of the numbers, one for each action of each information set.

    The numbers of an information set are adjacent, and so are those of a bucket in a round, because a walk reads the
    same bucket again and again.

    A role is the place of a player in the order of acting after the flop of a `MergedTree`. Actors are the positions
    and, in subtrees, the number of players plus the role. `widths` and `bases` have a row for each position, then rows
    for each role of each subtree.

    Attributes:
        nodes: a row per node, shape (nodes and side pots, 4 + max(actions, players)). Columns of a decision are the
            actor, the round, the number of actions, the offset of its numbers among those of a bucket, and the
            children. Columns of an end are the number of actors, a mask of those who play for the pot, the chips of
            the pot, the row of the next side pot or 0, and the chips that each player has put in. Rows of side pots
            follow those of the nodes. The chips put in are only in the row of the node.
            Columns of an entry into a subtree are the number of actors + 1, the first row of the subtree, its first row
            of `widths` and `bases`, the index of the entry, and the chips that each player has put in. Columns of an
            end of a subtree are the number of actors + 2, a mask of the roles that play for the pot, 0, 0, and the
            chips that each role has put in after the flop, in the chips of the subtree.
        widths: numbers per bucket of an actor in a round, shape (actors of all parts, rounds).
        bases: index of the first number of an actor in a round, likewise.
        positions: position of each role after an entry, the number of players if it has none, shape (entries, roles).
        stakes: of each entry the chips of the pot, those that each player in it has put in, the ratio of the pot to
            that of the subtree, and the stack of each player in it, shape (entries, 4).
        depth: upper bound of the number of decisions of one player on a path.
        size: total of the numbers.
    """

    nodes: NDArray[np.uint32]
    widths: NDArray[np.uint64]
    bases: NDArray[np.uint64]
    positions: NDArray[np.uint32]
    stakes: Floats
    depth: int
    size: int


def sampled_tree(tree: BettingTree | MergedTree, buckets: tuple[int, ...]) -> SampledTree:
    """Lay out the numbers of a tree with `buckets` buckets by round.

    Raises:
        SolvingError: a pot has too many chips.
    """
    players = tree.game.num_players
    merged = tree if isinstance(tree, MergedTree) else None
    roles = 0
    if merged is not None:
        roles = max(len(entry.positions) for entry in merged.entries)
    max_actions = max(part.children.shape[1] for part in tree.parts)
    nodes = sum(len(part.kinds) for part in tree.parts)
    rows = np.zeros((nodes, COLUMNS + max(max_actions, players)), np.int64)
    subtree_rows = first_rows(tree)[1:]
    main = tree.parts[0]
    main_rows = rows[: len(main.kinds)]
    widths = [_lay_out_decisions(main, range(players), main_rows)]
    side_rows = _lay_out_ends(main, players, players + roles, main_rows)
    positions = np.zeros((0, 0), np.uint32)
    stakes = np.zeros((0, 4), np.float32)
    depth = int(main.depths.max())
    if merged is not None:
        for subtree, model, first in zip(merged.subtrees, merged.models, subtree_rows, strict=True):
            part_rows = rows[first : first + len(subtree.kinds)]
            decision_widths = _lay_out_decisions(
                subtree, model.positions, part_rows, first=first, first_actor=players, actors=roles
            )
            widths.append(decision_widths)
            _lay_out_subtree_ends(subtree, model, players + roles + 2, part_rows)
        depth += max(int(subtree.depths.max()) for subtree in merged.subtrees)
        positions, stakes = _lay_out_entries(merged, roles, subtree_rows, main_rows)
    all_widths = np.vstack(widths)
    sizes = (all_widths * np.array(buckets)).ravel()
    bases = (sizes.cumsum() - sizes).reshape(all_widths.shape)
    return SampledTree(
        nodes=np.vstack([rows, *side_rows]).astype(np.uint32),
        widths=all_widths.astype(np.uint64),
        bases=bases.astype(np.uint64),
        positions=positions,
        stakes=stakes,
        depth=depth + 1,
        size=int(sizes.sum()),
    )


def _lay_out_decisions(
    tree: BettingTree,
    positions: Sequence[int],
    rows: NDArray[np.int64],
    *,
    first: int = 0,
    first_actor: int = 0,
    actors: int | None = None,
) -> NDArray[np.int64]:
    """Fill the rows of decisions; return the widths of the actors, shape (actors, rounds).

    Args:
        positions: positions of the actors.
        rows: output.
        first: index of the first row.
        first_actor: number of the actor at the first position.
        actors: number of actors, if there are more than positions.
    """
    counts = tree.number_of_actions()
    widths = np.zeros((actors or len(positions), tree.game.num_rounds), np.int64)
    for node in tree.decisions.tolist():
        row = rows[node]
        actor = positions.index(int(tree.players[node]))
        round_ = int(tree.rounds[node])
        row[:COLUMNS] = first_actor + actor, round_, counts[node], widths[actor, round_]
        row[COLUMNS : COLUMNS + counts[node]] = first + tree.children[node, : counts[node]]
        widths[actor, round_] += counts[node]
    return widths


def _lay_out_ends(tree: BettingTree, players: int, actors: int, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Fill the rows of ends; return those of side pots."""
    # Side pots follow the last row of a tree, which is the only part of it wherever there are side pots.
    side_rows: list[NDArray[np.int64]] = []
    for node in np.flatnonzero((tree.kinds == FOLDED) | (tree.kinds == SHOWDOWN)).tolist():
        row = rows[node]
        spent = tree.spent[node].tolist()
        # The part of a bet that nobody called returns to its player. It is in no pot, and the player does not pay it.
        position, returned = uncalled(spent)
        spent[position] -= returned
        for number, pot in enumerate(side_pots(spent, int(tree.folded[node]))):
            if number:
                row[3] = len(rows) + len(side_rows)
                row = np.zeros_like(row)
                side_rows.append(row)
            mask = sum(1 << contender for contender in pot.players)
            row[:3] = actors, mask, pot.amount
            if pot.amount >= _MAX_CHIPS:
                raise SolvingError(f"the stacks are too large: a pot has {pot.amount:,} chips")
        rows[node, COLUMNS : COLUMNS + players] = spent
    return side_rows


def _lay_out_subtree_ends(tree: BettingTree, model: FlopEntry, kind: int, rows: NDArray[np.int64]) -> None:
    """Fill the rows of the ends of a subtree after the flop."""
    roles = len(model.positions)
    for node in np.flatnonzero(tree.kinds != DECISION).tolist():
        spent = [int(tree.spent[node, position]) - model.matched for position in model.positions]
        # As before the flop. There are no side pots, as the stacks of a merged tree are equal.
        role, returned = uncalled(spent)
        spent[role] -= returned
        folded = int(tree.folded[node])
        mask = sum(1 << role for role, position in enumerate(model.positions) if not folded >> position & 1)
        rows[node, :2] = kind, mask
        rows[node, COLUMNS : COLUMNS + roles] = spent


def _lay_out_entries(
    tree: MergedTree, roles: int, subtree_rows: Sequence[int], rows: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], Floats]:
    """Fill the rows of entries; return `positions` and `stakes` of a `SampledTree`."""
    players = tree.game.num_players
    positions = np.full((len(tree.entries), roles), players, np.uint32)
    stakes = np.zeros((len(tree.entries), 4), np.float32)
    for number, entry in enumerate(tree.entries):
        model = tree.models[entry.subtree]
        first_width = players + roles * entry.subtree
        rows[entry.node, :COLUMNS] = players + roles + 1, subtree_rows[entry.subtree], first_width, number
        rows[entry.node, COLUMNS : COLUMNS + players] = tree.preflop.spent[entry.node]
        positions[number, : len(entry.positions)] = entry.positions
        stakes[number] = entry.pot, entry.matched, entry.pot / model.pot, entry.stack
    return positions, stakes


@njit
def draw_deals(
    cards: CardTables, seed: np.uint64, first: int, buckets: NDArray[np.uint16], ranks: NDArray[np.uint16]
) -> None:
    """Draw deals with consecutive numbers, each from the seed and its number alone.

    Args:
        first: number of the first deal.
        buckets: output, bucket of each player in each round, shape (deals, players, 4).
        ranks: output, rank of each player's final hand, higher is better, shape (deals, players).
    """
    players = ranks.shape[1]
    dealt = np.empty(5 + 2 * players, np.uint8)
    suits = np.empty(4, np.uint8)
    for deal in range(len(ranks)):
        # Cards by splitmix64, a card that is dealt already is drawn again.
        state = _mixed(seed + _mixed(np.uint64(first + deal)))
        used = np.uint64(0)
        for place in range(len(dealt)):
            while True:
                state += _ADDED
                # Scaled by a multiplication. The probabilities of cards differ by a factor below 1 + 2^-26.
                card = np.uint8(((_mixed(state) >> _32) * _CARDS) >> _32)
                if not used & BITS[card]:
                    break
            used |= BITS[card]
            dealt[place] = card
        # The board comes first. Its part of the evaluator's key is the same for all players.
        key = START
        bits = np.uint64(0)
        for place in range(5):
            key += KEYS[dealt[place]]
            bits |= BITS[dealt[place]]
        for player in range(players):
            first_card = dealt[5 + 2 * player]
            second_card = dealt[6 + 2 * player]
            own_key = key + KEYS[first_card] + KEYS[second_card]
            ranks[deal, player] = seven_rank(own_key, bits | BITS[first_card] | BITS[second_card])
            buckets[deal, player, 0] = _STARTING_HANDS[_NUMBERS[first_card, second_card]]
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
def _write_shares(ranks: NDArray[np.uint16], player: int, shares: Floats) -> None:
    """Write the share of a pot that a player wins at a showdown.

    Args:
        ranks: of all players, shape (players,).
        shares: output, by the mask of those who play for the pot, shape (2 ** players,).
    """
    for mask in range(len(shares)):
        shares[mask] = np.float32(0)
        if not mask >> player & 1:
            continue
        # Count the contenders that tie with the player, itself included. A better one leaves nothing.
        winners = 0
        for contender in range(len(ranks)):
            if mask >> contender & 1:
                if ranks[contender] > ranks[player]:
                    winners = 0
                    break
                if ranks[contender] == ranks[player]:
                    winners += 1
        if winners:
            shares[mask] = np.float32(1) / np.float32(winners)


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
    """Walk the tree once for each deal: all actions of one player, one drawn action of each opponent.

    Args:
        buckets: as `draw_deals` writes them, shape (deals, players, 4).
        ranks: likewise, shape (deals, players).
        seed: decides the opponents' actions.
        own: regrets in the layout of `SampledTree`, of which those of the player are read.
        others: likewise, of which those of the opponents are read. In training it is the same array.
        places: output, indices of the numbers to which regrets are to be added.
        regrets: output, the regrets.
        taken: output, indices of the actions that opponents took.

    Returns:
        The number of entries written to `places` and to `taken`, or -1 and -1 if they are too short.
    """
    # One long function: helpers that take arrays make the walk 12 % slower (see `engine.kernels.jit`).
    nodes = tree.nodes
    max_actions = tree.nodes.shape[1] - COLUMNS
    players = buckets.shape[1]
    roles = tree.positions.shape[1]
    # A stack of the player's decisions on the way: node, first number, action in progress, value so far, probabilities
    # and values of the actions. An explicit stack, because numba compiles recursion to slower code.
    stack_nodes = np.empty(tree.depth, np.uint32)
    stack_places = np.empty(tree.depth, np.uint64)
    stack_actions = np.empty(tree.depth, np.uint32)
    sums = np.empty(tree.depth, np.float32)
    chances = np.empty((tree.depth, max_actions), np.float32)
    values = np.empty((tree.depth, max_actions), np.float32)
    starts = np.empty((players + roles, buckets.shape[2]), np.uint64)
    shares = np.empty(1 << players, np.float32)
    me = np.uint32(player)
    me_wide = np.uint64(player)
    nobody = np.uint64(players)
    end = np.uint32(players + roles)
    entrance = end + np.uint32(1)
    paid = _COLUMNS + np.uint64(player)
    # The player's actor after the last entry into a subtree, the index of that entry, and the ranks by role.
    me_after = end
    entry = _ZERO
    role_ranks = np.zeros(roles, np.uint16)
    role_shares = np.empty(1 << roles, np.float32)
    written = _ZERO
    drawn = _ZERO
    # A walk visits a node at most once between two entries into subtrees, so it writes at most that many results.
    # Checking once per deal and per entry is enough.
    max_written = np.uint64(max(len(places) - len(nodes), 0))
    max_drawn = np.uint64(max(len(taken) - len(nodes), 0))
    state = _mixed(seed)
    for deal in range(len(ranks)):
        if written >= max_written or drawn >= max_drawn:
            return -1, -1
        _write_shares(ranks[deal], player, shares)
        # The first number of each player's bucket in each round.
        for seat in range(players):
            for round_ in range(buckets.shape[2]):
                bucket = np.uint64(buckets[deal, seat, round_])
                starts[seat, round_] = tree.bases[seat, round_] + bucket * tree.widths[seat, round_]
        node = _ZERO
        depth = _ZERO
        while True:
            row = nodes[node]
            actor = row[0]
            if actor < end:
                actions = np.uint64(row[2])
                place = starts[np.uint64(actor), np.uint64(row[1])] + np.uint64(row[3])
                total = _NOTHING
                if actor in (me, me_after):
                    # Regret matching: probabilities in proportion to the regrets above 0, equal if there are none.
                    played = chances[depth]
                    for action in range(actions):
                        played[action] = max(own[place + action], _NOTHING)
                        total += played[action]
                    for action in range(actions):
                        played[action] = played[action] / total if total > _NOTHING else _WHOLE / np.float32(actions)
                    stack_nodes[depth] = node
                    stack_places[depth] = place
                    stack_actions[depth] = 0
                    sums[depth] = _NOTHING
                    depth += _1
                    node = np.uint64(row[_COLUMNS])
                    continue
                # Draw an action of the opponent by the same rule: subtract regrets from a random part of their sum.
                for action in range(actions):
                    total += max(others[place + action], _NOTHING)
                state += _ADDED
                # The upper 24 bits of the random number make a float32 in [0, 1) without rounding.
                left = np.float32(_mixed(state) >> _40) * _UNIT
                # The last action takes what rounding leaves.
                chosen = _ZERO
                last = actions - _1
                if total > _NOTHING:
                    left *= total
                    while chosen < last:
                        left -= max(others[place + chosen], _NOTHING)
                        if left < _NOTHING:
                            break
                        chosen += _1
                else:
                    chosen = min(np.uint64(left * np.float32(actions)), last)
                taken[drawn] = place + chosen
                drawn += _1
                node = np.uint64(row[_COLUMNS + chosen])
                continue
            if actor == entrance:
                if written >= max_written or drawn >= max_drawn:
                    return -1, -1
                entry = np.uint64(row[3])
                me_after = end
                for role in range(roles):
                    position = np.uint64(tree.positions[entry, role])
                    if position == nobody:
                        break
                    if position == me_wide:
                        me_after = np.uint32(players + role)
                    role_ranks[role] = ranks[deal, position]
                    layout_row = np.uint64(row[2]) + np.uint64(role)
                    for round_ in range(1, buckets.shape[2]):
                        bucket = np.uint64(buckets[deal, position, round_])
                        width = tree.widths[layout_row, round_]
                        starts[players + role, round_] = tree.bases[layout_row, round_] + bucket * width
                if me_after < end:
                    _write_shares(role_ranks, me_after - players, role_shares)
                    node = np.uint64(row[1])
                    continue
                # The player has folded. Nothing after the flop matters to it.
                value = -np.float32(row[paid])
            elif actor == end:
                # The player's shares of all pots, less the chips that it has put in.
                value = np.float32(row[2]) * shares[row[1]] - np.float32(row[paid])
                while row[3]:
                    row = nodes[row[3]]
                    value += np.float32(row[2]) * shares[row[1]]
            else:
                # The same in the chips of the entry: bets are scaled with the pot, up to the stack of the entry.
                pot = tree.stakes[entry, 0]
                own_chips = tree.stakes[entry, 1]
                for role in range(roles):
                    subtree_chips = np.float32(row[_COLUMNS + np.uint64(role)])
                    chips = min(subtree_chips * tree.stakes[entry, 2], tree.stakes[entry, 3])
                    pot += chips
                    if np.uint32(players + role) == me_after:
                        own_chips += chips
                value = pot * role_shares[row[1]] - own_chips
            # Return to the last decision of the player with an action left, and complete those after it.
            while depth > _ZERO:
                top = depth - _1
                done = np.uint64(stack_actions[top])
                values[top, done] = value
                sums[top] += chances[top, done] * value
                done += _1
                row = nodes[np.uint64(stack_nodes[top])]
                actions = np.uint64(row[2])
                if done < actions:
                    stack_actions[top] = done
                    node = np.uint64(row[_COLUMNS + done])
                    break
                # The value of a decision is the sum of its actions' values by probability. Regrets are the differences.
                value = sums[top]
                for action in range(actions):
                    places[written] = stack_places[top] + action
                    regrets[written] = values[top, action] - value
                    written += _1
                depth = top
            if depth == _ZERO:
                break
    # Signed, because numba unifies uint64 and the -1 above to float64.
    return np.int64(written), np.int64(drawn)  # type: ignore[return-value]


@njit
def add_regrets(places: _Places, regrets: Floats, count: int, first: int, end: int, sums: Floats) -> None:
    """Add the first `count` regrets to the sums at their places, if these are from `first` to below `end`."""
    for index in range(count):
        if first <= places[index] < end:
            sums[places[index]] += regrets[index]


@njit
def _count(taken: _Places, count: int, first: int, end: int, sums: Floats) -> None:
    """Add 1 to the sum of each of the first `count` actions whose place is from `first` to below `end`."""
    for index in range(count):
        if first <= taken[index] < end:
            sums[taken[index]] += np.float32(1)


@njit
def _discount(regrets: Floats, averages: Floats, above: float, below: float, average: float) -> None:
    """Multiply regrets by `above` or `below`, according to their sign, and averages by `average`."""
    for index in range(len(regrets)):
        regrets[index] *= np.float32(above if regrets[index] > 0 else below)
        averages[index] *= np.float32(average)


class _WalkOutput:
    """Output arrays of `explore` for a part of an iteration, enlarged as needed.

    Attributes:
        counts: entries of `places` (and `regrets`) and of `taken` that are in use.
    """

    def __init__(self, size: int) -> None:
        self.counts = (0, 0)
        self._allocate(size)

    def _allocate(self, size: int) -> None:
        self.places = np.empty(size, np.uint32)
        self.taken = np.empty(size, np.uint32)
        self.regrets: Floats = np.empty(size, np.float32)

    def explore(self, walk: Callable[[_Places, Floats, _Places], tuple[int, int]]) -> None:
        """Call `walk` with the arrays, again with larger ones while they are too small."""
        self.counts = walk(self.places, self.regrets, self.taken)
        # A walk depends on its seed and writes only the outputs, so it can be repeated from its beginning.
        while self.counts[0] < 0:
            self._allocate(2 * len(self.places))
            self.counts = walk(self.places, self.regrets, self.taken)


class Dealt(NamedTuple):
    """Consecutive deals, as `draw_deals` writes them; `first` is the number of the first one."""

    first: int
    buckets: NDArray[np.uint16]
    ranks: NDArray[np.uint16]


def _map_over(pool: Executor | None) -> Callable[..., Iterator[Any]]:
    return map if pool is None else pool.map


class Walks:
    """Walks of an iteration, in parts that threads share.

    Attributes:
        outputs: results of the last `explore`, by part.
    """

    def __init__(self, tree: BettingTree | MergedTree, deals: int, seed: int) -> None:
        self._game = tree.game
        self._deals = deals
        self._seed = mixed(seed)
        edges = [deals * part // _PARTS for part in range(_PARTS + 1)]
        self._parts = [slice(start, end) for start, end in pairwise(edges)]
        nodes = sum(len(part.kinds) for part in tree.parts)
        self.outputs = [_WalkOutput(nodes + _INITIAL_SIZE) for _ in self._parts]

    def draw(self, first: int, draw: Draw, pool: Executor | None) -> Dealt:
        """Draw the deals of an iteration, the first of which has the number `first`."""
        shape = self._deals, self._game.num_players
        buckets = np.empty((*shape, self._game.num_rounds), np.uint16)
        dealt = Dealt(first, buckets, np.empty(shape, np.uint16))

        def draw_part(part: slice) -> None:
            draw(np.uint64(self._seed), first + part.start, dealt.buckets[part], dealt.ranks[part])

        # `map` calls nothing until it is read, and reading raises the errors of the threads.
        list(_map_over(pool)(draw_part, self._parts))
        return dealt

    def explore(
        self, dealt: Dealt, player: int, tree: SampledTree, own: Floats, others: Floats, pool: Executor | None
    ) -> None:
        """Walk all deals for one player, with the arguments of `explore`, and store the results in `outputs`."""

        def explore_part(part: slice, output: _WalkOutput) -> None:
            # A seed for each part and player: opponents' actions do not depend on how threads share the parts.
            number = self._game.num_players * (dealt.first + part.start) + player
            seed = np.uint64(mixed(self._seed ^ mixed(number)))
            inputs = tree, dealt.buckets[part], dealt.ranks[part], seed, player, own, others
            output.explore(partial(explore, *inputs))

        list(_map_over(pool)(explore_part, self._parts, self.outputs))


class SampledSolver:
    """Regret minimisation of hold'em by external sampling, the counterpart of `bots.cfr.small_games.Solver`.

    It is copy `copy` of `copies` solvers, each of which draws deals of its own.

    Attributes:
        iteration: number of iterations done.
        regrets: regrets in the layout of `SampledTree`, shape (size,).
        averages: how often each action was drawn, discounted, likewise.
    """

    def __init__(
        self,
        tree: BettingTree | MergedTree,
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
        """Walk a block of deals for each player, with the threads of `pool` if there is one."""
        # Copies take the blocks in turn, so no two of them draw the same deal.
        first = (self.iteration * self._copies + self._copy) * self.per_iteration
        dealt = self._walks.draw(first, self._draw, pool)
        for player in range(self._tree.game.num_players):
            # All walks of a player read the regrets from before its block. The next player reads the updated ones.
            self._walks.explore(dealt, player, self._arrays, self.regrets, self.regrets, pool)

            def add(numbers: slice) -> None:
                start = numbers.start
                stop = numbers.stop
                for output in self._walks.outputs:
                    regret_count, action_count = output.counts
                    add_regrets(output.places, output.regrets, regret_count, start, stop, self.regrets)
                    # A walk gets to a decision of an opponent with the probability of its own earlier actions, so
                    # counts of drawn actions estimate its average strategy.
                    _count(output.taken, action_count, start, stop, self.averages)

            list(_map_over(pool)(add, self._shares(pool)))
        self.iteration += 1
        epoch, remainder = divmod(self.iteration, EPOCH)
        if not remainder:
            # Factors before the next epoch, counted from 1.
            factors = self._discounts.factors(epoch + 1)

            def discount(numbers: slice) -> None:
                _discount(self.regrets[numbers], self.averages[numbers], *factors)

            list(_map_over(pool)(discount, self._shares(pool)))

    def _shares(self, pool: Executor | None) -> list[slice]:
        """Divide the numbers among threads."""
        # Each thread reads all outputs and adds to its own numbers in the order of the deals: float sums must not
        # depend on the number of threads.
        count = 1 if pool is None else _PARTS
        edges = [self._arrays.size * share // count for share in range(count + 1)]
        return [slice(start, end) for start, end in pairwise(edges)]


def by_node(
    tree: BettingTree | MergedTree, arrays: SampledTree, buckets: Sequence[int], numbers: _Numbers
) -> Iterator[tuple[int, _Numbers]]:
    """Yield the row of each decision, in a `BettingTree` its node, with a view of its numbers.

    Rows ascend. Views have the shape (buckets, actions).
    """
    roles = arrays.positions.shape[1]
    for part_number, (part, first_row) in enumerate(zip(tree.parts, first_rows(tree), strict=True)):
        # Actors of the second and later subtrees are numbered as those of the first one.
        skipped_actors = roles * max(part_number - 1, 0)
        for row in (first_row + part.decisions).tolist():
            actor, round_, count, first = arrays.nodes[row, :COLUMNS].tolist()
            start = int(arrays.bases[skipped_actors + actor, round_])
            width = int(arrays.widths[skipped_actors + actor, round_])
            round_numbers = numbers[start : start + width * buckets[round_]].reshape(-1, width)
            yield row, round_numbers[:, first : first + count]


def as_strategy(tree: BettingTree | MergedTree, buckets: tuple[int, ...], averages: _Numbers) -> NDArray[np.float64]:
    """Normalise weights in the layout of `SampledTree` to probabilities in that of a strategy file.

    A strategy file has them by node, action and bucket. An information set without weight gets equal probabilities.
    """
    parts = []
    for _, node_weights in by_node(tree, sampled_tree(tree, buckets), buckets, averages):
        weights = node_weights.T.astype(np.float64)
        totals = weights.sum(axis=0)
        is_known = totals > 0
        chances = np.where(is_known, weights / np.where(is_known, totals, 1), 1 / len(weights))
        parts.append(chances.ravel())
    return np.concatenate(parts)
