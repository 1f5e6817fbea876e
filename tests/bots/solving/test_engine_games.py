"""Games of the engine as trees."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from bots.errors import SolvingError
from bots.solving.engine_games import small_game
from bots.solving.equilibria import LinearProgram
from bots.solving.sequence_form import PublicGame, SequenceForm, exploitability, sequence_form
from engine import format_cards
from protocol import find_game


def test_kuhn_has_the_tree_of_its_rules(kuhn: SequenceForm) -> None:
    assert [end.leaf.name for end in kuhn.terminal_nodes] == ["cc", "crf", "crc", "rf", "rc"]
    assert [end.leaf.chips for end in kuhn.terminal_nodes] == [1, -1, 2, 1, 2]
    assert kuhn.game.classes[0] == ("Qs", "Ks", "As")
    assert [choice.name for choice in kuhn.choices[0]] == ["", "cr"]
    assert [choice.name for choice in kuhn.choices[1]] == ["c", "r"]


def test_leduc_has_936_information_sets(leduc: SequenceForm) -> None:
    """Only reachable sets count: with the board card in hand, none is."""
    reached = 0
    for player in (0, 1):
        for choice in leduc.choices[player]:
            board = choice.name.partition("/")[2][:2]
            reached += sum(board != holding for holding in leduc.game.classes[player])
    assert reached == 936


def test_the_chances_of_each_betting_add_up_to_one(leduc: SequenceForm) -> None:
    """Sum over all boards; at a showdown two holdings of equal rank win nothing: 3 of 15 pairs."""
    sums: dict[str, float] = {}
    for leaf, _ in leduc.terminal_nodes:
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
    first_game, second_game = small_game(game), small_game(game, first=1)
    assert first_game.root.player == 0  # type: ignore[union-attr]
    assert second_game.root.player == 1  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("limit", "too large to be solved card by card: 1,326 holdings"),
        ("leduc.nolimit.2p", "its tree has more than 1,000 leaves"),
    ],
)
def test_large_game_is_refused(name: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.solving.engine_games._MAX_LEAVES", 1_000)
    with pytest.raises(SolvingError, match=sentence):
        small_game(find_game(name)[1])


def test_three_players_have_the_tree_of_their_rules(kuhn3: SequenceForm) -> None:
    """25 nodes: 13 ends, 12 decisions of four cards each."""
    assert [end.leaf.name for end in kuhn3.terminal_nodes[:4]] == ["ccc", "ccrff", "ccrfc", "ccrcf"]
    assert len(kuhn3.terminal_nodes) == 13
    assert [len(choices) for choices in kuhn3.choices] == [4, 4, 4]
    for matrix in range(len(kuhn3.game.matrices)):
        payoffs = sum(kuhn3.game.payoffs(matrix, player) for player in range(3))
        assert payoffs == pytest.approx(0, abs=1e-15)


def test_any_player_may_be_player_0() -> None:
    game = find_game("kuhn3")[1]
    last_first = small_game(game, first=2)
    assert last_first.root.player == 1  # type: ignore[union-attr]
    fold = sequence_form(last_first).terminal_nodes[1].leaf
    assert fold.name == "ccrff"
    assert last_first.payoffs(fold.matrix, 0).sum() == pytest.approx(2), "the third to act has bet, and wins two antes"


def test_too_many_players_for_the_cards() -> None:
    game = find_game("kuhn3")[1]._replace(num_ranks=13, num_suits=4)
    with pytest.raises(SolvingError, match="52 holdings for each of 3 players"):
        small_game(game)


def test_the_turns_of_a_game_are_its_decisions(leduc: SequenceForm) -> None:
    for player, choices in enumerate(leduc.choices):
        for choice in choices:
            turn = choice.point
            assert turn.betting.acting_position == player
            assert len(turn.actions) == len(choice.actions)
            assert choice.name.partition("/")[2][:2] == format_cards(turn.board)


def test_all_in_before_the_last_board_card_deals_the_rest() -> None:
    """With stacks of one blind and one bet, a bet and a call are all-in: the board follows without betting."""
    form = sequence_form(small_game(find_game("leduc")[1]._replace(stacks=(3, 3))))
    names = {end.leaf.name: end.leaf.chips for end in form.terminal_nodes}
    assert names["rc/Qh"] == names["crc/As"] == 3
    assert not [name for name in names if name.startswith("rc/") and len(name) > len("rc/Qh")]
    assert abs(exploitability(form, LinearProgram(form).solve().plans)) < 1e-12
