"""Render documents as JSON, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from typing import Any, Final

from engine.cards import RANKS
from engine.text import clean
from logs.document.values import (
    CODE,
    Bars,
    Chart,
    Column,
    Document,
    Fact,
    HandGrid,
    Part,
    Particulars,
    Replay,
    Table,
    Value,
    plain_value,
    text_of,
)
from logs.estimation import Estimate

_LATEX: Final = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}
    | {character: f"\\{character}" for character in "&%$#_{}"}
)


def json_data(document: Document) -> Any:
    """Return the JSON of a document: its data if it has any, else its facts, tables and sentences."""
    from pydantic import TypeAdapter

    if document.data is None:
        data = _document_data(document)
    else:
        data = TypeAdapter(type(document.data)).dump_python(document.data, mode="json")
    # JSON has no infinity and no NaN. Parsing the text again replaces them by null.
    return json.loads(clean(json.dumps(data, ensure_ascii=False)), parse_constant=lambda name: None)


def _document_data(document: Document) -> dict[str, Any]:
    sections: list[dict[str, Any]] = []
    for section in document.sections:
        sections.append({"title": section.title, "parts": [_part_data(part) for part in section.parts]})
    return {
        "schema_version": 1,
        "title": document.title,
        "sentences": list(document.sentences),
        "facts": _facts_data(document.facts),
        "sections": sections,
    }


def _facts_data(facts: Iterable[Fact]) -> dict[str, Any]:
    return {fact.name: _value_data(fact.value) for fact in facts}


def _part_data(part: Part) -> Any:
    match part:
        case str():
            return part
        case Table():
            return _table_data(part)
        case Chart():
            series = [
                {"name": line.name, "x": line.xs, "y": line.ys, "half_width_95": line.half_widths}
                for line in part.series
            ]
            return {"title": part.title, "x": part.x.heading, "y": part.y.heading, "series": series}
        case Bars():
            return {"title": part.title, "bars": {name: _value_data(estimate) for name, estimate in part.bars}}
        case HandGrid():
            hands: dict[str, dict[str, float]] = {}
            for row in part.rows:
                for name, shares in row:
                    hands[name] = dict(shares)
            return {"title": part.title, "hands": hands}
        case Particulars():
            return {"title": part.title, "facts": _facts_data(part.facts)}
        case Replay():
            return {"title": part.title, "match": part.record.match_name, "hand": part.record.hand_number}


def _table_data(table: Table) -> dict[str, Any]:
    names = [column.title or "name" for column in table.columns]
    rows = [dict(zip(names, map(_value_data, row), strict=True)) for row in table.rows]
    data: dict[str, Any] = {"title": table.title, "rows": rows}
    if table.note:
        data["note"] = table.note
    return data


def _value_data(value: Value) -> Any:
    plain = plain_value(value)
    if isinstance(plain, Estimate):
        return {"mean": plain.mean, "half_width_95": plain.half_width, "standard_error": plain.error}
    if isinstance(plain, tuple):
        return list(map(_value_data, plain))
    return plain


def markdown(document: Document) -> str:
    """Format sentences, facts, tables and grids; charts and hands are left out."""
    blocks = [f"# {document.title}", *document.sentences]
    if document.facts:
        blocks.append(_facts_markdown(document.facts))
    for section in document.sections:
        blocks.append(f"## {section.title}")
        for part in section.parts:
            if isinstance(part, str):
                blocks.append(part)
            elif isinstance(part, Table):
                if part.title not in ("", section.title):
                    blocks.append(f"**{part.title}**")
                blocks.append(markdown_table(part).rstrip())
                if part.note:
                    blocks.append(part.note)
            elif isinstance(part, HandGrid):
                blocks += [f"**{part.heading}**", markdown_table(_grid_table(part)).rstrip()]
                if part.note:
                    blocks.append(part.note)
            elif isinstance(part, Particulars):
                blocks += [f"**{part.title}**", _facts_markdown(part.facts)]
    return "\n\n".join(blocks) + "\n"


def _facts_markdown(facts: Iterable[Fact]) -> str:
    lines: list[str] = []
    for fact in facts:
        text = fact.text
        if fact.format == CODE:
            text = f"`{text}`"
        lines.append(f"- {fact.name}: {text}")
    return "\n".join(lines)


def _grid_table(grid: HandGrid) -> Table:
    ranks = RANKS[::-1]
    rows: list[tuple[str, ...]] = []
    for rank, row in zip(ranks, grid.rows, strict=True):
        rows.append((rank, *(grid.word(hand) for _, hand in row)))
    return Table("", tuple(map(Column, ("", *ranks))), tuple(rows))


def markdown_table(table: Table) -> str:
    alignment = ["---" if column.is_words else "---:" for column in table.columns]
    text = ""
    for line in (_headings(table), alignment, *table.texts):
        cells = [cell.replace("|", "\\|") for cell in line]
        text += f"| {' | '.join(cells)} |\n"
    return text


def latex_table(table: Table) -> str:
    alignment = "".join("l" if column.is_words else "r" for column in table.columns)
    head, *rows = [" & ".join(map(_latex, row)) + r" \\" for row in (_headings(table), *table.texts)]
    inner = "\n".join([head, r"\hline", *rows])
    return f"\\begin{{tabular}}{{{alignment}}}\n{inner}\n\\end{{tabular}}\n"


def _headings(table: Table) -> list[str]:
    return [column.heading for column in table.columns]


def _latex(cell: str) -> str:
    if re.fullmatch(r"[+-]?[\d,.]+( ± [\d,.]+)?", cell):
        # In math mode, a comma without braces is followed by a space.
        number = cell.replace(",", "{,}").replace("±", r"\pm")
        return f"${number}$"
    return cell.translate(_LATEX)


def csv_text(table: Table) -> str:
    """Format a table with plain numbers; estimates have columns for mean, half width and standard error."""
    headings: list[str] = []
    has_estimates: list[bool] = []
    for index, column in enumerate(table.columns):
        is_estimated = any(isinstance(plain_value(row[index]), Estimate) for row in table.rows)
        has_estimates.append(is_estimated)
        headings.append(column.heading)
        if is_estimated:
            headings += (f"{column.heading} half_width_95", f"{column.heading} standard_error")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    for row in table.rows:
        cells: list[Any] = []
        for value, is_estimated in zip(row, has_estimates, strict=True):
            cells += _csv_cells(value, is_estimated)
        writer.writerow(cells)
    return text.getvalue()


def _csv_cells(value: Value, is_estimated: bool) -> list[Any]:
    plain = plain_value(value)
    if isinstance(plain, Estimate):
        return [plain.mean, plain.half_width, plain.error]
    cell: Any = plain
    if isinstance(plain, tuple):
        cell = text_of(plain)
    if is_estimated:
        return [cell, None, None]
    return [cell]
