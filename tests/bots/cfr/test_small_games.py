"""Small games solved in sequence form: known values, and strategies in file order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from bots.cfr.small_games import RankBuckets, SmallGame, Solver
from bots.cfr.tree import Sizes, betting_tree, read_sizes
from bots.errors import SolvingError
from bots.solving.engine_games import small_game
from bots.solving.equilibria import Discounts, LinearProgram
from bots.solving.sequence_form import expected_value, exploitability, sequence_form
from engine import Action, BettingState, Game
from engine.betting_rules import raise_to
from protocol import find_game, parse_game_definition
from tests.bots.cfr.drawn import plans_of

EXACT = Discounts(gains=1.5, losses=0.0, average=2.0)

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
    """Return all raises that the rules allow."""
    legal = state.legal_actions()
    return [raise_to(total) for total in range(legal.raise_min, legal.raise_max + 1)]


def solver(game: Game, raises: Sizes | None = None, discounts: Discounts = EXACT) -> Solver:
    return Solver(SmallGame(betting_tree(game, raises), raises), discounts)


def test_small_games_are_solved() -> None:
    for name, value, iterations in (("kuhn", -1 / 18, 200), ("leduc", -0.0856064240780, 200)):
        learning = solver(find_game(name)[1])
        measured = []
        while learning.iteration < iterations:
            learning.iterate()
            if learning.iteration in (50, iterations):
                measured.append(learning.gains())
        early, late = measured
        assert 0 <= sum(late) < 5e-3
        assert sum(late) < sum(early) / 3
        # A best response to either strategy wins at least the value.
        assert -late[1] <= value <= late[0]


def test_no_limit_game_is_solved_to_the_value_of_its_linear_program() -> None:
    """Stacks of four and five chips and every size include all-ins before the board."""
    game = parse_game_definition(TINY_LEDUC)
    learning = solver(game, every_size)
    while learning.iteration < 120:
        learning.iterate()
    gains = learning.gains()
    value = LinearProgram(sequence_form(small_game(game))).solve().value
    assert 0 <= sum(gains) < 4e-2
    assert -gains[1] <= value + 1e-9
    assert value - 1e-9 <= gains[0]
    assert expected_value(learning.form, learning.plans()) == pytest.approx(value, abs=2e-2)


@pytest.mark.parametrize(("name", "sizes"), [("kuhn-depth", ""), ("leduc-nolimit", "0.5,all:1")])
def test_strategy_in_the_order_of_a_file_has_the_same_plans(name: str, sizes: str) -> None:
    game = find_game(name)[1]
    learning = solver(game, read_sizes(sizes, game.num_rounds) if sizes else None)
    for _ in range(20):
        learning.iterate()
    for plan, again in zip(learning.plans(), plans_of(learning.game, learning.average_strategy()), strict=True):
        assert again == pytest.approx(plan, abs=1e-12)
    assert exploitability(learning.form, learning.plans()) == pytest.approx(sum(learning.gains()) / 2, abs=1e-12)


def test_board_in_the_first_round_is_known_from_the_beginning() -> None:
    text = TINY_LEDUC.replace("numBoardCards = 0 1", "numBoardCards = 1 0")
    game = parse_game_definition(text)
    learning = solver(game, every_size)
    while learning.iteration < 50:
        learning.iterate()
    assert learning.game.buckets.counts == (9, 9)
    value = LinearProgram(sequence_form(small_game(game))).solve().value
    assert expected_value(learning.form, learning.plans()) == pytest.approx(value, abs=6e-2)
    assert learning.average_strategy().shape == (sum(len(of) * 3 for of in _actions(learning.game)),)


def _actions(game: SmallGame) -> list[list[str]]:
    return [[*choice.actions] for _, of_boards in game.decisions() for choice, _ in of_boards]


def test_interruption_makes_no_difference() -> None:
    whole, part, rest = (solver(find_game("leduc")[1], discounts=Discounts()) for _ in range(3))
    for _ in range(30):
        whole.iterate()
    for _ in range(11):
        part.iterate()
    rest.resume(part.iteration, part.regrets.copy(), part.averages.copy())
    for _ in range(19):
        rest.iterate()
    assert np.array_equal(rest.regrets, whole.regrets)
    assert np.array_equal(rest.averages, whole.averages)


def test_buckets_ascend_with_strength() -> None:
    buckets = RankBuckets(find_game("leduc")[1])
    assert buckets.counts == (3, 9)
    queen, king, ace = sorted({card & ~3 for card in find_game("leduc")[1].deck})
    assert [buckets.bucket(card, ()) for card in (queen, king, ace)] == [0, 1, 2]
    assert [buckets.bucket(card, (queen | 1,)) for card in (king, ace, queen)] == [0, 1, 2]
    assert [buckets.bucket(card, (ace | 1,)) for card in (queen, king, ace)] == [6, 7, 8]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"numHoleCards = 1": "numHoleCards = 2"}, "neither hold'em nor a game of one hole card"),
        ({"numRanks = 3": "numRanks = 7"}, "the game is too large: 14 cards"),
    ],
)
def test_other_games_are_refused(changes: Mapping[str, str], sentence: str) -> None:
    text = TINY_LEDUC
    for one, other in changes.items():
        text = text.replace(one, other)
    with pytest.raises(SolvingError, match=sentence):
        RankBuckets(parse_game_definition(text))
