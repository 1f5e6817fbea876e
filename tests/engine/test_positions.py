"""Names of positions and rounds."""

from __future__ import annotations

import pytest

from engine.holdem import POSITION_ORDER, has_usual_blinds, position_names, round_names
from protocol import find_game


@pytest.mark.parametrize(
    ("game", "names"),
    [
        ("nolimit", "BB SB"),
        ("nolimit3", "SB BB BTN"),
        ("limit6", "SB BB UTG HJ CO BTN"),
        ("nolimit10", "SB BB UTG UTG+1 UTG+2 UTG+3 UTG+4 HJ CO BTN"),
        ("kuhn3", "1st 2nd 3rd"),
        ("leduc", "1st 2nd"),
    ],
)
def test_positions_of_shipped_games(game: str, names: str) -> None:
    assert position_names(find_game(game)[1]) == tuple(names.split())


@pytest.mark.parametrize(
    ("players", "names"),
    [
        (4, "SB BB CO BTN"),
        (5, "SB BB UTG CO BTN"),
        (7, "SB BB UTG UTG+1 HJ CO BTN"),
        (8, "SB BB UTG UTG+1 UTG+2 HJ CO BTN"),
        (9, "SB BB UTG UTG+1 UTG+2 UTG+3 HJ CO BTN"),
    ],
)
def test_every_size_of_table(players: int, names: str) -> None:
    ten = find_game("nolimit10")[1]
    game = ten._replace(num_players=players, stacks=ten.stacks[:players], blinds=ten.blinds[:players])
    game = game._replace(first_players=(2 % players, 0, 0, 0))
    positions = position_names(game)
    assert positions == tuple(names.split())
    assert [name for name in POSITION_ORDER if name in positions] == list(positions)


def test_heads_up_the_small_blind_may_be_either_position() -> None:
    game = find_game("nolimit")[1]
    assert game.blinds == (100, 50)
    assert position_names(game) == ("BB", "SB")


def test_rounds_are_named() -> None:
    assert round_names(find_game("limit6")[1]) == ("preflop", "flop", "turn", "river")
    assert round_names(find_game("leduc")[1]) == ("round 1", "round 2")


def test_unusual_blinds_are_no_holdem_here() -> None:
    game = find_game("nolimit3")[1]._replace(blinds=(50, 100, 100))
    assert not has_usual_blinds(game)
    assert position_names(game) == ("1st", "2nd", "3rd")
    assert has_usual_blinds(find_game("nolimit3")[1])
