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
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dealer.match.faults import FaultKind
from dealer.reports.result_documents import contest_title
from dealer.run.results import AnyResult, ContestResult
from engine.text import shown
from logs.document import Document

if TYPE_CHECKING:
    from junitparser import TestCase, TestSuite


GateVerdict: TypeAlias = Literal["passed", "failed", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateData:
    """A judgement, as ``arena gate --json`` prints it.

    Attributes:
        min_mbb: the bound, in mbb/g.
        mbb_per_game: what the player won per hand from the opponent; None without a complete deal.
        deals: complete ones.
    """

    schema_version: int = 1
    verdict: GateVerdict
    sentence: str
    player: str
    opponent: str
    min_mbb: float
    mbb_per_game: float | None
    half_width_95: float | None
    standard_error: float | None
    deals: int


def judge(result: ContestResult, player: str, min_mbb: float) -> Document:
    """Hold a player's result against a bound; the verdict is in the data: ``passed``, ``failed`` or ``undecided``.

    Args:
        min_mbb: the bound, in mbb/g.

    Raises:
        KeyError: there is no such player.
    """
    rate, opponent = result.rate(player), result.opponent_of(player)
    bound = f"{min_mbb:+,g} mbb/g"
    verdict: GateVerdict = "undecided"
    if result.interval == "none":
        why = "a player learnt, so there is nothing to judge."
    elif rate is None or rate.low is None or rate.high is None:
        why = f"too few deals ({result.duplicates:,}) to compare with {bound}."
    elif rate.low >= min_mbb:
        verdict, why = "passed", f"{rate.text(1)} (95 %), at least {bound}."
    elif rate.high < min_mbb:
        verdict, why = "failed", f"{rate.text(1)} (95 %), below {bound}."
    else:
        why = f"{rate.text(1)} (95 %): the interval contains {bound}; more deals are needed."
    sentence = f"{player} over {opponent}: {why}"
    data = GateData(
        verdict=verdict,
        sentence=sentence,
        player=player,
        opponent=opponent,
        min_mbb=min_mbb,
        mbb_per_game=None if rate is None else rate.mean,
        half_width_95=None if rate is None else rate.half_width,
        standard_error=None if rate is None else rate.error,
        deals=result.duplicates,
    )
    return Document(f"{player} wins at least {min_mbb:g} mbb/g", (f"{verdict}: {sentence}",), data=data)


def gate_case(judgement: Document) -> TestCase:
    """The test case of a judgement, for build servers."""
    verdict, sentence = judgement.data.verdict, judgement.data.sentence
    problem = sentence if verdict == "failed" else ""
    return junit_case(judgement.title, problem, verdict if verdict == "undecided" else "")


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


def _text(text: str) -> str:
    return shown(text, "\t\n")


def junit_case(name: str, problem: str = "", skipped: str = "") -> TestCase:
    """A test case: what is wrong, if anything is, or why it was not tested or cannot be decided yet."""
    from junitparser import Failure, Skipped, TestCase

    case = TestCase(_text(name))
    if problem:
        case.result = [Failure(_text(problem).splitlines()[0])]
        case.result[0].text = _text(problem)
    elif skipped:
        case.result = [Skipped(_text(skipped))]
    return case


def junit_suite(name: str, cases: Sequence[TestCase], output: str = "", seconds: float = 0.0) -> TestSuite:
    """Cases under a name; `output` is what else there is to say, which the first of them has, with the seconds."""
    from junitparser import TestSuite

    suite = TestSuite(_text(name))
    if output and cases:
        cases[0].system_out = _text(output)
    if seconds and cases:
        cases[0].time = round(seconds, 3)  # the times of suites are the sums of those of their cases
    for case in cases:
        case.classname = suite.name
        suite.add_testcase(case)
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
