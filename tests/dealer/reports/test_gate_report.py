"""Verdicts of a gate, which need the whole guaranteed interval on one side of the bound."""

from __future__ import annotations

import pytest

from dealer.reports.gate_report import gate_case, judge
from logs.document.plain import json_data
from logs.estimation import Estimate
from tests.dealer.results_of import contest, player, winnings


@pytest.mark.parametrize(
    ("mean", "half", "bound", "verdict"),
    [
        (0.0, 10.0, -20.0, "passed"),
        (-10.0, 10.0, -20.0, "passed"),
        (-11.0, 10.0, -20.0, "undecided"),
        (-30.0, 10.0, -20.0, "undecided"),
        (-31.0, 10.0, -20.0, "failed"),
        (50.0, None, -20.0, "undecided"),
        (None, None, -20.0, "undecided"),
    ],
)
def test_guaranteed_interval_decides_the_verdict(
    mean: float | None, half: float | None, bound: float, verdict: str
) -> None:
    won = None if mean is None else winnings(Estimate(mean, 1.0, 1.0, half))
    result = contest(player("A", won=won), player("B"))
    judgement = judge(result, "A", bound)
    assert judgement.sentences[0].startswith(f"{verdict}: A over B: ")
    assert f"{bound:+,g} mbb/g" in judgement.sentences[0]


def test_any_player_can_be_judged_against_the_table() -> None:
    result = contest(player("A"), player("B", won=winnings(Estimate(99.0, 9.0, 5.0, 10.0))), player("C"))
    assert json_data(judge(result, "B", 80.0)) == {
        "schema_version": 1,
        "verdict": "passed",
        "sentence": "B over the table: +99.0 ± 10.0 mbb/g (95 %, guaranteed), at least +80 mbb/g.",
        "player": "B",
        "opponent": "the table",
        "min_mbb": 80.0,
        "mbb_per_game": 99.0,
        "half_width_95": 10.0,
        "standard_error": 5.0,
        "deals": 1000,
    }


def test_judgement_of_an_unknown_player_is_an_error() -> None:
    with pytest.raises(KeyError):
        judge(contest(), "C", 0.0)


def test_judgement_is_a_test_case() -> None:
    result = contest(player("A", won=winnings(Estimate(-50.0, 9.0, 4.0, 10.0))), player("B"))
    failed = judge(result, "A", 0.0)
    case = gate_case(failed)
    assert (case.name, f"failed: {case.result[0].text}") == ("A wins at least 0 mbb/g", *failed.sentences)
    few = judge(contest(player("A", won=None), player("B")), "A", 0.0)
    assert few.sentences == ("undecided: A over B: too few deals (1,000) to compare with +0 mbb/g.",)
    assert gate_case(few).result[0].message == "undecided"
