"""What follows from the betting alone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from engine import BettingState, Seat
from logs.errors import LogsError
from logs.formats.card_room_games import usual_blinds
from logs.formats.export_format import ExportOptions
from logs.formats.money import Rake
from logs.formats.settlement import street_actions
from logs.pokerstars import plans
from logs.pokerstars.plans import BettingPlan, Planner, TableText
from logs.pokerstars.stakes import FORMAT_NAME, Money
from logs.pokerstars.writer import format_pokerstars_file
from logs.record import HandRecord
from tests.logs.hands import random_hands
from tests.logs.pokerstars.made_hands import made_hand

PLANNER_MONEY = Money(ExportOptions())
PLANNER = Planner(PLANNER_MONEY, None, "\n")


def table_of(record: HandRecord) -> TableText:
    """Where A, B, C, ... sit."""
    players = len(record.seats)
    return TableText(
        record.game,
        usual_blinds(record.game, FORMAT_NAME),
        tuple(map(Seat, range(players))),
        "ABCDEFGHIJ"[:players],
        first_line="Hand #%s at %s",
        table_name="T",
        money=PLANNER_MONEY,
        line_end="\n",
    )


def plan_of(betting: str, stacks: tuple[int, ...], planner: Planner = PLANNER) -> BettingPlan:
    holes = ("AsAd", "KsKd", "QsQd")[: len(stacks)]
    name = "nolimit3" if len(stacks) == 3 else "nolimit"
    record = made_hand(name, betting, " ".join(holes), "2c3c4c 8h 9d", stacks=stacks)
    return planner.plan(record, table_of(record))


def ending_of(plan: BettingPlan, winners: tuple[tuple[int, ...], ...], planner: Planner = PLANNER) -> str:
    """What comes behind the actions."""
    table = SimpleNamespace(
        names="ABC", head="", seat_texts=[f"{name} " for name in "ABC"], by_seat=range(len(plan.folded_texts))
    )
    template = "%s".join(planner.ending(plan, table, winners).pieces[::2])  # type: ignore[arg-type]
    return template.removeprefix("%s" + plan.text)


def test_what_nobody_called_comes_back_before_the_next_street() -> None:
    plan = plan_of("r300c/r15000c//", (20000, 15000))
    assert plan.text == (
        "B: raises $200 to $300\nA: calls $200\n"
        "*** FLOP *** [%s]\nA: bets $14700\nB: calls $14700 and is all-in\n"
        "*** TURN *** [%s] [%s]\n*** RIVER *** [%s %s] [%s]\n"
    )
    plan = plan_of("r300c/r20000c//", (20000, 15000))
    assert "B: calls $14700 and is all-in\nUncalled bet ($5000) returned to A\n*** TURN ***" in plan.text
    assert (plan.street, plan.pots, plan.showing) == (3, ((30000, (0, 1)),), (0, 1))


def test_pots_and_who_plays_for_them() -> None:
    plan = plan_of("r300r500cc/r2000c//", (2000, 3000, 500))
    assert plan.pots == ((1500, (0, 1, 2)), (3000, (0, 1)))
    assert plan.showing == (0, 1, 2)
    assert plan.folded_texts == ("", "", "")
    assert ending_of(plan, ((2,), (0, 1))) == (
        "*** SHOW DOWN ***\nA: shows [%s] (%s)\nB: shows [%s] (%s)\nC: shows [%s] (%s)\n"
        "A collected $1500 from side pot\nB collected $1500 from side pot\nC collected $1500 from main pot\n"
        "*** SUMMARY ***\nTotal pot $4500 Main pot $1500. Side pot $3000. | Rake $0 \nBoard [%s %s %s]\n"
        + "".join(f"{name} showed [%s] and won ($1500) with %s\n" for name in "ABC")
        + "\n\n"
    )


def test_who_folded_where() -> None:
    plan = plan_of("ccc/r300fc/cc/r600f", (20000, 20000, 20000))
    assert plan.folded_texts == ("", "folded on the Flop", "folded on the River")
    assert plan.showing == ()
    ending = ending_of(plan, tuple(pot.players for pot in plan.pots))
    assert ending.startswith("A collected $700 from pot\nA: doesn't show hand \n*** SUMMARY ***\n")
    assert ending.endswith("\nA collected ($700)\nB folded on the Flop\nC folded on the River\n\n\n")
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
    assert plan_of(betting, stacks).text.startswith(text)


def test_rake_is_shared_out_among_the_pots() -> None:
    raked = Planner(Money(ExportOptions()), Rake(10), "\n")
    plan = plan_of("r300r500cc/r2000c//", (2000, 3000, 500), raked)
    assert plan.rake_cents == 45000
    ending = ending_of(plan, ((2,), (0,)), raked)
    assert "Total pot $4500 Main pot $1350. Side pot $2700. | Rake $450 \n" in ending
    greedy = Planner(Money(ExportOptions()), lambda *_: 4501, "\n")
    with pytest.raises(LogsError, match="hand 0: a rake of 4501 from a pot of 4500"):
        plan_of("r300r500cc/r2000c//", (2000, 3000, 500), greedy)


@pytest.mark.parametrize("max_streets", [0, 3])
@pytest.mark.parametrize("name", ["limit", "limit3"])
def test_streets_remembered_change_nothing(name: str, max_streets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it whether a street is made of its own hand or of another one with the same actions."""
    hands = random_hands(name, 60)
    whole = list(format_pokerstars_file(hands))
    monkeypatch.setattr(plans, "_MAX_STREETS", max_streets)
    assert list(format_pokerstars_file(hands)) == whole
    monkeypatch.setattr(Planner, "_limit_streets", _streets_of_steps)
    assert list(format_pokerstars_file(hands)) == whole


def _streets_of_steps(planner: Planner, betting: BettingState, table: TableText) -> list[object]:
    """The streets as those of no-limit games are made."""
    steps = street_actions(betting)
    return [planner._street(r, [s for s in steps if s.round == r], table) for r in range(betting.round + 1)]
