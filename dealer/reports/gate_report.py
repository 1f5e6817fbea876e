"""Verdicts and JUnit reports for build servers.

`judge` compares a player's win rate with a bound. It passes if the whole guaranteed interval lies at or above the
bound, fails if the whole interval lies below, and is undecided otherwise. The interval is that of one player, who has
to be chosen before the run, not as the best one after it.

`junit_report` has a suite per contest. Its cases are that the contest was played to its end, and that each player took
part to the end. A gate adds a case of its own.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dealer.match.faults import FaultKind
from dealer.reports.result_documents import contest_title
from dealer.run.results import AnyResult, ContestResult
from engine.text import shown
from logs.document import Document
from logs.estimation import Rate

if TYPE_CHECKING:
    from junitparser import TestCase, TestSuite


class GateScore(enum.StrEnum):
    """Win rate that a gate judges."""

    RAW = "raw"
    """Chips as won."""
    CORRECTED = "corrected"
    """Without the luck of the cards."""
    AIVAT = "aivat"
    """Without the luck of the cards and of the choices of known players."""


GateVerdict: TypeAlias = Literal["passed", "failed", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateData:
    """Judgement as printed by ``arena gate --json``.

    Attributes:
        min_mbb: bound in mbb/g.
        mbb_per_game: winnings of the player per hand; None without a complete deal.
        half_width_95: half the guaranteed interval of mbb_per_game; None with too few deals.
        deals: number of complete deals.
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


def judge(result: ContestResult, player: str, min_mbb: float, score: GateScore = GateScore.RAW) -> Document:
    """Compare a player's win rate with a bound.

    Args:
        player: name of the player.
        min_mbb: bound in mbb/g.
        score: win rate to judge.

    Returns:
        A document whose data is `GateData`.

    Raises:
        KeyError: there is no such player.
    """
    rate = rate_by(result, player, score)
    if rate is not None:
        rate = rate.guaranteed
    opponent = result.opponent_of(player)
    bound = f"{min_mbb:+,g} mbb/g"
    verdict: GateVerdict = "undecided"
    if result.interval == "none":
        reason = "not judged, because a player learnt during play."
    elif rate is None or rate.low is None or rate.high is None:
        reason = f"too few deals ({result.duplicates:,}) to compare with {bound}."
    elif rate.low >= min_mbb:
        verdict = "passed"
        reason = f"{rate.text(1)} (95 %, guaranteed), at least {bound}."
    elif rate.high < min_mbb:
        verdict = "failed"
        reason = f"{rate.text(1)} (95 %, guaranteed), below {bound}."
    else:
        reason = f"{rate.text(1)} (95 %, guaranteed), undecided at {bound}; more deals are needed."
    sentence = f"{player} over {opponent}: {reason}"
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


def rate_by(result: ContestResult, player: str, score: GateScore) -> Rate | None:
    """Return a player's win rate of a kind, or None if the result has none.

    Raises:
        KeyError: there is no such player.
    """
    match score:
        case GateScore.RAW:
            return result.rate(player)
        case GateScore.CORRECTED:
            return result.corrected_rate(player)
        case GateScore.AIVAT:
            return result.aivat_rate(player)


def gate_case(judgement: Document) -> TestCase:
    """Convert a judgement to a test case."""
    verdict = judgement.data.verdict
    if verdict == "failed":
        return junit_case(judgement.title, judgement.data.sentence)
    if verdict == "undecided":
        return junit_case(judgement.title, skipped=verdict)
    return junit_case(judgement.title)


_FATAL = {FaultKind.TIMEOUT.value, FaultKind.DISCONNECT.value, FaultKind.CRASH.value, FaultKind.FLOOD.value}
"""Faults that end a player's part in a match."""


def junit_report(result: AnyResult, gate: Sequence[TestCase] = ()) -> str:
    """Format a result as JUnit XML.

    Args:
        gate: further cases, for a suite of their own.
    """
    suites = [
        junit_suite(contest_title(contest), list(_cases(contest)), contest.sentence, contest.seconds)
        for contest in result.contests
    ]
    if gate:
        suites.append(junit_suite("gate", gate))
    return junit_text(suites)


def _text(text: str) -> str:
    # XML has no escapes for other control characters.
    return shown(text, "\t\n")


def junit_case(name: str, problem: str = "", skipped: str = "") -> TestCase:
    """Create a test case.

    Args:
        problem: reason why it failed; empty if it did not.
        skipped: reason why it was not tested or is undecided; empty if it passed or failed.
    """
    from junitparser import Failure, Skipped, TestCase

    case = TestCase(_text(name))
    if problem:
        case.result = [Failure(_text(problem).splitlines()[0])]
        case.result[0].text = _text(problem)
    elif skipped:
        case.result = [Skipped(_text(skipped))]
    return case


def junit_suite(name: str, cases: Sequence[TestCase], output: str = "", seconds: float = 0.0) -> TestSuite:
    """Create a suite of test cases. The first case gets the output and the duration of the suite."""
    from junitparser import TestSuite

    suite = TestSuite(_text(name))
    if output and cases:
        cases[0].system_out = _text(output)
    if seconds and cases:
        # `update_statistics` sets the time of a suite to the sum of those of its cases.
        cases[0].time = round(seconds, 3)
    for case in cases:
        case.classname = suite.name
        suite.add_testcase(case)
    return suite


def junit_text(suites: Iterable[TestSuite]) -> str:
    """Format suites as XML."""
    from junitparser import JUnitXml

    report: Any = JUnitXml("acpc-arena")
    for suite in suites:
        report.add_testsuite(suite)
    report.update_statistics()
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{report.tostring().decode("utf-8")}\n'


def _cases(contest: ContestResult) -> Iterator[TestCase]:
    yield junit_case("played to its end", "" if contest.outcome.is_complete else contest.reason)
    for player in contest.players:
        fatal_faults = [f"{count} {name}" for name, count in player.faults.items() if name in _FATAL]
        problem = ""
        if fatal_faults:
            problem = f"{', '.join(fatal_faults)}; first: {player.first_fault}"
        yield junit_case(f"{player.name} took part to the end", problem)
