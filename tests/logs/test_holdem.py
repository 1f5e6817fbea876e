"""Blinds and stacks of hold'em. Refusals of other games are tested with the formats."""

from __future__ import annotations

import pytest

from engine.holdem import opening_position
from logs.formats.card_room_games import check_holdem, shown_stacks, usual_blinds
from protocol import find_game
from tests.logs.hands import HOLDEM


@pytest.mark.parametrize("name", HOLDEM)
def test_the_shipped_games_of_holdem(name: str) -> None:
    game = find_game(name)[1]
    check_holdem(game, "X")
    blinds = usual_blinds(game, "X")
    assert game.blinds[blinds.small] * 2 == game.blinds[blinds.big] == game.big_blind
    assert blinds == ((1, 1, 0) if game.num_players == 2 else (game.num_players - 1, 0, 1))


@pytest.mark.parametrize(
    ("blinds", "opening"),
    [((5, 10, 0), 2), ((10, 5), 1), ((5, 10), 0), ((5, 10, 20, 0), 3), ((10, 10, 0), 2), ((0, 0, 10), 0), ((0, 0), 0)],
)
def test_opening_position_is_behind_the_largest_blind(blinds: tuple[int, ...], opening: int) -> None:
    assert opening_position(blinds) == opening


def test_limit_games_without_stacks_are_shown_as_deep() -> None:
    assert shown_stacks(find_game("limit")[1]) == (100_000, 100_000)
    assert shown_stacks(find_game("nolimit3")[1]) == (20_000,) * 3
    wild = find_game("limit")[1]._replace(max_raises=(255,) * 4, raise_sizes=(1000,) * 4)
    assert shown_stacks(wild) == (1_020_020,) * 2
