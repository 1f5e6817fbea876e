"""Walks beside an obvious slow twin, and equilibria of games whose values are known."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bots.cfr.abstraction import ClusteredHands
from bots.cfr.bot import SHIPPED
from bots.cfr.deals import AllBoards, BoardArrays, TreeArrays, new_work
from bots.cfr.solver import Discounts, Solver, gains_of_answers, size_of, tree_arrays, values
from bots.cfr.strategy_files import read_strategy
from bots.cfr.tree import DECISION, FOLDED, BettingTree, Sizes, betting_tree, read_sizes
from bots.cfr.walk import walk
from bots.solving.engine_games import small_game
from bots.solving.equilibria import LinearProgram
from bots.solving.sequence_form import sequence_form
from engine import Action, BettingState, Game, rank_hand
from engine.betting_rules import raise_to
from protocol import find_game, parse_game_definition
from tests.bots.cfr.drawn import board_arrays, random_hands

EXACT = Discounts(gains=1.5, losses=0.0, average=2.0)

SHORT_HOLDEM = """GAMEDEF
limit
numPlayers = 2
numRounds = 4
blind = 10 5
raiseSize = 10 10 20 20
firstPlayer = 2 1 1 1
maxRaises = 1 1 1 2
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""

SHORT_NOLIMIT = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 4
stack = 100 90
blind = 10 5
firstPlayer = 2 1 1 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""

TINY_LEDUC = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 2
stack = 5 4
blind = 1 1
firstPlayer = 1 1
numSuits = 2
numRanks = 3
numHoleCards = 1
numBoardCards = 0 1
END GAMEDEF
"""


def every_size(state: BettingState) -> list[Action]:
    """All raises that the rules allow."""
    legal = state.legal_actions()
    return [raise_to(total) for total in range(legal.raise_min, legal.raise_max + 1)]


def read_hands() -> ClusteredHands:
    """Those of the shipped strategy."""
    cards = read_strategy(SHIPPED["limit"]).cards
    assert cards is not None
    return cards


def solver(name: str, discounts: Discounts = EXACT) -> Solver:
    game = find_game(name)[1]
    boards = AllBoards(game)
    return Solver(tree_arrays(betting_tree(game), boards.buckets, boards.float_type), boards, discounts)


def slow_walk(
    tree: BettingTree,
    arrays: TreeArrays,
    deal: BoardArrays,
    showdowns: NDArray[Any],
    pairs: NDArray[Any],
    strategy: NDArray[Any],
    player: int,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """What `walk` finds, by matrices of all pairs of holdings."""
    found = np.zeros(len(strategy))

    def visit(node: int, reach: NDArray[Any]) -> NDArray[Any]:
        if tree.kinds[node] != DECISION:
            if tree.kinds[node] == FOLDED:
                sign = -1 if tree.players[node] == player else 1
                return np.asarray(sign * tree.chips[node] * (pairs @ reach))
            return np.asarray(tree.chips[node] * (showdowns @ reach))
        round_ = tree.rounds[node]
        values = np.zeros(len(reach))
        for action, child in enumerate(tree.children[node][tree.children[node] >= 0].tolist()):
            acts = tree.players[node]
            place = arrays.offsets[node] + action * arrays.buckets[acts, round_] + deal.buckets[acts, round_]
            chances = strategy[place]
            if tree.players[node] == player:
                below = visit(child, reach)
                np.add.at(found, place, below)
                values += chances * below
            else:
                np.add.at(found, place, reach * chances)
                values += visit(child, reach * chances)
        return values

    return visit(0, np.ones(len(deal.ones))), found


@pytest.mark.slow  # numba compiles
@pytest.mark.parametrize(
    ("text", "sizes"), [(SHORT_HOLDEM, None), (SHORT_NOLIMIT, read_sizes("1:all/all/all/1,all:all", 4))]
)
def test_a_walk_is_what_matrices_of_all_pairs_say(text: str, sizes: Sizes | None) -> None:
    game: Game = parse_game_definition(text)
    hands = random_hands(), read_hands()
    tree = betting_tree(game, sizes)
    arrays = tree_arrays(tree, [one.buckets for one in hands], np.float64)
    strategy = np.random.default_rng(1).exponential(size=size_of(arrays))
    strategy[strategy < 0.3] = 0
    for board in ((51, 20, 3, 8, 33), (0, 4, 8, 12, 16)):
        deal = board_arrays(hands, board)
        holdings = list(zip(deal.ones.tolist(), deal.others.tolist(), strict=True))
        assert len({*holdings}) == 1081
        ranks = np.array([rank_hand((*cards, *board)) for cards in holdings])
        assert (np.diff(ranks) >= 0).all()
        has = np.zeros((1081, 52))
        has[np.arange(1081), deal.ones] = has[np.arange(1081), deal.others] = 1
        pairs = (has @ has.T == 0).astype(float)
        showdowns = pairs * np.sign(ranks[:, None] - ranks)
        for player in range(2):
            found = np.zeros(len(strategy))
            total = walk(arrays, deal, new_work(arrays, 1081), strategy, found, player)
            values, expected = slow_walk(tree, arrays, deal, showdowns, pairs, strategy, player)
            assert total == pytest.approx(values.sum(), rel=1e-9)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_small_games_are_solved() -> None:
    for name, value, iterations in (("kuhn", -1 / 18, 1000), ("leduc", -0.0856064240780, 1000)):
        learning = solver(name)
        measured = []
        while learning.iteration < iterations:
            learning.iterate()
            if learning.iteration in (100, iterations):
                measured.append(gains_of_answers(learning.tree, learning.boards, learning.average_strategy()))
        early, late = measured
        assert 0 <= sum(late) < 6e-4
        assert sum(late) < sum(early) / 3
        # An answer to the second player's strategy wins at least the value, and the other way round.
        assert -late[1] <= value <= late[0]


def test_a_no_limit_game_is_solved_to_the_value_of_its_linear_program() -> None:
    """All-ins before the board included: the stacks are of four and five chips, and every size is in the tree."""
    game = parse_game_definition(TINY_LEDUC)
    boards = AllBoards(game)
    tree = betting_tree(game, every_size)
    learning = Solver(tree_arrays(tree, boards.buckets, boards.float_type), boards, EXACT)
    while learning.iteration < 1000:
        learning.iterate()
    strategy = learning.average_strategy()
    found = gains_of_answers(learning.tree, boards, strategy)
    form = sequence_form(small_game(game))
    value = LinearProgram(form).solve().value
    assert 0 <= sum(found) < 2e-3
    assert -found[1] <= value + 1e-9
    assert value - 1e-9 <= found[0]
    assert values(learning.tree, boards, strategy, 0).mean() == pytest.approx(value, abs=2e-3)


@pytest.mark.slow  # numba compiles
def test_threads_and_interruptions_make_no_difference() -> None:
    whole = solver("leduc", Discounts())
    for _ in range(30):
        whole.iterate()
    part = solver("leduc", Discounts())
    with ThreadPoolExecutor(3) as pool:
        for _ in range(11):
            part.iterate(pool)
    rest = solver("leduc", Discounts())
    rest.resume(part.iteration, part.regrets.copy(), part.averages.copy())
    for _ in range(19):
        rest.iterate()
    assert np.array_equal(rest.regrets, whole.regrets)
    assert np.array_equal(rest.averages, whole.averages)
    assert np.array_equal(rest.strategy, whole.strategy)
