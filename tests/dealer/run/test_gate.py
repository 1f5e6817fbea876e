"""The verdict for a build: all of the interval on one side of the bound."""

from __future__ import annotations

import pytest

from dealer.run.gate import GateVerdict, judge
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
    result = contest(player("A"), player("B", mbb_per_game=99.0, standard_error=5.0), player("C"))
    assert judge(result, "B", 80.0) == (
        "B",
        "the table",
        80.0,
        GateVerdict.PASSED,
        "B over the table: +99.0 ± 10.0 mbb/g (95 %), at least +80 mbb/g.",
        Rate(99.0, 10.0, player="B", opponent="the table"),
        5.0,
        1000,
    )


def test_nobody_else_is_judged() -> None:
    with pytest.raises(KeyError):
        judge(contest(), "C", 0.0)


def test_a_judgement_as_json_and_as_a_test_case() -> None:
    result = contest(player("A", mbb_per_game=-50.0, half_width_95=10.0), player("B"))
    failed = judge(result, "A", 0.0)
    assert failed.facts["verdict"] == "failed"
    assert (failed.facts["mbb_per_game"], failed.facts["half_width_95"], failed.facts["deals"]) == (-50.0, 10.0, 1000)
    assert failed.case == ("A wins at least 0 mbb/g", failed.sentence, "")
    few = judge(contest(player("A", mbb_per_game=None, half_width_95=None), player("B")), "A", 0.0)
    assert few.sentence == "A over B: too few deals (1,000) to compare with +0 mbb/g."
    assert few.case[1:] == ("", "undecided")
