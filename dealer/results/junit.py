"""A JUnit report of a run, for build servers: a suite per contest, with a case for each thing that can go wrong.

The contest has to be played to its end, and each player without a fault that ended its part. A gate adds its own case.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from xml.etree import ElementTree

from dealer.match.faults import FaultKind
from dealer.results.schema import ContestResult, TournamentResult

__all__ = ["Case", "junit_report"]

_FATAL = {kind.value for kind in (FaultKind.TIMEOUT, FaultKind.DISCONNECT, FaultKind.CRASH, FaultKind.FLOOD)}


class Case(NamedTuple):
    """One test case.

    Attributes:
        name: what was tested.
        problem: what is wrong; empty if nothing is.
        is_undecided: whether it cannot be decided yet.
    """

    name: str
    problem: str = ""
    is_undecided: bool = False


def junit_report(result: ContestResult | TournamentResult, gate: Iterable[Case] = ()) -> str:
    """The report as XML text.

    Args:
        result: of the run.
        gate: further cases, in a suite of their own.
    """
    root = ElementTree.Element("testsuites", name="acpc-arena")
    contests = [result] if isinstance(result, ContestResult) else result.contests
    for contest in contests:
        names = " - ".join(player.name for player in contest.players)
        _add_suite(root, f"{contest.game}: {names}", list(_cases(contest)), contest.seconds, contest.sentence)
    cases = list(gate)
    if cases:
        _add_suite(root, "gate", cases, 0.0, "")
    for key in ("tests", "failures", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _cases(contest: ContestResult) -> Iterable[Case]:
    yield Case("played to its end", "" if contest.outcome.is_complete else contest.reason)
    for player in contest.players:
        fatal = {name: count for name, count in player.faults.items() if name in _FATAL}
        problem = ", ".join(f"{count} {name}" for name, count in fatal.items())
        yield Case(f"{player.name} took part to the end", f"{problem}; first: {player.first_fault}" if problem else "")


def _add_suite(root: ElementTree.Element, name: str, cases: list[Case], seconds: float, output: str) -> None:
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=_printable(name),
        tests=str(len(cases)),
        failures=str(sum(bool(case.problem) for case in cases)),
        errors="0",
        skipped=str(sum(case.is_undecided for case in cases)),
        time=f"{seconds:.3f}",
    )
    for case in cases:
        element = ElementTree.SubElement(suite, "testcase", classname=_printable(name), name=_printable(case.name))
        if case.problem:
            failure = ElementTree.SubElement(element, "failure", message=_printable(case.problem.splitlines()[0]))
            failure.text = _printable(case.problem)
        elif case.is_undecided:
            ElementTree.SubElement(element, "skipped", message="undecided")
    if output:
        ElementTree.SubElement(suite, "system-out").text = _printable(output)


def _printable(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return "".join([char if char in "\t\n" or (char.isprintable() and char < "\ufffe") else "\ufffd" for char in text])
