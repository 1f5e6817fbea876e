"""The five decisions in limit and no-limit, at every edge, and their draws."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bots.formula.formulas import Decision, Proportions, action_of
from bots.sdk.conversation import require_legal
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, raise_to

ViewOf = Callable[[str, str], View]


@pytest.mark.parametrize(
    ("game", "state", "actions"),
    [
        # limit: a bet to call, nothing to call, the cap with and without a bet to call, the last round
        ("limit", "MATCHSTATE:1:0::|AhKs", (FOLD, CALL, RAISE, RAISE, RAISE)),
        ("limit", "MATCHSTATE:0:0:c:AhKs|", (CALL, CALL, RAISE, RAISE, RAISE)),
        ("limit", "MATCHSTATE:0:0:rrr:AhKs|", (FOLD, CALL, CALL, CALL, CALL)),
        ("limit", "MATCHSTATE:0:0:cc/rrrr:AhKs|/2c3c4c", (FOLD, CALL, CALL, CALL, CALL)),
        ("limit", "MATCHSTATE:0:0:cc/cc/cc/:AhKs|/2c3c4c/5d/6d", (CALL, CALL, RAISE, RAISE, RAISE)),
        ("limit10", "MATCHSTATE:2:0::||AhKs|||||||", (FOLD, CALL, RAISE, RAISE, RAISE)),
        ("kuhn", "MATCHSTATE:0:0:cr:Ks|", (FOLD, CALL, CALL, CALL, CALL)),
        ("leduc", "MATCHSTATE:0:0::Ks|", (CALL, CALL, RAISE, RAISE, RAISE)),
        # no-limit: the small blind calls 50 into 150: half of 200 more than 100, all of it
        ("nolimit", "MATCHSTATE:1:0::|AhKs", (FOLD, CALL, raise_to(200), raise_to(200), raise_to(300))),
        ("nolimit", "MATCHSTATE:0:0:c:AhKs|", (CALL, CALL, raise_to(200), raise_to(200), raise_to(300))),
        # a bet of 500 into 600 on the flop: 1600 after the call
        ("nolimit", "MATCHSTATE:1:0:r300c/r800:|AhKs/2c3c4c", (FOLD, CALL, *map(raise_to, (1300, 1600, 2400)))),
        # nothing to call on the flop, 600 in the pot
        ("nolimit", "MATCHSTATE:0:0:r300c/:AhKs|/2c3c4c", (CALL, CALL, *map(raise_to, (400, 600, 900)))),
        # an odd pot: half of 1659 is 829
        ("nolimit3", "MATCHSTATE:2:0:r451cc/r553c:||AhKs/2c3c4c", (FOLD, CALL, *map(raise_to, (655, 1382, 2212)))),
        # a stack that half the pot and the pot exceed
        ("nolimit", "MATCHSTATE:1:0:r9000c/r12000:|AhKs/2c3c4c", (FOLD, CALL, *map(raise_to, (15000, 20000, 20000)))),
        # only all-in is left; then only a call of it
        ("nolimit", "MATCHSTATE:0:0:r15000:AhKs|", (FOLD, CALL, *map(raise_to, (20000, 20000, 20000)))),
        ("nolimit", "MATCHSTATE:0:0:r20000:AhKs|", (FOLD, CALL, CALL, CALL, CALL)),
        # the others are all-in or out: no player is left to answer a raise
        ("nolimit3", "MATCHSTATE:1:0:r20000f:|AhKs|", (FOLD, CALL, CALL, CALL, CALL)),
        ("nolimit3", "MATCHSTATE:1:0:fr20000:|AhKs|", (FOLD, CALL, CALL, CALL, CALL)),
        ("nolimit3", "MATCHSTATE:1:0:r20000c:|AhKs|", (FOLD, CALL, CALL, CALL, CALL)),
    ],
)
def test_every_decision(view_of: ViewOf, game: str, state: str, actions: tuple[Action, ...]) -> None:
    view = view_of(game, state)
    assert tuple(action_of(decision, view) for decision in Decision) == actions
    assert all(require_legal(action, view) == action for action in actions)


def test_numbers_are_those_of_the_work() -> None:
    assert [(decision.value, decision.words) for decision in Decision] == [
        (1, "fold"),
        (2, "call"),
        (3, "small raise"),
        (4, "medium raise"),
        (5, "large raise"),
    ]


def test_proportions() -> None:
    proportions = Proportions("20/50/15/10/5")
    assert [proportions.chances[decision] for decision in Decision] == [0.2, 0.5, 0.15, 0.1, 0.05]
    assert Proportions("1/0/0/0/3").chances == {Decision.FOLD: 0.25, Decision.LARGE_RAISE: 0.75}
    assert Proportions(" 0.5 /0.5/0/0/0").chances == {Decision.FOLD: 0.5, Decision.CALL: 0.5}


@pytest.mark.parametrize("text", ["", "1/2/3/4", "1/2/3/4/x", "-1/2/3/4/5", "0/0/0/0/0", "inf/1/1/1/1"])
def test_invalid_proportions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="decisions must be five proportions such as 20/50/15/10/5") as caught:
        Proportions(text)
    assert str(caught.value).endswith(f"not {text!r}")


def test_drawing_hits_every_part_at_its_ends() -> None:
    proportions = Proportions("25/25/0/0/50")
    drawn = [proportions.draw(number) for number in (0.0, 0.2499, 0.25, 0.4999, 0.5, 1 - 2**-53)]
    assert drawn == [1, 1, 2, 2, 5, 5]
    assert Proportions("1/1/1/0/0").draw(1 - 2**-53) is Decision.SMALL_RAISE, "whatever a third rounds to"
    assert Proportions("0/0/0/0/7").draw(0.0) is Decision.LARGE_RAISE


def test_policies_join_decisions_that_are_one_action(view_of: ViewOf) -> None:
    proportions = Proportions("20/50/15/10/5")
    limit = proportions.policy(view_of("limit", "MATCHSTATE:1:0::|AhKs"))
    assert limit == pytest.approx({FOLD: 0.2, CALL: 0.5, RAISE: 0.3})
    free = proportions.policy(view_of("limit", "MATCHSTATE:0:0:c:AhKs|"))
    assert free == pytest.approx({CALL: 0.7, RAISE: 0.3})
    assert proportions.policy(view_of("limit", "MATCHSTATE:0:0:rrr:AhKs|")) == pytest.approx({FOLD: 0.2, CALL: 0.8})
    sized = proportions.policy(view_of("nolimit", "MATCHSTATE:1:0:r300c/r800:|AhKs/2c3c4c"))
    assert sized == pytest.approx(
        {FOLD: 0.2, CALL: 0.5, raise_to(1300): 0.15, raise_to(1600): 0.1, raise_to(2400): 0.05}
    )
