"""What a build server reads of a run: a verdict on whether a bot wins at least a given rate, and a JUnit report.

The 95 % interval decides: passed if all of it lies at or above the bound, failed if all of it lies below, undecided
otherwise and with too few deals. The interval is the player's own, so choose the player before the run, not the one
that did best in it.

The report has a suite per contest, with a case for each thing that can go wrong: the contest has to be played to its
end, and each player without a fault that ended its part. A gate adds its own case.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from dealer.match.faults import FaultKind
from dealer.run.results import AnyResult, ContestResult, Interval
from logs.estimation import Rate
from protocol.game_definition import short_name

if TYPE_CHECKING:
    from junitparser import TestSuite


class GateVerdict(enum.Enum):
    """The decision of the gate."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Judgement(NamedTuple):
    """The gate's verdict and why.

    Attributes:
        player: whom it judges. opponent: against whom. min_mbb: the bound.
        rate: what the player won; None if no deal is complete.
    """

    player: str
    opponent: str
    min_mbb: float
    verdict: GateVerdict
    sentence: str
    rate: Rate | None
    standard_error: float | None
    deals: int

    @property
    def facts(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return {
            "verdict": self.verdict.value,
            "sentence": self.sentence,
            "player": self.player,
            "opponent": self.opponent,
            "min_mbb": self.min_mbb,
            "mbb_per_game": None if self.rate is None else self.rate.mbb,
            "half_width_95": None if self.rate is None else self.rate.half_width,
            "standard_error": self.standard_error,
            "deals": self.deals,
        }

    @property
    def case(self) -> Case:
        """The test case of a report for build servers."""
        return Case(
            f"{self.player} wins at least {self.min_mbb:g} mbb/g",
            self.sentence if self.verdict is GateVerdict.FAILED else "",
            "undecided" if self.verdict is GateVerdict.UNDECIDED else "",
        )


def judge(result: ContestResult, player: str, min_mbb: float) -> Judgement:
    """Hold a player's result against a bound.

    Args:
        min_mbb: the bound, in mbb/g.

    Raises:
        KeyError: there is no such player.
    """
    rate = result.rate(player)
    error = next(one.standard_error for one in result.players if one.name == player)
    bound = f"{min_mbb:+,g} mbb/g"
    verdict = GateVerdict.UNDECIDED
    if result.interval is Interval.NONE:
        sentence = f"{player} over {result.opponent_of(player)}: a player learnt, so there is nothing to judge."
    elif rate is None or rate.low is None or rate.high is None:
        who = f"{player} over {result.opponent_of(player)}"
        sentence = f"{who}: too few deals ({result.duplicates:,}) to compare with {bound}."
    else:
        sentence = f"{rate.player} over {rate.opponent}: {rate.text(1)} (95 %)"
        if rate.low >= min_mbb:
            verdict, why = GateVerdict.PASSED, f", at least {bound}."
        elif rate.high < min_mbb:
            verdict, why = GateVerdict.FAILED, f", below {bound}."
        else:
            why = f": the interval contains {bound}; more deals are needed."
        sentence += why
    return Judgement(
        player,
        result.opponent_of(player),
        min_mbb,
        verdict=verdict,
        sentence=sentence,
        rate=rate,
        standard_error=error,
        deals=result.duplicates,
    )


_FATAL = {kind.value for kind in (FaultKind.TIMEOUT, FaultKind.DISCONNECT, FaultKind.CRASH, FaultKind.FLOOD)}


class Case(NamedTuple):
    """One test case.

    Attributes:
        problem: what is wrong; empty if nothing is.
        skipped: why it was not tested, or cannot be decided yet; empty if it was.
    """

    name: str
    problem: str = ""
    skipped: str = ""


def junit_report(result: AnyResult, gate: Iterable[Case] = ()) -> str:
    """The report as XML text.

    Args:
        gate: further cases, in a suite of their own.
    """
    contests = [result] if isinstance(result, ContestResult) else result.contests
    suites = [
        junit_suite(
            f"{short_name(contest.game)}: {' - '.join(player.name for player in contest.players)}",
            _cases(contest),
            contest.sentence,
            contest.seconds,
        )
        for contest in contests
    ]
    return junit_text([*suites, *([junit_suite("gate", cases)] if (cases := list(gate)) else [])])


def junit_suite(name: str, cases: Iterable[Case], output: str = "", seconds: float = 0.0) -> TestSuite:
    """Cases under a name; `output` is what else there is to say, which the first of them has."""
    from junitparser import Failure, Skipped, TestCase, TestSuite

    suite = TestSuite(_printable(name))
    for case in cases:
        element = TestCase(_printable(case.name), _printable(name))
        if case.problem:
            problem = _printable(case.problem)
            element.result = [Failure(problem.splitlines()[0])]
            element.result[0].text = problem
        elif case.skipped:
            element.result = [Skipped(_printable(case.skipped))]
        if output:
            element.system_out, output = _printable(output), ""
        suite.add_testcase(element)
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


def _cases(contest: ContestResult) -> Iterable[Case]:
    yield Case("played to its end", "" if contest.outcome.is_complete else contest.reason)
    for player in contest.players:
        fatal = {name: count for name, count in player.faults.items() if name in _FATAL}
        problem = ", ".join(f"{count} {name}" for name, count in fatal.items())
        yield Case(f"{player.name} took part to the end", f"{problem}; first: {player.first_fault}" if problem else "")


def _printable(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return "".join([char if char in "\t\n" or (char.isprintable() and char < "\ufffe") else "\ufffd" for char in text])
