"""Findings, grouped as they come."""

from __future__ import annotations

import re

from dealer.doctor.findings import Finding, Findings, Kind, Severity
from tests.dealer.helpers import ROOT


def finding(kind: Kind, situation: str = "bets", *, severity: Severity | None = None, hand: int = 0) -> Finding:
    return Finding(kind, severity or kind.severity, situation, hand, b"x\r\n", 1, b"s", "wrong", "expected", "advice.")


def test_one_habit_is_one_group() -> None:
    findings = Findings()
    for hand in range(1000):
        findings.add(finding(Kind.JUNK, "bets" if hand < 500 else "raises", hand=hand))
    (group,) = findings
    assert (group.count, group.situations, group.first.hand) == (1000, ("bets", "raises"), 0)
    assert len(findings) == 1


def test_the_worst_come_first_then_the_earliest() -> None:
    findings = Findings()
    for kind in (Kind.LINE_END, Kind.JUNK, Kind.ACTION_LETTER, Kind.SILENT):
        findings.add(finding(kind))
    assert [group.first.kind for group in findings] == [Kind.JUNK, Kind.SILENT, Kind.LINE_END, Kind.ACTION_LETTER]
    assert [findings.count(severity) for severity in Severity] == [0, 2, 2]


def test_the_worst_of_a_kind_is_shown() -> None:
    findings = Findings()
    findings.add(finding(Kind.JUNK, "comments", severity=Severity.WARNING))
    findings.add(finding(Kind.JUNK, "bets"))
    findings.add(finding(Kind.JUNK, "comments", severity=Severity.WARNING))
    (group,) = findings
    assert (group.first.situation, group.first.severity, group.count) == ("bets", Severity.ERROR, 3)
    assert findings.count(Severity.WARNING) == 0


def test_what_was_found_where() -> None:
    findings = Findings()
    findings.add(finding(Kind.JUNK, "bets"))
    findings.add(finding(Kind.SILENT, "raises"))
    assert findings.has(Kind.JUNK)
    assert not findings.has(Kind.FLOOD)
    assert [group.first.kind for group in findings.in_situation("raises")] == [Kind.SILENT]
    assert findings.in_situation("folds") == []


def test_only_what_the_reference_understands_is_a_warning() -> None:
    warnings = {kind.value for kind in Kind if kind.severity is Severity.WARNING}
    documented = (ROOT / "docs" / "doctor.md").read_text("utf-8")
    assert warnings == set(re.findall(r"^\| `([a-z-]+)` \| warning:", documented, re.MULTILINE))
    assert len(warnings) == 8
    assert [severity.word for severity in Severity] == ["note", "warning", "error"]
