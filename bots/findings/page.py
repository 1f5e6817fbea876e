"""A report as a page: one HTML file with everything in it, nothing fetched."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from bots.findings.report import BarChart, LineChart, Report
from logs.page.drawing import MARK, TONES, drawn, plain_number, thinned
from logs.page.templates import page_template

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = [
    "chart_svg",
    "format_findings",
    "legend",
]


def format_findings(report: Report) -> str:
    """The page as HTML."""
    return _template().render(data=report)


@cache
def _template() -> Template:
    return page_template("bots.findings/page.html.jinja", drawing=chart_svg, legend=legend)


_BAR_INCHES = 0.22


def legend(chart: LineChart | BarChart) -> tuple[tuple[str, str], ...]:
    """The name and the colour of each line; nothing for bars, which have their names beside them."""
    if isinstance(chart, BarChart):
        return ()
    return tuple((line.name, TONES[at % len(TONES)]) for at, line in enumerate(chart.lines))


def chart_svg(chart: LineChart | BarChart) -> str:
    """A chart as an ``<svg>`` element."""
    if isinstance(chart, LineChart):
        label = f"{chart.title}: {chart.y_label} over {chart.x_label}"
        return drawn(lambda axes: _lines(axes, chart), label)
    height = 0.7 + _BAR_INCHES * len(chart.bars)
    return drawn(lambda axes: _bars(axes, chart), f"{chart.title}: {chart.label}", height=height)


def _lines(axes: Any, chart: LineChart) -> None:
    heights = [y for line in chart.lines for y in (*line.ys, *line.low, *line.high)]
    if heights and min(heights) < 0 < max(heights):
        axes.axhline(0, color=MARK, linewidth=0.6, alpha=0.5)
    for line, (_, colour) in zip(chart.lines, legend(chart), strict=True):
        if line.low:
            xs, low, high = zip(*thinned(list(zip(line.xs, line.low, line.high, strict=True))), strict=True)
            axes.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0)
        if line.xs:
            xs, ys = zip(*thinned(list(zip(line.xs, line.ys, strict=True))), strict=True)
            style, marker = "--" if line.is_dashed else "-", "o" if line.has_dots else None
            axes.plot(xs, ys, color=colour, linewidth=1.4, linestyle=style, marker=marker, markersize=3)
    if chart.is_log:
        axes.set_xscale("log")
        axes.minorticks_off()
    else:
        axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    axes.xaxis.set_major_formatter(plain_number)
    axes.yaxis.set_major_formatter(plain_number)
    axes.margins(x=0.01)


def _bars(axes: Any, chart: BarChart) -> None:
    places = range(len(chart.bars))
    axes.barh(places, [bar.height for bar in chart.bars], color=TONES[1], height=0.7)
    for place, bar in zip(places, chart.bars, strict=True):
        if bar.low is not None and bar.high is not None:
            axes.plot([bar.low, bar.high], [place, place], color=MARK, linewidth=1.2, marker="|", markersize=5)
    axes.axvline(0, color=MARK, linewidth=0.6, alpha=0.5)
    axes.set_yticks(list(places), [bar.name for bar in chart.bars])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(chart.label)
    axes.xaxis.set_major_formatter(plain_number)
    axes.locator_params(axis="x", nbins=5)
