"""Templates of pages, each in the package it belongs to: ``logs.page/base.html.jinja`` is the frame of them all.

The template engine escapes everything that people or programs wrote (names, comments, fault lines); only drawings,
which are made here, go in as they are. A content security policy in the page forbids whatever is not in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from logs.document.page import add_filters, template_text

if TYPE_CHECKING:
    from jinja2 import Environment, Template


def page_template(name: str, **filters: Callable[..., Any]) -> Template:
    """A template that may extend the frame and import others.

    Args:
        name: package and file, such as ``logs.page/base.html.jinja``.
        filters: more than those of documents.
    """
    return _environment(frozenset(filters.items())).get_template(name)


@cache
def _environment(filters: frozenset[tuple[str, Callable[..., Any]]]) -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(template_text),
    )
    add_filters(environment)
    environment.filters |= dict(filters)
    return environment
