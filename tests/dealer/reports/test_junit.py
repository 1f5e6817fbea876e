"""JUnit reports for build servers."""

from __future__ import annotations

from xml.etree import ElementTree

from dealer.reports.gate_report import junit_case, junit_report
from tests.dealer.results_of import contest, player


def counts(element: ElementTree.Element) -> tuple[str | None, ...]:
    return tuple(element.get(key) for key in ("tests", "failures", "skipped"))


def test_contest_without_faults_passes() -> None:
    root = ElementTree.fromstring(junit_report(contest()))
    assert counts(root) == ("3", "0", "0")
    (suite,) = root
    assert suite.get("name") == "holdem.limit.2p: A - B"
    assert [case.get("name") for case in suite.iter("testcase")] == [
        "played to its end",
        "A took part to the end",
        "B took part to the end",
    ]
    assert suite.findtext("testcase/system-out") == "A and B are level."
    assert (root.get("time"), suite.get("time")) == ("2.0", "2.0")


def test_final_faults_fail_and_corrected_ones_do_not() -> None:
    guilty = player(
        "A", faults={"illegal action": 3, "timeout": 1}, first_fault="illegal action in hand 0: 'x', played c"
    )
    result = contest(
        guilty, player("B", faults={"stale reply": 9}), outcome="failed", reason="A was late.\nIt wrote: \x1b[31m"
    )
    root = ElementTree.fromstring(junit_report(result))
    assert counts(root) == ("3", "2", "0")
    end, late = root.iter("failure")
    assert end.get("message") == "A was late."
    assert late.get("message") == "1 timeout; first: illegal action in hand 0: 'x', played c"


def test_gate_has_its_own_suite() -> None:
    root = ElementTree.fromstring(
        junit_report(contest(), [junit_case("bound", skipped="undecided"), junit_case("other", "too low")])
    )
    assert counts(root) == ("5", "1", "1")
    assert [suite.get("name") for suite in root] == ["holdem.limit.2p: A - B", "gate"]


def test_output_of_bots_does_not_break_the_report() -> None:
    everything = "".join(map(chr, range(0x300))) + "\ud800\ufffe\uffff<&]]>"
    result = contest(player("A", faults={"crash": 1}, first_fault=everything), outcome="failed", reason=everything)
    ElementTree.fromstring(junit_report(result).encode("utf-8"))
