"""The result of an examination as data: what ``--json`` prints.

`SCHEMA_VERSION` increases when a field changes its meaning or disappears; new fields do not change it.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from dealer.doctor.examination import Examination, SituationOutcome, SituationState
from dealer.doctor.findings import FindingGroup, Severity, SeverityWord
from dealer.results.junit import Case, Suite, junit_text
from engine import ActionKind

__all__ = ["SCHEMA_VERSION", "DoctorReport", "FindingReport", "SituationReport", "junit_of", "make_report"]

SCHEMA_VERSION: Final = 1

Result: TypeAlias = Literal["sound", "faulty", "interrupted"]

_WORDS: Final = {ActionKind.FOLD: "folds", ActionKind.CALL: "calls", ActionKind.RAISE: "raises"}
_MOST_LINE_CHARACTERS: Final = 8192


class FindingReport(BaseModel):
    """All findings of one kind: the first of them, and their number."""

    model_config = ConfigDict(frozen=True)

    kind: str = Field(description="the name of the fault, as docs/doctor.md lists it")
    severity: SeverityWord
    count: int
    situations: list[str] = Field(description="where it was found")
    situation: str = Field(description="where it was found first; the fields below are of that finding")
    hand: int | None = Field(description="number of the hand, 0-based; null before the first")
    state: str = Field(description="what the dealer had sent; empty if nothing")
    line: str = Field(description="the bot's line as received, one character per byte; empty without one")
    byte: int = Field(description="the first wrong byte of the line, from 1; 0 without a line")
    wrong: str = Field(description="what is wrong")
    expected: str = Field(description="what should stand there or should have been done")
    advice: str = Field(description="what to do about it")
    output: list[str] = Field(description="the last lines the bot wrote, if it ended too early")


class SituationReport(BaseModel):
    """One situation."""

    model_config = ConfigDict(frozen=True)

    name: str
    result: SituationState = Field(description="ok, faults, interrupted, not tried, or not in this game")
    reason: str = Field(description="why it was not tried or is not in this game")
    hands: int
    folds: int
    calls: int
    raises: int


class DoctorReport(BaseModel):
    """The result of an examination; of `errors`, `warnings` and `notes`, each kind counts once."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = SCHEMA_VERSION
    bot: str
    game: str
    seed: int
    result: Result = Field(description="sound: nothing worse than a warning; faulty: an error was found")
    errors: int
    warnings: int
    notes: int
    situations: list[SituationReport]
    findings: list[FindingReport]
    hands: int
    answers: int
    slowest_answer_s: float
    sentence: str


def junit_of(report: DoctorReport, *, is_strict: bool = False) -> str:
    """The report for a build server: a case for each situation.

    Args:
        report: the result.
        is_strict: whether warnings count as failures.
    """
    counted = {"error", "warning"} if is_strict else {"error"}
    told = [one for one in report.findings if one.severity in counted]
    cases = []
    for row in report.situations:
        found = [f"{one.kind}: {one.wrong} {one.advice}" for one in told if row.name in one.situations]
        skipped = row.reason if row.result in (SituationState.NOT_TRIED, SituationState.NOT_IN_GAME) else ""
        if row.result is SituationState.INTERRUPTED:
            skipped = row.result.value
        cases.append(Case(row.name, "\n".join(found), skipped))
    # So is what was found outside the situations asked for, such as in the handshake.
    names = {row.name for row in report.situations}
    stray = [f"{one.kind}: {one.wrong}" for one in told if not names & set(one.situations)]
    cases += [Case("connection", "\n".join(stray))] if stray else []
    return junit_text([Suite(f"doctor: {report.bot}, {report.game}", cases, output=report.sentence)])


def make_report(examination: Examination, *, bot: str, game: str, seed: int) -> DoctorReport:
    """The report on a finished or interrupted examination."""
    findings = examination.findings
    counts = {severity: findings.count(severity) for severity in Severity}
    result: Result = "faulty" if counts[Severity.ERROR] else "interrupted" if examination.is_interrupted else "sound"
    answers: Counter[ActionKind] = sum((outcome.answers for outcome in examination.outcomes), Counter())
    hands = sum(outcome.hands for outcome in examination.outcomes)
    return DoctorReport(
        bot=bot,
        game=game,
        seed=seed,
        result=result,
        errors=counts[Severity.ERROR],
        warnings=counts[Severity.WARNING],
        notes=counts[Severity.NOTE],
        situations=[_situation_report(outcome) for outcome in examination.outcomes],
        findings=[_finding_report(group) for group in findings],
        hands=hands,
        answers=answers.total(),
        slowest_answer_s=round(examination.slowest_s, 6),
        sentence=_sentence(examination, game, counts, hands, answers),
    )


def _situation_report(outcome: SituationOutcome) -> SituationReport:
    return SituationReport(
        name=outcome.situation.name,
        result=outcome.state,
        reason=outcome.reason,
        hands=outcome.hands,
        folds=outcome.answers[ActionKind.FOLD],
        calls=outcome.answers[ActionKind.CALL],
        raises=outcome.answers[ActionKind.RAISE],
    )


def _finding_report(group: FindingGroup) -> FindingReport:
    first = group.first
    return FindingReport(
        kind=first.kind.value,
        severity=first.severity.word,
        count=group.count,
        situations=list(group.situations),
        situation=first.situation,
        hand=first.hand,
        state=first.state.decode("latin-1"),
        line=first.line[:_MOST_LINE_CHARACTERS].decode("latin-1"),
        byte=first.byte,
        wrong=first.wrong,
        expected=first.expected,
        advice=first.advice,
        output=list(first.output),
    )


def _sentence(
    examination: Examination,
    game: str,
    counts: dict[Severity, int],
    hands: int,
    answers: Counter[ActionKind],
) -> str:
    found = [_count(counts[severity], severity.word) for severity in reversed(Severity) if counts[severity]]
    what = " and ".join(found) if found else "Nothing wrong"
    played = f"in {_count(answers.total(), 'answer')} and {_count(hands, 'hand')}" if hands else "before the first hand"
    sentence = f"{what} found {played} of {game}."
    if examination.is_interrupted:
        sentence += " It was interrupted."
    never = [word for kind, word in _WORDS.items() if not answers[kind]]
    if answers and never:
        sentence += f" It never {' and never '.join(never)}, so that could not be checked."
    reasons = Counter(outcome.reason for outcome in examination.outcomes if outcome.state is SituationState.NOT_TRIED)
    for reason, number in reasons.items():
        sentence += f" {_count(number, 'situation')} not tried: {reason}."
    return sentence


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")
