"""A document as an HTML page that contains everything it needs, and the parts of it for templates of other pages.

The template engine escapes whatever people and programs wrote; only drawings go in as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from logs.document.chart import chart_svg
from logs.document.values import CODE, NAME, TEXT, Bars, Chart, Document, Part, Value, plain_value, text_of, tone_of
from logs.estimation import Estimate
from logs.poker_table.faces import TABLE_FILTERS, with_symbols
from logs.view import views_of

if TYPE_CHECKING:
    from jinja2 import Environment

_LONG: Final = 40
"""A cell of more characters is a sentence."""
_CERTAIN: Final = 3.0
"""Half widths from zero beyond which a colour is strong."""


def format_page(document: Document) -> str:
    return _environment().get_template("logs.document/page.html.jinja").render(document=document)


def add_filters(environment: Environment) -> None:
    """Let the templates of an environment draw documents, with ``logs.document/document.html.jinja``."""
    from markupsafe import Markup

    environment.filters |= TABLE_FILTERS
    environment.filters |= {
        "text": _text,
        "kind": _kind,
        "groups": _groups,
        "scenes": views_of,
        "svg": Markup,
        "chart": lambda chart: Markup(chart_svg(chart)),
        "style": lambda name: Markup(template_text(name)),
    }


def template_text(name: str) -> str | None:
    """The text of a file, by its package and path; None where the name has no path."""
    package, _, file = name.partition("/")
    return files(package).joinpath(file).read_text("utf-8") if file else None


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


def _text(value: Value, spec: str) -> str:
    text = text_of(value, spec)
    # A figure and its unit or interval stay on one line.
    return with_symbols(text) if spec in (NAME, TEXT) else text.replace(" ", "\xa0")


def _kind(value: Value, spec: str) -> str:
    """The class of a cell: words, or a figure with the colour of a win or a loss."""
    plain = plain_value(value)
    if spec in (NAME, TEXT, CODE):
        kind = "words long" if isinstance(plain, str) and len(plain) > _LONG else "words"
        tone = tone_of(value, spec)
        return kind if tone is None else f"{kind} {tone.name.lower()}"
    if not isinstance(plain, int | float | Estimate) or not (spec == "chips" or spec.startswith("+")):
        return ""
    mean, half = (plain.mean, plain.half_width) if isinstance(plain, Estimate) else (plain, 0.0)
    if half is None or abs(mean) <= half:
        return "even"
    strength = 2 if half and abs(mean) > _CERTAIN * half else 1
    return f"{'won' if mean > 0 else 'lost'}{strength}"


def _groups(parts: Sequence[Part]) -> Iterator[list[Any]]:
    """Parts one by one, but charts that follow one another together, since they have room side by side."""
    for are_charts, group in groupby(parts, lambda part: isinstance(part, Chart | Bars)):
        together = list(group)
        yield from [together] if are_charts else [[part] for part in together]
