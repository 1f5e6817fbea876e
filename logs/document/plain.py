"""Documents as JSON, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
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

_LATEX: Final = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}


def json_data(document: Document) -> Any:
    """What JSON contains of a document: its data if it has any, otherwise its facts, tables and sentences."""
    from pydantic import TypeAdapter

    data = document.data
    data = _parts_data(document) if data is None else TypeAdapter(type(data)).dump_python(data, mode="json")
    # JSON has no number for what is infinite or not a number: null.
    return json.loads(clean(json.dumps(data, ensure_ascii=False)), parse_constant=lambda name: None)


def _parts_data(document: Document) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "title": document.title,
        "sentences": list(document.sentences),
        "facts": {fact.name: _plain(fact.value) for fact in document.facts},
        "sections": [
            {"title": section.title, "parts": [_part_data(part) for part in section.parts]}
            for section in document.sections
        ],
    }


def _part_data(part: Part) -> Any:
    match part:
        case str():
            return part
        case Table():
            names = [column.title or "name" for column in part.columns]
            rows = [dict(zip(names, map(_plain, row), strict=True)) for row in part.rows]
            return {"title": part.title, "rows": rows, **({"note": part.note} if part.note else {})}
        case Chart():
            series = [
                {"name": one.name, "x": one.xs, "y": one.ys, "half_width_95": one.half_widths} for one in part.series
            ]
            return {"title": part.title, "x": part.x.heading, "y": part.y.heading, "series": series}
        case Bars():
            return {"title": part.title, "bars": {name: _plain(one) for name, one in part.bars}}
        case HandGrid():
            return {"title": part.title, "hands": {hand: dict(one) for row in part.rows for hand, one in row}}
        case Particulars():
            return {"title": part.title, "facts": {fact.name: _plain(fact.value) for fact in part.facts}}
        case Replay():
            return {"title": part.title, "match": part.record.match_name, "hand": part.record.hand_number}


def _plain(value: Value) -> Any:
    plain = plain_value(value)
    if isinstance(plain, Estimate):
        return {"mean": plain.mean, "half_width_95": plain.half_width, "standard_error": plain.error}
    if isinstance(plain, tuple):
        return list(map(_plain, plain))
    return plain


def markdown(document: Document) -> str:
    """Sentences, facts and tables as Markdown; pages of the documentation draw charts themselves."""
    blocks = [f"# {document.title}", *document.sentences]
    if document.facts:
        blocks.append(_list_of(document.facts))
    for section in document.sections:
        blocks.append(f"## {section.title}")
        for part in section.parts:
            if isinstance(part, str):
                blocks.append(part)
            elif isinstance(part, Table):
                title = [f"**{part.title}**"] if part.title not in ("", section.title) else []
                blocks += [*title, markdown_table(part).rstrip(), *([part.note] if part.note else [])]
            elif isinstance(part, HandGrid):
                rows = [
                    (rank, *(part.word(one) for _, one in row))
                    for rank, row in zip(RANKS[::-1], part.rows, strict=True)
                ]
                square = Table("", tuple(map(Column, ("", *RANKS[::-1]))), tuple(rows))
                blocks += [f"**{part.heading}**", markdown_table(square).rstrip(), *([part.note] if part.note else [])]
            elif isinstance(part, Particulars):
                blocks += [f"**{part.title}**", _list_of(part.facts)]
    return "\n\n".join(blocks) + "\n"


def _list_of(facts: Iterable[Fact]) -> str:
    return "\n".join(f"- {fact.name}: {f'`{fact.text}`' if fact.format == CODE else fact.text}" for fact in facts)


def markdown_table(table: Table) -> str:
    marks = ["---" if column.is_words else "---:" for column in table.columns]
    lines: Iterable[Sequence[str]] = ([column.heading for column in table.columns], marks, *table.texts)
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def latex_table(table: Table) -> str:
    alignment = "".join("l" if column.is_words else "r" for column in table.columns)
    head, *lines = [
        " & ".join(map(_latex, row)) + r" \\" for row in ([column.heading for column in table.columns], *table.texts)
    ]
    inner = "\n".join([head, r"\hline", *lines])
    return f"\\begin{{tabular}}{{{alignment}}}\n{inner}\n\\end{{tabular}}\n"


def _latex(cell: str) -> str:
    if re.fullmatch(r"[+-]?[\d,.]+( ± [\d,.]+)?", cell):
        return f"${cell.replace(',', '{,}').replace('±', chr(92) + 'pm')}$"
    return "".join(_LATEX.get(char, f"\\{char}" if char in "&%$#_{}" else char) for char in cell)


def csv_text(table: Table) -> str:
    """A table with plain numbers; an estimate has a column for its mean, half interval and standard error each."""
    estimates = [
        any(isinstance(plain_value(row[at]), Estimate) for row in table.rows) for at in range(len(table.columns))
    ]
    heads = [
        [column.heading, f"{column.heading} half_width_95", f"{column.heading} standard_error"][: 3 if is_mean else 1]
        for column, is_mean in zip(table.columns, estimates, strict=True)
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name for names in heads for name in names])
    for row in table.rows:
        writer.writerow(
            [cell for value, is_mean in zip(row, estimates, strict=True) for cell in _csv_cells(value, is_mean)]
        )
    return text.getvalue()


def _csv_cells(value: Value, is_mean: bool) -> list[Any]:
    plain = plain_value(value)
    if isinstance(plain, Estimate):
        return [plain.mean, plain.half_width, plain.error]
    return [text_of(plain) if isinstance(plain, tuple) else plain, None, None][: 3 if is_mean else 1]
