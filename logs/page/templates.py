"""Templates of pages, each in the package it belongs to: ``logs.page/base.html.jinja`` is the frame of them all.

The template engine escapes everything that people or programs wrote (names, comments, fault lines); only drawings,
which are made here, go in as they are. A content security policy in the page forbids whatever is not in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment, Template


def page_template(name: str, **filters: Callable[..., Any]) -> Template:
    """A template that may extend the frame and import others.

    Args:
        name: package and file, such as ``logs.page/base.html.jinja``.
        filters: more than `kept` (figures with their units on one line) and `svg` (a drawing as it is).
    """
    return _environment(frozenset(filters.items())).get_template(name)


@cache
def _environment(filters: frozenset[tuple[str, Callable[..., Any]]]) -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(template_text),
    )
    environment.filters["kept"] = lambda text: text.replace(" %", "\xa0%").replace("± ", "±\xa0")
    environment.filters["svg"] = Markup
    environment.filters |= dict(filters)
    return environment


def template_text(name: str) -> str | None:
    """The text of a template, by its package and file; None where there is no such name."""
    package, _, file = name.partition("/")
    return files(package).joinpath(file).read_text("utf-8") if file else None
