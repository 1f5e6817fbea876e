"""Findings, grouped as they come."""

from __future__ import annotations

import re

from dealer.doctor.judge import Kind, Problem, Role, SentState, Severity
from dealer.doctor.report import Finding, Findings
from engine import betting_start
from tests.dealer.helpers import ROOT, game


def finding(kind: Kind, situation: str = "bets", *, severity: Severity | None = None, hand: int = 0) -> Finding:
    about = SentState(b"s", hand, situation, Role.ASKS, betting_start(game("kuhn")))
    problem = Problem(kind, 1, "wrong", "expected", "advice.")
    return Finding.of(problem, severity or kind.severity, situation, line=b"x\r\n", about=about)


def test_one_habit_is_one_group() -> None:
    findings = Findings()
    for hand in range(1000):
        findings.add(finding(Kind.JUNK, "bets" if hand < 500 else "raises", hand=hand))
    (group,) = findings
    assert (group.count, group.situations, group.hand) == (1000, ("bets", "raises"), 0)


def test_the_worst_come_first_then_the_earliest() -> None:
    findings = Findings()
    for kind in (Kind.LINE_END, Kind.JUNK, Kind.ACTION_LETTER, Kind.SILENT):
        findings.add(finding(kind))
    assert [group.kind for group in findings] == [Kind.JUNK, Kind.SILENT, Kind.LINE_END, Kind.ACTION_LETTER]
    assert [findings.count(severity) for severity in Severity] == [0, 2, 2]


def test_the_worst_of_a_kind_is_shown() -> None:
    findings = Findings()
    findings.add(finding(Kind.JUNK, "comments", severity=Severity.WARNING))
    findings.add(finding(Kind.JUNK, "bets"))
    findings.add(finding(Kind.JUNK, "comments", severity=Severity.WARNING))
    (group,) = findings
    assert (group.situation, group.severity, group.count) == ("bets", Severity.ERROR, 3)
    assert findings.count(Severity.WARNING) == 0


def test_what_was_found_where() -> None:
    findings = Findings()
    findings.add(finding(Kind.JUNK, "bets"))
    findings.add(finding(Kind.SILENT, "raises"))
    assert findings.has(Kind.JUNK)
    assert not findings.has(Kind.FLOOD)
    assert [group.kind for group in findings if "raises" in group.situations] == [Kind.SILENT]


def test_only_what_the_reference_understands_is_a_warning() -> None:
    warnings = {kind.value for kind in Kind if kind.severity is Severity.WARNING}
    documented = (ROOT / "docs" / "doctor.md").read_text("utf-8")
    assert warnings == set(re.findall(r"^\| `([a-z-]+)` \| warning:", documented, re.MULTILINE))
    assert len(warnings) == 8
