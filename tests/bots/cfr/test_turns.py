"""Solved turns with river classes, compared with exact solutions; classes; weights of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from bots.cfr.boards import HOLDING_CARDS, HOLDING_NUMBERS
from bots.cfr.bot import SHIPPED, CfrBot
from bots.cfr.endgame_walk import holdings_on
from bots.cfr.endgames import Endgame, Endgames, Turn, pair_factors, river_classes
from bots.cfr.strategy_files import read_strategy
from bots.cfr.tree import RaiseCaps, betting_tree, read_sizes
from bots.sdk.view import View
from engine import Card, parse_cards, rank_hand
from engine.ranges import are_free
from protocol import find_game
from protocol.match_state import betting_after

LIMIT, NO_LIMIT = find_game("limit")[1], find_game("nolimit")[1]
BOARD = tuple(parse_cards("2h7dQs8s"))


@pytest.mark.parametrize("name", ["nolimit", pytest.param("limit", marks=pytest.mark.slow)])
def test_turn_with_a_class_for_each_holding_is_the_exact_one(name: str) -> None:
    game = find_game(name)[1]
    chance = np.random.default_rng(5)
    cards = chance.permutation([card for card in range(52) if card not in BOARD])[:16].reshape(2, 4, 2)
    weights = np.zeros((2, 1326))
    # No two holdings share a card, so all pairs are possible. Each has its own class.
    for player in range(2):
        weights[player, HOLDING_NUMBERS[cards[player, :, 0], cards[player, :, 1]]] = chance.uniform(0.5, 1, 4)
    start = betting_after(game, "rrc/crc/" if game.is_limit else "r300c/cc/")
    raises = RaiseCaps((0, 0, 1, 1)) if game.is_limit else read_sizes("1/1/1,all:all/1", 4)
    tree = betting_tree(game, raises, start)
    exact = Endgame(start, BOARD, weights, tree, 20).solution
    solved = Turn(start, BOARD, weights, tree, 20).solution
    assert solved.values == pytest.approx(exact.values, abs=3e-3 * start.pot)
    assert solved.gains == pytest.approx(exact.gains, abs=3e-3 * start.pot)
    assert abs(exact.values[0]) > 0.1 * start.pot


def test_classes_of_a_river_ascend_with_strength_and_are_about_equal() -> None:
    free = np.flatnonzero(are_free(BOARD))
    weights = np.random.default_rng(3).uniform(0, 1, len(free)).astype(np.float32)
    classes = river_classes(BOARD, weights)
    assert classes.shape == (48, len(free))
    rivers = [card for card in range(52) if card not in BOARD]
    for river in (0, 17, 47):
        card = Card(rivers[river])
        holes = HOLDING_CARDS[free].tolist()
        is_blocked = np.array([card in hole for hole in holes])
        assert np.array_equal(classes[river] == 31, is_blocked)
        ranks = np.array([0 if card in hole else rank_hand((*hole, *BOARD, card)) for hole in holes])
        order = np.argsort(ranks, kind="stable")[is_blocked.sum() :]
        steps = np.diff(classes[river][order].astype(int))
        assert (steps >= 0).all()
        assert not steps[np.diff(ranks[order]) == 0].any()
        shares = np.bincount(classes[river][order], weights[order], 31) / weights[order].sum()
        # Equal holdings, such as those that play the board, share a class.
        assert np.median(shares) == pytest.approx(1 / 31, rel=0.3)


def test_factors_of_pairs_count_the_possible_pairs_of_each_holding() -> None:
    numbers, holdings = holdings_on(BOARD)
    weights = np.random.default_rng(4).uniform(0, 1, (2, len(numbers))).astype(np.float32)
    weights /= weights.sum(axis=1, keepdims=True)
    factors = pair_factors(holdings, weights)
    cards = HOLDING_CARDS[numbers]
    for own in (0, 400, 1127):
        is_possible = ~(cards[:, :, None] == cards[own]).any(axis=(1, 2))
        for player in range(2):
            possible = weights[1 - player][is_possible].sum()
            counted = factors[player, own] * (factors[1 - player] * weights[1 - player]).sum()
            assert counted == pytest.approx(possible, rel=1e-4)


def test_more_iterations_bring_a_turn_nearer_to_equilibrium() -> None:
    strategy = read_strategy(SHIPPED["nolimit"])
    start = betting_after(NO_LIMIT, "r300c/cc/")
    gaps = [Endgames(strategy, 1, count).at(start, BOARD)[0].solution.gap for count in (5, 15, 45)]
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2] > 0


def test_turn_is_played_by_its_buckets_if_it_is_not_solved() -> None:
    start = betting_after(LIMIT, "rrc/crc/")
    hole = tuple(parse_cards("AsTs"))
    view = View.from_holding(start, start.acting_position, hole, BOARD)
    plain = CfrBot(turns=0, seed=1).policy(view)
    assert plain == CfrBot(rivers=0, seed=1).policy(view)
    assert plain != CfrBot(turns=3, seed=1).policy(view)
