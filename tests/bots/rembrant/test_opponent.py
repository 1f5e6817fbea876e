"""The opponent's last action, read from the betting, with two players and with more."""

from __future__ import annotations

import pytest

from bots.rembrant.bot import read_opponent
from bots.rembrant.rules import Opponent
from bots.sdk.view import View
from engine import CALL, Action, Hand, deal_hand, raise_to
from protocol import find_game
from tests.bots.playing import ViewOf


@pytest.mark.parametrize(
    ("betting", "position", "opponent"),
    [
        ("", 1, Opponent.NONE),
        ("c", 0, Opponent.CHECK_OR_CALL),
        ("r300", 0, Opponent.RAISE),
        ("r300r900", 1, Opponent.RE_RAISE),
        ("r20000", 0, Opponent.ALL_IN),
        ("r300r20000", 1, Opponent.ALL_IN),
        ("r300r19999", 1, Opponent.RE_RAISE),
        ("cc/", 0, Opponent.NONE),
        ("r300r900c/", 0, Opponent.NONE),
        ("cc/c", 1, Opponent.CHECK_OR_CALL),
        ("cc/r200", 1, Opponent.RAISE),
        ("cc/cr200r600", 1, Opponent.RE_RAISE),
    ],
)
def test_with_two_players(view_of: ViewOf, betting: str, position: int, opponent: Opponent) -> None:
    cards = "AhKd|" if position == 0 else "|AhKd"
    board = "/9c8d2h" if "/" in betting else ""
    assert read_opponent(view_of("nolimit", f"MATCHSTATE:{position}:0:{betting}:{cards}{board}")) is opponent


@pytest.mark.parametrize(
    ("betting", "opponent"),
    [
        ("ff", Opponent.NONE),
        ("fr300", Opponent.RAISE),
        ("r300f", Opponent.RAISE),
        ("r300r900", Opponent.RE_RAISE),
        ("r20000f", Opponent.ALL_IN),
        ("cc", Opponent.CHECK_OR_CALL),
    ],
)
def test_with_more_players(view_of: ViewOf, betting: str, opponent: Opponent) -> None:
    """Two players act before us; we sit on the button or after it."""
    assert read_opponent(view_of("nolimit6", f"MATCHSTATE:4:0:{betting}:||||AhKd|")) is opponent


def view_after(stacks: tuple[int, int], actions: list[Action]) -> View:
    game = find_game("nolimit")[1]._replace(stacks=stacks)
    hand = Hand(game, deal_hand(game, 1, 0))
    for action in actions:
        hand.apply(action)
    return View.from_hand(hand, hand.acting_position)


def test_unequal_stacks() -> None:
    """All-in is a raise of the opponent's whole stack, or of ours."""
    short_raiser, short_caller = (20000, 900), (900, 20000)
    assert read_opponent(view_after(short_raiser, [raise_to(900)])) is Opponent.ALL_IN
    assert read_opponent(view_after(short_caller, [raise_to(900)])) is Opponent.ALL_IN
    assert read_opponent(view_after(short_caller, [raise_to(899)])) is Opponent.RAISE
    assert read_opponent(view_after(short_caller, [CALL])) is Opponent.CHECK_OR_CALL


def test_limit_raises_are_never_all_in(view_of: ViewOf) -> None:
    assert read_opponent(view_of("limit", "MATCHSTATE:1:0:crrr:|AhKd")) is Opponent.RE_RAISE
    assert read_opponent(view_of("limit", "MATCHSTATE:0:0:crr:AhKd|")) is Opponent.RE_RAISE
