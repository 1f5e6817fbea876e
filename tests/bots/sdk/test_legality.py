"""Refusal of illegal actions of bots."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bots.errors import IllegalReply
from bots.sdk.conversation import require_legal
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, ActionKind, Rule, raise_to

ViewOf = Callable[[str, str], View]
OPEN = "MATCHSTATE:1:4::|AsAd"


def test_legal_answers_pass(view_of: ViewOf) -> None:
    view = view_of("nolimit", OPEN)
    assert require_legal(CALL, view) is CALL
    assert require_legal(FOLD, view) == FOLD
    assert require_legal(raise_to(200), view) == raise_to(200)
    assert require_legal(Action(ActionKind(2), True + 299), view) == raise_to(300)
    limit = view_of("limit", "MATCHSTATE:1:7:cr:|AhKs")
    assert require_legal(RAISE, limit) == RAISE
    assert require_legal(raise_to(30), limit) == RAISE, "the protocol writes a limit raise without its size"


def test_plain_number_is_a_kind(view_of: ViewOf) -> None:
    answer = Action(0)  # type: ignore[arg-type]
    assert require_legal(answer, view_of("nolimit", OPEN)) == FOLD


@pytest.mark.parametrize(
    ("game", "state", "answer", "rule", "sentence"),
    [
        (
            "nolimit",
            OPEN,
            raise_to(150),
            Rule.BELOW_MINIMUM,
            "the bot answered raise to 150 in hand 4: the raise is below the smallest legal size (150, at least 200) "
            "(rule BELOW_MINIMUM); the state was MATCHSTATE:1:4::|AsAd",
        ),
        ("nolimit", OPEN, raise_to(20001), Rule.ABOVE_MAXIMUM, "at most 20000"),
        ("limit", "MATCHSTATE:0:9:c:AhKs|", FOLD, Rule.NOTHING_TO_FOLD_TO, "check instead"),
        ("limit", "MATCHSTATE:1:9:crrr:|AhKs", RAISE, Rule.RAISE_CAP, "all the raises the game allows"),
        ("limit", "MATCHSTATE:1:7:cr:|AhKs", raise_to(20), Rule.BELOW_MINIMUM, "makes the total 30"),
        ("kuhn", "MATCHSTATE:0:3:crc:Qs|Ks", FOLD, Rule.HAND_OVER, "the hand is over"),
        ("nolimit", OPEN, None, None, "the bot answered None in hand 4: act() must return an Action"),
        ("nolimit", OPEN, Action(ActionKind.CALL, 200), None, "only a raise has a size"),
        ("nolimit", OPEN, Action(ActionKind.RAISE, 250.5), None, "a whole number of chips"),  # type: ignore[arg-type]
        ("nolimit", OPEN, Action(7), None, "the bot answered (7, 0)"),  # type: ignore[arg-type]
    ],
)
def test_illegal_answers_are_refused(
    view_of: ViewOf, game: str, state: str, answer: object, rule: Rule | None, sentence: str
) -> None:
    with pytest.raises(IllegalReply) as caught:
        require_legal(answer, view_of(game, state))
    error = caught.value
    assert sentence in str(error)
    assert (error.rule, error.state) == (rule, state)
    assert error.hand_number == int(state.split(":")[2])
    assert "\n" not in str(error)
