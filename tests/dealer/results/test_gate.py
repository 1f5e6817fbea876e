"""The verdict for a build: all of the interval on one side of the bound."""

from __future__ import annotations

import pytest

from dealer.results.gate import GateVerdict, judge
from logs.estimation import Rate
from tests.dealer.results_of import contest, player


@pytest.mark.parametrize(
    ("mean", "half", "bound", "verdict"),
    [
        (0.0, 10.0, -20.0, GateVerdict.PASSED),
        (-10.0, 10.0, -20.0, GateVerdict.PASSED),
        (-11.0, 10.0, -20.0, GateVerdict.UNDECIDED),
        (-30.0, 10.0, -20.0, GateVerdict.UNDECIDED),
        (-31.0, 10.0, -20.0, GateVerdict.FAILED),
        (50.0, None, -20.0, GateVerdict.UNDECIDED),
        (None, None, -20.0, GateVerdict.UNDECIDED),
    ],
)
def test_the_interval_decides(mean: float | None, half: float | None, bound: float, verdict: GateVerdict) -> None:
    result = contest(player("A", mbb_per_game=mean, half_width_95=half), player("B"))
    judgement = judge(result, "A", bound)
    assert judgement.verdict is verdict
    assert judgement.sentence.startswith("A over B: ")
    assert f"{bound:+,g} mbb/g" in judgement.sentence


def test_any_player_can_be_judged_against_the_table() -> None:
    result = contest(player("A"), player("B", mbb_per_game=99.0), player("C"))
    assert judge(result, "B", 80.0) == (
        GateVerdict.PASSED,
        "B over the table: +99.0 ± 10.0 mbb/g (95 %), at least +80 mbb/g.",
        Rate(99.0, 10.0, "B", "the table"),
        1000,
    )


def test_nobody_else_is_judged() -> None:
    with pytest.raises(KeyError):
        judge(contest(), "C", 0.0)
