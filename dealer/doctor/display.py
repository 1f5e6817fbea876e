"""The report for people: a table of the situations, and each finding with its line and a mark under the wrong byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dealer.doctor.report import DoctorReport, Finding, SituationReport, SituationState
from dealer.doctor.situations import Situation

__all__ = ["MarkedLine", "finding_view", "list_table", "mark_byte", "printable", "situations_table"]

_STYLES: Final = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
_ESCAPES: Final = {0: r"\0", 9: r"\t", 10: r"\n", 13: r"\r", 92: r"\\"}
_LABEL_WIDTH: Final = 12
_LEAST_WIDTH: Final = 20
_DOTS: Final = "..."
_MOST_NAMES: Final = 4


def situations_table(report: DoctorReport) -> tuple[Sequence[str], Sequence[Sequence[str | Text]]]:
    """Names of columns and rows: the situations, and what came of each."""
    rows: list[Sequence[str | Text]] = []
    for row in report.situations:
        counts = [str(count) if row.hands else "" for count in (row.hands, row.folds, row.calls, row.raises)]
        rows.append([row.name, *counts, _result(row, report.findings)])
    return ("situation", "hands", "folds", "calls", "raises", "result"), rows


def _result(row: SituationReport, findings: Sequence[Finding]) -> Text:
    if row.result is SituationState.OK:
        return Text("ok", style="green")
    if row.result is SituationState.FAULTS:
        found = [(one.kind, _STYLES[one.severity]) for one in findings if row.name in one.situations]
        return Text(", ").join([Text(kind, style=style) for kind, style in found])
    # Many situations share one reason for not being tried: the closing sentence gives it.
    is_shown = row.result is SituationState.NOT_IN_GAME
    return Text(f"{row.result.value}: {row.reason}" if is_shown else row.result.value, style="dim")


def finding_view(finding: Finding, width: int) -> RenderableType:
    """One finding, laid out for a width in characters."""
    where = finding.situations
    names = ", ".join(where[:_MOST_NAMES])
    if len(where) > _MOST_NAMES:
        names += f" and {len(where) - _MOST_NAMES} more"
    heading = Text.assemble((finding.severity, _STYLES[finding.severity]), " ", (finding.kind, "bold"))
    heading.append(f"  {'once' if finding.count == 1 else f'{finding.count} times'}, in {names}")
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=_LABEL_WIDTH, style="dim", justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    room = max(_LEAST_WIDTH, width - _LABEL_WIDTH - 3)
    state, line = finding.state.encode("latin-1"), finding.line.encode("latin-1")
    marked = mark_byte(line, finding.byte, room, state)
    if state:
        grid.add_row("dealer said", _unwrapped(marked.state))
    if line:
        grid.add_row("bot sent", _unwrapped(marked.line))
        grid.add_row("", Text(marked.mark, style="bold", no_wrap=True, overflow="ignore"))
    grid.add_row("wrong", Text(_sentence(finding.wrong)))
    grid.add_row("expected", Text(finding.expected))
    grid.add_row("to do", Text(finding.advice))
    if finding.output:
        grid.add_row("its output", _unwrapped("\n".join(finding.output)))
    return Group(heading, grid)


def _unwrapped(text: str) -> Text:
    """Text to copy: a line of the protocol stays one line."""
    return Text(text, no_wrap=True, overflow="ellipsis")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def list_table(situations: Sequence[Situation]) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Names of columns and rows: all situations, and what happens in each."""
    rows = [[one.name, one.what, "yes" if one.needs_connection else ""] for one in situations]
    return ("situation", "what happens", "own connection"), rows


class MarkedLine(NamedTuple):
    """A line and the state it answers, cut alike, and the mark to print below one byte of the line."""

    state: str
    line: str
    mark: str


def mark_byte(line: bytes, byte: int, width: int, state: bytes = b"") -> MarkedLine:
    """Write out a line and mark one of its bytes; text that does not fit is cut on both sides of the mark.

    Args:
        line: the line as received; bytes that cannot be printed are written as in C.
        byte: the byte to mark, counted from 1; one past the last if something is missing; 0 for no mark.
        width: available width in characters.
        state: what the dealer had sent; cut at the same byte, so that the two can be compared.
    """
    at = max(0, byte - 1)
    before = [len(_show(value)) for value in line[:at]]
    after = sum(len(_show(value)) for value in line[at : at + width])
    start = 0
    # As much as possible after the mark, but at most a third of the width, unless everything fits.
    left = sum(before)
    while start < at and left + min(after, width // 3) > width - (len(_DOTS) if start else 0):
        left -= before[start]
        start += 1
    label = f"byte {byte}"
    column = left + (len(_DOTS) if start else 0)
    mark = f"{' ' * column}^ {label}" if column + len(label) + 2 <= width else f"{label} ^".rjust(column + 1)
    return MarkedLine(
        _cut(state, start if start < len(state) else 0, width), _cut(line, start, width), mark if byte else ""
    )


def _cut(data: bytes, start: int, width: int) -> str:
    text = (_DOTS if start else "") + printable(data[start : start + width])
    return text if len(text) <= width and start + width >= len(data) else text[: width - len(_DOTS)] + _DOTS


def printable(data: bytes) -> str:
    """Bytes as text; those that cannot be printed are written as in C."""
    return "".join([_show(value) for value in data])


def _show(value: int) -> str:
    if value in _ESCAPES:
        return _ESCAPES[value]
    return chr(value) if 32 <= value < 127 else f"\\x{value:02x}"
