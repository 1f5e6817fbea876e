"""What follows from the betting alone."""

from __future__ import annotations

import pytest

from logs.errors import LogsError
from logs.formats import ExportOptions
from logs.pokerstars.plans import NAME_GAPS, Plan, Planner
from logs.pokerstars.stakes import Money
from logs.rake import Rake
from tests.logs.pokerstars.made_hands import made_hand

PLANNER = Planner(Money(ExportOptions()), None, "\n")


def named(text: str) -> str:
    """The text with A, B, C, ... for the positions."""
    for position, gap in enumerate(NAME_GAPS):
        text = text.replace(gap, "ABCDEFGHIJ"[position])
    return text


def plan_of(betting: str, stacks: tuple[int, ...], planner: Planner = PLANNER) -> Plan:
    holes = ("AsAd", "KsKd", "QsQd")[: len(stacks)]
    name = "nolimit3" if len(stacks) == 3 else "nolimit"
    return planner.plan(made_hand(name, betting, " ".join(holes), "2c3c4c 8h 9d", stacks=stacks))


def test_gaps_are_characters_that_no_line_has() -> None:
    assert len(set(NAME_GAPS)) == 10
    assert not set(NAME_GAPS) & set("\r\n")
    assert all(gap < " " for gap in NAME_GAPS)


def test_what_nobody_called_comes_back_before_the_next_street() -> None:
    plan = plan_of("r300c/r15000c//", (20000, 15000))
    assert named(plan.text) == (
        "B: raises $200 to $300\nA: calls $200\n"
        "*** FLOP *** [%s]\nA: bets $14700\nB: calls $14700 and is all-in\n"
        "*** TURN *** [%s] [%s]\n*** RIVER *** [%s %s] [%s]\n"
    )
    plan = plan_of("r300c/r20000c//", (20000, 15000))
    assert "B: calls $14700 and is all-in\nUncalled bet ($5000) returned to A\n*** TURN ***" in named(plan.text)
    assert (plan.street, plan.pots, plan.showing) == (3, ((30000, (0, 1)),), (0, 1))


def test_pots_and_who_plays_for_them() -> None:
    plan = plan_of("r300r500cc/r2000c//", (2000, 3000, 500))
    assert plan.pots == ((1500, (0, 1, 2)), (3000, (0, 1)))
    assert plan.showing == (0, 1, 2)
    assert plan.folded_texts == ("", "", "")
    outcome = PLANNER.outcome(plan, ((2,), (0, 1)))
    assert named(outcome.text) == (
        "*** SHOW DOWN ***\nA: shows [%s] (%s)\nB: shows [%s] (%s)\nC: shows [%s] (%s)\n"
        "A collected $1500 from side pot\nB collected $1500 from side pot\nC collected $1500 from main pot\n"
        "*** SUMMARY ***\nTotal pot $4500 Main pot $1500. Side pot $3000. | Rake $0 \nBoard [%s %s %s]\n"
    )
    assert outcome.seat_texts == tuple(["showed [%s] and won ($1500) with %s\n"] * 3)


def test_who_folded_where() -> None:
    plan = plan_of("ccc/r300fc/cc/r600f", (20000, 20000, 20000))
    assert plan.folded_texts == ("", "folded on the Flop", "folded on the River")
    assert plan.showing == ()
    outcome = PLANNER.outcome(plan, tuple(pot.players for pot in plan.pots))
    assert outcome.seat_texts == ("collected ($700)\n", "folded on the Flop\n", "folded on the River\n")
    assert named(outcome.text).startswith("A collected $700 from pot\nA: doesn't show hand \n*** SUMMARY ***\n")
    assert plan_of("ff", (20000,) * 3).folded_texts == ("folded before Flop", "", "folded before Flop (didn't bet)")


@pytest.mark.parametrize(
    ("betting", "stacks", "text"),
    [
        ("c///", (20000, 50), "Uncalled bet ($50) returned to A\n*** FLOP ***"),
        ("cc///", (20000, 80), "B: calls $30 and is all-in\nUncalled bet ($20) returned to A\n*** FLOP ***"),
        ("cfc///", (20000, 20000, 60), "C: calls $60 and is all-in\nA: folds \nUncalled bet ($40) returned to B\n"),
        ("ccc/cc/cc/cc", (20000, 20000, 60), "C: calls $60 and is all-in\nA: calls $50\nB: checks \n*** FLOP ***"),
    ],
)
def test_checks_that_nobody_is_asked_for(betting: str, stacks: tuple[int, ...], text: str) -> None:
    assert named(plan_of(betting, stacks).text).startswith(text)


def test_rake_is_shared_out_among_the_pots() -> None:
    raked = Planner(Money(ExportOptions()), Rake(10), "\n")
    plan = plan_of("r300r500cc/r2000c//", (2000, 3000, 500), raked)
    assert plan.rake_cents == 45000
    outcome = raked.outcome(plan, ((2,), (0,)))
    assert "Total pot $4500 Main pot $1350. Side pot $2700. | Rake $450 \n" in outcome.text
    greedy = Planner(Money(ExportOptions()), lambda *_: 4501, "\n")
    with pytest.raises(LogsError, match="hand 0: a rake of 4501 from a pot of 4500"):
        plan_of("r300r500cc/r2000c//", (2000, 3000, 500), greedy)
