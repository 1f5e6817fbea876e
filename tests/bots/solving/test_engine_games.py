"""Games of the engine as trees."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from bots.errors import SolvingError
from bots.solving.engine_games import small_game
from bots.solving.linear_program import LinearProgram
from bots.solving.plans import exploitability
from bots.solving.sequence_form import SequenceForm, sequence_form
from bots.solving.tree import PublicGame
from protocol import find_game


def test_kuhn_has_the_tree_of_its_rules(kuhn: SequenceForm) -> None:
    assert [end.leaf.name for end in kuhn.ends] == ["cc", "crf", "crc", "rf", "rc"]
    assert [end.leaf.chips for end in kuhn.ends] == [1, -1, 2, 1, 2]
    assert kuhn.game.classes[0] == ("Qs", "Ks", "As")
    assert [choice.name for choice in kuhn.choices[0]] == ["", "cr"]
    assert [choice.name for choice in kuhn.choices[1]] == ["c", "r"]


def test_leduc_has_936_information_sets(leduc: SequenceForm) -> None:
    """Those that can be reached: with a board card in hand, none can."""
    reached = 0
    for player in (0, 1):
        for choice in leduc.choices[player]:
            board = choice.name.partition("/")[2][:2]
            reached += sum(board != holding for holding in leduc.game.classes[player])
    assert reached == 936


def test_the_chances_of_each_betting_add_up_to_one(leduc: SequenceForm) -> None:
    """Over all boards; at a showdown two holdings of the same rank win nothing, which are 3 of 15 pairs."""
    sums: dict[str, float] = {}
    for leaf, _ in leduc.ends:
        before, _, after = leaf.name.partition("/")
        betting = f"{before}/{after[2:]}"
        sums[betting] = sums.get(betting, 0) + float(np.abs(leduc.game.matrices[leaf.matrix]).sum())
    for betting, total in sums.items():
        assert total == pytest.approx(1 if betting.strip("/").endswith("f") else 12 / 15)


def test_a_game_is_a_value() -> None:
    game, other = small_game(find_game("kuhn")[1]), small_game(find_game("leduc")[1])
    again = pickle.loads(pickle.dumps(game))
    assert game == small_game(find_game("kuhn")[1]) == again
    assert hash(game) == hash(again)
    assert game != other
    assert game != PublicGame(game.root, game.classes, game.matrices * 2)
    with pytest.raises(ValueError, match="read-only"):
        game.matrices[0, 0, 0] = 1


def test_the_other_side_may_be_player_0() -> None:
    game = find_game("kuhn")[1]
    one, other = small_game(game), small_game(game, first=1)
    assert one.root.player == 0  # type: ignore[union-attr]
    assert other.root.player == 1  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("kuhn.limit.3p", "games of two players can be solved, not one of 3"),
        ("limit", "too large to be solved card by card: 1,326 holdings"),
        ("leduc.nolimit.2p", "its tree has more than 20,000 leaves"),
    ],
)
def test_a_game_that_cannot_be_solved(name: str, sentence: str) -> None:
    with pytest.raises(SolvingError, match=sentence):
        small_game(find_game(name)[1])


def test_all_in_before_the_last_board_card_deals_the_rest() -> None:
    """With stacks of one blind and one bet, a bet and a call are all-in: the board is dealt without more betting."""
    form = sequence_form(small_game(replace(find_game("leduc")[1], stacks=(3, 3))))
    names = {end.leaf.name: end.leaf.chips for end in form.ends}
    assert names["rc/Qh"] == names["crc/As"] == 3
    assert not [name for name in names if name.startswith("rc/") and len(name) > len("rc/Qh")]
    assert abs(exploitability(form, LinearProgram(form).solve().plans)) < 1e-12
