from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from engine import BettingType, Game, GameError, format_cards
from engine.game import DEFAULT_STACK
from tests.engine.strategies import games, toy_game

BETTING: Any = {"raise_sizes": (10, 20), "rounds": 2, "first_players": (2, 0), "max_raises": (3, 4)}
LIMIT = toy_game((100, 100, 100), (5, 10, 0), **BETTING, hole_cards=2, board_cards=(0, 3))


def changed_game(**fields: Any) -> Game:
    return LIMIT._replace(**fields)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"num_rounds": 5}, "invalid number of rounds: 5"),
        ({"num_players": 11}, "invalid number of players: 11"),
        ({"stacks": (100, 100)}, "only read 2 stack sizes, need 3"),
        ({"blinds": (5,)}, "only read 1 blinds, need 3"),
        ({"blinds": (5, 101, 0)}, "blind for player 2 is greater than stack size"),
        ({"blinds": (5, 10, -1)}, "blind for player 3 is negative"),
        ({"raise_sizes": (10,)}, "only read 1 raise sizes, need 2"),
        ({"raise_sizes": (10, -20)}, "a raise size is negative"),
        ({"first_players": (2, 3)}, "invalid first player 4 on round 2"),
        ({"num_suits": 5}, "invalid number of suits: 5"),
        ({"num_ranks": 14}, "invalid number of ranks: 14"),
        ({"num_hole_cards": 4}, "invalid number of hole cards: 4"),
        ({"num_board_cards": (0,)}, "only read 1 board card numbers, need 2"),
        ({"num_suits": 1, "num_ranks": 8}, "too many hole and board cards for specified deck"),
        ({"num_board_cards": (4, 4)}, "too many board cards: 8, the most is 7"),
        ({"stacks": (100,) * 4}, "4 stacks given for 3"),
        ({"blinds": (5, 10, 0, 0)}, "4 blinds given for 3"),
        ({"first_players": (2,)}, "1 first players given for 2"),
        ({"max_raises": (3, 4, 4)}, "3 maximal raises given for 2"),
        ({"num_board_cards": (0, 3, 0)}, "3 board card numbers given for 2"),
    ],
)
def test_impossible_games_are_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(GameError) as caught:
        changed_game(**fields)
    assert str(caught.value) == sentence


def test_a_game_is_frozen_and_compares_by_value() -> None:
    with pytest.raises(AttributeError):
        LIMIT.num_players = 2  # type: ignore[misc]
    assert changed_game() == LIMIT
    assert hash(changed_game()) == hash(LIMIT)
    assert changed_game(max_raises=(3, 3)) != LIMIT


def test_derived_numbers() -> None:
    assert LIMIT.is_limit
    assert not changed_game(betting=BettingType.NO_LIMIT, raise_sizes=()).is_limit
    assert LIMIT.cards_per_hand == 9
    assert LIMIT.board_cards_by_round == (0, 3)
    assert LIMIT.big_blind == 10
    assert changed_game(blinds=(0, 0, 0)).big_blind == 1
    assert DEFAULT_STACK == 2147483647


def test_short_decks_keep_the_highest_suits_and_ranks_suit_by_suit() -> None:
    def deck(suits: int, ranks: int) -> str:
        game = changed_game(num_players=2, stacks=(9, 9), blinds=(1, 1), first_players=(0, 0), num_hole_cards=1,
                       num_board_cards=(0, 0), num_suits=suits, num_ranks=ranks)  # fmt: skip
        return format_cards(game.deck)

    assert deck(1, 3) == "QsKsAs"
    assert deck(2, 3) == "QhKhAhQsKsAs"
    assert deck(4, 2) == "KcAcKdAdKhAhKsAs"
    full = deck(4, 13)
    assert full.startswith("2c3c4c")
    assert full.endswith("QsKsAs")
    assert len({full[i : i + 2] for i in range(0, 104, 2)}) == 52


def test_people_read_the_cards_of_one_suit_without_it_and_three_of_them_as_kuhn_calls_them() -> None:
    def show_deck(suits: int, ranks: int) -> str:
        game = changed_game(num_players=2, stacks=(9, 9), blinds=(1, 1), first_players=(0, 0), num_hole_cards=1,
                       num_board_cards=(0, 0), num_suits=suits, num_ranks=ranks)  # fmt: skip
        return " ".join(game.shown_cards(game.deck))

    assert show_deck(1, 3) == "J Q K"
    assert show_deck(1, 4) == "J Q K A"
    assert show_deck(2, 3) == "Qh Kh Ah Qs Ks As"


@given(games())
def test_a_deck_has_so_many_different_cards(game: Game) -> None:
    assert len(set(game.deck)) == len(game.deck) == game.num_suits * game.num_ranks
    assert set(game.deck) <= set(range(52))
    assert game.cards_per_hand <= len(game.deck)
    assert game.board_cards_by_round[-1] == sum(game.num_board_cards)
