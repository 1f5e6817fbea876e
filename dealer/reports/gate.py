"""What a build server reads of a run: a verdict on whether a bot wins at least a given rate, and a JUnit report.

The 95 % interval decides: passed if all of it lies at or above the bound, failed if all of it lies below, undecided
otherwise and with too few deals. The interval is the player's own, so choose the player before the run, not the one
that did best in it.

The report has a suite per contest, with a case for each thing that can go wrong: the contest has to be played to its
end, and each player without a fault that ended its part. A gate adds its own case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from dealer.match.faults import FaultKind
from dealer.reports.documents import contest_title
from dealer.run.results import AnyResult, ContestResult, Interval
from logs.document import Document

if TYPE_CHECKING:
    from junitparser import TestCase, TestSuite


@dataclass(frozen=True, slots=True)
class Judgement:
    """The gate's verdict on a player against a bound, and what it follows from; None where no deal is complete."""

    verdict: Literal["passed", "failed", "undecided"]
    sentence: str
    player: str
    opponent: str
    min_mbb: float
    mbb_per_game: float | None
    half_width_95: float | None
    standard_error: float | None
    deals: int

    @property
    def document(self) -> Document:
        return Document(self._title, (f"{self.verdict}: {self.sentence}",), data=self)

    @property
    def case(self) -> TestCase:
        """The test case of a report for build servers."""
        problem = self.sentence if self.verdict == "failed" else ""
        return junit_case(self._title, problem, "undecided" if self.verdict == "undecided" else "")

    @property
    def _title(self) -> str:
        return f"{self.player} wins at least {self.min_mbb:g} mbb/g"


def judge(result: ContestResult, player: str, min_mbb: float) -> Judgement:
    """Hold a player's result against a bound.

    Args:
        min_mbb: the bound, in mbb/g.

    Raises:
        KeyError: there is no such player.
    """
    rate = result.rate(player)
    bound = f"{min_mbb:+,g} mbb/g"
    who = f"{player} over {result.opponent_of(player)}"
    verdict: Literal["passed", "failed", "undecided"] = "undecided"
    if result.interval is Interval.NONE:
        why = ": a player learnt, so there is nothing to judge."
    elif rate is None or rate.low is None or rate.high is None:
        why = f": too few deals ({result.duplicates:,}) to compare with {bound}."
    elif rate.low >= min_mbb:
        verdict, why = "passed", f": {rate.text(1)} (95 %), at least {bound}."
    elif rate.high < min_mbb:
        verdict, why = "failed", f": {rate.text(1)} (95 %), below {bound}."
    else:
        why = f": {rate.text(1)} (95 %): the interval contains {bound}; more deals are needed."
    return Judgement(
        verdict,
        who + why,
        player,
        result.opponent_of(player),
        min_mbb,
        None if rate is None else rate.mean,
        half_width_95=None if rate is None else rate.half_width,
        standard_error=None if rate is None else rate.error,
        deals=result.duplicates,
    )


_FATAL = {kind.value for kind in (FaultKind.TIMEOUT, FaultKind.DISCONNECT, FaultKind.CRASH, FaultKind.FLOOD)}


def junit_report(result: AnyResult, gate: Sequence[TestCase] = ()) -> str:
    """The report as XML text.

    Args:
        gate: further cases, in a suite of their own.
    """
    suites = [
        junit_suite(contest_title(contest), list(_cases(contest)), contest.sentence, contest.seconds)
        for contest in result.contests
    ]
    return junit_text([*suites, *([junit_suite("gate", gate)] if gate else [])])


def junit_case(name: str, problem: str = "", skipped: str = "") -> TestCase:
    """A test case: what is wrong, if anything is, or why it was not tested or cannot be decided yet."""
    from junitparser import Failure, Skipped, TestCase

    case = TestCase(_printable(name))
    if problem:
        case.result = [Failure(_printable(problem).splitlines()[0])]
        case.result[0].text = _printable(problem)
    elif skipped:
        case.result = [Skipped(_printable(skipped))]
    return case


def junit_suite(name: str, cases: Sequence[TestCase], output: str = "", seconds: float = 0.0) -> TestSuite:
    """Cases under a name; `output` is what else there is to say, which the first of them has."""
    from junitparser import TestSuite

    suite = TestSuite(_printable(name))
    if output and cases:
        cases[0].system_out = _printable(output)
    for case in cases:
        case.classname = suite.name
        suite.add_testcase(case)
    suite.time = round(seconds, 3)
    return suite


def junit_text(suites: Iterable[TestSuite]) -> str:
    """Suites as XML text."""
    from junitparser import JUnitXml

    report: Any = JUnitXml("acpc-arena")
    for suite in suites:
        report.add_testsuite(suite)
    report.update_statistics()
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{report.tostring().decode("utf-8")}\n'


def _cases(contest: ContestResult) -> Iterator[TestCase]:
    yield junit_case("played to its end", "" if contest.outcome.is_complete else contest.reason)
    for player in contest.players:
        fatal = {name: count for name, count in player.faults.items() if name in _FATAL}
        problem = ", ".join(f"{count} {name}" for name, count in fatal.items())
        yield junit_case(
            f"{player.name} took part to the end", f"{problem}; first: {player.first_fault}" if problem else ""
        )


def _printable(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return "".join([char if char in "\t\n" or (char.isprintable() and char < "\ufffe") else "\ufffd" for char in text])
