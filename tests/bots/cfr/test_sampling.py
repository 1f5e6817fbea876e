"""Walks with sampled deals: beside an obvious slow twin, and to the equilibrium of a game whose value is known."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

import numpy as np
import pytest
from numpy.typing import NDArray

from bots.cfr.boards import HOLDING_NUMBERS, suit_order
from bots.cfr.deals import AllBoards
from bots.cfr.sampling import SampledSolver, as_strategy, draw_deals, explore, sampled_tree
from bots.cfr.solver import Discounts, gains_of_answers, tree_arrays
from bots.cfr.tree import DECISION, FOLDED, BettingTree, betting_tree
from engine import rank_hand
from engine.cards import starting_hand
from engine.splitmix import MASK_64, STEP, mixed
from protocol import find_game
from tests.bots.cfr.drawn import BUCKETS, random_tables

pytestmark = pytest.mark.slow  # numba compiles

LEDUC = betting_tree(find_game("leduc")[1])


@cache
def limit() -> BettingTree:
    return betting_tree(find_game("limit")[1])


def draw_leduc(seed: np.uint64, first: int, buckets: NDArray[np.uint16], results: NDArray[np.int8]) -> None:
    """Deals of Leduc poker by their numbers."""
    boards, deck = AllBoards(LEDUC.game), sorted(LEDUC.game.deck)
    for row in range(len(results)):
        cards = np.random.default_rng([int(seed), first + row]).permutation(deck)[:3].tolist()
        for player in range(2):
            buckets[row, player] = [boards.bucket(cards[player], board) for board in ((), (cards[2],))]
        one, other = (int(bucket) for bucket in buckets[row, :, 1])
        results[row] = (one > other) - (one < other)


def leduc_solver(copies: int = 1, copy: int = 0) -> SampledSolver:
    buckets = AllBoards(LEDUC.game).buckets[0]
    return SampledSolver(LEDUC, buckets, draw_leduc, Discounts(), seed=3, per_iteration=256, copies=copies, copy=copy)


def leduc_exploitability(averages: NDArray[np.floating]) -> float:  # type: ignore[type-arg]
    boards = AllBoards(LEDUC.game)
    strategy = as_strategy(LEDUC, boards.buckets[0], averages)
    return sum(gains_of_answers(tree_arrays(LEDUC, boards.buckets, boards.float_type), boards, strategy)) / 2


def test_drawn_deals_are_real_ones() -> None:
    tables, deals = random_tables(), 2000
    buckets, results = np.empty((deals, 2, 4), np.uint16), np.empty(deals, np.int8)
    draw_deals(tables, np.uint64(9), 100, buckets, results)
    again, others = np.empty((500, 2, 4), np.uint16), np.empty(500, np.int8)
    draw_deals(tables, np.uint64(9), 700, again, others)
    assert np.array_equal(again, buckets[600:1100])
    assert np.array_equal(others, results[600:1100])
    # Two players with random hands tie in 4 % of the deals; five standard deviations are 2.2 %.
    assert abs(np.mean(results == 0) - 0.041) < 0.022
    assert abs(results.mean()) < 0.11
    counts = np.bincount(buckets[:, 0, 0], minlength=169)
    assert counts[starting_hand((48, 49))] < counts[starting_hand((48, 45))] + 15
    assert (counts > 0).sum() > 160


def test_buckets_of_a_deal_are_those_of_the_tables() -> None:
    """The kernel's deals, drawn once more in Python."""
    tables = random_tables()
    buckets, results = np.empty((40, 2, 4), np.uint16), np.empty(40, np.int8)
    draw_deals(tables, np.uint64(9), 5, buckets, results)
    for deal in range(40):
        state, cards = mixed(9 + mixed(5 + deal) & MASK_64), []
        while len(cards) < 9:
            state = state + STEP & MASK_64
            card = (mixed(state) >> 32) * 52 >> 32
            if card not in cards:
                cards.append(card)
        board, holes = cards[:5], (cards[5:7], cards[7:])
        ranks = [rank_hand((*hole, *board)) for hole in holes]
        assert results[deal] == (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])
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


def slow_walk(
    tree: BettingTree, buckets: NDArray[np.uint16], result: int, player: int, numbers: tuple[NDArray[np.float32], ...]
) -> tuple[dict[int, float], list[int]]:
    """The regrets that a walk finds where the opponent has one action with a regret above 0."""
    arrays, own, others = sampled_tree(tree, BUCKETS), numbers[player], numbers[1 - player]
    regrets: dict[int, float] = {}
    taken: list[int] = []

    def visit(node: int) -> float:
        if tree.kinds[node] != DECISION:
            chips = float(tree.chips[node])
            if tree.kinds[node] == FOLDED:
                return -chips if tree.players[node] == player else chips
            return chips * (result if player == 0 else -result)
        acts, round_ = int(tree.players[node]), int(tree.rounds[node])
        start = int(arrays.bases[acts, round_] + buckets[acts, round_] * arrays.widths[acts, round_])
        place, count = start + int(arrays.nodes[node, 3]), len(tree.actions[node])
        children = tree.children[node].tolist()
        positive = np.maximum((own if acts == player else others)[place : place + count], 0).astype(float)
        chances = positive / positive.sum() if positive.any() else np.full(count, 1 / count)
        if acts != player:
            chosen = int(chances.argmax())
            taken.append(place + chosen)
            return visit(children[chosen])
        values = [visit(child) for child in children[:count]]
        mean = float(chances @ values)
        regrets.update({place + action: value - mean for action, value in enumerate(values)})
        return mean

    visit(0)
    return regrets, taken


def test_a_walk_finds_the_regrets_of_its_slow_twin() -> None:
    tree = limit()
    arrays = sampled_tree(tree, BUCKETS)
    sizes = (arrays.widths * np.array(BUCKETS, np.uint64)).sum(axis=1).astype(int)
    chance = np.random.default_rng(7)
    numbers = tuple(chance.normal(size=size).astype(np.float32) for size in sizes)
    # Each opponent always takes the action with the greatest regret: the others are below 0.
    pure = []
    for player in range(2):
        only = np.full(sizes[player], -1, np.float32)
        for node in np.flatnonzero((tree.kinds == DECISION) & (tree.players == player)).tolist():
            round_, count = int(tree.rounds[node]), len(tree.actions[node])
            for bucket in range(BUCKETS[round_]):
                place = int(arrays.bases[player, round_] + bucket * arrays.widths[player, round_])
                only[place + int(arrays.nodes[node, 3]) + int(chance.integers(count))] = 1
        pure.append(only)
    buckets, results = np.empty((30, 2, 4), np.uint16), np.empty(30, np.int8)
    draw_deals(random_tables(), np.uint64(1), 0, buckets, results)
    room = np.empty(100_000, np.uint32), np.empty(100_000, np.float32), np.empty(100_000, np.uint32)
    for deal in range(30):
        for player in range(2):
            own = (numbers[0], pure[1]) if player == 0 else (pure[0], numbers[1])
            one = slice(deal, deal + 1)
            found = explore(
                arrays, buckets[one], results[one], np.uint64(5), player, own[player], own[1 - player], *room
            )
            expected, taken = slow_walk(tree, buckets[deal], int(results[deal]), player, own)
            assert found == (len(expected), len(taken))
            assert {*room[0][: found[0]].tolist()} == {*expected}
            assert room[1][: found[0]] == pytest.approx([expected[int(at)] for at in room[0][: found[0]]], abs=1e-4)
            assert room[2][: found[1]].tolist() == taken


def test_there_is_no_room_for_what_is_found() -> None:
    tree = limit()
    arrays = sampled_tree(tree, BUCKETS)
    sizes = (arrays.widths * np.array(BUCKETS, np.uint64)).sum(axis=1).astype(int)
    numbers = [np.zeros(size, np.float32) for size in sizes]
    buckets, results = np.zeros((3, 2, 4), np.uint16), np.zeros(3, np.int8)
    room = np.empty(100, np.uint32), np.empty(100, np.float32), np.empty(100, np.uint32)
    assert explore(arrays, buckets, results, np.uint64(5), 0, *numbers, *room) == (-1, -1)


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


def test_the_mean_of_copies_is_nearer_to_an_equilibrium_than_they_are() -> None:
    copies = [leduc_solver(4, copy) for copy in range(4)]
    for copy in copies:
        for _ in range(128):
            copy.iterate()
    apart = [leduc_exploitability(copy.averages) for copy in copies]
    together = leduc_exploitability(np.add.reduce([copy.averages for copy in copies]))
    # At most their mean by convexity; the luck of the deals evens out as well.
    assert together < 0.9 * np.mean(apart)


def test_threads_and_interruptions_make_no_difference() -> None:
    def solver() -> SampledSolver:
        draw = partial(draw_deals, random_tables())
        return SampledSolver(limit(), BUCKETS, draw, Discounts(), seed=2, per_iteration=100)

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
