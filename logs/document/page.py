"""Render documents as HTML pages without external files, and as parts of other pages.

The template engine escapes all text that people and programs wrote. Only drawings are inserted as markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from engine.text import shown
from logs.document.chart import chart_svg, interval_svgs
from logs.document.values import (
    CARDS,
    CHIPS,
    CODE,
    NAME,
    WORDS,
    Axis,
    Bars,
    Chart,
    Column,
    Document,
    HandGrid,
    Link,
    Marked,
    Part,
    Spec,
    Table,
    Value,
    is_signed,
    plain_value,
    text_of,
    tone_of,
)
from logs.estimation import Estimate
from logs.hand_view import views_of
from logs.poker_table.faces import TABLE_FILTERS, card_face, with_symbols

if TYPE_CHECKING:
    from jinja2 import Environment

_MAX_SHORT_CELL: Final = 20
"""Characters of a cell, above which its text may be wrapped."""
_MAX_UNBROKEN: Final = 30
"""Characters of a name, above which it may be broken at a hyphen to fit a narrow page."""
_HYPHENATED: Final = re.compile(r"\S*\w-\w\S*")
_STRONG_HALF_WIDTHS: Final = 3.0
"""Half widths from zero, beyond which winnings have the strong colour."""


def format_page(document: Document) -> str:
    page = _environment().get_template("logs.document/page.html.jinja").render(document=document)
    lines: list[str] = []
    for line in page.split("\n"):
        if line.isprintable():
            lines.append(line)
        else:
            lines.append(shown(line))
    return "\n".join(lines)


def add_filters(environment: Environment) -> None:
    """Add the filters that ``logs.document/document.html.jinja`` needs to the templates of an environment."""
    environment.filters |= TABLE_FILTERS
    environment.filters |= {
        "cell": lambda value, spec=NAME: Markup(_cell(value, spec)),
        "rows": _rows,
        "groups": _groups,
        "scenes": views_of,
        "svg": Markup,
        "chart": lambda chart: Markup(chart_svg(chart)),
        "style": lambda name: Markup(template_text(name)),
    }


def template_text(name: str) -> str | None:
    """Return the text of a file in a package, given as ``PACKAGE/PATH``; None for a name without a path."""
    package, _, file = name.partition("/")
    if file:
        return files(package).joinpath(file).read_text("utf-8")
    return None


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(template_text),
    )
    add_filters(environment)
    return environment


def _rows(table: Table) -> Iterator[Markup]:
    """Yield the cells of the head, then of each row. The first column of words names the row.

    The intervals of a column that is drawn have a column of their own.
    """
    # The first column of a grouped table is the heading of each group.
    first = int(table.is_grouped)
    columns = list(enumerate(table.columns))[first:]
    name_index = next((index for index, column in columns if column.is_words), first)
    axes: dict[int, str] = {}
    drawings: dict[int, list[str]] = {}
    for index, column in columns:
        if column.is_drawn:
            values = [plain_value(row[index]) for row in table.rows]
            axes[index], drawings[index] = interval_svgs(values, Axis(column.title, column.unit))
    cells: list[str] = []
    for index, column in columns:
        cells.append(_head(column))
        if index in axes:
            cells.append(f'<td class="drawn">{axes[index]}</td>')
    yield Markup("".join(cells))
    for number, row in enumerate(table.rows):
        cells = []
        for index, column in columns:
            value = row[index]
            spec = table.format_of(number, column)
            cell = _cell(value, spec, is_brief=column.is_brief)
            if index == name_index:
                title = _title(table.meanings[number] if table.meanings else "")
                cells.append(f'<th scope="row" class="words"{title}>{cell}</th>')
            else:
                cells.append(f"<td{_classes(_kind(value, spec), column)}>{cell}</td>")
            if index in drawings:
                cells.append(f'<td class="drawn">{drawings[index][number]}</td>')
        yield Markup("".join(cells))


def _head(column: Column) -> str:
    if not column.heading:
        return f"<td{_classes('', column)}></td>"
    kind = "words" if column.is_words else ""
    return f'<th scope="col"{_classes(kind, column)}{_title(column.meaning)}>{_keep_names(escape(column.heading))}</th>'


def _keep_names(markup: str) -> str:
    """Keep names with hyphens, such as ``lp-mc``, on one line; browsers break them."""

    def keep(match: re.Match[str]) -> str:
        name = match.group()
        return name if len(name) > _MAX_UNBROKEN else f'<span class="name">{name}</span>'

    return _HYPHENATED.sub(keep, markup)


def _title(text: str) -> str:
    if text:
        return f' title="{escape(text)}"'
    return ""


def _classes(kind: str, column: Column) -> str:
    names = kind
    if column.rank:
        names = f"{kind} rank{column.rank}".strip()
    if names:
        return f' class="{names}"'
    return ""


def _cell(value: Value, spec: Spec, *, is_brief: bool = False) -> str:
    """Return the markup of a value with its address, or of several values with the colour of each."""
    if isinstance(value, tuple):
        return ", ".join(f'<span class="{_kind(item, spec)}">{_cell(item, spec)}</span>' for item in value)
    plain = plain_value(value)
    text = text_of(plain, spec)
    if spec == CARDS:
        faces = map(card_face, text.split())
        return "".join(f'<b class="mini {face.suit}">{face.rank}{face.symbol}</b>' for face in faces)
    if not isinstance(plain, str):
        # A figure and its unit or interval stay on one line.
        text = text.replace(" ", "\xa0")
    elif spec != CODE:
        text = with_symbols(text)
    markup = escape(text)
    if isinstance(value, Marked):
        marked = text[value.column : value.column + 1] or " "
        mark = f'<mark title="{escape(value.label)}">{escape(marked)}</mark>'
        markup = escape(text[: value.column]) + mark + escape(text[value.column + 1 :])
    if spec == CODE and text:
        markup = f"<code>{markup}</code>"
    elif spec == NAME:
        markup = _keep_names(markup)
    hint = ""
    if is_brief and isinstance(plain, Estimate):
        hint = f' title="{markup}"'
        markup = text_of(plain.mean, spec)
    if isinstance(value, Link):
        label = f' aria-label="{escape(value.label)}"' if value.label else ""
        return f'<a href="{escape(value.path)}"{label}{hint}>{markup}</a>'
    if hint:
        return f"<span{hint}>{markup}</span>"
    return markup


def _kind(value: Value, spec: Spec) -> str:
    """Return the class of a cell: words, or a figure with the colour of a win or a loss."""
    plain = plain_value(value)
    if spec in WORDS:
        kind = "words"
        if len(text_of(value, spec)) > _MAX_SHORT_CELL:
            kind = "words long"
        tone = tone_of(value, spec)
        if tone is None:
            return kind
        return f"{kind} {tone.name.lower()}"
    if not isinstance(plain, int | float | Estimate):
        return ""
    if spec != CHIPS and not is_signed(spec):
        return ""
    mean: float
    half_width: float | None
    if isinstance(plain, Estimate):
        mean = plain.mean
        half_width = plain.decisive_half_width
    else:
        mean = plain
        half_width = 0.0
    if half_width is None or abs(mean) <= half_width:
        return "even"
    strength = 1
    if half_width and abs(mean) > _STRONG_HALF_WIDTHS * half_width:
        strength = 2
    if mean > 0:
        return f"won{strength}"
    return f"lost{strength}"


def _groups(parts: Sequence[Part]) -> Iterator[list[Any]]:
    """Yield parts one by one, but consecutive charts together, which fit side by side."""
    for are_charts, group in groupby(parts, lambda part: isinstance(part, Chart | Bars | HandGrid)):
        if are_charts:
            yield list(group)
        else:
            for part in group:
                yield [part]
