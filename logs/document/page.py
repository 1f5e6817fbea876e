"""A document as an HTML page that contains everything it needs, and the parts of it for templates of other pages.

The template engine escapes whatever people and programs wrote; only drawings go in as they are.
"""

from __future__ import annotations

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

_LONG: Final = 20
"""A cell of more characters is wide enough for some words."""
_CERTAIN: Final = 3.0
"""Half widths from zero beyond which a colour is strong."""


def format_page(document: Document) -> str:
    page = _environment().get_template("logs.document/page.html.jinja").render(document=document)
    return "\n".join([line if line.isprintable() else shown(line) for line in page.split("\n")])


def add_filters(environment: Environment) -> None:
    """Let the templates of an environment draw documents, with ``logs.document/document.html.jinja``."""
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
    """The text of a file, by its package and path; None where the name has no path."""
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
    """The cells of the head, then of each row; the first column of words names the row.

    The intervals of a column that is drawn have a column of their own.
    """
    first = int(table.is_grouped)
    columns = list(enumerate(table.columns))[first:]
    head = next((at for at, column in columns if column.is_words), first)
    plots = {
        at: interval_svgs([plain_value(row[at]) for row in table.rows], Axis(column.title, column.unit))
        for at, column in columns
        if column.is_drawn
    }
    cells = []
    for at, column in columns:
        cells.append(_head(column))
        if at in plots:
            cells.append(f'<td class="drawn">{plots[at][0]}</td>')
    yield Markup("".join(cells))
    for number, row in enumerate(table.rows):
        cells = []
        for at, column in columns:
            value = row[at]
            spec = table.format_of(number, column)
            drawn = _cell(value, spec, is_brief=column.is_brief)
            if at == head:
                title = f' title="{escape(table.meanings[number])}"' if table.meanings else ""
                cells.append(f'<th scope="row" class="words"{title}>{drawn}</th>')
            else:
                cells.append(f"<td{_classes(_kind(value, spec), column)}>{drawn}</td>")
            if at in plots:
                cells.append(f'<td class="drawn">{plots[at][1][number]}</td>')
        yield Markup("".join(cells))


def _head(column: Column) -> str:
    if not column.heading:
        return f"<td{_classes('', column)}></td>"
    title = f' title="{escape(column.meaning)}"' if column.meaning else ""
    return f'<th scope="col"{_classes("words" if column.is_words else "", column)}{title}>{escape(column.heading)}</th>'


def _classes(kind: str, column: Column) -> str:
    words = f"{kind} rank{column.rank}".strip() if column.rank else kind
    if words:
        return f' class="{words}"'
    return ""


def _cell(value: Value, spec: Spec, *, is_brief: bool = False) -> str:
    """A value with its address; several values with the colour of each."""
    if isinstance(value, tuple):
        return ", ".join(f'<span class="{_kind(one, spec)}">{_cell(one, spec)}</span>' for one in value)
    plain = plain_value(value)
    text = text_of(plain, spec)
    if spec == CARDS:
        return "".join(
            f'<b class="mini {face.suit}">{face.rank}{face.symbol}</b>' for face in map(card_face, text.split())
        )
    if not isinstance(plain, str):
        # A figure and its unit or interval stay on one line.
        text = text.replace(" ", "\xa0")
    elif spec != CODE:
        text = with_symbols(text)
    drawn = escape(text)
    if isinstance(value, Marked):
        mark = f'<mark title="{escape(value.label)}">{escape(text[value.at : value.at + 1] or " ")}</mark>'
        drawn = escape(text[: value.at]) + Markup(mark) + escape(text[value.at + 1 :])
    if spec == CODE and text:
        drawn = f"<code>{drawn}</code>"
    hint = ""
    if is_brief and isinstance(plain, Estimate):
        hint = f' title="{drawn}"'
        drawn = text_of(plain.mean, spec)
    if not isinstance(value, Link):
        if hint:
            return f"<span{hint}>{drawn}</span>"
        return drawn
    label = f' aria-label="{escape(value.label)}"' if value.label else ""
    return f'<a href="{escape(value.path)}"{label}{hint}>{drawn}</a>'


def _kind(value: Value, spec: Spec) -> str:
    """Return the class of a cell: words, or a figure with the colour of a win or a loss."""
    plain = plain_value(value)
    if spec in WORDS:
        kind = "words"
        if len(text_of(value, spec)) > _LONG:
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
    half: float | None
    if isinstance(plain, Estimate):
        mean = plain.mean
        half = plain.half_width
    else:
        mean = plain
        half = 0.0
    if half is None or abs(mean) <= half:
        return "even"
    strength = 1
    if half and abs(mean) > _CERTAIN * half:
        strength = 2
    if mean > 0:
        return f"won{strength}"
    return f"lost{strength}"


def _groups(parts: Sequence[Part]) -> Iterator[list[Any]]:
    """Yield parts one by one, but consecutive charts together, since they have room side by side."""
    for are_charts, group in groupby(parts, lambda part: isinstance(part, Chart | Bars | HandGrid)):
        if are_charts:
            yield list(group)
        else:
            for part in group:
                yield [part]
