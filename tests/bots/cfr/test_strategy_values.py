"""Values of strategies: the kernel compared with a recursion, and interrupted computations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bots.cfr.bot import SHIPPED
from bots.cfr.endgame_walk import Holdings
from bots.cfr.expectation import load_tree
from bots.cfr.strategy_files import StrategyFile, read_strategy
from bots.cfr.strategy_values import StrategyValues, read_values, write_values
from bots.cfr.tree import DECISION, FOLDED, BettingTree
from bots.cfr.tree_walk import Records, walk_values, walked_tree
from bots.cfr.value_training import VALUES, compute_values, recorded_nodes, value_settings
from bots.errors import BotFileError, SolvingError
from engine import CALL, Position, betting_start, rank_hand
from engine.ranges import HOLDINGS
from protocol import find_game

SIZE = 10
"""Holdings of each player in the comparison; the kernel takes any number of them."""


@pytest.fixture(scope="module")
def limit() -> tuple[StrategyFile, BettingTree]:
    strategy = read_strategy(SHIPPED["limit"])
    return strategy, load_tree(strategy)


def deal(seed: int) -> tuple[tuple[int, ...], list[tuple[int, int]]]:
    """Draw a board and some holdings, the weakest first."""
    chance = np.random.default_rng(seed)
    board = tuple(chance.permutation(52)[:5].tolist())
    free = [hole for hole in HOLDINGS if not {*hole} & {*board}]
    drawn = [free[index] for index in chance.choice(len(free), SIZE, replace=False)]
    return board, sorted(drawn, key=lambda hole: rank_hand((*hole, *board)))


def values_of_all_nodes(
    tree: BettingTree, strategy: StrategyFile, buckets: np.ndarray, signs: np.ndarray, player: int, tremble: float
) -> tuple[np.ndarray, np.ndarray]:
    """Compute values and weights by recursion, shape (nodes, holdings) each.

    Args:
        signs: 1 where the row's holding wins, -1 where it loses, NaN where both share a card.
    """
    is_possible = ~np.isnan(signs)
    results = np.nan_to_num(signs)
    values = np.zeros((len(tree.kinds), SIZE))
    weights = np.zeros((len(tree.kinds), SIZE))

    def visit(node: int, reach: np.ndarray) -> np.ndarray:
        weights[node] = is_possible @ reach
        chips = tree.chips[node]
        if tree.kinds[node] == FOLDED:
            values[node] = (-chips if tree.players[node] == player else chips) * weights[node]
        elif tree.kinds[node] != DECISION:
            values[node] = chips * (results @ reach)
        else:
            chances = strategy.chances(node)[:, buckets[tree.rounds[node]]]
            for action, chance in enumerate(chances):
                following = int(tree.children[node, action])
                if tree.players[node] == player:
                    values[node] += chance * visit(following, reach)
                else:
                    mixed = (1 - tremble) * chance + tremble / len(chances)
                    values[node] += visit(following, reach * mixed)
        return values[node]

    visit(0, np.ones(SIZE))
    return values, weights


@pytest.mark.slow
@pytest.mark.parametrize("player", [0, 1])
def test_kernel_computes_the_values_of_a_recursion(limit: tuple[StrategyFile, BettingTree], player: int) -> None:
    strategy, tree = limit
    board, holes = deal(5)
    numbers = [HOLDINGS.index(hole) for hole in holes]
    buckets = np.array([strategy.buckets_on(board[:shown])[numbers] for shown in (0, 3, 4, 5)])
    ranks = np.array([rank_hand((*hole, *board)) for hole in holes])
    signs = np.sign(ranks[:, None] - ranks[None, :]).astype(float)
    for row, hole in enumerate(holes):
        for column, other in enumerate(holes):
            if {*hole} & {*other}:
                signs[row, column] = np.nan
    values, weights = values_of_all_nodes(tree, strategy, buckets, signs, player, 0.01)
    # Each recorded node has a place for each holding, so that nothing is summed.
    nodes = recorded_nodes(tree)
    places = np.full(len(tree.kinds), -1, np.int64)
    places[nodes] = np.arange(len(nodes)) * 1000
    records = Records(places, np.zeros(len(nodes) * 1000), np.zeros(len(nodes) * 1000))
    first_cards, second_cards = np.array(holes, np.uint8).T
    ties = np.searchsorted(ranks, ranks, "right").astype(np.uint16)
    holdings = Holdings(first_cards[None].copy(), second_cards[None].copy(), ties[None], np.arange(SIZE)[None])
    walk_values(walked_tree(strategy, tree), holdings, buckets, player, np.float32(0.01), records)
    for node in nodes.tolist():
        of_round = buckets[tree.rounds[node]]
        for sums, expected in ((records.values, values[node]), (records.weights, weights[node])):
            by_bucket = np.bincount(of_round, expected, 1000)
            assert sums[places[node] : places[node] + 1000] == pytest.approx(by_bucket, abs=2e-3)


@pytest.mark.slow
def test_cut_computation_yields_the_same_values(tmp_path: Path, limit: tuple[StrategyFile, BettingTree]) -> None:
    strategy, _ = limit
    settings = value_settings("limit", strategy, 3)
    whole = compute_values(settings, 3, tmp_path / "whole").values()
    compute_values(settings, 1, tmp_path / "cut")
    compute_values(settings, 3, tmp_path / "cut")
    assert (tmp_path / "cut" / VALUES).read_bytes() == (tmp_path / "whole" / VALUES).read_bytes()
    # The file has bytes: an error is at most half a step of 255.
    read = read_values(tmp_path / "whole" / VALUES, strategy)
    assert np.abs(read.returns - whole.returns).max() <= np.ptp(whole.returns) / 255
    with pytest.raises(BotFileError, match="seed 3, not seed 4"):
        compute_values(value_settings("limit", strategy, 4), 3, tmp_path / "cut")


def test_values_of_another_strategy_are_refused(tmp_path: Path) -> None:
    limit_strategy = read_strategy(SHIPPED["limit"])
    nodes = np.array([0], np.int32)
    values = StrategyValues(limit_strategy, nodes, np.linspace(0, 1, 338, dtype=np.float32).reshape(2, 169))
    write_values(tmp_path / "limit.values", values, {})
    assert read_values(tmp_path / "limit.values", limit_strategy).returns == pytest.approx(values.returns, abs=1e-3)
    with pytest.raises(BotFileError, match="another strategy"):
        read_values(tmp_path / "limit.values", read_strategy(SHIPPED["nolimit"]))


def test_winnings_are_returns_of_the_real_pot() -> None:
    strategy = read_strategy(SHIPPED["nolimit"])
    start = betting_start(find_game("nolimit")[1])
    values = StrategyValues(strategy, np.array([0], np.int32), np.full((2, 169), 0.5, np.float32))
    buckets = np.arange(169)
    assert values.winnings(start, Position(1), buckets) == pytest.approx(np.full(169, 0.5 * 150 - 50))
    # Without values at a decision, the bucket's rank is its share.
    limped = start.after(CALL)
    assert values.winnings(limped, Position(0), buckets) == pytest.approx((buckets + 0.5) / 169 * 200 - 100)


def test_values_are_for_holdem_of_two() -> None:
    with pytest.raises(SolvingError, match="hold'em for two"):
        value_settings("kuhn", read_strategy(SHIPPED["kuhn"]), 1)
