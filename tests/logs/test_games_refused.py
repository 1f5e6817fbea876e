"""Tracker formats hold hold'em with one small and one big blind; other games are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logs import HandRecord
from logs.errors import UnsupportedGameError
from logs.phh import format_phh
from logs.pokerstars import format_pokerstars
from protocol import find_game
from tests.logs.hands import TOYS, format_ohh, random_hands

FORMATS = [(format_pokerstars, "PokerStars hand history"), (format_ohh, "Open Hand History")]


@pytest.mark.parametrize("name", TOYS)
@pytest.mark.parametrize(("format_hand", "format_name"), [*FORMATS, (format_phh, "PHH")])
def test_other_games_are_refused_in_one_sentence(
    format_hand: Callable[[HandRecord], str], format_name: str, name: str
) -> None:
    with pytest.raises(UnsupportedGameError) as caught:
        format_hand(random_hands(name, 1)[0])
    cards = caught.value.problem.split("a deck of ")[1].split(" ")[0]
    assert str(caught.value) == f"{format_name} cannot hold a game with a deck of {cards} cards; an ACPC log can"
    assert caught.value.format_name == format_name


@pytest.mark.parametrize(
    ("blinds", "first"),
    [((50, 100, 200), 0), ((0, 100, 0), 2), ((100, 0, 50), 1)],
)
@pytest.mark.parametrize(("format_hand", "format_name"), FORMATS)
def test_other_blinds_are_refused_and_phh_holds_them(
    format_hand: Callable[[HandRecord], str], format_name: str, blinds: tuple[int, ...], first: int
) -> None:
    game = find_game("nolimit3")[1]._replace(blinds=blinds, first_players=(first, 0, 0, 0))
    (hand,) = random_hands(game, 1)
    with pytest.raises(UnsupportedGameError) as caught:
        format_hand(hand)
    assert str(caught.value) == (
        f"{format_name} needs one small and one big blind, but the blinds by position are "
        f"{', '.join(map(str, blinds))}; PHH and an ACPC log hold the game"
    )
    assert format_phh(hand)
