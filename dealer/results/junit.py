"""A JUnit report of a run, for build servers: a suite per contest, with a case for each thing that can go wrong.

The contest has to be played to its end, and each player without a fault that ended its part. A gate adds its own case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from dealer.match.faults import FaultKind
from dealer.results.schema import ContestResult, TournamentResult

_FATAL = {kind.value for kind in (FaultKind.TIMEOUT, FaultKind.DISCONNECT, FaultKind.CRASH, FaultKind.FLOOD)}


class Case(NamedTuple):
    """One test case.

    Attributes:
        name: what was tested.
        problem: what is wrong; empty if nothing is.
        skipped: why it was not tested, or cannot be decided yet; empty if it was.
    """

    name: str
    problem: str = ""
    skipped: str = ""


class Suite(NamedTuple):
    """Some cases.

    Attributes:
        name: what was tested. cases: the cases. seconds: how long it took. output: what else there is to say.
    """

    name: str
    cases: Sequence[Case]
    seconds: float = 0.0
    output: str = ""


def junit_report(result: ContestResult | TournamentResult, gate: Iterable[Case] = ()) -> str:
    """The report as XML text.

    Args:
        result: of the run.
        gate: further cases, in a suite of their own.
    """
    contests = [result] if isinstance(result, ContestResult) else result.contests
    suites = [
        Suite(
            f"{contest.game}: {' - '.join(player.name for player in contest.players)}",
            list(_cases(contest)),
            contest.seconds,
            contest.sentence,
        )
        for contest in contests
    ]
    return junit_text([*suites, *([Suite("gate", cases)] if (cases := list(gate)) else [])])


def junit_text(suites: Iterable[Suite]) -> str:
    """Suites as XML text."""
    root = ElementTree.Element("testsuites", name="acpc-arena")
    for suite in suites:
        _add_suite(root, suite)
    for key in ("tests", "failures", "skipped"):
        root.set(key, str(sum(int(element.get(key, "0")) for element in root)))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _cases(contest: ContestResult) -> Iterable[Case]:
    yield Case("played to its end", "" if contest.outcome.is_complete else contest.reason)
    for player in contest.players:
        fatal = {name: count for name, count in player.faults.items() if name in _FATAL}
        problem = ", ".join(f"{count} {name}" for name, count in fatal.items())
        yield Case(f"{player.name} took part to the end", f"{problem}; first: {player.first_fault}" if problem else "")


def _add_suite(root: ElementTree.Element, suite: Suite) -> None:
    name, cases, seconds, output = suite
    suite_element = ElementTree.SubElement(
        root,
        "testsuite",
        name=_printable(name),
        tests=str(len(cases)),
        failures=str(sum(bool(case.problem) for case in cases)),
        errors="0",
        skipped=str(sum(bool(case.skipped) for case in cases)),
        time=f"{seconds:.3f}",
    )
    for case in cases:
        element = ElementTree.SubElement(
            suite_element, "testcase", classname=_printable(name), name=_printable(case.name)
        )
        if case.problem:
            failure = ElementTree.SubElement(element, "failure", message=_printable(case.problem.splitlines()[0]))
            failure.text = _printable(case.problem)
        elif case.skipped:
            ElementTree.SubElement(element, "skipped", message=_printable(case.skipped))
    if output:
        ElementTree.SubElement(suite_element, "system-out").text = _printable(output)


def _printable(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return "".join([char if char in "\t\n" or (char.isprintable() and char < "\ufffe") else "\ufffd" for char in text])
