"""Recognition of hold'em; formats of card rooms are tested with the formats."""

from __future__ import annotations

import pytest

from engine.holdem import card_room_difference, holdem_blinds, is_dealt_as_holdem, is_holdem
from protocol import find_game


@pytest.mark.parametrize("name", ["limit", "nolimit", "limit3", "nolimit6", "limit10"])
def test_holdem_is_recognised(name: str) -> None:
    game = find_game(name)[1]
    assert is_holdem(game)
    assert is_dealt_as_holdem(game)
    assert card_room_difference(game) is None
    assert holdem_blinds(game) is not None


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_other_games_are_no_holdem(name: str) -> None:
    game = find_game(name)[1]
    assert not is_holdem(game)
    assert not is_dealt_as_holdem(game)
    assert holdem_blinds(game) is None


def test_a_short_deck_is_dealt_as_holdem_and_is_another_game() -> None:
    game = find_game("nolimit")[1]._replace(num_ranks=9)
    assert is_dealt_as_holdem(game)
    assert not is_holdem(game)
    assert card_room_difference(game) == "a deck of 36 cards"


def test_two_rounds_are_dealt_as_holdem_and_are_another_game() -> None:
    whole = find_game("nolimit")[1]
    game = whole._replace(num_rounds=2, num_board_cards=(0, 3), first_players=(1, 0), max_raises=(3, 3))
    assert is_dealt_as_holdem(game)
    assert not is_holdem(game)
    assert card_room_difference(game) == "a board of 0 + 3 cards"


def test_odd_blinds_have_no_small_and_big_blind() -> None:
    game = find_game("nolimit3")[1]._replace(blinds=(50, 100, 100), first_players=(0, 0, 0, 0))
    assert card_room_difference(game) is None
    assert holdem_blinds(game) is None
