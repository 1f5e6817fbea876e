"""Blinds and stacks of hold'em. Refusals of other games are tested with the formats."""

from __future__ import annotations

import json
import tomllib

import pytest

from engine.holdem import opening_position
from logs.errors import UnsupportedGameError
from logs.formats.card_room_games import check_holdem, shown_stacks, usual_blinds
from logs.phh import format_phh
from logs.pokerstars import format_pokerstars
from protocol import find_game, parse_game_definition
from tests.logs.hands import DATA, HOLDEM, TOYS, format_ohh, random_hands


@pytest.mark.parametrize("name", HOLDEM)
def test_the_shipped_games_of_holdem(name: str) -> None:
    game = find_game(name)[1]
    check_holdem(game, "X")
    blinds = usual_blinds(game, "X")
    assert game.blinds[blinds.small] * 2 == game.blinds[blinds.big] == game.big_blind
    assert blinds == ((1, 1, 0) if game.num_players == 2 else (game.num_players - 1, 0, 1))


@pytest.mark.parametrize("name", TOYS)
def test_the_shipped_games_of_other_kinds(name: str) -> None:
    for check in (check_holdem, usual_blinds):
        with pytest.raises(UnsupportedGameError, match="X cannot hold a game with a deck of"):
            check(find_game(name)[1], "X")


def test_uneven_stacks_are_holdem_too() -> None:
    text = (DATA / "games" / "sidepots.nolimit.3p.game").read_text("ascii")
    assert usual_blinds(parse_game_definition(text), "X") == (2, 0, 1)


@pytest.mark.parametrize(
    ("blinds", "opening"),
    [((5, 10, 0), 2), ((10, 5), 1), ((5, 10), 0), ((5, 10, 20, 0), 3), ((10, 10, 0), 2), ((0, 0, 10), 0), ((0, 0), 0)],
)
def test_opening_position(blinds: tuple[int, ...], opening: int) -> None:
    assert opening_position(blinds) == opening


def test_limit_games_without_stacks_are_shown_as_deep() -> None:
    assert shown_stacks(find_game("limit")[1]) == (100_000, 100_000)
    assert shown_stacks(find_game("nolimit3")[1]) == (20_000,) * 3
    wild = find_game("limit")[1]._replace(max_raises=(255,) * 4, raise_sizes=(1000,) * 4)
    assert shown_stacks(wild) == (1_020_020,) * 2


def test_every_format_says_the_same_stacks() -> None:
    (hand,) = random_hands("limit3", 1)
    assert "($100000 in chips)" in format_pokerstars(hand)
    assert tomllib.loads(format_phh(hand))["starting_stacks"] == [100_000] * 3
    assert {p["starting_stack"] for p in json.loads(format_ohh(hand))["ohh"]["players"]} == {100_000}
