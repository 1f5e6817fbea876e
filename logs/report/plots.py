"""Curves of winnings as SVG for a page, in the page's own font and text colour.

matplotlib draws axes and words in a marked colour, which is then replaced by the page's text colour, so that a plot is
readable on light and on dark ground. The same curve gives the same bytes.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from typing import Any

from logs.tracker.statistics import CurvePoint

__all__ = ["LEGEND", "winnings_plot"]

_MARK = "#010203"
"""Stands for the colour of the page's text."""
_MOST_POINTS = 400
"""More than a screen shows apart."""
_TOTAL, _SHOWDOWN, _OTHER, _ADJUSTED = "#2e9e4f", "#3b7dd8", "#d8493b", "#d39a1c"
"""As in trackers: green for all hands, blue with showdown, red without, yellow all-in adjusted."""

LEGEND = (
    *(("total, with its 95 % interval", _TOTAL), ("with showdown", _SHOWDOWN), ("without showdown", _OTHER)),
    ("all-in adjusted (dashed)", _ADJUSTED),
)
"""What the lines of all plots are, with their colours: a page says it once."""


def winnings_plot(points: Sequence[CurvePoint], name: str, *, width: float = 4.4, height: float = 2.7) -> str:
    """One player's winnings over its hands, with the interval of the total as a band.

    Args:
        points: the winnings along the way, in big blinds.
        name: the player, for the label that screen readers read.
        width: in inches of 72 points.
        height: in inches of 72 points.

    Returns:
        an ``<svg>`` element.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "font.family": "sans-serif",
        "font.size": 9,
        "text.color": _MARK,
        "axes.edgecolor": _MARK,
        "axes.labelcolor": _MARK,
        "xtick.color": _MARK,
        "ytick.color": _MARK,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_alpha(0)
        axes = figure.add_subplot()
        axes.patch.set_alpha(0)
        start = CurvePoint(hands=0, net=0, showdown=0, no_showdown=0, adjusted=0, half_width_95=None)
        shown = [start, *points[:: -(-len(points) // _MOST_POINTS) or 1], *points[-1:]]
        hands = [point.hands for point in shown]
        band = [(point.hands, point.net, point.half_width_95) for point in shown if point.half_width_95 is not None]
        axes.fill_between(
            [at for at, _, _ in band],
            [net - half for _, net, half in band],
            [net + half for _, net, half in band],
            color=_TOTAL,
            alpha=0.18,
            linewidth=0,
        )
        axes.axhline(0, color=_MARK, linewidth=0.6, alpha=0.5)
        axes.plot(hands, [point.showdown for point in shown], color=_SHOWDOWN, linewidth=1)
        axes.plot(hands, [point.no_showdown for point in shown], color=_OTHER, linewidth=1)
        adjusted = [(point.hands, point.adjusted) for point in shown if point.adjusted is not None]
        if len(adjusted) > 1:
            axes.plot(*zip(*adjusted, strict=True), color=_ADJUSTED, linestyle="--", linewidth=1)
        axes.plot(hands, [point.net for point in shown], color=_TOTAL, linewidth=1.8)
        axes.set_xlabel("hands")
        axes.set_ylabel("big blinds")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.4g}" if abs(value) < 10 else f"{value:,.0f}")
        axes.margins(x=0.01)
        axes.locator_params(axis="x", nbins=5)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return _embedded(file.getvalue(), name)


def _embedded(svg: str, name: str) -> str:
    """The SVG in the page's colours, without what only a separate file needs."""
    svg = svg[svg.index("<svg") :]
    svg = svg.replace(_MARK, "currentColor")
    label = html.escape(name, quote=True)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r' (width|height)="[^"]*"', "", svg, count=2)
    return svg.replace("<svg ", f'<svg role="img" aria-label="winnings of {label} over hands" ', 1)
