"""What became of an examination, as data: what ``--json`` prints.

`SCHEMA_VERSION` counts up when a field changes its meaning or disappears; new fields do not change it.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from dealer.doctor.examination import Examination, Row, State
from dealer.doctor.findings import FindingGroup, Severity
from engine import ActionKind

__all__ = ["SCHEMA_VERSION", "DoctorReport", "FindingReport", "SituationReport", "make_report"]

SCHEMA_VERSION: Final = 1

Result: TypeAlias = Literal["sound", "faulty", "interrupted"]

_WORDS: Final = {ActionKind.FOLD: "folds", ActionKind.CALL: "calls", ActionKind.RAISE: "raises"}
_MOST_LINE_CHARACTERS: Final = 8192


class FindingReport(BaseModel):
    """All findings of one kind: the first of them, and how many there are."""

    model_config = ConfigDict(frozen=True)

    kind: str = Field(description="the name of the fault, as docs/doctor.md lists it")
    severity: Literal["error", "warning", "note"]
    count: int
    situations: list[str] = Field(description="where it was found")
    situation: str = Field(description="where it was found first; so are all fields below")
    hand: int | None = Field(description="number of the hand, 0-based; null before the first")
    state: str = Field(description="what the dealer had said; empty where it had said nothing")
    line: str = Field(description="the bot's line as received, each byte one character; empty where there is none")
    byte: int = Field(description="the first wrong byte of the line, from 1; 0 where there is no line")
    wrong: str = Field(description="what is wrong")
    expected: str = Field(description="what should stand there or should have been done")
    advice: str = Field(description="what to do about it")
    output: list[str] = Field(description="the last lines the bot wrote, where it ended too early")


class SituationReport(BaseModel):
    """One situation."""

    model_config = ConfigDict(frozen=True)

    name: str
    result: str = Field(description="ok, faults, interrupted, not tried, or not in this game")
    reason: str = Field(description="why it was not tried or is not in this game")
    hands: int
    folds: int
    calls: int
    raises: int


class DoctorReport(BaseModel):
    """What became of an examination."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = SCHEMA_VERSION
    bot: str
    game: str
    seed: int
    result: Result = Field(description="sound: nothing worse than a warning; faulty: an error was found")
    errors: int = Field(description="how many kinds of errors were found")
    warnings: int = Field(description="how many kinds of warnings were found")
    notes: int = Field(description="how many kinds of notes were found")
    situations: list[SituationReport]
    findings: list[FindingReport]
    hands: int
    answers: int
    slowest_answer_s: float
    sentence: str


def make_report(examination: Examination, *, bot: str, game: str, seed: int) -> DoctorReport:
    """The report on an examination that is over, however it ended."""
    findings = examination.findings
    counts = {severity: findings.count(severity) for severity in Severity}
    result: Result = "faulty" if counts[Severity.ERROR] else "interrupted" if examination.is_interrupted else "sound"
    answers: Counter[ActionKind] = sum((row.answers for row in examination.rows), Counter())
    hands = sum(row.hands for row in examination.rows)
    return DoctorReport(
        bot=bot,
        game=game,
        seed=seed,
        result=result,
        errors=counts[Severity.ERROR],
        warnings=counts[Severity.WARNING],
        notes=counts[Severity.NOTE],
        situations=[_situation_report(row) for row in examination.rows],
        findings=[_finding_report(group) for group in findings],
        hands=hands,
        answers=answers.total(),
        slowest_answer_s=round(examination.slowest_s, 6),
        sentence=_sentence(examination, game, counts, hands, answers),
    )


def _situation_report(row: Row) -> SituationReport:
    return SituationReport(
        name=row.situation.name,
        result=row.state.value,
        reason=row.reason,
        hands=row.hands,
        folds=row.answers[ActionKind.FOLD],
        calls=row.answers[ActionKind.CALL],
        raises=row.answers[ActionKind.RAISE],
    )


def _finding_report(group: FindingGroup) -> FindingReport:
    first = group.first
    severity: Literal["error", "warning", "note"] = (
        "error" if first.severity is Severity.ERROR else "warning" if first.severity is Severity.WARNING else "note"
    )
    return FindingReport(
        kind=first.kind.value,
        severity=severity,
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
    reasons = Counter(row.reason for row in examination.rows if row.state is State.NOT_TRIED)
    for reason, number in reasons.items():
        sentence += f" {_count(number, 'situation')} not tried: {reason}."
    return sentence


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")
