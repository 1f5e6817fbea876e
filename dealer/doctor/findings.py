"""Findings of an examination, as JSON, as JUnit XML for build servers, and as a document for people.

`SCHEMA_VERSION` increases when a field changes its meaning or disappears, but not for new fields.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from dealer.doctor.judge import Kind, Problem, SentState, Severity
from dealer.doctor.situations import HANDSHAKE, DoctorSettings, Situation
from dealer.reports.gate_report import junit_case, junit_suite, junit_text
from engine import Action, ActionKind, Game
from engine.text import capitalized, count_of, escaped_bytes, times_of
from logs.document import (
    CODE,
    NAME,
    TEXT,
    Column,
    Document,
    Fact,
    Marked,
    Particulars,
    Section,
    Table,
    Tone,
    Toned,
    Value,
)
from protocol.game_definition import short_name

SCHEMA_VERSION: Final = 1
_MAX_LINE_BYTES: Final = 8192
_START_TIMEOUT_S = 30.0
_REMOTE_START_TIMEOUT_S = 300.0


class Finding(BaseModel):
    """Findings of one kind, with their number and the first one of the highest severity."""

    model_config = ConfigDict(frozen=True)

    kind: Kind = Field(description="name of the fault, as in docs/doctor.md")
    severity: Severity
    count: int = 1
    situations: tuple[str, ...] = Field(description="situations with this fault")
    situation: str = Field(description="situation of the finding that the fields below describe")
    hand: int | None = Field(description="number of the hand, 0-based; null before the first")
    state: str = Field(description="state that the dealer had sent; empty if none")
    line: str = Field(description="line of the bot as received, one character per byte; empty without a line")
    byte: int = Field(description="number of the first wrong byte of the line, from 1; 0 without a line")
    wrong: str = Field(description="description of the fault")
    expected: str = Field(description="correct text or behaviour")
    advice: str = Field(description="remedy")
    output: tuple[str, ...] = Field(default=(), description="last lines of output, if the bot exited too early")


class SituationState(enum.StrEnum):
    OK = "ok"
    INTERRUPTED = "interrupted"
    FAULTS = "faults"
    NOT_TRIED = "not tried"
    NOT_IN_GAME = "not in this game"


class SituationReport(BaseModel):
    """Result of a situation, filled in during the examination."""

    name: str
    result: SituationState = Field(
        default=SituationState.NOT_TRIED, description="ok, faults, interrupted, not tried, or not in this game"
    )
    reason: str = Field(default="", description="reason that it was not tried or is not in this game")
    hands: int = 0
    folds: int = 0
    calls: int = 0
    raises: int = 0

    def count(self, action: Action) -> None:
        self.folds += action.kind is ActionKind.FOLD
        self.calls += action.kind is ActionKind.CALL
        self.raises += action.kind is ActionKind.RAISE

    @property
    def answers(self) -> int:
        return self.folds + self.calls + self.raises


class DoctorReport(BaseModel):
    """Result of an examination; `errors`, `warnings` and `notes` count each kind of fault once."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = SCHEMA_VERSION
    bot: str
    game: str
    seed: int
    result: Literal["sound", "faulty", "interrupted"] = Field(
        description="sound: nothing worse than a warning; faulty: an error was found"
    )
    errors: int
    warnings: int
    notes: int
    situations: list[SituationReport]
    findings: list[Finding]
    hands: int
    answers: int
    slowest_answer_s: float
    sentence: str


class Examination:
    """Findings and counts of a running examination of a bot in a game.

    Attributes:
        is_remote: the bot connects by itself, so that it is not started again and its exit is not observed.
        start_timeout_s: time limit for the version line; None waits forever.
        start_cure: remedy for a bot that did not start, if known.
        situation: the current situation.
    """

    def __init__(self, settings: DoctorSettings, game: Game, *, is_remote: bool = False) -> None:
        self.settings = settings
        self.game = game
        self.is_remote = is_remote
        self.start_timeout_s: float | None
        if settings.start_timeout_s is not None:
            # 0 on the command line means no limit.
            self.start_timeout_s = settings.start_timeout_s or None
        elif is_remote:
            self.start_timeout_s = _REMOTE_START_TIMEOUT_S
        else:
            self.start_timeout_s = _START_TIMEOUT_S
        self.situation = HANDSHAKE
        self.row = SituationReport(name=HANDSHAKE.name)
        self.rows = [SituationReport(name=situation.name) for situation in settings.selected]
        self.start_cure = ""
        self.slowest_s = 0.0
        self.is_interrupted = False
        self._findings: dict[Kind, Finding] = {}

    @property
    def findings(self) -> list[Finding]:
        """Findings by kind, the most severe first, and otherwise in the order of discovery."""
        return sorted(self._findings.values(), key=lambda finding: finding.severity.rank, reverse=True)

    def has(self, kind: Kind) -> bool:
        return kind in self._findings

    def begin(self, situation: Situation) -> None:
        """Begin a situation; one that is not selected has no row in the report."""
        self.situation = situation
        self.row = SituationReport(name=situation.name)
        for row in self.rows:
            if row.name == situation.name:
                self.row = row
                break
        self.row.result = SituationState.OK

    def find(
        self,
        problem: Problem,
        line: bytes = b"",
        about: SentState | None = None,
        *,
        output: tuple[str, ...] = (),
        severity: Severity | None = None,
    ) -> None:
        """Add a finding.

        Args:
            line: line of the bot.
            about: state to which the line belongs.
            output: last lines of the bot's output.
            severity: severity in place of that of the kind.
        """
        situation = self.situation
        if severity is None:
            severity = problem.kind.severity
        if not problem.advice:
            problem = problem._replace(advice=problem.kind.advice)
        if situation.is_mild and severity is Severity.ERROR:
            severity = Severity.WARNING
        is_advised = situation.opening is None or about is None or about.hand == situation.first_hand
        if situation.advice and is_advised:
            problem = problem._replace(advice=f"{problem.advice} In this situation {situation.advice}.")
        # A line may arrive in a later situation than its own. A finding without a line belongs to the current one.
        name = situation.name
        hand = None
        state = ""
        if about is not None:
            hand = about.hand
            state = about.text.decode("latin-1")
            if line:
                name = about.situation
        finding = Finding(
            **problem._asdict(),
            severity=severity,
            situations=(name,),
            situation=name,
            hand=hand,
            state=state,
            line=line[:_MAX_LINE_BYTES].decode("latin-1"),
            output=output,
        )
        before = self._findings.get(problem.kind)
        if before is not None:
            names = before.situations
            if name not in names:
                names = (*names, name)
            worse = before
            if severity.rank > before.severity.rank:
                worse = finding
            finding = worse.model_copy(update={"count": before.count + 1, "situations": names})
        self._findings[problem.kind] = finding

    def report(self, *, bot: str, game: str) -> DoctorReport:
        """Make the report for a bot and a game, both given by name."""
        rows = self.rows
        severities = Counter(finding.severity.value for finding in self._findings.values())
        hands = sum(row.hands for row in rows)
        answers = sum(row.answers for row in rows)
        result: Literal["sound", "faulty", "interrupted"] = "sound"
        if severities["error"]:
            result = "faulty"
        elif self.is_interrupted:
            result = "interrupted"
        return DoctorReport(
            bot=bot,
            game=game,
            seed=self.settings.seed,
            result=result,
            errors=severities["error"],
            warnings=severities["warning"],
            notes=severities["note"],
            situations=rows,
            findings=self.findings,
            hands=hands,
            answers=answers,
            slowest_answer_s=round(self.slowest_s, 6),
            sentence=self._sentence(game, hands, answers, severities),
        )

    def _sentence(self, game: str, hands: int, answers: int, severities: Mapping[str, int]) -> str:
        counts = []
        for severity in ("error", "warning", "note"):
            if severities[severity]:
                counts.append(count_of(severities[severity], severity))
        played = "before the first hand"
        if hands:
            played = f"in {count_of(answers, 'answer')} and {count_of(hands, 'hand')}"
        sentence = f"{' and '.join(counts) or 'Nothing wrong'} found {played} of {short_name(game)}."
        if self.is_interrupted:
            sentence += " The examination was interrupted."
        never = []
        if not any(row.folds for row in self.rows):
            never.append("folds")
        if not any(row.calls for row in self.rows):
            never.append("calls")
        if not any(row.raises for row in self.rows):
            never.append("raises")
        if answers and never:
            sentence += f" It never {' and never '.join(never)}, so this could not be checked."
        reasons = Counter(row.reason for row in self.rows if row.result is SituationState.NOT_TRIED)
        for reason, number in reasons.items():
            sentence += f" {count_of(number, 'situation')} not tried: {reason}."
        return sentence


def junit_of(report: DoctorReport, *, is_strict: bool = False) -> str:
    """Format a report as JUnit XML, with a case for each situation; strict reports count warnings as failures."""
    counted = {Severity.ERROR}
    if is_strict:
        counted.add(Severity.WARNING)
    failures = [finding for finding in report.findings if finding.severity in counted]
    cases = []
    for row in report.situations:
        found = [finding for finding in failures if row.name in finding.situations]
        texts = [f"{finding.kind}: {finding.wrong} {finding.advice}" for finding in found]
        skipped = ""
        if row.result in (SituationState.NOT_TRIED, SituationState.NOT_IN_GAME):
            skipped = row.reason
        elif row.result is SituationState.INTERRUPTED:
            skipped = row.result.value
        cases.append(junit_case(row.name, "\n".join(texts), skipped))
    # Findings outside the selected situations, such as in the handshake, get a case of their own.
    names = {row.name for row in report.situations}
    stray = [f"{finding.kind}: {finding.wrong}" for finding in failures if names.isdisjoint(finding.situations)]
    if stray:
        cases.append(junit_case("connection", "\n".join(stray)))
    return junit_text([junit_suite(f"doctor: {report.bot}, {short_name(report.game)}", cases, report.sentence)])


_TONES: Final = {
    SituationState.OK: Tone.GOOD,
    SituationState.FAULTS: Tone.BAD,
}
"""Tones of completed situations; all others are faint."""
_MAX_NAMES: Final = 4


def doctor_document(report: DoctorReport) -> Document:
    """Show the sentence of a report, the table of situations and the findings."""
    rows: list[tuple[Value, ...]] = []
    for row in report.situations:
        result = Toned(_result(row, report.findings), _TONES.get(row.result, Tone.FAINT))
        if row.hands:
            rows.append((row.name, row.hands, row.folds, row.calls, row.raises, result))
        else:
            rows.append((row.name, None, None, None, None, result))
    columns = (
        "situation",
        Column("hands", ",", rank=1),
        Column("folds", ",", rank=1),
        Column("calls", ",", rank=1),
        Column("raises", ",", rank=1),
        Column("result", TEXT),
    )
    table = Table.of("", columns, rows)
    sections = [Section("Situations", (table,))]
    if report.findings:
        sections.append(Section("Findings", tuple(map(_particulars, report.findings))))
    return Document(
        f"{report.bot} in {short_name(report.game)}", (report.sentence,), sections=tuple(sections), data=report
    )


def _result(row: SituationReport, findings: Sequence[Finding]) -> str:
    kinds = ", ".join(finding.kind for finding in findings if row.name in finding.situations)
    if row.result is SituationState.FAULTS:
        return kinds
    if row.result is SituationState.OK and kinds:
        return f"{row.result.value}, {kinds}"
    if row.result is SituationState.NOT_IN_GAME:
        return f"{row.result.value}: {row.reason}"
    # Situations that were not tried usually share one reason, which the sentence gives.
    return row.result.value


def _particulars(finding: Finding) -> Particulars:
    names = ", ".join(finding.situations[:_MAX_NAMES])
    if (more := len(finding.situations) - _MAX_NAMES) > 0:
        names += f" and {more} more"
    times = times_of(finding.count)
    marked: Value = ""
    if finding.line:
        line = finding.line.encode("latin-1")
        before = escaped_bytes(line[: finding.byte - 1])
        marked = Marked(escaped_bytes(line), len(before), f"byte {finding.byte}")
    facts = [
        Fact("dealer sent", finding.state, CODE),
        Fact("bot sent", marked, CODE),
        Fact("wrong", f"{capitalized(finding.wrong)}.", TEXT),
        Fact("expected", finding.expected, TEXT),
        Fact("remedy", finding.advice, TEXT),
        Fact("output", finding.output, TEXT),
    ]
    tone = {Severity.ERROR: Tone.BAD, Severity.WARNING: Tone.DOUBTFUL}.get(finding.severity)
    title = f"{finding.severity} {finding.kind}, {times}, in {names}"
    return Particulars(title, tuple(fact for fact in facts if fact.value), tone)


@dataclass(frozen=True, slots=True, kw_only=True)
class SituationData:
    """Situation in JSON.

    Attributes:
        needs_connection: the situation has a connection of its own.
    """

    name: str
    description: str
    needs_connection: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SituationsData:
    """All situations in the JSON of ``arena doctor --list``."""

    schema_version: int = 1
    situations: tuple[SituationData, ...]


def situations_document(situations: Sequence[Situation]) -> Document:
    columns = ("situation", Column("description", TEXT), Column("own connection", NAME, rank=1))
    rows = []
    data = []
    for situation in situations:
        own_connection = "yes" if situation.needs_connection else ""
        rows.append((situation.name, situation.what, own_connection))
        data.append(
            SituationData(name=situation.name, description=situation.what, needs_connection=situation.needs_connection)
        )
    table = Table.of("", columns, rows)
    return Document("Situations", sections=(Section("", (table,)),), data=SituationsData(situations=tuple(data)))
