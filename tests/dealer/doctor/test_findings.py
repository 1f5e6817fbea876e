"""Groups of findings, their order and severity."""

from __future__ import annotations

import re

from dealer.doctor.findings import Examination
from dealer.doctor.judge import Kind, Problem, SentState, Severity
from dealer.doctor.situations import DoctorSettings, find_situation
from engine import betting_start
from tests.dealer.helpers import game
from tests.scripts import script


def add(
    examination: Examination, kind: Kind, situation: str = "bets", *, severity: Severity | None = None, hand: int = 0
) -> None:
    about = SentState(b"s", hand, situation, betting_start(game("kuhn")), True)
    examination.situation = find_situation(situation)
    examination.find(Problem(kind, 1, "wrong", "advice.", "expected"), b"x\r\n", about, severity=severity)


def new_examination() -> Examination:
    return Examination(DoctorSettings(), game("kuhn"))


def test_repeated_problem_is_one_group() -> None:
    examination = new_examination()
    for hand in range(1000):
        add(examination, Kind.JUNK, "bets" if hand < 500 else "raises", hand=hand)
    (group,) = examination.findings
    assert group.count == 1000
    assert group.situations == ("bets", "raises")
    assert group.hand == 0


def test_findings_are_sorted_by_severity_then_time() -> None:
    examination = new_examination()
    for kind in (Kind.LINE_END, Kind.JUNK, Kind.ACTION_LETTER, Kind.SILENT):
        add(examination, kind)
    kinds = [group.kind for group in examination.findings]
    assert kinds == [Kind.JUNK, Kind.SILENT, Kind.LINE_END, Kind.ACTION_LETTER]
    report = examination.report(bot="x", game="kuhn")
    assert report.notes == 0
    assert report.warnings == 2
    assert report.errors == 2


def test_most_severe_problem_represents_its_group() -> None:
    examination = new_examination()
    add(examination, Kind.JUNK, "comments", severity=Severity.WARNING)
    add(examination, Kind.JUNK, "bets")
    add(examination, Kind.JUNK, "comments", severity=Severity.WARNING)
    (group,) = examination.findings
    assert group.situation == "bets"
    assert group.severity is Severity.ERROR
    assert group.count == 3
    assert examination.report(bot="x", game="kuhn").warnings == 0


def test_error_in_a_mild_situation_is_a_warning() -> None:
    examination = new_examination()
    add(examination, Kind.JUNK, "comments")
    (group,) = examination.findings
    assert group.severity is Severity.WARNING


def test_findings_name_their_situations() -> None:
    examination = new_examination()
    add(examination, Kind.JUNK, "bets")
    add(examination, Kind.SILENT, "raises")
    assert examination.has(Kind.JUNK)
    assert not examination.has(Kind.FLOOD)
    assert [group.kind for group in examination.findings if "raises" in group.situations] == [Kind.SILENT]


def test_page_has_all_warnings_and_notes() -> None:
    warnings = {kind.value for kind in Kind if kind.severity is Severity.WARNING}
    page = script("docs/reference.py").doctor_findings()
    assert warnings == set(re.findall(r"^## ([a-z-]+)\n\n\*warning\*: ", page, re.MULTILINE))
    assert len(warnings) == 10
    notes = {kind.value for kind in Kind if kind.severity is Severity.NOTE}
    assert notes == set(re.findall(r"^## ([a-z-]+)\n\n\*note\*: ", page, re.MULTILINE)) == {"early", "two-pieces"}
