"""A report as a page: one HTML file with everything in it, nothing fetched."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from bots.findings.charts import chart_svg, legend
from bots.findings.report import Report
from logs.page.templates import page_template

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["format_findings"]


def format_findings(report: Report) -> str:
    """The page as HTML."""
    return _template().render(data=report)


@cache
def _template() -> Template:
    return page_template("bots.findings/page.html.jinja", drawing=chart_svg, legend=legend)
