"""Training on sampled deals: compared with a slow twin, and with games of known value."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_NUMBERS, suit_order
from bots.cfr.merged_tree import (
    SIZES,
    FlopEntry,
    MergedTree,
    can_call,
    first_rows,
    merged_tree,
    preflop_raises,
)
from bots.cfr.sampling import SampledSolver, as_strategy, by_node, draw_deals, explore, sampled_tree
from bots.cfr.small_games import SmallGame
from bots.cfr.tree import CONTINUED, DECISION, BettingTree, betting_tree, read_caps, read_sizes
from bots.errors import SolvingError
from bots.solving.equilibria import Discounts
from bots.solving.sequence_form import exploitability
from engine import CALL, Action, BettingState, rank_hand
from engine.cards import starting_hand
from engine.hand import showdown_values
from engine.splitmix import MASK_64, STEP, mixed
from protocol import find_game
from tests.bots.cfr.drawn import BUCKETS, plans_of, random_tables

pytestmark = pytest.mark.slow  # numba compiles

LEDUC = betting_tree(find_game("leduc")[1])
LEDUC_GAME = SmallGame(LEDUC, None)
KUHN3 = betting_tree(find_game("kuhn.limit.3p")[1])


@cache
def tree_of(name: str) -> BettingTree | MergedTree:
    """Return a tree of two or three players, of three with side pots and different stacks, or with merged flops."""
    if name == "merged":
        game = find_game("nolimit3")[1]._replace(stacks=(3000,) * 3)
        return merged_tree(game, lambda entry, _: len(entry.positions))
    if name == "limit":
        return betting_tree(find_game("limit")[1])
    if name == "limit3":
        return betting_tree(find_game("limit3")[1], read_caps("1/2/1/1", 4))
    game = find_game("nolimit3")[1]._replace(stacks=(500, 900, 2000))
    return betting_tree(game, read_sizes("1,all:all/all/all/all", 4))


def sizes_in_whole_tree(state: BettingState) -> Sequence[Action]:
    """Return the raises of a merged tree in a tree without merged flops."""
    if not state.round:
        return preflop_raises(state)
    players = len(state.round_starts[1].in_pot)
    return read_sizes(SIZES[players], 4)(state)


def draw_leduc(seed: np.uint64, first: int, buckets: NDArray[np.uint16], ranks: NDArray[np.uint16]) -> None:
    """Draw deals of Leduc poker by number."""
    boards, deck = LEDUC_GAME.buckets, sorted(LEDUC.game.deck)
    for row in range(len(ranks)):
        cards = np.random.default_rng([int(seed), first + row]).permutation(deck)[:3].tolist()
        for player in range(2):
            buckets[row, player] = [boards.bucket(cards[player], board) for board in ((), (cards[2],))]
        ranks[row] = buckets[row, :, 1]


def leduc_solver(copies: int = 1, copy: int = 0) -> SampledSolver:
    return SampledSolver(
        LEDUC, LEDUC_GAME.buckets.counts, draw_leduc, Discounts(), seed=3, per_iteration=256, copies=copies, copy=copy
    )


def leduc_exploitability(averages: NDArray[np.floating]) -> float:  # type: ignore[type-arg]
    strategy = as_strategy(LEDUC, LEDUC_GAME.buckets.counts, averages)
    return exploitability(LEDUC_GAME.form, plans_of(LEDUC_GAME, strategy))


def test_drawn_deals_are_real_ones() -> None:
    tables, deals = random_tables(), 2000
    buckets, ranks = np.empty((deals, 2, 4), np.uint16), np.empty((deals, 2), np.uint16)
    draw_deals(tables, np.uint64(9), 100, buckets, ranks)
    again, others = np.empty((500, 2, 4), np.uint16), np.empty((500, 2), np.uint16)
    draw_deals(tables, np.uint64(9), 700, again, others)
    assert np.array_equal(again, buckets[600:1100])
    assert np.array_equal(others, ranks[600:1100])
    # Two players with random hands tie in 4 % of the deals; five standard deviations are 2.2 %.
    first, second = ranks.astype(int).T
    assert abs(np.mean(first == second) - 0.041) < 0.022
    assert abs(np.sign(first - second).mean()) < 0.11
    counts = np.bincount(buckets[:, 0, 0], minlength=169)
    assert counts[starting_hand((48, 49))] < counts[starting_hand((48, 45))] + 15
    assert (counts > 0).sum() > 160


@pytest.mark.parametrize("players", [2, 3, 10])
def test_buckets_of_a_deal_are_those_of_the_tables(players: int) -> None:
    """Draw the kernel's deals again in Python."""
    tables = random_tables()
    buckets, outcome = np.empty((40, players, 4), np.uint16), np.empty((40, players), np.uint16)
    draw_deals(tables, np.uint64(9), 5, buckets, outcome)
    for deal in range(40):
        state, cards = mixed(9 + mixed(5 + deal) & MASK_64), []
        while len(cards) < 5 + 2 * players:
            state = state + STEP & MASK_64
            card = (mixed(state) >> 32) * 52 >> 32
            if card not in cards:
                cards.append(card)
        board, holes = cards[:5], [cards[5 + 2 * player : 7 + 2 * player] for player in range(players)]
        assert outcome[deal].tolist() == [rank_hand((*hole, *board)) for hole in holes]
        for player, hole in enumerate(holes):
            expected = [starting_hand(hole)]
            for count, keys, table in (
                (3, tables.flop_keys, tables.flops),
                (4, tables.turn_keys, tables.turns),
                (5, tables.river_keys, tables.rivers),
            ):
                key, suits = suit_order(board[:count])
                one, other = (card & 0xFC | suits[card & 3] for card in hole)
                expected.append(int(table[np.searchsorted(keys, key), HOLDING_NUMBERS[one, other]]))
            assert buckets[deal, player].tolist() == expected


def values_at(tree: BettingTree, node: int, ranks: list[int]) -> list[float]:
    """Return the winnings at an end, by the engine."""
    folded = int(tree.folded[node])
    shown = [None if folded >> player & 1 else rank for player, rank in enumerate(ranks)]
    return showdown_values(tree.spent[node].tolist(), shown)


def values_after_entry(tree: MergedTree, entry: FlopEntry, node: int, ranks: list[int]) -> list[float]:
    """Return the winnings at an end of an entry's subtree, by the engine, in chips of the entry."""
    model = tree.models[entry.subtree]
    subtree = tree.subtrees[entry.subtree]
    spent = tree.preflop.spent[entry.node].astype(float).tolist()
    shown: list[int | None] = [None] * len(ranks)
    for position, model_position in zip(entry.positions, model.positions, strict=True):
        total = int(subtree.spent[node, model_position])
        spent[position] += min((total - model.matched) * entry.pot / model.pot, entry.stack)
        if total == tree.game.stacks[model_position]:
            spent[position] = entry.matched + entry.stack
        if not subtree.folded[node] >> model_position & 1:
            shown[position] = ranks[position]
    values = showdown_values(spent, shown)
    assert sum(values) == pytest.approx(0, abs=1e-6)
    return values


@cache
def places_by_node(tree: BettingTree | MergedTree) -> dict[tuple[int, int], NDArray[np.int64]]:
    """Return the indices of the numbers of each part and node, shape (buckets, actions)."""
    arrays = sampled_tree(tree, BUCKETS)
    views = dict(by_node(tree, arrays, BUCKETS, np.arange(arrays.size)))
    rows = first_rows(tree)
    return {
        (number, node): views[rows[number] + node]
        for number, part in enumerate(tree.parts)
        for node in part.decisions.tolist()
    }


def slow_walk(
    tree: BettingTree | MergedTree,
    buckets: NDArray[np.uint16],
    ranks: list[int],
    player: int,
    own: NDArray[np.float32],
    others: NDArray[np.float32],
) -> tuple[list[tuple[int, float]], list[int]]:
    """Return the regrets of a walk in which each other player has one action with a positive regret."""
    places = places_by_node(tree)
    entries = {entry.node: entry for entry in tree.entries} if isinstance(tree, MergedTree) else {}
    regrets: list[tuple[int, float]] = []
    taken: list[int] = []

    def visit(number: int, node: int, entry: FlopEntry | None) -> float:
        part = tree.parts[number]
        if part.kinds[node] == CONTINUED:
            entry = entries[node]
            if player in entry.positions:
                return visit(1 + entry.subtree, 0, entry)
            return -float(part.spent[node, player])
        if part.kinds[node] != DECISION:
            if entry is None:
                return values_at(part, node, ranks)[player]
            return values_after_entry(tree, entry, node, ranks)[player]
        position = int(part.players[node])
        if entry is not None:
            position = entry.positions[tree.models[entry.subtree].positions.index(position)]
        numbers = places[number, node][buckets[position, part.rounds[node]]].tolist()
        children = part.children[node].tolist()
        positive = np.maximum((own if position == player else others)[numbers], 0).astype(float)
        chances = positive / positive.sum() if positive.any() else np.full(len(numbers), 1 / len(numbers))
        if position != player:
            chosen = int(chances.argmax())
            taken.append(numbers[chosen])
            return visit(number, children[chosen], entry)
        values = [visit(number, child, entry) for child in children[: len(numbers)]]
        mean = float(chances @ values)
        regrets.extend((place, value - mean) for place, value in zip(numbers, values, strict=True))
        return mean

    visit(0, 0, None)
    return regrets, taken


@pytest.mark.parametrize("name", ["limit", "limit3", "side pots", "merged"])
def test_a_walk_finds_the_regrets_of_its_slow_twin(name: str) -> None:
    tree = tree_of(name)
    arrays, players = sampled_tree(tree, BUCKETS), tree.game.num_players
    chance = np.random.default_rng(7)
    numbers = chance.normal(size=arrays.size).astype(np.float32)
    # Each other player takes the action with the greatest regret: its other regrets are below 0.
    pure = np.full(arrays.size, -1, np.float32)
    for places in places_by_node(tree).values():
        pure[places[np.arange(len(places)), chance.integers(places.shape[1], size=len(places))]] = 1
    buckets, ranks = np.empty((30, players, 4), np.uint16), np.empty((30, players), np.uint16)
    draw_deals(random_tables(), np.uint64(1), 0, buckets, ranks)
    ranks[::5] = ranks[::5, :1]  # All tie.
    ranks[1::5, 1] = ranks[1::5, 0]
    room = np.empty(200_000, np.uint32), np.empty(200_000, np.float32), np.empty(200_000, np.uint32)
    for deal in range(30):
        for player in range(players):
            one = slice(deal, deal + 1)
            outcome = explore(arrays, buckets[one], ranks[one], np.uint64(5), player, numbers, pure, *room)
            expected, taken = slow_walk(tree, buckets[deal], ranks[deal].tolist(), player, numbers, pure)
            assert outcome == (len(expected), len(taken))
            assert room[0][: outcome[0]].tolist() == [place for place, _ in expected]
            regrets = [regret for _, regret in expected]
            assert room[1][: outcome[0]] == pytest.approx(regrets, abs=2e-3, rel=1e-5)
            assert room[2][: outcome[1]].tolist() == taken


def test_subtrees_with_one_entry_give_the_regrets_of_the_whole_tree() -> None:
    game = find_game("nolimit3")[1]._replace(stacks=(3000,) * 3)
    merged = merged_tree(game, lambda entry, _: entry.node)
    whole = betting_tree(game, sizes_in_whole_tree, can_call=can_call)
    subtrees = {entry.node: entry.subtree for entry in merged.entries}
    merged_places = places_by_node(merged)
    whole_places = places_by_node(whole)
    merged_numbers = np.zeros(sampled_tree(merged, BUCKETS).size, np.float32)
    chance = np.random.default_rng(7)
    whole_numbers = chance.normal(size=sampled_tree(whole, BUCKETS).size).astype(np.float32)
    merged_pure = np.full_like(merged_numbers, -1)
    whole_pure = np.full_like(whole_numbers, -1)

    def copy_numbers(node: int, number: int, merged_node: int) -> None:
        part = merged.parts[number]
        if part.kinds[merged_node] == CONTINUED:
            copy_numbers(node, 1 + subtrees[merged_node], 0)
        elif part.kinds[merged_node] == DECISION:
            assert part.actions[merged_node] == whole.actions[node]
            places = whole_places[0, node]
            merged_numbers[merged_places[number, merged_node]] = whole_numbers[places]
            # Mostly calls, because they reach more of the tree.
            actions = part.actions[merged_node]
            call = actions.index(CALL) if CALL in actions else 1
            chosen = np.where(chance.random(len(places)) < 0.8, call, chance.integers(len(actions), size=len(places)))
            buckets = np.arange(len(places))
            whole_pure[places[buckets, chosen]] = 1
            merged_pure[merged_places[number, merged_node][buckets, chosen]] = 1
            for action in range(places.shape[1]):
                copy_numbers(int(whole.children[node, action]), number, int(part.children[merged_node, action]))

    copy_numbers(0, 0, 0)
    inputs = np.empty((400, 3, 4), np.uint16), np.empty((400, 3), np.uint16), np.uint64(5)
    draw_deals(random_tables(), np.uint64(1), 0, *inputs[:2])
    for player in range(3):
        regrets = []
        for tree, own, others in ((merged, merged_numbers, merged_pure), (whole, whole_numbers, whole_pure)):
            room = np.empty(1 << 22, np.uint32), np.empty(1 << 22, np.float32), np.empty(1 << 22, np.uint32)
            count, _ = explore(sampled_tree(tree, BUCKETS), *inputs, player, own, others, *room)
            regrets.append(room[1][:count])
        assert len(regrets[0]) > 5_000
        assert regrets[0] == pytest.approx(regrets[1], abs=2e-3, rel=1e-5)


def test_the_game_with_different_stacks_has_side_pots() -> None:
    tree = tree_of("side pots")
    arrays = sampled_tree(tree, BUCKETS)
    ends = arrays.nodes[: len(tree.kinds)][tree.kinds != DECISION]
    assert (ends[:, 3] > 0).sum() > 10


def test_a_pot_has_too_many_chips() -> None:
    game = find_game("nolimit3")[1]._replace(stacks=(2**31 - 1,) * 3)
    with pytest.raises(SolvingError, match=r"the stacks are too large: a pot has 4,294,967,344 chips"):
        sampled_tree(betting_tree(game, read_sizes("all", 4)), BUCKETS)


def test_overflow_of_the_walks_memory_is_reported() -> None:
    arrays = sampled_tree(tree_of("limit"), BUCKETS)
    numbers = np.zeros(arrays.size, np.float32)
    buckets, ranks = np.zeros((3, 2, 4), np.uint16), np.zeros((3, 2), np.uint16)
    room = np.empty(100, np.uint32), np.empty(100, np.float32), np.empty(100, np.uint32)
    assert explore(arrays, buckets, ranks, np.uint64(5), 0, numbers, numbers, *room) == (-1, -1)


def test_leduc_is_solved() -> None:
    solver = leduc_solver()
    for _ in range(64):
        solver.iterate()
    early = leduc_exploitability(solver.averages)
    for _ in range(512):
        solver.iterate()
    late = leduc_exploitability(solver.averages)
    assert late < 0.08
    assert late < early / 2


def draw_kuhn3(seed: np.uint64, first: int, buckets: NDArray[np.uint16], ranks: NDArray[np.uint16]) -> None:
    """Draw deals of Kuhn poker for three by number."""
    for row in range(len(ranks)):
        ranks[row] = np.random.default_rng([int(seed), first + row]).permutation(4)[:3]
        buckets[row, :, 0] = ranks[row]


def kuhn3_value(strategy: NDArray[np.float64], player: int, *, is_best: bool) -> float:
    """Return the winnings of a player of Kuhn poker, by its part of a strategy or by the best response to the others.

    Args:
        strategy: shape (decisions, actions, cards).

    """
    rows = {node: strategy[at] for at, node in enumerate(KUHN3.decisions.tolist())}

    def visit(node: int, weights: dict[tuple[int, ...], float]) -> float:
        if KUHN3.kinds[node] != DECISION:
            return sum(weight * values_at(KUHN3, node, list(deal))[player] for deal, weight in weights.items())
        acts = int(KUHN3.players[node])
        won = []
        for action, child in enumerate(KUHN3.children[node].tolist()):
            is_own = acts == player and is_best
            chances = {deal: 1.0 if is_own else float(rows[node][action, deal[acts]]) for deal in weights}
            won.append(visit(child, {deal: weight * chances[deal] for deal, weight in weights.items()}))
        return max(won) if acts == player and is_best else sum(won)

    deals = list(permutations(range(4), 3))
    return sum(visit(0, {deal: 1 / len(deals) for deal in deals if deal[player] == card}) for card in range(4))


def test_kuhn_poker_of_three_comes_near_an_equilibrium() -> None:
    solver = SampledSolver(KUHN3, (4,), draw_kuhn3, Discounts(), seed=3, per_iteration=64)

    def gains() -> list[float]:
        strategy = as_strategy(KUHN3, (4,), solver.averages).reshape(-1, 2, 4)
        values = [kuhn3_value(strategy, player, is_best=False) for player in range(3)]
        assert sum(values) == pytest.approx(0, abs=1e-9)
        best = [kuhn3_value(strategy, player, is_best=True) for player in range(3)]
        return [one - value for one, value in zip(best, values, strict=True)]

    for _ in range(16):
        solver.iterate()
    early = gains()
    for _ in range(800):
        solver.iterate()
    late = gains()
    assert min(early) > 0
    assert max(late) < 0.012
    assert sum(late) < sum(early) / 4
    # In every equilibrium a bet is called with the best card and never with the worst one (Szafron et al. 2013).
    strategy = as_strategy(KUHN3, (4,), solver.averages).reshape(-1, 2, 4)
    for at, node in enumerate(KUHN3.decisions.tolist()):
        if len({*KUHN3.spent[node].tolist()}) > 1:
            assert strategy[at, 1, 3] > 0.99
            assert strategy[at, 1, 0] < 0.01


def test_the_mean_of_copies_is_nearer_to_an_equilibrium_than_they_are() -> None:
    copies = [leduc_solver(4, copy) for copy in range(4)]
    for copy in copies:
        for _ in range(128):
            copy.iterate()
    apart = [leduc_exploitability(copy.averages) for copy in copies]
    together = leduc_exploitability(np.add.reduce([copy.averages for copy in copies]))
    # At most their mean by convexity; averaging also reduces the sampling error of the deals.
    assert together < 0.9 * np.mean(apart)


@pytest.mark.parametrize("name", ["limit", "limit3", "merged"])
def test_threads_and_interruptions_make_no_difference(name: str) -> None:
    def solver() -> SampledSolver:
        draw = partial(draw_deals, random_tables())
        return SampledSolver(tree_of(name), BUCKETS, draw, Discounts(), seed=2, per_iteration=100)

    whole = solver()
    for _ in range(70):
        whole.iterate()
    part = solver()
    with ThreadPoolExecutor(3) as pool:
        for _ in range(31):
            part.iterate(pool)
    rest = solver()
    rest.resume(part.iteration, part.regrets.copy(), part.averages.copy())
    for _ in range(39):
        rest.iterate()
    assert np.array_equal(rest.regrets, whole.regrets)
    assert np.array_equal(rest.averages, whole.averages)
    assert whole.averages.sum() > 0
