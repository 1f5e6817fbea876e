"""Sentences about the end of a contest."""

from __future__ import annotations

import pytest

from dealer.run.ending import stop_reason
from logs.estimation import Verdict, parse_stop_rule


@pytest.mark.parametrize(
    ("rule", "verdict", "reason"),
    [
        ("7", None, "it has completed 7 deals."),
        ("ci=50", None, "the guaranteed interval is within ± 50 mbb/g."),
        ("ci=1234567.5", None, "the guaranteed interval is within ± 1234567.5 mbb/g."),
        ("better:0,300", Verdict.BETTER, "better: Anna wins more than 0 mbb/g from Bert (error rate 5 %)."),
        (
            "better:-2.5,300,0.01,0.002",
            Verdict.NOT_BETTER,
            "not better: Anna wins less than 300 mbb/g from Bert (error rate 0.2 %).",
        ),
    ],
)
def test_reason_names_the_stop_rule(rule: str, verdict: Verdict | None, reason: str) -> None:
    assert stop_reason(parse_stop_rule(rule), verdict, "Anna", "Bert") == reason
